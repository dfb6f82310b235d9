/**
 * Signs users in to an app of your own, with Promises: begin with `authorize`, send the user's browser to its address, and end
 * with `callback` and `exchange`.
 *
 * ```ts
 * import { createClient } from "@postwire/node"
 * import * as OAuth2 from "@postwire/node/OAuth2"
 *
 * const tokens = await OAuth2.exchange({ ...app, ...asked, code: OAuth2.callback(address, signIn), verifier: signIn.verifier })
 * await using client = createClient({ ...app, oauth2: { ...tokens, save } })
 * ```
 */
import { on, type SignIns } from "@postwire/core/promise/OAuth2"
import * as NodeClient from "./NodeClient.ts"

export { scopesFor } from "@postwire/core/Catalogue"
export * from "@postwire/core/errors/SignInErrors"
export type { Tokens } from "@postwire/core/promise/AccountSettings"
export type { Asked, Settings, SignIn, SignIns, User } from "@postwire/core/promise/OAuth2"

/** How requests leave: as in the settings of a client. */
export type Connection = Pick<NodeClient.Settings, "ca" | "dispatcher" | "proxy">

/** Where accounts are kept: as in the settings of a client. */
export type Store = Pick<NodeClient.Settings, "tokenStore">

export const {
  /**
   * Begins a sign-in: the address at which the user is asked, with a random state and verifier (PKCE). Nothing is sent. Rejects
   * with `InvalidSettings`.
   */
  authorize,
  /**
   * Reads the address that the service led the browser to, absolute or from its path on: the code in it, for `exchange`, which X
   * takes for 30 seconds. Throws `AuthorizationDenied` where the user said no, and `InvalidRedirect` where the address is not the
   * end of this sign-in.
   */
  callback,
  /** Ends a sign-in: brings the tokens for a code. Rejects as calls do; with `OutcomeUnknown`, the sign-in begins anew. */
  exchange,
  /**
   * Renews tokens: the refresh token that is given is used up. A client with an `account` or `oauth2` does so by itself. Rejects
   * as calls do.
   */
  refresh,
  /** Makes a token useless, and with a refresh token all that was granted with it. Rejects as calls do. */
  revoke,
  /** Brings the bearer token of an app, which acts for no user and does not expire. Rejects as calls do. */
  appToken,
  /**
   * Keeps the tokens of a user as an account, in place of what the store had of it: clients use it with `account`, in every
   * process that shares the store. Rejects with `TokenStoreFailure` or `InvalidSettings`.
   */
  saveAccount
}: SignIns<Connection, Store> = on({
  http: NodeClient.layerHttp,
  store: NodeClient.layerTokenStore
})
