/**
 * The pauses between attempts, and the retry budget, which keeps many calls from amplifying an outage. Whether a request may be
 * retried at all is decided by the caller.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** The default and the maximum number of retries. */
export const defaultRetries = 2
export const maximumRetries = 10

/** Tests whether a number of retries is valid. */
export const isRetries = (retries: unknown): retries is number =>
  Number.isInteger(retries) && Number(retries) >= 0 && Number(retries) <= maximumRetries

/** The rule for a number of retries. */
export const rule = `must be a whole number from 0 to ${maximumRetries}`

const firstPauseMillis = 500
const longestPauseMillis = 20_000
/** The longest `retry-after` that is waited for; after a longer one, the call fails. */
const longestRetryAfterMillis = 60_000

/**
 * Milliseconds before the next attempt: twice as long each time, reduced by a random part of up to one half, so that requests
 * that failed together are not retried together. `retryAfter` is the service's minimum; `undefined` means not to retry.
 */
export const pause = (tried: number, retryAfter: number | undefined): Effect.Effect<number | undefined> =>
  Effect.map(Random.next, (random) => {
    if (retryAfter !== undefined && retryAfter > longestRetryAfterMillis) return undefined
    const own = Math.min(firstPauseMillis * 2 ** tried, longestPauseMillis) * (1 - random / 2)
    return Math.ceil(Math.max(own, retryAfter ?? 0))
  })

/** The maximum of a retry budget, and the part that each successful call restores. */
const maxRetriesAtOnce = 50
const retriesPerSuccess = 0.1

/**
 * The retries that all calls of a client share: fifty, and one more for every ten calls that succeed. A retry after a timeout
 * counts twice, because it costs more.
 */
export class Budget {
  #left = maxRetriesAtOnce

  /** Takes a cost from the budget if enough is left. */
  take(cost: 1 | 2): boolean {
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }

  succeeded(): void {
    this.#left = Math.min(maxRetriesAtOnce, this.#left + retriesPerSuccess)
  }
}

/** Receives the retries of a client. */
export interface Telemetry {
  /** Called before a pause of this many milliseconds: `reason` is a status, `timeout`, or the phase of a lost connection. */
  readonly retrying: (operation: string, reason: string, pause: number) => Effect.Effect<void>
  /** Called when a request is not retried because the client's retry budget is exhausted. */
  readonly exhausted: (operation: string) => Effect.Effect<void>
}

/** The receiver of a client's retries: none by default; `client/Telemetry` counts them. */
export const Telemetry = Context.Reference<Telemetry>("@postwire/core/client/Retry/Telemetry", {
  defaultValue: () => ({ retrying: () => Effect.void, exhausted: () => Effect.void })
})
