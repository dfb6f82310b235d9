/**
 * Sign-in with OAuth 2.0: a user authorizes an app, which receives tokens that act for the user (authorization code with PKCE, RFC
 * 6749 and 7636). `Account` is the record that stores such tokens.
 */
import * as Clock from "effect/Clock"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Credentials from "../auth/Credentials.ts"
import * as Client from "../client/Client.ts"
import {
  type AuthorizationDenied,
  type BadRequest,
  type InvalidRedirect,
  InvalidSettings,
  type Unauthorized
} from "../errors/Errors.ts"
import * as Scopes from "../schema/Scopes.ts"
import type * as Account from "./Account.ts"
import * as AppCredentials from "./internal/appCredentials.ts"
import * as RedirectUrl from "./internal/redirectUrl.ts"
import * as TokenRequest from "./internal/tokenRequest.ts"

/** The service, its dialect and timeouts, as in the settings of a client. */
export type Settings = TokenRequest.Settings

/** The errors of sign-in requests. */
export type RequestError = TokenRequest.RequestError

/** The parameters of {@link authorize}. */
export interface Authorize extends Pick<Settings, "allowInsecureHttp" | "baseUrl" | "wire"> {
  readonly app: Pick<Account.App, "clientId">
  /** The redirect URL, exactly as set for the app. */
  readonly redirectUri: string
  /** The requested scopes; with `offline.access` the tokens can be refreshed. */
  readonly scopes: ReadonlyArray<Scopes.Scope>
}

/** A sign-in in progress. */
export interface Authorization {
  /** The URL for the user's browser. It contains the state, so show it to the user only. */
  readonly url: string
  /** Ties the redirect to this sign-in; see {@link callback}. */
  readonly state: Redacted.Redacted
  /** Proves that one party begins and ends the sign-in; see {@link exchange}. */
  readonly verifier: Redacted.Redacted
}

/**
 * Begins a sign-in: returns the URL of the page where the user consents, with a state and a verifier (PKCE, S256) of 256 random
 * bits each. Sends nothing.
 *
 * ```ts
 * const { url, state, verifier } = yield* OAuth2.authorize({ baseUrl, app, redirectUri, scopes })
 * ```
 */
export const authorize = (
  { app, redirectUri, scopes, ...settings }: Authorize
): Effect.Effect<Authorization, InvalidSettings> =>
  Effect.gen(function*() {
    const { baseUrl, wire } = yield* Client.check(settings)
    const { clientId } = yield* AppCredentials.check(app)
    yield* checkRedirectUri(redirectUri)
    yield* checkScopes(scopes)
    const { randomBytes } = yield* SecureRandom.SecureRandom
    const { digest } = yield* Digest.Digest
    const state = Base64Url.encode(yield* randomBytes(32))
    const verifier = Base64Url.encode(yield* randomBytes(32))
    const challenge = Base64Url.encode(yield* digest(Digest.sha256, new TextEncoder().encode(verifier)))
    const query = TokenRequest.encode({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scopes.map((scope) => Scopes.onWire(wire.name, scope)).join(" "),
      state,
      code_challenge: challenge,
      code_challenge_method: "S256"
    })
    return {
      // X has its consent page on another host than its API.
      url: `${baseUrl === "https://api.x.com" ? "https://x.com" : baseUrl}/i/oauth2/authorize?${query}`,
      state: Redacted.make(state, { label: "state" }),
      verifier: Redacted.make(verifier, { label: "verifier" })
    }
  }).pipe(Effect.provide([SecureRandom.layerWebCrypto, Digest.layerWebCrypto]))

/**
 * Reads the code for {@link exchange} from the URL that the service redirected to, absolute or from its path on. Fails with
 * `AuthorizationDenied` if the user declined, and with `InvalidRedirect` if the URL does not belong to this sign-in.
 *
 * ```ts
 * const code = yield* OAuth2.callback("/callback?state=…&code=…", { state })
 * ```
 */
export const callback = (
  address: string | URL,
  { state }: Pick<Authorization, "state">
): Effect.Effect<Redacted.Redacted, AuthorizationDenied | InvalidRedirect> =>
  RedirectUrl.read(address, {
    began: state,
    repeated: (query) => query["state"],
    denial: (query) => query["error"],
    proof: (query) => query["code"]
  })

/** The parameters of {@link exchange}. */
export interface Exchange extends Settings {
  readonly app: Account.App
  /** From {@link callback}. X accepts it once, within 30 seconds. */
  readonly code: Redacted.Redacted
  /** From {@link authorize}, like the next two. */
  readonly verifier: Redacted.Redacted
  readonly redirectUri: string
  readonly scopes: ReadonlyArray<Scopes.Scope>
}

