/**
 * The files of a stream: one that grows, or one after the other. A file that the next one replaces appears when it is complete.
 *
 * In the folder `<out>.postwire`: `file-<n>/`, the open file, with the stream's progress in its checkpoint; `stream.json`, the
 * progress while no file is open; `files.jsonl`, the completed files; `gaps.jsonl`, the missing items.
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
import { emptyPage } from "../rows/Page.ts"
import * as Checkpoint from "./Checkpoint.ts"
import * as folders from "./Folder.ts"
import type { FileSink, Job, Output, StreamSink, Writer } from "./Sink.ts"

/** The progress of a stream, at its last checkpoint. */
export const Progress = Schema.Struct({
  /** Everything before this time of the service's clock is written, or recorded as a gap. */
  until: Schema.optionalKey(Schema.String),
  /** The ids written since then, each with its time (`id:time`, in base 36), separated by blanks. */
  ids: Schema.String,
  /** The lines written. */
  items: Checkpoint.Count,
  /** The gaps that were not filled, or only partly. */
  gaps: Checkpoint.Count,
  /** The unreadable lines and the items dropped because writing was too slow. */
  lost: Checkpoint.Count,
  /** The cost in whole millionths of a dollar; absent where the client does not count it. */
  spent: Schema.optionalKey(Checkpoint.Count),
  /** The files completed. */
  files: Checkpoint.Count,
  /** The runs started. */
  runs: Checkpoint.Count,
  startedAt: Schema.String
})

export interface Progress extends Schema.Schema.Type<typeof Progress> {}

/** A completed file. */
export const Written = Schema.Struct({
  name: disk.Name,
  rows: Schema.Int,
  bytes: Schema.Int,
  sha256: Schema.String,
  /** When its first line was written. */
  from: Schema.String
})

export interface Written extends Schema.Schema.Type<typeof Written> {}

const State = Schema.Struct({
  version: Schema.Literal(1),
  fingerprint: Checkpoint.Fingerprint,
  standing: Progress,
  /** The file completed last: its name in the folder, and the digest of the file that it replaced. */
  last: Schema.optionalKey(Schema.Struct({
    written: Written,
    file: disk.Name,
    before: Schema.optionalKey(Schema.String)
  }))
})

type State = typeof State.Type

const states = sealed.file(State)
const decodeProgress = Schema.decodeUnknownOption(Schema.fromJsonString(Progress))

/** The output of a stream. */
export interface Archive {
  /** The progress at the last checkpoint. */
  readonly progress: Progress
  /** The open file: when its first line came, in milliseconds, its bytes and rows; `undefined` if none is open. */
  readonly current: { readonly from: number; readonly size: number; readonly rows: number } | undefined
  /** Writes rows and the progress after them atomically. `from` is the time of the first row, in milliseconds. */
  readonly commit: (rows: ReadonlyArray<object>, progress: Progress, from: number) => Effect.Effect<void, ExportError>
  /** Completes the open file, if there is one. */
  readonly close: Effect.Effect<void, ExportError>
  /** Appends to `gaps.jsonl`. */
  readonly note: (gaps: ReadonlyArray<object>) => Effect.Effect<void, ExportError>
  /** The files that this run has completed. */
  readonly completed: ReadonlyArray<Written>
  /** Removes the folder if it has nothing to continue from. */
  readonly abandon: Effect.Effect<void, ExportError>
}

/** How to open an archive. */
export interface Options {
  readonly job: Omit<Job, "start">
  /** True if one file follows another. */
  readonly isRotated: boolean
  /** True to start over. */
  readonly isForced: boolean
  /** The progress of a new stream. */
  readonly start: Progress
}

const about =
  `It is named after the file that a stream is written into. stream.json and the folder file-N have the progress, so that the same
command continues there; files.jsonl has the SHA-256 of every completed file, and gaps.jsonl the times of missing items.

Keep nothing else here. Without this folder the stream starts over.
`

