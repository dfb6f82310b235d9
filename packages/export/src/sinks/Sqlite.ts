/**
 * SQLite: a table for each kind of resource, in which an object is one row however often it comes, and tables for what
 * lies between them. The database is written when all pages are there, and then moved to its place: nobody reads or
 * locks it meanwhile.
 *
 * - `posts`, `users`, ... : the columns asked for; items and included objects of a kind are in one table
 * - `results`: the items of the export in their order, `position` from 1
 * - `post_media`, `post_references`: what posts show and refer to, where that was asked for
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

/** Tables in one database file. */
export const make = (path: string): FileSink =>
  Spool.make(path, "sqlite", async (spools, folder) => {
    const path = join(folder, "items.sqlite")
    await fs.rm(path, { force: true })
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
    const database = new DatabaseSync(path, { timeout: lockTimeoutMillis })
    try {
      // Whatever ends this, it begins anew: what counts is that all of it is on the disk at the end.
      database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; BEGIN EXCLUSIVE")
      // An item says more than the same object where it is included.
      const inOrder = spools.toSorted((a, b) => Number(a.holds === "items") - Number(b.holds === "items"))
      for (const spool of inOrder) {
        const put = spool.table === undefined
          ? putErrors(database)
          : spool.holds === "items"
          ? putItems(database, spool.table)
          : upsert(database, spool.table)
        for await (const row of spool.lines()) put(row)
      }
      if (!spools.some(({ holds }) => holds === "errors")) putErrors(database)
      database.exec("COMMIT")
    } finally {
      database.close()
    }
    const file = await disk.open(path, "r+")
    try {
      await file.sync()
    } finally {
      await file.close()
    }
    return [{ path, holds: "items", rows: spools.find(({ holds }) => holds === "items")?.rows ?? 0 }]
  })

/** How long another's lock is waited for. */
const lockTimeoutMillis = 5_000

/** Puts a row into its table. */
type Put = (row: object) => void

const putErrors = (database: DatabaseSync): Put => {
  database.exec("CREATE TABLE IF NOT EXISTS errors (position INTEGER PRIMARY KEY, problem TEXT NOT NULL) STRICT")
  const insert = database.prepare("INSERT INTO errors (problem) VALUES (?)")
  return (problem) => insert.run(JSON.stringify(problem))
}

/** Puts items into the table of their kind, and their order and where they are from into `results`. */
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

/** Makes the table where there is none, and the function that puts a row into it: what is known already stays known. */
const upsert = (database: DatabaseSync, table: Table): Put => {
  // Where an item is from is no property of the resource: other rows may have brought it, too.
  const columns = table.key === undefined ? table.columns : table.columns.filter((column) => !isMark(column))
  // A kind that this version does not know has no columns but one.
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

/** What a post shows and refers to. */
interface Linking {
  readonly id?: string
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string> }
  readonly referenced_posts?: ReadonlyArray<{ readonly type?: string; readonly id: string }>
}

/** The tables between posts and what belongs to them, where the fields that tell of it were asked for. */
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
