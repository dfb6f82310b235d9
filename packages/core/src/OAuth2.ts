/**
 * Signing in with OAuth 2.0: a user allows an app, and the app has tokens that act for the user (authorization code with PKCE,
 * RFC 6749 and 7636). `Account` is the record in which such tokens are kept.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Account from "./Account.ts"
import * as AuthorizationRequest from "./AuthorizationRequest.ts"
import type { BadRequest, Unauthorized } from "./Errors.ts"
import * as Scopes from "./Scopes.ts"

/** Where the service is, how it speaks and how long it may take: as in the settings of a client. */
export type Settings = AuthorizationRequest.Settings

/** What requests of a sign-in can fail with. */
export type RequestError = AuthorizationRequest.RequestError

/** What a renewal needs. */
export interface Refresh extends Settings {
  /** The app that the tokens were granted to. */
  readonly app: Account.App
  readonly refreshToken: Redacted.Redacted
  /** What the tokens were granted for: a service that does not say it again has not changed it. */
  readonly scopes: ReadonlyArray<Scopes.Scope>
}

/**
 * Renews tokens: brings an access token, and another refresh token in place of the one given, which is spent. It is sent once: when
 * it left and no answer came, it fails with `OutcomeUnknown`. Where the service refuses the refresh token, which
 * {@link isTokenRefused} tells, the user has to sign in again.
 *
 * ```ts
 * const tokens = yield* OAuth2.refresh({ baseUrl, app, refreshToken, scopes })
 * ```
 */
export const refresh = (
  { app, refreshToken, scopes, ...settings }: Refresh
): Effect.Effect<Account.OAuth2Tokens, RequestError, HttpClient> =>
  granted(settings, app, {
    operation: "OAuth2.refresh",
    form: { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) },
    secrets: [refreshToken],
    scopes,
    refreshToken
  })

/** Whether the service refuses a refresh token, and not the app or the request: its user has to sign in again. */
export const isTokenRefused = (error: RequestError): error is BadRequest | Unauthorized =>
  (error._tag === "BadRequest" || error._tag === "Unauthorized") &&
  // Without a description, the code is what the service said.
  !codesOfApps.has(error.title ?? error.detail ?? "")

/** The codes with which a service refuses an app, or what it asks for. */
const codesOfApps: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope"
])

/** A request whose answer is tokens. */
interface Grant {
  readonly operation: string
  readonly form: AuthorizationRequest.Request<unknown>["form"]
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** What is granted where the service does not say it: what was asked for. */
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** What stays in use where the service brings no other. */
  readonly refreshToken?: Redacted.Redacted | undefined
}

const granted = (
  settings: Settings,
  app: Account.App,
  { form, operation, refreshToken: known, scopes, secrets }: Grant
): Effect.Effect<Account.OAuth2Tokens, RequestError, HttpClient> =>
  // What passes until the answer comes is time in which the tokens are good already.
  Effect.flatMap(Clock.currentTimeMillis, (renewedAt) => {
    const identified = identify(app)
    return AuthorizationRequest.send(settings, {
      ...identified,
      operation,
      effect: "create",
      path: "/2/oauth2/token",
      form: { ...form, ...identified.form },
      secrets: [...secrets, ...identified.secrets],
      read: (text) => {
        const answer = read(Tokens, text)
        if (answer === undefined) return undefined
        const { access_token: accessToken, expires_in, refresh_token: refreshToken = known, scope } = answer
        return {
          accessToken,
          ...(refreshToken === undefined ? undefined : { refreshToken }),
          scopes: scope === undefined ? scopes : Scopes.fromWire(scope),
          expiresAt: renewedAt + (expires_in ?? defaultLifeSeconds) * 1000,
          renewedAt
        }
      },
      unread: "it has no tokens of the type bearer"
    })
  })

/** What the service gives a token where it does not say it: two hours. */
const defaultLifeSeconds = 7200

/** What travels in a header. */
const Token = /*#__PURE__*/ Schema.RedactedFromValue(
  /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^[\x21-\x7e]+$/))
)

const Bearer = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^bearer$/i))

const Tokens = /*#__PURE__*/ Schema.fromJsonString(
  /*#__PURE__*/ Schema.Struct({
    token_type: Bearer,
    access_token: Token,
    refresh_token: /*#__PURE__*/ Schema.optionalKey(Token),
    expires_in: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Finite.check(/*#__PURE__*/ Schema.isGreaterThan(0))
    ),
    scope: /*#__PURE__*/ Schema.optionalKey(Schema.NonEmptyString)
  })
)

const read = <A>(schema: Schema.ConstraintDecoder<A>, text: string): A | undefined => {
  const exit = Schema.decodeUnknownExit(schema)(text)
  return exit._tag === "Success" ? exit.value : undefined
}

/** How an app says which one it is: a public one with its id, a confidential one with a header. */
const identify = (
  { clientId, clientSecret }: Account.App
): Pick<AuthorizationRequest.Request<unknown>, "authorization" | "credential" | "form" | "secrets"> => {
  if (clientSecret === undefined) return { form: { client_id: clientId }, credential: "app", secrets: [] }
  const credentials = basic(clientId, clientSecret)
  return {
    form: {},
    credential: "app",
    authorization: () => `Basic ${Redacted.value(credentials)}`,
    secrets: [clientSecret, credentials]
  }
}

/** Id and secret as one text, each encoded as in a form (RFC 6749, 2.3.1). */
const basic = (id: string, secret: Redacted.Redacted): Redacted.Redacted => {
  const encoded = (text: string) => AuthorizationRequest.encode({ "": text }).slice(1)
  return Redacted.make(btoa(`${encoded(id)}:${encoded(Redacted.value(secret))}`), { label: "authorization" })
}
