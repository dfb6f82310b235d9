/** Responses of the service as tables that fit the terminal, without control characters. */
import type { Dictionary } from "@postwire/core/schema/Response"
import * as Predicate from "effect/Predicate"
import * as Text from "./Text.ts"

/** The lines of a response, none wider than `columns`. `token` is the parameter for the next page. */
export const render = (body: Dictionary<unknown, unknown>, columns: number, token?: string): ReadonlyArray<string> => {
  const { data, includes, meta } = body
  const lines: Array<string> = []
  if (Array.isArray(data)) lines.push(...tableOf(data.map((row: unknown) => recordOf(row)), columns))
  else if (data !== undefined && data !== null) lines.push(...listOf(recordOf(data), columns))
  const notes = [
    ...Array.isArray(data) ? [Text.quantity(data.length, "rows")] : [],
    ...data === undefined ? ["Nothing."] : [],
    ...Object.entries(includes ?? {}).flatMap(([bucket, items]) =>
      Array.isArray(items) && items.length > 0 ? [`${Text.count(items.length)} included ${Text.oneLine(bucket)}`] : []
    )
  ]
  if (notes.length > 0) lines.push(...Text.wrap(notes.join(", "), columns))
  const next = meta?.next_token
  // A token may start with a hyphen.
  if (token !== undefined && next !== undefined) {
    lines.push(...Text.wrap(`Next page: --${token}=${Text.oneLine(next)}`, columns))
  }
  return lines
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) ? { ...value } : { value }

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return Text.oneLine(value)
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === "string")
      ? Text.oneLine(value.join(", "))
      : Text.oneLine(JSON.stringify(value))
  }
  if (!Predicate.isObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, inner]) =>
      `${Text.oneLine(key)}=${typeof inner === "object" ? Text.oneLine(JSON.stringify(inner)) : cell(inner)}`
    )
    .join(" ")
}

const gap = "  "
/** A narrower column is useless. */
const narrowest = 8
/** Ids have 19 digits, times 24 characters. */
const longestWord = 24

/** An own property: a member may be called `constructor`, which every object inherits. */
const memberOf = (row: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(row, name) ? row[name] : undefined

const tableOf = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>, columns: number): ReadonlyArray<string> => {
  // The edit history of an unedited post is only its id.
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.some((row) => {
      const value = memberOf(row, name)
      return !(Array.isArray(value) && value.length === 1 && value[0] === row["id"])
    })
  )
  const all = names.map((name): Column => {
    const values = rows.map((row) => memberOf(row, name))
    const cells = values.map(cell)
    const natural = Math.max(Text.width(Text.oneLine(name)), ...cells.map(Text.width))
    return {
      name: Text.oneLine(name),
      cells,
      natural,
      least: natural <= longestWord && cells.every((text) => !text.includes(" "))
        ? natural
        : Math.min(natural, narrowest),
      isNumber: values.every((value) =>
        value === undefined || value === null || typeof value === "number" || typeof value === "bigint"
      )
    }
  })
  let kept = all
  while (kept.length > 1 && leastOf(kept) > columns) kept = kept.slice(0, -1)
  const widths = share(kept, columns - gap.length * (kept.length - 1))
  const line = (texts: ReadonlyArray<string>) =>
    texts.map((text, i) => Text.pad(Text.cut(text, widths[i]!), widths[i]!, kept[i]!.isNumber)).join(gap).trimEnd()
  const left = all.slice(kept.length).map(({ name }) => name)
  return all.length === 0 ? [] : [
    line(kept.map(({ name }) => name)),
    line(widths.map((width) => "─".repeat(width))),
    ...rows.map((_, row) => line(kept.map(({ cells }) => cells[row]!))),
    ...left.length === 0 ? [] : Text.wrap(`No room for ${left.join(", ")}; --json shows all.`, columns)
  ]
}

interface Column {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  /** The width that shows everything. */
  readonly natural: number
  /** The least useful width: ids and times are not cut. */
  readonly least: number
  readonly isNumber: boolean
}

const leastOf = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { least }) => sum + least, gap.length * (columns.length - 1))

/** Column widths: each gets its least width, and they share the rest. */
const share = (all: ReadonlyArray<Column>, columns: number): ReadonlyArray<number> => {
  const widths = all.map(({ least }) => Math.min(least, Math.max(1, columns)))
  let rest = columns - widths.reduce((sum, width) => sum + width, 0)
  const byNeed = all.map(({ natural }, i) => ({ i, more: natural - widths[i]! })).filter(({ more }) => more > 0)
    .sort((a, b) => a.more - b.more)
  for (const [done, { i, more }] of byNeed.entries()) {
    const given = Math.max(0, Math.min(more, Math.floor(rest / (byNeed.length - done))))
    widths[i]! += given
    rest -= given
  }
  return widths
}

/** One object, a field per line. Long texts are wrapped. */
const listOf = (record: Readonly<Record<string, unknown>>, columns: number): ReadonlyArray<string> => {
  const entries = Object.entries(record)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 1 && value[0] === record["id"]))
    .map(([name, value]) => [Text.oneLine(name), cell(value)] as const)
  const width = Math.min(24, Math.floor(columns / 3), Math.max(0, ...entries.map(([name]) => Text.width(name))))
  return entries.flatMap(([name, text]) =>
    Text.wrap(text, columns - width - gap.length).map((line, i) =>
      `${Text.pad(Text.cut(i === 0 ? name : "", width), width, false)}${gap}${line}`.trimEnd()
    )
  )
}
