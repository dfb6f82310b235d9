/**
 * Sign-in with OAuth 1.0a in three legs (RFC 5849): a request token, the user's consent on a page that redirects or shows a PIN,
 * and the credentials. They do not expire.
 */
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Credentials from "../auth/Credentials.ts"
import * as OAuth1 from "../auth/OAuth1.ts"
import * as Client from "../client/Client.ts"
import { type AuthorizationDenied, type InvalidRedirect, InvalidSettings, type Unauthorized } from "../errors/Errors.ts"
import type * as Account from "./Account.ts"
import * as AppCredentials from "./internal/appCredentials.ts"
import * as RedirectUrl from "./internal/redirectUrl.ts"
import * as TokenRequest from "./internal/tokenRequest.ts"

/** The service, its dialect and timeouts, as in the settings of a client. */
export type Settings = TokenRequest.Settings

/** The errors of sign-in requests. */
export type RequestError = TokenRequest.RequestError

/** The app that a user signs in to. */
export type Consumer = Pick<Credentials.Settings, "consumerKey" | "consumerSecret">

/** A sign-in in progress. */
export interface RequestToken {
  readonly token: Redacted.Redacted
  readonly tokenSecret: Redacted.Redacted
}

/** The parameters of {@link requestToken}. */
export interface Begin extends Settings, Consumer {
  /** The redirect URL, as set for the app; `oob` shows a PIN instead. */
  readonly callback: string
  /** Restricts the app to less access than it is set to. */
  readonly access?: "read" | "write" | undefined
}

/**
 * Begins a sign-in: requests a request token.
 *
 * ```ts
 * const requestToken = yield* OAuth1Login.requestToken({ baseUrl, consumerKey, consumerSecret, callback: "oob" })
 * ```
 */
export const requestToken = (
  { access, callback, consumerKey, consumerSecret, ...settings }: Begin
): Effect.Effect<RequestToken, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const consumer = yield* AppCredentials.checkConsumer({ consumerKey, consumerSecret })
    if (callback !== "oob" && !URL.canParse(callback)) {
      return yield* new InvalidSettings({ setting: "callback", rule: "must be oob or an absolute URL" })
    }
    return yield* signed(settings, {
      operation: "OAuth1Login.requestToken",
      // The service forgets an unused token.
      effect: "toggle",
      path: "/oauth/request_token",
      query: { x_auth_access_type: access },
      credentials: consumer,
      also: ["oauth_callback", callback],
      read: (text) =>
        Option.map(decodeRequestToken(TokenRequest.decode(text)), ({ oauth_token, oauth_token_secret }) => ({
          token: oauth_token,
          tokenSecret: oauth_token_secret
        })),
      unread: "it has no request token, or does not confirm the callback"
    })
  })

/** The parameters of the pages where the user consents. */
export interface Ask extends Pick<Settings, "allowInsecureHttp" | "baseUrl" | "wire"> {
  readonly requestToken: RequestToken
  /** Makes the user sign in even if they are signed in at the service. */
  readonly forceLogin?: boolean | undefined
  /** The user who is expected to sign in. */
  readonly username?: string | undefined
}

/**
 * The URL of the page where the user consents each time.
 *
 * ```ts
 * const url = yield* OAuth1Login.authorizeUrl({ baseUrl, requestToken })
 * ```
 */
export const authorizeUrl = (ask: Ask): Effect.Effect<string, InvalidSettings> => urlOf("/oauth/authorize", ask)

/** The URL of the page that redirects immediately if the user has authorized the app before. */
export const authenticateUrl = (ask: Ask): Effect.Effect<string, InvalidSettings> => urlOf("/oauth/authenticate", ask)

const urlOf = (
  path: string,
  { forceLogin, requestToken, username, ...settings }: Ask
): Effect.Effect<string, InvalidSettings> =>
  Effect.map(Client.check(settings), ({ baseUrl }) => {
    const query = TokenRequest.encode({
      oauth_token: Redacted.value(requestToken.token),
      force_login: forceLogin === true ? "true" : undefined,
      screen_name: username
    })
    return `${baseUrl}${path}?${query}`
  })

/**
 * Reads the verifier for {@link accessToken} from the URL that the service redirected to, absolute or from its path on. Fails with
 * `AuthorizationDenied` if the user declined, and with `InvalidRedirect` if the URL does not belong to this sign-in.
 *
 * ```ts
 * const verifier = yield* OAuth1Login.callback("/callback?oauth_token=…&oauth_verifier=…", { requestToken })
 * ```
 */
export const callback = (
  address: string | URL,
  { requestToken }: { readonly requestToken: RequestToken }
): Effect.Effect<Redacted.Redacted, AuthorizationDenied | InvalidRedirect> =>
  RedirectUrl.read(address, {
    began: requestToken.token,
    repeated: (query) => query["denied"] ?? query["oauth_token"],
    denial: (query) => query["denied"] === undefined ? undefined : "access_denied",
    proof: (query) => query["oauth_verifier"]
  })

