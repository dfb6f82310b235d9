/**
 * A mirror of a copy as Parquet files, for DuckDB, Polars, Spark and pandas: a folder for each table, with posts in a folder for each
 * day (`posts/day=2026-11-20`). A refresh writes again the days and the tables that have changed. Each file is replaced as a whole, and
 * `manifest.json` last: it lists the files, and the transaction of the copy up to which they are true. A folder with other files, or
 * with the mirror of another copy, is refused, and so are symbolic links in it.
 *
 * ```ts
 * const { files, rows } = yield* Mirror.refresh("own.parquet")
 * ```
 */
import * as Disk from "@postwire/export/files/Disk"
import { type ExportError, OutputRefused } from "@postwire/export/files/ExportErrors"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import type { Dirent } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join, posix } from "node:path"
import * as Copy from "../copy/Copy.ts"
import type { SyncRunning } from "../copy/CopyErrors.ts"
import * as layout from "../copy/Layout.ts"
import { type TableName, tables } from "../copy/Tables.ts"

/** The manifest of a mirror. */
export const Manifest = Schema.Struct({
  version: Schema.Literal(1),
  /** The copy, by the time at which it was made, and its columns. */
  copy: Schema.Int,
  columns: Schema.String,
  /** The transaction of the copy up to which the files are true, and the start of the last run before. */
  commit: Schema.Int,
  run: Schema.optional(Schema.String),
  files: Schema.Array(Schema.Struct({
    /** Relative to the folder, with `/`. */
    path: Schema.String,
    rows: Schema.Int,
    bytes: Schema.Int,
    sha256: Schema.String
  }))
})

export interface Manifest extends Schema.Schema.Type<typeof Manifest> {}

type File = Manifest["files"][number]

/** The changes of a refresh. */
export interface Summary {
  /** The files that were written, and their rows. */
  readonly files: number
  readonly rows: number
  /** The transaction up to which the mirror is true. */
  readonly commit: number
}

/** Brings the mirror in a folder up to date. Syncs into the copy are refused meanwhile. */
export const refresh = (
  folder: string
): Effect.Effect<Summary, ExportError | SqlError | SyncRunning, Copy.Current> => Effect.scoped(refreshing(folder))

const refreshing = Effect.fnUntraced(function*(
  folder: string
): Effect.fn.Return<Summary, ExportError | SqlError | SyncRunning, Copy.Current | Scope.Scope> {
  const copy = yield* Copy.Current
  yield* Copy.hold(copy)
  // A mirror that survives a power failure must not be ahead of its copy.
  yield* Copy.flush(copy)
  const own = { version: 1, copy: yield* Copy.createdAt(copy), columns: columnsDigest } as const
  const path = join(folder, "manifest.json")
  const known = yield* manifestOf(folder, path, own.copy)
  const empty: Manifest = { ...own, commit: 0, files: [] }
  // It marks the folder as a mirror before the first file is there.
  if (known === undefined) yield* replace(path, empty)
  const found = new Set(yield* filesIn(folder))
  const commit = yield* Copy.lastCommit(copy)
  // The copy may be a backup that was put back.
  const isPast = known !== undefined && known.commit <= commit &&
    (known.run === undefined || (yield* Copy.hasRun(copy, known.run)))
  const isContinued = known !== undefined && isPast && known.columns === own.columns &&
    known.files.every(({ path }) => found.has(path))
  const before = isContinued ? known : empty
  const files = new Map(before.files.map((file) => [file.path, file]))
  const written: Array<File> = []
  for (const name of names) {
    for (const part of yield* changedParts(copy, name, before.commit)) {
      for (const old of files.keys()) if (dirname(old) === part.path) files.delete(old)
      for (const file of yield* write(copy, folder, part)) {
        files.set(file.path, file)
        written.push(file)
      }
    }
  }
  if (commit !== known?.commit || !isContinued) {
    const run = yield* Copy.lastRun(copy)
    yield* replace(path, { ...own, commit, run, files: [...files.values()].sort((a, b) => a.path < b.path ? -1 : 1) })
  }
  for (const path of found) if (!files.has(path)) yield* Disk.remove(join(folder, path))
  return { files: written.length, rows: written.reduce((sum, { rows }) => sum + rows, 0), commit }
})

