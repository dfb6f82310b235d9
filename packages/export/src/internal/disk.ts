/** Files as an export needs them: failures have names, and what must survive a crash is on the disk when a call returns. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import {
  AlreadyRunning,
  DiskFull,
  type ExportError,
  FileExists,
  FileFailure,
  NotWritable,
  PipeClosed
} from "../ExportErrors.ts"

/** Does something with a file; what goes wrong gets its name. */
export const attempt = <A>(path: string, work: () => Promise<A>): Effect.Effect<A, ExportError> =>
  Effect.tryPromise({ try: work, catch: (cause) => failureOf(path, cause) })

/** Does something with a database, at once. */
export const attemptSync = <A>(path: string, work: () => A): Effect.Effect<A, ExportError> =>
  Effect.try({ try: work, catch: (cause) => failureOf(path, cause) })

/** The name of a failure. */
export const failureOf = (path: string, cause: unknown): ExportError => {
  const { code, errcode } = cause as { readonly code?: string; readonly errcode?: number }
  const reason = cause instanceof Error ? cause.message : String(cause)
  switch (errcode === undefined ? code : sqlite[errcode & 0xff]) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new DiskFull({ path, reason })
    case "EEXIST":
      return new FileExists({ path })
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
      return new NotWritable({ path, reason })
    case "EPIPE":
      return new PipeClosed()
    case "EBUSY":
      return new AlreadyRunning({ path })
    default:
      return new FileFailure({ path, reason, cause })
  }
}

/** SQLite's own codes for the same. */
const sqlite: Readonly<Record<number, string>> = { 5: "EBUSY", 8: "EROFS", 13: "ENOSPC", 14: "EACCES" }

/** Whether there is such a file. */
export const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() => fs.access(path).then(() => true, () => false))

/** The text of a file, where there is one. */
export const read = (path: string): Effect.Effect<string | undefined, ExportError> =>
  attempt(path, () =>
    fs.readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    }))

/** Removes files, whether they are there or not. */
export const remove = (paths: Iterable<string>): Effect.Effect<void, ExportError> =>
  Effect.forEach(paths, (path) => attempt(path, () => fs.rm(path, { force: true })), { discard: true })

/** Puts a text in the place of a file: whatever happens, the whole old or the whole new one is there. */
export const replace = (path: string, text: string): Effect.Effect<void, ExportError> =>
  attempt(path, async () => {
    const temporary = `${path}.tmp`
    const file = await fs.open(temporary, "w")
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await fs.rename(temporary, path)
    await syncFolder(path)
  })

/** A file is there after a crash only when its folder was synchronised too. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await fs.open(dirname(path), "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The SHA-256 of a file and its length. */
export const digest = (path: string): Effect.Effect<{ readonly sha256: string; readonly bytes: number }, ExportError> =>
  attempt(path, async () => {
    const hash = createHash("sha256")
    let bytes = 0
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      bytes += chunk.length
    }
    return { sha256: hash.digest("hex"), bytes }
  })

/**
 * Keeps others from writing the same export, in this process and in others. The lock is SQLite's on a file, which the
 * system takes back however the process ends; that the file is left behind means nothing.
 */
export const lock = (path: string): Effect.Effect<void, ExportError, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    attemptSync(path, () => {
      const database = new DatabaseSync(path)
      try {
        database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE")
        return database
      } catch (error) {
        database.close()
        throw error
      }
    }),
    (database) =>
      Effect.andThen(
        Effect.sync(() => database.close()),
        // Gone with the lock; one that cannot be removed does no harm.
        Effect.promise(() => fs.rm(path, { force: true }).catch(() => undefined))
      )
  ))
