/** How long to wait before connecting again: the schedules of the service, and its limit of connects. */
import { windowMillis } from "../../schema/Quota.ts"

/** What went wrong: nothing came back, the service could not, or it had too many requests. */
export type Fault = "network" | "service" | "limit"

/** The first pause, the next one of those before, and the longest. */
const schedules: Readonly<
  Record<Fault, { readonly first: number; readonly next: (pause: number) => number; readonly most: number }>
> = {
  network: { first: 250, next: (pause) => pause + 250, most: 16_000 },
  service: { first: 5_000, next: (pause) => pause * 2, most: 320_000 },
  // The service states no longest one. Its windows last a quarter of an hour.
  limit: { first: 60_000, next: (pause) => pause * 2, most: 960_000 }
}

/** Of a stream whose limit is not known. */
const usualConnects = 50

/** Spreads the connects of a client to one stream over the time, whichever connection they are for. */
export class Connects {
  readonly #most: number
  #spare: number
  #since = 0

  /** `most` is how many the service allows in a quarter of an hour. */
  constructor(most = usualConnects) {
    // What is spared and what grows anew in one window are together less than the limit.
    this.#most = Math.max(1, Math.floor(most / 2) - 1)
    this.#spare = this.#most
  }

  /** Milliseconds until another connect keeps the limit; it is counted as made then. */
  next(now: number): number {
    const each = windowMillis / this.#most
    this.#spare = Math.min(this.#most, this.#spare + (now - this.#since) / each) - 1
    this.#since = now
    return Math.max(0, -this.#spare * each)
  }
}

/** Counts the faults in a row. */
export class Backoff {
  #fault: Fault | undefined
  #pause = 0

  /** Milliseconds to wait after a fault. A line that was lost is connected again at once; `random` is from 0 to 1. */
  after(fault: Fault, wasConnected: boolean, random: number): number {
    if (wasConnected && this.#fault === undefined) {
      this.#fault = fault
      return 0
    }
    const { first, most, next } = schedules[fault]
    this.#pause = this.#fault === fault && this.#pause > 0 ? Math.min(next(this.#pause), most) : first
    this.#fault = fault
    // The pauses of the service are the least ones where it counts, and the longest ones elsewhere.
    return this.#pause * (fault === "limit" ? 1 + random / 5 : 1 - random / 5)
  }

  /** The connection has shown that it lives. */
  reset(): void {
    this.#fault = undefined
    this.#pause = 0
  }
}
