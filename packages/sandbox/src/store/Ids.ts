/** Generates and lists ids. */
import type { Database } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** Generates ids shared by tables, each larger than all that they ever held. */
export const ids = (database: Database, ...tables: ReadonlyArray<string>): (millis: number) => bigint => {
  const last = database.query<{ readonly id: string | null }>(
    `SELECT CAST(max(seq) AS TEXT) AS id FROM sqlite_sequence
     WHERE name IN (${tables.map((table) => `'${table}'`).join(", ")})`
  )
  return (millis) => Snowflake.after(BigInt(last.get()?.id ?? 0), millis)
}

/** A JSON array of ids, for `json_each`. */
export const idList = (ids: ReadonlyArray<string>): string => `[${ids.map(Snowflake.parse).join(",")}]`

/** Returns the found items in the order of `ids`, without duplicates. */
export const inOrder = <A>(
  ids: ReadonlyArray<string>,
  found: ReadonlyArray<A>,
  idOf: (item: A) => string
): ReadonlyArray<A> => {
  const byId = new Map(found.map((item) => [idOf(item), item]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}
