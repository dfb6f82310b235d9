/**
 * What a stream is written into, and how far it is: one file that grows, or one after the other. Of a file that is replaced
 * by the next, nothing is seen until it is complete.
 *
 * In the folder `<out>.postwire`, besides its mark and its lock: `file-<n>/`, what the sink keeps of the file under way, with
 * where the stream stands in its checkpoint; `stream.json`, the same while there is no such file; `files.jsonl`, what was
 * completed; `gaps.jsonl`, what is missing.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as disk from "../files/Disk.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "../files/ExportErrors.ts"
import { linesOf } from "../files/Lines.ts"
import * as sealed from "../files/Sealed.ts"
import * as Checkpoint from "./Checkpoint.ts"
import type { FileSink, Job, StreamSink, Writer } from "./Sink.ts"
import * as workspace from "./Workspace.ts"

/** Where a stream stands. */
export const Standing = Schema.Struct({
  /** Everything of before is written, or told as a gap; by the service's clock. */
  until: Schema.optionalKey(Schema.String),
  /** What is written of the time from then on: ids, each with its time (`id:time`, in base 36), with a blank between. */
  ids: Schema.String,
  /** How many lines were written. */
  items: Checkpoint.Count,
  /** How many spans of time are missing, or a part of them. */
  gaps: Checkpoint.Count,
  /** How many lines came that could not be read, and how many items were left out for want of time. */
  lost: Checkpoint.Count,
  /** What it was charged, in whole millionths of a dollar; absent where the client does not count that. */
  spent: Schema.optionalKey(Checkpoint.Count),
  /** How many files are complete. */
  files: Checkpoint.Count,
  /** How often it was started. */
  runs: Checkpoint.Count,
  startedAt: Schema.String
})

/** Where a stream stands. */
export interface Standing extends Schema.Schema.Type<typeof Standing> {}

/** A file that is complete. */
export const Written = Schema.Struct({
  name: disk.Name,
  rows: Schema.Int,
  bytes: Schema.Int,
  sha256: Schema.String,
  /** When its first line was written. */
  from: Schema.String
})

/** A file that is complete. */
export interface Written extends Schema.Schema.Type<typeof Written> {}

const State = Schema.Struct({
  version: Schema.Literal(1),
  fingerprint: Checkpoint.Fingerprint,
  standing: Standing,
  /** The file that was completed last: its name where it is made, and what was in its place before. */
  last: Schema.optionalKey(Schema.Struct({
    written: Written,
    file: disk.Name,
    before: Schema.optionalKey(Schema.String)
  }))
})

type State = typeof State.Type

const decodeState = Schema.decodeUnknownOption(State)
const decodeStanding = Schema.decodeUnknownOption(Schema.fromJsonString(Standing))

/** Where a stream goes. */
export interface Archive {
  /** As the last checkpoint has it. */
  readonly standing: Standing
  /** The file under way: when its first line came, in milliseconds, and how long it is; `undefined` where there is none. */
  readonly current: { readonly from: number; readonly size: number; readonly rows: number } | undefined
  /**
   * Writes rows, the first of which came at a time, and where the stream stands after them: both are there after a crash, or
   * neither.
   */
  readonly commit: (rows: ReadonlyArray<object>, standing: Standing, from: number) => Effect.Effect<void, ExportError>
  /** Completes the file under way, as far as there is one. */
  readonly close: Effect.Effect<void, ExportError>
  /** Adds what is missing to `gaps.jsonl`. */
  readonly note: (gaps: ReadonlyArray<object>) => Effect.Effect<void, ExportError>
  /** The files that this run has completed. */
  readonly files: ReadonlyArray<Written>
  /** Removes the folder, should there be nothing to go on with. */
  readonly abandon: Effect.Effect<void, ExportError>
}

/** What an archive is opened for. */
export interface Options {
  readonly job: Omit<Job, "start">
  /** Whether one file comes after the other. */
  readonly isRotated: boolean
  /** Whether it begins anew. */
  readonly isForced: boolean
  /** Where a stream stands that begins. */
  readonly start: Standing
}

