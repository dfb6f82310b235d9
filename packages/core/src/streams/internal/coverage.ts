/** Until when everything has come that a stream brings, by the service's clock: what is known of it, and what was missed. */
import type * as Clock from "effect/Clock"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Definition, Live } from "../../schema/Definition.ts"
import type { Headers } from "../../schema/Response.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { Recover } from "../StreamOptions.ts"
import * as Gaps from "./gaps.ts"
import { servedAt, timeOf, toleranceMillis } from "./serviceTime.ts"

/** A connection that has lived so long is one, whether data came or not. */
const livesMillis = 60_000

/** How long after it was made a post comes, as a rule: what comes later has waited on its way. */
const usualMillis = 10_000

/** What says that it is older than this says nothing of its way. */
const longestWayMillis = 120_000

/** When nothing came for so long, nothing waits any more to be read. */
const lullMillis = 50

/** A new post may stray among those of backfill. */
const strayMillis = 2_000

/** Who has nothing to send says so after 20 s. */
const quietMillis = 15_000

/** What is known of one stream. */
export class Coverage {
  /** When the stream began, by the monotonic clock. */
  readonly #begun: number
  /** When the connection was made, by the service's clock; `undefined` while there is none. */
  connectedAt: number | undefined
  wasConnected = false
  readonly #clock: Clock.Clock
  readonly #definition: Definition & { readonly live: Live }
  readonly #recover: Recover
  /** The service's time at the beginning of the monotonic clock. */
  #epoch: number
  /** The time of this machine at the beginning of the monotonic clock, when the service's clock was set last. */
  #own: number
  /** By how much the last connection's clock was ahead of the service's, where it was not believed. */
  #odd = 0
  /** Since when nothing is certain, while there is no connection. */
  #outage: number | undefined
  /** What was missed and is on its way. */
  #backfill: Gaps.Span | undefined
  /** Until when it has come. */
  #reached = 0
  /** When it is over, for items that do not state their time. The service sends it at least twice as fast as it was made. */
  #backfillEnd = 0
  /** When an item came last on this connection, or it was made: by the monotonic clock. */
  #broughtAt = 0
  #mayBackfill = true
  /** When what was read last had left the service, at the latest. */
  #left = 0
  /** When reading went on last, by the monotonic clock. */
  #readAt = 0
  /** Since when things may wait to be read; `undefined` when all is read. */
  #behind: number | undefined

  constructor(
    clock: Clock.Clock,
    definition: Definition & { readonly live: Live },
    recover: Recover,
    resumeFrom: Date | undefined
  ) {
    this.#clock = clock
    this.#definition = definition
    this.#recover = recover
    this.#begun = this.#millis()
    this.#epoch = this.#own = clock.currentTimeMillisUnsafe() - this.#begun
    this.#outage = resumeFrom?.getTime()
  }

  /** The time by the service's clock. */
  now(): number {
    return this.#millis() + this.#epoch
  }

