/** The file of a database, or its memory: opened, and replaced by another as a whole. */
import { randomUUID } from "node:crypto"
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { type Database, over, spill, unload, withFile } from "./Database.ts"
import * as Engine from "./Engine.ts"

/** A database whose state can be replaced. */
export interface Replaceable extends Database {
  /**
   * Puts the state of a snapshot in the place of this one, once `prepare` has made what is needed of it. Whatever throws
   * before that leaves everything as it is.
   */
  readonly restore: <A>(snapshot: Uint8Array, prepare: (next: Database) => A) => A
}

/**
 * Opens a database file, or ":memory:", and runs `begin` on it before anything else is changed. A committed transaction
 * survives the end of the process, however it ends; after a power failure the last few may be missing, as the file is
 * synchronised at checkpoints only.
 */
export const open = (file: string, begin: (database: Database) => void): Replaceable => {
  const bytesIn = file === memory ? "spilled" : "main"
  let connection: DatabaseSync | undefined = connect(file)
  // Closed only while a file takes the place of another; should opening that one fail, the next statement does it again.
  const current = (): DatabaseSync => connection ??= withLog(connect(file))
  const database = over(current, bytesIn)
  try {
    if (bytesIn === "spilled") spill(connection)
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
            const prepared = prepare(over(() => next, bytesIn))
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
            prepared = prepare(over(() => next, bytesIn))
          } finally {
            next.close()
          }
          synchronise(beside)
          // Without a log beside it, which would be taken for that of the new one.
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

/** The name of a database that is in no file. */
const memory = ":memory:"

/** Copies a database; throws when it is none. */
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

/** Writes go to a log beside the file, where that can be had: a full disk may hold none. */
const withLog = (connection: DatabaseSync): DatabaseSync => {
  try {
    connection.exec("PRAGMA journal_mode = WAL")
  } catch {
    // It works without: every commit then waits for the disk.
  }
  return connection
}

/** Everything is in the file itself afterwards; throws while another program has it open. */
const withoutLog = (connection: DatabaseSync): void => {
  try {
    connection.exec("PRAGMA journal_mode = DELETE")
  } catch (cause) {
    throw new Error("The file of the sandbox cannot be replaced: another program has it open", { cause })
  }
}

/** Returns when the disk has what was written to a file. */
const synchronise = (path: string): void => {
  const file = openSync(path, "r+")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
