/** A table that every process makes which finds none. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LockTimeoutError, SqlError } from "effect/sql/SqlError"
import * as Steps from "./steps.ts"

/** The table has to be there after so long. */
const openTimeoutMillis = 10_000

/** Makes a table when it is not there, and then does what is to be done first of all. */
export const open = Effect.fnUntraced(
  function*(sql: SqlClient, table: string, columns: string, prepare: Effect.Effect<unknown, SqlError> = Effect.void) {
    const [found] = yield* sql<{ readonly made: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS made`
    // Who may use one that is there need not be allowed to make it.
    if (found?.made !== true) yield* make(sql, table, columns)
    yield* prepare
  },
  (opening, sql, table) =>
    Effect.catchTag(Steps.within(sql, opening, openTimeoutMillis), "TimeoutError", () =>
      Effect.fail(
        new SqlError({
          reason: new LockTimeoutError({
            cause: undefined,
            message: `The table ${table} could not be made within ${
              openTimeoutMillis / 1000
            } s: somebody keeps it locked`,
            operation: "open"
          })
        })
      ))
)

/** Two that make it at the same time would disturb each other: the lock is that of the table's name. */
const make = (sql: SqlClient, table: string, columns: string) =>
  Steps.transaction(
    sql,
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(hashtext(${table}))`,
      sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (${sql.literal(columns)})`
    )
  )
