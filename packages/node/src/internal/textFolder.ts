/**
 * Texts by name in a private folder: a file each, with a lock file beside it. A crash leaves the old text or the new one, and no
 * lock.
 */
import { InvalidSettings, StorageFailure, type StorageFault } from "@postwire/core/errors/Errors"
import * as Texts from "@postwire/core/storage/Texts"
import * as Effect from "effect/Effect"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type { Stats } from "node:fs"
import { type FileLock, tryLock } from "./fileLock.ts"
import { codeOf, faultOf, saidBy } from "./systemError.ts"

type Action = StorageFailure["action"]

/** Properties of the texts. */
export interface Rules {
  readonly kind: StorageFailure["kind"]
  /** The file of a name, without its extension. */
  readonly fileOf: (name: string) => string
  /** Fails with the rule that a name breaks. */
  readonly checkName: (name: string) => Effect.Effect<unknown, string>
  /** The Unix permissions that other users may have; more are refused. */
  readonly open: "nothing" | "read"
}

/** Texts in a folder. */
export interface TextFolder extends Texts.Texts {
  /** The files that may have a text, without their extensions. */
  readonly files: Effect.Effect<ReadonlyArray<string>, StorageFailure>
}

/** The user's folder of a kind, or the reason why there is none. */
export const ownFolder = (
  setting: string,
  kind: "config" | "state",
  contents: string
): Effect.Effect<string, InvalidSettings> =>
  Effect.suspend(() => UserDirectories.make()[kind]("postwire")).pipe(
    Effect.filterOrFail((folder) => paths().isAbsolute(folder)),
    Effect.mapError(() =>
      new InvalidSettings({
        setting,
        rule: `must name a folder: this user has no home to keep ${contents} in (HOME is not set)`
      })
    )
  )

// Not imported: Node takes a millisecond to load them, and most clients have no account.
const paths = () => process.getBuiltinModule("node:path")
const files = () => process.getBuiltinModule("node:fs/promises")

/** The texts in a folder. */
export const make = (given: string, { checkName, fileOf, kind, open }: Rules): TextFolder => {
  const folder = paths().resolve(given)
  const pathIn = (file: string) => paths().join(folder, `${file}${suffix}`)

  const failure = (place: string, action: Action, fault: StorageFault, detail: string) =>
    new StorageFailure({ kind, place, action, fault, detail })

  const failureOf = (path: string, action: Action) => (cause: unknown) =>
    failure(path, action, faultOf(cause), details[codeOf(cause) ?? ""] ?? saidBy(cause))

  const attempt = <A>(path: string, action: Action, work: () => Promise<A>): Effect.Effect<A, StorageFailure> =>
    Effect.tryPromise({ try: work, catch: failureOf(path, action) })

  const pathOf = (name: string, action: Action) =>
    Effect.mapBoth(checkName(name), {
      onFailure: (rule) => failure(folder, action, "unavailable", rule),
      onSuccess: () => pathIn(fileOf(name))
    })

  /** Refuses files with excessive permissions. Windows has access lists, which are right in the user's own folder. */
  const checkClosed = (path: string, action: Action, { mode, uid }: Stats, closed: string) => {
    if (process.geteuid === undefined) return Effect.void
    if (uid !== process.geteuid()) {
      return Effect.fail(failure(path, action, "forbidden", `it belongs to the user with the number ${uid}`))
    }
    if ((mode & forbidden[open]) === 0) return Effect.void
    const quoted = /^[\w./-]+$/.test(path) ? path : JSON.stringify(path)
    return Effect.fail(failure(path, action, "exposed", `close it with chmod ${closed} ${quoted}`))
  }

  /** Tests whether the folder exists, and refuses one with excessive permissions. */
  const checkFolder = Effect.fnUntraced(function*(action: Action) {
    const stats = yield* attempt(folder, action, () => orMissing(files().stat(folder)))
    if (stats === undefined) return false
    if (!stats.isDirectory()) return yield* failure(folder, action, "unavailable", "it is not a folder")
    yield* checkClosed(folder, action, stats, "700")
    return true
  })

  const texts = Texts.make<FileLock>({
    kind,
    describe: (name) => pathIn(fileOf(name)),
    read: Effect.fnUntraced(function*(name) {
      const path = yield* pathOf(name, "read")
      if (!(yield* checkFolder("read"))) return undefined
      const found = yield* attempt(path, "read", () => read(path))
      if (found === undefined) return undefined
      if (found.text === undefined) return yield* failure(path, "read", "unavailable", "it is not a file")
      yield* checkClosed(path, "read", found.stats, "600")
      return found.text
    }),
    acquire: Effect.fnUntraced(function*(name) {
      const path = yield* pathOf(name, "lock")
      if (!(yield* checkFolder("lock"))) yield* attempt(folder, "lock", () => makeFolders(folder))
      const lock = yield* Effect.try({
        try: () => tryLock(path.slice(0, -suffix.length) + ".lock"),
        catch: failureOf(path, "lock")
      })
      if (lock === undefined) return undefined
      const isStored = () => process.getBuiltinModule("node:fs").existsSync(path)
      yield* Effect.addFinalizer(() => Effect.sync(() => lock.release(isStored() ? "keep" : "remove")))
      yield* attempt(path, "lock", () => files().rm(temporaryOf(path), { force: true }))
      return lock
    }, Effect.uninterruptible),
    write: Effect.fnUntraced(function*(name, text, lock) {
      const path = pathIn(fileOf(name))
      if (!lock.isEffective()) {
        return yield* failure(path, "write", "locked", "the file of our lock was removed, and another may have it")
      }
      yield* attempt(path, "write", () => text === undefined ? remove(path) : replace(path, text))
    }, Effect.uninterruptible)
  })
  return {
    ...texts,
    files: Effect.gen(function*() {
      if (!(yield* checkFolder("read"))) return []
      const found = yield* attempt(folder, "read", () => files().readdir(folder))
      return found.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length))
    })
  }
}

