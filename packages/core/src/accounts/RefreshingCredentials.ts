/**
 * The credentials of an account while a client runs. One refresh runs at a time. Calls wait for it unless their token is still
 * valid, and it continues when they are cancelled.
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

/** The service and its wire format, as in the settings of the client. */
export interface Settings extends Omit<OAuth2.Settings, "retries" | "timeout"> {}

/** Where an account's record is kept, and whose it is. */
export interface Source extends TokenRefresh.Keeping {
  /** Identifies the user while the id is unknown. */
  readonly user: string
  /** Supplies the app's secret if the record has none. */
  readonly app?: App
}

/**
 * The pause after a failed refresh, in milliseconds. It doubles up to `longestPauseMillis` while the service fails; the store is
 * read again after the shorter one, because another process may have refreshed.
 */
const shortestPauseMillis = 1_000
const longestPauseMillis = 30_000

/** Milliseconds that a call waits for a refresh while its token may still be valid. */
const patienceMillis = 2_000

/** Milliseconds that a closing client waits for the response to a refresh, and for a store to write tokens. */
const closeMillis = 15_000

/** Milliseconds for one response. Twice that is less than another process waits for the lock. */
const timeout = { connect: 5_000, total: 12_000 }

/** An account's OAuth 2.0 tokens and its client secret, for redaction. */
export const secretsOf = (
  { app, oauth2 }: Partial<Pick<Account, "app" | "oauth2">> = {}
): ReadonlyArray<Redacted.Redacted> =>
  [oauth2?.accessToken, oauth2?.refreshToken, app?.clientSecret].filter(Predicate.isNotUndefined)

/** Identifies the user and the app. Without a user id: the OAuth 1.0a access token, or the account's name. */
const holderOf = ({ app, oauth1 }: Account, user: string): string =>
  app === undefined ? TokenRefresh.plain(oauth1?.accessToken) : `${app.clientId} ${user}`

const userIdOf = ({ oauth1, user }: Account): string | undefined =>
  user?.id ?? (oauth1 === undefined ? undefined : UserId.ofAccessToken(TokenRefresh.plain(oauth1.accessToken)))

/** The values that calls use now. */
interface Held {
  readonly account: Account
  readonly values: Credentials.Values
  /** Wall clock time until which calls need not wait. */
  until: number
  /** The error of the last refresh, if these are stopgap credentials. */
  readonly error: CredentialsError | undefined
}

/**
 * Limits requests for tokens: the pause doubles after failures, and while a refresh is due again almost as soon as it is allowed.
 */
class Pace {
  /** The time of the next request at the earliest, in monotonic milliseconds. */
  next = -Infinity
  /** The error of the last request, unless this or another process has refreshed since. */
  failed: CredentialsError | undefined
  hasRequested = false
  pause = shortestPauseMillis

  note(begun: number, ended: number, error: CredentialsError | undefined): void {
    const persists = error === undefined ? begun - this.next < this.pause / 2 : this.failed !== undefined
    if (this.hasRequested || error === undefined) this.failed = error
    if (!this.hasRequested) return
    this.hasRequested = false
    this.pause = persists ? Math.min(2 * this.pause, longestPauseMillis) : shortestPauseMillis
    this.next = ended + this.pause
  }
}

/** Runs an effect in the background. */
type Run = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>

/** Credentials and their refreshes. */
class CredentialRefresher {
  readonly #source: Source
  readonly #tokens: TokenRefresh.TokenRefresh
  readonly #pace: Pace
  readonly #run: Run
  #held: Held | undefined
  /** The access token that the service refused. */
  #refused: string | undefined
  /** Why there are no tokens; calls fail with it until then, in monotonic time. */
  #fault: { readonly error: CredentialsError; readonly until: number } | undefined
  #refreshing: Fiber.Fiber<Credentials.Values, CredentialsError> | undefined
  #rewriting: Fiber.Fiber<void> | undefined
  #isClosed = false

  constructor(source: Source, tokens: TokenRefresh.TokenRefresh, pace: Pace, run: Run) {
    this.#source = source
    this.#tokens = tokens
    this.#pace = pace
    this.#run = run
  }

  /** The values, if no call has to wait for them. */
  ready(now: number): Credentials.Values | undefined {
    return this.#held !== undefined && now < this.#held.until ? this.#held.values : undefined
  }

