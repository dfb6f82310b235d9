/** The tables of a file: made, verified, counted, emptied. */
import type { Database } from "./Database.ts"
import { json, tables } from "./Tables.ts"

/** Raised whenever a file of an older layout could not be read any more. */
export const version = 8

/** Creates what is missing; throws when the file has another layout, or is of another program. */
export const create = (database: Database): void => {
  const found = database.query<{ readonly user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0
  if (found !== version && (found !== 0 || layoutOf(database).length > 0)) {
    throw new Error(`The file has layout ${found}, this version reads ${version}`)
  }
  database.transaction(() => database.exec(`${tables}; PRAGMA user_version = ${version}`))
}

/** Throws when a database of this layout has other tables than this version makes, or contents that break their rules. */
export const verify = (database: Database): void => {
  const expected = new Set(statements.map(words))
  const found = layoutOf(database)
  if (found.length !== expected.size || !found.every((sql) => expected.has(words(sql)))) {
    throw new Error("The snapshot has other tables")
  }
  const problem = database.query<{ readonly integrity_check: string }>("PRAGMA integrity_check(1)").get()
  if (problem?.integrity_check !== "ok") throw new Error(`The snapshot is damaged: ${problem?.integrity_check}`)
  for (const [table, columns] of Object.entries(json)) {
    for (const column of columns) {
      if (database.query(`SELECT 1 FROM ${table} WHERE NOT json_valid(${column}) LIMIT 1`).get() !== undefined) {
        throw new Error(`The snapshot is damaged: ${table}.${column} is not JSON`)
      }
    }
  }
}

/** What made the tables and indexes, without those that SQLite makes for itself. */
const layoutOf = (database: Database): ReadonlyArray<string> =>
  database.query<{ readonly sql: string }>(
    `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
     AND name NOT LIKE 'post\\_index\\_%' ESCAPE '\\'`
  ).all().map(({ sql }) => sql)

/** A statement by its words alone. */
const words = (sql: string): string =>
  sql.replace(/--.*$/gm, "").replace(/ IF NOT EXISTS/g, "").replace(/\s+/g, " ").trim()

/** Writes the version again; throws when nothing can be written. */
export const touch = (database: Database): void => database.exec(`PRAGMA user_version = ${version}`)

/** Throws when the bytes are not a database of this layout. */
export const check = (bytes: Uint8Array): void => {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 100))
  if (header.length < 100 || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw new Error("This is no snapshot of a sandbox")
  }
  // Where the format keeps the user version.
  const found = header.readUInt32BE(60)
  if (found !== version) throw new Error(`The snapshot has layout ${found}, this version reads ${version}`)
}

const counted = {
  users: "users",
  posts: "posts",
  likes: "likes",
  bookmarks: "bookmarks",
  bookmark_folders: "bookmark_folders",
  follows: "follows",
  blocks: "blocks",
  mutes: "mutes",
  lists: "lists",
  spaces: "spaces",
  conversations: "dm_conversations",
  messages: "dm_events",
  media: "media",
  uploads: "uploads",
  grants: "grants"
} as const

/** How many there are of what a service holds. */
export type Counts = { readonly [K in keyof typeof counted]: number }

/** Counts. */
export const counter = (database: Database): () => Counts => {
  const query = database.query<Counts>(
    `SELECT ${Object.entries(counted).map(([name, table]) => `(SELECT count(*) FROM ${table}) AS ${name}`).join(", ")}`
  )
  return () => ({ ...query.get()! })
}

/** Empties every table. */
export const clear = (database: Database): void =>
  database.transaction(() => {
    for (const table of names) database.exec(`DELETE FROM ${table}`)
    database.exec(`DELETE FROM ${database.bytesIn}.media_segments`)
    database.exec("INSERT INTO post_index (post_index) VALUES ('delete-all'); DELETE FROM sqlite_sequence")
  })

const statements = tables.split(";").map((statement) => statement.trim()).filter((statement) => statement !== "")

/** The tables that rows are deleted from; the search index forgets all of its own in another way. */
const names = statements.flatMap((sql) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? [])
