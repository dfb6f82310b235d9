/**
 * Files that only grow: one for the items, one for each kind of included object, one for partial errors. Pages are appended to
 * them; a commit forces them to the disk and then replaces the checkpoint. To resume, files are truncated to the lengths in the
 * checkpoint, and their contents must match its digests.
 *
 * In the folder: `items.jsonl`, `users.jsonl` and so on, `outcomes.jsonl`, `errors.jsonl`, `checkpoint.json`, and `seen`, the ids
 * of included objects written so far.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Hash } from "node:crypto"
import { basename, join } from "node:path"
import * as disk from "../files/Disk.ts"
import { CheckpointUnusable, type ExportError } from "../files/ExportErrors.ts"
import { linesOf } from "../files/Lines.ts"
import * as Checkpoint from "../folders/Checkpoint.ts"
import type { FileSink, Job, Output, Writer } from "../folders/Sink.ts"
import type { Table } from "../rows/Table.ts"
import { type GrowingFile, open as openFile, type Packing } from "./GrowingFile.ts"

export type { Compression } from "./GrowingFile.ts"

/** A file format. */
export interface Format {
  readonly name: string
  /** The ending of file names. */
  readonly extension: string
  readonly encoder: (table: Table) => Encoder
}

/** Encodes the rows of a table. */
export interface Encoder {
  /** The start of the file. */
  readonly header: string
  /** The texts of rows, which are joined in their order. */
  readonly rows: (rows: ReadonlyArray<object>) => ReadonlyArray<string>
}

const endings: { readonly [P in Packing]: string } = { none: "", gzip: ".gz", zstd: ".zst", spool: ".zst" }

/** One JSON object per line. */
export const lines = (rows: ReadonlyArray<object>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  // A text of two parts would be copied once more when it is written.
  for (const row of rows) texts.push(JSON.stringify(row), "\n")
  return texts
}

/** A sink of files. `path` is that of the items. */
export const make = (path: string, format: Format, packing: Packing): FileSink => ({
  format: packing === "none" ? format.name : `${format.name}+${packing}`,
  path,
  growing: nameOf("items", `${format.extension}${endings[packing]}`),
  open: (job, folder) => open(job, folder, format, packing)
})

/** The file name of a table. Bucket names come from the service: none may lead out of the folder or to another file. */
export const nameOf = (holds: string, extension: string): string =>
  holds === "seen"
    ? holds
    : holds === "errors"
    ? "errors.jsonl"
    : `${/^[a-z][a-z_]*$/.test(holds) ? holds : `other ${encodeURIComponent(holds)}`}${extension}`

/** The table name of a bucket, distinct from our own. */
const holdsOf = (bucket: string): string => own.has(bucket) ? `${bucket} included` : bucket

const bucketOf = (holds: string): string => holds.replace(/ included$/, "")

/** The table with a name; an unknown name is a bucket. */
export const tableOf = (job: Job, holds: string, bucket: string): Table =>
  holds === "items"
    ? job.items
    : holds === "outcomes" && job.outcomes !== undefined
    ? job.outcomes
    : job.included(bucket)

const own = new Set(["items", "outcomes", "errors", "seen"])

interface Growing {
  readonly file: GrowingFile
  readonly encoder: Encoder
}

const plain: Encoder = { header: "", rows: lines }

