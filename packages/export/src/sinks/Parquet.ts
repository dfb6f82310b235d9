/**
 * Parquet: one file of typed columns for the items, one for each kind of included object. The footer comes last, so files are
 * written when all pages are there.
 */
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer"
import type * as fs from "node:fs/promises"
import { join } from "node:path"
import * as zlib from "node:zlib"
import * as disk from "../files/Disk.ts"
import type { FileSink, Output } from "../folders/Sink.ts"
import { type Cell, cells, type ColumnType, type Table } from "../rows/Table.ts"
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
  await using file = await disk.open(path, "w")
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(table, textTypes),
    codec: "ZSTD",
    compressors: { ZSTD: zlib.zstdCompressSync },
    createdBy: "postwire"
  })
  const lay = cells(table)
  let columns = table.columns.map((column) => ({ ...column, cells: Array<Cell>() }))
  const flush = async () => {
    await writer.write({
      columnData: columns.map(({ cells, name, type }) => ({ name, data: cells.map(storedAs[type]) })),
      rowGroupSize: maxRowsInMemory
    })
    columns = columns.map((column) => ({ ...column, cells: [] }))
    await drain(bytes, file)
  }
  for await (const rows of chunks) {
    for (const row of rows) {
      const laid = lay(row)
      for (const [i, { cells }] of columns.entries()) cells.push(laid[i])
      if (columns[0]?.cells.length === maxRowsInMemory) await flush()
    }
  }
  if (columns[0]?.cells.length !== 0) await flush()
  writer.schema = schemaOf(table, parquetTypes)
  await writer.finish()
  await drain(bytes, file)
  await file.sync()
}

/** Moves the bytes in memory to the file; offsets continue. */
const drain = async (bytes: ByteWriter, file: fs.FileHandle): Promise<void> => {
  await file.writeFile(new Uint8Array(bytes.buffer, 0, bytes.index))
  bytes.index = 0
}

type Types = { readonly [T in ColumnType]: Pick<SchemaElement, "type" | "converted_type"> }

const schemaOf = ({ columns }: Table, types: Types): Array<SchemaElement> => [
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

const asIs = (cell: Cell): unknown => cell

const storedAs: { readonly [T in ColumnType]: (cell: Cell) => unknown } = {
  text: asIs,
  json: asIs,
  integer: (cell) => cell === undefined ? undefined : BigInt(cell),
  real: asIs,
  boolean: asIs
}
