/** Rows of readers, whose integers may be `bigint`. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Statement } from "effect/sql/Statement"

/** A row. */
export type Row = Readonly<Record<string, unknown>>

/** The rows of a statement, with numbers where numbers are exact. */
export const exact = <A extends object>(statement: Statement<A>): Effect.Effect<ReadonlyArray<A>, SqlError> =>
  Effect.map(statement, (rows) => {
    for (const row of rows as ReadonlyArray<Record<string, unknown>>) {
      for (const name in row) {
        const value = row[name]
        if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) row[name] = Number(value)
      }
    }
    return rows
  })
