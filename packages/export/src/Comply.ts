/**
 * A stored file without what may be stored no more: its ids are sent to the service as compliance jobs, and what became of them is
 * applied to a new file beside it. Rows that are gone are left out, places that were taken back are removed from theirs, and a
 * report says which and why. What ends it, it can be resumed: it goes on with the same jobs.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import * as Jobs from "@postwire/core/operations/ComplianceJobs"
import * as Compliance from "@postwire/core/workflows/Compliance"
import { parse } from "csv-parse/sync"
import { stringify } from "csv-stringify/sync"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as zlib from "node:zlib"
import * as disk from "./files/Disk.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "./files/ExportErrors.ts"
import * as sealed from "./files/Sealed.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import type { Mode } from "./folders/Sink.ts"
import * as workspace from "./folders/Workspace.ts"
import * as records from "./rows/Records.ts"
import * as Rows from "./rows/Rows.ts"
import type { Table } from "./rows/Table.ts"
import * as Csv from "./sinks/Csv.ts"

/** What is checked, and where to. */
export interface Options {
  readonly type: Compliance.Type
  /** The new file. Names that end in `.gz` and `.zst` are compressed. */
  readonly out: string
  /** What to do about files that are there already. Default `new`: refuse. */
  readonly mode?: Mode | undefined
  /** How many ids a job has at most. Default 1,000,000. */
  readonly idsPerJob?: number | undefined
  /** How long a job is waited for, in milliseconds. Default: 12 hours. */
  readonly maxWait?: number | undefined
  readonly onProgress?: ((progress: Compliance.Progress) => Effect.Effect<unknown>) | undefined
}

/** What became of a file. */
export interface Summary {
  /** Rows of the file, and of the new one. */
  readonly rows: number
  readonly kept: number
  /** Kept rows whose places were removed. */
  readonly redacted: number
  /** Rows that were left out, by reason. */
  readonly removed: Readonly<Record<string, number>>
  readonly out: string
  /** The file that lists which rows went or were changed, and why. */
  readonly report: string
  /** The compliance jobs. */
  readonly jobs: ReadonlyArray<string>
}

/** What a check of a file can fail with. */
export type ComplyError = AnyError | Compliance.CheckError | Rows.RowsUnusable | ExportError

const State = Schema.Struct({
  fingerprint: Checkpoint.Fingerprint,
  /** In the order of the ids. A name is noted before its job is created, so that a job is found again. */
  jobs: Schema.Array(Schema.Struct({
    name: Schema.String,
    id: Schema.optionalKey(Schema.String),
    isSent: Schema.optionalKey(Schema.Boolean)
  }))
})

const decode = Schema.decodeUnknownOption(State)

/** The file of the folder `<out>.postwire` that has the jobs of an unfinished check. */
const stateIn = (folder: string): string => join(folder, "comply.json")

/** The file that lists the rows that went. */
const reportOf = (out: string): string => `${out}.removed.csv`

const about = `${workspace.mark}
It is named after the file that a check for compliance writes. Until the check is complete, comply.json has its jobs, and rows
and removed.csv are what it has written.

Nothing else should be kept here. Without this folder an unfinished check begins anew.
`

const defaultIdsPerJob = 1_000_000

