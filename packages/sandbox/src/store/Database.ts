/**
 * SQLite as Node ships it: statements prepared once and typed by their rows, transactions, and pages by key.
 */
import { randomUUID } from "node:crypto"
import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import * as Engine from "./Engine.ts"
import * as Snowflake from "./Snowflake.ts"

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

/** A database whose state can be replaced. */
export interface Replaceable extends Database {
  /**
   * Puts the state of a snapshot in the place of this one, once `prepare` has made what is needed of it. Whatever throws
   * before that leaves everything as it is.
   */
  readonly restore: <A>(snapshot: Uint8Array, prepare: (next: Database) => A) => A
}

/** A position in a listing, and the way to go on from there. The key itself is not part of what follows. */
export interface Cursor {
  readonly direction: "older" | "newer"
  readonly key: string
}

/** One page of a listing, newest first. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Leads to older items; absent on the last page. */
  readonly next: Cursor | undefined
  /** Leads back to newer items; absent on a first page. */
  readonly previous: Cursor | undefined
}

/** Which part of a listing to read. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: Cursor | undefined
}

/** The exclusive bounds of a listing's keys. */
export interface Range {
  readonly low: bigint
  readonly high: bigint
}

/** Every key. */
export const unbounded: Range = { low: -1n, high: Snowflake.maximum }

/**
 * Opens a database file, or ":memory:", and runs `begin` on it before anything else is changed. A committed transaction
 * survives the end of the process, however it ends; after a power failure the last few may be missing, as the file is
 * synchronised at checkpoints only.
 */
export const open = (file: string, begin: (database: Database) => void): Replaceable => {
  let connection: DatabaseSync | undefined = connect(file)
  // Closed only while a file takes the place of another; should opening that one fail, the next statement does it again.
  const current = (): DatabaseSync => connection ??= withLog(connect(file))
  const database = over(current)
  try {
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
            copy(path, name)
            const prepared = prepare(over(() => next))
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
            prepared = prepare(over(() => next))
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

/** The database of what is the connection at the time. */
const over = (current: () => DatabaseSync): Database => {
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
        current().prepare("VACUUM INTO ?").run(`${pathToFileURL(path).href}?vfs=${platformVfs}`)
        return readFileSync(path)
      }),
    close: () => current().close()
  }
}

/** What SQLite calls the way to files. */
const platformVfs = process.platform === "win32" ? "win32" : "unix"

/** The name of a database that is in no file. */
const memory = ":memory:"

/** A file that is gone afterwards. */
const withFile = <A>(use: (path: string) => A): A => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-"))
  try {
    return use(join(folder, "snapshot.sqlite"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

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

/**
 * Reads a listing by key, never by offset: what is inserted or deleted between two pages neither repeats an item nor
 * skips one. `key` is a unique integer expression, larger for newer items. `from` may limit itself: it knows the order,
 * `:low`, `:high` and `:limit`.
 */
export const pager = <Row, A>(
  database: Database,
  sql: {
    readonly select: string
    readonly from: string | ((order: "ASC" | "DESC") => string)
    readonly where: string
    readonly key: string
  },
  decode: (row: Row) => A
): (values: Values, range: Range, request: PageRequest) => Page<A> => {
  const statement = (order: "ASC" | "DESC") =>
    database.query<Row & { readonly page_key: string }>(
      `SELECT CAST(${sql.key} AS TEXT) AS page_key, ${sql.select} FROM ${
        typeof sql.from === "string" ? sql.from : sql.from(order)
      }
       WHERE ${sql.where} AND ${sql.key} > :low AND ${sql.key} < :high
       ORDER BY ${sql.key} ${order} LIMIT :limit`
    )
  const descending = statement("DESC")
  const ascending = statement("ASC")
  return (values, range, { cursor, limit }) => {
    const key = cursor === undefined ? undefined : BigInt(cursor.key)
    const forward = cursor?.direction !== "newer"
    const low = key !== undefined && !forward && key > range.low ? key : range.low
    const high = key !== undefined && forward && key < range.high ? key : range.high
    const rows = (forward ? descending : ascending).all({ ...values, low, high, limit: limit + 1 })
    const more = rows.length > limit
    const found = rows.slice(0, limit)
    if (!forward) found.reverse()
    return {
      items: found.map(decode),
      next: !forward || more ? cursorAt("older", found.at(-1)) : undefined,
      previous: (forward ? cursor !== undefined : more) ? cursorAt("newer", found[0]) : undefined
    }
  }
}

/** Makes the ids of a table: each larger than all that it ever held. */
export const ids = (database: Database, table: string): (millis: number) => bigint => {
  const last = database.query<{ readonly id: string }>(
    `SELECT CAST(seq AS TEXT) AS id FROM sqlite_sequence WHERE name = '${table}'`
  )
  return (millis) => Snowflake.after(BigInt(last.get()?.id ?? 0), millis)
}

/** Ids as the JSON list that statements expand with `json_each`. */
export const idList = (ids: ReadonlyArray<string>): string => `[${ids.map(Snowflake.parse).join(",")}]`

/** Puts what was found into the order in which it was asked for, once each. */
export const inOrder = <A>(
  ids: ReadonlyArray<string>,
  found: ReadonlyArray<A>,
  idOf: (item: A) => string
): ReadonlyArray<A> => {
  const byId = new Map(found.map((item) => [idOf(item), item]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}

const cursorAt = (
  direction: Cursor["direction"],
  row: { readonly page_key: string } | undefined
): Cursor | undefined => row && { direction, key: row.page_key }
