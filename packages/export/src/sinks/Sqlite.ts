/**
 * SQLite: a table for each kind of resource, in which an object is one row however often it comes, and tables for what
 * lies between them. Rows and checkpoint are one transaction.
 *
 * - `posts`, `users`, ... : the columns asked for; items and included objects of a kind are in one table
 * - `results`: the items of the export in their order, `position` from 1
 * - `post_media`, `post_references`: what posts show and refer to, where that was asked for
 * - `errors`: partial errors; `export`: the checkpoint
 */
import * as Effect from "effect/Effect"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as Checkpoint from "../Checkpoint.ts"
import { CheckpointUnusable, FileExists } from "../ExportErrors.ts"
import * as disk from "../internal/disk.ts"
import type { Job, Output, Sink, Writer } from "../Sink.ts"
import type { Page } from "../Source.ts"
import { type Cell, cells, type ColumnType, type Table } from "../Table.ts"
import { namesOf } from "./Files.ts"

/** Tables in one database file. */
export const make = (path: string): Sink => {
  const { lock, manifest } = namesOf(path)
  return {
    format: "sqlite",
    manifest,
    open: Effect.fnUntraced(function*(job: Job) {
      yield* disk.lock(lock)
      if (job.mode === "force") yield* disk.remove([path, `${path}-wal`, `${path}-shm`, manifest])
      for (const file of [path, manifest]) {
        if (job.mode === "new" && (yield* disk.exists(file))) return yield* new FileExists({ path: file })
      }
      const database = yield* Effect.acquireRelease(
        disk.attemptSync(path, () => new DatabaseSync(path)),
        (database) => Effect.sync(() => database.close())
      )
      // Every page is on the disk when its transaction ends, and others may read meanwhile.
      yield* disk.attemptSync(
        path,
        () => database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
      )
      const saved = yield* savedIn(path, database)
      if (saved !== undefined) yield* Checkpoint.assertSame(path, saved.fingerprint, job.fingerprint)
      return yield* disk.attemptSync(path, () => writerOf(path, database, job, saved?.progress ?? job.start))
    })
  }
}

const savedIn = Effect.fnUntraced(function*(path: string, database: DatabaseSync) {
  const found = yield* disk.attemptSync(path, () => ({
    tables: database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all().map(({ name }) => name)
  }))
  if (found.tables.length === 0) return undefined
  if (!found.tables.includes("export")) {
    return yield* new CheckpointUnusable({ path, reason: "it is another database" })
  }
  const row = yield* disk.attemptSync(path, () => database.prepare("SELECT checkpoint FROM export").get())
  return row === undefined ? undefined : yield* Checkpoint.parse(path, String(row["checkpoint"]))
})

/** Puts rows of a resource into their table. */
type Put = (row: object) => void

const writerOf = (path: string, database: DatabaseSync, job: Job, start: Checkpoint.Progress): Writer => {
  const puts = new Map<string, Put>()
  const putOf = (table: Table): Put => {
    const known = puts.get(table.name)
    if (known !== undefined) return known
    const put = upsert(database, table)
    puts.set(table.name, put)
    return put
  }
  database.exec("BEGIN IMMEDIATE")
  database.exec(`
    CREATE TABLE IF NOT EXISTS export (id INTEGER PRIMARY KEY CHECK (id = 1), checkpoint TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS errors (position INTEGER PRIMARY KEY, problem TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS included (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  `)
  for (const table of [job.items, ...job.expected.map(job.included)]) putOf(table)
  const { key, name } = job.items
  if (key !== undefined) {
    database.exec(`
      CREATE TABLE IF NOT EXISTS results (
        position INTEGER PRIMARY KEY,
        ${quoted(key)} TEXT NOT NULL REFERENCES ${quoted(name)} (${quoted(key)})
      ) STRICT`)
  }
  const result = key === undefined ? undefined : database.prepare("INSERT INTO results VALUES (?, ?)")
  const error = database.prepare("INSERT INTO errors VALUES (?, ?)")
  const include = database.prepare("INSERT OR IGNORE INTO included VALUES (?)")
  const keep = database.prepare("INSERT OR REPLACE INTO export VALUES (1, ?)")

  let progress = start
  const save = (next: Checkpoint.Progress) => {
    const checkpoint: Checkpoint.Checkpoint = { version: 1, fingerprint: job.fingerprint, progress: next, files: {} }
    keep.run(JSON.stringify(checkpoint))
  }
  const put = (page: Page, next: Checkpoint.Progress): Checkpoint.Progress => {
    const included = { ...progress.included }
    for (const [bucket, objects] of Object.entries(page.includes)) {
      const table = job.included(bucket)
      const put = putOf(table)
      for (const object of objects) {
        put(object)
        const { changes } = include.run(`${bucket} ${keyOf(table, object)}`)
        included[bucket] = (included[bucket] ?? 0) + Number(changes)
      }
    }
    const putItem = putOf(job.items)
    for (const [i, item] of page.items.entries()) {
      putItem(item)
      result?.run(progress.items + i + 1, keyOf(job.items, item))
    }
    for (const [i, problem] of page.errors.entries()) error.run(progress.errors + i + 1, JSON.stringify(problem))
    const kept = { ...next, included }
    save(kept)
    return kept
  }
  save(progress)
  database.exec("COMMIT")
  return {
    get progress() {
      return progress
    },
    commit: (page, next) =>
      disk.attemptSync(path, () => {
        database.exec("BEGIN IMMEDIATE")
        try {
          const kept = put(page, next)
          database.exec("COMMIT")
          return progress = kept
        } catch (error) {
          if (database.isTransaction) database.exec("ROLLBACK")
          throw error
        }
      }),
    finish: disk.attemptSync(path, (): ReadonlyArray<Output> => {
      // One file, for whoever gets it.
      database.exec("PRAGMA journal_mode = DELETE")
      return [{ path, holds: "items", rows: progress.items }]
    }),
    discard: Effect.void,
    abandon: Effect.suspend(() => disk.remove([path, `${path}-wal`, `${path}-shm`]))
  }
}

const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

const keyOf = ({ key = "id" }: Table, row: object): string => String((row as Readonly<Record<string, unknown>>)[key])

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
  const { columns, key } = table
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
    insert.run(...lay(row).map(bound))
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
