/**
 * CSV of RFC 4180: a header, CRLF line endings, quotes where needed. A missing value is empty; an empty text is `""`.
 */
import { stringify } from "csv-stringify/sync"
import type { FileSink } from "../folders/Sink.ts"
import { type Cell, cells, type Table } from "../rows/Table.ts"
import * as Files from "./Files.ts"

/** The CSV dialect. */
export interface Options {
  readonly compression?: Files.Compression | undefined
  /**
   * Puts a `'` before texts that a spreadsheet would run as a formula: those that start with `=`, `+`, `-` or `@`, also
   * after spaces and invisible characters, and those that start with a tab or a line break. Default false.
   */
  readonly guard?: boolean | undefined
}

/** CSV into `path` and files of its folder. */
export const make = (path: string, options: Options = {}): FileSink => {
  const { compression = "none", guard = false } = options
  const name = guard ? "csv+guard" : "csv"
  return Files.make(path, { name, extension: ".csv", encoder: (table) => encoder(table, guard) }, compression)
}

/** Encodes rows of a table. */
export const encoder = (table: Table, guard: boolean): Files.Encoder => {
  const lay = cells(table)
  const encode = (records: ReadonlyArray<ReadonlyArray<Cell>>): string =>
    stringify([...records], {
      record_delimiter: "\r\n",
      // Values with line breaks of either kind are quoted, whatever the line ending.
      quote_record_delimiter: true,
      // Distinguishes an empty text from a missing value.
      quoted_match: /^$/,
      cast: { boolean: String, string: (text) => guard ? guarded(text) : text }
    })
  return {
    header: encode([table.columns.map(({ name }) => name)]),
    rows: (rows) => [encode(rows.map((row) => lay(row)))]
  }
}

/** A text that a spreadsheet does not run as a formula. */
export const guarded = (text: string): string => formula.test(text) ? `'${text}` : text

/** Spreadsheets drop invisible characters before they look for the sign. */
const formula = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠])/u
