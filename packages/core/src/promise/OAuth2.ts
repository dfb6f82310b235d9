/** Signing users in to an app of one's own, with Promises: as `OAuth2` has it for Effects, with plain texts. */
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

/** Where the service is, how it speaks, how long it may take and who asks: as in the settings of a client. */
export interface Settings
  extends
    Omit<OAuth2.Settings, "wire">,
    Pick<ClientSettings, "wire">,
    Pick<AccountSettings, "clientId" | "clientSecret">
{}

/** Where users come back to, and what they are asked to grant. */
export interface Asked {
  /** Where the service leads the browser at the end of a sign-in: exactly as it is set for the app. */
  readonly redirectUri: string
  /** What the user is asked to grant; with `offline.access` the tokens can be renewed. `scopesFor` names those of operations. */
  readonly scopes: ReadonlyArray<Scope>
}

/** A sign-in that has begun. The program keeps it for the user whose browser it is, such as in their session. */
export interface SignIn {
  /** The address that the user's browser is to open. */
  readonly url: string
  /** Tells the end of this sign-in from that of any other. */
  readonly state: string
  /** Proves that who began the sign-in ends it. It is a secret. */
  readonly verifier: string
}

/** Who signed in. */
export interface User {
  readonly id: string
  readonly username: string
}

/** Tokens to keep, plain or already redacted. */
export interface KeptTokens extends Omit<Tokens, "accessToken" | "refreshToken"> {
  readonly accessToken: Credentials.Secret
  readonly refreshToken?: Credentials.Secret | undefined
}

/** The functions that sign users in, on a platform with settings of its own. */
export interface SignIns<Own extends object, Store extends object> {
  /**
   * Begins a sign-in: the address at which the user is asked, with a random state and verifier (PKCE). Nothing is sent. Rejects
   * with `InvalidSettings`.
   */
  readonly authorize: (settings: Settings & Asked) => Promise<SignIn>
  /**
   * Reads the address that the service led the browser to, absolute or from its path on: the code in it, for `exchange`, which X
   * takes for 30 seconds. Throws `AuthorizationDenied` where the user said no, and `InvalidRedirect` where the address is not the
   * end of this sign-in.
   */
  readonly callback: (address: string | URL, signIn: Pick<SignIn, "state">) => string
  /**
   * Ends a sign-in: brings the tokens for a code. Rejects as calls do; with `OutcomeUnknown`, the sign-in begins anew.
   */
  readonly exchange: (
    settings: Settings & Own & Asked & Pick<SignIn, "verifier"> & { readonly code: string }
  ) => Promise<Tokens>
  /**
   * Renews tokens: the refresh token that is given is used up. A client with an `account` or `oauth2` does so by itself. Rejects as
   * calls do.
   */
  readonly refresh: (
    settings: Settings & Own & Pick<Asked, "scopes"> & { readonly refreshToken: Credentials.Secret }
  ) => Promise<Tokens>
  /** Makes a token useless, and with a refresh token all that was granted with it. Rejects as calls do. */
  readonly revoke: (settings: Settings & Own & { readonly token: Credentials.Secret }) => Promise<void>
  /** Brings the bearer token of an app, which acts for no user and does not expire. Rejects as calls do. */
  readonly appToken: (
    settings: Settings & Own & Pick<Credentials.Settings, "consumerKey" | "consumerSecret">
  ) => Promise<string>
  /**
   * Keeps the tokens of a user as an account, in place of what the store had of it: clients use it with `account`, in every
   * process that shares the store. Rejects with `TokenStoreFailure` or `InvalidSettings`.
   */
  readonly saveAccount: (
    settings: Settings & Store & {
      readonly account: string
      readonly tokens: KeptTokens
      readonly user?: User | undefined
    }
  ) => Promise<void>
}

/** What a platform has for sign-ins. */
export interface Platform<Own, Store> {
  readonly http: (settings: Own) => Layer.Layer<HttpClient, InvalidSettings>
  readonly store: (settings: Store) => Layer.Layer<TokenStore, InvalidSettings>
}

