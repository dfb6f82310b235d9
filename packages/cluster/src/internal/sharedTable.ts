/** A table that the first process creates. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LockTimeoutError, SqlError } from "effect/sql/SqlError"
import * as Steps from "./steps.ts"

/** The time limit for creating a table. */
const openTimeoutMillis = 10_000

/** Creates a table if it does not exist, and then prepares it. */
export const open = Effect.fnUntraced(
  function*(sql: SqlClient, table: string, columns: string, prepare: Effect.Effect<unknown, SqlError> = Effect.void) {
    const [found] = yield* sql<{ readonly made: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS made`
    // A user of an existing table need not be permitted to create it.
    if (found?.made !== true) yield* make(sql, table, columns)
    yield* prepare
  },
  (opening, sql, table) =>
    Effect.catchTag(Steps.within(sql, opening, openTimeoutMillis), "TimeoutError", () =>
      Effect.fail(
        new SqlError({
          reason: new LockTimeoutError({
            cause: undefined,
            message: `The table ${table} could not be created within ${
              openTimeoutMillis / 1000
            } s: another session keeps it locked`,
            operation: "open"
          })
        })
      ))
)

/** Creates a table under a lock of its name, since two processes that create it at the same time fail. */
const make = (sql: SqlClient, table: string, columns: string) =>
  Steps.transaction(
    sql,
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(hashtext(${table}))`,
      sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (${sql.literal(columns)})`
    )
  )