/** An archive in a sink that keeps nothing to continue from. */
export const ofStream = Effect.fnUntraced(function*(
  sink: StreamSink,
  { job, start }: Options
): Effect.fn.Return<Archive, ExportError, Scope.Scope> {
  const writer = yield* sink.open({ ...job, start: Checkpoint.start(start.startedAt) })
  let progress = start
  return {
    get progress() {
      return progress
    },
    current: undefined,
    commit: (rows, next) =>
      Effect.gen(function*() {
        if (rows.length > 0) yield* writer.write({ ...emptyPage, items: rows }, writer.progress)
        progress = next
      }),
    close: Effect.void,
    note: () => Effect.void,
    completed: [],
    abandon: Effect.void
  }
})

/** Continues the archive of an output file, or creates it. */
export const open = Effect.fnUntraced(function*(
  sink: FileSink,
  options: Options
): Effect.fn.Return<Archive, ExportError, Scope.Scope> {
  const { isForced, isRotated, job } = options
  const out = sink.path
  const refuseOthers = Effect.gen(function*() {
    if (!isRotated && !isForced && (yield* disk.exists(out))) return yield* new FileExists({ path: out })
  })
  const root = yield* folders.hold(out, { about, before: refuseOthers })
  if (isForced) yield* folders.empty(root)
  else if ((yield* disk.exists(join(root, "manifest.json"))) || (yield* disk.exists(join(root, "work")))) {
    return yield* new FileExists({ path: root })
  }
  yield* Effect.forEach([gapsIn(root), filesIn(root)], repair, { discard: true })
  const state = yield* states.read(join(root, stateFile))
  if (state !== undefined) yield* Checkpoint.assertSame(out, state.fingerprint, job.fingerprint)
  const archive = new FileArchive(sink, options, root, yield* Effect.scope, state)
  yield* archive.finishMove
  yield* archive.reopen
  if (archive.current === undefined) yield* refuseOthers
  return archive
})

/** An archive in files, with its state in a folder that this process holds. */
class FileArchive implements Archive {
  readonly completed: Array<Written> = []
  readonly #sink: FileSink
  readonly #options: Options
  readonly #root: string
  readonly #scope: Scope.Scope
  #progress: Progress
  #state: State | undefined
  #open: { readonly writer: Writer; readonly scope: Scope.Closeable } | undefined

  constructor(sink: FileSink, options: Options, root: string, scope: Scope.Scope, state: State | undefined) {
    this.#sink = sink
    this.#options = options
    this.#root = root
    this.#scope = scope
    this.#state = state
    this.#progress = state?.standing ?? options.start
  }

  get progress(): Progress {
    return this.#progress
  }

