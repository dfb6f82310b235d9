/**
 * The folder of an export, `<out>.postwire`: with `<out>` itself the one name that it uses. Whoever wants to know what is
 * ours looks for the mark in it; what does not carry it is never changed.
 *
 * - `about.txt`: the mark, and what this is; `lock`: held by the export that runs
 * - `work/`: an export that is not complete: what the sink keeps, and `result.json` once only moving is left
 * - `manifest.json`, and the files of what came beside the items: of the last complete export
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import { basename, dirname, join, parse, resolve } from "node:path"
import * as disk from "../files/Disk.ts"
import { CheckpointUnusable, type ExportError, FileExists, OutputRefused } from "../files/ExportErrors.ts"
import * as lock from "../files/Lock.ts"
import * as sealed from "../files/Sealed.ts"
import * as Manifest from "./Manifest.ts"
import type { Mode, Output } from "./Sink.ts"

/** The names of an export. */
const namesOf = (out: string) => namesIn(`${out}${suffix}`)

const namesIn = (folder: string) => ({
  folder,
  about: join(folder, "about.txt"),
  lock: join(folder, "lock"),
  manifest: join(folder, "manifest.json"),
  work: join(folder, "work"),
  /** A `work` whose files have all been moved. */
  moved: join(folder, "moved")
})

type Names = ReturnType<typeof namesOf>

const suffix = ".postwire"

/** Where an export that is not complete is kept. */
export const workOf = (out: string): string => namesOf(out).work

/** Where a file of a complete export belongs. */
const placeOf = (out: string, { holds, name }: { readonly holds: string; readonly name: string }): string =>
  holds === "items" ? out : join(namesOf(out).folder, basename(name))

/** The name of a complete file, as seen from the folder of the items. */
export const nameOf = (out: string, { holds, path }: Pick<Output, "holds" | "path">): string =>
  holds === "items" ? basename(out) : `${basename(out)}${suffix}/${basename(path)}`

/** What there is: an export to go on with, which may have nothing yet, or one that is complete. */
export type Standing =
  | { readonly _tag: "Open"; readonly work: string }
  | { readonly _tag: "Complete"; readonly manifest: Manifest.Manifest }

/** Takes the folder of an export until the scope ends. Refuses what it may not touch before it changes anything. */
export const open = Effect.fnUntraced(function*(
  out: string,
  mode: Mode
): Effect.fn.Return<Standing, ExportError, Scope.Scope> {
  yield* hold(out, {
    about,
    before: Effect.gen(function*() {
      const found = yield* lookAt(out)
      if (mode === "resume") yield* refuseFormer(out)
      if (found !== undefined && mode !== "force") return yield* new FileExists({ path: out })
    })
  })
  return yield* settle(out, mode)
})

/** How a folder is taken. */
interface Holding {
  /** What says in the folder what it is. It begins with the mark. */
  readonly about: string
  /** What may refuse to make the folder. */
  readonly before: Effect.Effect<void, ExportError>
}

/** Takes the folder that is named after a file until the scope ends, and makes it where there is none. */
export const hold = Effect.fnUntraced(function*(
  out: string,
  { about, before }: Holding
): Effect.fn.Return<string, ExportError, Scope.Scope> {
  const names = namesOf(out)
  if (out.endsWith(suffix)) return yield* refuse(out, `${suffix} is the name of an export's folder`)
  const parent = dirname(resolve(out))
  if (parent.endsWith(suffix) && (yield* isMarked(namesIn(parent).about))) {
    return yield* refuse(out, `${parent} is the folder of another export, which removes what it does not know`)
  }
  yield* lookAt(out)
  if (!(yield* disk.exists(names.folder))) yield* before
  yield* Effect.retry(take(out, names, about), { times: 9, while: ({ _tag }) => _tag !== "AlreadyRunning" })
  return names.folder
})

/** Claims and locks the folder. Who ends before its first page removes it: then one can find it half gone, and begins again. */
const take = Effect.fnUntraced(function*(
  out: string,
  names: Names,
  about: string
): Effect.fn.Return<void, ExportError, Scope.Scope> {
  yield* claim(out, names, about)
  const own = yield* Scope.fork(yield* Effect.scope)
  const isHeld = yield* Effect.provideService(lock.take(names.lock, out), Scope.Scope, own)
  if (isHeld && (yield* isMarked(names.about))) return
  yield* Scope.close(own, Exit.void)
  return yield* refuse(out, `${names.folder} comes and goes`)
})

const refuse = (path: string, reason: string) => Effect.fail(new OutputRefused({ path, reason }))

/** What has the name of the result: nothing, or a file. */
const lookAt = Effect.fnUntraced(function*(out: string) {
  const found = yield* disk.look(out)
  if (found === undefined || found.isFile()) return found
  return yield* refuse(
    out,
    `it is a ${
      found.isDirectory()
        ? "folder"
        : found.isSymbolicLink()
        ? "symbolic link"
        : found.isFIFO()
        ? "pipe"
        : found.isSocket()
        ? "socket"
        : "device"
    }`
  )
})

