/** The parameters that streams share. */
import * as Parameters from "../../schema/Parameters.ts"

/** How far back a stream begins. */
export const backfill = { backfill_minutes: /*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 5 }) }

/** What a stream takes that brings again what it brought. */
export const recoverable = { ...backfill, start_time: Parameters.timestamp, end_time: Parameters.timestamp }

/** Which part of a stream that comes in so many. */
export const partition = (partitions: number) =>
  Parameters.required(Parameters.integer({ minimum: 1, maximum: partitions }))
