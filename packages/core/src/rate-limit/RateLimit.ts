/**
 * Rate limits that the service announces, and how to handle an exhausted one. A layer chooses: `layerFail` (the default) passes a
 * refusal on as `RateLimited`, `layerWait` waits. Both show what was announced: `snapshot`, `changes`, and the metric
 * `postwire.rate_limit.remaining`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { InvalidSettings } from "../errors/Errors.ts"
import { defaultMaxWaitMillis } from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import { Recent } from "../internal/recentMap.ts"
import { Logging } from "../runtime/Logging.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import { figuresOf } from "../schema/RateLimitHeaders.ts"
import { makeListeners, type Measure, measuring } from "./internal/events.ts"
import * as WaitPolicy from "./internal/waitPolicy.ts"
import * as Ledger from "./Ledger.ts"
import {
  type Bucket,
  type Change,
  type Followed,
  type Following,
  type Guard,
  maxRememberedBudgets,
  type Policy,
  type Usage,
  usageOf
} from "./Policy.ts"
import * as RateLimitStore from "./RateLimitStore.ts"

export type { Announced, Bucket, Change, Usage, Waiting } from "./Policy.ts"

/** Decides when a request may be sent, and how to handle a 429. */
export interface RateLimit extends Policy {}

/** The current policy. Without a layer, refusals are passed on, and all clients of the process share one record. */
export const RateLimit = Context.Reference<RateLimit>("@postwire/core/rate-limit/RateLimit", {
  defaultValue: () => makeFail()
})

/** Every rate limit that was used, with its known state. */
export const snapshot: Effect.Effect<ReadonlyArray<Usage>> = /*#__PURE__*/ Effect.flatMap(
  RateLimit,
  ({ snapshot }) => snapshot
)

/** Every announcement and every wait from now on. A reader that falls 1,024 events behind loses the oldest. */
export const changes: Stream.Stream<Change> = /*#__PURE__*/ Stream.callback<Change>(
  (queue) =>
    Effect.flatMap(RateLimit, ({ listen }) =>
      Effect.acquireRelease(
        Effect.sync(() => listen((change) => Queue.offerUnsafe(queue, change))),
        (stop) => Effect.sync(stop)
      )),
  { bufferSize: 1024, strategy: "sliding" }
)

/** Passes every refusal on as `RateLimited`. Nothing is paced. */
export const layerFail: Layer.Layer<never> = /*#__PURE__*/ Layer.effect(
  RateLimit,
  /*#__PURE__*/ Effect.map(measuring, makeFail)
)

function makeFail(measure: Measure = () => {}): RateLimit {
  const known = new Recent<Followed>(maxRememberedBudgets)
  const { announce, listen } = makeListeners(measure)
  const following: Following = {
    sent: (bucket) => {
      const followed = known.find(bucket.key) ?? known.get(bucket.key, () => followedOf(bucket))
      followed.inFlight++
      return followed
    },
    ended: (followed, exit, begun, clock) => {
      followed.inFlight--
      const head = exit._tag === "Success" ? exit.value : Transport.headOf(exit.cause)
      const figures = head && figuresOf(head, clock.currentTimeMillisUnsafe())
      if (figures === undefined) return
      Ledger.learn(followed.ledger, Monotonic.millisUnsafe(clock), begun, figures)
      announce(followed.bucket, figures)
    }
  }
  const guard: Guard = (bucket, send) =>
    Clock.clockWith((clock) => {
      const begun = Monotonic.millisUnsafe(clock)
      const followed = following.sent(bucket)
      return Effect.onExitPrimitive(send, (exit) => {
        following.ended(followed, exit, begun, clock)
        return undefined
      })
    })
  return {
    waits: false,
    listen,
    snapshot: Effect.map(
      Monotonic.millis,
      (now) =>
        Array.from(
          known.values(),
          ({ bucket, inFlight, ledger }) => usageOf(bucket, { ...Ledger.read(ledger, now), inFlight })
        )
    ),
    guard: Object.assign(guard, { following })
  }
}

const followedOf = (bucket: Bucket): Followed => ({ bucket, ledger: Ledger.empty(), inFlight: 0 })

/** Settings of `layerWait`. */
export interface WaitOptions {
  /**
   * The longest total wait of a request for its rate limit, in milliseconds from 0. A request that would wait longer fails with
   * `RateLimitWaitTooLong` as soon as that is known. Default: 20 minutes.
   */
  readonly maxWait?: number | undefined
}

/** The longest wait, or an error if the setting is invalid. */
export const checkMaxWait = ({ maxWait = defaultMaxWaitMillis }: WaitOptions): Effect.Effect<number, InvalidSettings> =>
  typeof maxWait === "number" && maxWait >= 0
    ? Effect.succeed(maxWait)
    : Effect.fail(new InvalidSettings({ setting: "maxWait", rule: "must be a number of milliseconds from 0" }))

/**
 * Waits before sending if a request would not fit into the rate limit, and after a 429. Every request is reserved before it is
 * sent, so that a rate limit is used to its last request and never exceeded. One request probes an unknown window while the others
 * wait for its response. Callers are served in turn. Operations that accept one request per second are paced.
 *
 * After a 429, `retry-after` counts, else the announced reset, else a pause that grows from one second. A 429 with requests
 * remaining is about a short limit: it is retried for less than 15 seconds. At most eight refusals in a row are waited out, and
 * none for an exhausted usage cap.
 *
 * The rate limits are kept in the current `RateLimitStore`, or in memory if there is none. Clients that are given this same layer,
 * or a shared store, share them; callers that arrived clearly earlier are served first, in whichever process.
 */
export const layerWait = (options: WaitOptions = {}): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const maxWait = yield* checkMaxWait(options)
      const store = yield* Effect.serviceOption(RateLimitStore.RateLimitStore)
      const context = yield* Effect.context<never>()
      const measure = yield* measuring
      return store._tag === "None"
        ? WaitPolicy.make(RateLimitStore.makeMemory(), maxWait, context, measure, identity)
        : WaitPolicy.make(
          RateLimitStore.orMemory(store.value, yield* Logging),
          maxWait,
          context,
          measure,
          yield* WaitPolicy.makeSettling
        )
    })
  )
