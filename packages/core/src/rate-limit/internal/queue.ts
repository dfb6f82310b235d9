/** Those in this process who want to send the requests of one budget, in the order in which they came. */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Tracer from "effect/Tracer"
import type { RateLimitWaitTooLong } from "../../errors/Errors.ts"
import type { Bucket, Waiting } from "../Policy.ts"
import { addEvent } from "./events.ts"

/** How it ends for one who does not get to send. */
export type Fate = Effect.Effect<HttpClientResponse, RateLimitWaitTooLong>

/** One who waits. Times are monotonic. */
export class Place {
  /** The order of arrival, which a refused request keeps. */
  readonly ticket: number
  readonly lease: string
  readonly span: Tracer.AnySpan | undefined
  readonly arrived: number
  /** When it has waited long enough. */
  readonly deadline: number
  /** Whether the store may know of it. */
  isKnown = false
  /** Whether the request may have arrived much later than it was sent. */
  isCold = false
  /** Requests that were refused in a row before this one, whoever sent them. */
  refusals = 0
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

/** A line. The first alone asks the store. */
export class Line {
  readonly bucket: Bucket
  /** The wait that was announced, and when it ends by the monotonic clock. */
  said: { readonly waiting: Waiting; readonly until: number } | undefined
  /** When a request from here was answered last. */
  answered = -Infinity
  #first: Place | undefined
  #others: Array<Place> = []

  constructor(bucket: Bucket) {
    this.bucket = bucket
  }

  /** How many wait, the first included. */
  get callers(): number {
    return this.#others.length + (this.#first === undefined ? 0 : 1)
  }

  /** Tells the spans of all who wait. */
  tell(waiting: Waiting): void {
    addEvent(this.#first?.span, waiting)
    for (const { span } of this.#others) addEvent(span, waiting)
  }

  /** Waits to be the first, or for one's fate. */
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
    // Whoever comes next begins a wait of its own.
    if (this.#first === undefined) this.said = undefined
    else this.#first.wake()
  }

  /** How the first waits, until it is woken. */
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

  /** Has the first ask again. */
  wake(): void {
    this.#first?.wake()
  }

  /** Sends away all for whom it says how it ends. */
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
