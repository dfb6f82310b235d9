/**
 * Signs users in to your own app, with Promises: start with `authorize`, send the user's browser to its address, and finish with
 * `callback` and `exchange`.
 *
 * ```ts
 * import { createClient } from "@postwire/web/AccountClient"
 * import * as OAuth2 from "@postwire/web/OAuth2"
 *
 * const tokens = await OAuth2.exchange({ ...app, ...asked, code: OAuth2.callback(address, signIn), verifier: signIn.verifier })
 * await using client = createClient({ ...app, oauth2: { ...tokens, save } })
 * ```
 */
import { on, type SignIns } from "@postwire/core/promise/OAuth2"
import * as AccountClient from "./AccountClient.ts"
import * as WebClient from "./WebClient.ts"

export { scopesFor } from "@postwire/core/Catalogue"
export * from "@postwire/core/errors/SignInErrors"
export type { Tokens } from "@postwire/core/promise/AccountSettings"
export type { AuthorizationOptions, Settings, SignIn, SignIns, User } from "@postwire/core/promise/OAuth2"

/** The transport of requests, as in the settings of a client. */
export type Connection = Pick<WebClient.Settings, "fetch">

/** The store of accounts, as in the settings of a client. */
export type Store = Pick<AccountClient.Settings, "tokenStore">

export const {
  /**
   * Starts a sign-in: returns the address to send the user to, with a random state and verifier (PKCE). Sends nothing. Rejects with
   * `InvalidSettings`.
   */
  authorize,
  /**
   * Reads the redirect address, absolute or from its path on, and returns the code in it for `exchange`. On X a code is valid for
   * 30 seconds. Throws `AuthorizationDenied` if the user declined, and `InvalidRedirect` if the address does not belong to this
   * sign-in.
   */
  callback,
  /** Finishes a sign-in: exchanges a code for tokens. Rejects as calls do; after `OutcomeUnknown`, start the sign-in over. */
  exchange,
  /**
   * Refreshes tokens; the given refresh token is used up. A client with an `account` or `oauth2` does so by itself. Rejects as
   * calls do.
   */
  refresh,
  /** Revokes a token, and with a refresh token the whole grant. Rejects as calls do. */
  revoke,
  /** Requests the bearer token of an app, which acts for no user and does not expire. Rejects as calls do. */
  appToken,
  /**
   * Saves the tokens of a user as an account, and replaces what the store had of it. Clients use it with `account`, in every
   * process that shares the store. Rejects with `StorageFailure` or `InvalidSettings`.
   */
  saveAccount
}: SignIns<Connection, Store> = /*#__PURE__*/ on({
  http: WebClient.layerHttp,
  store: AccountClient.layerTokenStore
})
