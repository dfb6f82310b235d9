// The examples of the docstrings, for the compiler: a test looks whether they are here.
import type * as Account from "@postwire/core/accounts/Account"
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import { scopesFor } from "@postwire/core/Catalogue"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

declare const app: Account.App
declare const baseUrl: string
declare const redirectUri: string
declare const consumerKey: Redacted.Redacted
declare const consumerSecret: Redacted.Redacted
declare const refreshToken: Redacted.Redacted
declare const token: Redacted.Redacted

export const oauth2 = Effect.gen(function*() {
  const scopes = scopesFor(["createPost", "getBookmarks"])
  const { url, state, verifier } = yield* OAuth2.authorize({ baseUrl, app, redirectUri, scopes })
  const code = yield* OAuth2.callback("/callback?state=…&code=…", { state })
  const tokens = yield* OAuth2.exchange({ baseUrl, app, code, verifier, redirectUri, scopes })
  return [url, tokens]
})

export const renewal = Effect.gen(function*() {
  const { scopes } = yield* Effect.succeed({ scopes: scopesFor([]) })
  const tokens = yield* OAuth2.refresh({ baseUrl, app, refreshToken, scopes })
  yield* OAuth2.revoke({ baseUrl, app, token, kind: "refresh_token" })
  return tokens
})

export const ofApps = Effect.gen(function*() {
  const bearerToken = yield* OAuth2.appToken({ baseUrl, consumerKey, consumerSecret })
  yield* OAuth2.invalidateAppToken({ baseUrl, consumerKey, consumerSecret, bearerToken })
})

export const oauth1 = Effect.gen(function*() {
  const requestToken = yield* OAuth1Login.requestToken({ baseUrl, consumerKey, consumerSecret, callback: "oob" })
  const verifier = yield* OAuth1Login.callback("/callback?oauth_token=…&oauth_verifier=…", { requestToken })
  return verifier
})

export const ofPin = Effect.gen(function*() {
  const requestToken = yield* OAuth1Login.requestToken({ baseUrl, consumerKey, consumerSecret, callback: "oob" })
  const url = yield* OAuth1Login.authorizeUrl({ baseUrl, requestToken })
  const end = { baseUrl, consumerKey, consumerSecret, requestToken }
  const { tokens, user } = yield* OAuth1Login.accessToken({ ...end, verifier: "1234567" })
  yield* OAuth1Login.invalidate({ baseUrl, tokens })
  return [url, user]
})
