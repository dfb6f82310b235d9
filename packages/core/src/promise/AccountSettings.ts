/** The settings of a client that acts for a user who signed in: the name of an account, or tokens. */
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Account from "../accounts/Account.ts"
import * as AccountCredentials from "../accounts/AccountCredentials.ts"
import type * as RefreshingCredentials from "../accounts/RefreshingCredentials.ts"
import * as Credentials from "../auth/Credentials.ts"
import { InvalidSettings } from "../errors/Errors.ts"
import { type Scope, scopes } from "../schema/Scopes.ts"
import type { TokenStore } from "../storage/TokenStore.ts"

/** The settings of a client that acts for a user who signed in. */
export interface AccountSettings {
  /**
   * The name of an account, such as `ada` after `postwire login ada`. Its tokens are read from the token store and refreshed there.
   * Replaces all other credentials.
   */
  readonly account?: string | undefined
  /** The tokens of a user, which the client refreshes. Replaces all other credentials. */
  readonly oauth2?: OAuth2Settings | undefined
  /** OAuth 2.0 client id of the app that users sign in to. An account stores its own. */
  readonly clientId?: string | undefined
  /** OAuth 2.0 client secret of a confidential app. An account stores its own, unless it was saved without one. */
  readonly clientSecret?: Credentials.Secret | undefined
}

/** Tokens of a user, as `OAuth2.exchange` and `OAuth2.refresh` return them. They are secret. */
export interface Tokens {
  readonly accessToken: string
  /** Valid once: each refresh returns another. Omitted if `offline.access` was not granted. */
  readonly refreshToken?: string | undefined
  /** When the access token expires, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** The scopes that the user granted. */
  readonly scopes: ReadonlyArray<Scope>
}

/** The tokens of a user, stored by the program. */
export interface OAuth2Settings {
  /** The app that the tokens were granted to. Default: the setting `clientId`. */
  readonly clientId?: string | undefined
  /** The secret of a confidential app. Default: the setting `clientSecret`. */
  readonly clientSecret?: Credentials.Secret | undefined
  /** Without it, the first call refreshes the tokens. */
  readonly accessToken?: Credentials.Secret | undefined
  /** Valid once: each refresh returns another. Granted with the scope `offline.access`. */
  readonly refreshToken?: Credentials.Secret | undefined
  /** When the access token expires, in milliseconds since the epoch. Without it, the token is used until the service rejects it. */
  readonly expiresAt?: number | undefined
  /** The granted scopes. If set, a call that needs others fails with `MissingScope` before it is sent. */
  readonly scopes?: ReadonlyArray<Scope> | undefined
  /**
   * Stores refreshed tokens in place of the previous ones, which are no longer valid. No call uses the new tokens before it
   * completes; if it throws or rejects, it is called again. Without it, refreshed tokens are lost with the client.
   */
  readonly save?: ((tokens: Tokens) => unknown) | undefined
}

/** The names of the settings. */
export const names: ReadonlyArray<string> = /*#__PURE__*/ Object.keys(
  { account: true, clientId: true, clientSecret: true, oauth2: true } satisfies {
    readonly [K in keyof AccountSettings]-?: true
  }
)

const namesOfOAuth2: ReadonlyArray<string> = /*#__PURE__*/ Object.keys(
  {
    accessToken: true,
    clientId: true,
    clientSecret: true,
    expiresAt: true,
    refreshToken: true,
    save: true,
    scopes: true
  } satisfies { readonly [K in keyof OAuth2Settings]-?: true }
)

const invalid = (setting: string, rule: string) => Effect.fail(new InvalidSettings({ setting, rule }))

/** The app of the settings, if any. */
export const appOf = Effect.fnUntraced(function*(
  { clientId, clientSecret }: Pick<AccountSettings, "clientId" | "clientSecret">,
  within = ""
): Effect.fn.Return<Account.App | undefined, InvalidSettings> {
  const id = yield* Credentials.checkSecret(`${within}clientId`, clientId)
  const secret = yield* Credentials.checkSecret(`${within}clientSecret`, clientSecret)
  if (id !== undefined) {
    return { clientId: Redacted.value(id), ...(secret === undefined ? undefined : { clientSecret: secret }) }
  }
  return secret === undefined
    ? undefined
    : yield* invalid(`${within}clientId`, `is missing: ${within}clientSecret is the secret of an app`)
})

