/** Node's SQLite: statements that are prepared once and typed by their rows, and transactions. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import type { Row, Selection, Shape } from "./Records.ts"
import { bulk } from "./Tables.ts"

/** Named parameters of a statement. */
export type Values = Readonly<Record<string, SQLInputValue>>

/** The cells of a row by column. */
type Cells = Readonly<Record<string, string | number | bigint | boolean | object | null | undefined>>

/** A prepared statement that reads rows. */
export interface Query<Row> {
  readonly all: (values?: Values) => ReadonlyArray<Row>
  readonly get: (values?: Values) => Row | undefined
}

/** A query for records, with a statement for each selection of their fields. */
export interface Select<A> extends Query<A> {
  readonly all: (values?: Values, selection?: Selection) => ReadonlyArray<A>
}

/** The number of selections whose statements stay prepared. */
const maxSelections = 50

/** The schema that holds the tables of `bulk`: the database itself, or a temporary file if the database is in memory. */
export type BulkSchema = "main" | "spilled"

/** One connection. */
export type Database = ReturnType<typeof over>

/** A database over a connection that may be replaced. */
export const over = (current: () => DatabaseSync, bulkIn: BulkSchema) => {
  let depth = 0
  let actions: Array<() => void> = []
  /** Prepares on first use, and again when `restore` has replaced the connection. */
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
  const query = <Row>(sql: string, set?: (statement: StatementSync) => void): Query<Row> => {
    const statement = prepare(sql, set)
    return {
      // oxlint-disable postwire/no-blind-assertion -- SQLite does not know row types; the SQL beside each call does.
      all: (values = {}) => statement().all(values) as unknown as ReadonlyArray<Row>,
      get: (values = {}) => statement().get(values) as unknown as Row | undefined
      // oxlint-enable postwire/no-blind-assertion
    }
  }
  /** Prepares a statement that writes and returns the number of changed rows. */
  const command = (sql: string): (values: Values) => number => {
    // The result includes the last row id, which exceeds 2^53 and would be rejected as a number.
    const statement = prepare(sql, (statement) => statement.setReadBigInts(true))
    return (values) => Number(statement().run(values).changes)
  }
  const inserts = new Map<string, (values: Values) => number>()
  return {
    bulkIn,
    exec: (sql: string): void => current().exec(sql),
    query: <Row>(sql: string): Query<Row> => query(sql),
    command,
    /** A query for records: `rest` follows the columns. */
    select: <A>(shape: Shape<A>, rest: string): Select<A> => {
      const of = ({ columns, decode }: Shape<A>): Query<A> => {
        const { all, get } = query<Row>(`SELECT ${columns} ${rest}`, (statement) => statement.setReturnArrays(true))
        return {
          all: (values) => all(values).map(decode),
          get: (values) => {
            const row = get(values)
            return row === undefined ? undefined : decode(row)
          }
        }
      }
      const { all, get } = of(shape)
      const { only } = shape
      const selections = new Map<string, Query<A>>()
      return {
        all: (values, selection) => {
          if (selection === undefined || only === undefined) return all(values)
          const key = [...selection].join()
          let known = selections.get(key)
          if (known === undefined) {
            if (selections.size === maxSelections) selections.clear()
            selections.set(key, known = of(only(selection)))
          }
          return known.all(values)
        },
        get
      }
    },
    /** Inserts a row, given by column, and returns the number of changed rows. Objects are stored as JSON. */
    insert: (table: string, row: Cells, or: "ABORT" | "IGNORE" | "REPLACE" = "ABORT"): number => {
      const names = Object.keys(row)
      const key = `${or} ${table} ${names}`
      const known = inserts.get(key) ??
        command(`INSERT OR ${or} INTO ${table} (${names.join(", ")}) VALUES (:${names.join(", :")})`)
      inserts.set(key, known)
      return known(Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, valueOf(cell)])))
    },
    /** Runs `body` in a transaction: commits when it returns, rolls back when it throws. Nests. */
    transaction: <A>(body: () => A): A => {
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
          // SQLite has already rolled back, for example because the disk is full.
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
    /** Runs `action` after the current transaction commits; discards it on rollback. */
    afterCommit: (action: () => void): void => depth === 0 ? action() : void actions.push(action),
    /** The whole state as the bytes of an SQLite file. */
    snapshot: (): Uint8Array =>
      withFile((path) => {
        // Names the platform's VFS: a memory connection would take the path for a name in memory.
        current().prepare("VACUUM INTO ?").run(nameOf(path))
        if (bulkIn === "spilled") {
          attached(current(), path, forBulk((name) => `INSERT INTO file.${name} SELECT * FROM spilled.${name}`))
        }
        return readFileSync(path)
      }),
    close: (): void => current().close()
  }
}

const valueOf = (cell: Cells[string]): SQLInputValue =>
  cell === undefined
    ? null
    : typeof cell === "boolean"
    ? Number(cell)
    : typeof cell !== "object" || cell === null || cell instanceof Uint8Array
    ? cell
    : JSON.stringify(cell)

/** Runs statements with a file attached as `file`. */
const attached = (connection: DatabaseSync, path: string, sql: string): void => {
  connection.prepare("ATTACH ? AS file").run(nameOf(path))
  try {
    connection.exec(sql)
  } finally {
    connection.exec("DETACH file")
  }
}

const forBulk = (statementsOf: (name: string, columns: string) => string): string =>
  Object.entries(bulk).map(([name, columns]) => statementsOf(name, columns)).join(";")

/**
 * Attaches a temporary file for the tables of `bulk` to an in-memory database. The system removes it when the process ends,
 * however that happens.
 */
export const spill = (connection: DatabaseSync): void =>
  // SQLite reads `temp_store` when it opens the file.
  connection.exec(`
    PRAGMA temp_store = FILE;
    ATTACH 'file:?vfs=${platformVfs}' AS spilled;
    PRAGMA temp_store = MEMORY;
    PRAGMA spilled.cache_size = -4096;
    PRAGMA spilled.journal_mode = MEMORY;
    ${forBulk((name, columns) => `CREATE TABLE spilled.${name} ${columns}`)}
  `)

/** Moves the tables of `bulk` from a file to the temporary file of an in-memory database. */
export const unload = (connection: DatabaseSync, path: string): void =>
  attached(
    connection,
    path,
    forBulk((name, columns) => `
      CREATE TABLE IF NOT EXISTS file.${name} ${columns};
      INSERT INTO spilled.${name} SELECT * FROM file.${name};
      DELETE FROM file.${name}`)
  )

const nameOf = (path: string): string => `${pathToFileURL(path).href}?vfs=${platformVfs}`

/** SQLite's name for the platform's file system. */
const platformVfs = process.platform === "win32" ? "win32" : "unix"

/** Runs `use` with a temporary file. */
export const withFile = <A>(use: (path: string) => A): A => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-"))
  try {
    return use(join(folder, "snapshot.sqlite"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