/** The manifest of a mirror of this copy, or `undefined` for a new mirror. */
const manifestOf = Effect.fnUntraced(function*(
  folder: string,
  path: string,
  copy: number
): Effect.fn.Return<Manifest | undefined, ExportError> {
  yield* Disk.attempt(folder, () => fs.mkdir(folder, { recursive: true }))
  const text = yield* Disk.read(path)
  if (text === undefined) {
    const isEmpty = (yield* Disk.attempt(folder, () => fs.readdir(folder))).every((name) =>
      name === "manifest.json.tmp"
    )
    if (!isEmpty) return yield* new OutputRefused({ path: folder, reason: "it has files that are not of a mirror" })
    // Like the copy, it may have direct messages.
    yield* Disk.attempt(folder, () => fs.chmod(folder, 0o700))
    return
  }
  const manifest = Option.getOrUndefined(decode(text))
  if (manifest === undefined) return yield* new OutputRefused({ path, reason: "it is not the manifest of a mirror" })
  if (manifest.copy === copy) return manifest
  return yield* new OutputRefused({ path: folder, reason: "it is the mirror of another copy" })
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

const replace = (path: string, manifest: Manifest): Effect.Effect<void, ExportError> =>
  Disk.replace(path, `${JSON.stringify(manifest, undefined, 2)}\n`)

type Name = TableName | "edges"

const names = [...Object.keys(tables) as Array<TableName>, "edges" as const]

const columnsOf = (name: Name): ReadonlyArray<layout.SqlColumn> =>
  name === "edges" ? layout.edgeColumns : layout.columnsOf(tables[name])

const columnsDigest = createHash("sha256").update(JSON.stringify(names.map((name) => [name, columnsOf(name)]))).digest(
  "hex"
)

/** The files of a mirror, also those that a killed refresh has left. */
const filesIn = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<ReadonlyArray<string>, ExportError> {
  const entries = (yield* entriesOf(folder, "")).filter(({ path }) => names.some((name) => name === path))
  const inTables = yield* Effect.forEach(entries, ({ path }) => entriesOf(folder, path))
  const days = inTables.flat().filter(({ entry, path }) => entry.isDirectory() && path.startsWith("posts/day="))
  const inDays = yield* Effect.forEach(days, ({ path }) => entriesOf(folder, path))
  return [...inTables, ...inDays].flat().flatMap(({ path }) => /\/part-\d+\.parquet(\.tmp)?$/.test(path) ? [path] : [])
})

/** The entries of a folder of a mirror. A link would lead what is written and removed out of the mirror. */
const entriesOf = Effect.fnUntraced(function*(
  root: string,
  folder: string
): Effect.fn.Return<ReadonlyArray<{ readonly path: string; readonly entry: Dirent }>, ExportError> {
  const place = join(root, folder)
  const entries = yield* Disk.attempt(place, () => fs.readdir(place, { withFileTypes: true }))
  const link = entries.find((entry) => entry.isSymbolicLink())
  if (link !== undefined) {
    return yield* new OutputRefused({ path: join(place, link.name), reason: "it is a symbolic link" })
  }
  return entries.map((entry) => ({ path: posix.join(folder, entry.name), entry }))
})

/** A part of a mirror: a table, or a day of posts. */
interface Part {
  readonly name: Name
  readonly path: string
  readonly condition: string
  readonly parameters: ReadonlyArray<string>
}

/** The parts of a table that have changed since a transaction. */
const changedParts = Effect.fnUntraced(function*(
  { dialect, sql }: Copy.Copy,
  name: Name,
  since: number
): Effect.fn.Return<ReadonlyArray<Part>, SqlError> {
  const changed = `FROM ${name} WHERE changed_in > ${layout.parameters(dialect, 1)}`
  if (name !== "posts") {
    const rows = yield* sql.unsafe(`SELECT 1 AS n ${changed} LIMIT 1`, [since])
    return rows.map(() => ({ name, path: name, condition: "true", parameters: [] }))
  }
  const days = yield* sql.unsafe<{ readonly day: string | null }>(
    // A post that was not shown may have got its time since.
    `SELECT DISTINCT ${layout.dayOf} AS day ${changed}
      UNION SELECT NULL WHERE EXISTS (SELECT 1 ${changed} AND added_in <= ${layout.parameters(dialect, 1)})`,
    [since]
  )
  return days.map(({ day }) =>
    day === null
      ? { name, path: "posts/day=__HIVE_DEFAULT_PARTITION__", condition: "created_at IS NULL", parameters: [] }
      : {
        name,
        path: `posts/day=${encodeURIComponent(day)}`,
        condition: `${layout.dayOf} = ${layout.parameters(dialect, 1)}`,
        parameters: [day]
      }
  )
})

/** The rows that are read at a time, and the most of a file. */
const pageSize = 10_000
const maxRowsOfFile = 1_000_000

/** Writes the files of a part. */
const write = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  folder: string,
  part: Part
): Effect.fn.Return<ReadonlyArray<File>, ExportError | SqlError> {
  const files: Array<File> = []
  let page = yield* pageOf(copy, part)
  while (page.rows.length > 0) {
    const path = `${part.path}/part-${files.length}.parquet`
    const place = join(folder, path)
    const temporary = `${place}.tmp`
    yield* Disk.attempt(place, () => fs.mkdir(dirname(place), { recursive: true }))
    let rows = 0
    const digest = yield* Effect.acquireUseRelease(
      Disk.attempt(place, () => Parquet.create(temporary, columnsOf(part.name))),
      Effect.fnUntraced(function*(writer): Effect.fn.Return<Disk.Digest, ExportError | SqlError> {
        while (page.rows.length > 0 && rows < maxRowsOfFile) {
          const { next, rows: some } = page
          yield* Disk.attempt(place, () => writer.write(some))
          rows += some.length
          page = yield* pageOf(copy, part, next)
        }
        return yield* Disk.attempt(place, writer.finish)
      }),
      (writer) => Effect.ignore(Disk.attempt(place, async () => await writer[Symbol.asyncDispose]()))
    )
    yield* Disk.attempt(place, () => Disk.place(temporary, place, true))
    files.push({ path, rows, ...digest })
  }
  return files
})

