/**
 * When a failed try is repeated, and how long after. What may be repeated at all is for the caller to know; here are the
 * pauses, and the budget that keeps many calls from multiplying an outage.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Tries after the first, unless a setting says otherwise, and at most. */
export const defaultRetries = 2
export const maximumRetries = 10

/** Whether a number of retries is one. */
export const isRetries = (retries: unknown): retries is number =>
  Number.isInteger(retries) && Number(retries) >= 0 && Number(retries) <= maximumRetries

/** What a number of retries must be, in words. */
export const rule = `must be a whole number from 0 to ${maximumRetries}`

const firstPauseMillis = 500
const longestPauseMillis = 20_000
/** The longest that a service may ask for with `retry-after`; what asks for more is not waited for. */
const longestAskedMillis = 60_000

/**
 * Milliseconds before the next try: twice as long each time, of which a random half at most is left out, so that those
 * who failed together do not come back together. `asked` is what the service asked for; `undefined` means not to try.
 */
export const pause = (tried: number, asked: number | undefined): Effect.Effect<number | undefined> =>
  Effect.map(Random.next, (random) => {
    if (asked !== undefined && asked > longestAskedMillis) return undefined
    const own = Math.min(firstPauseMillis * 2 ** tried, longestPauseMillis) * (1 - random / 2)
    return Math.ceil(Math.max(own, asked ?? 0))
  })

/** What a budget holds at most, and what a call adds that succeeds. */
const maxRetriesAtOnce = 50
const retriesPerSuccess = 0.1

/**
 * What all calls of a client may spend on retries: fifty at once, and one for every ten calls that succeed. A retry after
 * a timeout counts twice, because it cost more.
 */
export class Budget {
  #left = maxRetriesAtOnce

  /** Whether there is enough left, which is then taken. */
  take(cost: 1 | 2): boolean {
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }

  succeeded(): void {
    this.#left = Math.min(maxRetriesAtOnce, this.#left + retriesPerSuccess)
  }
}

/** What is told of retries. */
export interface Telemetry {
  /** A request is sent again after so many milliseconds: `reason` is a status, `timeout`, or where the connection was lost. */
  readonly retrying: (operation: string, reason: string, pause: number) => Effect.Effect<void>
  /** One is not, because the budget of its client is spent. */
  readonly exhausted: (operation: string) => Effect.Effect<void>
}

/** Whom a client tells of its retries: nobody, unless `client/Telemetry` counts them. */
export const Telemetry = Context.Reference<Telemetry>("@postwire/core/client/Retry/Telemetry", {
  defaultValue: () => ({ retrying: () => Effect.void, exhausted: () => Effect.void })
})
