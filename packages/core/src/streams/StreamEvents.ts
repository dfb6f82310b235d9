/** What happens on a stream, in its order. */
import type { Problem } from "../schema/models/Problem.ts"

interface Happened {
  /** When, by the clock of this machine. */
  readonly at: Date
}

/** An item has come. */
export interface Delivered<out Item> extends Happened {
  readonly _tag: "Delivered"
  readonly item: Item
}

/** There is a connection. */
export interface Connected extends Happened {
  readonly _tag: "Connected"
  /** How many attempts it took, from 1. */
  readonly attempt: number
  /** How many minutes of what was missed the service sends first, where it was asked to. */
  readonly backfillMinutes?: number | undefined
}

/** The service has nothing to send, and says so. */
export interface KeepAlive extends Happened {
  readonly _tag: "KeepAlive"
}

/** The connection ended, or there was none; it is tried again after a pause. */
export interface Reconnecting extends Happened {
  readonly _tag: "Reconnecting"
  /** What happened, in a sentence. */
  readonly why: string
  /** The pause, in milliseconds. */
  readonly wait: number
  /** Which attempt comes next, from 1. */
  readonly attempt: number
}

/** There was no connection, or nothing was certain of it, between two times of the service's clock. */
export interface Gap extends Happened {
  readonly _tag: "Gap"
  readonly from: Date
  readonly to: Date
  /** How all of it was fetched; `undefined` where what came in that time is missing, or may be. */
  readonly filledBy: "backfill" | "recovery" | "search" | undefined
  /** Why it was not fetched, in a sentence. */
  readonly why?: string | undefined
}

/** An item came once more, and is left out. */
export interface Duplicate extends Happened {
  readonly _tag: "Duplicate"
  readonly id: string
}

/** How far the consumer is behind. At most once a second, while items come. */
export interface Lag extends Happened {
  readonly _tag: "Lag"
  /**
   * Between when the last item that was taken was made, by the service's clock, and now, in milliseconds. Of items that do not
   * say it, as posts without `created_at`, between when it came and now.
   */
  readonly millis: number
  /** How many items wait for the consumer. */
  readonly buffered: number
}

/** A line could not be read, and is left out. */
export interface Unreadable extends Happened {
  readonly _tag: "Unreadable"
  readonly reason: string
}

/** The service tells problems in place of an item. */
export interface Trouble extends Happened {
  readonly _tag: "Trouble"
  readonly problems: ReadonlyArray<Problem>
}

/** Items were left out, since the consumer did not take them in time. */
export interface Dropped extends Happened {
  readonly _tag: "Dropped"
  readonly count: number
}

/**
 * Everything of before `until` has been delivered before this event, or told as a `Gap` or as `Dropped`: from there a later run
 * can resume. At most once a second; the first one follows `Connected`.
 */
export interface Watermark extends Happened {
  readonly _tag: "Watermark"
  /** By the service's clock. */
  readonly until: Date
  /** The time of `at` by the service's clock. */
  readonly serviceAt: Date
}

/** What happens besides deliveries. */
export type StreamNotice =
  | Connected
  | KeepAlive
  | Reconnecting
  | Gap
  | Duplicate
  | Lag
  | Unreadable
  | Trouble
  | Dropped
  | Watermark

/** What happens. */
export type StreamEvent<Item> = Delivered<Item> | StreamNotice
