/** The layout of a file of rows: its format, its columns, and the column with the value. */
import { parse } from "csv-parse/sync"
import * as Predicate from "effect/Predicate"
import type { Kind } from "./Kinds.ts"
import * as records from "./Records.ts"

/** One value per line, CSV with commas, semicolons or tabs, or one JSON value per line. */
export type Format = "lines" | "csv" | "jsonl"

/** A row. */
export interface Row {
  /** Its number, from 1. */
  readonly number: number
  /** Its first line, from 1. */
  readonly line: number
  /** The normalized value. */
  readonly value: string
  /** The value as written in the file. */
  readonly text: string
  /** All columns: texts in CSV, any JSON in JSON Lines, none where a line is a value. */
  readonly cells: Readonly<Record<string, unknown>>
  /** The place after it, from which `batches` can continue. */
  readonly next: string
}

/** The expected layout. */
export interface Asked {
  readonly kind: Kind
  /** The column with the value; in JSON Lines a member or a path such as `user.id`. Default: the first known to `kind`. */
  readonly column?: string | undefined
}

/** How to read the records of a file. */
export interface Layout {
  readonly format: Format
  readonly delimiter: string
  readonly hasHeader: boolean
  readonly columns: ReadonlyArray<string>
  readonly column: string | undefined
}

/** Detects the layout from the first record. */
export const layoutOf = async (
  chunks: AsyncIterable<Buffer>,
  name: string,
  { column, kind }: Asked
): Promise<Layout> => {
  const ending = /\.(csv|tsv|jsonl|ndjson|json)(?:\.(?:gz|zst))?$/i.exec(name)?.[1]?.toLowerCase()
  const named = ending === undefined ? undefined : ending === "csv" || ending === "tsv" ? "csv" : "jsonl"
  for await (const [first] of records.recordsOf(chunks, { quotes: false, from: records.beginning })) {
    const text = first?.text.replace(/^\ufeff/, "") ?? ""
    const format = named ?? (text.startsWith("{") ? "jsonl" : "lines")
    if (format === "lines") {
      if (column !== undefined) throw new Error(`lines have no column ${column}: it is neither CSV nor JSON Lines`)
      return { ...plain, format }
    }
    if (format === "jsonl") {
      const parsed = parseJson(text, first?.line ?? 1)
      if (Array.isArray(parsed)) {
        throw new records.Malformed(first?.line ?? 1, "an array is not read row by row: put a value on each line")
      }
      if (!isRecord(parsed)) return { ...plain, format }
      const columns = Object.keys(parsed)
      return { ...plain, format, columns, column: column ?? guessed(columns, kind) }
    }
    const delimiter = [",", ";", "\t"].reduce((best, one) =>
      text.split(one).length > text.split(best).length ? one : best
    )
    const cells = parseCsv([{ text, line: first?.line ?? 1, next: records.beginning }], delimiter)[0] ?? []
    const found = cells.find((cell) => column === undefined ? kind.columns.includes(normal(cell)) : cell === column)
    if (found === undefined && column === undefined && cells.length === 1) {
      // A single column may have any name, but a first line that is a value is no header.
      const hasHeader = kind.read(cells[0]?.trim() ?? "", undefined) === undefined
      return { format, delimiter, hasHeader, columns: cells, column: hasHeader ? cells[0] : undefined }
    }
    return {
      format,
      delimiter,
      hasHeader: true,
      columns: cells,
      column: found === undefined ? missing(cells, column, kind) : column ?? guessed(cells, kind)
    }
  }
  return { ...plain, format: named ?? "lines" }
}

const plain = { delimiter: ",", hasHeader: false, columns: [], column: undefined }

const normal = (column: string): string => column.trim().toLowerCase().replaceAll(/[\s-]+/g, "_")

const guessed = (columns: ReadonlyArray<string>, kind: Kind): string =>
  kind.columns.flatMap((name) => columns.filter((column) => normal(column) === name))[0] ??
    missing(columns, undefined, kind)

