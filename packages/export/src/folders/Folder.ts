/**
 * The folder `<out>.postwire` beside an output file. An export, a stream and a compliance check keep their state there, under one
 * lock. A folder without our mark in `about.txt` is never changed.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import * as disk from "../files/Disk.ts"
import { type ExportError, OutputRefused } from "../files/ExportErrors.ts"
import * as lock from "../files/Lock.ts"

/** The ending of a folder's name. */
export const suffix = ".postwire"

/** The path of the folder of an output file. */
export const folderOf = (out: string): string => `${out}${suffix}`

/** The files of every folder. All others belong to its owner: an export, a stream or a check. */
const namesIn = (folder: string) => ({ folder, about: join(folder, "about.txt"), lock: join(folder, "lock") })

type Names = ReturnType<typeof namesIn>

const shared = new Set(["about.txt", "lock"])

/** The first line of every `about.txt`. */
const mark = "This folder belongs to an export of Postwire (layout 2).\n"

/** How to take a folder. */
interface Holding {
  /** The text of `about.txt` after the mark. */
  readonly about: string
  /** Runs before the folder is made, and may refuse to. */
  readonly before: Effect.Effect<void, ExportError>
}

/** Takes the folder of an output file until the scope ends, and creates it if needed. Nothing is changed before all checks pass. */
export const hold = Effect.fnUntraced(function*(
  out: string,
  { about, before }: Holding
): Effect.fn.Return<string, ExportError, Scope.Scope> {
  const names = namesIn(folderOf(out))
  if (out.endsWith(suffix)) return yield* refuse(out, `${suffix} is the name of an export's folder`)
  const parent = dirname(resolve(out))
  if (parent.endsWith(suffix) && (yield* isMarked(namesIn(parent).about))) {
    return yield* refuse(out, `${parent} is the folder of another export, which removes unknown files`)
  }
  yield* lookAt(out)
  if (!(yield* disk.exists(names.folder))) yield* before
  yield* Effect.retry(take(out, names, `${mark}\n${about}`), {
    times: 9,
    while: ({ _tag }) => _tag !== "AlreadyRunning"
  })
  return names.folder
})

/** Claims and locks the folder. A run that ends before its first page removes it, perhaps just now: hence the second look. */
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

/** The output file, or `undefined` if there is none. Anything but a file is refused. */
export const lookAt = Effect.fnUntraced(function*(out: string) {
  const found = yield* disk.look(out)
  if (found === undefined || found.isFile()) return found
  const kind = found.isDirectory()
    ? "folder"
    : found.isSymbolicLink()
    ? "symbolic link"
    : found.isFIFO()
    ? "pipe"
    : found.isSocket()
    ? "socket"
    : "device"
  return yield* refuse(out, `it is a ${kind}`)
})

const isMarked = (path: string): Effect.Effect<boolean, ExportError> =>
  Effect.map(disk.read(path), (text) => text?.startsWith(mark) === true)

/** Creates and marks the folder. A folder without the mark is refused. */
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
  // A crash during creation leaves no more than an empty lock and the beginning of the text.
  const text = (yield* disk.read(names.about)) ?? ""
  const size = (yield* disk.look(names.lock))?.size ?? 0n
  const others = yield* disk.attempt(names.folder, () => ownersFiles(names.folder))
  if (others.length > 0 || size > 0n || !about.startsWith(text)) return yield* foreign
  // Without its mark, a folder with a checkpoint would be refused after a power failure.
  yield* disk.attempt(names.about, () => fs.writeFile(names.about, about, { flush: true }))
})

const ownersFiles = (folder: string): Promise<ReadonlyArray<string>> =>
  fs.readdir(folder).then((names) => names.filter((name) => !shared.has(name)))

/** Checks that a folder belongs to this user. A file system that maps owners also maps that of a new folder. */
const isOwn = (folder: string, owner: bigint): Effect.Effect<boolean, ExportError> =>
  disk.attempt(folder, async () => {
    if (process.getuid === undefined || owner === BigInt(process.getuid())) return true
    const probe = await fs.mkdtemp(join(folder, "owner-"))
    const { uid } = await fs.lstat(probe)
    await fs.rmdir(probe)
    return BigInt(uid) === owner
  })

/** Refuses a folder that contains anything but files and folders: a link could lead to the user's files. */
const refuseLinks = Effect.fnUntraced(function*(out: string, folder: string) {
  const entries = yield* disk.attempt(folder, () => fs.readdir(folder, { recursive: true, withFileTypes: true }))
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (odd === undefined) return
  return yield* refuse(out, `${join(odd.parentPath, odd.name)} is neither a file nor a folder`)
})

/** Removes everything that the owner keeps in the folder. */
export const empty = (folder: string): Effect.Effect<void, ExportError> =>
  disk.attempt(folder, async () => {
    for (const name of await ownersFiles(folder)) await fs.rm(join(folder, name), { recursive: true })
  })

/** Removes the folder if its owner keeps nothing in it. */
export const abandon = (out: string): Effect.Effect<void, ExportError> => {
  const { about, folder, lock } = namesIn(folderOf(out))
  return disk.attempt(folder, async () => {
    if ((await fs.readdir(folder)).length > 2) return
    // The order matters: until the lock is gone no other process can take it, and later ones claim what is left.
    await fs.unlink(about)
    await fs.unlink(lock)
    await fs.rmdir(folder)
  })
}
