/**
 * Parquet: one file of typed columns for the items, one for each kind of included object. Its footer can only be written
 * last, so pages are kept as compressed JSON Lines first (`out.items.spool` and so on, resumable like any other) and laid
 * out when all are there. A Parquet file is there as a whole or not at all.
 */
import * as Effect from "effect/Effect"
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer"
import * as fs from "node:fs/promises"
import { join, parse } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { type ExportError, FileExists } from "../ExportErrors.ts"
import * as disk from "../internal/disk.ts"
import { linesOf } from "../internal/lines.ts"
import type { Job, Output, Sink } from "../Sink.ts"
import { type Cell, cells, type ColumnType, type Table } from "../Table.ts"
import * as Files from "./Files.ts"

/** Typed columns, compressed with Zstandard, into `path` and files beside it. */
export const make = (path: string): Sink => {
  const names = Files.namesOf(path)
  const { dir, name } = parse(path)
  const spool = Files.make(join(dir, `${name}.spool`), spoolFormat, "gzip")
  /** The file that a spool becomes. */
  const target = (holds: string) => holds === "items" ? path : names.of(holds)
  return {
    format: "parquet",
    manifest: names.manifest,
    open: Effect.fnUntraced(function*(job: Job) {
      const targets = ["items", ...job.expected].map(target)
      // One that has laid out its files already goes on from its checkpoint.
      const isOurs = job.mode === "force" || (job.mode === "resume" && (yield* disk.exists(names.checkpoint)))
      for (const path of targets) {
        if (!isOurs && (yield* disk.exists(path))) return yield* new FileExists({ path })
      }
      const writer = yield* spool.open(job)
      if (job.mode === "force") yield* disk.remove(targets)
      let spools: ReadonlyArray<string> = []
      return {
        get progress() {
          return writer.progress
        },
        commit: writer.commit,
        abandon: writer.abandon,
        finish: Effect.gen(function*() {
          const outputs = yield* writer.finish
          const own = outputs.filter(({ holds }) => holds !== "errors")
          spools = own.map(({ path }) => path)
          return yield* Effect.forEach(outputs, (output): Effect.Effect<Output, ExportError> => {
            if (output.holds === "errors") return Effect.succeed(output)
            const table = output.holds === "items" ? job.items : job.included(output.holds)
            const path = target(output.holds)
            return Effect.as(disk.attempt(path, () => layOut(output.path, path, table)), { ...output, path })
          })
        }),
        discard: Effect.suspend(() => Effect.andThen(writer.discard, disk.remove(spools)))
      }
    })
  }
}

const spoolFormat: Files.Format = { name: "parquet", encoder: () => ({ header: "", rows: Files.lines }) }

/** Rows that are in memory together. */
const groupSize = 10_000

/** Reads the lines of a spool into a Parquet file. */
const layOut = async (spool: string, path: string, table: Table): Promise<void> => {
  const temporary = `${path}.tmp`
  const file = await fs.open(temporary, "w")
  try {
    const bytes = new ByteWriter()
    const writer = new ParquetWriter({
      writer: bytes,
      schema: schemaOf(table),
      codec: "ZSTD",
      compressors: { ZSTD: zstdCompressSync },
      createdBy: "postwire"
    })
    const lay = cells(table)
    let columns = table.columns.map((): Array<Cell> => [])
    const flush = async () => {
      await writer.write({
        columnData: table.columns.map(({ name, type }, i) => ({
          name,
          data: (columns[i] as Array<Cell>).map(storedAs[type])
        })),
        rowGroupSize: groupSize
      })
      columns = table.columns.map(() => [])
      await drain(bytes, file)
    }
    for await (const line of linesOf(spool, { gzip: true })) {
      for (const [i, cell] of lay(JSON.parse(line)).entries()) (columns[i] as Array<Cell>).push(cell)
      if (columns[0]?.length === groupSize) await flush()
    }
    if (columns[0]?.length !== 0) await flush()
    await writer.finish()
    await drain(bytes, file)
    await file.sync()
  } finally {
    await file.close()
  }
  await fs.rename(temporary, path)
  await disk.syncFolder(path)
}

/** Moves what was written in memory to the file; offsets go on. */
const drain = async (bytes: ByteWriter, file: fs.FileHandle): Promise<void> => {
  await file.writeFile(new Uint8Array(bytes.buffer, 0, bytes.index))
  bytes.index = 0
}

const schemaOf = ({ columns }: Table): Array<SchemaElement> => [
  { name: "root", num_children: columns.length },
  ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: "OPTIONAL", ...parquetTypes[type] }))
]

const parquetTypes: { readonly [T in ColumnType]: Pick<SchemaElement, "type" | "converted_type"> } = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "JSON" },
  integer: { type: "INT64" },
  real: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" }
}

const asIs = (cell: Cell): unknown => cell

const storedAs: { readonly [T in ColumnType]: (cell: Cell) => unknown } = {
  text: asIs,
  // The writer makes JSON of what it gets.
  json: (cell) => cell === undefined ? undefined : JSON.parse(String(cell)),
  integer: (cell) => cell === undefined ? undefined : BigInt(cell),
  real: asIs,
  boolean: asIs
}
