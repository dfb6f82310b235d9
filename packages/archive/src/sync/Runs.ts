/** The runs of a copy, each with what it read and spent. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Copy } from "../copy/Copy.ts"
import * as layout from "../copy/Layout.ts"

/** The totals of a run. */
export interface Totals {
  readonly requests: number
  /** The items of all pages, and the resources that were new or differed. */
  readonly items: number
  readonly added: number
  readonly changed: number
  /** The amount spent, in millionths of a dollar; `undefined` if the client does not count. */
  readonly spent: number | undefined
}

/** A run that has begun. */
export interface Run {
  readonly copy: Copy
  readonly id: number
}

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

/** Records the beginning of a run. */
export const begin = (copy: Copy): Effect.Effect<Run, SqlError> =>
  Effect.flatMap(now, (at) =>
    Effect.map(
      copy.sql.unsafe<{ readonly id: number }>(
        `INSERT INTO runs (id, started_at) SELECT coalesce(max(id), 0) + 1, CAST(${
          layout.parameters(copy.dialect, 1)
        } AS TEXT) FROM runs RETURNING id`,
        [at]
      ),
      ([row]) => ({ copy, id: Number(row?.id) })
    ))

const update = (
  { copy: { dialect, sql }, id }: Run,
  values: Readonly<Record<string, string | number | null>>
): Effect.Effect<void, SqlError> => {
  const names = Object.keys(values)
  const marks = layout.placeholders(dialect, names.length + 1)
  return Effect.asVoid(sql.unsafe(
    `UPDATE runs SET ${names.map((name, index) => `${name} = ${marks[index]}`).join(", ")} WHERE id = ${marks.at(-1)}`,
    [...Object.values(values), id]
  ))
}

const valuesOf = ({ added, changed, items, requests, spent }: Totals) => ({
  requests,
  items,
  added,
  changed,
  micros: spent ?? null
})

/** Records the totals so far. */
export const note = (run: Run, totals: Totals): Effect.Effect<void, SqlError> => update(run, valuesOf(totals))

/** Records the end of a run. */
export const end = (run: Run, totals: Totals, status: string, reason?: string): Effect.Effect<void, SqlError> =>
  Effect.flatMap(now, (ended_at) => update(run, { ended_at, status, reason: reason ?? null, ...valuesOf(totals) }))
