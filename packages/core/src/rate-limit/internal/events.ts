/** Reports of rate limits: to listeners, spans and metrics. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Tracer from "effect/Tracer"
import { Recent } from "../../internal/recentMap.ts"
import * as Callback from "../../runtime/Callback.ts"
import * as Metrics from "../../runtime/Metrics.ts"
import type { Figures } from "../../schema/RateLimitHeaders.ts"
import { announced, type Bucket, type Change, maxRememberedBudgets, type Waiting } from "../Policy.ts"

export const addEvent = (span: Tracer.AnySpan | undefined, waiting: Waiting): void => {
  if (span?._tag !== "Span") return
  const { millis, operation, reason, until } = waiting
  span.event("postwire.rate_limit.wait", BigInt(Math.round(until.getTime() - millis)) * 1_000_000n, {
    operation,
    reason,
    until: until.toISOString()
  })
}

/** Records the number of requests remaining. */
export type Measure = (bucket: Bucket, remaining: number) => void

export const makeListeners = (measure: Measure) => {
  const listeners = new Set<(change: Change) => void>()
  const tell = (change: Change): void => {
    for (const listener of listeners) Callback.call(listener, change)
  }
  return {
    tell,
    /** Every response announces something: the event is only made if there is a listener. */
    announce: (bucket: Bucket, figures: Figures): void => {
      measure(bucket, figures.remaining)
      if (listeners.size > 0) tell(announced(bucket, figures))
    },
    listen: (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

/** Records announcements, one series per rate limit. A series ends with the layer, or when it is among the least recently used. */
export const measuring = /*#__PURE__*/ Effect.flatMap(
  /*#__PURE__*/ Effect.context<never>(),
  (context) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() =>
          new Recent<Metric.Gauge<number>>(maxRememberedBudgets, (gauge) => Metric.removeUnsafe(gauge, context))
        ),
        (gauges) => Effect.sync(() => gauges.clear())
      ),
      (gauges): Measure => ({ credential, key, operation }, left) =>
        gauges.get(key, () =>
          Metrics.rateLimitRemaining.of({
            "postwire.operation": operation,
            "postwire.credential": credential,
            "postwire.rate_limit.bucket": key
          })).updateUnsafe(left, context)
    )
)