  get current(): Archive["current"] {
    if (this.#open === undefined) return undefined
    const { progress, size } = this.#open.writer
    return { from: Date.parse(progress.startedAt), rows: progress.items, size: size() }
  }

  /** Continues a move that a crash has interrupted. */
  get finishMove(): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const last = this.#state?.last
      if (last === undefined || !this.#options.isRotated || !(yield* disk.exists(this.#folder(-1)))) return
      if (!isNameOf(this.#sink.path, last.written)) return yield* sealed.edited(join(this.#root, stateFile))
      yield* this.#publish(last)
    })
  }

  /** Opens the file of the last run at its checkpoint. */
  get reopen(): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const folder = this.#folder()
      const checkpoint = yield* Checkpoint.read(join(folder, "checkpoint.json"))
      if (checkpoint === undefined) return yield* disk.remove(folder)
      yield* Checkpoint.assertSame(this.#sink.path, checkpoint.fingerprint, this.#options.job.fingerprint)
      const found = decodeProgress(checkpoint.progress.cursor)
      if (found._tag === "None") {
        return yield* new CheckpointUnusable({ path: folder, reason: "the progress of the stream is missing" })
      }
      this.#progress = found.value
      const growing = this.#growingIn(folder)
      if (growing === undefined || !(yield* isTaken(growing, this.#sink.path))) {
        return yield* this.#grow(folder, checkpoint.progress.startedAt)
      }
      this.#progress = { ...this.#progress, files: this.#progress.files + 1 }
      yield* this.#keep({})
      yield* disk.remove(folder)
    })
  }

  commit(rows: ReadonlyArray<object>, progress: Progress, from: number): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      if (this.#open === undefined && rows.length > 0) {
        const folder = this.#folder()
        yield* disk.attempt(folder, () => fs.mkdir(folder, { recursive: true }).then(() => disk.syncFolder(folder)))
        yield* this.#grow(folder, new Date(from).toISOString())
      }
      const counted = { ...progress, files: this.#progress.files }
      if (this.#open === undefined) {
        yield* this.#keep({ standing: counted, ...this.#state?.last && { last: this.#state.last } })
      } else {
        const { writer } = this.#open
        const { items, pages, ...others } = writer.progress
        yield* writer.write({ ...emptyPage, items: rows }, {
          ...others,
          cursor: JSON.stringify(counted),
          items: items + rows.length,
          pages: pages + 1
        })
        yield* writer.commit
      }
      this.#progress = counted
    })
  }

  /** A single file can be continued by a later run; a rotated one is moved to its place. */
  get close(): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      if (this.#open === undefined) return
      const { scope, writer } = this.#open
      const [output] = yield* writer.finish
      if (output === undefined) return
      const written = yield* this.#writtenOf(output, writer.progress.startedAt)
      const last = { written, file: basename(output.path) }
      yield* this.#options.isRotated ? this.#completeOne(last) : this.#completeAll(last, output.path)
      this.completed.push(written)
      this.#open = undefined
      yield* Scope.close(scope, Exit.void)
    })
  }

  note(gaps: ReadonlyArray<object>): Effect.Effect<void, ExportError> {
    return gaps.length === 0 ? Effect.void : append(gapsIn(this.#root), gaps)
  }

  get abandon(): Effect.Effect<void, ExportError> {
    return Effect.suspend(() =>
      this.#state === undefined && this.#open === undefined ? folders.abandon(this.#sink.path) : Effect.void
    )
  }

  /** The folder of the open file, or of one completed before. */
  #folder(before = 0): string {
    return join(this.#root, `file-${this.#progress.files + before}`)
  }

  /** The path of a file that is visible while it grows. */
  #growingIn(folder: string): string | undefined {
    return this.#options.isRotated || this.#sink.growing === undefined ? undefined : join(folder, this.#sink.growing)
  }

  #keep(state: Partial<State>): Effect.Effect<void, ExportError> {
    const { fingerprint } = this.#options.job
    const next: State = { version: 1, fingerprint, standing: this.#progress, ...state }
    return Effect.tap(
      states.write(join(this.#root, stateFile), next),
      Effect.sync(() => this.#state = next)
    )
  }

  /** Opens a sink in a folder: at its checkpoint, or at the beginning. */
  #grow(folder: string, from: string): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { isForced, job } = this.#options
      const own = yield* Scope.fork(this.#scope)
      const start = { ...Checkpoint.start(from), cursor: JSON.stringify(this.#progress) }
      const writer = yield* Scope.provide(this.#sink.open({ ...job, start }, folder), own).pipe(
        Effect.tapError(() => Scope.close(own, Exit.void))
      )
      this.#open = { writer, scope: own }
      const growing = this.#growingIn(folder)
      if (growing !== undefined) yield* show(growing, this.#sink.path, isForced)
    })
  }

  #writtenOf(output: Output, from: string): Effect.Effect<Written, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { bytes, sha256 } = yield* disk.digest(output.path, output.sha256)
      const out = this.#sink.path
      const name = this.#options.isRotated ? yield* freeNameOf(out, from) : basename(out)
      return { name, rows: output.rows, bytes, sha256, from }
    })
  }

  /** Completes one of several files. */
  #completeOne(last: NonNullable<State["last"]>): Effect.Effect<void, ExportError> {
    this.#progress = { ...this.#progress, files: this.#progress.files + 1 }
    return Effect.andThen(this.#keep({ last }), this.#publish(last))
  }

  /** Completes the only file, which replaces one that an earlier run wrote. */
  #completeAll(last: NonNullable<State["last"]>, path: string): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const former = this.#state?.last
      const before = former?.written.sha256
      yield* this.#keep({ last: { ...last, ...before !== undefined && { before } } })
      if (this.#sink.growing !== undefined) return
      const known = [before, former?.before, last.written.sha256]
      yield* replace(path, this.#sink.path, (found) => this.#options.isForced || known.includes(found))
    })
  }

  /** Moves a completed file to its place. If it is interrupted, the next run continues it. */
  #publish({ file, written }: NonNullable<State["last"]>): Effect.Effect<void, ExportError> {
    const folder = this.#folder(-1)
    const from = join(folder, file)
    const to = join(dirname(this.#sink.path), written.name)
    return Effect.gen({ self: this }, function*() {
      if (yield* disk.exists(from)) yield* disk.attempt(to, () => disk.place(from, to))
      yield* append(filesIn(this.#root), [written])
      yield* disk.remove(folder)
    })
  }
}

const stateFile = "stream.json"
const gapsIn = (root: string): string => join(root, "gaps.jsonl")
const filesIn = (root: string): string => join(root, "files.jsonl")

/** Appends lines to a file; they are on the disk when this succeeds. */
const append = (path: string, lines: ReadonlyArray<object>): Effect.Effect<void, ExportError> =>
  disk.attempt(path, async () => {
    await using file = await disk.open(path, "a")
    await file.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    await file.datasync()
  })

/** Truncates a last line that a crash has left incomplete. */
const repair = (path: string): Effect.Effect<void, ExportError> =>
  Effect.gen(function*() {
    if (!(yield* disk.exists(path))) return
    yield* disk.attempt(path, async () => {
      let whole = 0
      for await (const lines of linesOf(path)) {
        for (const line of lines) whole += Buffer.byteLength(line) + 1
      }
      const { size } = await fs.stat(path)
      if (whole < size) await fs.truncate(path, whole)
    })
  })

/** Links a growing file to its output name. Without links in the file system it appears at the end. */
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

/** Checks whether a growing file was moved away from its output name: then it belongs to the user, and a new one begins. */
const isTaken = (path: string, out: string): Effect.Effect<boolean, ExportError> =>
  disk.attempt(path, async () => {
    const [own, other] = await Promise.all([path, out].map((path) => fs.stat(path).catch(() => undefined)))
    return own !== undefined && other === undefined && own.nlink > 1
  })

/** Moves a file to a name that is free, or whose file may be replaced. */
const replace = Effect.fnUntraced(function*(from: string, to: string, mayReplace: (sha256: string) => boolean) {
  if ((yield* disk.exists(to)) && !mayReplace((yield* disk.digest(to)).sha256)) {
    return yield* new FileExists({ path: to })
  }
  yield* disk.attempt(to, () => disk.place(from, to, true))
})

/** A free name with the time of the first line: `posts-20261122T210000Z.jsonl`. */
const freeNameOf = Effect.fnUntraced(function*(out: string, from: string) {
  const { base, ending } = partsOf(out, from)
  for (let number = 1;; number++) {
    const free = `${base}${number === 1 ? "" : `-${number}`}${ending}`
    if (!(yield* disk.exists(join(dirname(out), free)))) return free
  }
})

/** Checks that a name is one of this archive, with the time of the file's first line. */
const isNameOf = (out: string, { from, name }: Written): boolean => {
  const { base, ending } = partsOf(out, from)
  return name.startsWith(base) && name.endsWith(ending) &&
    /^(?:-\d+)?$/.test(name.slice(base.length, name.length - ending.length))
}

/** The parts of a file's name before and after its number. */
const partsOf = (out: string, from: string): { readonly base: string; readonly ending: string } => {
  const name = basename(out)
  const ending = /(\.(jsonl|ndjson|json|csv|tsv|parquet|sqlite3?|db))?(\.(gz|zst))?$/i.exec(name)?.[0] ?? ""
  const stamp = from.replace(/\.\d+/, "").replaceAll(/[-:]/g, "")
  return { base: `${name.slice(0, name.length - ending.length)}-${stamp}`, ending }
}
