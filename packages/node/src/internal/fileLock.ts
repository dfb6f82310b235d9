/** A file lock that the system releases however its process ends: SQLite's, which also excludes within a process. */

import { isBusy, makePrivate } from "./sqliteFile.ts"

/** A held lock. */
export interface FileLock {
  /** Tests whether it still excludes others: not once its file was removed or replaced. */
  readonly isEffective: () => boolean
  /** Releases it, and keeps or removes its file: a waiting process creates another. */
  readonly release: (file: "keep" | "remove") => void
}

/**
 * Locks a file, created if it does not exist; `undefined` if the lock is taken. Does not wait.
 *
 * The file must not be opened in another way: closing a file releases all locks that the process has on it.
 */
export const tryLock = (path: string): FileLock | undefined => {
  // A file must exist before SQLite opens it: otherwise a replacement cannot be detected.
  if (look(path) === undefined) attempt(path)?.release("keep")
  return attempt(path)
}

const attempt = (path: string): FileLock | undefined => {
  const before = look(path)
  if (before?.isFile() === false) throw new Error("the file of its lock is something else")
  // SQLite locks a read-only file for reading, shared with others.
  const { accessSync, constants } = files()
  accessSync(before === undefined ? process.getBuiltinModule("node:path").dirname(path) : path, constants.W_OK)
  // Not imported: Node warns every program that loads it that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  if (before === undefined) makePrivate(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  const isEffective = () => {
    const now = look(path)
    return now !== undefined && now.ino === before?.ino && now.dev === before.dev
  }
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    // The lock on a file that was replaced meanwhile has no effect.
    if (isEffective()) {
      return {
        isEffective,
        release: (file) => {
          // Before the release: after it, the lock may be another's.
          if (file === "remove") remove(path, isEffective)
          database.close()
        }
      }
    }
  } catch (cause) {
    if (!isBusy(cause)) {
      database.close()
      throw cause
    }
  }
  database.close()
  return undefined
}

/** Ignores a file that cannot be removed. */
const remove = (path: string, isEffective: () => boolean): void => {
  try {
    if (isEffective()) files().rmSync(path)
  } catch {
    // Windows does not remove an open file.
  }
}

const files = () => process.getBuiltinModule("node:fs")

const look = (path: string) => files().lstatSync(path, { bigint: true, throwIfNoEntry: false })
