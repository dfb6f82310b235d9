/**
 * The changes of a copy since a transaction, for programs that follow it: mirrors, connectors, search engines.
 *
 * ```ts
 * const { after } = yield* Stream.runFold(Changes.since(0), () => ({ after: 0 }), (_, { commit }) => ({ after: commit }))
 * ```
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Copy from "./Copy.ts"
import * as layout from "./Layout.ts"
import { type TableName, tables } from "./Tables.ts"

/** The current state of a resource or a relation. */
export interface Change {
  /** The transaction that changed it: the next call continues after the largest. */
  readonly commit: number
  readonly table: TableName | "edges"
  /** `added` since the given transaction, `changed`, or `gone`: deleted, hidden, or no longer in a list. */
  readonly change: "added" | "changed" | "gone"
  /** The row, with the columns of the table. */
  readonly row: Readonly<Record<string, unknown>>
}

/** The transactions that one query covers. */
const span = 200

/**
 * The changes since a transaction, in the order of transactions; 0 is before all. A row that changed several times comes once, as it
 * is now. The stream ends at the last transaction of the moment at which it began.
 */
export const since = (after: number): Stream.Stream<Change, SqlError, Copy.Current> =>
  Stream.unwrap(Effect.gen(function*() {
    const copy = yield* Copy.Current
    const last = yield* Copy.lastCommit(copy)
    const read = Effect.fnUntraced(function*(from: number) {
      const to = Math.min(from + span, last)
      const found: Array<Change> = []
      for (const table of names) {
        for (const row of yield* rowsOf(copy, table, from, to)) found.push(changeOf(table, row, after))
      }
      return found.sort((a, b) => a.commit - b.commit)
    })
    return Stream.range(0, Math.ceil((last - after) / span) - 1).pipe(
      Stream.mapEffect((index) => read(after + index * span)),
      Stream.flattenIterable
    )
  }))

const names = [...Object.keys(tables) as Array<TableName>, "edges" as const]

const rowsOf = ({ dialect, sql }: Copy.Copy, table: Change["table"], from: number, to: number) => {
  const columns = table === "edges" ? layout.edgeColumns : layout.columnsOf(tables[table])
  const [a, b] = layout.placeholders(dialect, 2)
  return Effect.map(
    sql.unsafe<layout.Row>(
      `SELECT ${columns.map(({ name }) => layout.quoted(name)).join(", ")} FROM ${table}
        WHERE changed_in > ${a} AND changed_in <= ${b} ORDER BY changed_in`,
      [from, to]
    ),
    (rows) => rows.map(layout.typed(columns))
  )
}

const changeOf = (table: Change["table"], row: layout.Row, after: number): Change => ({
  commit: Number(row["changed_in"]),
  table,
  change: row["gone_at"] !== null ? "gone" : Number(row["added_in"]) > after ? "added" : "changed",
  row
})
