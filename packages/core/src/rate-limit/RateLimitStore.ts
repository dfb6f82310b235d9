/**
 * Where `RateLimit.layerWait` keeps what is known of every budget: a ledger per operation and credential, with the
 * lowest figure that was announced, the end of the window by the store's own clock, and the requests in flight. Clients
 * that share a store share their budgets. The rules that every store follows are in `Ledger`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import { Recent } from "../internal/recentMap.ts"
import type { Logging } from "../runtime/Logging.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import * as Ledger from "./Ledger.ts"

/** The store did not answer. Calls never fail with it: they go on with what the process itself knows. */
export class RateLimitStoreUnavailable extends /*#__PURE__*/ Data.TaggedError("RateLimitStoreUnavailable")<{
  readonly reason: string
}> {
  override get message(): string {
    return `The store of rate limits does not answer: ${this.reason}`
  }
}

/** Keeps ledgers. Every step is atomic, for all who share the store. */
export interface Store<E = RateLimitStoreUnavailable> {
  /** Asks to send a request, `pace` milliseconds after the last one at the earliest. What is granted has to be settled. */
  readonly reserve: (
    key: string,
    lease: string,
    pace: number,
    place?: Ledger.Place
  ) => Effect.Effect<Ledger.Decision, E>
  /** Ends a request, also one that was never granted. */
  readonly settle: (key: string, lease: string, report: Ledger.Report) => Effect.Effect<void, E>
  readonly read: (key: string) => Effect.Effect<Ledger.Reading, E>
}

/** The store in force. Without one, `RateLimit.layerWait` keeps its ledgers in memory. */
export class RateLimitStore
  extends /*#__PURE__*/ Context.Service<RateLimitStore, Store>()("@postwire/core/rate-limit/RateLimitStore")
{}

/**
 * Beyond so many ledgers in memory, those not used of late go. Who had one that goes asks anew, as of an unknown window;
 * what it has in flight is not counted against it any more.
 */
const maxLedgersInMemory = 10_000

/** A store for one process. */
export const makeMemory = (): Store<never> => {
  const ledgers = new Recent<Ledger.Ledger>(maxLedgersInMemory)
  const step = <A>(f: (now: number) => A): Effect.Effect<A> =>
    Clock.clockWith((clock) => Effect.succeed(f(Monotonic.millisUnsafe(clock))))
  return {
    reserve: (key, lease, pace, place) =>
      step((now) => Ledger.reserve(ledgers.get(key, Ledger.empty), now, lease, pace, place)),
    settle: (key, lease, report) => step((now) => Ledger.settle(ledgers.get(key, Ledger.empty), now, lease, report)),
    read: (key) => step((now) => Ledger.read(ledgers.peek(key) ?? Ledger.empty(), now))
  }
}

/** A store for the clients of one process that get this layer. */
export const layerMemory: Layer.Layer<RateLimitStore> = /*#__PURE__*/ Layer.sync(RateLimitStore, makeMemory)

/** No store takes longer; who has so much time need not be watched. */
const longestAnswerMillis = 10_000

/** After a failure the store is left alone. */
const restMillis = 5_000

/**
 * The store while it answers, and the memory of this process while it does not: requests are never held up by a store
 * that is gone. Tells so in one warning, and when the store is back.
 */
export const orMemory = (store: Store, logging: typeof Logging.Service = identity): Store<never> => {
  const memory = makeMemory()
  let isDown = false
  let restsUntil = -Infinity
  /** Since when it owes an answer to those who could not wait for it any longer. */
  let silentSince = Infinity
  const prefer = <A>(
    use: (store: Store<RateLimitStoreUnavailable>) => Effect.Effect<A, RateLimitStoreUnavailable>,
    local: Effect.Effect<A>
  ) =>
    Clock.clockWith((clock) => {
      if (Monotonic.millisUnsafe(clock) < restsUntil) return local
      return Effect.matchEffect(use(store), {
        onSuccess: (result) => {
          silentSince = Infinity
          if (!isDown) return Effect.succeed(result)
          isDown = false
          return Effect.as(logging(Effect.logInfo("The store of rate limits answers again")), result)
        },
        onFailure: (error) => {
          silentSince = Infinity
          restsUntil = Monotonic.millisUnsafe(clock) + restMillis
          if (isDown) return local
          isDown = true
          return Effect.andThen(
            logging(Effect.logWarning(
              `${error.message}. This process goes on by itself and does not see the requests of others`
            )),
            local
          )
        }
      })
    })
  return {
    reserve: (key, lease, pace, place) => {
      const local = memory.reserve(key, lease, pace, place)
      const reserved = prefer((store) => store.reserve(key, lease, pace, place), local)
      const patience = place?.patience ?? Infinity
      if (patience >= longestAnswerMillis) return reserved
      return Clock.clockWith((clock) => {
        const asked = Monotonic.millisUnsafe(clock)
        const alone = Effect.suspend(() => {
          silentSince = Math.min(silentSince, asked)
          return local
        })
        // Those in a line ask one after the other, but wait for the same answer.
        return Effect.raceFirst(reserved, Effect.delay(alone, Math.max(0, patience - Math.max(0, asked - silentSince))))
      })
    },
    // The memory learns all along, so that it knows the windows when it is needed.
    settle: (key, lease, report) =>
      Effect.andThen(
        memory.settle(key, lease, report),
        prefer((store) => store.settle(key, lease, report), Effect.void)
      ),
    read: (key) => prefer((store) => store.read(key), memory.read(key))
  }
}