const about = `${workspace.mark}
It is named after the file that a stream is written into. stream.json and the folder file-N tell where the stream stands,
so that the same command goes on there; files.jsonl has the SHA-256 of every file that is complete, and gaps.jsonl the times
of which something is missing.

Nothing else should be kept here. Without this folder the stream begins anew.
`

/** What cannot be gone on with: there is nothing to keep. */
export const ofStream = Effect.fnUntraced(function*(
  sink: StreamSink,
  { job, start }: Options
): Effect.fn.Return<Archive, ExportError, Scope.Scope> {
  const writer = yield* sink.open({ ...job, start: Checkpoint.start(start.startedAt) })
  let standing = start
  return {
    get standing() {
      return standing
    },
    current: undefined,
    commit: (rows, next) =>
      Effect.gen(function*() {
        if (rows.length > 0) yield* writer.commit(pageOf(rows), writer.progress)
        standing = next
      }),
    close: Effect.void,
    note: () => Effect.void,
    files: [],
    abandon: Effect.void
  }
})

/** Goes on with the archive that has this name, or begins it. */
export const open = Effect.fnUntraced(function*(
  sink: FileSink,
  options: Options
): Effect.fn.Return<Archive, ExportError, Scope.Scope> {
  const { isForced, isRotated, job } = options
  const out = sink.path
  const exists = new FileExists({ path: out })
  const root = yield* workspace.hold(out, {
    about,
    before: Effect.gen(function*() {
      if (!isRotated && !isForced && (yield* disk.exists(out))) return yield* exists
    })
  })
  const place = join(root, "stream.json")
  const folderOf = (number: number): string => join(root, `file-${number}`)
  const scope = yield* Effect.scope
  const files: Array<Written> = []

  if (isForced) yield* clear(root)
  else if ((yield* disk.exists(join(root, "manifest.json"))) || (yield* disk.exists(join(root, "work")))) {
    return yield* new FileExists({ path: root })
  }
  yield* Effect.forEach([gapsIn(root), filesIn(root)], mend, { discard: true })

  let state = yield* read(place)
  if (state !== undefined) yield* Checkpoint.assertSame(out, state.fingerprint, job.fingerprint)
  let standing = state?.standing ?? options.start
  let current: Current | undefined
  /** Whether what has the name of the file may be replaced. */
  const mayReplace = isForced

  const keep = (next: State) => Effect.tap(disk.replace(place, sealed.stringify(next)), Effect.sync(() => state = next))
  const stateOf = (standing: Standing): State => ({ version: 1, fingerprint: job.fingerprint, standing })

  /** Opens the file under way, or begins it. */
  const grow = Effect.fnUntraced(function*(folder: string, from: string) {
    const own = yield* Scope.fork(scope)
    const start = { ...Checkpoint.start(from), cursor: JSON.stringify(standing) }
    const writer = yield* Scope.provide(sink.open({ ...job, start }, folder), own).pipe(
      Effect.tapError(() => Scope.close(own, Exit.void))
    )
    current = { writer, scope: own }
    if (!isRotated && sink.growing !== undefined) yield* show(join(folder, sink.growing), out, mayReplace)
  })

  /** Moves a file that is complete to its place. Whatever ends it, the next run goes on with that. */
  const publish = Effect.fnUntraced(function*({ file, written }: NonNullable<State["last"]>) {
    const folder = folderOf(standing.files - 1)
    const from = join(folder, file)
    const to = join(dirname(out), written.name)
    if (yield* disk.exists(from)) {
      yield* disk.attempt(to, async () => {
        await workspace.moveToFree(from, to)
        await disk.syncFolder(to)
      })
    }
    yield* append(filesIn(root), [written])
    yield* remove(folder)
  })

  const last = state?.last
  if (last !== undefined && isRotated && (yield* disk.exists(folderOf(standing.files - 1)))) {
    if (!isNameOf(out, last.written)) return yield* unusable(place)
    yield* publish(last)
  }

  const folder = folderOf(standing.files)
  const checkpoint = yield* Checkpoint.read(join(folder, "checkpoint.json"))
  if (checkpoint === undefined) yield* remove(folder)
  else {
    yield* Checkpoint.assertSame(out, checkpoint.fingerprint, job.fingerprint)
    const found = decodeStanding(checkpoint.progress.cursor)
    if (found._tag === "None") {
      return yield* new CheckpointUnusable({ path: folder, reason: "it does not tell where the stream stands" })
    }
    standing = found.value
    if (!isRotated && sink.growing !== undefined && (yield* isTakenAway(join(folder, sink.growing), out))) {
      standing = { ...standing, files: standing.files + 1 }
      yield* keep(stateOf(standing))
      yield* remove(folder)
    } else yield* grow(folder, checkpoint.progress.startedAt)
  }
  if (current === undefined && !isRotated && !isForced && (yield* disk.exists(out))) return yield* exists

  /** Completes the file under way. A single one stays open: a later run goes on with it. */
  const close = Effect.gen(function*() {
    if (current === undefined) return
    const { scope, writer } = current
    const [output] = yield* writer.finish
    if (output === undefined) return
    const { bytes, sha256 } = yield* disk.digest(output.path)
    if (output.sha256 !== undefined && output.sha256 !== sha256) {
      return yield* new CheckpointUnusable({ path: output.path, reason: "it was changed while it was written" })
    }
    const from = writer.progress.startedAt
    const name = isRotated ? yield* freeNameOf(out, from) : basename(out)
    const written: Written = { name, rows: output.rows, bytes, sha256, from }
    const next = { written, file: basename(output.path) }
    if (isRotated) {
      standing = { ...standing, files: standing.files + 1 }
      yield* keep({ ...stateOf(standing), last: next })
      yield* publish(next)
    } else {
      const before = state?.last?.written.sha256
      yield* keep({ ...stateOf(standing), last: { ...next, ...before !== undefined && { before } } })
      if (sink.growing === undefined) {
        const known = [before, state?.last?.before, sha256]
        yield* replace(output.path, out, (found) => mayReplace || known.includes(found))
      }
    }
    files.push(written)
    current = undefined
    yield* Scope.close(scope, Exit.void)
  })

  return {
    get standing() {
      return standing
    },
    get current() {
      if (current === undefined) return undefined
      const { progress, size } = current.writer
      return { from: Date.parse(progress.startedAt), rows: progress.items, size: size() }
    },
    commit: (rows, next, from) =>
      Effect.gen(function*() {
        if (current === undefined && rows.length > 0) {
          const folder = folderOf(standing.files)
          yield* disk.attempt(folder, () => fs.mkdir(folder, { recursive: true }).then(() => disk.syncFolder(folder)))
          yield* grow(folder, new Date(from).toISOString())
        }
        const counted = { ...next, files: standing.files }
        if (current === undefined) yield* keep({ ...stateOf(counted), ...state?.last && { last: state.last } })
        else {
          const { writer } = current
          const { items, pages, ...progress } = writer.progress
          yield* writer.commit(pageOf(rows), {
            ...progress,
            cursor: JSON.stringify(counted),
            items: items + rows.length,
            pages: pages + 1
          })
        }
        standing = counted
      }),
    close,
    note: (gaps) => gaps.length === 0 ? Effect.void : append(gapsIn(root), gaps),
    files,
    abandon: Effect.suspend(() => state === undefined && current === undefined ? workspace.abandon(out) : Effect.void)
  }
})

