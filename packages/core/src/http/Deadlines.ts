/** Follows exchanges and gives up those that are late. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Monotonic from "../runtime/Monotonic.ts"
import { type Limits, type Phase, type Progress, TimedOut } from "./Timeouts.ts"

/** The longest time that a timer of the platform can have. */
const longestTimerMillis = 2 ** 31 - 1

/** What is allowed. */
export interface Allowance {
  /** As they were set. Of these, `connect` is the transport's. */
  readonly limits: Limits
  /** Milliseconds left of the total. */
  readonly left: number
  /** Bytes. */
  readonly maxBodySize: number
}

const limitOf = { connect: "connect", send: "idle", headers: "firstByte", body: "idle" } as const satisfies Readonly<
  Record<Phase, keyof Limits>
>

/** Follows the phases of one exchange and knows when the next limit is reached. */
export class Watch implements Progress {
  readonly maxBodySize: number
  readonly #clock: Clock.Clock
  readonly #limits: Limits
  readonly #shortest: number
  readonly #end: number
  #phase: Phase = "headers"
  #since: number
  #fail: ((reason: TimedOut) => void) | undefined
  #cancel: (() => void) | undefined
  isTold = false
  /** Its place among those that share a timer; below 0 for none. */
  index = -1

  constructor(clock: Clock.Clock, { left, limits, maxBodySize }: Allowance) {
    this.#clock = clock
    this.#limits = limits
    this.maxBodySize = maxBodySize
    this.#shortest = Math.min(limits.firstByte, limits.idle, left, longestTimerMillis)
    this.#since = Monotonic.millisUnsafe(clock)
    this.#end = this.#since + left
  }

  started(fail: (reason: TimedOut) => void): void {
    this.isTold = true
    this.#fail = fail
    this.reached("connect")
    if (Monotonic.isLive(this.#clock)) watches.add(this, this.#since, this.#shortest)
    else this.#look()
  }

  reached(phase: Phase): void {
    this.#phase = phase
    this.#since = Monotonic.millisUnsafe(this.#clock)
  }

  ended(): void {
    this.#cancel?.()
    watches.delete(this)
    this.#fail = undefined
  }

  /** Milliseconds until the next look, or the limit that is reached. */
  next(now: number = Monotonic.millisUnsafe(this.#clock)): number | TimedOut {
    const limit = limitOf[this.#phase]
    const allowed = limit === "connect" ? Infinity : this.#limits[limit]
    const left = Math.min(this.#end, this.#since + allowed) - now
    // A phase that begins later may have a shorter limit.
    if (left > 0) return Math.min(left, this.#shortest)
    return this.#end <= now
      ? new TimedOut("total", this.#phase, this.#limits.total)
      : new TimedOut(limit, this.#phase, allowed)
  }

  /** The milliseconds until the next look; infinite when a limit was reached, and the exchange given up. */
  check(now: number): number {
    const next = this.next(now)
    if (typeof next === "number") return next
    this.#fail?.(next)
    return Infinity
  }

  #look(): void {
    const next = this.next()
    if (typeof next !== "number") return this.#fail?.(next)
    // A fiber for every request would cost more than the rest of the watching: this is for clocks that tests move.
    const fiber = Effect.runFork(
      Effect.andThen(this.#clock.sleep(Duration.millis(next)), Effect.sync(() => this.#look()))
    )
    this.#cancel = () => fiber.interruptUnsafe()
  }
}

/** A timer that fires so many milliseconds late tells that the thread was busy. */
export const busyMillis = 20

type Timer = { readonly ref?: () => void; readonly unref?: () => void }

/**
 * One timer of the platform for all exchanges under way, at the nearest of their limits; most end without it being set
 * anew. They are in an array: a Set whose members come and go makes work for the collector.
 */
class Watches {
  readonly #watches: Array<Watch> = []
  #due = Infinity
  #timer: Timer | undefined
  #isSecondLook = false

  add(watch: Watch, now: number, millis: number): void {
    // As long as something is under way, the process goes on.
    if (this.#watches.length === 0) this.#timer?.ref?.()
    watch.index = this.#watches.length
    this.#watches.push(watch)
    if (now + millis < this.#due) this.#set(now, millis)
  }

  delete(watch: Watch): void {
    const { index } = watch
    if (index < 0) return
    watch.index = -1
    const last = this.#watches.pop()
    if (last !== undefined && last !== watch) {
      last.index = index
      this.#watches[index] = last
    }
    if (this.#watches.length === 0) this.#timer?.unref?.()
  }

  #set(now: number, millis: number): void {
    // What a platform has for a timer is an object with `unref`, or a number.
    if (this.#timer !== undefined) clearTimeout(this.#timer as Parameters<typeof clearTimeout>[0])
    this.#due = now + millis
    this.#timer = setTimeout(() => this.#look(), millis) as Timer
  }

  #look(): void {
    const now = performance.now()
    const isLate = now - this.#due > busyMillis
    this.#timer = undefined
    this.#due = Infinity
    // The thread was busy, and what came meanwhile was not read: the next turn of the event loop reads it first.
    if (isLate && !this.#isSecondLook) {
      this.#isSecondLook = true
      return this.#set(now, 1)
    }
    this.#isSecondLook = false
    let nearest = Infinity
    // Who is given up leaves.
    for (const watch of this.#watches.slice()) nearest = Math.min(nearest, watch.check(now))
    if (this.#watches.length > 0 && nearest !== Infinity) this.#set(now, Math.min(nearest, longestTimerMillis))
  }
}

const watches = /*#__PURE__*/ new Watches()
