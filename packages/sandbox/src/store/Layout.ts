/** The tables of a file: made, verified, counted, emptied. */
import type { Database } from "./Database.ts"
import { json, tables } from "./Tables.ts"

/** Raised whenever a table changes. */
export const version = 13

/** The oldest layout of which a file is read: what its tables have not is left to the defaults of the columns. */
const oldest = 7

/** Creates what is missing, and changes an older layout; throws when the layout is another, or of another program. */
export const create = (database: Database): void => {
  const found = versionOf(database)
  if (!isRead(found) && (found !== 0 || layoutOf(database).length > 0)) {
    throw new Error(`The file has layout ${found}, this version reads ${version}`)
  }
  database.transaction(() => {
    const outdated = found === version ? [] : setAside(database)
    database.exec(`${tables}; PRAGMA user_version = ${version}`)
    for (const table of outdated) takeOver(database, table)
  })
}

/** Brings a snapshot of an older layout to this one. */
export const update = (database: Database): void => {
  if (versionOf(database) !== version) create(database)
}

const isRead = (found: number): boolean => oldest <= found && found <= version

const versionOf = (database: Database): number =>
  database.query<{ readonly user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0

/** Renames the tables that are otherwise now, and drops all indexes, which are made again. Returns the names. */
const setAside = (database: Database): ReadonlyArray<string> => {
  const parts = database.query<{ readonly type: string; readonly name: string; readonly sql: string }>(
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
  ).all()
  const expected = new Set(statements.map(words))
  const outdated = parts.filter(({ name, sql, type }) =>
    type === "table" && names.includes(name) && !expected.has(words(sql))
  ).map(({ name }) => name)
  for (const { name, type } of parts) if (type === "index") database.exec(`DROP INDEX ${name}`)
  for (const name of outdated) database.exec(`ALTER TABLE ${name} RENAME TO older_${name}`)
  return outdated
}

/** Moves the rows of a table that was set aside to the new one, with the largest id that it ever gave. */
const takeOver = (database: Database, table: string): void => {
  const columnsOf = (name: string) =>
    database.query<{ readonly name: string }>(`PRAGMA table_info(${name})`).all().map((column) => column.name)
  const older = columnsOf(`older_${table}`)
  const columns = columnsOf(table).filter((column) => older.includes(column)).join(", ")
  database.exec(`
    INSERT INTO ${table} (${columns}) SELECT ${columns} FROM older_${table};
    UPDATE sqlite_sequence SET seq = max(seq, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'older_${table}'), 0))
      WHERE name = '${table}';
    UPDATE sqlite_sequence SET name = '${table}' WHERE name = 'older_${table}'
      AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '${table}');
    DROP TABLE older_${table}`)
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

/** Throws when the bytes are not a database of a layout that is read. */
export const check = (bytes: Uint8Array): void => {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 100))
  if (header.length < 100 || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw new Error("This is no snapshot of a sandbox")
  }
  // Where the format keeps the user version.
  const found = header.readUInt32BE(60)
  if (!isRead(found)) throw new Error(`The snapshot has layout ${found}, this version reads ${version}`)
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
