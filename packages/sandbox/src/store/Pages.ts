/** Keyset pagination. */
import type { Database, Values } from "./Database.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"

/** A position in a listing and the direction to read in. The item at the position is not part of the next page. */
export interface Cursor {
  readonly direction: "older" | "newer"
  readonly key: string
}

/** One page of a listing, newest first. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** The cursor of older items; undefined on the last page. */
  readonly next: Cursor | undefined
  /** The cursor of newer items; undefined on the first page. */
  readonly previous: Cursor | undefined
}

/** Selects a page of a listing. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: Cursor | undefined
  /** Default: all fields are read. */
  readonly selection?: Records.Selection | undefined
}

/** The exclusive bounds of a listing's keys. */
export interface Range {
  readonly low: bigint
  readonly high: bigint
}

/** Every key. */
export const unbounded: Range = { low: -1n, high: Snowflake.maximum }

/** The rows of a listing. */
export interface PageSource {
  readonly from: string | ((order: "ASC" | "DESC") => string)
  readonly where: string
  readonly key: string
}

/**
 * Reads a listing by key, never by offset: an insertion or deletion between two pages neither repeats nor skips an item.
 * `key` is a unique integer expression, larger for newer items. A `from` function may limit its rows itself: it receives
 * the order, and may use `:low`, `:high` and `:limit`.
 */
export const pager = <A>(
  database: Database,
  shape: Records.Shape<A>,
  { from, key, where }: PageSource
) => {
  const statement = (order: "ASC" | "DESC") =>
    database.select(
      Records.keyed(shape, `CAST(${key} AS TEXT)`),
      `FROM ${typeof from === "string" ? from : from(order)}
       WHERE ${where} AND ${key} > :low AND ${key} < :high ORDER BY ${key} ${order} LIMIT :limit`
    )
  const descending = statement("DESC")
  const ascending = statement("ASC")
  return (values: Values, range: Range, { cursor, limit, selection }: PageRequest): Page<A> => {
    const key = cursor === undefined ? undefined : BigInt(cursor.key)
    const forward = cursor?.direction !== "newer"
    const low = key !== undefined && !forward && key > range.low ? key : range.low
    const high = key !== undefined && forward && key < range.high ? key : range.high
    const rows = (forward ? descending : ascending).all({ ...values, low, high, limit: limit + 1 }, selection)
    const more = rows.length > limit
    const found = rows.slice(0, limit)
    if (!forward) found.reverse()
    return {
      items: found.map(({ item }) => item),
      next: !forward || more ? cursorAt("older", found.at(-1)) : undefined,
      previous: (forward ? cursor !== undefined : more) ? cursorAt("newer", found[0]) : undefined
    }
  }
}

const cursorAt = (
  direction: Cursor["direction"],
  row: { readonly key: string } | undefined
): Cursor | undefined => row && { direction, key: row.key }
