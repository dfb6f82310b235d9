/**
 * Sinks of files that only ever grow: one for the items, one for each kind of included object, one for partial errors.
 * A page is appended to each and forced to the disk, then the checkpoint is replaced; to go on, whatever is beyond the
 * lengths in the checkpoint is cut off.
 *
 * For `out.jsonl`: `out.users.jsonl` and so on, `out.errors.jsonl`, `out.manifest.json`; while it runs, also
 * `out.checkpoint.json`, `out.seen` (the ids of included objects written so far) and `out.lock`.
 */
import * as Effect from "effect/Effect"
import * as fs from "node:fs/promises"
import { join, parse } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import * as Checkpoint from "../Checkpoint.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "../ExportErrors.ts"
import * as disk from "../internal/disk.ts"
import { linesOf } from "../internal/lines.ts"
import type { Job, Output, Sink, Writer } from "../Sink.ts"
import type { Table } from "../Table.ts"

/** What a kind of file looks like. */
export interface Format {
  readonly name: string
  readonly encoder: (table: Table) => Encoder
}

/** Writes the rows of one table. */
export interface Encoder {
  /** What the file begins with. */
  readonly header: string
  readonly rows: (rows: ReadonlyArray<object>) => string
}

/**
 * How files are compressed. Every page is a gzip member or zstd frame of its own: both formats say that a file may be a
 * sequence of them, and resuming cuts between two.
 */
export type Compression = "none" | "gzip" | "zstd"

/** One JSON object a line. */
export const lines = (rows: ReadonlyArray<object>): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("")

/** Files of a format. `path` is that of the items. */
export const make = (path: string, format: Format, compression: Compression): Sink => {
  const names = namesOf(path)
  return {
    format: compression === "none" ? format.name : `${format.name}+${compression}`,
    manifest: names.manifest,
    open: (job) => open(path, names, format, compression, job)
  }
}

/** The names beside the file of the items. */
export interface Names {
  readonly manifest: string
  readonly checkpoint: string
  readonly seen: string
  readonly lock: string
  readonly errors: string
  /** The file of a table of included objects. */
  readonly of: (table: string) => string
}

/** The names that belong to a path: `out.users.jsonl.gz` to `out.jsonl.gz`. */
export const namesOf = (path: string): Names => {
  const { base, dir } = parse(path)
  const dot = base.indexOf(".", 1)
  const [stem, extension] = dot === -1 ? [base, ""] : [base.slice(0, dot), base.slice(dot)]
  const beside = (ending: string) => join(dir, `${stem}.${ending}`)
  return {
    manifest: beside("manifest.json"),
    checkpoint: beside("checkpoint.json"),
    seen: beside("seen"),
    lock: beside("lock"),
    errors: beside("errors.jsonl"),
    of: (table) => beside(`${table}${extension}`)
  }
}

interface Growing {
  readonly path: string
  readonly file: fs.FileHandle
  readonly encoder: Encoder
  readonly compress: (text: string) => Promise<Uint8Array>
  bytes: number
}

const compressors: { readonly [C in Compression]: (text: string) => Promise<Uint8Array> } = {
  none: (text) => Promise.resolve(Buffer.from(text)),
  gzip: promisify(zlib.gzip) as (text: string) => Promise<Uint8Array>,
  zstd: (text) => promisify(zlib.zstdCompress)(text)
}

const plain: Encoder = { header: "", rows: lines }

