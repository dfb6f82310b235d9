/**
 * CSV as RFC 4180 has it: a header, lines that end with CRLF, quotes where a value needs them. A value that is not there
 * is empty; an empty text is `""`.
 */
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
  const guarded = table.columns.map(({ type }) => guard && (type === "text" || type === "json"))
  return {
    header: table.columns.map(({ name }) => field(name, false)).join(",") + newline,
    rows: (rows) => {
      let text = ""
      for (const row of rows) {
        const values = lay(row)
        for (let i = 0; i < values.length; i++) text += (i === 0 ? "" : ",") + field(values[i], guarded[i] === true)
        text += newline
      }
      return text
    }
  }
}

const needsQuotes = /[",\r\n]/
const beginsFormula = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/

const field = (value: Cell, guard: boolean): string => {
  if (value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const text = guard && beginsFormula.test(value) ? `'${value}` : value
  return text === "" || needsQuotes.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
}
