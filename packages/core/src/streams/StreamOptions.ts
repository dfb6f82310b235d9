/** The options of a stream besides its parameters. */
import type { StreamNotice } from "./StreamEvents.ts"

/**
 * How to fetch items that were missed while there was no connection. `none`: not at all. `search`: with a recent search for each
 * rule. `recovery`: with the service's backfill (up to 5 minutes) and recovery (up to 24 hours), which require Enterprise access,
 * and with a search for older items.
 */
export type Recover = "none" | "search" | "recovery"

/** How to treat items that a consumer does not take in time. */
export type SlowConsumer = "fail" | "dropOldest" | "spill"

/** The end of an earlier run. */
export interface ResumeFrom {
  /** Items from this time on are fetched: the `until` of the last `Watermark`, or the time of the last item. */
  readonly at: Date
  /** Ids of items, or `event_uuid`s, from then on that the earlier run delivered. They are not delivered again. */
  readonly ids?: ReadonlyArray<string> | undefined
}

/** How many ids are remembered so that no item is delivered twice. */
export interface DuplicatesWindow {
  /** The number of ids; default 200,000, which take some 4 MB of memory: a quarter of an hour at 250 items a second. */
  readonly size?: number | undefined
  /** For how long, in milliseconds; default 3,600,000, an hour. Longer while missed items are being fetched. */
  readonly age?: number | undefined
}

/**
 * Options of a stream besides its parameters. Streams of one client with the same operation, parameters, `recover`, `silence`,
 * `reconnects` and `duplicates` share one connection.
 */
export interface StreamOptions {
  /** How to fetch missed items. Default: `search` for streams that have rules, `none` for others. */
  readonly recover?: Recover | undefined
  /**
   * How to treat items when the buffer is full. `fail` (the default): the stream fails with `StreamOverflow`; if no other consumer
   * shares the connection, it first stops reading for up to 20 s. `dropOldest`: the oldest items are dropped and reported as
   * `Dropped`. `spill`: items wait on disk.
   */
  readonly slowConsumer?: SlowConsumer | undefined
  /** The number of items that may wait in memory, from 1; default 10,000. */
  readonly bufferSize?: number | undefined
  /** Delivers only items that match a rule with one of these tags. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Fetches items since the end of an earlier run first. */
  readonly resumeFrom?: ResumeFrom | undefined
  /** Milliseconds without a line after which the connection is lost; default 25,000, as the service sends a line every 20 s. */
  readonly silence?: number | undefined
  /**
   * The number of reconnects in a row, from 0; default unlimited. Attempts that are refused because the app has too many
   * connections are not counted: the stream waits up to 5 minutes for another connection to end, and then fails with
   * `TooManyConnections`.
   */
  readonly reconnects?: number | undefined
  /** How many ids are remembered so that no item is delivered twice. */
  readonly duplicates?: DuplicatesWindow | undefined
  /**
   * Called with each event except `Delivered`, once the loop has finished the items before it, so that a `Watermark` covers what
   * the loop has done. It is only called while the loop takes items. Its errors are ignored.
   */
  readonly onEvent?: ((event: StreamNotice) => void) | undefined
}
