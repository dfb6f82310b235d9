/** A lock on a file that the system takes back however its process ends: SQLite's, which holds within a process too. */

import { makePrivate } from "./sqliteFile.ts"

/** A lock that is held. */
export interface FileLock {
  /** Whether it still keeps others out: it does not once its file was removed or replaced. */
  readonly isEffective: () => boolean
  /** Gives it back, and keeps its file for the next one or not: who waits for it makes another. */
  readonly release: (file: "keep" | "remove") => void
}

/**
 * Locks a file, which is made when it is not there; `undefined` when somebody else has it. Waits for nobody.
 *
 * The file is never opened in another way: whoever closes a file loses all locks that the process has on it.
 */
export const tryLock = (path: string): FileLock | undefined => {
  // Of one that it has made, SQLite does not say whether another has replaced it.
  if (look(path) === undefined) attempt(path)?.release("keep")
  return attempt(path)
}

const attempt = (path: string): FileLock | undefined => {
  const before = look(path)
  if (before?.isFile() === false) throw new Error("the file of its lock is something else")
  // What SQLite cannot write it locks for reading, together with others.
  const { accessSync, constants } = files()
  accessSync(before === undefined ? process.getBuiltinModule("node:path").dirname(path) : path, constants.W_OK)
  // Not imported: Node announces it as experimental to every program that loads it.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  if (before === undefined) makePrivate(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  const isEffective = () => {
    const now = look(path)
    return now !== undefined && now.ino === before?.ino && now.dev === before.dev
  }
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    // A file that was replaced before it was locked keeps nobody out.
    if (isEffective()) {
      return {
        isEffective,
        release: (file) => {
          // Not after it was given back: then it is the lock of another.
          if (file === "remove") remove(path, isEffective)
          database.close()
        }
      }
    }
  } catch (cause) {
    if (sqliteCodeOf(cause) !== busy) {
      database.close()
      throw cause
    }
  }
  database.close()
  return undefined
}

/** A file that cannot be removed is only left over. */
const remove = (path: string, isEffective: () => boolean): void => {
  try {
    if (isEffective()) files().rmSync(path)
  } catch {
    // Windows removes none that is open.
  }
}

const files = () => process.getBuiltinModule("node:fs")

const look = (path: string) => files().lstatSync(path, { bigint: true, throwIfNoEntry: false })

const busy = 5

/** The primary code of SQLite. */
const sqliteCodeOf = (cause: unknown): number | undefined =>
  typeof cause === "object" && cause !== null && "errcode" in cause ? Number(cause.errcode) & 0xff : undefined
