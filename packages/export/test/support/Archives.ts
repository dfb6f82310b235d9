/** What is in the files that a stream was written into. */
import { parse } from "csv-parse/sync"
import { parquetReadObjects } from "hyparquet"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { gunzipSync, zstdDecompressSync } from "node:zlib"

const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** The ids in a file, in its order. A line that is not whole is no JSON, and throws. */
export const idsIn = async (path: string): Promise<ReadonlyArray<string>> => {
  if (path.endsWith(".parquet")) {
    const { buffer } = new Uint8Array(readFileSync(path))
    const rows = await parquetReadObjects({ file: buffer, columns: ["id"], compressors })
    return rows.map((row) => String(row["id"]))
  }
  if (path.endsWith(".sqlite")) {
    using database = new DatabaseSync(path, { readOnly: true })
    return database.prepare("SELECT id FROM results ORDER BY position").all().map((row) => String(row["id"]))
  }
  const bytes = readFileSync(path)
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString()
  if (/\.csv(\.gz)?$/.test(path)) {
    const rows: ReadonlyArray<{ readonly id: string }> = parse(text, { columns: true })
    return rows.map(({ id }) => id)
  }
  return linesOf(text).map(({ id }) => String(id))
}

/** JSON Lines, every one of which is whole. */
export const linesOf = (text: string): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const lines = text.split("\n")
  if (lines.pop() !== "") throw new Error("the last line is not whole")
  return lines.map((line) => JSON.parse(line))
}

/** The files beside the folder of an archive, by name. */
export const filesIn = (root: string): ReadonlyArray<string> =>
  readdirSync(root, { withFileTypes: true }).flatMap((entry) => entry.isFile() ? [entry.name] : []).sort()

/** The ids in all of them. */
export const allIdsIn = async (root: string): Promise<ReadonlyArray<string>> =>
  (await Promise.all(filesIn(root).map((name) => idsIn(join(root, name))))).flat()
