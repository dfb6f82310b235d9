/** Signs users in to the program's own app with Promises and plain strings, as `OAuth2` does with Effects. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Account from "../accounts/Account.ts"
import * as OAuth2 from "../accounts/OAuth2.ts"
import * as Credentials from "../auth/Credentials.ts"
import * as Client from "../client/Client.ts"
import { InvalidSettings } from "../errors/Errors.ts"
import type { Scope } from "../schema/Scopes.ts"
import { TokenStore } from "../storage/TokenStore.ts"
import { type AccountSettings, appOf, plain, type Tokens } from "./AccountSettings.ts"
import { valueOf } from "./Calls.ts"
import { type Settings as ClientSettings, wireOf } from "./Settings.ts"

/** The service, its field names, timeouts and the app, as in the settings of a client. */
export interface Settings
  extends
    Omit<OAuth2.Settings, "wire">,
    Pick<ClientSettings, "wire">,
    Pick<AccountSettings, "clientId" | "clientSecret">
{}

/** The redirect address and the scopes of a sign-in. */
export interface AuthorizationOptions {
  /** The address to which the service redirects the browser, exactly as it is configured for the app. */
  readonly redirectUri: string
  /** The requested scopes; with `offline.access` the tokens can be refreshed. `scopesFor` lists the scopes of operations. */
  readonly scopes: ReadonlyArray<Scope>
}

/** A sign-in in progress. The program stores it for the user, for example in their session. */
export interface SignIn {
  /** The address to open in the user's browser. */
  readonly url: string
  /** Identifies this sign-in. */
  readonly state: string
  /** Proves that the same program started the sign-in. It is secret. */
  readonly verifier: string
}

/** The user who signed in. */
export interface User {
  readonly id: string
  readonly username: string
}

/** Tokens to save, plain or redacted. */
export interface SavedTokens extends Omit<Tokens, "accessToken" | "refreshToken"> {
  readonly accessToken: Credentials.Secret
  readonly refreshToken?: Credentials.Secret | undefined
}

/** An account and its tokens. */
export interface AccountToSave {
  readonly account: string
  readonly tokens: SavedTokens
  readonly user?: User | undefined
}

/**
 * The functions that sign users in, on a platform with its own settings. Their documentation is where each platform exports them.
 */
export interface SignIns<Own extends object, Store extends object> {
  readonly authorize: (settings: Settings & AuthorizationOptions) => Promise<SignIn>
  readonly callback: (address: string | URL, signIn: Pick<SignIn, "state">) => string
  readonly exchange: (
    settings: Settings & Own & AuthorizationOptions & Pick<SignIn, "verifier"> & { readonly code: string }
  ) => Promise<Tokens>
  readonly refresh: (
    settings: Settings & Own & Pick<AuthorizationOptions, "scopes"> & { readonly refreshToken: Credentials.Secret }
  ) => Promise<Tokens>
  readonly revoke: (settings: Settings & Own & { readonly token: Credentials.Secret }) => Promise<void>
  readonly appToken: (
    settings: Settings & Own & Pick<Credentials.Settings, "consumerKey" | "consumerSecret">
  ) => Promise<string>
  readonly saveAccount: (
    settings: Settings & Store & AccountToSave
  ) => Promise<void>
}

/** The services of a platform for sign-ins. */
export interface Platform<Own, Store> {
  readonly http: (settings: Own) => Layer.Layer<HttpClient, InvalidSettings>
  readonly store: (settings: Store) => Layer.Layer<TokenStore, InvalidSettings>
}

/** The settings of every request, for `OAuth2`. */
const serviceOf = (settings: Omit<Settings, "clientId" | "clientSecret">) => {
  const { allowInsecureHttp, baseUrl, maxBodySize, retries, timeout, userAgent } = settings
  return Effect.map(
    wireOf(settings),
    (wire) => ({ allowInsecureHttp, baseUrl, maxBodySize, retries, timeout, userAgent, wire })
  )
}

/** The settings of every request, with the app that users sign in to. */
const signInOf = Effect.fnUntraced(function*(settings: Settings) {
  const app = yield* appOf(settings)
  return {
    service: yield* serviceOf(settings),
    app: app ?? (yield* new InvalidSettings({ setting: "clientId", rule: "is missing: the app that users sign in to" }))
  }
})

