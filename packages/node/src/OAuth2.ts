/**
 * Signs users in to your own app, with Promises: begin with `authorize`, send the user's browser to its address, and end with
 * `callback` and `exchange`.
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
export type { AuthorizationOptions, Settings, SignIn, SignIns, User } from "@postwire/core/promise/OAuth2"

/** Connection settings, as those of a client. */
export type Connection = Pick<NodeClient.Settings, "ca" | "dispatcher" | "proxy">

/** The store of accounts, as in the settings of a client. */
export type Store = Pick<NodeClient.Settings, "tokenStore">

export const {
  /**
   * Begins a sign-in: returns the address of the consent page, with a random state and verifier (PKCE). Nothing is sent. Rejects
   * with `InvalidSettings`.
   */
  authorize,
  /**
   * Reads the address to which the service redirected the browser, absolute or from its path on: returns the code for `exchange`,
   * which X accepts for 30 seconds. Throws `AuthorizationDenied` if the user refused, and `InvalidRedirect` if the address does not
   * belong to this sign-in.
   */
  callback,
  /** Ends a sign-in: returns the tokens for a code. Rejects as calls do; after `OutcomeUnknown`, restart the sign-in. */
  exchange,
  /**
   * Refreshes tokens: the given refresh token becomes invalid. A client with an `account` or `oauth2` does so automatically.
   * Rejects as calls do.
   */
  refresh,
  /** Revokes a token; a refresh token with all that was granted with it. Rejects as calls do. */
  revoke,
  /** Returns the bearer token of an app, which acts for no user and does not expire. Rejects as calls do. */
  appToken,
  /**
   * Stores the tokens of a user as an account, replacing an existing one: clients use it with `account`, in every process that
   * shares the store. Rejects with `StorageFailure` or `InvalidSettings`.
   */
  saveAccount
}: SignIns<Connection, Store> = on({
  http: NodeClient.layerHttp,
  store: NodeClient.layerTokenStore
})
