/** The faults of streams, as rules and requests name them. */
import * as Schema from "effect/Schema"
import { Time } from "../http/Time.ts"

/** What goes wrong on the line of a stream, or in place of one. */
export const StreamFault = Schema.Struct({
  /**
   * `no-rules` and `too-many-connections` refuse to connect. `cut` breaks the connection, `cut-in-character` in the middle of a
   * line, inside a character of several bytes where it has one. `stall`: not a byte comes any more, nor a heartbeat. `slow`: a few
   * bytes at a time. `error`: the service says why it ends the connection. `duplicate`: the line comes twice; `out-of-order`: after
   * the next one; `garbage`: behind one that cannot be read.
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
  /** How many lines come before it. Default 0. */
  after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** How many more at most: the seed draws how many. */
  within: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** When it happens, from the beginning of the connection, whatever comes. */
  at: Schema.optional(Time),
  /** It happens again after every so many lines. */
  every: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** How long a stall takes; for ever when left out. */
  for: Schema.optional(Time),
  /** The pause between the pieces of a slow line. Default 100 ms. */
  pause: Schema.optional(Time),
  /** What an error names. Default `OperationalDisconnect`. */
  disconnectType: Schema.optional(Schema.String)
})

/** What goes wrong on the line of a stream, or in place of one. */
export type StreamFault = typeof StreamFault.Type