const required = (setting: string, given: Credentials.Secret) =>
  Effect.filterOrFail(
    Credentials.checkSecret(setting, given),
    (secret) => secret !== undefined,
    () => new InvalidSettings({ setting, rule: "is missing" })
  )

/** Tokens for a store. They may have been stored elsewhere before. */
const tokensOf = Effect.fnUntraced(function*({ expiresAt, scopes, ...tokens }: SavedTokens) {
  const accessToken = yield* required("tokens.accessToken", tokens.accessToken)
  const refreshToken = yield* Credentials.checkSecret("tokens.refreshToken", tokens.refreshToken)
  const renewedAt = yield* Clock.currentTimeMillis
  return { accessToken, ...(refreshToken === undefined ? undefined : { refreshToken }), scopes, expiresAt, renewedAt }
})

const authorize = Effect.fnUntraced(function*(settings: Settings & AuthorizationOptions) {
  const { app, service } = yield* signInOf(settings)
  const { redirectUri, scopes } = settings
  const { state, url, verifier } = yield* OAuth2.authorize({ ...service, app, redirectUri, scopes })
  return { url, state: Redacted.value(state), verifier: Redacted.value(verifier) }
})

const exchange = Effect.fnUntraced(function*(
  settings: Settings & AuthorizationOptions & Pick<SignIn, "verifier"> & { readonly code: string }
) {
  const { app, service } = yield* signInOf(settings)
  const { redirectUri, scopes } = settings
  const code = yield* required("code", settings.code)
  const verifier = yield* required("verifier", settings.verifier)
  return plain(yield* OAuth2.exchange({ ...service, app, code, verifier, redirectUri, scopes }))
})

const refresh = Effect.fnUntraced(function*(
  settings: Settings & Pick<AuthorizationOptions, "scopes"> & { readonly refreshToken: Credentials.Secret }
) {
  const { app, service } = yield* signInOf(settings)
  const refreshToken = yield* required("refreshToken", settings.refreshToken)
  return plain(yield* OAuth2.refresh({ ...service, app, refreshToken, scopes: settings.scopes }))
})

const revoke = Effect.fnUntraced(function*(settings: Settings & { readonly token: Credentials.Secret }) {
  const { app, service } = yield* signInOf(settings)
  yield* OAuth2.revoke({ ...service, app, token: yield* required("token", settings.token) })
})

const appToken = Effect.fnUntraced(function*(
  settings: Settings & Pick<Credentials.Settings, "consumerKey" | "consumerSecret">
) {
  const { consumerKey, consumerSecret } = settings
  return Redacted.value(yield* OAuth2.appToken({ ...yield* serviceOf(settings), consumerKey, consumerSecret }))
})

const saveAccount = Effect.fnUntraced(function*(settings: Settings & AccountToSave) {
  const { account: name, tokens, user } = settings
  yield* Account.checkName(name)
  const { app, service } = yield* signInOf(settings)
  const { baseUrl } = yield* Client.check(service)
  const store = yield* TokenStore
  yield* store.lock(name)
  yield* Account.write(store, name, {
    version: 1,
    baseUrl,
    app,
    ...(user === undefined ? undefined : { user }),
    oauth2: yield* tokensOf(tokens)
  })
}, Effect.scoped)

/** Makes the functions on a platform. */
export const on = <Own extends object, Store extends object>(
  { http, store }: Platform<Own, Store>
): SignIns<Own, Store> => {
  // The code that awaits the result is on the stack of its errors.
  const run = async <A, E extends Error>(effect: Effect.Effect<A, E>): Promise<A> =>
    valueOf(await Effect.runPromiseExit(effect), undefined, run)
  const send = <A, E extends Error>(settings: Own, effect: Effect.Effect<A, E, HttpClient>): Promise<A> =>
    run(Effect.provide(effect, http(settings)))
  const callback: SignIns<Own, Store>["callback"] = (address, { state }) =>
    Redacted.value(
      valueOf(Effect.runSyncExit(OAuth2.callback(address, { state: Redacted.make(state) })), undefined, callback)
    )
  return {
    authorize: (settings) => run(authorize(settings)),
    callback,
    exchange: (settings) => send(settings, exchange(settings)),
    refresh: (settings) => send(settings, refresh(settings)),
    revoke: (settings) => send(settings, revoke(settings)),
    appToken: (settings) => send(settings, appToken(settings)),
    saveAccount: (settings) => run(Effect.provide(saveAccount(settings), store(settings)))
  }
}