  /** How many minutes of backfill bring what was missed. */
  backfillMinutes(): number | undefined {
    return this.#outage === undefined || !this.#mayBackfill ||
        this.#definition.query?.["backfill_minutes"] === undefined
      ? undefined
      : Gaps.backfillMinutes(this.now() - this.#outage, this.#recover)
  }

  /** The app may not have backfill. */
  withoutBackfill(): void {
    this.#mayBackfill = false
  }

  /** There is a connection, whose backfill goes back so far. Gives what was missed and does not come with it. */
  connected(headers: Headers, backfillMinutes: number | undefined): Gaps.Span | undefined {
    this.#setClock(servedAt(headers))
    const at = this.now()
    this.connectedAt = at
    this.wasConnected = true
    this.#left = at
    this.#behind = undefined
    this.#readAt = this.#broughtAt = this.#millis()
    const from = this.#outage
    this.#outage = undefined
    if (from === undefined) return undefined
    // The service has one clock, and more than one machine.
    const to = at + 1_000
    if (backfillMinutes === undefined) return from < to ? { from, to } : undefined
    const sent = at - backfillMinutes * 60_000
    this.#backfill = { from: Math.max(from, sent), to }
    this.#reached = this.#backfill.from
    this.#backfillEnd = at + 2 * backfillMinutes * 60_000
    return from < sent ? { from, to: sent } : undefined
  }

  /** There is none any more. */
  lost(): void {
    if (this.connectedAt === undefined) return
    this.#outage = this.certain()
    this.#backfill = undefined
    this.connectedAt = undefined
  }

  /** Nothing is read for a while, since a consumer is too slow. */
  paused(): void {
    this.#behind ??= this.#left
  }

  /** Reading goes on. */
  reads(): void {
    this.#readAt = this.#millis()
  }

  /** Something came; `last` is the last item of it, `isAlive` whether the service has nothing else. Gives backfill that is over. */
  received(last: AnyItem | undefined, isAlive: boolean): Gaps.Span | undefined {
    const millis = this.#millis()
    const now = this.now()
    const time = last === undefined ? undefined : timeOf(last)
    if (isAlive || millis - this.#readAt >= lullMillis) this.#behind = undefined
    this.#left = isAlive
      ? now
      : this.#behind ?? Math.min(now, Math.max((time ?? now) + usualMillis, now - longestWayMillis))
    if (last !== undefined) this.#broughtAt = millis
    const backfill = this.#backfill
    if (backfill === undefined) return undefined
    if (last !== undefined) {
      this.#reached = Math.max(this.#reached, Gaps.reached([last], backfill, this.#definition.live))
    }
    // Older posts come first, by and large, and in a lull nothing waits. An empty line before that is none.
    const isLull = isAlive && millis - this.#broughtAt >= quietMillis
    const isNew = time === undefined ? now >= this.#backfillEnd : time >= backfill.to + strayMillis
    if (!isLull && !isNew) return undefined
    this.#backfill = undefined
    return backfill
  }

  /** For how many milliseconds the stream has been running. */
  get age(): number {
    return this.#millis() - this.#begun
  }

  /** Whether the connection is one: data has come, or it has lived for a minute. */
  isProven(hasData: boolean): boolean {
    return hasData || (this.connectedAt !== undefined && this.now() - this.connectedAt >= livesMillis)
  }

  /** Whether something that was missed is on its way. */
  get isFilling(): boolean {
    return this.#backfill !== undefined
  }

  /** Until when everything has come. */
  certain(): number {
    if (this.#backfill !== undefined) return this.#reached
    if (this.connectedAt === undefined) return this.#outage ?? this.now()
    // What came before the first connection was not asked for.
    return Math.max(this.#left - Gaps.lateMillis(this.#definition.live), this.#begun + this.#epoch)
  }

  /**
   * Sets the service's clock by an answer. The service has many machines: one that contradicts both the earlier answers and
   * the clock of this machine is not believed before a second one agrees with it.
   */
  #setClock(served: number | undefined): void {
    if (served === undefined) return
    const own = this.#clock.currentTimeMillisUnsafe() - this.#millis()
    const ahead = served - this.now()
    const isLike = (expected: number) => Math.abs(ahead - expected) < toleranceMillis
    if (!isLike(0)) {
      // The monotonic clock may stand still while this machine sleeps.
      const hasSlept = isLike(own - this.#own)
      if (!hasSlept && !this.#isUnset(served)) {
        if (!isLike(own - this.#epoch) && !isLike(this.#odd)) {
          this.#odd = ahead
          return
        }
        if (this.#outage !== undefined) this.#outage += ahead
      }
      this.#epoch += ahead
    }
    this.#odd = 0
    this.#own = own
  }

  /** Whether an answer is the first, and not before the time that an earlier run reached. */
  #isUnset(served: number): boolean {
    return !this.wasConnected && (this.#outage === undefined || served >= this.#outage)
  }

  #millis(): number {
    return Monotonic.millisUnsafe(this.#clock)
  }
}
