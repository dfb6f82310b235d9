/** Metrics of webhooks. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/** Requests to webhooks by their outcome. */
export const requests = /*#__PURE__*/ Metric.counter("postwire_webhook_requests", {
  description: "Requests to webhooks",
  incremental: true
})

/** Events by their outcome: `handled`, `failed` (an attempt) or `dead`. */
export const events = /*#__PURE__*/ Metric.counter("postwire_webhook_events", {
  description: "Events of webhooks",
  incremental: true
})

/** Makes the function that counts outcomes. */
export const counter = (metric: typeof requests): (outcome: string) => Effect.Effect<void> => {
  const known = new Map<string, Effect.Effect<void>>()
  return (outcome) => {
    let count = known.get(outcome)
    if (count === undefined) {
      known.set(outcome, count = Metric.update(Metric.withAttributes(metric, { outcome }), 1))
    }
    return count
  }
}