  /** The values, refreshed if necessary. */
  get current(): Effect.Effect<Credentials.Values, CredentialsError> {
    return Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const now = clock.currentTimeMillisUnsafe()
      const values = this.ready(now)
      if (values !== undefined) return Effect.succeed(values)
      if (this.#isClosed) return Effect.fail(closed())
      const [fault, held] = [this.#fault, this.#held]
      if (fault !== undefined && Monotonic.millisUnsafe(clock) < fault.until) return Effect.fail(fault.error)
      const refreshed = outcomeOf(this.#refreshing ?? this.#begin())
      if (held !== undefined && this.#lifeOf(held.account, now) <= 0) return refreshed
      return Effect.timeoutOrElse(refreshed, {
        duration: patienceMillis,
        orElse: () => {
          const account = this.#tokens.last
          const life = account === undefined ? 0 : this.#lifeOf(account, now) - patienceMillis
          // Other calls need not wait either; the refresh replaces these values.
          return account === undefined || life <= 0 ? refreshed : Effect.succeed(this.#hold(account, now + life))
        }
      })
    })
  }

  /** The credentials, even before the first call: if that call has a token in the wrong parameter, its error is redacted. */
  get known(): Effect.Effect<Credentials.Values> {
    return Effect.suspend(() =>
      this.#held === undefined
        ? Effect.map(Effect.orElseSucceed(this.#source.read, Option.none), (account) =>
          Option.match(account, {
            onNone: (): Credentials.Values => ({}),
            onSome: (found) => this.#valuesOf(found)
          }))
        : Effect.succeed(this.#held.values)
    )
  }

  /** Refreshes values that the service refused. */
  renew(values: Credentials.Values): Effect.Effect<Credentials.Values, CredentialsError> {
    return Effect.withFiber((fiber) => {
      const token = TokenRefresh.plain(values.bearerToken)
      const held = this.#held
      if (held !== undefined && token === TokenRefresh.plain(held.values.bearerToken)) {
        // The service has just issued this token: another one would be refused too.
        if (held.error === undefined && Monotonic.millisUnsafe(fiber.getRef(Clock.Clock)) < this.#pace.next) {
          return Effect.succeed(values)
        }
        this.#refused = token
        held.until = -Infinity
      }
      return this.current
    })
  }

  /** Ends a refresh that has not been sent, and waits for one that has. */
  get close(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      this.#isClosed = true
      if (this.#rewriting !== undefined) yield* Fiber.interrupt(this.#rewriting)
      const refreshing = this.#refreshing
      if (refreshing !== undefined) {
        if (this.#tokens.isSent) yield* Effect.timeoutOption(Fiber.await(refreshing), closeMillis)
        yield* Fiber.interrupt(refreshing)
      }
      yield* Effect.ignore(Effect.timeoutOption(this.#tokens.flush, closeMillis))
    })
  }

  #begin(): Fiber.Fiber<Credentials.Values, CredentialsError> {
    const fiber = this.#run(this.#refresh)
    this.#refreshing = fiber
    fiber.addObserver(() => {
      this.#refreshing = undefined
      if (this.#tokens.isUnsaved && !this.#isClosed) this.#rewriting ??= this.#run(this.#rewrite)
    })
    return fiber
  }

  /** Writes tokens that no store has accepted as soon as one does, even without calls. */
  get #rewrite(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      for (
        let wait = shortestPauseMillis;
        this.#tokens.isUnsaved;
        wait = Math.min(2 * wait, longestPauseMillis)
      ) {
        yield* Effect.sleep(wait)
        yield* Fiber.await(this.#refreshing ?? this.#begin())
      }
      this.#rewriting = undefined
    })
  }

  get #refresh(): Effect.Effect<Credentials.Values, CredentialsError> {
    return Effect.gen({ self: this }, function*() {
      const begun = yield* Monotonic.millis
      const { failed, next } = this.#pace
      const outcome = yield* Effect.result(
        failed !== undefined && isServiceFailure(failed) && begun < next
          ? Effect.filterOrFail(this.#tokens.find(this.#refused), Predicate.isNotUndefined, () => failed)
          : this.#tokens.settle(this.#refused)
      )
      const ended = yield* Monotonic.millis
      this.#pace.note(begun, ended, Result.isFailure(outcome) ? outcome.failure : undefined)
      const now = yield* Clock.currentTimeMillis
      this.#fault = undefined
      if (Result.isFailure(outcome)) return yield* this.#without(outcome.failure, ended, now)
      const { account, until } = outcome.success
      // Tokens that are due for a refresh on arrival are still used for a while.
      return this.#hold(account, Math.max(until, now + Math.max(0, this.#pace.next - ended)))
    })
  }

  /** The values that can still be used after a refresh has failed. */
  #without(
    error: CredentialsError,
    ended: number,
    now: number
  ): Effect.Effect<Credentials.Values, CredentialsError> {
    const wait = isServiceFailure(error) ? Math.max(this.#pace.next - ended, shortestPauseMillis) : shortestPauseMillis
    const account = this.#tokens.last
    const life = account === undefined || error._tag === "LoginRequired" ? 0 : this.#lifeOf(account, now)
    if (account !== undefined && life > 0) return Effect.succeed(this.#hold(account, now + Math.min(wait, life), error))
    if (account?.oauth1 !== undefined) return Effect.succeed(this.#holdSigning(account, now + wait, error))
    this.#fault = { error, until: ended + shortestPauseMillis }
    if (this.#held !== undefined) this.#held.until = -Infinity
    return Effect.fail(error)
  }

  /** Milliseconds for which an access token may still be valid. */
  #lifeOf({ oauth2 }: Account, now: number): number {
    return oauth2 === undefined || TokenRefresh.plain(oauth2.accessToken) === this.#refused ? 0 : oauth2.expiresAt - now
  }

  #hold(account: Account, until: number, error?: CredentialsError): Credentials.Values {
    const values = this.#valuesOf(account)
    this.#held = { account, values, until, error }
    return values
  }

  /** Keeps using an account that has lost its bearer token but can still sign with OAuth 1.0a. */
  #holdSigning(account: Account, until: number, lost: CredentialsError): Credentials.Values {
    const values = { ...account.oauth1, grant: { ...this.#grantOf(account), lost } }
    this.#held = { account, values, until, error: lost }
    return values
  }

  #valuesOf(account: Account): Credentials.Values {
    return { bearerToken: account.oauth2?.accessToken, ...account.oauth1, grant: this.#grantOf(account) }
  }

  #grantOf(account: Account): Credentials.Grant {
    const userId = userIdOf(account)
    const holder = holderOf(account, userId ?? this.#source.user)
    const before = this.#held?.values.grant?.holder
    const scopes = account.oauth2?.scopes ?? []
    return {
      account: this.#source.name,
      holder: before !== undefined && Redacted.value(before) === holder ? before : Redacted.make(holder),
      userId,
      scopes: scopes.length === 0 ? undefined : scopes,
      // A response may still quote the tokens before.
      secrets: [account, this.#held?.account, this.#source].flatMap(secretsOf)
    }
  }
}

/** Makes credentials that are refreshed until the scope is closed. */
export const make = Effect.fnUntraced(function*(
  settings: Settings,
  source: Source
): Effect.fn.Return<Credentials.Credentials["Service"], InvalidSettings, HttpClient | Scope.Scope> {
  const { baseUrl } = yield* Client.check(settings)
  const http = yield* HttpClient
  const sign = OAuth1.authorize(yield* OAuth1.HmacSha1)
  const pace = new Pace()
  const tokens = new TokenRefresh.TokenRefresh({
    keeping: source,
    baseUrl,
    app: source.app,
    refresh: (request) =>
      Effect.suspend(() => {
        pace.hasRequested = true
        return OAuth2.refresh({ ...settings, ...request, timeout, retries: 0 })
      }).pipe(
        Effect.provideService(HttpClient, http),
        // The settings were checked above.
        Effect.catchTag("InvalidSettings", Effect.die)
      )
  })
  // A refresh belongs neither to a call nor to the span in which the Layer was built.
  const run = Effect.runForkWith(Context.omit(ParentSpan)(yield* Effect.context<never>()))
  const state = new CredentialRefresher(source, tokens, pace, run)
  yield* Effect.addFinalizer(() => state.close)
  return {
    admit,
    current: state.current,
    known: state.known,
    ready: (now) => state.ready(now),
    renew: (values) => state.renew(values),
    sign
  }
})

const outcomeOf = (fiber: Fiber.Fiber<Credentials.Values, CredentialsError>) =>
  Effect.flatMap(
    Fiber.await(fiber),
    (exit) => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.fail(closed()) : exit
  )

/** True if the service failed, not the store or the account: another attempt would send a request. */
const isServiceFailure = ({ _tag }: CredentialsError): boolean => _tag !== "LoginRequired" && _tag !== "StorageFailure"

const closed = () =>
  new TransportFailure({ operation: "OAuth2.refresh", phase: "connect", reason: "the client is closed" })
