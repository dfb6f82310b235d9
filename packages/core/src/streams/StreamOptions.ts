/** What a stream takes besides its parameters. */
import type { StreamNotice } from "./StreamEvents.ts"

/**
 * How what was missed while there was no connection is fetched. `none`: not at all. `search`: by a recent search for each rule.
 * `recovery`: by what the service calls backfill (up to 5 minutes) and recovery (up to 24 hours), which need Enterprise access;
 * what is older, by a search.
 */
export type Recover = "none" | "search" | "recovery"

/** What becomes of items that a consumer does not take in time. */
export type SlowConsumer = "fail" | "dropOldest" | "spill"

/** Where an earlier run ended. */
export interface ResumeFrom {
  /** Everything from here on is fetched: the `until` of the last `Watermark`, or the time of the last item. */
  readonly at: Date
  /** Ids of items from then on that the earlier run has delivered: they are not delivered again. */
  readonly ids?: ReadonlyArray<string> | undefined
}

/** How many ids are remembered, so that no item is delivered twice. */
export interface DuplicatesWindow {
  /** How many; default 200,000, which take some 4 MB of memory: a quarter of an hour at 250 items a second. */
  readonly size?: number | undefined
  /** For how long, in milliseconds; default 3,600,000, an hour. Longer while something that was missed is being fetched. */
  readonly age?: number | undefined
}

/**
 * Settings of a stream besides its parameters. Streams of one client with the same operation, parameters, `recover`, `silence`,
 * `reconnects` and `duplicates` share one connection.
 */
export interface StreamOptions {
  /** How what was missed is fetched. Default: `search` of streams that have rules, `none` of others. */
  readonly recover?: Recover | undefined
  /**
   * What becomes of items that wait when the buffer is full. `fail` (the default): the stream ends with `StreamOverflow`; where
   * no other consumer shares the connection, nothing is read from it for up to 20 s before. `dropOldest`: the oldest are left
   * out, and told as `Dropped`. `spill`: they wait on the disk.
   */
  readonly slowConsumer?: SlowConsumer | undefined
  /** How many items may wait in memory, from 1; default 10,000. */
  readonly bufferSize?: number | undefined
  /** Delivers only what rules with one of these tags match. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Fetches first what came since an earlier run ended. */
  readonly resumeFrom?: ResumeFrom | undefined
  /** After how many milliseconds without a line the connection counts as lost; default 25,000: the service sends one every 20 s. */
  readonly silence?: number | undefined
  /** How often in a row it is tried to connect again, from 0; default without limit. */
  readonly reconnects?: number | undefined
  /** How many ids are remembered, so that no item is delivered twice. */
  readonly duplicates?: DuplicatesWindow | undefined
  /**
   * Receives each event except `Delivered`, when the loop has finished the items before it: a `Watermark` covers what the loop has
   * done. It runs only while the loop takes items. Its errors are ignored.
   */
  readonly onEvent?: ((event: StreamNotice) => void) | undefined
}
