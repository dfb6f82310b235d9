/**
 * Credentials of an account: its tokens are renewed before they expire, and where the service refuses them earlier, while
 * calls wait. Apart from `Credentials`, because a program without accounts has nothing to renew.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import * as Account from "./Account.ts"
import * as Client from "./Client.ts"
import * as Credentials from "./Credentials.ts"
import { type CredentialsError, InvalidSettings, TokenStoreFailure, TransportFailure } from "./Errors.ts"
import * as Identity from "./Identity.ts"
import * as Monotonic from "./Monotonic.ts"
import * as OAuth1 from "./OAuth1.ts"
import * as OAuth2 from "./OAuth2.ts"
import * as Redaction from "./Redaction.ts"
import * as Renewal from "./Renewal.ts"
import type { Scope as Granted } from "./Scopes.ts"
import { TokenStore } from "./TokenStore.ts"

/** Where the service is and how it speaks: as in the settings of the client. */
export interface ServiceSettings extends Omit<OAuth2.Settings, "retries" | "timeout"> {}

/** Which account a client uses. */
export interface Settings extends ServiceSettings {
  /** The name of the account, as `ada`. */
  readonly account: string
  /** Has the secret of the app, for accounts whose records hold none. */
  readonly app?: Account.App | undefined
}

/** Tokens that a program keeps itself. */
export interface OAuth2Settings extends ServiceSettings {
  /** The app that they were granted to. */
  readonly clientId: string
  /** The secret of the app, if it has one. */
  readonly clientSecret?: Credentials.Secret | undefined
  /** Left out, the first call renews. */
  readonly accessToken?: Credentials.Secret | undefined
  readonly refreshToken: Credentials.Secret
  /** Left out, the access token is used until the service refuses it. */
  readonly expiresAt?: Date | undefined
  /** What was granted. Left out, scopes are not checked before the first renewal. */
  readonly scopes?: ReadonlyArray<Granted> | undefined
  /** The id of the user. Left out, the service is asked where a call needs it. */
  readonly userId?: string | undefined
  /**
   * Keeps renewed tokens, in place of those before, which are of no use any more. No call uses them until this has ended. When it
   * fails it is run again.
   */
  readonly save?: ((tokens: Account.OAuth2Tokens) => Effect.Effect<void, Error>) | undefined
}

/** Milliseconds before a renewal in vain is repeated: at first, and at most where it is the service that fails. */
const shortestPauseMillis = 1_000
const longestPauseMillis = 30_000

/** Milliseconds that a call waits for a renewal as long as its token may do. */
const patienceMillis = 2_000

/** Milliseconds that a client which is closed waits for the answer to a renewal, and for a store to take tokens. */
const farewellMillis = 15_000

/** Milliseconds that the service has for one answer: twice that is less than another process waits for the lock. */
const timeout = { connect: 5_000, total: 12_000 }

/** Milliseconds that a store has. Who holds its lock may have to wait for two answers of the service. */
const storeMillis = { read: 10_000, write: 10_000, lock: 35_000 } as const

/** The credentials of an account in the `TokenStore`. Nothing is read before the first call. */
export const layer = (
  settings: Settings
): Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient | TokenStore> =>
  Layer.effect(
    Credentials.Credentials,
    Effect.gen(function*() {
      const name = yield* Account.checkName(settings.account)
      const store = yield* TokenStore
      const late = (action: TokenStoreFailure["action"]) => ({
        duration: storeMillis[action],
        orElse: () =>
          Effect.fail(
            new TokenStoreFailure({
              store: store.describe(name),
              fault: action === "lock" ? "locked" : "unavailable",
              action,
              detail: `no answer within ${storeMillis[action]} ms`
            })
          )
      })
      return yield* make(settings, {
        name,
        user: `of ${name}`,
        ...(settings.app === undefined ? undefined : { app: settings.app }),
        read: Effect.timeoutOrElse(Account.read(store, name), late("read")),
        write: (account) => Effect.timeoutOrElse(Account.write(store, name, account), late("write")),
        lock: Effect.timeoutOrElse(store.lock(name), late("lock"))
      })
    })
  )

/** The credentials of a user whose tokens the program keeps itself, renewed like those of an account. */
export const layerOAuth2 = (
  settings: OAuth2Settings
): Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient> =>
  Layer.effect(
    Credentials.Credentials,
    Effect.gen(function*() {
      const { baseUrl } = yield* Client.check(settings)
      const { clientId, expiresAt, save = () => Effect.void, scopes = [], userId } = settings
      if (typeof clientId !== "string" || clientId === "") return yield* missing("clientId")
      const accessToken = yield* secretOf("accessToken", settings.accessToken)
      const refreshToken = yield* secretOf("refreshToken", settings.refreshToken)
      const clientSecret = yield* secretOf("clientSecret", settings.clientSecret)
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
      return yield* make(settings, {
        name: "",
        user: Redacted.value(refreshToken),
        read: Effect.sync(() => Option.some(account)),
        write: (renewed) =>
          renewed.oauth2 === undefined
            ? Effect.void
            : Effect.andThen(
              Effect.mapError(save(renewed.oauth2), unsavedBecause(renewed)),
              Effect.sync(() => {
                account = renewed
              })
            ),
        lock: Effect.void
      })
    })
  )

