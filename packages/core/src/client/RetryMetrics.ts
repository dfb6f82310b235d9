/**
 * Retries as metrics and, at the level debug, as lines of the log. The clients for Node and `ClientConfig` have them; apart
 * from the rest, because a program that does not look at metrics bundles none.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { Logging } from "../runtime/Logging.ts"
import * as Retry from "./Retry.ts"

/** Retries by operation and reason (a status, `timeout`, or the phase in which the connection was lost). */
export const retries = /*#__PURE__*/ Metric.counter("postwire_retries", {
  description: "Requests that were sent again",
  incremental: true
})

/** Retries that the budget did not allow, by operation. */
export const exhausted = /*#__PURE__*/ Metric.counter("postwire_retry_budget_exhausted", {
  description: "Requests that were not sent again because the client's budget for retries was spent",
  incremental: true
})

/** Counts the retries of the clients that it is provided to. */
export const layer: Layer.Layer<never> = /*#__PURE__*/ Layer.effect(
  Retry.Telemetry,
  /*#__PURE__*/ Effect.map(Logging, (logging) => ({
    retrying: (operation, reason, pause) =>
      Effect.andThen(
        Metric.update(Metric.withAttributes(retries, { operation, reason }), 1),
        logging(Effect.logDebug(`Retrying ${operation} in ${pause} ms (${reason})`))
      ),
    exhausted: (operation) => Metric.update(Metric.withAttributes(exhausted, { operation }), 1)
  }))
)
