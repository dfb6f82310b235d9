/**
 * Texts by name in a folder that is closed to others: a file each, and beside it the one that is locked. A crash leaves the old
 * text or the new one, and no lock.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Stats } from "node:fs"
import { type FileLock, tryLock } from "./fileLock.ts"
import { codeOf, saidBy } from "./systemError.ts"

/** What can be wrong. */
export type Fault = "locked" | "unavailable" | "forbidden" | "exposed" | "full"

/** What was to be done. */
export type Action = "read" | "write" | "lock"

/** What the texts are. */
export interface Kind<E> {
  /** The file of a name, without its ending. */
  readonly fileOf: (name: string) => string
  /** Fails with what is wrong with a name. */
  readonly checkName: (name: string) => Effect.Effect<unknown, string>
  /** What others may do with a folder and its files, of the rights of Unix; more is refused. */
  readonly open: "nothing" | "read"
  readonly failure: (place: string, action: Action, fault: Fault, detail: string) => E
}

/** Texts in a folder. */
export interface TextFolder<E> {
  readonly describe: (name: string) => string
  readonly read: (name: string) => Effect.Effect<string | undefined, E>
  readonly write: (name: string, text: string | undefined) => Effect.Effect<void, E>
  readonly lock: (name: string) => Effect.Effect<void, E, Scope.Scope>
  /** The files that may have a text, without their endings. */
  readonly files: Effect.Effect<ReadonlyArray<string>, E>
}

/** So long others may hold the lock of a name. */
const lockTimeoutMillis = 30_000

const betweenAttemptsMillis = 20

// Not imported: Node takes a millisecond to load them, and most clients have no account.
const paths = () => process.getBuiltinModule("node:path")
const files = () => process.getBuiltinModule("node:fs/promises")

/** The texts in a folder. */
export const make = <E>(given: string, { checkName, failure, fileOf, open }: Kind<E>): TextFolder<E> => {
  const folder = paths().resolve(given)
  /** The locks that are held here, by the files that they are for. */
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

  /** Refuses what other users may read. Windows has lists of access, which those of a user's own folder get right. */
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

  /** Whether there is a folder, which is refused when others may look into it. */
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

/** What nobody else may have. */
const forbidden = { nothing: 0o077, read: 0o022 } as const

const suffix = ".json"

/** The text of a file, where there is one, and who may read it. */
const read = async (path: string) => {
  // Neither follows a link, which a write would replace, nor waits for who writes into a pipe.
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

/** Puts a text in the place of a file: whatever happens, the whole old or the whole new one is there. */
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

/** It may have one name only, for who writes it has the lock; who has the lock next removes what a crash left. */
const temporaryOf = (path: string) => `${path}.tmp`

/** A name is there after a crash only when its folder was synchronised too. */
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

/** Node's own way says of a read-only disk that the folder is not there, and synchronises nothing. */
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

/** What is clearer than the words of the system. */
const details: Readonly<Record<string, string>> = {
  EISDIR: "it is not a file",
  ELOOP: "it is a symbolic link, which a write would replace",
  EROFS: "its file system is read-only",
  EACCES: "permission denied",
  ENOSPC: "no space left on the device"
}