const missing = (setting: string) => Effect.fail(new InvalidSettings({ setting, rule: "is missing" }))

/** A setting that is a secret, without white space around it; none where it is empty. */
const secretOf = (
  setting: string,
  given: Credentials.Secret | undefined
): Effect.Effect<Redacted.Redacted | undefined, InvalidSettings> =>
  Effect.mapBoth(Credentials.check({ bearerToken: given }), {
    onFailure: ({ rule }) => new InvalidSettings({ setting, rule }),
    onSuccess: ({ bearerToken }) => bearerToken
  })

/** What the program said of tokens that it could not keep, without them. */
const unsavedBecause = (account: Account.Account) => (error: Error): TokenStoreFailure => {
  if (error instanceof TokenStoreFailure) return error
  const detail = Redaction.make(() => secretsOf(account).map(Renewal.plain))(error.message)
  return new TokenStoreFailure({ store: "save", fault: "unavailable", action: "write", detail })
}

const secretsOf = (
  { app, oauth2 }: Partial<Pick<Account.Account, "app" | "oauth2">> = {}
): ReadonlyArray<Redacted.Redacted> =>
  [oauth2?.accessToken, oauth2?.refreshToken, app?.clientSecret].filter(Predicate.isNotUndefined)

/** What stands for the user and the app: for the user, the id, or what is the same as long. */
const holderOf = ({ app, oauth1 }: Account.Account, user: string): string =>
  app === undefined ? Renewal.plain(oauth1?.accessToken) : `${app.clientId} ${user}`

const userIdOf = ({ oauth1, user }: Account.Account): string | undefined =>
  user?.id ?? (oauth1 === undefined ? undefined : Identity.ofAccessToken(Renewal.plain(oauth1.accessToken)))

/** What a client uses now. */
interface Held {
  readonly account: Account.Account
  readonly values: Credentials.Values
  /** By the wall clock: before that, no call has to wait. */
  until: number
  /** Why they have not been renewed, of tokens that may still do. */
  readonly error: CredentialsError | undefined
}

/** Where an account is kept, and what stands for its user where the id is not known. */
interface Source extends Renewal.Keeping {
  readonly user: string
  /** Has the secret of the app where the record has not. */
  readonly app?: Account.App
}

