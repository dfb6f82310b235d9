/** The streams of connectors, which are the tables of a copy: their keys, their JSON Schemas and their records. */
import type { Change } from "@postwire/archive/copy/Changes"
import { type CopyTable, type TableName, tables } from "@postwire/archive/copy/Tables"

/** The name of a stream. */
export type StreamName = TableName | "edges"

/** A stream. */
export interface Stream {
  readonly name: StreamName
  readonly keys: ReadonlyArray<string>
  readonly columns: ReadonlyArray<StreamColumn>
  readonly jsonSchema: object
}

type Column = CopyTable["columns"][number]

type StreamColumn = Pick<Column, "name" | "type">

/** The column that grows with every change: a cursor. */
export const cursor = "position"

const own: ReadonlyArray<StreamColumn> = [
  { name: "first_seen", type: "text" },
  { name: "gone", type: "text" },
  { name: "gone_at", type: "text" },
  { name: cursor, type: "integer" }
]

/** The times of the copy. */
const times: ReadonlyArray<string> = ["first_seen", "gone_at"]

const types: Readonly<Record<Column["type"], string>> = {
  text: "string",
  json: "string",
  integer: "integer",
  real: "number",
  boolean: "boolean"
}

const make = (name: StreamName, keys: ReadonlyArray<string>, columns: ReadonlyArray<StreamColumn>): Stream => ({
  name,
  keys,
  columns,
  jsonSchema: {
    type: "object",
    properties: Object.fromEntries(
      columns.map(({ name, type }) => [name, {
        type: name === cursor || keys.includes(name) ? types[type] : ["null", types[type]],
        ...times.includes(name) ? { format: "date-time" } : {}
      }])
    )
  }
})

/** A stream with some of its columns. */
export const only = ({ columns, keys, name }: Stream, isKept: (column: string) => boolean): Stream =>
  make(name, keys, columns.filter((column) => isKept(column.name)))

/** Every stream. */
export const streams: ReadonlyArray<Stream> = [
  ...Object.values(tables).map(({ columns, key, name }) => make(name, [key], [...columns, ...own])),
  make(
    "edges",
    ["kind", "from_id", "to_id"],
    [
      ...["kind", "from_id", "to_id"].map((name) => ({ name, type: "text" as const })),
      ...own.filter(({ name }) => name !== "gone")
    ]
  )
]

/** A record. */
export type StreamRecord = Readonly<Record<string, unknown>>

/** The record of a change. SQLite has numbers for booleans. */
export const recordOf = ({ columns }: Stream, { row }: Change, position: number): StreamRecord =>
  Object.fromEntries(columns.map(({ name, type }) => {
    const value = name === cursor ? position : row[name] ?? null
    return [name, type === "boolean" && value !== null ? Boolean(value) : value]
  }))
