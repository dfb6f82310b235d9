/**
 * Checks a stored file for compliance: its ids are sent to the service as compliance jobs, and the results are applied to a new
 * file beside it. Rows of deleted content are removed, withdrawn places are redacted, and a report lists which and why. An
 * interrupted check can be resumed with the same jobs.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type * as Compliance from "@postwire/core/workflows/Compliance"
import { parse } from "csv-parse/sync"
import { stringify } from "csv-stringify/sync"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as fs from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as zlib from "node:zlib"
import * as disk from "./files/Disk.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "./files/ExportErrors.ts"
import * as sealed from "./files/Sealed.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import * as folders from "./folders/Folder.ts"
import type { Mode } from "./folders/Sink.ts"
import * as records from "./rows/Records.ts"
import * as Rows from "./rows/Rows.ts"
import type { Table } from "./rows/Table.ts"
import * as Csv from "./sinks/Csv.ts"
import * as CheckJob from "./sources/CheckJob.ts"

/** How to check a file. */
export interface Options {
  readonly type: Compliance.Type
  /** The new file. Names that end in `.gz` and `.zst` are compressed. */
  readonly out: string
  /** How to treat existing files. Default `new`: refuse. */
  readonly mode?: Mode | undefined
  /** The most ids in a job. Default 1,000,000. */
  readonly idsPerJob?: number | undefined
  /** The longest wait for a job, in milliseconds. Default: 12 hours. */
  readonly maxWait?: number | undefined
  readonly onProgress?: ((progress: Compliance.Progress) => Effect.Effect<unknown>) | undefined
}

/** The result of a check. */
export interface Summary {
  /** Rows of the file and of the new one. */
  readonly rows: number
  readonly kept: number
  /** Kept rows whose places were removed. */
  readonly redacted: number
  /** Removed rows, by reason. */
  readonly removed: Readonly<Record<string, number>>
  readonly out: string
  /** The file that lists the removed and redacted rows, with reasons. */
  readonly report: string
  /** The compliance jobs. */
  readonly jobs: ReadonlyArray<string>
}

/** The errors of a check. */
export type ComplyError = AnyError | Compliance.CheckError | Rows.RowsUnusable | ExportError

/** The counts and digests of the new file and the report, once they are whole. */
const Applied = Schema.Struct({
  kept: Checkpoint.Count,
  redacted: Checkpoint.Count,
  removed: Schema.Record(Schema.String, Checkpoint.Count),
  sha256: Schema.Struct({ rows: Schema.String, report: Schema.String })
})

const State = Schema.Struct({
  fingerprint: Checkpoint.Fingerprint,
  /** In the order of the ids. */
  jobs: Schema.Array(CheckJob.Noted),
  /** True if existing files may be replaced. */
  mayReplace: Schema.optionalKey(Schema.Boolean),
  /** Absent until only moving the files is left. */
  applied: Schema.optionalKey(Applied)
})

const states = sealed.file(State)

/** The state of a check, in the folder `<out>.postwire`. It stays, so that the check can be recognized as complete. */
const stateIn = (folder: string): string => join(folder, "comply.json")

const reportOf = (out: string): string => `${out}.removed.csv`

const about =
  `It is named after the file that a check for compliance writes. comply.json has its jobs and, once it is complete, its result. Until
then, rows and removed.csv are its unfinished files.

Keep nothing else here. Without this folder an unfinished check starts over.
`

const defaultIdsPerJob = 1_000_000