/** What every folder of ours says first. */
export const mark = "This folder belongs to an export of Postwire (layout 2).\n"

const about = `${mark}
It is named after the file that the export writes. While the export runs, or until it is resumed, what has been fetched is
in work/. When it is complete, manifest.json tells what was asked, what came, and the SHA-256 of every file.

Nothing else should be kept here. Without this folder an unfinished export begins anew.
`

const isMarked = (path: string): Effect.Effect<boolean, ExportError> =>
  Effect.map(disk.read(path), (text) => text?.startsWith(mark) === true)

/** Makes the folder and marks it as ours; one that is somebody else's is refused. */
const claim = Effect.fnUntraced(function*(out: string, names: Names, about: string) {
  yield* disk.attempt(names.folder, () =>
    fs.mkdir(names.folder).then(
      () => disk.syncFolder(names.folder),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error
      }
    ))
  const foreign = refuse(out, `${names.folder} is there already, and is not the folder of an export`)
  const folder = yield* disk.look(names.folder)
  if (folder?.isDirectory() !== true) return yield* foreign
  if (!(yield* isOwn(names.folder, folder.uid))) {
    return yield* refuse(out, `${names.folder} belongs to another user, who could have prepared it`)
  }
  yield* refuseLinks(out, names.folder)
  if (yield* isMarked(names.about)) return
  // A crash at the beginning leaves no more than this.
  const text = (yield* disk.read(names.about)) ?? ""
  const size = (yield* disk.look(names.lock))?.size ?? 0n
  const others = (yield* disk.attempt(names.folder, () => fs.readdir(names.folder)))
    .filter((name) => name !== "about.txt" && name !== "lock")
  if (others.length > 0 || size > 0n || !about.startsWith(text)) return yield* foreign
  yield* disk.attempt(names.about, () => fs.writeFile(names.about, about))
})

/** Checks that a folder belongs to this user. A file system that maps owners gives a new folder to the same one. */
const isOwn = (folder: string, owner: bigint): Effect.Effect<boolean, ExportError> =>
  disk.attempt(folder, async () => {
    if (process.getuid === undefined || owner === BigInt(process.getuid())) return true
    const probe = await fs.mkdtemp(join(folder, "owner-"))
    const { uid } = await fs.lstat(probe)
    await fs.rmdir(probe)
    return BigInt(uid) === owner
  })

/** Refuses a folder in which anything is neither a file nor a folder: a link would lead to files of the user. */
const refuseLinks = Effect.fnUntraced(function*(out: string, folder: string) {
  const entries = yield* disk.attempt(folder, () => fs.readdir(folder, { recursive: true, withFileTypes: true }))
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (odd === undefined) return
  return yield* refuse(out, `${join(odd.parentPath, odd.name)} is neither a file nor a folder`)
})

