/** SQL of users on a copy, which it cannot change. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { BeginTransaction } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import { exact, type Row } from "./Rows.ts"

/** The database refuses a query, or the query is no statement that reads. Nothing was changed. */
export class QueryRefused extends Schema.TaggedError<QueryRefused>()("QueryRefused", {
  /** The database's message. */
  reason: Schema.String,
  /** The tables and views of the copy. */
  tables: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The query is refused: ${this.reason}`
  }
  get advice(): string {
    return `Tables and views: ${this.tables.join(", ")}.`
  }
}

/** The statements that read. SQLite has others that write files although its database is read-only. */
const reading = /^(?:\s|\(|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:select|with|values|explain|pragma|table|show)\b/i

/**
 * The rows of one statement that reads. Integers that a number cannot hold, as those of the column `n`, are `bigint`. A copy in SQLite
 * has to be that of a reader (`Copy.layerSqliteReader`).
 */
export const run = (
  query: string
): Effect.Effect<ReadonlyArray<Row>, QueryRefused, Copy.Current> =>
  Effect.flatMap(Copy.Current, (copy) => {
    if (!reading.test(query)) return refuse(copy, "only statements that read are run, as SELECT and WITH")
    const rows = exact(copy.sql.unsafe<Row>(query))
    const read = copy.dialect === "sqlite"
      ? rows
      : Effect.provideService(copy.sql.withTransaction(rows), BeginTransaction, "BEGIN READ ONLY")
    return Effect.catch(read, (error) => refuse(copy, reasonOf(error)))
  })

const refuse = (copy: Copy.Copy, reason: string): Effect.Effect<never, QueryRefused> =>
  tablesOf(copy).pipe(
    Effect.catch(() => Effect.succeed([])),
    Effect.flatMap((tables) => Effect.fail(new QueryRefused({ reason, tables })))
  )

/** The innermost message is that of the database. */
const reasonOf = (error: SqlError): string => {
  let inner: unknown = error.reason
  let message = error.message
  while (inner instanceof Error) {
    if (inner.message !== "") message = inner.message
    inner = inner.cause
  }
  return message
}

const tablesOf = ({ dialect, sql }: Copy.Copy): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly name: string }>(
      dialect === "pg"
        ? "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
        // Those of the full-text index are its own.
        : `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite%' ORDER BY 1`
    ),
    (rows) => rows.map(({ name }) => name)
  )
