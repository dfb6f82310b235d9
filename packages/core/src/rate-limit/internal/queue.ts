/** The callers in this process that wait for one rate limit, in the order of their arrival. */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Tracer from "effect/Tracer"
import type { RateLimitWaitTooLong } from "../../errors/Errors.ts"
import type { Bucket, Waiting } from "../Policy.ts"
import { addEvent } from "./events.ts"

/** The result of a caller that does not get to send. */
export type Fate = Effect.Effect<HttpClientResponse, RateLimitWaitTooLong>

/** A waiting caller. Times are monotonic. */
export class Place {
  /** The order of arrival, which a refused request keeps. */
  readonly ticket: number
  readonly lease: string
  readonly span: Tracer.AnySpan | undefined
  readonly arrived: number
  /** The time at which it gives up. */
  readonly deadline: number
  /** True if the store may know it. */
  isKnown = false
  /** True if the request may have arrived much later than it was sent. */
  isCold = false
  /** Requests refused in a row before this one, by any caller. */
  refusals = 0
  /** The number of these with requests remaining. */
  briefs = 0
  fate: Fate | undefined
  wake: () => void = () => {}

  constructor(of: Pick<Place, "ticket" | "lease" | "span" | "arrived" | "deadline">) {
    this.ticket = of.ticket
    this.lease = of.lease
    this.span = of.span
    this.arrived = of.arrived
    this.deadline = of.deadline
  }
}

/** A queue. Only its head asks the store. */
export class Line {
  readonly bucket: Bucket
  /** The announced wait, and its end by the monotonic clock. */
  said: { readonly waiting: Waiting; readonly until: number } | undefined
  /** The time of the last response to a request from this queue. */
  answered = -Infinity
  #first: Place | undefined
  #others: Array<Place> = []

  constructor(bucket: Bucket) {
    this.bucket = bucket
  }

  /** The number of callers, including the head. */
  get callers(): number {
    return this.#others.length + (this.#first === undefined ? 0 : 1)
  }

  /** Adds the wait to the spans of all callers. */
  tell(waiting: Waiting): void {
    addEvent(this.#first?.span, waiting)
    for (const { span } of this.#others) addEvent(span, waiting)
  }

  /** Waits until the caller is the head, or its fate is decided. */
  enter(place: Place): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#first === undefined) {
        this.#first = place
        return Effect.void
      }
      if (this.said !== undefined) addEvent(place.span, this.said.waiting)
      return Effect.callback<void>((resume) => {
        // Yields, so that a long line does not become a deep stack.
        place.wake = () => resume(Effect.yieldNow)
        const index = this.#others.findLastIndex(({ ticket }) => ticket < place.ticket)
        this.#others.splice(index + 1, 0, place)
      })
    })
  }

  /** Lets the next one be the first, or gives up one's place. Harmless when done twice. */
  leave(place: Place): void {
    if (this.#first !== place) {
      const index = this.#others.indexOf(place)
      if (index >= 0) this.#others.splice(index, 1)
      return
    }
    this.#first = this.#others.shift()
    // The next caller begins its own wait.
    if (this.#first === undefined) this.said = undefined
    else this.#first.wake()
  }

  /** Sleeps until the head is woken. */
  sleep(place: Place, millis: number): Effect.Effect<void> {
    return Effect.raceFirst(
      Effect.sleep(millis),
      Effect.callback<void>((resume) => {
        place.wake = () => resume(Effect.void)
        return Effect.sync(() => {
          place.wake = () => {}
        })
      })
    )
  }

  /** Makes the head try again. */
  wake(): void {
    this.#first?.wake()
  }

  /** Removes all callers whose fate is decided. */
  dismiss(fateOf: (place: Place) => Fate | undefined): void {
    const first = this.#first
    if (first !== undefined) {
      first.fate = fateOf(first)
      if (first.fate !== undefined) first.wake()
    }
    this.#others = this.#others.filter((place) => {
      place.fate = fateOf(place)
      if (place.fate === undefined) return true
      place.wake()
      return false
    })
  }
}