/** The parameters of {@link accessToken}. */
export interface End extends Settings, Consumer {
  readonly requestToken: RequestToken
  /** From {@link callback}, or the PIN that the user was shown. */
  readonly verifier: Credentials.Secret
}

/** The signed-in user and their credentials. */
export interface SignedIn {
  readonly tokens: Account.OAuth1Tokens
  readonly user: { readonly id: string; readonly username: string }
}

/**
 * Ends a sign-in and returns the credentials of the user. It is sent once: if the response is lost, it fails with `OutcomeUnknown`,
 * and the sign-in has to be repeated.
 *
 * ```ts
 * const end = { baseUrl, consumerKey, consumerSecret, requestToken }
 * const { tokens, user } = yield* OAuth1Login.accessToken({ ...end, verifier: "1234567" })
 * ```
 */
export const accessToken = (
  { consumerKey, consumerSecret, requestToken, verifier: given, ...settings }: End
): Effect.Effect<SignedIn, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const consumer = yield* AppCredentials.checkConsumer({ consumerKey, consumerSecret })
    const verifier = Redacted.make((Redacted.isRedacted(given) ? Redacted.value(given) : given).trim())
    if (Redacted.value(verifier) === "") {
      return yield* new InvalidSettings({
        setting: "verifier",
        rule: "must be the PIN, or the verifier from the redirect"
      })
    }
    return yield* signed(settings, {
      operation: "OAuth1Login.accessToken",
      effect: "create",
      path: "/oauth/access_token",
      credentials: { ...consumer, ...requestToken },
      also: ["oauth_verifier", Redacted.value(verifier)],
      secrets: [verifier],
      read: (text) =>
        Option.map(decodeAccessToken(TokenRequest.decode(text)), (answer) => ({
          tokens: { ...consumer, accessToken: answer.oauth_token, accessTokenSecret: answer.oauth_token_secret },
          user: { id: answer.user_id, username: answer.screen_name }
        })),
      unread: "it has no access token of a user"
    })
  })

/** The parameters of {@link invalidate}. */
export interface Invalidate extends Settings {
  readonly tokens: Account.OAuth1Tokens
}

/**
 * Invalidates the credentials of a user.
 *
 * ```ts
 * yield* OAuth1Login.invalidate({ baseUrl, tokens })
 * ```
 */
export const invalidate = (
  { tokens: { accessToken, accessTokenSecret, ...consumer }, ...settings }: Invalidate
): Effect.Effect<void, RequestError, HttpClient> =>
  signed(settings, {
    operation: "OAuth1Login.invalidate",
    effect: "toggle",
    path: "/1.1/oauth/invalidate_token.json",
    credentials: { ...consumer, token: accessToken, tokenSecret: accessTokenSecret },
    ...TokenRequest.invalidating
  })

/** Checks that the service refuses the credentials because they are dead, not because of the app, the clock or the signature. */
export const isTokenRefused = (error: RequestError): error is Unauthorized =>
  error._tag === "Unauthorized" && error.problems.some(({ code }) => code === TokenRequest.deadToken)

/** A signed request. */
interface Signed<A>
  extends Pick<TokenRequest.Request<A>, "effect" | "operation" | "path" | "query" | "read" | "settled" | "unread">
{
  readonly credentials: AppCredentials.Consumer & Partial<RequestToken>
  readonly also?: OAuth1.Request["also"]
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

const signed = <A>(
  settings: Settings,
  { also, credentials, secrets = [], ...request }: Signed<A>
): Effect.Effect<A, RequestError, HttpClient> =>
  Effect.flatMap(OAuth1.HmacSha1, (hmac) => {
    const sign = OAuth1.authorize(hmac)
    const { consumerKey, consumerSecret, token, tokenSecret } = credentials
    return TokenRequest.send(settings, {
      ...request,
      credential: "oauth1",
      authorization: (url, now) =>
        sign({
          method: "POST",
          url,
          timestamp: Math.floor(now / 1000),
          consumerKey: Redacted.value(consumerKey),
          consumerSecret: Redacted.value(consumerSecret),
          token: token && Redacted.value(token),
          tokenSecret: tokenSecret && Redacted.value(tokenSecret),
          also
        }),
      secrets: [...Object.values(credentials), ...secrets]
    })
  })

const decodeRequestToken = /*#__PURE__*/ Schema.decodeUnknownOption(
  /*#__PURE__*/ Schema.Struct({
    oauth_token: TokenRequest.Token,
    oauth_token_secret: TokenRequest.Token,
    oauth_callback_confirmed: /*#__PURE__*/ Schema.Literal("true")
  })
)

const decodeAccessToken = /*#__PURE__*/ Schema.decodeUnknownOption(
  /*#__PURE__*/ Schema.Struct({
    oauth_token: TokenRequest.Token,
    oauth_token_secret: TokenRequest.Token,
    user_id: Schema.NonEmptyString,
    screen_name: Schema.NonEmptyString
  })
)
