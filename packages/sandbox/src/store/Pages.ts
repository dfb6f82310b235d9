/** Pages of listings, by key. */
import type { Database, Values } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** A position in a listing, and the way to go on from there. The key itself is not part of what follows. */
export interface Cursor {
  readonly direction: "older" | "newer"
  readonly key: string
}

/** One page of a listing, newest first. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Leads to older items; absent on the last page. */
  readonly next: Cursor | undefined
  /** Leads back to newer items; absent on a first page. */
  readonly previous: Cursor | undefined
}

/** Which part of a listing to read. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: Cursor | undefined
}

/** The exclusive bounds of a listing's keys. */
export interface Range {
  readonly low: bigint
  readonly high: bigint
}

/** Every key. */
export const unbounded: Range = { low: -1n, high: Snowflake.maximum }

/**
 * Reads a listing by key, never by offset: what is inserted or deleted between two pages neither repeats an item nor
 * skips one. `key` is a unique integer expression, larger for newer items. `from` may limit itself: it knows the order,
 * `:low`, `:high` and `:limit`.
 */
export const pager = <Row, A>(
  database: Database,
  sql: {
    readonly select: string
    readonly from: string | ((order: "ASC" | "DESC") => string)
    readonly where: string
    readonly key: string
  },
  decode: (row: Row) => A
): (values: Values, range: Range, request: PageRequest) => Page<A> => {
  const statement = (order: "ASC" | "DESC") =>
    database.query<Row & { readonly page_key: string }>(
      `SELECT CAST(${sql.key} AS TEXT) AS page_key, ${sql.select} FROM ${
        typeof sql.from === "string" ? sql.from : sql.from(order)
      }
       WHERE ${sql.where} AND ${sql.key} > :low AND ${sql.key} < :high
       ORDER BY ${sql.key} ${order} LIMIT :limit`
    )
  const descending = statement("DESC")
  const ascending = statement("ASC")
  return (values, range, { cursor, limit }) => {
    const key = cursor === undefined ? undefined : BigInt(cursor.key)
    const forward = cursor?.direction !== "newer"
    const low = key !== undefined && !forward && key > range.low ? key : range.low
    const high = key !== undefined && forward && key < range.high ? key : range.high
    const rows = (forward ? descending : ascending).all({ ...values, low, high, limit: limit + 1 })
    const more = rows.length > limit
    const found = rows.slice(0, limit)
    if (!forward) found.reverse()
    return {
      items: found.map(decode),
      next: !forward || more ? cursorAt("older", found.at(-1)) : undefined,
      previous: (forward ? cursor !== undefined : more) ? cursorAt("newer", found[0]) : undefined
    }
  }
}

const cursorAt = (
  direction: Cursor["direction"],
  row: { readonly page_key: string } | undefined
): Cursor | undefined => row && { direction, key: row.page_key }
