/**
 * Retries and anomalies as metrics and log lines. The clients for Node and `ClientConfig` include them. They are a module of
 * their own because a program that reads no metrics should bundle none.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { Logging } from "../runtime/Logging.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import * as Retry from "./Retry.ts"

/** Retries by operation and reason (a status, `timeout`, or the phase in which the connection was lost). */
export const retries = /*#__PURE__*/ Metric.counter("postwire_retries", {
  description: "Requests that were retried",
  incremental: true
})

/** Retries that the retry budget did not allow, by operation. */
export const retryBudgetExhausted = /*#__PURE__*/ Metric.counter("postwire_retry_budget_exhausted", {
  description: "Requests that were not retried because the client's retry budget was exhausted",
  incremental: true
})

/** Anomalies by operation and path, without array indexes: `data[].public_metrics.like_count`. */
export const anomalies = /*#__PURE__*/ Metric.counter("postwire_response_anomalies", {
  description: "Parts of responses that were omitted because they did not match the schema",
  incremental: true
})

const layerRetries = /*#__PURE__*/ Layer.effect(
  Retry.Telemetry,
  /*#__PURE__*/ Effect.map(Logging, (logging) => ({
    retrying: (operation, reason, pause) =>
      Effect.andThen(
        Metric.update(Metric.withAttributes(retries, { operation, reason }), 1),
        logging(Effect.logDebug(`Retrying ${operation} in ${pause} ms (${reason})`))
      ),
    exhausted: (operation) => Metric.update(Metric.withAttributes(retryBudgetExhausted, { operation }), 1)
  }))
)

const layerAnomalies = /*#__PURE__*/ Layer.effect(
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

/** Counts retries (with a debug line for each) and anomalies (with one warning for each operation and path). */
export const layer: Layer.Layer<never> = /*#__PURE__*/ Layer.merge(layerRetries, layerAnomalies)
