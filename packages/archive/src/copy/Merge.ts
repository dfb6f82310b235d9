/** Merges objects into the rows of a copy: values that are not delivered stay, and values that change are kept in `history`. */
import * as Table from "@postwire/export/rows/Table"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as layout from "./Layout.ts"
import type { CopyTable } from "./Tables.ts"
import type { Writing } from "./Transaction.ts"

type Cells = Array<Table.Cell>

/** Puts objects into a table. */
export const put = Effect.fnUntraced(function*(
  writing: Writing,
  table: CopyTable,
  objects: ReadonlyArray<object>
): Effect.fn.Return<{ readonly added: number; readonly changed: number }, SqlError> {
  const incoming = cellsOf(table, objects)
  const { dialect, sql } = writing
  const columns = layout.columnsOf(table)
  const names = columns.map(({ name }) => `t.${layout.quoted(name)}`)
  const found = yield* sql.unsafe<layout.Row>(
    `SELECT ${names.join(", ")} FROM ${
      layout.elements(dialect, 1)
    } JOIN ${table.name} t ON t.${table.key} = v.value->>0`,
    [JSON.stringify([...incoming.keys()].map((key) => [key]))]
  )
  const known = new Map(found.map(layout.typed(columns)).map((row) => [String(row[table.key]), row]))
  const rows: Array<ReadonlyArray<unknown>> = []
  const snapshots: Array<ReadonlyArray<unknown>> = []
  const history: Array<ReadonlyArray<unknown>> = []
  let added = 0
  // The full-text index of SQLite writes a segment for each row whose number is smaller than the one before.
  const ascending = [...incoming].sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  for (const [key, cells] of ascending) {
    const before = known.get(key)
    if (before === undefined) added++
    const merged = mergedOf(table, cells, before, writing)
    if (merged === undefined) continue
    rows.push(merged.row)
    if (merged.metrics !== undefined) snapshots.push([key, writing.at, ...merged.metrics])
    if (merged.was !== undefined) history.push([table.name, key, writing.at, JSON.stringify(merged.was)])
  }
  yield* insert(writing, table.name, columns, rows, table.key)
  if (table.metrics.length > 0) {
    const figures = [text("id"), text("at"), ...table.metrics]
    yield* insert(writing, layout.metricsOf(table), figures, snapshots, "id, at")
  }
  yield* insert(writing, "history", [text("of_table"), text("id"), text("until"), text("was")], history)
  return { added, changed: rows.length - added }
})

const text = (name: string): layout.SqlColumn => ({ name, type: "text" })

const layouts = new WeakMap<CopyTable, (row: object) => Cells>()

/** The cells of objects by their key. Of an object that comes twice, both parts count. */
const cellsOf = (table: CopyTable, objects: ReadonlyArray<object>): ReadonlyMap<string, Cells> => {
  const lay = layouts.get(table) ?? Table.cells(table)
  layouts.set(table, lay)
  const at = table.columns.findIndex(({ name }) => name === table.key)
  const rows = new Map<string, Cells>()
  for (const object of objects) {
    const cells = lay(object).map((cell) => typeof cell === "string" ? layout.storable(cell) : cell)
    const key = String(cells[at])
    const former = rows.get(key)
    rows.set(key, former === undefined ? cells : cells.map((cell, index) => cell ?? former[index]))
  }
  return rows
}

/** A changed or new row. */
interface Merged {
  readonly row: ReadonlyArray<unknown>
  /** The metrics, if they are new. */
  readonly metrics: ReadonlyArray<unknown> | undefined
  /** The values that were replaced. */
  readonly was: Record<string, unknown> | undefined
}

/** The row with new values; `undefined` if nothing is new. */
const mergedOf = (
  table: CopyTable,
  cells: Cells,
  before: layout.Row | undefined,
  writing: Writing
): Merged | undefined => {
  const { at, commit, isArchived, isPreview } = writing
  if (isArchived && before !== undefined && (before["gone"] !== null || before["is_preview"] !== true)) return undefined
  // A preview does not replace a text that is known to be whole.
  const keepsText = isPreview && before !== undefined && before["is_preview"] !== true
  const was: Record<string, unknown> = {}
  let isChanged = before === undefined || before["gone"] !== null
  let hasMetrics = before === undefined
  const values = table.columns.map((column, index) => {
    const old = before?.[column.name] ?? undefined
    const cell = cells[index]
    if (cell === undefined || (keepsText && isOfText(column))) return old
    if (old === cell) return cell
    isChanged = true
    if (isMetric(column)) hasMetrics = true
    else if (old !== undefined && column.name !== "other") was[column.name] = old
    return cell
  })
  if (!isChanged) return undefined
  return {
    row: [
      ...values,
      ...table.name === "posts" ? [isPreview && (before === undefined || before["is_preview"] === true)] : [],
      before?.["first_seen"] ?? at,
      null,
      null,
      before?.["added_in"] ?? commit,
      commit
    ],
    metrics: hasMetrics && table.metrics.length > 0
      ? values.filter((_, index) => isMetric(table.columns[index]))
      : undefined,
    was: Object.keys(was).length > 0 ? was : undefined
  }
}

const isMetric = (column: Table.Column | undefined): boolean => column?.path[0] === "public_metrics"

const isOfText = ({ path: [first] }: Table.Column): boolean => first === "text" || first === "entities"

/** Inserts rows, or replaces those with the same key. */
const insert = (
  { dialect, sql }: Writing,
  table: string,
  columns: ReadonlyArray<layout.SqlColumn>,
  rows: ReadonlyArray<ReadonlyArray<unknown>>,
  key?: string
): Effect.Effect<unknown, SqlError> => {
  if (rows.length === 0) return Effect.void
  const isNumbered = dialect === "sqlite" && (table === "posts" || table === "messages")
  const id = columns.findIndex(({ name }) => name === "id")
  const names = [...isNumbered ? ["n"] : [], ...columns.map(({ name }) => layout.quoted(name))]
  const values = [
    ...isNumbered ? [`CAST(v.value->>${id} AS INTEGER)`] : [],
    ...columns.map((column, index) => layout.elementOf(dialect, column, index))
  ]
  const replaced = columns.map(({ name }) => `${layout.quoted(name)} = excluded.${layout.quoted(name)}`).join(", ")
  return sql.unsafe(
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${
      layout.elements(dialect, 1)
    } WHERE true${key === undefined ? "" : ` ON CONFLICT (${key}) DO UPDATE SET ${replaced}`}`,
    [JSON.stringify(rows)]
  )
}
