/** The status of a copy: its rows, its sources and its runs. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "./Copy.ts"
import * as layout from "./Layout.ts"
import { tables } from "./Tables.ts"

/** A run. */
export interface Run {
  readonly started_at: string
  readonly ended_at: string | null
  readonly status: string | null
  readonly reason: string | null
  readonly added: number | null
  /** In millionths of a dollar. */
  readonly micros: number | null
}

/** How many posts and users are gone, by reason. */
export interface GoneCounts {
  readonly posts: Readonly<Record<string, number>>
  readonly users: Readonly<Record<string, number>>
}

/** The state of a copy. */
export interface Status {
  /** The rows of each table that has any. */
  readonly rows: Readonly<Record<string, number>>
  /** The posts and users that are gone, by reason. */
  readonly gone: GoneCounts
  /** The progress of the subjects of sources, as JSON. */
  readonly progress: ReadonlyArray<Copy.Progress>
  /** The last ten runs, newest first. */
  readonly runs: ReadonlyArray<Run>
  /** All that was spent, in millionths of a dollar. */
  readonly micros: number
}

/** The counts of what is gone: in all, or of what the copy had at a transaction. */
export const goneIn = Effect.fnUntraced(function*(
  { sql }: Copy.Copy,
  since?: number
): Effect.fn.Return<GoneCounts, SqlError> {
  const counts = (name: keyof GoneCounts) =>
    Effect.map(
      sql.unsafe<{ readonly gone: string; readonly n: number }>(
        `SELECT gone, count(*) AS n FROM ${name} WHERE gone IS NOT NULL${
          since === undefined ? "" : ` AND changed_in > ${since} AND added_in <= ${since}`
        } GROUP BY gone ORDER BY gone`
      ),
      (rows) => Object.fromEntries(rows.map(({ gone, n }) => [gone, Number(n)]))
    )
  return { posts: yield* counts("posts"), users: yield* counts("users") }
})

/** Reads the state of a copy. */
export const read: Effect.Effect<Status, SqlError, Copy.Current> = Effect.gen(function*() {
  const copy = yield* Copy.Current
  const { sql } = copy
  const count = (query: string) =>
    Effect.map(sql.unsafe<{ readonly n: number | null }>(query), ([row]) => Number(row?.n ?? 0))
  const rows: Record<string, number> = {}
  for (const name of [...Object.keys(tables), "edges", "media_files", ...Object.keys(layout.noted)]) {
    const found = yield* count(`SELECT count(*) AS n FROM ${name}`)
    if (found > 0) rows[name] = found
  }
  return {
    rows,
    gone: yield* goneIn(copy),
    progress: yield* sql.unsafe<Copy.Progress & { readonly [column: string]: string }>(
      "SELECT source, subject, state FROM progress WHERE source NOT LIKE ' %' ORDER BY source, subject"
    ),
    runs: yield* sql.unsafe<Run & { readonly [column: string]: string | number | null }>(
      // PostgreSQL has integers that need not fit into a number.
      `SELECT started_at, ended_at, status, reason, CAST(added AS DOUBLE PRECISION) AS added,
        CAST(micros AS DOUBLE PRECISION) AS micros FROM runs ORDER BY id DESC LIMIT 10`
    ),
    micros: yield* count("SELECT sum(micros) AS n FROM runs")
  }
})
