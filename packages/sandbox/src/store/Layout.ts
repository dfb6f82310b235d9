/** Creates, migrates, verifies, counts and empties the tables of a database. */
import type { Database } from "./Database.ts"
import { bulk, json, tables } from "./Tables.ts"

/** Incremented whenever a table changes. */
export const version = 18

/** The oldest supported layout. Columns that its tables lack get their default values. */
const oldest = 7

/**
 * Creates missing tables and migrates an older layout. Throws if the layout is unsupported or the file belongs to another
 * program.
 */
export const create = (database: Database): void => {
  const found = versionOf(database)
  if (!isRead(found) && (found !== 0 || layoutOf(database).length > 0)) {
    throw new Error(`Unsupported layout ${found}: this version reads layouts ${oldest} to ${version}`)
  }
  database.transaction(() => {
    const outdated = found === version ? [] : setAside(database)
    database.exec([...tables, `PRAGMA user_version = ${version}`].join(";"))
    for (const table of outdated) takeOver(database, table)
  })
}

/** Migrates a snapshot of an older layout. */
export const update = (database: Database): void => {
  if (versionOf(database) !== version) create(database)
}

const isRead = (found: number): boolean => oldest <= found && found <= version

const versionOf = (database: Database): number =>
  database.query<{ readonly user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0

/**
 * Renames the tables whose definition has changed, and drops all indexes, which `create` makes again. Returns the names of
 * the tables.
 */
const setAside = (database: Database): ReadonlyArray<string> => {
  const parts = database.query<{ readonly type: string; readonly name: string; readonly sql: string }>(
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
  ).all()
  const expected = new Set(tables.map(words))
  const outdated = parts.filter(({ name, sql, type }) =>
    type === "table" && names.includes(name) && !expected.has(words(sql))
  ).map(({ name }) => name)
  for (const { name, type } of parts) if (type === "index") database.exec(`DROP INDEX ${name}`)
  for (const name of outdated) database.exec(`ALTER TABLE ${name} RENAME TO older_${name}`)
  return outdated
}

/** Moves the rows of a renamed table to the new one, along with the largest id that it ever assigned. */
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

/**
 * Throws if a database of this layout has other tables than this version creates, or contents that violate their
 * constraints.
 */
export const verify = (database: Database): void => {
  const expected = new Set(tables.map(words))
  const found = layoutOf(database)
  if (found.length !== expected.size || !found.every((sql) => expected.has(words(sql)))) {
    throw new Error("The snapshot has unexpected tables")
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

/** The SQL of all tables and indexes but those that SQLite creates itself. */
const layoutOf = (database: Database): ReadonlyArray<string> =>
  database.query<{ readonly sql: string }>(
    `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
     AND name NOT LIKE 'post\\_index\\_%' ESCAPE '\\'`
  ).all().map(({ sql }) => sql)

/** A statement without comments, `IF NOT EXISTS` and white space that means nothing. */
const words = (sql: string): string =>
  sql.replace(/--.*$/gm, "").replace(/ IF NOT EXISTS/g, "").replace(/\s+/g, " ").replace(/ ?([(),]) ?/g, "$1").trim()

/** Rewrites the layout version; throws if the database is not writable. */
export const touch = (database: Database): void => database.exec(`PRAGMA user_version = ${version}`)

/** Throws unless the bytes are a database of a supported layout. */
export const check = (bytes: Uint8Array): void => {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 100))
  if (header.length < 100 || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw new Error("Not a snapshot of a sandbox")
  }
  // The offset of the user version in an SQLite header.
  const found = header.readUInt32BE(60)
  if (!isRead(found)) {
    throw new Error(`The snapshot has layout ${found}: this version reads layouts ${oldest} to ${version}`)
  }
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

/** Row counts by collection. */
export type Counts = { readonly [K in keyof typeof counted]: number }

export const counter = (database: Database): () => Counts => {
  const query = database.query<Counts>(
    `SELECT ${Object.entries(counted).map(([name, table]) => `(SELECT count(*) FROM ${table}) AS ${name}`).join(", ")}`
  )
  return () => ({ ...query.get()! })
}

export const clear = (database: Database): void =>
  database.transaction(() => {
    for (const table of names) database.exec(`DELETE FROM ${table}`)
    for (const table of Object.keys(bulk)) database.exec(`DELETE FROM ${database.bulkIn}.${table}`)
    database.exec("INSERT INTO post_index (post_index) VALUES ('delete-all'); DELETE FROM sqlite_sequence")
  })

/** The tables that `clear` empties row by row; the search index has a command of its own. */
const names = tables.flatMap((sql) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? [])
