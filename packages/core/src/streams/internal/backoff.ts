/** How long to wait before connecting again, by the service's schedules and its limit on connects. */
import { windowMillis } from "../../schema/Quota.ts"

/** The kind of a failure: no response, a failure of the service, or too many requests. */
export type Fault = "network" | "service" | "limit"

/** The first pause, the pause after a pause, and the longest, in milliseconds. */
const schedules: Readonly<
  Record<Fault, { readonly first: number; readonly next: (pause: number) => number; readonly most: number }>
> = {
  network: { first: 250, next: (pause) => pause + 250, most: 16_000 },
  service: { first: 5_000, next: (pause) => pause * 2, most: 320_000 },
  // The service states no longest pause. Its rate limits reset every quarter of an hour.
  limit: { first: 60_000, next: (pause) => pause * 2, most: 960_000 }
}

/** Connects in a quarter of an hour for a stream whose limit is not known. */
const usualConnects = 50

/** Spreads a client's connects to one stream over time. */
export class Connects {
  readonly #most: number
  #spare: number
  #since = 0

  /** `most` is the service's limit in a quarter of an hour. */
  constructor(most = usualConnects) {
    // A full burst and the connects that become available in the same window stay below the limit together.
    this.#most = Math.max(1, Math.floor(most / 2) - 1)
    this.#spare = this.#most
  }

  /** Milliseconds until another connect is within the limit. Counts that connect. */
  next(now: number): number {
    const each = windowMillis / this.#most
    this.#spare = Math.min(this.#most, this.#spare + (now - this.#since) / each) - 1
    this.#since = now
    return Math.max(0, -this.#spare * each)
  }
}

/** The pauses after consecutive faults. */
export class Backoff {
  #fault: Fault | undefined
  #pause = 0

  /** Milliseconds to wait after a fault; 0 after the first loss of a connection. `random` is from 0 to 1. */
  after(fault: Fault, wasConnected: boolean, random: number): number {
    if (wasConnected && this.#fault === undefined) {
      this.#fault = fault
      return 0
    }
    const { first, most, next } = schedules[fault]
    this.#pause = this.#fault === fault && this.#pause > 0 ? Math.min(next(this.#pause), most) : first
    this.#fault = fault
    // The service's pauses are a minimum for rate limits, and a maximum for other faults.
    return this.#pause * (fault === "limit" ? 1 + random / 5 : 1 - random / 5)
  }

  /** Notes that the connection works. */
  reset(): void {
    this.#fault = undefined
    this.#pause = 0
  }
}