const open = Effect.fnUntraced(function*(
  path: string,
  names: Names,
  format: Format,
  compression: Compression,
  job: Job
) {
  yield* disk.lock(names.lock)
  const saved = yield* begin(path, names, job)
  const growing = new Map<string, Growing>()
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { file } of growing.values()) await file.close().catch(() => undefined)
    })
  )

  /** The file for a table; what is in it beyond the checkpoint is cut off. */
  const grow = (holds: string): Promise<Growing> => {
    const known = growing.get(holds)
    return known === undefined ? take(holds) : Promise.resolve(known)
  }
  const take = async (holds: string): Promise<Growing> => {
    const own = holds !== "errors" && holds !== "seen"
    const target = holds === "items" ? path : holds === "errors" || holds === "seen" ? names[holds] : names.of(holds)
    const bytes = saved.files[holds] ?? 0
    const file = await fs.open(target, bytes === 0 ? "w" : "r+")
    const encoder = own ? format.encoder(holds === "items" ? job.items : job.included(holds)) : plain
    const entry: Growing = { path: target, file, encoder, bytes, compress: compressors[own ? compression : "none"] }
    growing.set(holds, entry)
    if (bytes === 0) {
      // A compressed file of nothing is not empty.
      await append(entry, encoder.header)
      await disk.syncFolder(target)
    } else {
      if ((await file.stat()).size < bytes) {
        throw new CheckpointUnusable({ path: names.checkpoint, reason: `${target} has become shorter` })
      }
      await file.truncate(bytes)
    }
    return entry
  }
  const append = async (entry: Growing, text: string): Promise<void> => {
    const bytes = await entry.compress(text)
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await entry.file.write(bytes, written, bytes.length - written, entry.bytes + written)
      written += bytesWritten
    }
    entry.bytes += bytes.length
  }

  const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, ExportError> =>
    Effect.tryPromise({
      try: work,
      catch: (cause) =>
        cause instanceof CheckpointUnusable
          ? cause
          : disk.failureOf((cause as NodeJS.ErrnoException).path ?? path, cause)
    })

  const expected = ["items", ...job.expected, ...Object.keys(saved.files)]
  yield* Effect.forEach([...new Set(expected)], (holds) => attempt(() => grow(holds)), { discard: true })
  const seen = yield* Effect.acquireRelease(
    attempt(() => seenIn(names.seen, saved.files["seen"] ?? 0)),
    ({ close }) => Effect.sync(close)
  )

  let progress = saved.progress
  const writer: Writer = {
    get progress() {
      return progress
    },
    commit: (page, next) =>
      Effect.gen(function*() {
        const texts = new Map<string, (entry: Growing) => string>()
        const write = (holds: string, rows: ReadonlyArray<object>) => {
          if (rows.length > 0) texts.set(holds, ({ encoder }) => encoder.rows(rows))
        }
        const fresh: Array<string> = []
        const included = { ...progress.included }
        for (const [bucket, objects] of Object.entries(page.includes)) {
          const added = objects.filter((object) => {
            const name = nameOf(bucket, job.included(bucket), object)
            return seen.add(name) && fresh.push(name) > 0
          })
          included[bucket] = (included[bucket] ?? 0) + added.length
          write(bucket, added)
        }
        write("items", page.items)
        write("errors", page.errors)
        if (fresh.length > 0) texts.set("seen", () => fresh.map((name) => `${name}\n`).join(""))
        yield* attempt(async () => {
          for (const [holds, text] of texts) {
            const entry = await grow(holds)
            await append(entry, text(entry))
          }
          await Promise.all(Array.from(texts.keys(), (holds) => growing.get(holds)?.file.datasync()))
        })
        progress = { ...next, included }
        yield* Checkpoint.write(names.checkpoint, {
          version: 1,
          fingerprint: job.fingerprint,
          progress,
          files: Object.fromEntries([...growing].map(([holds, { bytes }]) => [holds, bytes]))
        })
        return progress
      }),
    finish: Effect.sync(() =>
      [...growing].flatMap(([holds, entry]): ReadonlyArray<Output> =>
        holds === "seen" ? [] : [{
          path: entry.path,
          holds,
          rows: holds === "items"
            ? progress.items
            : holds === "errors"
            ? progress.errors
            : progress.included[holds] ?? 0
        }]
      )
    ),
    discard: disk.remove([names.checkpoint, names.seen]),
    abandon: Effect.suspend(() => disk.remove([...Array.from(growing.values(), ({ path }) => path), names.checkpoint]))
  }
  return writer
})

/** Looks at what is there: the checkpoint to go on from, which is new where there is nothing. */
const begin = Effect.fnUntraced(function*(path: string, names: Names, job: Job) {
  if (job.mode === "resume") {
    const saved = yield* Checkpoint.read(names.checkpoint)
    if (saved !== undefined) {
      yield* Checkpoint.assertSame(names.checkpoint, saved.fingerprint, job.fingerprint)
      return saved
    }
  }
  const files = [path, ...job.expected.map(names.of), names.errors, names.manifest, names.checkpoint]
  for (const file of files) {
    if (job.mode !== "force" && (yield* disk.exists(file))) return yield* new FileExists({ path: file })
  }
  yield* disk.remove([...files, names.seen])
  const fresh: Checkpoint.Checkpoint = {
    version: 1,
    fingerprint: job.fingerprint,
    progress: job.start,
    files: {}
  }
  // Before any other file, so that whatever a crash leaves behind is known to be ours.
  yield* Checkpoint.write(names.checkpoint, fresh)
  return fresh
})

/** Identifies an included object; its own id is in the column that is the key. */
const nameOf = (bucket: string, { key = "id" }: Table, object: object): string =>
  `${bucket} ${String((object as Readonly<Record<string, unknown>>)[key])}`

interface Seen {
  /** Whether the name was not there before. */
  readonly add: (name: string) => boolean
  readonly close: () => void
}

/** The included objects written so far: in a temporary database, which goes to the disk where memory would grow. */
const seenIn = async (path: string, bytes: number): Promise<Seen> => {
  const database = new DatabaseSync("")
  database.exec(
    "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; CREATE TABLE seen (name TEXT PRIMARY KEY) WITHOUT ROWID"
  )
  const insert = database.prepare("INSERT OR IGNORE INTO seen VALUES (?)")
  database.exec("BEGIN")
  for await (const name of linesOf(path, { bytes })) insert.run(name)
  return { add: (name) => insert.run(name).changes === 1, close: () => database.close() }
}