/** What an export of an earlier version has begun cannot be gone on with. */
const refuseFormer = Effect.fnUntraced(function*(out: string) {
  const { base, dir } = parse(out)
  const dot = base.indexOf(".", 1)
  const path = join(dir, `${dot === -1 ? base : base.slice(0, dot)}.checkpoint.json`)
  const isFormer = yield* Effect.map(
    Effect.orElseSucceed(disk.read(path), () => undefined),
    (text) => text !== undefined && /^\{\s*"version": 1,\s*"fingerprint": \{/.test(text)
  )
  if (!isFormer) return
  return yield* new CheckpointUnusable({
    path,
    reason: "an earlier version wrote it, which kept its files beside the result: finish it with that version"
  })
})

const Result = Schema.Struct({
  /** The file of the items, in `work`. */
  items: disk.Name,
  manifest: Manifest.Manifest
})

const decodeResult = Schema.decodeUnknownOption(Result)

/** Where the export stands, for who holds the lock. */
const settle = Effect.fnUntraced(function*(out: string, mode: Mode): Effect.fn.Return<Standing, ExportError> {
  const names = namesOf(out)
  if (yield* disk.exists(names.moved)) yield* clear(out)
  const exists = (path: string) => new FileExists({ path })
  if (mode === "resume" && (yield* disk.exists(resultOf(names.work)))) {
    yield* move(out)
    return yield* complete(out)
  }
  const found = yield* lookAt(out)
  if (mode === "force") yield* remove(names.work)
  if (yield* disk.exists(names.work)) {
    if (mode === "new") return yield* exists(names.folder)
    if (found !== undefined && !(yield* disk.exists(replacing(names.work)))) return yield* exists(out)
    return { _tag: "Open", work: names.work }
  }
  if (mode === "resume" && (yield* disk.exists(names.manifest))) return yield* complete(out)
  if (found !== undefined && mode !== "force") return yield* exists(out)
  if (mode === "new" && (yield* disk.exists(names.manifest))) return yield* exists(names.folder)
  yield* disk.attempt(names.work, async () => {
    await fs.mkdir(names.work)
    if (found !== undefined) await fs.writeFile(replacing(names.work), "")
    await disk.syncFolder(names.work)
  })
  return { _tag: "Open", work: names.work }
})

const resultOf = (work: string): string => join(work, "result.json")

/** Is there when the export was told to replace the file that has its name. */
const replacing = (work: string): string => join(work, "replacing")

const remove = (path: string): Effect.Effect<void, ExportError> =>
  disk.attempt(path, () => fs.rm(path, { recursive: true, force: true }))

/** The manifest of a complete export, whose files are all as they were. */
const complete = Effect.fnUntraced(function*(out: string): Effect.fn.Return<Standing, ExportError> {
  const path = namesOf(out).manifest
  const manifest = yield* Manifest.read(path)
  const changed = (reason: string) => new CheckpointUnusable({ path, reason })
  if (manifest === undefined) return yield* changed("it is gone")
  for (const file of manifest.files) {
    const place = placeOf(out, file)
    if (!(yield* disk.exists(place))) return yield* changed(`${place} is gone`)
    const { sha256 } = yield* disk.digest(place)
    if (sha256 !== file.sha256) return yield* changed(`${place} was changed since`)
  }
  return { _tag: "Complete", manifest }
})

/** Moves the files of a complete export to their places. Whatever ends it, the next run goes on with that. */
export const publish = Effect.fnUntraced(function*(out: string, items: string, manifest: Manifest.Manifest) {
  yield* disk.replace(resultOf(workOf(out)), sealed.stringify({ items: basename(items), manifest }))
  yield* move(out)
})

const move = Effect.fnUntraced(function*(out: string) {
  const names = namesOf(out)
  const path = resultOf(names.work)
  const result = decodeResult(sealed.parse((yield* disk.read(path)) ?? ""))
  if (result._tag === "None") return yield* new CheckpointUnusable({ path, reason: "it was changed" })
  const { items, manifest } = result.value
  yield* lookAt(out)
  for (const file of manifest.files) {
    const place = placeOf(out, file)
    const from = join(names.work, file.holds === "items" ? items : basename(file.name))
    const mayReplace = file.holds !== "items" || (yield* disk.exists(replacing(names.work)))
    if (yield* disk.exists(from)) {
      yield* Effect.mapError(
        disk.attempt(place, () => mayReplace ? fs.rename(from, place) : moveToFree(from, place)),
        (error) => error._tag === "FileExists" ? new FileExists({ path: place, isComplete: true }) : error
      )
    }
  }
  yield* disk.attempt(out, async () => {
    await disk.syncFolder(out)
    await fs.rename(names.work, names.moved)
    await disk.syncFolder(names.work)
  })
  yield* clear(out)
})

/** Moves a file where none is, nor comes meanwhile. */
export const moveToFree = async (from: string, to: string): Promise<void> => {
  try {
    await fs.link(from, to)
  } catch (error) {
    const code = disk.codeOf(error)
    if (code === "EEXIST") {
      // It was linked already when a crash came.
      const [source, target] = await Promise.all([fs.lstat(from), fs.lstat(to)])
      if (source.ino !== target.ino || source.dev !== target.dev) throw error
    } else if (withoutLinks.has(code ?? "")) {
      if (await fs.lstat(to).then(() => true, () => false)) throw Object.assign(new Error(to), { code: "EEXIST" })
      return await fs.rename(from, to)
    } else throw error
  }
  await fs.unlink(from)
}

/** What file systems say that have no links. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

/** Makes the manifest that of the moved files, and removes what nothing refers to any more. */
const clear = Effect.fnUntraced(function*(out: string) {
  const names = namesOf(out)
  const result = decodeResult(sealed.parse((yield* disk.read(resultOf(names.moved))) ?? ""))
  if (result._tag === "Some") {
    const { manifest } = result.value
    const before = yield* Effect.orElseSucceed(Manifest.read(names.manifest), () => undefined)
    yield* Manifest.write(names.manifest, manifest)
    const kept = new Set(manifest.files.map((file) => placeOf(out, file)))
    for (const file of before?.files ?? []) {
      if (!kept.has(placeOf(out, file))) yield* remove(placeOf(out, file))
    }
  }
  yield* remove(names.moved)
})

/** Tells why an export is not complete. */
export const leave = (out: string, manifest: Manifest.Manifest): Effect.Effect<void, ExportError> =>
  Manifest.write(join(workOf(out), "manifest.json"), manifest)

/** Undoes `open`, for an export that ended before its first page. */
export const abandon = Effect.fnUntraced(function*(out: string) {
  const names = namesOf(out)
  yield* remove(names.work)
  if (yield* disk.exists(names.manifest)) return
  yield* disk.attempt(names.folder, async () => {
    if ((await fs.readdir(names.folder)).length > 2) return
    // In this order: whoever comes before the lock is gone cannot take it, and who comes later claims what is left.
    await fs.unlink(names.about)
    await fs.unlink(names.lock)
    await fs.rmdir(names.folder)
  })
})
