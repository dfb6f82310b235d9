/** Retries of database steps: they wait for a database that restarts, or whose disk is full. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import * as DatabaseProblem from "./DatabaseProblem.ts"

/** A database that restarts is back soon. */
export const untilItAnswers = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])

/** Logs the reason for waiting. */
export const complain = (error: unknown): Effect.Effect<void> => {
  const problem = DatabaseProblem.of(error)
  return Effect.logWarning(
    problem === undefined
      ? `The database does not do its part: ${error instanceof Error ? error.message : String(error)}`
      : `${problem.reason}; it is tried again until it works. ${problem.advice}`
  )
}

/** Repeats a step until it succeeds. */
export const answered = <A, R>(use: Effect.Effect<A, SqlError, R>): Effect.Effect<A, never, R> =>
  use.pipe(Effect.tapError(complain), Effect.retry(untilItAnswers), Effect.orDie)
