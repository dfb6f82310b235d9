/** Repeats a request while that is safe and useful, and while retries and time remain. */
import * as Effect from "effect/Effect"
import { fromWeb, type HttpClientResponse } from "effect/http/HttpClientResponse"
import type { Problem } from "../errors/Errors.ts"
import type { Wire } from "../wire/Wire.ts"
import type { Series } from "./Attempt.ts"
import * as AttemptFailure from "./AttemptFailure.ts"
import * as CallErrors from "./CallErrors.ts"
import * as Retry from "./Retry.ts"

/**
 * Makes the function that runs a series, from the one that runs an attempt. `ended` is called with the last failure. All calls of a
 * client share one retry budget.
 */
export const make = <S extends Series, F extends AttemptFailure.Failure>(
  attempt: (series: S) => Effect.Effect<HttpClientResponse, F>,
  { telemetry, wire }: { readonly telemetry: Retry.Telemetry; readonly wire: Wire }
): <E>(
  series: S,
  ended: (failure: F) => Effect.Effect<HttpClientResponse, E>
) => Effect.Effect<HttpClientResponse, E> => {
  const budget = new Retry.Budget()

  const succeeded = (response: HttpClientResponse): Effect.Effect<HttpClientResponse> => {
    budget.succeeded()
    return Effect.succeed(response)
  }

  const from = <E>(
    series: S,
    ended: (failure: F) => Effect.Effect<HttpClientResponse, E>,
    retried: number,
    /** True if it is already signed by the service's clock. */
    resynced: boolean
  ): Effect.Effect<HttpClientResponse, E> =>
    Effect.matchEffect(attempt(series), {
      onSuccess: succeeded,
      onFailure: (failure): Effect.Effect<HttpClientResponse, E> => {
        const { applied, prepared: { operation }, terms } = series
        const settled = applied ? settledBy(failure, wire) : undefined
        if (settled !== undefined) return Effect.succeed(settled)
        if (failure._tag === "Refused" && failure.isClockSkew && !resynced && terms.retries > 0) {
          return from(series, ended, retried, true)
        }
        if (!AttemptFailure.mayRepeat(failure) || retried >= terms.retries) return ended(failure)
        const reason = AttemptFailure.label(failure)
        return Effect.flatMap(Retry.pause(retried, AttemptFailure.retryAfter(failure)), (pause) => {
          if (pause === undefined || pause >= terms.left) return ended(failure)
          if (!budget.take(reason === "timeout" ? 2 : 1)) {
            return Effect.andThen(telemetry.exhausted(operation), ended(failure))
          }
          return telemetry.retrying(operation, reason, pause).pipe(
            Effect.andThen(Effect.sleep(pause)),
            // Not earlier: a call that joins this lookup during the pause uses only the rest of it.
            Effect.andThen(Effect.suspend(() => {
              terms.left -= pause
              series.applied ||= AttemptFailure.mayHaveApplied(failure)
              return from(series, ended, retried + 1, resynced)
            }))
          )
        })
      }
    })

  return (series, ended) => from(series, ended, 0, false)
}

/** The success response of a toggle whose retry is refused because an earlier attempt, without response, has set it. */
const settledBy = (failure: AttemptFailure.Failure, wire: Wire): HttpClientResponse | undefined => {
  const { settled } = failure.prepared
  if (settled === undefined || failure._tag !== "Refused") return undefined
  const { response: { headers, request, status }, text } = failure
  const { body, by } = settled
  if (status !== by.status) return undefined
  const matches = (problem: Problem) =>
    Object.entries(by.problem).every(([member, value]) =>
      member === "type" ? problem.type?.split("/").at(-1) === value : problem[member] === value
    )
  return CallErrors.describe(text, wire).problems.some(matches)
    ? fromWeb(request, new globalThis.Response(body, { status: 200, headers: { ...headers } }))
    : undefined
}
