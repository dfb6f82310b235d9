/** Answers of the service as tables for people: no wider than the terminal, and nothing in them steers it. */
import type { Dictionary } from "@postwire/core/Response"
import * as Predicate from "effect/Predicate"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"

/** The lines that show an answer, none wider than `columns`. `token` is the parameter that asks for the next page. */
export const render = (body: Dictionary<unknown, unknown>, columns: number, token?: string): ReadonlyArray<string> => {
  const { data, includes, meta } = body
  const lines: Array<string> = []
  if (Array.isArray(data)) lines.push(...tableOf(data.map((row: unknown) => recordOf(row)), columns))
  else if (data !== undefined && data !== null) lines.push(...listOf(recordOf(data), columns))
  const notes = [
    ...Array.isArray(data) ? [`${Progress.count(data.length)} ${data.length === 1 ? "row" : "rows"}`] : [],
    ...data === undefined ? ["Nothing."] : [],
    ...Object.entries(includes ?? {}).flatMap(([bucket, items]) =>
      Array.isArray(items) && items.length > 0 ? [`${Progress.count(items.length)} included ${oneLine(bucket)}`] : []
    )
  ]
  if (notes.length > 0) lines.push(...wrap(notes.join(", "), columns))
  const next = meta?.next_token
  // A token may begin with a hyphen.
  if (token !== undefined && next !== undefined) lines.push(...wrap(`Next page: --${token}=${oneLine(next)}`, columns))
  return lines
}

/** Text on one line, without what would steer a terminal. */
export const oneLine = (text: string): string => Report.plain(text.replace(/\s+/g, " ").trim())

const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u
const invisible = /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

const piecesOf = (text: string): ReadonlyArray<readonly [text: string, width: number]> =>
  /^[\x20-\x7e]*$/.test(text)
    ? Array.from(text, (letter) => [letter, 1])
    : Array.from(graphemes.segment(text), ({ segment }) => [
      segment,
      wide.test(segment) ? 2 : invisible.test(segment) ? 0 : 1
    ])

/** The columns that text takes on a terminal. */
export const widthOf = (text: string): number => piecesOf(text).reduce((sum, [, width]) => sum + width, 0)

/** Text of at most so many columns, with an ellipsis where something was cut. */
export const cut = (text: string, columns: number): string => {
  let kept = ""
  let end = ""
  let width = 0
  for (const [piece, more] of piecesOf(text)) {
    width += more
    // As long as the ellipsis fits behind it.
    if (width < columns) end = kept + piece
    if (width > columns) return columns < 1 ? "" : `${end}…`
    kept += piece
  }
  return kept
}

/** Text broken into lines of at most so many columns, between words where that is possible. */
export const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  let width = 0
  const end = () => {
    lines.push(line)
    line = ""
    width = 0
  }
  for (const word of text.split(" ")) {
    const pieces = piecesOf(word)
    const size = pieces.reduce((sum, [, width]) => sum + width, 0)
    if (width > 0 && width + 1 + size > columns) end()
    else if (width > 0) {
      line += " "
      width++
    }
    for (const [piece, more] of pieces) {
      if (width > 0 && width + more > columns) end()
      line += piece
      width += more
    }
  }
  end()
  return lines
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) ? { ...value } : { value }

/** A value in one cell. */
const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return oneLine(value)
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === "string") ? oneLine(value.join(", ")) : oneLine(JSON.stringify(value))
  }
  if (!Predicate.isObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, inner]) =>
      `${oneLine(key)}=${typeof inner === "object" ? oneLine(JSON.stringify(inner)) : cell(inner)}`
    )
    .join(" ")
}

const gap = "  "
/** Below this a cut column shows nothing of use. */
const narrowest = 8
/** Ids have 19 digits, times 24 characters. */
const longestWord = 24

const tableOf = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>, columns: number): ReadonlyArray<string> => {
  // That a post has one version, itself, is no news.
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.some((row) => {
      const value = row[name]
      return !(Array.isArray(value) && value.length === 1 && value[0] === row["id"])
    })
  )
  const all = names.map((name): Column => {
    const cells = rows.map((row) => cell(row[name]))
    const natural = Math.max(widthOf(oneLine(name)), ...cells.map(widthOf))
    return {
      name: oneLine(name),
      cells,
      natural,
      least: natural <= longestWord && cells.every((text) => !text.includes(" "))
        ? natural
        : Math.min(natural, narrowest),
      isNumber: rows.every((row) => row[name] === undefined || typeof row[name] === "number")
    }
  })
  let kept = all
  while (kept.length > 1 && leastOf(kept) > columns) kept = kept.slice(0, -1)
  const widths = share(kept, columns - gap.length * (kept.length - 1))
  const line = (texts: ReadonlyArray<string>) =>
    texts.map((text, i) => pad(cut(text, widths[i]!), widths[i]!, kept[i]!.isNumber)).join(gap).trimEnd()
  const left = all.slice(kept.length).map(({ name }) => name)
  return all.length === 0 ? [] : [
    line(kept.map(({ name }) => name)),
    line(widths.map((width) => "─".repeat(width))),
    ...rows.map((_, row) => line(kept.map(({ cells }) => cells[row]!))),
    ...left.length === 0 ? [] : wrap(`No room for ${left.join(", ")}; --json shows all.`, columns)
  ]
}

interface Column {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  /** The width that shows everything. */
  readonly natural: number
  /** The width below which it is of no use: ids and times are not cut. */
  readonly least: number
  readonly isNumber: boolean
}

/** The least width of a table. */
const leastOf = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { least }) => sum + least, gap.length * (columns.length - 1))

/** Widths of columns: each has the least that it needs, and they share the rest. */
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

const pad = (text: string, width: number, isNumber: boolean): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)))
  return isNumber ? space + text : text + space
}

/** One object, a field a line. Long texts go on below. */
const listOf = (record: Readonly<Record<string, unknown>>, columns: number): ReadonlyArray<string> => {
  const entries = Object.entries(record)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 1 && value[0] === record["id"]))
    .map(([name, value]) => [oneLine(name), cell(value)] as const)
  const width = Math.min(24, Math.floor(columns / 3), Math.max(0, ...entries.map(([name]) => widthOf(name))))
  return entries.flatMap(([name, text]) =>
    wrap(text, columns - width - gap.length).map((line, i) =>
      `${pad(cut(i === 0 ? name : "", width), width, false)}${gap}${line}`.trimEnd()
    )
  )
}