/** Checks a file, and writes it without the removed content. */
export const run = Effect.fnUntraced(function*(
  rows: Rows.Rows,
  options: Options
): Effect.fn.Return<Summary, ComplyError, Client | Scope.Scope> {
  const { idsPerJob = defaultIdsPerJob, mode = "new", out, type } = options
  const fingerprint = {
    type,
    file: rows.sha256,
    idsPerJob: String(idsPerJob),
    ...(rows.column === undefined ? {} : { column: rows.column })
  }
  const folder = yield* folders.hold(out, { about, before: refuseFiles(out, mode) })
  const kept = yield* begin(out, folder, mode, fingerprint)
  let { applied, jobs } = kept
  if (applied === undefined) {
    const results = yield* openResults()
    jobs = yield* runJobs(rows, { ...options, idsPerJob }, folder, kept, results.add)
    applied = yield* apply(rows, out, folder, results.reasonOf)
    yield* states.write(stateIn(folder), { ...kept, jobs, applied })
  }
  yield* move(out, folder, applied, kept.mayReplace)
  const { sha256: _, ...counts } = applied
  return { ...counts, rows: rows.count, out, report: reportOf(out), jobs: jobs.flatMap(({ id }) => id ?? []) }
})

/** Refuses to replace files unless the mode allows it. */
const refuseFiles = Effect.fnUntraced(function*(out: string, mode: Mode): Effect.fn.Return<void, ExportError> {
  if (mode === "force") return
  if (yield* disk.exists(out)) return yield* new FileExists({ path: out })
  if (yield* disk.exists(reportOf(out))) return yield* new FileExists({ path: reportOf(out) })
})

/** The state of an earlier run, or a new one. */
const begin = Effect.fnUntraced(function*(
  out: string,
  folder: string,
  mode: Mode,
  fingerprint: Checkpoint.Fingerprint
): Effect.fn.Return<typeof State.Type, ExportError> {
  const path = stateIn(folder)
  const state = mode === "resume" ? yield* states.read(path) : undefined
  if (state !== undefined) yield* Checkpoint.assertSame(path, state.fingerprint, fingerprint)
  if (state?.applied === undefined && state?.mayReplace !== true) yield* refuseFiles(out, mode)
  if (mode === "new" && (yield* disk.exists(path))) return yield* new FileExists({ path: folder })
  if (mode !== "force") return state ?? { fingerprint, jobs: [] }
  const started = { fingerprint, jobs: [], mayReplace: true }
  // The state of a complete check must not vouch for the files of this one.
  yield* states.write(path, started)
  return started
})

/** Runs the jobs or continues them, and returns them. */
const runJobs = Effect.fnUntraced(function*(
  rows: Rows.Rows,
  { idsPerJob, maxWait, onProgress = () => Effect.void, out, type }: Options & { readonly idsPerJob: number },
  folder: string,
  kept: typeof State.Type,
  add: (result: Compliance.Result) => void
): Effect.fn.Return<ReadonlyArray<CheckJob.Noted>, ComplyError, Client> {
  const jobs = [...kept.jobs]
  const note = (at: number) => (job: CheckJob.Noted) =>
    Effect.suspend(() => {
      jobs[at] = job
      return states.write(stateIn(folder), { ...kept, jobs })
    })
  /** Removes the state if certainly no job was created. */
  const abandon = (error: ComplyError) =>
    error._tag === "OutcomeUnknown" || kept.jobs.length > 0 || jobs.some(({ id }) => id !== undefined)
      ? Effect.void
      : Effect.ignore(clear(out, folder))
  for (let at = 0; at * idsPerJob < rows.count; at++) {
    const from = at * idsPerJob
    yield* CheckJob.run(kept.jobs[at], {
      type,
      ids: idsOf(rows, from, idsPerJob),
      maxWait,
      note: note(at),
      use: Stream.runForEach((result) => Effect.sync(() => add(result))),
      onPhase: (phase, jobId) => onProgress({ phase, jobId, ids: Math.min(from + idsPerJob, rows.count) })
    }).pipe(Effect.tapError(abandon))
  }
  return jobs
})

/** Removes the state of a check without jobs, and the folder if nothing else is in it. */
const clear = Effect.fnUntraced(function*(out: string, folder: string): Effect.fn.Return<void, ExportError> {
  // A full disk leaves the beginning of the state.
  for (const name of ["comply.json", "comply.json.tmp", "rows", "removed.csv"]) yield* disk.remove(join(folder, name))
  yield* folders.abandon(out)
})