/** The permissions that other users must not have. */
const forbidden = { nothing: 0o077, read: 0o022 } as const

const suffix = ".json"

/** The text of a file, if it exists, and its permissions. */
const read = async (path: string) => {
  // Does not follow a link, which a write would replace, nor wait for the writer of a pipe.
  const { constants, promises } = process.getBuiltinModule("node:fs")
  const file = await orMissing(
    promises.open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  )
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    return { stats, text: stats.isFile() ? await file.readFile("utf8") : undefined }
  } finally {
    await file.close()
  }
}

/** Replaces a file atomically: after a crash, it has the complete old text or the complete new one. */
const replace = async (path: string, text: string) => {
  const temporary = temporaryOf(path)
  try {
    const file = await files().open(temporary, "wx", 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await files().rename(temporary, path)
  } catch (cause) {
    await files().rm(temporary, { force: true })
    throw cause
  }
  await syncFolder(paths().dirname(path))
}

const remove = async (path: string) => {
  await files().rm(path, { force: true })
  await syncFolder(paths().dirname(path))
}

/** One fixed name is enough, since its writer has the lock. The next holder of the lock removes the rest of a crash. */
const temporaryOf = (path: string) => `${path}.tmp`

/** A file name survives a crash only if its folder was synchronized too. */
const syncFolder = async (path: string) => {
  try {
    const folder = await files().open(path, "r")
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (cause) {
    // Windows and some network file systems cannot.
    if (!unsynchronised.has(codeOf(cause) ?? "")) throw cause
  }
}

const unsynchronised = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EPERM", "EACCES", "EISDIR", "EBADF"])

/** Node's recursive `mkdir` reports a missing folder on a read-only disk, and synchronizes nothing. */
const makeFolders = async (folder: string): Promise<void> => {
  const parent = paths().dirname(folder)
  if (parent !== folder && await orMissing(files().stat(parent)) === undefined) await makeFolders(parent)
  await files().mkdir(folder, { mode: 0o700 }).catch((cause: unknown) => {
    if (codeOf(cause) !== "EEXIST") throw cause
  })
  await syncFolder(parent)
}

const orMissing = <A>(work: Promise<A>): Promise<A | undefined> =>
  work.catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  })

/** Details that are clearer than the messages of the system. */
const details: Readonly<Record<string, string>> = {
  EISDIR: "it is not a file",
  ELOOP: "it is a symbolic link, which a write would replace",
  EROFS: "its file system is read-only",
  EACCES: "permission denied",
  ENOSPC: "no space left on the device"
}
