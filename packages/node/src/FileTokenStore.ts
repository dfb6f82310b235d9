/**
 * The accounts of one user, in a folder that is closed to all others: a file each, and beside it the one that is locked. A
 * crash leaves the old text or the new one, and no lock.
 */
import { checkName } from "@postwire/core/Account"
import { InvalidSettings, TokenStoreFailure, type TokenStoreFault } from "@postwire/core/Errors"
import * as TokenStore from "@postwire/core/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Stats } from "node:fs"
import { type FileLock, tryLock } from "./internal/FileLock.ts"

/** Settings of the store. */
export interface Options {
  /** The folder, made when it is not there. Default: `postwire/accounts` in the user's folder for settings. */
  readonly folder?: string | undefined
}

/** So long others may hold the lock of an account. */
const lockTimeoutMillis = 30_000

const betweenAttemptsMillis = 20

type Action = TokenStoreFailure["action"]

// Not imported: Node takes a millisecond to load them, and most clients have no account.
const paths = () => process.getBuiltinModule("node:path")
const files = () => process.getBuiltinModule("node:fs/promises")

/** The folder of accounts where none is named, as `~/.config/postwire/accounts`. */
export const ownFolder: Effect.Effect<string, InvalidSettings> = Effect.suspend(() =>
  UserDirectories.make().config("postwire")
).pipe(
  Effect.filterOrFail((folder) => paths().isAbsolute(folder)),
  Effect.mapBoth({
    onFailure: () =>
      new InvalidSettings({
        setting: "tokenStore",
        rule: "must name a folder: this user has no home to keep accounts in (HOME is not set)"
      }),
    onSuccess: (folder) => paths().join(folder, "accounts")
  })
)

/** The store in a folder. What is wrong with the folder fails those who use it. */
export const layer = (options: Options = {}): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.effect(
    TokenStore.TokenStore,
    Effect.map(options.folder === undefined ? ownFolder : Effect.succeed(options.folder), make)
  )

/** The store in a folder. */
export const make = (given: string): TokenStore.Store => {
  const folder = paths().resolve(given)
  /** The locks that this store holds, by the names of their accounts. */
  const held = new Map<string, FileLock>()
  const describe = (name: string) => paths().join(folder, `${name}.json`)

  const pathOf = (name: string, action: Action) =>
    Effect.mapBoth(checkName(name), {
      onFailure: ({ rule }) => failure(folder, action, "unavailable", `the name of an account ${rule}`),
      onSuccess: describe
    })

  const lock = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, TokenStoreFailure, Scope.Scope> {
    const path = yield* pathOf(name, "lock")
    const locking = Effect.try({
      try: () => tryLock(paths().join(folder, `${name}.lock`)),
      catch: (cause) => failureOf(path, "lock", cause)
    })
    yield* Effect.timeoutOrElse(
      Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
        yield* makeFolder(folder, "lock")
        let lock: FileLock | undefined
        while ((lock = yield* locking) === undefined) yield* restore(Effect.sleep(betweenAttemptsMillis))
        const { release } = lock
        held.set(name, lock)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            held.delete(name)
            release()
          })
        )
        yield* attempt(path, "lock", () => files().rm(temporaryOf(path), { force: true }))
      })),
      {
        duration: lockTimeoutMillis,
        orElse: () => Effect.fail(failure(path, "lock", "locked", `for ${lockTimeoutMillis / 1000} s`))
      }
    )
  })

  const writeLocked = Effect.fnUntraced(function*(name: string, text: string | undefined) {
    const path = describe(name)
    if (held.get(name)?.isEffective() === false) {
      return yield* failure(path, "write", "locked", "the file of our lock was removed, and another may have it")
    }
    yield* text === undefined
      ? attempt(path, "write", () => remove(path))
      : attempt(path, "write", () => replace(path, text))
  }, Effect.uninterruptible)

  return {
    describe,
    read: Effect.fnUntraced(function*(name) {
      const path = yield* pathOf(name, "read")
      if (!(yield* checkFolder(folder, "read"))) return undefined
      const found = yield* attempt(path, "read", () => read(path))
      if (found === undefined) return undefined
      if (found.text === undefined) return yield* failure(path, "read", "unavailable", "it is not a file")
      yield* checkClosed(path, "read", found.stats, "600")
      return found.text
    }),
    write: (name, text) =>
      Effect.suspend(() =>
        held.has(name)
          ? writeLocked(name, text)
          : Effect.scoped(Effect.andThen(lock(name), writeLocked(name, text)))
      ),
    lock,
    names: Effect.gen(function*() {
      if (!(yield* checkFolder(folder, "read"))) return []
      const found = yield* attempt(folder, "read", () => files().readdir(folder))
      const names = found.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length))
      return (yield* Effect.filter(names, (name) => Effect.isSuccess(checkName(name)))).sort()
    })
  }
}

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