const idsOf = (rows: Rows.Rows, from: number, count: number): Stream.Stream<string, Rows.RowsUnusable> =>
  rows.batches(1_000).pipe(
    Stream.flattenIterable,
    Stream.drop(from),
    Stream.take(count),
    Stream.map(({ value }) => value)
  )

/** The results of the jobs, in a temporary database that moves to the disk when it grows. */
const openResults = () =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
      const database = new DatabaseSync("")
      database.exec(
        "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN; " +
          "CREATE TABLE results (id TEXT PRIMARY KEY, action TEXT NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID"
      )
      // Of several reasons for an id, removal takes precedence over redaction.
      const insert = database.prepare(
        "INSERT INTO results VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason WHERE reason = 'scrub_geo'"
      )
      const select = database.prepare("SELECT reason FROM results WHERE id = ?")
      return {
        add: ({ action, id, reason = action }: Compliance.Result) => void insert.run(id, action, reason),
        reasonOf: (id: string): string | undefined => {
          const reason = select.get(id)?.["reason"]
          return reason === undefined ? undefined : String(reason)
        },
        close: () => database.close()
      }
    }),
    ({ close }) => Effect.sync(close)
  )

const reportTable: Table = {
  name: "removed",
  key: undefined,
  columns: [
    { name: "line", path: ["line"], type: "integer" },
    { name: "id", path: ["id"], type: "text" },
    { name: "action", path: ["action"], type: "text" },
    { name: "reason", path: ["reason"], type: "text" }
  ]
}

/** The lines of the report written together. */
const reportLines = 1_000

const temporaryIn = (folder: string) => ({ rows: join(folder, "rows"), report: join(folder, "removed.csv") })

/** Writes the new file and the report into the folder. */
const apply = Effect.fnUntraced(function*(
  rows: Rows.Rows,
  out: string,
  folder: string,
  reasonOf: (id: string) => string | undefined
): Effect.fn.Return<typeof Applied.Type, ComplyError> {
  const temporary = temporaryIn(folder)
  const { removed, ...counts } = yield* Effect.tryPromise({
    try: async () => {
      const counts = { kept: 0, redacted: 0, removed: new Map<string, number>() }
      await using report = await disk.open(temporary.report, "w")
      const file = await disk.open(temporary.rows, "w")
      const lines = Readable.from(compliantLines(rows, reasonOf, report, counts))
      await pipeline([lines, ...compressionOf(out), file.createWriteStream({ flush: true })])
      await report.sync()
      return counts
    },
    catch: (cause) => cause instanceof Rows.RowsUnusable ? cause : disk.failureOf(disk.pathOf(cause) ?? out, cause)
  })
  const [ofRows, ofReport] = yield* Effect.all([disk.digest(temporary.rows), disk.digest(temporary.report)])
  return {
    ...counts,
    removed: Object.fromEntries(removed),
    sha256: { rows: ofRows.sha256, report: ofReport.sha256 }
  }
})

/** Moves the files of a complete check to their places, unless they are there; refuses those that were changed. */
const move = Effect.fnUntraced(function*(
  out: string,
  folder: string,
  { sha256 }: typeof Applied.Type,
  mayReplace = false
): Effect.fn.Return<void, ExportError> {
  const temporary = temporaryIn(folder)
  for (const name of ["report", "rows"] as const) {
    const [from, to] = [temporary[name], name === "rows" ? out : reportOf(out)]
    if (yield* disk.exists(from)) {
      yield* Effect.mapError(
        disk.attempt(to, () => disk.place(from, to, mayReplace)),
        (error) => error._tag === "FileExists" ? new FileExists({ path: to, isComplete: true }) : error
      )
    } else if (!(yield* disk.exists(to)) || (yield* disk.digest(to)).sha256 !== sha256[name]) {
      return yield* new CheckpointUnusable({ path: stateIn(folder), reason: `${to} was changed since, or is gone` })
    }
  }
})

