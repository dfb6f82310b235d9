/** Faults of streams. */
import * as Schema from "effect/Schema"
import { Time } from "../http/Time.ts"

export const StreamFault = Schema.Struct({
  /**
   * - `no-rules`, `too-many-connections`: refuses the connection.
   * - `cut`: breaks the connection.
   * - `cut-in-character`: breaks it in the middle of a line, inside a multi-byte character if there is one.
   * - `stall`: sends nothing any more, not even heartbeats.
   * - `slow`: sends a few bytes at a time.
   * - `error`: sends a disconnect notice and ends the connection.
   * - `duplicate`: sends the line twice.
   * - `out-of-order`: sends it after the next one.
   * - `garbage`: sends an invalid line first.
   */
  kind: Schema.Literals([
    "no-rules",
    "too-many-connections",
    "cut",
    "cut-in-character",
    "stall",
    "slow",
    "error",
    "duplicate",
    "out-of-order",
    "garbage"
  ]),
  /** The number of lines before it. Default 0. */
  after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The maximum number of additional lines; the actual number is drawn by seed. */
  within: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The time after the start of the connection, regardless of lines. */
  at: Schema.optional(Time),
  /** Repeats after this many lines. */
  every: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** The duration of a stall. Default: unlimited. */
  for: Schema.optional(Time),
  /** The pause between the pieces of a slow line. Default 100 ms. */
  pause: Schema.optional(Time),
  /** The type of a disconnect notice. Default `OperationalDisconnect`. */
  disconnectType: Schema.optional(Schema.String)
})

export type StreamFault = typeof StreamFault.Type
