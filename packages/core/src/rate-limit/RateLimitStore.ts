/**
 * The store of `RateLimit.layerWait`: one ledger per operation and credential, with the lowest announced number of remaining
 * requests, the window's reset by the store's own clock, and the requests in flight. Clients that share a store share their rate
 * limits. The rules are in `Ledger`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import { Recent } from "../internal/recentMap.ts"
import type { Logging } from "../runtime/Logging.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Storage, StorageUnavailable } from "../storage/Storage.ts"
import * as Ledger from "./Ledger.ts"

/**
 * A store of ledgers. Every step is atomic among all clients that share the store. Calls never fail because it is unavailable: they
 * continue with what the process itself knows.
 */
export interface Store<E = StorageUnavailable> {
  /** Requests permission to send, at least `pace` milliseconds after the last request. A granted request has to be settled. */
  readonly reserve: (
    key: string,
    lease: string,
    pace: number,
    place?: Ledger.Place
  ) => Effect.Effect<Ledger.Decision, E>
  /** Ends a request, even one that was never granted. */
  readonly settle: (key: string, lease: string, report: Ledger.Report) => Effect.Effect<void, E>
  readonly read: (key: string) => Effect.Effect<Ledger.Reading, E>
}

/** The current store. Without one, `RateLimit.layerWait` keeps its ledgers in memory. */
export class RateLimitStore
  extends /*#__PURE__*/ Context.Service<RateLimitStore, Store>()("@postwire/core/rate-limit/RateLimitStore")
{}

/**
 * The number of ledgers in memory. Beyond it, the least recently used are dropped: their windows are unknown again, and their
 * requests in flight no longer count.
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

/** A store on a storage. `travelMillis` is added to the pace of requests whose store is far away. */
export const fromStorage = <E>(storage: Storage<E>, travelMillis = 0): Store<E> => {
  const step = <A>(key: string, f: (ledger: Ledger.Ledger, now: number) => A) =>
    storage.modify({ texts: [keyOf(key)] }, ({ now, texts: [text = ""] }) => {
      const ledger = Ledger.fromText(text, now)
      const result = f(ledger, now)
      return { result, texts: [Ledger.toText(ledger)], until: Ledger.keepUntil(ledger) }
    })
  return {
    reserve: (key, lease, pace, place) =>
      step(key, (ledger, now) => Ledger.reserve(ledger, now, lease, pace === 0 ? 0 : pace + travelMillis, place)),
    settle: (key, lease, report) => step(key, (ledger, now) => Ledger.settle(ledger, now, lease, report)),
    read: (key) =>
      Effect.map(
        storage.get([keyOf(key)]),
        ({ now, texts: [text = ""] }) => Ledger.read(Ledger.fromText(text, now), now)
      )
  }
}

// The number goes up when the form of a ledger changes: processes of two versions may share a storage.
const keyOf = (key: string) => `ledger:4:{${key}}`

/** A store for the clients of one process that are given this layer. */
export const layerMemory: Layer.Layer<RateLimitStore> = /*#__PURE__*/ Layer.sync(RateLimitStore, makeMemory)

/** No store takes longer. A caller with more time needs no timeout. */
const longestAnswerMillis = 10_000

/** The time without requests to the store after a failure. */
const restMillis = 5_000

/**
 * The store while it responds, and the memory of this process while it does not, so that an unavailable store never delays
 * requests. Logs one warning, and a message when the store responds again.
 */
export const orMemory = (store: Store, logging: typeof Logging.Service = identity): Store<never> => {
  const memory = makeMemory()
  let isDown = false
  let restsUntil = -Infinity
  /** The start of the oldest request to the store that a caller gave up waiting for. */
  let silentSince = Infinity
  const prefer = <A>(
    use: (store: Store<StorageUnavailable>) => Effect.Effect<A, StorageUnavailable>,
    local: Effect.Effect<A>
  ) =>
    Clock.clockWith((clock) => {
      if (Monotonic.millisUnsafe(clock) < restsUntil) return local
      return Effect.matchEffect(use(store), {
        onSuccess: (result) => {
          silentSince = Infinity
          if (!isDown) return Effect.succeed(result)
          isDown = false
          return Effect.as(logging(Effect.logInfo("The rate limit store responds again")), result)
        },
        onFailure: (error) => {
          silentSince = Infinity
          restsUntil = Monotonic.millisUnsafe(clock) + restMillis
          if (isDown) return local
          isDown = true
          return Effect.andThen(
            logging(Effect.logWarning(
              `The rate limit store does not respond: ${error.reason}. This process continues alone and does not see the ` +
                "requests of others"
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
        // Callers in a queue ask one after the other, but wait for the same response.
        return Effect.raceFirst(reserved, Effect.delay(alone, Math.max(0, patience - Math.max(0, asked - silentSince))))
      })
    },
    // The memory always learns, so that it knows the windows when it is needed.
    settle: (key, lease, report) =>
      Effect.andThen(
        memory.settle(key, lease, report),
        prefer((store) => store.settle(key, lease, report), Effect.void)
      ),
    read: (key) => prefer((store) => store.read(key), memory.read(key))
  }
}
