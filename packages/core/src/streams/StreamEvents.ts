/** The events of a stream, in order. */
import type { Problem } from "../schema/models/Problem.ts"

interface Event {
  /** When it happened, by this machine's clock. */
  readonly at: Date
}

/** An item arrived. */
export interface Delivered<out Item> extends Event {
  readonly _tag: "Delivered"
  readonly item: Item
}

/** A connection was made. */
export interface Connected extends Event {
  readonly _tag: "Connected"
  /** The number of attempts it took, from 1. */
  readonly attempt: number
  /** The minutes of backfill that were requested: the service sends what was missed in this time first. */
  readonly backfillMinutes?: number | undefined
}

/** The service has no items at the moment, but the connection is alive. */
export interface KeepAlive extends Event {
  readonly _tag: "KeepAlive"
}

/** The connection ended or could not be made. The next attempt follows after a pause. */
export interface Reconnecting extends Event {
  readonly _tag: "Reconnecting"
  /** The cause, in a sentence. */
  readonly why: string
  /** The pause, in milliseconds. */
  readonly wait: number
  /** The number of the next attempt, from 1. */
  readonly attempt: number
}

/** The stream was interrupted, or may have been, between two times of the service's clock. */
export interface Gap extends Event {
  readonly _tag: "Gap"
  readonly from: Date
  readonly to: Date
  /** How all items of that time were fetched; `undefined` if items are missing, or may be. */
  readonly filledBy: "backfill" | "recovery" | "search" | undefined
  /** Why they were not fetched, in a sentence. */
  readonly why?: string | undefined
}

/** An item arrived again and was omitted. */
export interface Duplicate extends Event {
  readonly _tag: "Duplicate"
  readonly id: string
}

/** The delay of the consumer. At most once a second, while items arrive. */
export interface Lag extends Event {
  readonly _tag: "Lag"
  /**
   * The age of the last item that was taken, in milliseconds: since its creation by the service's clock, or since its arrival if it
   * has no time, as posts without `created_at`.
   */
  readonly millis: number
  /** The number of items in the consumer's buffer. */
  readonly buffered: number
}

/** A line could not be decoded and was omitted. */
export interface Unreadable extends Event {
  readonly _tag: "Unreadable"
  readonly reason: string
}

/** The service sent problems instead of an item. */
export interface Trouble extends Event {
  readonly _tag: "Trouble"
  readonly problems: ReadonlyArray<Problem>
}

/** Items were dropped because the consumer was too slow. */
export interface Dropped extends Event {
  readonly _tag: "Dropped"
  readonly count: number
}

/**
 * Everything from before `until` was delivered before this event, or reported as a `Gap` or as `Dropped`. A later run can resume
 * from there. At most once a second; the first one follows `Connected`.
 */
export interface Watermark extends Event {
  readonly _tag: "Watermark"
  /** By the service's clock. */
  readonly until: Date
  /** The time of `at` by the service's clock. */
  readonly serviceAt: Date
}

/** All events except deliveries. */
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

/** All events. */
export type StreamEvent<Item> = Delivered<Item> | StreamNotice
