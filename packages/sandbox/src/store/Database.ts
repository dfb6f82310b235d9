/** SQLite as Node ships it: statements prepared once and typed by their rows, and transactions. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"

/** Named values of a statement. */
export type Values = Readonly<Record<string, SQLInputValue>>

/** A prepared statement that reads rows. */
export interface Query<Row> {
  readonly all: (values?: Values) => ReadonlyArray<Row>
  readonly get: (values?: Values) => Row | undefined
}

/** One connection. */
export interface Database {
  readonly exec: (sql: string) => void
  readonly query: <Row>(sql: string) => Query<Row>
  /** A prepared statement that writes; answers how many rows changed. */
  readonly command: (sql: string) => (values: Values) => number
  /** Runs `body` as one atomic write: all of it is kept when it returns, nothing when it throws. Nests. */
  readonly transaction: <A>(body: () => A) => A
  /** Everything there is, as the bytes of an SQLite file. */
  readonly snapshot: () => Uint8Array
  readonly close: () => void
}

/** The database of what is the connection at the time. */
export const over = (current: () => DatabaseSync): Database => {
  let depth = 0
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
    exec: (sql) => current().exec(sql),
    query: <Row>(sql: string): Query<Row> => {
      const statement = prepare(sql)
      return {
        // SQLite does not know its row types; the SQL beside each call does.
        all: (values = {}) => statement().all(values) as unknown as ReadonlyArray<Row>,
        get: (values = {}) => statement().get(values) as unknown as Row | undefined
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
      try {
        const result = body()
        connection.exec("COMMIT")
        return result
      } catch (error) {
        try {
          connection.exec("ROLLBACK")
        } catch {
          // SQLite has already rolled back, as it does when the disk is full.
        }
        throw error
      } finally {
        depth--
      }
    },
    snapshot: () =>
      withFile((path) => {
        // A connection to memory would take the path for a name in memory.
        const target = `${pathToFileURL(path).href}?vfs=${platformVfs}`
        current().prepare("VACUUM INTO ?").run(target)
        gather(current(), target)
        return readFileSync(path)
      }),
    close: () => current().close()
  }
}

/** Adds to a copy the rows that a database in memory keeps elsewhere: see `DatabaseFile`. */
const gather = (connection: DatabaseSync, copy: string): void => {
  if (connection.prepare("SELECT 1 FROM sqlite_temp_schema LIMIT 1").get() === undefined) return
  connection.prepare("ATTACH ? AS copy").run(copy)
  try {
    connection.exec("INSERT INTO copy.media_segments SELECT * FROM temp.media_segments")
  } finally {
    connection.exec("DETACH copy")
  }
}

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
