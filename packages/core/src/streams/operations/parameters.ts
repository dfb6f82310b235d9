/** The parameters and settings that streams share. */
import * as Parameters from "../../schema/Parameters.ts"

/** How many minutes back the stream begins. */
export const backfill = { backfill_minutes: /*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 5 }) }

/** Parameters of a stream that can send a past period again. */
export const recoverable = { ...backfill, start_time: Parameters.timestamp, end_time: Parameters.timestamp }

/** The part of a stream that is divided into this many. */
export const partition = (partitions: number) =>
  Parameters.required(Parameters.integer({ minimum: 1, maximum: partitions }))

/** The settings of every stream. */
export const stream = { bearer: "app", scopes: [], effect: "read" } as const
