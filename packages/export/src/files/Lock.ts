/** A lock for one process at a time, which the system releases however the process ends. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import * as disk from "./Disk.ts"
import { AlreadyRunning, type ExportError, OutputRefused } from "./ExportErrors.ts"

/**
 * Locks a file until the scope ends, with SQLite's lock, which also excludes others within the process. Returns `false` if the file
 * was removed or replaced meanwhile, so that the lock excludes no one: the caller tries again. Also returns `false` if the file was
 * just created, since SQLite does not show whether its file was replaced meanwhile.
 *
 * Never open the file in another way: closing a file releases all locks that the process holds on it.
 */
export const take = (path: string, what: string): Effect.Effect<boolean, ExportError, Scope.Scope> =>
  Effect.gen(function*() {
    const before = yield* disk.look(path)
    if (before?.isFile() === false) return false
    // Locks stay empty. In anything else there could be a prepared database, whose journal SQLite would follow elsewhere.
    if (before !== undefined && before.size > 0n) {
      return yield* new OutputRefused({ path: what, reason: `${path} is not a lock: it is not empty` })
    }
    // SQLite takes a shared lock on a file that it cannot write.
    if (before !== undefined) yield* disk.attempt(path, () => fs.access(path, fs.constants.W_OK))
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          // Not imported, since loading it prints a warning that it is experimental.
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
    // Any user who can read the file can lock it. Some file systems have no modes.
    if (before === undefined) yield* Effect.ignore(disk.attempt(path, () => fs.chmod(path, 0o600)))
    const after = yield* disk.look(path)
    return after !== undefined && after.ino === before?.ino && after.dev === before.dev &&
      after.birthtimeNs === before.birthtimeNs
  })

/** As `take`, again where the lock excludes no one yet. */
export const hold = (path: string, what: string): Effect.Effect<void, ExportError, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Scope.fork(yield* Effect.scope)
    if (yield* Effect.provideService(take(path, what), Scope.Scope, own)) return
    yield* Scope.close(own, Exit.void)
    yield* hold(path, what)
  })

const sqliteBusy = 5