/** Opens the files in a folder: continues from the checkpoint there, or starts. */
export const open = Effect.fnUntraced(function*(
  job: Job,
  folder: string,
  format: Format,
  packing: Packing
): Effect.fn.Return<Writer, ExportError, Scope.Scope> {
  const checkpoint = join(folder, "checkpoint.json")
  const saved = yield* begin(checkpoint, job)
  const growing = new Map<string, Growing>()
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { file } of growing.values()) await file.close().catch(() => undefined)
    })
  )

  /** Opens the file of a table, truncated to the checkpoint. */
  const grow = async (holds: string): Promise<Growing> => {
    const known = growing.get(holds)
    if (known !== undefined) return known
    const isPlain = holds === "errors" || holds === "seen"
    const target = join(folder, nameOf(holds, `${format.extension}${endings[packing]}`))
    const before = (Object.hasOwn(saved.files, holds) ? saved.files[holds] : undefined) ?? nothing
    const hash = before.bytes === 0 ? undefined : await verified(target, before)
    const file = await openFile(target, isPlain ? "none" : packing, hash, before.bytes)
    const encoder = isPlain ? plain : format.encoder(tableOf(job, holds, bucketOf(holds)))
    const entry: Growing = { file, encoder }
    growing.set(holds, entry)
    if (before.bytes === 0) {
      await file.append([encoder.header])
      await disk.syncFolder(target)
    }
    return entry
  }
  /** The hash of a file, read again to verify that it was not changed. */
  const verified = async (path: string, { bytes, sha256 }: disk.Digest): Promise<Hash> => {
    const changed = (how: string) => new CheckpointUnusable({ path: checkpoint, reason: `${basename(path)} ${how}` })
    const found = await disk.hashOf(path, bytes).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? changed("is gone") : error
    })
    if (found.bytes < bytes) throw changed("has become shorter")
    if (found.hash.copy().digest("hex") !== sha256) throw changed("was changed")
    return found.hash
  }

  const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, ExportError> =>
    Effect.tryPromise({
      try: work,
      catch: (cause) =>
        cause instanceof CheckpointUnusable
          ? cause
          : disk.failureOf(
            disk.pathOf(cause) ?? join(folder, nameOf("items", format.extension)),
            cause
          )
    })

  const expected = [
    "items",
    ...job.outcomes === undefined ? [] : ["outcomes"],
    ...job.expected,
    ...Object.keys(saved.files)
  ]
  yield* Effect.forEach([...new Set(expected)], (holds) => attempt(() => grow(holds)), { discard: true })
  const seen = yield* Effect.acquireRelease(
    attempt(async () => seenIn(join(folder, "seen"), saved.files["seen"]?.bytes ?? 0)),
    ({ close }) => Effect.sync(close)
  )

  const tables = new Map<string, Table>()
  const tableIn = (bucket: string): Table => {
    const table = tables.get(bucket) ?? job.included(bucket)
    tables.set(bucket, table)
    return table
  }

  let progress = saved.progress
  /** True while a page is in some of its files only: after a failure there, the last commit counts. */
  let isTorn = false
  const writer: Writer = {
    get progress() {
      return progress
    },
    write: (page, next) =>
      attempt(async () => {
        const rows = new Map<string, ReadonlyArray<object>>()
        const fresh: Array<string> = []
        const included = new Map(Object.entries(progress.included))
        for (const [bucket, objects] of Object.entries(page.includes)) {
          const table = tableIn(bucket)
          const added = objects.filter((object) => {
            const name = identityOf(bucket, table, object)
            return seen.add(name) && fresh.push(`${name}\n`) > 0
          })
          included.set(bucket, (included.get(bucket) ?? 0) + added.length)
          rows.set(holdsOf(bucket), added)
        }
        rows.set("items", page.items).set("outcomes", page.outcomes ?? []).set("errors", page.errors)
        const texts = new Map<GrowingFile, ReadonlyArray<string>>()
        for (const [holds, some] of rows) {
          if (some.length === 0) continue
          const { encoder, file } = await grow(holds)
          texts.set(file, encoder.rows(some))
        }
        if (fresh.length > 0) texts.set((await grow("seen")).file, fresh)
        isTorn = true
        for (const [file, some] of texts) await file.append(some)
        isTorn = false
        progress = { ...next, included: Object.fromEntries(included) }
        for (const file of texts.keys()) if (file.isFull) await file.write()
        return progress
      }),
    commit: Effect.gen(function*() {
      const files = Array.from(growing.values(), ({ file }) => file)
      yield* attempt(async () => {
        if (isTorn) throw new Error("a page was written in part")
        for (const file of files) await file.write()
        await Promise.all(files.map((file) => file.sync()))
      })
      yield* Checkpoint.write(checkpoint, {
        version: 2,
        fingerprint: job.fingerprint,
        progress,
        files: Object.fromEntries(Array.from(growing, ([holds, { file }]) => [holds, file.digest]))
      })
    }),
    size: () => growing.get("items")?.file.bytes ?? 0,
    finish: Effect.sync(() =>
      [...growing].flatMap(([holds, { file }]): ReadonlyArray<Output> =>
        holds === "seen" ? [] : [{
          path: file.path,
          holds,
          sha256: file.digest.sha256,
          rows: holds === "items"
            ? progress.items
            : holds === "errors"
            ? progress.errors
            : holds === "outcomes"
            ? Object.values(progress.outcomes ?? {}).reduce((sum, count) => sum + count, 0)
            : progress.included[bucketOf(holds)] ?? 0
        }]
      )
    )
  }
  return writer
})

const nothing: disk.Digest = { bytes: 0, sha256: "" }

/** The checkpoint in the folder, or a new one. */
const begin = Effect.fnUntraced(function*(path: string, job: Job) {
  const saved = yield* Checkpoint.read(path)
  if (saved !== undefined) {
    yield* Checkpoint.assertSame(path, saved.fingerprint, job.fingerprint)
    return saved
  }
  const fresh: Checkpoint.Checkpoint = {
    version: 2,
    fingerprint: job.fingerprint,
    progress: job.start,
    files: {}
  }
  yield* Checkpoint.write(path, fresh)
  return fresh
})

/** The identity of an included object: its bucket and its key column. */
const identityOf = (bucket: string, { key = "id" }: Table, object: object): string =>
  `${bucket} ${String(Predicate.hasProperty(object, key) ? object[key] : undefined)}`

interface Seen {
  /** Returns whether the name is new. */
  readonly add: (name: string) => boolean
  readonly close: () => void
}

/** The names that need no look-up: consecutive pages have many authors in common. */
const maxRecent = 10_000

/** The included objects written so far, in a temporary database that moves to the disk when it grows. */
const seenIn = async (path: string, bytes: number): Promise<Seen> => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  const database = new DatabaseSync("")
  database.exec(
    "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; CREATE TABLE seen (name TEXT PRIMARY KEY) WITHOUT ROWID"
  )
  const insert = database.prepare("INSERT OR IGNORE INTO seen VALUES (?)")
  database.exec("BEGIN")
  for await (const names of linesOf(path, bytes)) {
    for (const name of names) insert.run(name)
  }
  const recent = new Set<string>()
  return {
    add: (name) => {
      if (recent.has(name)) return false
      if (recent.size === maxRecent) recent.clear()
      recent.add(name)
      return insert.run(name).changes === 1
    },
    close: () => database.close()
  }
}
