/** The clock of a service, by the `Date` of its responses. */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Headers } from "../schema/Response.ts"

/** Clocks that differ by less agree: a header has whole seconds, and a response takes time. */
const toleranceMillis = 60_000

const longestRequestMillis = 2_000

/** A time of the service, and the clocks of this machine at that time. */
interface Reading {
  readonly served: number
  readonly wall: number
  readonly passed: number
}

const readingOf = (served: number, clock: Clock.Clock): Reading => ({
  served,
  wall: clock.currentTimeMillisUnsafe(),
  passed: Monotonic.millisUnsafe(clock)
})

/** The service's time by an earlier reading; `undefined` if a clock of this machine was set or stood still since then. */
const timeBy = (reading: Reading | undefined, clock: Clock.Clock): number | undefined => {
  if (reading === undefined) return undefined
  const { passed, served, wall } = readingOf(reading.served, clock)
  const since = wall - reading.wall
  return Math.abs(since - (passed - reading.passed)) < toleranceMillis ? served + since : undefined
}

/** The time of one service, read from its responses. */
export class ServiceClock {
  #known: Reading | undefined
  /** A reading that contradicts the known one: it replaces that when the next response agrees with it. */
  #doubted: Reading | undefined
  /** The end of the current request for the time. */
  #requested: Deferred.Deferred<void> | undefined
  /** True if the service responds without its time. */
  isSilent = false

  /** The time in milliseconds, if the service has sent it. */
  now(clock: Clock.Clock): number | undefined {
    return timeBy(this.#known, clock)
  }

  /** Requests the time, once for all callers that need it now. Ends within the time left, even without a response. */
  request(headers: Effect.Effect<Headers | undefined>, left: number): Effect.Effect<unknown> {
    return Effect.uninterruptibleMask((restore) => {
      const requested = this.#requested ?? Deferred.makeUnsafe<void>()
      const wait = restore(Effect.timeoutOption(Deferred.await(requested), Math.min(left, longestRequestMillis)))
      if (requested === this.#requested) return wait
      this.#requested = requested
      const learning = Effect.clockWith((clock) =>
        Effect.map(headers, (answer) => void (answer === undefined || this.learn(answer, clock)))
      )
      const ended = Effect.suspend(() => {
        this.#requested = undefined
        return Deferred.succeed(requested, undefined)
      })
      const request = Effect.ensuring(Effect.timeoutOption(learning, longestRequestMillis), ended)
      return Effect.andThen(Effect.forkDetach(request), wait)
    })
  }

  /** Records the time of a response, and returns it unless it is missing or doubtful. */
  learn(headers: Headers, clock: Clock.Clock): number | undefined {
    const served = Date.parse(headers["date"] ?? "")
    // The date of a cached response is old.
    if (Number.isNaN(served) || headers["age"] !== undefined) {
      this.isSilent = this.#known === undefined
      return undefined
    }
    this.isSilent = false
    const expected = timeBy(this.#known, clock)
    if (expected !== undefined && !agree(served, expected) && !agree(served, timeBy(this.#doubted, clock))) {
      this.#doubted = readingOf(served, clock)
      return undefined
    }
    this.#doubted = undefined
    // The response may have taken a while.
    this.#known = readingOf(agree(served, expected) ? Math.max(served, expected) : served, clock)
    return served
  }
}

const agree = (served: number, expected: number | undefined): expected is number =>
  expected !== undefined && Math.abs(served - expected) < toleranceMillis
