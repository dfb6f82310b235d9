/** One process at a time: a lock that the system takes back however its process ends. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import * as disk from "./Disk.ts"
import { AlreadyRunning, type ExportError, OutputRefused } from "./ExportErrors.ts"

/**
 * Holds the lock that is a file, until the scope ends. It is SQLite's lock, which holds within a process too. A lock on a
 * file that has been removed meanwhile, or replaced, keeps nobody out: `false`, so that the caller can begin again. The same
 * is said of a file that was not there, and is then: of one that it has made, SQLite does not say whether another replaced it.
 *
 * The file is never opened in another way: whoever closes a file loses all locks that the process has on it.
 */
export const take = (path: string, what: string): Effect.Effect<boolean, ExportError, Scope.Scope> =>
  Effect.gen(function*() {
    const before = yield* disk.look(path)
    if (before?.isFile() === false) return false
    // Nothing is ever written to a lock. A database could have a prepared journal, which SQLite would follow elsewhere.
    if (before !== undefined && before.size > 0n) {
      return yield* new OutputRefused({ path: what, reason: `${path} is not a lock: it is not empty` })
    }
    // What SQLite cannot write it locks for reading, together with others.
    if (before !== undefined) yield* disk.attempt(path, () => fs.access(path, fs.constants.W_OK))
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          // Not imported: Node announces it as experimental to every program that loads it.
          const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
          const database = new DatabaseSync(path)
          try {
            database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
            return database
          } catch (error) {
            database.close()
            throw error
          }
        },
        catch: (cause) =>
          disk.sqliteCodeOf(cause) === sqliteBusy
            ? new AlreadyRunning({ path: what })
            : disk.failureOf(path, cause)
      }),
      (database) => Effect.sync(() => database.close())
    )
    // A user who may read the file can hold the lock. Not all file systems have modes.
    if (before === undefined) yield* Effect.ignore(disk.attempt(path, () => fs.chmod(path, 0o600)))
    const after = yield* disk.look(path)
    return after !== undefined && after.ino === before?.ino && after.dev === before.dev &&
      after.birthtimeNs === before.birthtimeNs
  })

const sqliteBusy = 5