/**
 * Ends a sign-in: exchanges a code for tokens. It is sent once: if the response is lost, it fails with `OutcomeUnknown`, and the
 * sign-in has to be repeated.
 *
 * ```ts
 * const tokens = yield* OAuth2.exchange({ baseUrl, app, code, verifier, redirectUri, scopes })
 * ```
 */
export const exchange = (
  { app, code, redirectUri, scopes, verifier, ...settings }: Exchange
): Effect.Effect<Account.OAuth2Tokens, RequestError, HttpClient> =>
  grant(settings, app, {
    operation: "OAuth2.exchange",
    form: {
      grant_type: "authorization_code",
      code: Redacted.value(code),
      redirect_uri: redirectUri,
      code_verifier: Redacted.value(verifier)
    },
    secrets: [code, verifier],
    scopes
  })

/** The parameters of {@link refresh}. */
export interface Refresh extends Settings {
  /** The app that the tokens were granted to. */
  readonly app: Account.App
  readonly refreshToken: Redacted.Redacted
  /** The granted scopes, which apply unless the response lists others. */
  readonly scopes: ReadonlyArray<Scopes.Scope>
}

/**
 * Refreshes tokens: returns an access token, and a new refresh token in place of the given one, which is spent. It is sent once: if
 * the response is lost, it fails with `OutcomeUnknown`. If the service refuses the refresh token (see {@link isTokenRefused}), the
 * user has to sign in again.
 *
 * ```ts
 * const tokens = yield* OAuth2.refresh({ baseUrl, app, refreshToken, scopes })
 * ```
 */
export const refresh = (
  { app, refreshToken, scopes, ...settings }: Refresh
): Effect.Effect<Account.OAuth2Tokens, RequestError, HttpClient> =>
  grant(settings, app, {
    operation: "OAuth2.refresh",
    form: { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) },
    secrets: [refreshToken],
    scopes,
    refreshToken
  })

/**
 * Checks that the service refuses a refresh token because it is dead: its user has to sign in again. Only specific error codes
 * count, because gateways respond with 400 and 401 too.
 */
export const isTokenRefused = (error: RequestError): error is BadRequest | Unauthorized => {
  if (error._tag !== "BadRequest" && error._tag !== "Unauthorized") return false
  const { detail, title } = error
  // The code is the title, or the detail if the service adds no description.
  const code = title ?? detail
  // X uses the code of a malformed request, and only the description names the token.
  return code === "invalid_grant" || code === "invalid_request" && detail?.startsWith(deadTokenAtX) === true
}

const deadTokenAtX = "Value passed for the token was invalid"

/** The parameters of {@link revoke}. */
export interface Revoke extends Settings {
  /** The app that the token was granted to. */
  readonly app: Account.App
  /** An access token or a refresh token. */
  readonly token: Redacted.Redacted
  /** The kind of the token. */
  readonly kind?: "access_token" | "refresh_token" | undefined
}

/**
 * Revokes a token; revoking a refresh token revokes its access tokens too.
 *
 * ```ts
 * yield* OAuth2.revoke({ baseUrl, app, token, kind: "refresh_token" })
 * ```
 */
export const revoke = (
  { app, kind, token, ...settings }: Revoke
): Effect.Effect<void, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const identified = yield* AppCredentials.identify(app)
    yield* TokenRequest.send(settings, {
      ...identified,
      operation: "OAuth2.revoke",
      effect: "toggle",
      path: "/2/oauth2/revoke",
      form: { token: Redacted.value(token), token_type_hint: kind, ...identified.form },
      secrets: [token, ...identified.secrets],
      ...TokenRequest.unread
    })
  })

/** The parameters of {@link appToken}. */
export interface AppToken extends Settings, Pick<Credentials.Settings, "consumerKey" | "consumerSecret"> {}

/**
 * Requests the bearer token of an app, which acts for no user and does not expire. The service returns the same token until it is
 * invalidated.
 *
 * ```ts
 * const bearerToken = yield* OAuth2.appToken({ baseUrl, consumerKey, consumerSecret })
 * ```
 */
export const appToken = (
  { consumerKey, consumerSecret, ...settings }: AppToken
): Effect.Effect<Redacted.Redacted, RequestError, HttpClient> =>
  Effect.flatMap(
    AppCredentials.checkConsumer({ consumerKey, consumerSecret }),
    (consumer) =>
      TokenRequest.send(settings, {
        ...AppCredentials.ofConsumer(consumer),
        operation: "OAuth2.appToken",
        // Repeating the request returns the same token.
        effect: "toggle",
        path: "/oauth2/token",
        form: { grant_type: "client_credentials" },
        read: (text) => Option.map(decodeAppToken(text), ({ access_token }) => access_token),
        unread: "it has no token of the type bearer"
      })
  )

