/**
 * Anomalies of answers as a metric and as warnings of the log. The clients for Node and `ClientConfig` have them; apart from
 * the rest, because a program that does not look at metrics bundles none.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { Logging } from "../runtime/Logging.ts"
import * as Anomaly from "../schema/Anomaly.ts"

/** Anomalies by operation and path, without the numbers of items: `data[].public_metrics.like_count`. */
export const anomalies = /*#__PURE__*/ Metric.counter("postwire_response_anomalies", {
  description: "Parts of answers that were left out because they were not as the interface has them",
  incremental: true
})

/** Counts the anomalies of the clients that it is provided to, and warns of each operation and path once. */
export const layer: Layer.Layer<never> = /*#__PURE__*/ Layer.effect(
  Anomaly.Telemetry,
  /*#__PURE__*/ Effect.map(Logging, (logging) => {
    const warnings = Anomaly.makeWarnings()
    return {
      found: (operation, found) =>
        Effect.andThen(
          Effect.forEach(
            Anomaly.countsOf(found),
            ([path, count]) => Metric.update(Metric.withAttributes(anomalies, { operation, path }), count),
            { discard: true }
          ),
          Effect.forEach(warnings(operation, found), (line) => logging(Effect.logWarning(line)), { discard: true })
        )
    }
  })
)
