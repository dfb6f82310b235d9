/**
 * Parquet: one file of typed columns for the items, one for each kind of included object. The footer comes last, so files are
 * written when all pages are there.
 */
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer"
import { createHash } from "node:crypto"
import { join } from "node:path"
import * as zlib from "node:zlib"
import * as disk from "../files/Disk.ts"
import type { FileSink, Output } from "../folders/Sink.ts"
import { type Cell, cells, type Column, type ColumnType, type Table } from "../rows/Table.ts"
import * as Files from "./Files.ts"
import * as Spool from "./Spool.ts"

/** Typed columns, compressed with Zstandard, into `path` and files of its folder. */
export const make = (path: string): FileSink =>
  Spool.make(path, "parquet", async (spools, folder) => {
    const outputs: Array<Output> = []
    for (const { holds, lines, rows, table } of spools) {
      const path = join(folder, Files.nameOf(holds, holds === "errors" ? "" : ".parquet"))
      if (table !== undefined) await layOut(lines(), path, table)
      outputs.push({ path, holds, rows })
    }
    return outputs
  })

/** The most rows in memory. */
const maxRowsInMemory = 10_000

/** Writes rows into a Parquet file. */
const layOut = async (chunks: AsyncIterable<ReadonlyArray<object>>, path: string, table: Table): Promise<void> => {
  await using writer = await create(path, table.columns)
  const lay = cells(table)
  for await (const rows of chunks) await writer.write(rows.map(lay))
  await writer.finish()
}

/** A value as `cells` lays it, or as a database has it. */
type Value = Cell | bigint | null

/** A Parquet file that is being written. */
export interface Writer extends AsyncDisposable {
  /** Adds rows, each with the values of the columns in their order. */
  readonly write: (rows: ReadonlyArray<ReadonlyArray<Value>>) => Promise<void>
  /** Writes the footer. The file is on the disk when this resolves. */
  readonly finish: () => Promise<disk.Digest>
}

/** Begins a Parquet file of typed columns, compressed with Zstandard. */
export const create = async (
  path: string,
  layout: ReadonlyArray<Pick<Column, "name" | "type">>
): Promise<Writer> => {
  const file = await disk.open(path, "w")
  const hash = createHash("sha256")
  let length = 0
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(layout, textTypes),
    codec: "ZSTD",
    compressors: { ZSTD: zlib.zstdCompressSync },
    createdBy: "postwire"
  })
  // Moves the bytes in memory to the file; offsets continue.
  const drain = async () => {
    const piece = new Uint8Array(bytes.buffer, 0, bytes.index)
    hash.update(piece)
    length += piece.length
    await file.writeFile(piece)
    bytes.index = 0
  }
  let columns = layout.map((column) => ({ ...column, values: Array<Value>() }))
  const flush = async () => {
    await writer.write({
      columnData: columns.map(({ name, type, values }) => ({ name, data: values.map(storedAs[type]) })),
      rowGroupSize: maxRowsInMemory
    })
    columns = columns.map((column) => ({ ...column, values: [] }))
    await drain()
  }
  return {
    write: async (rows) => {
      for (const row of rows) {
        for (const [i, { values }] of columns.entries()) values.push(row[i])
        if (columns[0]?.values.length === maxRowsInMemory) await flush()
      }
    },
    finish: async () => {
      if (columns[0]?.values.length !== 0) await flush()
      writer.schema = schemaOf(layout, parquetTypes)
      await writer.finish()
      await drain()
      await file.sync()
      return { sha256: hash.digest("hex"), bytes: length }
    },
    [Symbol.asyncDispose]: () => file.close()
  }
}

type Types = { readonly [T in ColumnType]: Pick<SchemaElement, "type" | "converted_type"> }

const schemaOf = (columns: ReadonlyArray<Pick<Column, "name" | "type">>, types: Types): Array<SchemaElement> => [
  { name: "root", num_children: columns.length },
  ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: "OPTIONAL", ...types[type] }))
]

const parquetTypes: Types = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "JSON" },
  integer: { type: "INT64" },
  real: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" }
}

/** The types of the cells. The writer takes values of JSON columns and encodes them itself; ours are texts already. */
const textTypes: Types = { ...parquetTypes, json: parquetTypes.text }

const asIs = (value: Value): unknown => value ?? undefined

const storedAs: { readonly [T in ColumnType]: (value: Value) => unknown } = {
  text: asIs,
  json: asIs,
  integer: (value) => value === undefined || value === null ? undefined : BigInt(value),
  real: asIs,
  // SQLite has numbers for booleans.
  boolean: (value) => value === undefined || value === null ? undefined : Boolean(value)
}
