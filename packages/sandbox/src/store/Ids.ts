/** Ids: new ones, lists of them, and what was found by them. */
import type { Database } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** Makes the ids that tables share: each larger than all that they ever held. */
export const ids = (database: Database, ...tables: ReadonlyArray<string>): (millis: number) => bigint => {
  const last = database.query<{ readonly id: string | null }>(
    `SELECT CAST(max(seq) AS TEXT) AS id FROM sqlite_sequence
     WHERE name IN (${tables.map((table) => `'${table}'`).join(", ")})`
  )
  return (millis) => Snowflake.after(BigInt(last.get()?.id ?? 0), millis)
}

/** Ids as the JSON list that statements expand with `json_each`. */
export const idList = (ids: ReadonlyArray<string>): string => `[${ids.map(Snowflake.parse).join(",")}]`

/** Puts what was found into the order in which it was asked for, once each. */
export const inOrder = <A>(
  ids: ReadonlyArray<string>,
  found: ReadonlyArray<A>,
  idOf: (item: A) => string
): ReadonlyArray<A> => {
  const byId = new Map(found.map((item) => [idOf(item), item]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}
