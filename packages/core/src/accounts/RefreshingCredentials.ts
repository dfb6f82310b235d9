/**
 * The credentials of an account while a client runs: one renewal at a time for which calls wait, unless they need not, and none
 * that is given up with them.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import type * as Credentials from "../auth/Credentials.ts"
import * as OAuth1 from "../auth/OAuth1.ts"
import * as Client from "../client/Client.ts"
import * as UserId from "../client/UserId.ts"
import { type CredentialsError, type InvalidSettings, TransportFailure } from "../errors/Errors.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Account, App } from "./Account.ts"
import { admit } from "./internal/admission.ts"
import * as TokenRefresh from "./internal/tokenRefresh.ts"
import * as OAuth2 from "./OAuth2.ts"

/** Where the service is and how it speaks: as in the settings of the client. */
export interface Settings extends Omit<OAuth2.Settings, "retries" | "timeout"> {}

/** Where an account is kept, and what stands for its user where the id is not known. */
export interface Source extends TokenRefresh.Keeping {
  readonly user: string
  /** Has the secret of the app where the record has not. */
  readonly app?: App
}

/**
 * Milliseconds before a renewal in vain is repeated: at first, and at most where it is the service that fails. What others have
 * renewed is looked for after the shortest.
 */
const shortestPauseMillis = 1_000
const longestPauseMillis = 30_000

/** Milliseconds that a call waits for a renewal as long as its token may do. */
const patienceMillis = 2_000

/** Milliseconds that a client which is closed waits for the answer to a renewal, and for a store to take tokens. */
const farewellMillis = 15_000

/** Milliseconds that the service has for one answer: twice that is less than another process waits for the lock. */
const timeout = { connect: 5_000, total: 12_000 }

/** The secrets of an account that no call carries as they are. */
export const secretsOf = (
  { app, oauth2 }: Partial<Pick<Account, "app" | "oauth2">> = {}
): ReadonlyArray<Redacted.Redacted> =>
  [oauth2?.accessToken, oauth2?.refreshToken, app?.clientSecret].filter(Predicate.isNotUndefined)

/** What stands for the user and the app: for the user, the id, or what is the same as long. */
const holderOf = ({ app, oauth1 }: Account, user: string): string =>
  app === undefined ? TokenRefresh.plain(oauth1?.accessToken) : `${app.clientId} ${user}`

const userIdOf = ({ oauth1, user }: Account): string | undefined =>
  user?.id ?? (oauth1 === undefined ? undefined : UserId.ofAccessToken(TokenRefresh.plain(oauth1.accessToken)))

/** What a client uses now. */
interface Held {
  readonly account: Account
  readonly values: Credentials.Values
  /** By the wall clock: before that, no call has to wait. */
  until: number
  /** Why they have not been renewed, of tokens that may still do. */
  readonly error: CredentialsError | undefined
}

/** Makes them: they are renewed until the scope is closed. */
export const make = Effect.fnUntraced(function*(
  settings: Settings,
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
  /** Why it was asked in vain, unless it or somebody else has renewed since. */
  let failed: CredentialsError | undefined

  const renewal = TokenRefresh.make({
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

  const grantOf = (account: Account): Credentials.Grant => {
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

  const valuesOf = (account: Account): Credentials.Values => ({
    bearerToken: account.oauth2?.accessToken,
    ...account.oauth1,
    grant: grantOf(account)
  })

  const hold = (account: Account, until: number, error?: CredentialsError): Credentials.Values => {
    const values = valuesOf(account)
    held = { account, values, until, error }
    return values
  }

  /** Without its bearer token, an account can still sign. */
  const holdRest = (account: Account, until: number, lost: CredentialsError): Credentials.Values => {
    const values = { ...account.oauth1, grant: { ...grantOf(account), lost } }
    held = { account, values, until, error: lost }
    return values
  }

  /** Asked in vain, or for tokens that last no longer than the pause, the service is asked ever more seldom. */
  const pace = (begun: number, ended: number, error: CredentialsError | undefined): void => {
    const goesOn = error === undefined ? begun - nextAsk < pause / 2 : failed !== undefined
    if (hasAsked || error === undefined) failed = error
    if (!hasAsked) return
    hasAsked = false
    pause = goesOn ? Math.min(2 * pause, longestPauseMillis) : shortestPauseMillis
    nextAsk = ended + pause
  }

  const settled = Effect.gen(function*() {
    const begun = yield* Monotonic.millis
    const before = failed
    const settling = before !== undefined && isOfService(before) && begun < nextAsk
      ? Effect.filterOrFail(renewal.find(refused), Predicate.isNotUndefined, () => before)
      : renewal.settle(refused)
    const outcome = yield* Effect.result(settling)
    const ended = yield* Monotonic.millis
    pace(begun, ended, Result.isFailure(outcome) ? outcome.failure : undefined)
    const now = yield* Clock.currentTimeMillis
    fault = undefined
    if (Result.isSuccess(outcome)) {
      const { account, until } = outcome.success
      // What is due as soon as it came is used all the same, for a while.
      return hold(account, Math.max(until, now + Math.max(0, nextAsk - ended)))
    }
    const error = outcome.failure
    const wait = isOfService(error) ? Math.max(nextAsk - ended, shortestPauseMillis) : shortestPauseMillis
    const account = renewal.last()
    const goodFor = account === undefined || error._tag === "LoginRequired" ? 0 : leftOf(account, now)
    if (account !== undefined && goodFor > 0) return hold(account, now + Math.min(wait, goodFor), error)
    if (account?.oauth1 !== undefined) return holdRest(account, now + wait, error)
    fault = { error, until: ended + shortestPauseMillis }
    if (held !== undefined) held.until = -Infinity
    return yield* error
  })

  /** Milliseconds for which an access token may still do. */
  const leftOf = ({ oauth2 }: Account, now: number): number =>
    oauth2 === undefined || TokenRefresh.plain(oauth2.accessToken) === refused ? 0 : oauth2.expiresAt - now

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

  // Before the first call as well, to which a token may be passed in the wrong place.
  const known = Effect.suspend(() =>
    held === undefined
      ? Effect.map(Effect.orElseSucceed(source.read, Option.none), (account) =>
        Option.match(account, { onNone: (): Credentials.Values => ({}), onSome: valuesOf }))
      : Effect.succeed(held.values)
  )

  const renew = (values: Credentials.Values) =>
    Effect.withFiber<Credentials.Values, CredentialsError>((fiber) => {
      const token = TokenRefresh.plain(values.bearerToken)
      if (held !== undefined && token !== refused && token === TokenRefresh.plain(held.values.bearerToken)) {
        // Those that have just been had are no better than the ones before.
        if (held.error === undefined && Monotonic.millisUnsafe(fiber.getRef(Clock.Clock)) < nextAsk) {
          return Effect.succeed(values)
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

  return { admit, current, known, ready, renew, sign }
})

/** Whether it is the service that fails: another attempt asks it again. */
const isOfService = ({ _tag }: CredentialsError): boolean => _tag !== "LoginRequired" && _tag !== "TokenStoreFailure"

const closed = () =>
  new TransportFailure({ operation: "OAuth2.refresh", phase: "connect", reason: "the client is closed" })
