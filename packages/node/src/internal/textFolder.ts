/**
 * Texts by name in a private folder: a file each, with a lock file beside it. A crash leaves the old text or the new one, and no
 * lock.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Stats } from "node:fs"
import { type FileLock, tryLock } from "./fileLock.ts"
import { codeOf, saidBy } from "./systemError.ts"

/** The kind of a failure. */
export type Fault = "locked" | "unavailable" | "forbidden" | "exposed" | "full"

/** The failed action. */
export type Action = "read" | "write" | "lock"

/** Properties of the texts. */
export interface Kind<E> {
  /** The file of a name, without its extension. */
  readonly fileOf: (name: string) => string
  /** Fails with the rule that a name breaks. */
  readonly checkName: (name: string) => Effect.Effect<unknown, string>
  /** The Unix permissions that other users may have; more are refused. */
  readonly open: "nothing" | "read"
  readonly failure: (place: string, action: Action, fault: Fault, detail: string) => E
}

/** Texts in a folder. */
export interface TextFolder<E> {
  readonly describe: (name: string) => string
  readonly read: (name: string) => Effect.Effect<string | undefined, E>
  readonly write: (name: string, text: string | undefined) => Effect.Effect<void, E>
  readonly lock: (name: string) => Effect.Effect<void, E, Scope.Scope>
  /** The files that may have a text, without their extensions. */
  readonly files: Effect.Effect<ReadonlyArray<string>, E>
}

/** The longest wait for the lock of a name. */
const lockTimeoutMillis = 30_000

const betweenAttemptsMillis = 20

// Not imported: Node takes a millisecond to load them, and most clients have no account.
const paths = () => process.getBuiltinModule("node:path")
const files = () => process.getBuiltinModule("node:fs/promises")

/** The texts in a folder. */
export const make = <E>(given: string, { checkName, failure, fileOf, open }: Kind<E>): TextFolder<E> => {
  const folder = paths().resolve(given)
  /** The locks held here, by their files. */
  const held = new Map<string, FileLock>()
  const pathIn = (file: string) => paths().join(folder, `${file}${suffix}`)

  const fail = (path: string, action: Action, fault: Fault, detail: string) =>
    Effect.fail(failure(path, action, fault, detail))

  const attempt = <A>(path: string, action: Action, work: () => Promise<A>): Effect.Effect<A, E> =>
    Effect.tryPromise({ try: work, catch: (cause) => failureOf(path, action, cause) })

  const failureOf = (path: string, action: Action, cause: unknown): E => {
    const code = codeOf(cause) ?? ""
    return failure(path, action, faults[code] ?? "unavailable", details[code] ?? saidBy(cause))
  }

  const named = (name: string, action: Action) =>
    Effect.mapBoth(checkName(name), {
      onFailure: (rule) => failure(folder, action, "unavailable", rule),
      onSuccess: () => fileOf(name)
    })

  /** Refuses files with excessive permissions. Windows has access lists, which are right in the user's own folder. */
  const checkClosed = (path: string, action: Action, { mode, uid }: Stats, closed: string) =>
    process.geteuid === undefined
      ? Effect.void
      : uid !== process.geteuid()
      ? fail(path, action, "forbidden", `it belongs to the user with the number ${uid}`)
      : (mode & forbidden[open]) !== 0
      ? fail(
        path,
        action,
        "exposed",
        `close it with chmod ${closed} ${/^[\w./-]+$/.test(path) ? path : JSON.stringify(path)}`
      )
      : Effect.void

  /** Tests whether the folder exists, and refuses one with excessive permissions. */
  const checkFolder = (action: Action): Effect.Effect<boolean, E> =>
    Effect.flatMap(attempt(folder, action, () => orMissing(files().stat(folder))), (stats) =>
      stats === undefined
        ? Effect.succeed(false)
        : Effect.as(
          stats.isDirectory()
            ? checkClosed(folder, action, stats, "700")
            : fail(folder, action, "unavailable", "it is not a folder"),
          true
        ))

  const lock = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, E, Scope.Scope> {
    const file = yield* named(name, "lock")
    const path = pathIn(file)
    const lockPath = paths().join(folder, `${file}.lock`)
    const locking = Effect.try({
      try: () => tryLock(lockPath),
      catch: (cause) => failureOf(path, "lock", cause)
    })
    yield* Effect.timeoutOrElse(
      Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
        if (!(yield* checkFolder("lock"))) yield* attempt(folder, "lock", () => makeFolders(folder))
        let lock: FileLock | undefined
        while ((lock = yield* locking) === undefined) yield* restore(Effect.sleep(betweenAttemptsMillis))
        const { release } = lock
        held.set(file, lock)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            held.delete(file)
            release(process.getBuiltinModule("node:fs").existsSync(path) ? "keep" : "remove")
          })
        )
        yield* attempt(path, "lock", () => files().rm(temporaryOf(path), { force: true }))
      })),
      {
        duration: lockTimeoutMillis,
        orElse: () => fail(path, "lock", "locked", `for ${lockTimeoutMillis / 1000} s`)
      }
    )
  })

  const writeLocked = Effect.fnUntraced(function*(file: string, text: string | undefined) {
    const path = pathIn(file)
    if (held.get(file)?.isEffective() === false) {
      return yield* fail(path, "write", "locked", "the file of our lock was removed, and another may have it")
    }
    yield* text === undefined
      ? attempt(path, "write", () => remove(path))
      : attempt(path, "write", () => replace(path, text))
  }, Effect.uninterruptible)

  return {
    describe: (name) => pathIn(fileOf(name)),
    read: Effect.fnUntraced(function*(name) {
      const path = pathIn(yield* named(name, "read"))
      if (!(yield* checkFolder("read"))) return undefined
      const found = yield* attempt(path, "read", () => read(path))
      if (found === undefined) return undefined
      if (found.text === undefined) return yield* fail(path, "read", "unavailable", "it is not a file")
      yield* checkClosed(path, "read", found.stats, "600")
      return found.text
    }),
    write: (name, text) =>
      Effect.flatMap(named(name, "write"), (file) =>
        held.has(file)
          ? writeLocked(file, text)
          : Effect.scoped(Effect.andThen(lock(name), writeLocked(file, text)))),
    lock,
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

const faults: Readonly<Record<string, Fault>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "forbidden"
}

/** Details that are clearer than the messages of the system. */
const details: Readonly<Record<string, string>> = {
  EISDIR: "it is not a file",
  ELOOP: "it is a symbolic link, which a write would replace",
  EROFS: "its file system is read-only",
  EACCES: "permission denied",
  ENOSPC: "no space left on the device"
}