/** The settings of every request, as `OAuth2` takes them. */
const serviceOf = (settings: Omit<Settings, "clientId" | "clientSecret">) => {
  const { allowInsecureHttp, baseUrl, maxBodySize, retries, timeout, userAgent } = settings
  return Effect.map(
    wireOf(settings),
    (wire) => ({ allowInsecureHttp, baseUrl, maxBodySize, retries, timeout, userAgent, wire })
  )
}

/** The same, with the app that users sign in to. */
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

/** Tokens as a store keeps them. They may have been kept elsewhere meanwhile. */
const tokensOf = Effect.fnUntraced(function*({ expiresAt, scopes, ...tokens }: KeptTokens) {
  const accessToken = yield* required("tokens.accessToken", tokens.accessToken)
  const refreshToken = yield* Credentials.checkSecret("tokens.refreshToken", tokens.refreshToken)
  const renewedAt = yield* Clock.currentTimeMillis
  return { accessToken, ...(refreshToken === undefined ? undefined : { refreshToken }), scopes, expiresAt, renewedAt }
})

/** The functions on a platform. */
export const on = <Own extends object, Store extends object>(
  { http, store }: Platform<Own, Store>
): SignIns<Own, Store> => {
  // Whoever awaits what this returns is on the stack of what it throws.
  const run = async <A, E extends Error>(effect: Effect.Effect<A, E>): Promise<A> =>
    valueOf(await Effect.runPromiseExit(effect), undefined, run)
  const sending = <A, E extends Error>(settings: Own, effect: Effect.Effect<A, E, HttpClient>): Promise<A> =>
    run(Effect.provide(effect, http(settings)))

  const authorize: SignIns<Own, Store>["authorize"] = (settings) =>
    run(
      Effect.gen(function*() {
        const { app, service } = yield* signInOf(settings)
        const { redirectUri, scopes } = settings
        const { state, url, verifier } = yield* OAuth2.authorize({ ...service, app, redirectUri, scopes })
        return { url, state: Redacted.value(state), verifier: Redacted.value(verifier) }
      })
    )

  const callback: SignIns<Own, Store>["callback"] = (address, { state }) =>
    Redacted.value(
      valueOf(Effect.runSyncExit(OAuth2.callback(address, { state: Redacted.make(state) })), undefined, callback)
    )

  const exchange: SignIns<Own, Store>["exchange"] = (settings) =>
    sending(
      settings,
      Effect.gen(function*() {
        const { app, service } = yield* signInOf(settings)
        const { redirectUri, scopes } = settings
        const code = yield* required("code", settings.code)
        const verifier = yield* required("verifier", settings.verifier)
        return plain(yield* OAuth2.exchange({ ...service, app, code, verifier, redirectUri, scopes }))
      })
    )

  const refresh: SignIns<Own, Store>["refresh"] = (settings) =>
    sending(
      settings,
      Effect.gen(function*() {
        const { app, service } = yield* signInOf(settings)
        const refreshToken = yield* required("refreshToken", settings.refreshToken)
        return plain(yield* OAuth2.refresh({ ...service, app, refreshToken, scopes: settings.scopes }))
      })
    )

  const revoke: SignIns<Own, Store>["revoke"] = (settings) =>
    sending(
      settings,
      Effect.gen(function*() {
        const { app, service } = yield* signInOf(settings)
        yield* OAuth2.revoke({ ...service, app, token: yield* required("token", settings.token) })
      })
    )

  const appToken: SignIns<Own, Store>["appToken"] = (settings) =>
    sending(
      settings,
      Effect.gen(function*() {
        const { consumerKey, consumerSecret } = settings
        return Redacted.value(yield* OAuth2.appToken({ ...yield* serviceOf(settings), consumerKey, consumerSecret }))
      })
    )

  const saveAccount: SignIns<Own, Store>["saveAccount"] = (settings) =>
    run(
      Effect.provide(
        Effect.scoped(Effect.gen(function*() {
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
        })),
        store(settings)
      )
    )

  return { authorize, callback, exchange, refresh, revoke, appToken, saveAccount }
}
