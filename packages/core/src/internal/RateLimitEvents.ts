/** What is told of rate limits: to listeners, spans and metrics. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Tracer from "effect/Tracer"
import * as Hook from "../Hook.ts"
import { type Announced, type Change, maxRememberedBudgets, type Waiting } from "./Budget.ts"
import { Recent } from "./Recent.ts"

export const addEvent = (span: Tracer.AnySpan | undefined, waiting: Waiting): void => {
  if (span?._tag !== "Span") return
  const { millis, operation, reason, until } = waiting
  span.event("postwire.rate_limit.wait", BigInt(Math.round(until.getTime() - millis)) * 1_000_000n, {
    operation,
    reason,
    until: until.toISOString()
  })
}

export const makeListeners = (first: (change: Announced) => void) => {
  const listeners = new Set<(change: Change) => void>()
  return {
    tell: (change: Change): void => {
      if (change._tag === "Announced") first(change)
      for (const listener of listeners) Hook.tell(listener, change)
    },
    listen: (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

export const waits = /*#__PURE__*/ Metric.counter("postwire_rate_limit_waits", {
  description: "Waits for rate limits that began"
})

export const waitSeconds = /*#__PURE__*/ Metric.histogram("postwire_rate_limit_wait_seconds", {
  description: "How long calls at the head of their line waited for a rate limit",
  boundaries: [0.1, 1, 2, 5, 15, 60, 300, 900]
})

const remaining = /*#__PURE__*/ Metric.gauge("postwire_rate_limit_remaining", {
  description: "Requests left in the window, as announced last"
})

/** Notes what is announced, as one series for each budget. The series go with the layer, and when nobody used them of late. */
export const measuring = /*#__PURE__*/ Effect.flatMap(
  /*#__PURE__*/ Effect.context<never>(),
  (context) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() =>
          new Recent<typeof remaining>(maxRememberedBudgets, (gauge) => Metric.removeUnsafe(gauge, context))
        ),
        (gauges) => Effect.sync(() => gauges.clear())
      ),
      (gauges) => ({ bucket, credential, operation, remaining: left }: Announced): void =>
        gauges.get(bucket, () => Metric.withAttributes(remaining, { bucket, credential, operation }))
          .updateUnsafe(left, context)
    )
)
