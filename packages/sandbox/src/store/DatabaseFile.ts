/** Opens a database in a file or in memory, and replaces it as a whole. */
import { randomUUID } from "node:crypto"
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { type Database, over, spill, unload, withFile } from "./Database.ts"
import * as Engine from "./Engine.ts"

/** A database whose state can be replaced. */
export interface Replaceable extends Database {
  /** Replaces the state by a snapshot after `prepare` has run on it. If anything throws before that, nothing changes. */
  readonly restore: <A>(snapshot: Uint8Array, prepare: (next: Database) => A) => A
}

/**
 * Opens a database file, or ":memory:", and runs `begin` before changing anything else. A committed transaction survives
 * any end of the process; after a power failure the last few may be missing, because the file is synchronised at
 * checkpoints only.
 */
export const open = (file: string, begin: (database: Database) => void): Replaceable => {
  const bulkIn = file === memory ? "spilled" : "main"
  let connection: DatabaseSync | undefined = connect(file)
  // Undefined only while the file is being replaced; if reopening fails, the next statement tries again.
  const current = (): DatabaseSync => connection ??= withLog(connect(file))
  const database = over(current, bulkIn)
  try {
    if (bulkIn === "spilled") spill(connection)
    begin(database)
    withLog(connection)
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    ...database,
    close: () => connection?.close(),
    restore: (snapshot, prepare) =>
      withFile((path) => {
        writeFileSync(path, snapshot)
        if (file === memory) {
          const name = `file:/${randomUUID()}?vfs=memdb`
          const next = connect(name)
          try {
            spill(next)
            unload(next, path)
            copy(path, name)
            const prepared = prepare(over(() => next, bulkIn))
            current().close()
            connection = next
            return prepared
          } catch (error) {
            next.close()
            throw error
          }
        }
        // Renamed into place: a crash leaves the old state or the new one.
        const beside = `${file}.restored`
        try {
          rmSync(beside, { force: true })
          copy(path, beside)
          const next = connect(beside)
          let prepared
          try {
            prepared = prepare(over(() => next, bulkIn))
          } finally {
            next.close()
          }
          synchronise(beside)
          // A log left beside the file would be applied to the new one.
          withoutLog(current())
          current().close()
          connection = undefined
          renameSync(beside, file)
          return prepared
        } finally {
          rmSync(beside, { force: true })
        }
      })
  }
}

/** SQLite's name for an in-memory database. */
const memory = ":memory:"

/** Copies a database; throws if the source is not one. */
const copy = (from: string, to: string): void => {
  const source = Engine.connect(from, { readOnly: true })
  try {
    source.prepare("VACUUM INTO ?").run(to)
  } finally {
    source.close()
  }
}

const connect = (file: string): DatabaseSync => {
  const connection = Engine.connect(file, { timeout: 5000 })
  connection.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -65536;
    PRAGMA mmap_size = 268435456;
  `)
  return connection
}

/** Enables write-ahead logging where possible: a full disk may have no room for the log. */
const withLog = (connection: DatabaseSync): DatabaseSync => {
  try {
    connection.exec("PRAGMA journal_mode = WAL")
  } catch {
    // Works without it, but every commit waits for the disk.
  }
  return connection
}

/** Merges the log into the file; throws if another program has the file open. */
const withoutLog = (connection: DatabaseSync): void => {
  try {
    connection.exec("PRAGMA journal_mode = DELETE")
  } catch (cause) {
    throw new Error("The file of the sandbox cannot be replaced: another program has it open", { cause })
  }
}

/** Flushes a file to disk. */
const synchronise = (path: string): void => {
  const file = openSync(path, "r+")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
