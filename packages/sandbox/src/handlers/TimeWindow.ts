/** The time that searches and counts cover. */
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import type { Call } from "./Handler.ts"

const second = 1_000
const day = 86_400 * second

/** When the archive begins. */
export const archiveStart = Date.UTC(2006, 2, 26)

/** From `from` to just before `until`, in milliseconds since the epoch. */
export interface TimeWindow {
  readonly from: number
  readonly until: number
}

type Bounds = Pick<
  Call<{ readonly start_time?: number; readonly end_time?: number; readonly since_id?: string }>,
  "now" | "parameters"
>

/** The last seven days, or the part of them that is asked for. */
export const recent = ({ now, parameters }: Bounds): Effect.Effect<TimeWindow, Problem.Problem> =>
  check(now, now - 7 * day, {
    // Beside `since_id`, `start_time` does not count.
    from: parameters.since_id === undefined ? parameters.start_time ?? now - 7 * day : now - 7 * day,
    until: parameters.end_time ?? now - 30 * second
  })

/** The 30 days before the end, or the part of the archive that is asked for. */
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