/** A file under way. */
interface Current {
  readonly writer: Writer
  readonly scope: Scope.Closeable
}

const pageOf = (items: ReadonlyArray<object>) => ({
  items,
  includes: {},
  errors: [],
  next: undefined,
  rateLimit: undefined
})

const gapsIn = (root: string): string => join(root, "gaps.jsonl")
const filesIn = (root: string): string => join(root, "files.jsonl")

const read = Effect.fnUntraced(function*(path: string) {
  const text = yield* disk.read(path)
  if (text === undefined) return undefined
  const decoded = decodeState(sealed.parse(text))
  if (decoded._tag === "Some") return decoded.value
  return yield* unusable(path)
})

const unusable = (path: string) => new CheckpointUnusable({ path, reason: "it was changed, or is of another version" })

const remove = (path: string): Effect.Effect<void, ExportError> =>
  disk.attempt(path, () => fs.rm(path, { recursive: true, force: true }))

/** Forgets what there was. Files that are complete stay. */
const clear = (root: string): Effect.Effect<void, ExportError> =>
  disk.attempt(root, async () => {
    for (const name of await fs.readdir(root)) {
      if (name !== "about.txt" && name !== "lock") await fs.rm(join(root, name), { recursive: true })
    }
  })

/** Adds lines to a file, which are on the disk then. */
const append = (path: string, lines: ReadonlyArray<object>): Effect.Effect<void, ExportError> =>
  disk.attempt(path, async () => {
    const file = await disk.open(path, "a")
    try {
      await file.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
      await file.datasync()
    } finally {
      await file.close()
    }
  })

