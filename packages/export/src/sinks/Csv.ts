/**
 * CSV as RFC 4180 has it: a header, lines that end with CRLF, quotes where a value needs them. A value that is not there
 * is empty; an empty text is `""`.
 */
import { stringify } from "csv-stringify/sync"
import type { FileSink } from "../Sink.ts"
import { type Cell, cells, type Table } from "../Table.ts"
import * as Files from "./Files.ts"

/** How the file looks. */
export interface Options {
  readonly compression?: Files.Compression | undefined
  /** What ends a line. Default CRLF. */
  readonly newline?: "\r\n" | "\n" | undefined
  /**
   * Puts a `'` before texts that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`, tab or carriage return
   * first). For people who open the file there; programs read it without. Default false.
   */
  readonly guard?: boolean | undefined
}

/** Rows of fixed columns, into `path` and files of its folder. */
export const make = (path: string, options: Options = {}): FileSink => {
  const { compression = "none", guard = false, newline = "\r\n" } = options
  const name = `csv${newline === "\n" ? "+lf" : ""}${guard ? "+guard" : ""}`
  return Files.make(
    path,
    { name, extension: ".csv", encoder: (table) => encoder(table, newline, guard) },
    compression
  )
}

/** Writes rows of a table. */
export const encoder = (table: Table, newline: string, guard: boolean): Files.Encoder => {
  const lay = cells(table)
  const encode = (records: ReadonlyArray<ReadonlyArray<Cell>>): string =>
    stringify([...records], {
      record_delimiter: newline,
      // Line breaks of both kinds, whatever ends a line.
      quote_record_delimiter: true,
      // Tells an empty text from a value that is not there.
      quoted_match: /^$/,
      escape_formulas: guard,
      cast: { boolean: String }
    })
  return {
    header: encode([table.columns.map(({ name }) => name)]),
    rows: (rows) => encode(rows.map((row) => lay(row)))
  }
}