/** The tokens as plain strings. */
export const plain = ({ accessToken, expiresAt, refreshToken, scopes }: Account.OAuth2Tokens): Tokens => ({
  accessToken: Redacted.value(accessToken),
  ...(refreshToken === undefined ? undefined : { refreshToken: Redacted.value(refreshToken) }),
  expiresAt,
  scopes
})

type Given = AccountSettings & Credentials.Settings

/** Checks that the settings have only one of credentials, an account, and tokens to refresh. */
const checkAlone = (settings: Given, chosen: "account" | "oauth2") => {
  const other = (["oauth2", ...Credentials.names] as const).find((name) => {
    const given = settings[name]
    return name !== chosen && given !== undefined && given !== null && given !== ""
  })
  return other === undefined
    ? Effect.void
    : invalid(
      other,
      `cannot be combined with ${chosen}, which has its own credentials: remove one, or create two clients`
    )
}

const isObject: (value: unknown) => boolean = Predicate.isObject

const oauth2Of = Effect.fnUntraced(function*(
  given: OAuth2Settings,
  app: Account.App | undefined
): Effect.fn.Return<AccountCredentials.OAuth2Settings, InvalidSettings> {
  if (!isObject(given)) return yield* invalid("oauth2", "must be an object")
  const unknown = Object.keys(given).find((name) => !namesOfOAuth2.includes(name))
  if (unknown !== undefined) return yield* Credentials.unknownSetting(unknown, undefined, "oauth2")
  const { expiresAt, save, scopes: granted } = given
  const { clientId, clientSecret } = (yield* appOf(given, "oauth2.")) ?? app ?? {}
  if (clientId === undefined) {
    return yield* invalid(
      "oauth2.clientId",
      "is missing: tokens can be refreshed only by the app that they were granted to"
    )
  }
  const accessToken = yield* Credentials.checkSecret("oauth2.accessToken", given.accessToken)
  const refreshToken = yield* Credentials.checkSecret("oauth2.refreshToken", given.refreshToken)
  if (refreshToken === undefined) {
    return yield* invalid("oauth2.refreshToken", "is missing: sign in with the scope offline.access to get one")
  }
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    return yield* invalid("oauth2.expiresAt", "must be a time in milliseconds since the epoch")
  }
  if (granted !== undefined && !(Array.isArray(granted) && granted.every((scope) => scopes.includes(scope)))) {
    return yield* invalid("oauth2.scopes", `must be some of ${scopes.join(", ")}`)
  }
  if (save !== undefined && typeof save !== "function") return yield* invalid("oauth2.save", "must be a function")
  return {
    clientId,
    clientSecret,
    accessToken,
    refreshToken,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    scopes: granted,
    save: save && ((tokens) => Effect.tryPromise(async () => await save(plain(tokens))))
  }
})

/** The account or tokens of a client. */
export type UserCredentials =
  | Pick<AccountCredentials.Settings, "account" | "app">
  | AccountCredentials.OAuth2Settings

/** Checks the settings, and returns the account or tokens, if any. */
export const check = Effect.fnUntraced(function*(
  settings: Given
): Effect.fn.Return<UserCredentials | undefined, InvalidSettings> {
  const { account, oauth2 } = settings
  const app = yield* appOf(settings)
  if (account !== undefined) {
    yield* Account.checkName(account)
    yield* checkAlone(settings, "account")
    return { account, app }
  }
  if (oauth2 === undefined) return undefined
  yield* checkAlone(settings, "oauth2")
  return yield* oauth2Of(oauth2, app)
})

/** The credentials of settings: given ones, those of an account, or tokens to refresh. */
export const layer = (
  settings: Given,
  service: RefreshingCredentials.Settings,
  accounts: Layer.Layer<TokenStore, InvalidSettings>
): Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient> =>
  Layer.unwrap(Effect.map(check(settings), (user) =>
    user === undefined
      ? Credentials.layer(settings)
      : "account" in user
      ? Layer.provide(AccountCredentials.layer({ ...service, ...user }), accounts)
      : AccountCredentials.layerOAuth2({ ...service, ...user })))
