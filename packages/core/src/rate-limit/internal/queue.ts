/** The callers in this process that wait for one rate limit, in the order of their arrival. */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Tracer from "effect/Tracer"
import type { RateLimitWaitTooLong } from "../../errors/Errors.ts"
import type { Bucket, Waiting } from "../Policy.ts"
import { addEvent } from "./events.ts"

/** The result of a caller that does not get to send. */
export type Outcome = Effect.Effect<HttpClientResponse, RateLimitWaitTooLong>

/** A waiting caller. Times are monotonic. */
export class Waiter {
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
  outcome: Outcome | undefined
  wake: () => void = () => {}

  constructor(of: Pick<Waiter, "ticket" | "lease" | "span" | "arrived" | "deadline">) {
    this.ticket = of.ticket
    this.lease = of.lease
    this.span = of.span
    this.arrived = of.arrived
    this.deadline = of.deadline
  }
}

/** A queue. Only its head asks the store. */
export class Queue {
  readonly bucket: Bucket
  /** The announced wait, and its end by the monotonic clock. */
  announced: { readonly waiting: Waiting; readonly until: number } | undefined
  /** The time of the last response to a request from this queue. */
  answered = -Infinity
  #first: Waiter | undefined
  #others: Array<Waiter> = []

  constructor(bucket: Bucket) {
    this.bucket = bucket
  }

  /** The number of callers, including the head. */
  get callers(): number {
    return this.#others.length + (this.#first === undefined ? 0 : 1)
  }

  /** Adds the wait to the spans of all callers. */
  notify(waiting: Waiting): void {
    addEvent(this.#first?.span, waiting)
    for (const { span } of this.#others) addEvent(span, waiting)
  }

  /** Waits until the caller is the head, or its outcome is decided. */
  enter(waiter: Waiter): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#first === undefined) {
        this.#first = waiter
        return Effect.void
      }
      if (this.announced !== undefined) addEvent(waiter.span, this.announced.waiting)
      return Effect.callback<void>((resume) => {
        // Yields, so that a long queue does not become a deep stack.
        waiter.wake = () => resume(Effect.yieldNow)
        const index = this.#others.findLastIndex(({ ticket }) => ticket < waiter.ticket)
        this.#others.splice(index + 1, 0, waiter)
      })
    })
  }

  /** Lets the next one be the first, or gives up one's waiter. Harmless when done twice. */
  leave(waiter: Waiter): void {
    if (this.#first !== waiter) {
      const index = this.#others.indexOf(waiter)
      if (index >= 0) this.#others.splice(index, 1)
      return
    }
    this.#first = this.#others.shift()
    // The next caller begins its own wait.
    if (this.#first === undefined) this.announced = undefined
    else this.#first.wake()
  }

  /** Sleeps until the head is woken. */
  sleep(waiter: Waiter, millis: number): Effect.Effect<void> {
    return Effect.raceFirst(
      Effect.sleep(millis),
      Effect.callback<void>((resume) => {
        waiter.wake = () => resume(Effect.void)
        return Effect.sync(() => {
          waiter.wake = () => {}
        })
      })
    )
  }

  /** Makes the head try again. */
  wake(): void {
    this.#first?.wake()
  }

  /** Removes all callers whose outcome is decided. */
  dismiss(outcomeOf: (waiter: Waiter) => Outcome | undefined): void {
    const first = this.#first
    if (first !== undefined) {
      first.outcome = outcomeOf(first)
      if (first.outcome !== undefined) first.wake()
    }
    this.#others = this.#others.filter((waiter) => {
      waiter.outcome = outcomeOf(waiter)
      if (waiter.outcome === undefined) return true
      waiter.wake()
      return false
    })
  }
}