/** Cuts off what a crash has left of a last line. */
const mend = (path: string): Effect.Effect<void, ExportError> =>
  Effect.gen(function*() {
    if (!(yield* disk.exists(path))) return
    yield* disk.attempt(path, async () => {
      let whole = 0
      for await (const line of linesOf(path)) whole += Buffer.byteLength(line) + 1
      const { size } = await fs.stat(path)
      if (whole < size) await fs.truncate(path, whole)
    })
  })

/** Gives a file that grows the name under which people look for it. Where there are no links, it gets it at the end. */
const show = (path: string, out: string, mayReplace: boolean): Effect.Effect<void, ExportError> =>
  disk.attempt(out, async () => {
    if (await isSame(path, out)) return
    if (mayReplace) await fs.rm(out, { force: true })
    await fs.link(path, out)
    await disk.syncFolder(out)
  })

const isSame = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other].map((path) => fs.stat(path, { bigint: true }).catch(() => undefined)))
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev
}

/** Whether somebody has moved a file elsewhere that grows here: it is theirs then, and the next lines are of a new one. */
const isTakenAway = (path: string, out: string): Effect.Effect<boolean, ExportError> =>
  disk.attempt(path, async () => {
    const [own, other] = await Promise.all([path, out].map((path) => fs.stat(path).catch(() => undefined)))
    return own !== undefined && other === undefined && own.nlink > 1
  })

/** Puts a file where none is, or one that may be replaced. */
const replace = Effect.fnUntraced(function*(from: string, to: string, mayReplace: (sha256: string) => boolean) {
  if ((yield* disk.exists(to)) && !mayReplace((yield* disk.digest(to)).sha256)) {
    return yield* new FileExists({ path: to })
  }
  yield* disk.attempt(to, () => fs.rename(from, to).then(() => disk.syncFolder(to)))
})

/** A name with the time of the first line, which no file has: `posts-20261122T210000Z.jsonl`. */
const freeNameOf = Effect.fnUntraced(function*(out: string, from: string) {
  const { base, ending } = partsOf(out, from)
  for (let number = 1;; number++) {
    const free = `${base}${number === 1 ? "" : `-${number}`}${ending}`
    if (!(yield* disk.exists(join(dirname(out), free)))) return free
  }
})

/** Checks that a file has a name of this archive, with the time of its first line. */
const isNameOf = (out: string, { from, name }: Written): boolean => {
  const { base, ending } = partsOf(out, from)
  return name.startsWith(base) && name.endsWith(ending) &&
    /^(?:-\d+)?$/.test(name.slice(base.length, name.length - ending.length))
}

/** The parts of the name of a file before and after its number. */
const partsOf = (out: string, from: string): { readonly base: string; readonly ending: string } => {
  const name = basename(out)
  const ending = /(\.(jsonl|ndjson|json|csv|tsv|parquet|sqlite3?|db))?(\.(gz|zst))?$/i.exec(name)?.[0] ?? ""
  const stamp = from.replace(/\.\d+/, "").replaceAll(/[-:]/g, "")
  return { base: `${name.slice(0, name.length - ending.length)}-${stamp}`, ending }
}
