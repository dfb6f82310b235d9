/** The clocks of a stream: monotonic time for durations, this machine's time for events, and the service's time for posts. */
import type * as Clock from "effect/Clock"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Headers } from "../../schema/Response.ts"

/** Times of the service that differ by less than this count as equal: its headers have whole seconds. */
export const toleranceMillis = 2_000

/** The time at which the service responded; `undefined` if the headers do not state it. */
export const servedAt = (headers: Headers): number | undefined => {
  const served = Date.parse(headers["date"] ?? "")
  // A cache in between repeats an old date.
  return Number.isNaN(served) || headers["age"] !== undefined ? undefined : served + 500
}

/** All times are in milliseconds. */
export class StreamClock {
  readonly #clock: Clock.Clock
  /** The service's time when monotonic time was 0. */
  #epoch: number
  /** This machine's time when monotonic time was 0, as of the last response that was believed. */
  #wallEpoch: number
  /** The difference between the last response's time and the service's clock, if it was not believed. */
  #disbelieved = 0

  constructor(clock: Clock.Clock) {
    this.#clock = clock
    this.#epoch = this.#wallEpoch = this.wall() - this.monotonic()
  }

  monotonic(): number {
    return Monotonic.millisUnsafe(this.#clock)
  }

  /** The time of this machine. */
  wall(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  /** The time of this machine. */
  date(): Date {
    return new Date(this.wall())
  }

  /** The time of the service, now or at a monotonic time. */
  service(monotonic: number = this.monotonic()): number {
    return monotonic + this.#epoch
  }

  /**
   * Sets the service's clock from a response, and returns by how much earlier service times have to be moved. The service has many
   * machines: a response that contradicts both the earlier ones and this machine's clock is ignored until a second one agrees with
   * it.
   */
  synchronize(served: number, isFirst: boolean): number {
    const wallEpoch = this.wall() - this.monotonic()
    const ahead = served - this.service()
    const isLike = (expected: number) => Math.abs(ahead - expected) < toleranceMillis
    let moved = 0
    if (!isLike(0)) {
      // Monotonic time may stop while this machine sleeps.
      const hasSlept = isLike(wallEpoch - this.#wallEpoch)
      if (!hasSlept && !isFirst) {
        if (!isLike(wallEpoch - this.#epoch) && !isLike(this.#disbelieved)) {
          this.#disbelieved = ahead
          return 0
        }
        moved = ahead
      }
      this.#epoch += ahead
    }
    this.#disbelieved = 0
    this.#wallEpoch = wallEpoch
    return moved
  }
}