const missing = (columns: ReadonlyArray<string>, column: string | undefined, kind: Kind): never => {
  const shown = columns.slice(0, 8).map((name) => name.trim()).join(", ")
  const more = columns.length > 8 ? ` and ${columns.length - 8} more` : ""
  throw new records.Malformed(
    1,
    column === undefined
      ? `no known column has ${kind.what}; there are ${shown}${more}`
      : `there is no column ${column}; there are ${shown}${more}`,
    "Name the column with --column (or --each-column), then run the same command again."
  )
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A row whose value may be invalid. */
export class Read implements Omit<Row, "value"> {
  readonly line: number
  readonly text: string
  readonly value: string | undefined
  readonly cells: Row["cells"]
  readonly #next: records.Place

  constructor({ line, next }: records.Record, text: string, value: string | undefined, cells: Row["cells"]) {
    this.line = line
    this.text = text
    this.value = value
    this.cells = cells
    this.#next = next
  }

  get number(): number {
    return this.#next.row
  }

  get next(): string {
    return placeText(this.#next)
  }
}

/** The rows of a file. */
export async function* readsOf(
  chunks: AsyncIterable<Buffer>,
  layout: Layout,
  { read }: Kind,
  from?: string
): AsyncGenerator<ReadonlyArray<Read>> {
  const { column, columns, delimiter, format, hasHeader } = layout
  const name = column === undefined ? undefined : normal(column)
  const rowOf = (record: records.Record, cells: Row["cells"], value: unknown): Read => {
    const text = typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : ""
    return new Read(record, text, read(text, name), cells)
  }
  // The header is not counted as a row.
  const start = from === undefined ? { ...records.beginning, row: hasHeader ? -1 : 0 } : placeOf(from)
  let isFirst = from === undefined
  for await (const chunk of records.recordsOf(chunks, { quotes: format === "csv", from: start })) {
    const [first, ...rest] = chunk
    const found = isFirst && first !== undefined
      ? hasHeader ? rest : [{ ...first, text: first.text.replace(/^\ufeff/, "") }, ...rest]
      : chunk
    isFirst = false
    switch (format) {
      case "lines":
        yield found.map((record) => rowOf(record, noCells, record.text))
        break
      case "jsonl":
        yield found.map((record) => {
          const parsed = parseJson(record.text, record.line)
          return isRecord(parsed)
            ? rowOf(record, parsed, column === undefined ? undefined : memberOf(parsed, column))
            : rowOf(record, noCells, parsed)
        })
        break
      case "csv": {
        const lines = parseCsv(found, delimiter)
        const at = column === undefined ? 0 : columns.indexOf(column)
        yield found.map((record, i) => {
          const cells = lines[i] ?? []
          if (cells.length !== columns.length) {
            throw new records.Malformed(record.line, `it has ${cells.length} columns, the first has ${columns.length}`)
          }
          return rowOf(
            record,
            hasHeader ? Object.fromEntries(columns.map((name, c) => [name, cells[c]])) : noCells,
            cells[at]
          )
        })
        break
      }
    }
  }
}

const noCells = {}

/** Parses a line. An integer that is too large for a number stays text. */
const parseJson = (text: string, line: number): unknown => {
  try {
    return JSON.parse(text, exact)
  } catch {
    throw new records.Malformed(line, "it is not JSON")
  }
}

const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? "")
    ? context?.source
    : value

const memberOf = (row: Readonly<Record<string, unknown>>, path: string): unknown =>
  Object.hasOwn(row, path)
    ? row[path]
    : path.split(".").reduce<unknown>((value, name) => isRecord(value) ? value[name] : undefined, row)

const parseCsv = (found: ReadonlyArray<records.Record>, delimiter: string): ReadonlyArray<ReadonlyArray<string>> => {
  try {
    return parse(found.map(({ text }) => text).join("\n"), {
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true
    })
  } catch (error) {
    const at = Predicate.hasProperty(error, "records") && typeof error.records === "number" ? error.records : 0
    throw new records.Malformed(found[at]?.line ?? 1, "there is a quote inside a value")
  }
}

const placeText = ({ byte, line, row }: records.Place): string => `${byte}:${line}:${row}`

const placeOf = (text: string): records.Place => {
  const [byte = 0, line = 0, row = 0] = text.split(":").map(Number)
  return { byte, line, row }
}