/** Whether there is a folder, which is refused when others may look into it. */
const checkFolder = (folder: string, action: Action): Effect.Effect<boolean, TokenStoreFailure> =>
  Effect.flatMap(attempt(folder, action, () => orMissing(files().stat(folder))), (stats) =>
    stats === undefined
      ? Effect.succeed(false)
      : Effect.as(
        stats.isDirectory()
          ? checkClosed(folder, action, stats, "700")
          : Effect.fail(failure(folder, action, "unavailable", "it is not a folder")),
        true
      ))

const makeFolder = Effect.fnUntraced(function*(folder: string, action: Action) {
  if (!(yield* checkFolder(folder, action))) yield* attempt(folder, action, () => makeFolders(folder))
})

/** Node's own way says of a read-only disk that the folder is not there, and synchronises nothing. */
const makeFolders = async (folder: string): Promise<void> => {
  const parent = paths().dirname(folder)
  if (parent !== folder && await orMissing(files().stat(parent)) === undefined) await makeFolders(parent)
  await files().mkdir(folder, { mode: 0o700 }).catch((cause: unknown) => {
    if (codeOf(cause) !== "EEXIST") throw cause
  })
  await syncFolder(parent)
}

/** Refuses what other users may read. Windows has lists of access, which those of a user's own folder get right. */
const checkClosed = (path: string, action: Action, { mode, uid }: Stats, closed: string) =>
  process.geteuid === undefined
    ? Effect.void
    : uid !== process.geteuid()
    ? Effect.fail(failure(path, action, "forbidden", `it belongs to the user with the number ${uid}`))
    : (mode & 0o077) !== 0
    ? Effect.fail(
      failure(
        path,
        action,
        "exposed",
        `close it with chmod ${closed} ${/^[\w./-]+$/.test(path) ? path : JSON.stringify(path)}`
      )
    )
    : Effect.void

const attempt = <A>(path: string, action: Action, work: () => Promise<A>): Effect.Effect<A, TokenStoreFailure> =>
  Effect.tryPromise({ try: work, catch: (cause) => failureOf(path, action, cause) })

const orMissing = <A>(work: Promise<A>): Promise<A | undefined> =>
  work.catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  })

const failure = (store: string, action: Action, fault: TokenStoreFault, detail?: string) =>
  new TokenStoreFailure({ store, action, fault, detail })

const failureOf = (path: string, action: Action, cause: unknown): TokenStoreFailure => {
  const code = codeOf(cause) ?? ""
  return failure(path, action, faults[code] ?? "unavailable", details[code] ?? saidBy(cause))
}

const faults: Readonly<Record<string, TokenStoreFault>> = {
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
  ELOOP: "it is a symbolic link, which a renewal would replace",
  EROFS: "its file system is read-only",
  EACCES: "permission denied",
  ENOSPC: "no space left on the device"
}

const saidBy = (cause: unknown): string =>
  Predicate.hasProperty(cause, "errno") && typeof cause.errno === "number" && cause.errno < 0
    ? process.getBuiltinModule("node:util").getSystemErrorMessage(cause.errno)
    : cause instanceof Error
    ? cause.message
    : String(cause)

const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