/** Checks a file whose rows were read, and writes it without what is gone. */
export const run = Effect.fnUntraced(function*(
  rows: Rows.Rows,
  options: Options
): Effect.fn.Return<Summary, ComplyError, Client | Scope.Scope> {
  const { idsPerJob = defaultIdsPerJob, maxWait, mode = "new", onProgress = () => Effect.void, out, type } = options
  const fingerprint = {
    type,
    file: rows.sha256,
    idsPerJob: String(idsPerJob),
    ...(rows.column === undefined ? {} : { column: rows.column })
  }
  const folder = yield* workspace.hold(out, { about, before: refuseFiles(out, mode) })
  const kept = yield* begin(out, folder, mode, fingerprint)
  const jobs = [...kept.jobs]
  const note = (at: number, job: typeof jobs[number]) =>
    Effect.suspend(() => {
      jobs[at] = job
      return disk.replace(stateIn(folder), sealed.stringify({ fingerprint, jobs }))
    })
  /** Lets the next run begin where none has created a job for sure. */
  const abandon = (error: ComplyError) =>
    error._tag === "OutcomeUnknown" || kept.jobs.length > 0 || jobs.some(({ id }) => id !== undefined)
      ? Effect.void
      : Effect.ignore(clear(out, folder))
  const gone = yield* goneIn()
  for (let at = 0, from = 0; from < rows.count; at++, from += idsPerJob) {
    const job = yield* Effect.tapError(jobAt(jobs[at], type, (job) => note(at, job)), abandon)
    const tell = (phase: Compliance.Progress["phase"]) =>
      onProgress({ phase, jobId: job.id, ids: Math.min(from + idsPerJob, rows.count) })
    if (job.isSent !== true) {
      yield* tell("upload")
      yield* Compliance.upload({ id: job.id }, idsOf(rows, from, idsPerJob))
      yield* note(at, { ...job, isSent: true })
    }
    yield* tell("wait")
    const complete = yield* Compliance.wait({ id: job.id }, { maxWait })
    yield* tell("results")
    yield* Stream.runForEach(Compliance.results(complete), (result) => Effect.sync(() => gone.add(result)))
  }
  const applied = yield* Effect.tryPromise({
    try: () => apply(rows, out, folder, mode === "force", gone.reasonOf),
    catch: (cause) => cause instanceof Rows.RowsUnusable ? cause : disk.failureOf(disk.pathOf(cause) ?? out, cause)
  })
  yield* clear(out, folder)
  return { ...applied, rows: rows.count, out, report: reportOf(out), jobs: jobs.flatMap(({ id }) => id ?? []) }
})

/** Refuses to replace files unless the mode allows it. */
const refuseFiles = Effect.fnUntraced(function*(out: string, mode: Mode): Effect.fn.Return<void, ExportError> {
  if (mode === "force") return
  if (yield* disk.exists(out)) return yield* new FileExists({ path: out, isComplete: mode === "resume" })
  if (mode === "new" && (yield* disk.exists(reportOf(out)))) return yield* new FileExists({ path: reportOf(out) })
})

/** Removes what an unfinished check keeps, and its folder where nothing else is in it. */
const clear = Effect.fnUntraced(function*(out: string, folder: string): Effect.fn.Return<void, ExportError> {
  yield* disk.attempt(folder, async () => {
    for (const name of ["comply.json", "rows", "removed.csv"]) await fs.rm(join(folder, name), { force: true })
  })
  // The folder may be that of an unfinished export.
  if (!(yield* disk.exists(workspace.workOf(out)))) yield* workspace.abandon(out)
})

/** The jobs of an earlier run of the same. */
const begin = Effect.fnUntraced(function*(
  out: string,
  folder: string,
  mode: Mode,
  fingerprint: Checkpoint.Fingerprint
): Effect.fn.Return<typeof State.Type, ExportError> {
  const path = stateIn(folder)
  const text = mode === "force" ? undefined : yield* disk.read(path)
  if (mode === "new" && text !== undefined) return yield* new FileExists({ path: folder })
  yield* refuseFiles(out, mode)
  if (text === undefined) return { fingerprint, jobs: [] }
  const state = decode(sealed.parse(text))
  if (state._tag === "None") return yield* new CheckpointUnusable({ path, reason: "it was changed" })
  yield* Checkpoint.assertSame(path, state.value.fingerprint, fingerprint)
  return state.value
})

type Noted = typeof State.Type["jobs"][number]

/** The job that was begun before, or a new one. */
const jobAt: <E>(
  noted: Noted | undefined,
  type: Compliance.Type,
  note: (job: Noted) => Effect.Effect<void, E>
) => Effect.Effect<Noted & { readonly id: string }, E | AnyError, Client> = Effect.fnUntraced(function*(
  noted,
  type,
  note
) {
  const { id, isSent, name } = noted ?? { name: `postwire-${randomUUID()}` }
  if (id !== undefined) {
    if (isSent === true) return { id, isSent, name }
    const status = (yield* Jobs.getComplianceJob({ id })).data?.status
    if (status === "created") return { id, name }
    // The ids were sent, though nobody was told any more.
    if (status === "in_progress" || status === "complete") return { id, isSent: true, name }
    // It has expired, as nothing was sent in time.
    return yield* jobAt(undefined, type, note)
  }
  if (noted === undefined) yield* note({ name })
  const found = noted === undefined
    ? undefined
    : (yield* Jobs.getComplianceJobs({ type })).data?.find((job) => job.name === name)
  const job = found ?? (yield* Jobs.createComplianceJob({ type, name })).data
  // The answer is one of an error, whose parts it lists, or has the job.
  if (job === undefined) return yield* Effect.die(new Error("The service has created no job, and does not say why"))
  const made = { id: job.id, name }
  yield* note(made)
  return made
})

