/** The periods of searches and counts. */
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import type { Call } from "./Handler.ts"

const second = 1_000
const day = 86_400 * second

export const archiveStart = Date.UTC(2006, 2, 26)

/** From `from` (inclusive) to `until` (exclusive), in milliseconds since the epoch. */
export interface TimeWindow {
  readonly from: number
  readonly until: number
}

type Bounds = Pick<
  Call<{ readonly start_time?: number; readonly end_time?: number; readonly since_id?: string }>,
  "now" | "parameters"
>

/** The requested part of the last seven days. */
export const recent = ({ now, parameters }: Bounds): Effect.Effect<TimeWindow, Problem.Problem> =>
  check(now, now - 7 * day, {
    // `since_id` takes precedence over `start_time`.
    from: parameters.since_id === undefined ? parameters.start_time ?? now - 7 * day : now - 7 * day,
    until: parameters.end_time ?? now - 30 * second
  })

/** The requested part of the archive; by default, the 30 days before its end. */
export const archive = ({ now, parameters }: Bounds): Effect.Effect<TimeWindow, Problem.Problem> => {
  const until = parameters.end_time ?? now - 30 * second
  return check(now, archiveStart, {
    from: parameters.since_id === undefined
      ? parameters.start_time ?? Math.max(archiveStart, until - 30 * day)
      : archiveStart,
    until
  })
}

const check = (now: number, earliest: number, window: TimeWindow): Effect.Effect<TimeWindow, Problem.Problem> => {
  const { from, until } = window
  if (from < earliest) {
    return Problem.invalidRequest(
      `Invalid 'start_time':'${iso(from)}'. 'start_time' must be on or after ${iso(earliest)}.`,
      { start_time: iso(from) }
    )
  }
  if (until > now - 10 * second) {
    return Problem.invalidRequest(
      `Invalid 'end_time':'${iso(until)}'. 'end_time' must be at least 10 seconds before the request time.`,
      { end_time: iso(until) }
    )
  }
  if (from >= until) {
    return Problem.invalidRequest("'start_time' must be before 'end_time'.", { start_time: iso(from) })
  }
  return Effect.succeed(window)
}

const iso = (millis: number): string => new Date(millis).toISOString()
