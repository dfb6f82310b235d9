/**
 * When a failed try is repeated, and how long after. What may be repeated at all is for the caller to know; here are the
 * pauses, and the budget that keeps many calls from multiplying an outage.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"

/** Tries after the first, unless a setting says otherwise, and at most. */
export const defaultRetries = 2
export const maximumRetries = 10

/** Whether a number of retries is one. */
export const isRetries = (retries: unknown): retries is number =>
  Number.isInteger(retries) && Number(retries) >= 0 && Number(retries) <= maximumRetries

/** What a number of retries must be, in words. */
export const rule = `must be a whole number from 0 to ${maximumRetries}`

const firstPause = 500
const longestPause = 20_000
/** The longest that a service may ask for with `retry-after`; what asks for more is not waited for. */
const longestAsked = 60_000

/**
 * Milliseconds before the next try: twice as long each time, of which a random half at most is left out, so that those
 * who failed together do not come back together. `asked` is what the service asked for; `undefined` means not to try.
 */
export const pause = (tried: number, asked: number | undefined): Effect.Effect<number | undefined> =>
  Effect.map(Random.next, (random) => {
    if (asked !== undefined && asked > longestAsked) return undefined
    const own = Math.min(firstPause * 2 ** tried, longestPause) * (1 - random / 2)
    return Math.ceil(Math.max(own, asked ?? 0))
  })

/**
 * What all calls of a client may spend on retries: fifty at once, and one for every ten calls that succeed. A retry after
 * a timeout counts twice, because it cost more.
 */
export class Budget {
  #left = 50

  /** Whether there is enough left, which is then taken. */
  take(cost: 1 | 2): boolean {
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }

  succeeded(): void {
    this.#left = Math.min(50, this.#left + 0.1)
  }
}

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
