/** Metrics of webhooks. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { webhookRequests } from "../../runtime/Metrics.ts"

/** Makes the function that counts outcomes. */
export const counter = (metric: typeof webhookRequests): (outcome: string) => Effect.Effect<void> => {
  const known = new Map<string, Effect.Effect<void>>()
  return (outcome) => {
    let count = known.get(outcome)
    if (count === undefined) {
      known.set(outcome, count = Metric.update(metric.of({ "postwire.outcome": outcome }), 1))
    }
    return count
  }
}