/** The parameters of {@link invalidateAppToken}. */
export interface InvalidateAppToken extends AppToken {
  readonly bearerToken: Redacted.Redacted
}

/**
 * Invalidates the bearer token of an app. The next request for one returns a new token.
 *
 * ```ts
 * yield* OAuth2.invalidateAppToken({ baseUrl, consumerKey, consumerSecret, bearerToken })
 * ```
 */
export const invalidateAppToken = (
  { bearerToken, consumerKey, consumerSecret, ...settings }: InvalidateAppToken
): Effect.Effect<void, RequestError, HttpClient> =>
  Effect.flatMap(AppCredentials.checkConsumer({ consumerKey, consumerSecret }), (consumer) => {
    const identified = AppCredentials.ofConsumer(consumer)
    return TokenRequest.send(settings, {
      ...identified,
      operation: "OAuth2.invalidateAppToken",
      effect: "toggle",
      path: "/oauth2/invalidate_token",
      form: { access_token: Redacted.value(bearerToken) },
      secrets: [bearerToken, ...identified.secrets],
      ...TokenRequest.invalidating
    })
  })

/** A request that returns tokens. */
interface Grant {
  readonly operation: string
  readonly form: TokenRequest.Form
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** The requested scopes, which apply unless the response lists others. */
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** The refresh token that stays valid if the response has no other. */
  readonly refreshToken?: Redacted.Redacted | undefined
}

const grant = (
  settings: Settings,
  app: Account.App,
  { form, operation, refreshToken: known, scopes, secrets }: Grant
): Effect.Effect<Account.OAuth2Tokens, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const identified = yield* AppCredentials.identify(app)
    // The life of the tokens begins before the response arrives.
    const renewedAt = yield* Clock.currentTimeMillis
    return yield* TokenRequest.send(settings, {
      ...identified,
      operation,
      effect: "create",
      path: "/2/oauth2/token",
      form: { ...form, ...identified.form },
      secrets: [...secrets, ...identified.secrets],
      read: (text) =>
        Option.map(decodeTokens(text), ({ access_token, expires_in, refresh_token: refreshToken = known, scope }) => ({
          accessToken: access_token,
          ...(refreshToken === undefined ? undefined : { refreshToken }),
          scopes: scope === undefined ? scopes : Scopes.fromWire(scope),
          expiresAt: renewedAt + (expires_in ?? defaultLifeSeconds) * 1000,
          renewedAt
        })),
      unread: "it has no tokens of the type bearer"
    })
  })

/** The life of a token if the response does not state it: two hours. */
const defaultLifeSeconds = 7200

const Bearer = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^bearer$/i))

/** A field that is ignored if it cannot be decoded: a spent refresh token yields no second response. */
const lenient = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  Schema.optionalKey(schema).pipe(Schema.catchDecoding(() => Effect.succeedNone))

/** At most 300 years: a record cannot hold an infinite time. */
const LifeSeconds = /*#__PURE__*/ Schema.Union([Schema.Finite, Schema.FiniteFromString]).check(
  /*#__PURE__*/ Schema.isGreaterThan(0),
  /*#__PURE__*/ Schema.isLessThan(1e10)
)

const decodeTokens = /*#__PURE__*/ Schema.decodeOption(
  /*#__PURE__*/ Schema.fromJsonString(
    /*#__PURE__*/ Schema.Struct({
      token_type: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.NullOr(Bearer)),
      access_token: TokenRequest.Token,
      refresh_token: /*#__PURE__*/ lenient(TokenRequest.Token),
      expires_in: /*#__PURE__*/ lenient(LifeSeconds),
      scope: /*#__PURE__*/ lenient(Schema.NonEmptyString)
    })
  )
)

const decodeAppToken = /*#__PURE__*/ Schema.decodeOption(
  /*#__PURE__*/ Schema.fromJsonString(
    /*#__PURE__*/ Schema.Struct({ token_type: Bearer, access_token: TokenRequest.Token })
  )
)

const checkRedirectUri = (redirectUri: string): Effect.Effect<void, InvalidSettings> =>
  URL.canParse(redirectUri) && !redirectUri.includes("#")
    ? Effect.void
    : invalid("redirectUri", "must be an absolute URL without a fragment, as set for the app")

const checkScopes = (given: ReadonlyArray<Scopes.Scope>): Effect.Effect<void, InvalidSettings> =>
  given.length > 0 && given.every((scope) => Scopes.scopes.includes(scope))
    ? Effect.void
    : invalid("scopes", `must be one or more of ${Scopes.scopes.join(", ")}`)

const invalid = (setting: string, rule: string): Effect.Effect<never, InvalidSettings> =>
  Effect.fail(new InvalidSettings({ setting, rule }))
