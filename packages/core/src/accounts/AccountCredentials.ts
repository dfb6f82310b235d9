/**
 * Credentials of a signed-in user: an account in a `TokenStore`, or tokens that the program stores itself. Separate from
 * `Credentials`, because programs without accounts have nothing to refresh.
 */
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Credentials from "../auth/Credentials.ts"
import * as Redaction from "../auth/Redaction.ts"
import * as Client from "../client/Client.ts"
import { InvalidSettings, StorageFailure } from "../errors/Errors.ts"
import type { Scope } from "../schema/Scopes.ts"
import { TokenStore } from "../storage/TokenStore.ts"
import * as Account from "./Account.ts"
import * as TokenRefresh from "./internal/tokenRefresh.ts"
import * as RefreshingCredentials from "./RefreshingCredentials.ts"

/** The account that a client uses. */
export interface Settings extends RefreshingCredentials.Settings {
  /** The name of the account, as `ada`. */
  readonly account: string
  /** Supplies the app's secret for accounts whose records have none. */
  readonly app?: Account.App | undefined
}

/** Tokens that a program stores itself. */
export interface OAuth2Settings extends RefreshingCredentials.Settings {
  /** The app that the tokens were granted to. */
  readonly clientId: string
  /** The secret of the app, if it has one. */
  readonly clientSecret?: Credentials.Secret | undefined
  /** Without one, the first call refreshes. */
  readonly accessToken?: Credentials.Secret | undefined
  readonly refreshToken: Credentials.Secret
  /** Without one, the access token is used until the service refuses it. */
  readonly expiresAt?: Date | undefined
  /** The granted scopes. Without them, scopes are not checked before the first refresh. */
  readonly scopes?: ReadonlyArray<Scope> | undefined
  /** The id of the user. Without it, the client requests it when a call needs it. */
  readonly userId?: string | undefined
  /**
   * Stores refreshed tokens; the previous ones are dead. No call uses the new tokens before this has succeeded. Retried on failure.
   */
  readonly save?: ((tokens: Account.OAuth2Tokens) => Effect.Effect<void, Error>) | undefined
}

/** Timeouts of a store in milliseconds. The holder of the lock may wait for two responses of the service. */
const storeMillis = { read: 10_000, write: 10_000, lock: 35_000 } as const

/** Credentials of an account in the `TokenStore`. The store is first read by the first call. */
export const layer = (
  settings: Settings
): Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient | TokenStore> =>
  Layer.effect(
    Credentials.Credentials,
    Effect.gen(function*() {
      const name = yield* Account.checkName(settings.account)
      const store = yield* TokenStore
      const late = (action: StorageFailure["action"]) => ({
        duration: storeMillis[action],
        orElse: () =>
          Effect.fail(
            new StorageFailure({
              kind: "token store",
              place: store.describe(name),
              fault: action === "lock" ? "locked" : "unavailable",
              action,
              detail: `no answer within ${storeMillis[action]} ms`
            })
          )
      })
      const write = (account: Account.Account) =>
        Effect.timeoutOrElse(Account.write(store, name, account), late("write"))
      return yield* RefreshingCredentials.make(settings, {
        name,
        user: `of ${name}`,
        ...(settings.app === undefined ? undefined : { app: settings.app }),
        read: Effect.timeoutOrElse(Account.read(store, name), late("read")),
        write,
        // Writes the record unchanged: a full or read-only store fails here.
        probe: write,
        lock: Effect.timeoutOrElse(store.lock(name), late("lock"))
      })
    })
  )

/** Credentials of a user whose tokens the program stores itself, refreshed like those of an account. */
export const layerOAuth2 = (
  settings: OAuth2Settings
): Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient> =>
  Layer.effect(
    Credentials.Credentials,
    Effect.gen(function*() {
      const { baseUrl } = yield* Client.check(settings)
      const { clientId, expiresAt, save = () => Effect.void, scopes = [], userId } = settings
      if (typeof clientId !== "string" || clientId === "") return yield* missing("clientId")
      const accessToken = yield* Credentials.checkSecret("accessToken", settings.accessToken)
      const refreshToken = yield* Credentials.checkSecret("refreshToken", settings.refreshToken)
      const clientSecret = yield* Credentials.checkSecret("clientSecret", settings.clientSecret)
      if (refreshToken === undefined) return yield* missing("refreshToken")
      let account: Account.Account = {
        version: 1,
        baseUrl,
        app: { clientId, ...(clientSecret === undefined ? undefined : { clientSecret }) },
        ...(userId === undefined ? undefined : { user: { id: userId, username: userId } }),
        oauth2: {
          accessToken: accessToken ?? Redacted.make(""),
          refreshToken,
          scopes,
          expiresAt: accessToken === undefined ? 0 : expiresAt?.getTime() ?? Infinity,
          renewedAt: 0
        }
      }
      return yield* RefreshingCredentials.make(settings, {
        name: "",
        user: Redacted.value(refreshToken),
        read: Effect.sync(() => Option.some(account)),
        write: (renewed) =>
          renewed.oauth2 === undefined
            ? Effect.void
            : Effect.andThen(
              Effect.mapError(save(renewed.oauth2), unsavedBecause(account, renewed)),
              Effect.sync(() => {
                account = renewed
              })
            ),
        probe: () => Effect.void,
        lock: Effect.void
      })
    })
  )

const missing = (setting: string) => Effect.fail(new InvalidSettings({ setting, rule: "is missing" }))

/** The error of a program that could not store tokens, without the secrets of the old and the new record. */
const unsavedBecause = (...accounts: ReadonlyArray<Account.Account>) => (error: Error): StorageFailure => {
  const redact = Redaction.make(() => accounts.flatMap(RefreshingCredentials.secretsOf).map(TokenRefresh.plain))
  const redacted = Redaction.within(error, redact)
  if (redacted instanceof StorageFailure) return redacted
  return new StorageFailure({
    kind: "token store",
    place: "save",
    fault: "unavailable",
    action: "write",
    detail: redact(error.message)
  })
}
