/** SQLite as Node ships it: statements prepared once and typed by their rows, and transactions. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { segmentColumns } from "./Tables.ts"

/** Named values of a statement. */
export type Values = Readonly<Record<string, SQLInputValue>>

/** A prepared statement that reads rows. */
export interface Query<Row> {
  readonly all: (values?: Values) => ReadonlyArray<Row>
  readonly get: (values?: Values) => Row | undefined
}

/** Where the bytes of media are: in the database itself or, where that is in memory, in one that is not. */
export type BytesSchema = "main" | "spilled"

/** One connection. */
export interface Database {
  readonly bytesIn: BytesSchema
  readonly exec: (sql: string) => void
  readonly query: <Row>(sql: string) => Query<Row>
  /** A prepared statement that writes; answers how many rows changed. */
  readonly command: (sql: string) => (values: Values) => number
  /** Runs `body` as one atomic write: all of it is kept when it returns, nothing when it throws. Nests. */
  readonly transaction: <A>(body: () => A) => A
  /** Runs `action` once what is under way is written for good, and not at all when it is taken back. */
  readonly afterCommit: (action: () => void) => void
  /** Everything there is, as the bytes of an SQLite file. */
  readonly snapshot: () => Uint8Array
  readonly close: () => void
}

/** The database of what is the connection at the time. */
export const over = (current: () => DatabaseSync, bytesIn: BytesSchema): Database => {
  let depth = 0
  let actions: Array<() => void> = []
  /** Prepared when it is first used. Statements belong to a connection; `restore` makes another one. */
  const prepare = (sql: string, set?: (statement: StatementSync) => void): () => StatementSync => {
    let owner: DatabaseSync | undefined
    let statement: StatementSync | undefined
    return () => {
      const connection = current()
      if (statement === undefined || owner !== connection) {
        statement = (owner = connection).prepare(sql)
        set?.(statement)
      }
      return statement
    }
  }
  return {
    bytesIn,
    exec: (sql) => current().exec(sql),
    query: <Row>(sql: string): Query<Row> => {
      const statement = prepare(sql)
      return {
        // oxlint-disable postwire/no-blind-assertion -- SQLite does not know its row types; the SQL beside each call does.
        all: (values = {}) => statement().all(values) as unknown as ReadonlyArray<Row>,
        get: (values = {}) => statement().get(values) as unknown as Row | undefined
        // oxlint-enable postwire/no-blind-assertion
      }
    },
    command: (sql) => {
      // The id of the last row comes with what changed, and as a number it would be refused: ids exceed 2^53.
      const statement = prepare(sql, (statement) => statement.setReadBigInts(true))
      return (values) => Number(statement().run(values).changes)
    },
    transaction: (body) => {
      if (depth > 0) return body()
      const connection = current()
      connection.exec("BEGIN IMMEDIATE")
      depth++
      let result
      try {
        result = body()
        connection.exec("COMMIT")
      } catch (error) {
        actions = []
        try {
          connection.exec("ROLLBACK")
        } catch {
          // SQLite has already rolled back, as it does when the disk is full.
        }
        throw error
      } finally {
        depth--
      }
      if (actions.length > 0) {
        const due = actions
        actions = []
        for (const action of due) action()
      }
      return result
    },
    afterCommit: (action) => depth === 0 ? action() : void actions.push(action),
    snapshot: () =>
      withFile((path) => {
        // A connection to memory would take the path for a name in memory.
        current().prepare("VACUUM INTO ?").run(nameOf(path))
        if (bytesIn === "spilled") {
          attached(current(), path, "INSERT INTO file.media_segments SELECT * FROM spilled.media_segments")
        }
        return readFileSync(path)
      }),
    close: () => current().close()
  }
}

/** Runs statements that know a file as `file`. */
const attached = (connection: DatabaseSync, path: string, sql: string): void => {
  connection.prepare("ATTACH ? AS file").run(nameOf(path))
  try {
    connection.exec(sql)
  } finally {
    connection.exec("DETACH file")
  }
}

/**
 * Gives a connection to a database in memory a file for the bytes of media, which the system removes with the process, however
 * that ends.
 */
export const spill = (connection: DatabaseSync): void =>
  // Where temporary files may be is asked as this one is opened.
  connection.exec(`
    PRAGMA temp_store = FILE;
    ATTACH 'file:?vfs=${platformVfs}' AS spilled;
    PRAGMA temp_store = MEMORY;
    PRAGMA spilled.cache_size = -4096;
    CREATE TABLE spilled.media_segments ${segmentColumns};
  `)

/** Moves the bytes of media from a file to where a database in memory has them. */
export const unload = (connection: DatabaseSync, path: string): void =>
  attached(
    connection,
    path,
    `
      CREATE TABLE IF NOT EXISTS file.media_segments ${segmentColumns};
      INSERT INTO spilled.media_segments SELECT * FROM file.media_segments;
      DELETE FROM file.media_segments;
    `
  )

const nameOf = (path: string): string => `${pathToFileURL(path).href}?vfs=${platformVfs}`

/** What SQLite calls the way to files. */
const platformVfs = process.platform === "win32" ? "win32" : "unix"

/** A file that is gone afterwards. */
export const withFile = <A>(use: (path: string) => A): A => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-"))
  try {
    return use(join(folder, "snapshot.sqlite"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