const compressionOf = (out: string) => {
  const ending = /\.(gz|zst)$/i.exec(out)?.[1]?.toLowerCase()
  return ending === "gz" ? [zlib.createGzip()] : ending === "zst" ? [zlib.createZstdCompress()] : []
}

/** The lines of the new file. Counts rows, and writes removed and redacted ones to the report. */
async function* compliantLines(
  rows: Rows.Rows,
  reasonOf: (id: string) => string | undefined,
  report: fs.FileHandle,
  counts: { kept: number; redacted: number; readonly removed: Map<string, number> }
): AsyncGenerator<string> {
  const newline = rows.format === "csv" ? await newlineOf(rows) : "\n"
  // Reasons are texts of the service: a spreadsheet must not take them for formulas.
  const { header, rows: encode } = Csv.encoder(reportTable, true)
  await report.writeFile(header)
  const changes: Array<object> = []
  for await (const { id, line, text } of recordsOf(rows)) {
    const reason = id === undefined ? undefined : reasonOf(id)
    const isKept = reason === undefined || reason === "scrub_geo"
    if (reason !== undefined) changes.push({ line, id, action: isKept ? "redact" : "remove", reason })
    if (isKept) {
      if (id !== undefined) counts.kept++
      const own = reason === undefined ? text : withoutPlaces(rows, text)
      if (own !== text) counts.redacted++
      yield own + newline
    } else counts.removed.set(reason, (counts.removed.get(reason) ?? 0) + 1)
    if (changes.length >= reportLines) await report.writeFile(encode(changes.splice(0)))
  }
  await report.writeFile(encode(changes))
}

/** The unchanged records of a file, each with its id; a header has none. */
async function* recordsOf(
  rows: Rows.Rows
): AsyncGenerator<{ readonly line: number; readonly text: string; readonly id: string | undefined }> {
  const read = Stream.toAsyncIterable(Stream.flattenIterable(rows.batches(1_000)))[Symbol.asyncIterator]()
  let row = (await read.next()).value
  for await (
    const some of records.recordsOf(rows.bytes(), { quotes: rows.format === "csv", from: records.beginning })
  ) {
    for (const { line, text } of some) {
      const id = row?.line === line ? row.value : undefined
      if (id !== undefined) row = (await read.next()).value
      yield { line, text, id }
    }
  }
}

/** The line ending of the first line. */
const newlineOf = async (rows: Rows.Rows): Promise<string> => {
  for await (const chunk of rows.bytes()) {
    const at = chunk.indexOf("\n")
    if (at >= 0) return chunk[at - 1] === 0x0d ? "\r\n" : "\n"
  }
  return "\n"
}

const withoutPlaces = ({ columns, delimiter, format }: Rows.Rows, text: string): string => {
  if (format === "jsonl") {
    const row: unknown = JSON.parse(text, exact)
    return typeof row === "object" && row !== null && "geo" in row
      ? JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => name !== "geo")))
      : text
  }
  if (format !== "csv" || !columns.some(isOfPlace)) return text
  const cells: ReadonlyArray<string> = parse(text, { delimiter })[0] ?? []
  const own = cells.map((cell, i) => isOfPlace(columns[i] ?? "") ? "" : cell)
  return stringify([own], { delimiter, record_delimiter: "\n" }).replace(/\n$/, "")
}

declare global {
  interface JSON {
    /** A value that is written verbatim. */
    readonly rawJSON: (text: string) => object
  }
}

/** Keeps the text of numbers that lose precision when parsed. */
const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? JSON.rawJSON(context.source)
    : value

const isOfPlace = (column: string): boolean =>
  column === "geo" || column.startsWith("geo_") || column.startsWith("geo.")
