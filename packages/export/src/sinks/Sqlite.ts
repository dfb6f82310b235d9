/**
 * SQLite: a table for each kind of resource, in which an object is one row however often it appears, and tables for their
 * relations. The database is written when all pages are there, and then moved to its place, so it is not read or locked
 * before it is complete.
 *
 * - `posts`, `users`, ... : the requested columns; items and included objects of a kind share one table
 * - `results`: the items of the export in order, `position` from 1
 * - `post_media`, `post_references`: the media and references of posts, where requested
 * - `errors`: partial errors
 */
import * as Predicate from "effect/Predicate"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import * as disk from "../files/Disk.ts"
import type { FileSink } from "../folders/Sink.ts"
import { type Cell, cells, type Column, type ColumnType, type Table } from "../rows/Table.ts"
import * as Spool from "./Spool.ts"

/** A sink of tables in one database file. */
export const make = (path: string): FileSink =>
  Spool.make(path, "sqlite", async (spools, folder) => {
    const path = join(folder, "items.sqlite")
    await fs.rm(path, { force: true })
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
    const database = new DatabaseSync(path, { timeout: lockTimeoutMillis })
    try {
      // After an interruption it starts over, so only the end has to be synced.
      database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; BEGIN EXCLUSIVE")
      // Items come last: they have more fields than the same objects as included ones.
      const inOrder = spools.toSorted((a, b) => Number(a.holds === "items") - Number(b.holds === "items"))
      for (const spool of inOrder) {
        const put = spool.table === undefined
          ? putErrors(database)
          : spool.holds === "items"
          ? putItems(database, spool.table)
          : upsert(database, spool.table)
        for await (const rows of spool.lines()) rows.forEach(put)
      }
      if (!spools.some(({ holds }) => holds === "errors")) putErrors(database)
      database.exec("COMMIT")
    } finally {
      database.close()
    }
    await using file = await disk.open(path, "r+")
    await file.sync()
    return [{ path, holds: "items", rows: spools.find(({ holds }) => holds === "items")?.rows ?? 0 }]
  })

/** How long to wait for another process's lock. */
const lockTimeoutMillis = 5_000

type Put = (row: object) => void

const putErrors = (database: DatabaseSync): Put => {
  database.exec("CREATE TABLE IF NOT EXISTS errors (position INTEGER PRIMARY KEY, problem TEXT NOT NULL) STRICT")
  const insert = database.prepare("INSERT INTO errors (problem) VALUES (?)")
  return (problem) => insert.run(JSON.stringify(problem))
}

/** Inserts items into the table of their kind, and their order and origin into `results`. */
const putItems = (database: DatabaseSync, table: Table): Put => {
  const { columns, key, name } = table
  const put = upsert(database, table)
  if (key === undefined) return put
  const marks = columns.filter(isMark)
  const definitions = marks.map((column) => `${quoted(column.name)} ${storedAs[column.type]},`)
  database.exec(`
    CREATE TABLE results (
      position INTEGER PRIMARY KEY,
      ${definitions.join(" ")}
      ${quoted(key)} TEXT NOT NULL REFERENCES ${quoted(name)} (${quoted(key)})
    ) STRICT`)
  const names = [...marks.map(({ name }) => name), key]
  const insert = database.prepare(
    `INSERT INTO results (${names.map(quoted).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`
  )
  const valueOf = (row: object, name: string) => Predicate.hasProperty(row, name) ? row[name] : undefined
  return (row) => {
    put(row)
    const from = marks.map(({ name, type }) =>
      type === "integer" ? Number(valueOf(row, name)) : String(valueOf(row, name))
    )
    insert.run(...from, String(valueOf(row, key)))
  }
}

const isMark = ({ isMark }: Column): boolean => isMark === true

const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

const storedAs: { readonly [T in ColumnType]: string } = {
  text: "TEXT",
  json: "TEXT",
  integer: "INTEGER",
  real: "REAL",
  boolean: "INTEGER"
}

const bound = (cell: Cell): SQLInputValue => cell === undefined ? null : typeof cell === "boolean" ? Number(cell) : cell

/** Creates the table if needed, and returns a function that inserts or completes a row: known values stay. */
const upsert = (database: DatabaseSync, table: Table): Put => {
  // The origin of an item is not a property of the resource, which other rows may have returned, too.
  const columns = table.key === undefined ? table.columns : table.columns.filter((column) => !isMark(column))
  // An unknown kind has a single column.
  const key = columns.some(({ name }) => name === table.key) ? table.key : undefined
  const name = quoted(table.name)
  const definitions = columns.map((column) =>
    `${quoted(column.name)} ${storedAs[column.type]}${column.name === key ? " PRIMARY KEY" : ""}`
  )
  database.exec(`CREATE TABLE IF NOT EXISTS ${name} (${definitions.join(", ")}) STRICT`)
  const changes = columns.filter(({ name }) => name !== key).map(({ name }) => quoted(name))
    .map((column) => `${column} = coalesce(excluded.${column}, ${column})`)
  const insert = database.prepare(
    `INSERT INTO ${name} VALUES (${columns.map(() => "?").join(", ")})${
      key === undefined ? "" : ` ON CONFLICT (${quoted(key)}) DO UPDATE SET ${changes.join(", ")}`
    }`
  )
  const lay = cells(table)
  const links = linksOf(database, table)
  return (row) => {
    insert.run(...lay(row).slice(-columns.length).map(bound))
    for (const link of links) link(row)
  }
}

/** The media and references of a post. */
interface Linking {
  readonly id?: string
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string> }
  readonly referenced_posts?: ReadonlyArray<{ readonly type?: string; readonly id: string }>
}

/** The tables between posts and related objects, where the fields with the relations were requested. */
const linksOf = (database: DatabaseSync, { columns, name }: Table): ReadonlyArray<Put> => {
  const has = (field: string) => name === "posts" && columns.some(({ path }) => path[0] === field)
  const make = (table: string, members: ReadonlyArray<string>): StatementSync => {
    database.exec(`
      CREATE TABLE IF NOT EXISTS ${table} (
        post_id TEXT NOT NULL REFERENCES posts (id),
        position INTEGER NOT NULL,
        ${members.map((member) => `${member} TEXT`).join(", ")},
        PRIMARY KEY (post_id, position)
      ) STRICT, WITHOUT ROWID`)
    return database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ${members.map(() => "?").join(", ")})`)
  }
  const links: Array<Put> = []
  if (has("attachments")) {
    const link = make("post_media", ["media_key"])
    links.push(({ attachments, id = "" }: Linking) =>
      attachments?.media_keys?.forEach((key, position) => link.run(id, position, key))
    )
  }
  if (has("referenced_posts")) {
    const link = make("post_references", ["type", "referenced_id"])
    links.push(({ id = "", referenced_posts }: Linking) =>
      referenced_posts?.forEach((post, position) => link.run(id, position, post.type ?? null, post.id))
    )
  }
  return links
}