/** Some of the ids of a file. */
const idsOf = (rows: Rows.Rows, from: number, count: number): Stream.Stream<string, Rows.RowsUnusable> =>
  rows.batches(1_000).pipe(
    Stream.flattenIterable,
    Stream.drop(from),
    Stream.take(count),
    Stream.map(({ value }) => value)
  )

/** What is gone: in a temporary database, which goes to the disk where memory would grow. */
const goneIn = () =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
      const database = new DatabaseSync("")
      database.exec(
        "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN; " +
          "CREATE TABLE gone (id TEXT PRIMARY KEY, action TEXT NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID"
      )
      // Of several reasons the one that removes more counts.
      const insert = database.prepare(
        "INSERT INTO gone VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason WHERE reason = 'scrub_geo'"
      )
      const select = database.prepare("SELECT reason FROM gone WHERE id = ?")
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

/** The columns of the report. */
const reported: Table = {
  name: "removed",
  key: undefined,
  columns: [
    { name: "line", path: ["line"], type: "integer" },
    { name: "id", path: ["id"], type: "text" },
    { name: "action", path: ["action"], type: "text" },
    { name: "reason", path: ["reason"], type: "text" }
  ]
}

/** The lines of the report that are written together. */
const reportLines = 1_000

interface Applied extends Pick<Summary, "kept" | "redacted" | "removed"> {}

/** Writes the new file and the report. Whatever happens, each is there as a whole or not at all. */
const apply = async (
  rows: Rows.Rows,
  out: string,
  folder: string,
  mayReplace: boolean,
  reasonOf: (id: string) => string | undefined
): Promise<Applied> => {
  const removed = new Map<string, number>()
  let kept = 0
  let redacted = 0
  const made = { rows: join(folder, "rows"), report: join(folder, "removed.csv") }
  const newline = rows.format === "csv" ? await newlineOf(rows) : "\n"
  const report = await disk.open(made.report, "w")
  const lines = async function*() {
    // The service chooses the reasons.
    const { header, rows: encode } = Csv.encoder(reported, "\r\n", true)
    await report.writeFile(header)
    const told: Array<object> = []
    for await (const { id, line, text } of recordsOf(rows)) {
      const reason = id === undefined ? undefined : reasonOf(id)
      if (reason === undefined || reason === "scrub_geo") {
        if (id !== undefined) kept++
        const own = reason === undefined ? text : withoutPlaces(rows, text)
        if (own !== text) redacted++
        if (reason !== undefined) told.push({ line, id, action: "redact", reason })
        yield own + newline
      } else {
        removed.set(reason, (removed.get(reason) ?? 0) + 1)
        told.push({ line, id, action: "remove", reason })
      }
      if (told.length >= reportLines) await report.writeFile(encode(told.splice(0)))
    }
    await report.writeFile(encode(told))
  }
  const ending = /\.(gz|zst)$/i.exec(out)?.[1]?.toLowerCase()
  const compress = ending === "gz" ? [zlib.createGzip()] : ending === "zst" ? [zlib.createZstdCompress()] : []
  try {
    const file = await disk.open(made.rows, "w")
    await pipeline([Readable.from(lines()), ...compress, file.createWriteStream({ flush: true })])
    await report.sync()
  } finally {
    await report.close()
  }
  await fs.rename(made.report, reportOf(out))
  await (mayReplace ? fs.rename : workspace.moveToFree)(made.rows, out)
  await disk.syncFolder(out)
  return { kept, redacted, removed: Object.fromEntries(removed) }
}

/** The records of a file as they are, each with its id; a header has none. */
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

/** What ends the first line of a file. */
const newlineOf = async (rows: Rows.Rows): Promise<string> => {
  for await (const chunk of rows.bytes()) {
    const at = chunk.indexOf("\n")
    if (at >= 0) return chunk[at - 1] === 0x0d ? "\r\n" : "\n"
  }
  return "\n"
}

/** A row without the place that it names. */
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
    /** A value that is written as it is. */
    readonly rawJSON: (text: string) => object
  }
}

/** Numbers that are too large for one stay as they are written. */
const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? JSON.rawJSON(context.source)
    : value

const isOfPlace = (column: string): boolean =>
  column === "geo" || column.startsWith("geo_") || column.startsWith("geo.")
