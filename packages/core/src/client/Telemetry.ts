/**
 * Durations of requests as a metric, retries and anomalies as metrics and log lines. The Promise clients and `ClientConfig`
 * include them. They are a module of their own because a program that reads no metrics should bundle none.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Transport from "../http/Transport.ts"
import { Logging } from "../runtime/Logging.ts"
import * as Metrics from "../runtime/Metrics.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import * as Durations from "./internal/durations.ts"
import * as Retry from "./Retry.ts"

const layerRetries = /*#__PURE__*/ Layer.effect(
  Retry.Telemetry,
  /*#__PURE__*/ Effect.map(Logging, (logging) => ({
    retrying: (operation, reason, pause) =>
      Effect.andThen(
        Metric.update(Metrics.retries.of({ "postwire.operation": operation, "postwire.reason": reason }), 1),
        logging(Effect.logDebug(`Retrying ${operation} in ${pause} ms (${reason})`))
      ),
    exhausted: (operation) => Metric.update(Metrics.retryBudgetExhausted.of({ "postwire.operation": operation }), 1)
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
            ([path, count]) =>
              Metric.update(
                Metrics.anomalies.of({ "postwire.operation": operation, "postwire.anomaly.path": path }),
                count
              ),
            { discard: true }
          ),
          Effect.forEach(warnings(operation, found), (line) => logging(Effect.logWarning(line)), { discard: true })
        )
    }
  })
)

const layerDurations = /*#__PURE__*/ Layer.effect(
  Transport.Measuring,
  /*#__PURE__*/ Effect.contextWith((context: Context.Context<never>) => Effect.succeed(Durations.measuring(context)))
)

/**
 * Measures requests, and counts retries (with a debug line for each) and anomalies (with one warning for each operation and path).
 */
export const layer: Layer.Layer<never> = /*#__PURE__*/ Layer.mergeAll(layerDurations, layerRetries, layerAnomalies)