const make = Effect.fnUntraced(function*(
  settings: ServiceSettings,
  source: Source
): Effect.fn.Return<Credentials.Credentials["Service"], InvalidSettings, HttpClient | Scope.Scope> {
  const { baseUrl } = yield* Client.check(settings)
  const http = yield* HttpClient
  const sign = OAuth1.authorize(yield* OAuth1.HmacSha1)
  // A renewal belongs to no call, and to nothing that was under way when the Layer was built.
  const run = Effect.runForkWith(Context.omit(ParentSpan)(yield* Effect.context<never>()))

  let held: Held | undefined
  /** The access token that the service refused. */
  let refused: string | undefined
  /** Why there are no tokens, and until when, in monotonic time, nobody looks again. */
  let fault: { readonly error: CredentialsError; readonly until: number } | undefined
  let underWay: Fiber.Fiber<Credentials.Values, CredentialsError> | undefined
  let rewriting: Fiber.Fiber<void> | undefined
  let isClosed = false
  /** When the service may be asked again for what it does, in monotonic time, and how long that is after the last time. */
  let nextAsk = -Infinity
  let pause = shortestPauseMillis
  let hasAsked = false
  let hasFailed = false

  const renewal = Renewal.make({
    keeping: source,
    baseUrl,
    app: source.app,
    refresh: (request) =>
      Effect.suspend(() => {
        hasAsked = true
        return OAuth2.refresh({ ...settings, ...request, timeout, retries: 0 })
      }).pipe(
        Effect.provideService(HttpClient, http),
        // They were checked.
        Effect.catchTag("InvalidSettings", Effect.die)
      )
  })

  const grantOf = (account: Account.Account): Credentials.Grant => {
    const userId = userIdOf(account)
    const holder = holderOf(account, userId ?? source.user)
    const before = held?.values.grant?.holder
    const scopes = account.oauth2?.scopes ?? []
    return {
      account: source.name,
      holder: before !== undefined && Redacted.value(before) === holder ? before : Redacted.make(holder),
      userId,
      scopes: scopes.length === 0 ? undefined : scopes,
      // An answer may still tell of the tokens before.
      secrets: [account, held?.account, source].flatMap(secretsOf)
    }
  }

  const hold = (account: Account.Account, until: number, error?: CredentialsError): Credentials.Values => {
    const values = { bearerToken: account.oauth2?.accessToken, ...account.oauth1, grant: grantOf(account) }
    held = { account, values, until, error }
    return values
  }

  /** Without its bearer token, an account can still sign. */
  const holdRest = (account: Account.Account, until: number, lost: CredentialsError): Credentials.Values => {
    const values = { ...account.oauth1, grant: { ...grantOf(account), lost } }
    held = { account, values, until, error: lost }
    return values
  }

  /** Asked in vain, or for tokens that last no longer than the pause, the service is asked ever more seldom. */
  const pace = (begun: number, ended: number, isFailure: boolean): void => {
    if (!hasAsked) return
    hasAsked = false
    const goesOn = isFailure ? hasFailed : begun - nextAsk < pause / 2
    hasFailed = isFailure
    pause = goesOn ? Math.min(2 * pause, longestPauseMillis) : shortestPauseMillis
    nextAsk = ended + pause
  }

  const settled = Effect.gen(function*() {
    const begun = yield* Monotonic.millis
    const outcome = yield* Effect.result(renewal.settle(refused))
    const ended = yield* Monotonic.millis
    pace(begun, ended, Result.isFailure(outcome))
    const now = yield* Clock.currentTimeMillis
    fault = undefined
    if (Result.isSuccess(outcome)) {
      const { account, until } = outcome.success
      // What is due as soon as it came is used all the same, for a while.
      return hold(account, Math.max(until, now + Math.max(0, nextAsk - ended)))
    }
    const error = outcome.failure
    const wait = error._tag === "LoginRequired" || error._tag === "TokenStoreFailure" ? shortestPauseMillis : pause
    const account = renewal.last()
    const goodFor = account === undefined || error._tag === "LoginRequired" ? 0 : leftOf(account, now)
    if (account !== undefined && goodFor > 0) return hold(account, now + Math.min(wait, goodFor), error)
    if (account?.oauth1 !== undefined) return holdRest(account, now + wait, error)
    fault = { error, until: ended + wait }
    if (held !== undefined) held.until = -Infinity
    return yield* error
  })

  /** Milliseconds for which an access token may still do. */
  const leftOf = ({ oauth2 }: Account.Account, now: number): number =>
    oauth2 === undefined || Renewal.plain(oauth2.accessToken) === refused ? 0 : oauth2.expiresAt - now

  const begin = () => {
    const fiber = run(settled)
    underWay = fiber
    fiber.addObserver(() => {
      underWay = undefined
      if (renewal.isUnsaved() && !isClosed) rewriting ??= run(rewrite)
    })
    return fiber
  }

  /** Tokens that no store has are written as soon as one takes them, whether there are calls or not. */
  const rewrite = Effect.gen(function*() {
    for (let wait = shortestPauseMillis; renewal.isUnsaved(); wait = Math.min(2 * wait, longestPauseMillis)) {
      yield* Effect.sleep(wait)
      yield* Fiber.await(underWay ?? begin())
    }
    rewriting = undefined
  })

  const outcomeOf = (fiber: Fiber.Fiber<Credentials.Values, CredentialsError>) =>
    Effect.flatMap(
      Fiber.await(fiber),
      (exit) => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.fail(closed()) : exit
    )

  const ready = (now: number) => held !== undefined && now < held.until ? held.values : undefined

  const current = Effect.withFiber<Credentials.Values, CredentialsError>((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const now = clock.currentTimeMillisUnsafe()
    const values = ready(now)
    if (values !== undefined) return Effect.succeed(values)
    if (isClosed) return Effect.fail(closed())
    if (fault !== undefined && Monotonic.millisUnsafe(clock) < fault.until) return Effect.fail(fault.error)
    const renewed = outcomeOf(underWay ?? begin())
    if (held !== undefined && leftOf(held.account, now) <= 0) return renewed
    return Effect.timeoutOrElse(renewed, {
      duration: patienceMillis,
      orElse: () => {
        const account = renewal.last()
        const goodFor = account === undefined ? 0 : leftOf(account, now) - patienceMillis
        // Nor need others wait: what comes of the renewal takes its place.
        return account === undefined || goodFor <= 0 ? renewed : Effect.succeed(hold(account, now + goodFor))
      }
    })
  })

  const renew = (values: Credentials.Values) =>
    Effect.withFiber<Credentials.Values, CredentialsError>((fiber) => {
      const token = Renewal.plain(values.bearerToken)
      if (held !== undefined && token !== refused && token === Renewal.plain(held.values.bearerToken)) {
        if (Monotonic.millisUnsafe(fiber.getRef(Clock.Clock)) < nextAsk) {
          // Those that have just been had are no better than the ones before.
          if (held.error === undefined) return Effect.succeed(values)
          fault = { error: held.error, until: nextAsk }
        }
        refused = token
        held.until = -Infinity
      }
      return current
    })

  yield* Effect.addFinalizer(() =>
    Effect.gen(function*() {
      isClosed = true
      if (rewriting !== undefined) yield* Fiber.interrupt(rewriting)
      const renewing = underWay
      if (renewing !== undefined) {
        if (renewal.isOut()) yield* Effect.timeoutOption(Fiber.await(renewing), farewellMillis)
        yield* Fiber.interrupt(renewing)
      }
      yield* Effect.ignore(Effect.timeoutOption(renewal.flush, farewellMillis))
    })
  )

  return { current, ready, renew, sign }
})

const closed = () =>
  new TransportFailure({ operation: "OAuth2.refresh", phase: "connect", reason: "the client is closed" })
