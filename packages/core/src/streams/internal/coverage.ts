/** The time, by the service's clock, up to which a stream is complete, and the gap that each new connection leaves. */
import type { Definition, Live } from "../../schema/Definition.ts"
import type { Headers } from "../../schema/Response.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { Recover } from "../StreamOptions.ts"
import { servedAt, type StreamClock } from "./clock.ts"
import * as Gaps from "./gaps.ts"

/** A connection that has lived this long works, even if no data came. */
const livesMillis = 60_000

/** How long after its creation a post usually arrives; later ones were delayed on the way. */
const usualMillis = 10_000

/** The longest delay that is believed: the creation time of an older item says nothing about its delay. */
const longestDelayMillis = 120_000

/** After a pause this long in what arrives, nothing is left to be read. */
const lullMillis = 50

/** By how much a new post must be newer than the backfill, as a new one may appear among old ones. */
const strayMillis = 2_000

/** An idle service sends an empty line every 20 s. */
const quietMillis = 15_000

/** The coverage of one stream. */
export class Coverage {
  /** When the current connection was made, by the service's clock. */
  connectedAt: number | undefined
  wasConnected = false
  readonly #clock: StreamClock
  readonly #definition: Definition & { readonly live: Live }
  readonly #recover: Recover
  /** When the stream began, in monotonic time. */
  readonly #begun: number
  /** The end of what is complete, while there is no connection. */
  #outage: number | undefined
  /** The gap that the service is filling over the connection. */
  #backfill: Gaps.Span | undefined
  /** The time up to which it is filled. */
  #reached = 0
  /** When it is over for items without a time: the service sends backfill at least twice as fast as posts were made. */
  #backfillEnd = 0
  /** When the last item of this connection came, or else the connection was made, in monotonic time. */
  #lastItemAt = 0
  #mayBackfill = true
  /** The latest time at which the service can have sent what was read last. */
  #sentAt = 0
  /** When reading was last resumed, in monotonic time. */
  #readAt = 0
  /** The time of sending from which on unread data may exist; `undefined` if all is read. */
  #unreadFrom: number | undefined

  constructor(
    clock: StreamClock,
    definition: Definition & { readonly live: Live },
    recover: Recover,
    resumeFrom: Date | undefined
  ) {
    this.#clock = clock
    this.#definition = definition
    this.#recover = recover
    this.#begun = clock.monotonic()
    this.#outage = resumeFrom?.getTime()
  }

  /** Minutes of backfill that cover the current outage. */
  backfillMinutes(): number | undefined {
    return this.#outage === undefined || !this.#mayBackfill ||
        this.#definition.query?.["backfill_minutes"] === undefined
      ? undefined
      : Gaps.backfillMinutes(this.#clock.service() - this.#outage, this.#recover)
  }

  /** Notes that the app has no access to backfill. */
  withoutBackfill(): void {
    this.#mayBackfill = false
  }

  /** Notes a new connection, and returns the part of the outage that its backfill does not cover. */
  connected(headers: Headers, backfillMinutes: number | undefined): Gaps.Span | undefined {
    const served = servedAt(headers)
    if (served !== undefined) {
      const isFirst = !this.wasConnected && (this.#outage === undefined || served >= this.#outage)
      const moved = this.#clock.synchronize(served, isFirst)
      if (this.#outage !== undefined) this.#outage += moved
    }
    const at = this.#clock.service()
    this.connectedAt = at
    this.wasConnected = true
    this.#sentAt = at
    this.#unreadFrom = undefined
    this.#readAt = this.#lastItemAt = this.#clock.monotonic()
    const from = this.#outage
    this.#outage = undefined
    if (from === undefined) return undefined
    // The clocks of the service's machines differ a little.
    const to = at + 1_000
    if (backfillMinutes === undefined) return from < to ? { from, to } : undefined
    const sent = at - backfillMinutes * 60_000
    this.#backfill = { from: Math.max(from, sent), to }
    this.#reached = this.#backfill.from
    this.#backfillEnd = at + 2 * backfillMinutes * 60_000
    return from < sent ? { from, to: sent } : undefined
  }

  /** Notes the end of the connection. */
  lost(): void {
    if (this.connectedAt === undefined) return
    this.#outage = this.certain()
    this.#backfill = undefined
    this.connectedAt = undefined
  }

  /** Notes that reading pauses because a consumer is too slow. */
  paused(): void {
    this.#unreadFrom ??= this.#sentAt
  }

  /** Notes that reading resumes. */
  resumed(): void {
    this.#readAt = this.#clock.monotonic()
  }

  /** Notes what arrived: the last item, and whether the service was idle. Returns the backfill that it completes. */
  received(last: AnyItem | undefined, isIdle: boolean): Gaps.Span | undefined {
    const monotonic = this.#clock.monotonic()
    const now = this.#clock.service(monotonic)
    const time = last === undefined ? undefined : Gaps.timeOf(last)
    if (isIdle || monotonic - this.#readAt >= lullMillis) this.#unreadFrom = undefined
    this.#sentAt = isIdle
      ? now
      : this.#unreadFrom ?? Math.min(now, Math.max((time ?? now) + usualMillis, now - longestDelayMillis))
    if (last !== undefined) this.#lastItemAt = monotonic
    const backfill = this.#backfill
    if (backfill === undefined) return undefined
    if (last !== undefined) {
      this.#reached = Math.max(this.#reached, Gaps.reached([last], backfill, this.#definition.live))
    }
    // Older posts come first, by and large. An empty line soon after an item does not end the backfill.
    const isLull = isIdle && monotonic - this.#lastItemAt >= quietMillis
    const isNew = time === undefined ? now >= this.#backfillEnd : time >= backfill.to + strayMillis
    if (!isLull && !isNew) return undefined
    this.#backfill = undefined
    return backfill
  }

  /** For how many milliseconds the stream has been running. */
  get age(): number {
    return this.#clock.monotonic() - this.#begun
  }

  /** True if the connection works: data came, or it has lived for a minute. */
  isProven(hasData: boolean): boolean {
    return hasData || (this.connectedAt !== undefined && this.#clock.service() - this.connectedAt >= livesMillis)
  }

  /** True if backfill is arriving. */
  get isFilling(): boolean {
    return this.#backfill !== undefined
  }

  /** The time up to which everything has arrived. */
  certain(): number {
    if (this.#backfill !== undefined) return this.#reached
    if (this.connectedAt === undefined) return this.#outage ?? this.#clock.service()
    // Posts from before the stream began are not part of it.
    return Math.max(this.#sentAt - Gaps.lateMillis(this.#definition.live), this.#clock.service(this.#begun))
  }
}
