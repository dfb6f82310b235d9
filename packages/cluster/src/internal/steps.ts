/**
 * Steps on a database that end in time, even if the network drops all packets: a driver waits for the responses to `BEGIN`,
 * `COMMIT` and `ROLLBACK` even if the caller is interrupted, and to other statements for seconds after that.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** A `ROLLBACK` that takes longer closes its connection. */
const rollbackMillis = 2_000

/** Runs a step with a time limit. After that it ends in the background, with its connection if that is dead. */
export const within = <A, E, R>(
  sql: SqlClient,
  step: Effect.Effect<A, E, R>,
  millis: number
): Effect.Effect<A, E | Cause.TimeoutError, R> =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (joined) =>
    Option.isSome(joined)
      // A transaction of the caller cannot continue before the step has ended.
      ? Effect.timeout(step, millis)
      : Effect.acquireUseRelease(Effect.forkDetach(step, { startImmediately: true }), (fiber) =>
        Effect.timeout(Fiber.join(fiber), millis), (fiber) =>
        Effect.sync(() => fiber.interruptUnsafe())))

/**
 * A transaction whose every statement can be interrupted. Within one of the caller it is part of that. The effect must not begin a
 * transaction itself, nor ignore the error of a statement: after one, PostgreSQL responds to `COMMIT` without committing.
 */
export const transaction = <A, E>(sql: SqlClient, effect: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError> =>
  Effect.flatMap(
    Effect.serviceOption(sql.transactionService),
    (joined) =>
      Option.isSome(joined) ? sql.withTransaction(effect) : Effect.scoped(Effect.gen(function*() {
        const connection = yield* sql.reserve
        const control = (statement: string) => connection.execute(statement, [], undefined)
        yield* Effect.addFinalizer((exit) =>
          Exit.isSuccess(exit) ? Effect.void : Effect.ignore(Effect.timeout(control("ROLLBACK"), rollbackMillis))
        )
        yield* control("BEGIN")
        const result = yield* Effect.provideService(effect, sql.transactionService, [connection, 0])
        yield* control("COMMIT")
        return result
      }))
  )
