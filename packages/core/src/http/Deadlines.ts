/** Watches exchanges and aborts those that exceed a timeout. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Monotonic from "../runtime/Monotonic.ts"
import { type Limits, type Phase, type Progress, TimedOut } from "./Timeouts.ts"

/** The longest delay of a platform timer. */
const longestTimerMillis = 2 ** 31 - 1

/** The limits of one exchange. */
export interface ExchangeLimits {
  /** As configured. The transport itself enforces `connect`. */
  readonly limits: Limits
  /** Milliseconds left of the total. */
  readonly left: number
  /** Bytes. */
  readonly maxBodySize: number
}

const limitOf = { connect: "connect", send: "idle", headers: "firstByte", body: "idle" } as const satisfies Readonly<
  Record<Phase, keyof Limits>
>

/** Follows the phases of one exchange and knows when the next timeout is reached. */
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
  /** True once the transport reports its progress. */
  isReported = false
  /** Its index among the watches that share a timer; negative if it is not there. */
  index = -1

  constructor(clock: Clock.Clock, { left, limits, maxBodySize }: ExchangeLimits) {
    this.#clock = clock
    this.#limits = limits
    this.maxBodySize = maxBodySize
    this.#shortest = Math.min(limits.firstByte, limits.idle, left, longestTimerMillis)
    this.#since = Monotonic.millisUnsafe(clock)
    this.#end = this.#since + left
  }

  started(fail: (reason: TimedOut) => void): void {
    this.isReported = true
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

  /** Milliseconds until the next check, or the timeout that was reached. */
  next(now: number = Monotonic.millisUnsafe(this.#clock)): number | TimedOut {
    const limit = limitOf[this.#phase]
    const allowed = limit === "connect" ? Infinity : this.#limits[limit]
    const left = Math.min(this.#end, this.#since + allowed) - now
    // A later phase may have a shorter timeout.
    if (left > 0) return Math.min(left, this.#shortest)
    return this.#end <= now
      ? new TimedOut("total", this.#phase, this.#limits.total)
      : new TimedOut(limit, this.#phase, allowed)
  }

  /** Milliseconds until the next check; infinite if a timeout was reached and the exchange aborted. */
  check(now: number): number {
    const next = this.next(now)
    if (typeof next === "number") return next
    this.#fail?.(next)
    return Infinity
  }

  #look(): void {
    const next = this.next()
    if (typeof next !== "number") return this.#fail?.(next)
    // A fiber per request would cost more than all other watching; this branch is for clocks that tests control.
    const fiber = Effect.runFork(
      Effect.andThen(this.#clock.sleep(Duration.millis(next)), Effect.sync(() => this.#look()))
    )
    this.#cancel = () => fiber.interruptUnsafe()
  }
}

/** A timer that fires this many milliseconds late means that the thread was busy. */
export const busyMillis = 20

type Timer = { readonly ref?: () => void; readonly unref?: () => void }

/**
 * One platform timer for all running exchanges, set to their nearest timeout; most exchanges end without it being reset.
 * They are in an array, since a Set with frequent changes strains the garbage collector.
 */
class Watches {
  readonly #watches: Array<Watch> = []
  #due = Infinity
  #timer: Timer | undefined
  #isSecondLook = false

  add(watch: Watch, now: number, millis: number): void {
    // Running exchanges keep the process alive.
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
    // A platform's timer is an object with `unref`, or a number.
    if (this.#timer !== undefined) clearTimeout(this.#timer as Parameters<typeof clearTimeout>[0])
    this.#due = now + millis
    this.#timer = setTimeout(() => this.#look(), millis) as Timer
  }

  #look(): void {
    const now = performance.now()
    const isLate = now - this.#due > busyMillis
    this.#timer = undefined
    this.#due = Infinity
    // The thread was busy, so that data may wait to be read: the next turn of the event loop reads it first.
    if (isLate && !this.#isSecondLook) {
      this.#isSecondLook = true
      return this.#set(now, 1)
    }
    this.#isSecondLook = false
    let nearest = Infinity
    // Aborted watches remove themselves.
    for (const watch of this.#watches.slice()) nearest = Math.min(nearest, watch.check(now))
    if (this.#watches.length > 0 && nearest !== Infinity) this.#set(now, Math.min(nearest, longestTimerMillis))
  }
}

const watches = /*#__PURE__*/ new Watches()