interface RowPage {
  readonly rows: ReadonlyArray<ReadonlyArray<string | number | bigint | boolean | null>>
  /** The key of the last row. */
  readonly next: ReadonlyArray<unknown>
}

/** The rows of a part after a key, in the order of keys. */
const pageOf = (
  { dialect, sql }: Copy.Copy,
  { condition, name, parameters }: Part,
  after: ReadonlyArray<unknown> = []
): Effect.Effect<RowPage, SqlError> => {
  const key = dialect === "sqlite" ? ["rowid"] : name === "edges" ? ["kind", "from_id", "to_id"] : [tables[name].key]
  const marks = layout.placeholders(dialect, parameters.length + after.length).slice(parameters.length)
  const columns = columnsOf(name).map(({ name }) => layout.quoted(name))
  return Effect.map(
    sql.unsafe(
      // The number of a row need not fit into a number.
      `SELECT ${
        [...columns, ...key.map((name) => `CAST(${name} AS TEXT)`)].join(", ")
      } FROM ${name} WHERE ${condition}${
        after.length === 0 ? "" : ` AND (${key.join(", ")}) > (${marks.join(", ")})`
      } ORDER BY ${key.join(", ")} LIMIT ${pageSize}`,
      [...parameters, ...after]
    ).values as Effect.Effect<RowPage["rows"], SqlError>,
    (rows) => ({ rows, next: rows.at(-1)?.slice(columns.length) ?? [] })
  )
}
