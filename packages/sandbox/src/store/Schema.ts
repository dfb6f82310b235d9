/**
 * The tables. Times are in the ids (see `Snowflake`); `key` columns order relations by when they came about. Counts are
 * kept beside what they count and change in the same transaction. AUTOINCREMENT remembers the largest id ever given, so
 * that none comes back after a deletion.
 */
import type { Database } from "./Database.ts"

/** Raised whenever a file of an older layout could not be read any more. */
export const version = 3

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
  follows: "follows",
  blocks: "blocks",
  mutes: "mutes",
  lists: "lists",
  spaces: "spaces",
  conversations: "dm_conversations",
  messages: "dm_events"
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
    for (const table of emptied) database.exec(`DELETE FROM ${table}`)
    database.exec("INSERT INTO post_index (post_index) VALUES ('delete-all'); DELETE FROM sqlite_sequence")
  })

/** The columns that hold JSON. */
const json = {
  dm_events: ["participant_ids", "entities", "attachments"],
  media: ["facts"],
  places: ["facts"],
  polls: ["options"],
  posts: ["entities", "attachments"],
  spaces: ["people"],
  users: ["entities"]
}

const emptied = [
  "bearer_tokens",
  "access_tokens",
  "apps",
  "dm_events",
  "dm_participants",
  "dm_conversations",
  "space_posts",
  "space_buyers",
  "spaces",
  "topics",
  "list_followers",
  "list_members",
  "lists",
  "mutes",
  "blocks",
  "follows",
  "bookmarks",
  "likes",
  "mentions",
  "posts",
  "polls",
  "media",
  "places",
  "users"
]

const tables = `
CREATE TABLE IF NOT EXISTS users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  location TEXT,
  url TEXT,
  profile_image_url TEXT NOT NULL,
  verified_type TEXT NOT NULL,
  protected INTEGER NOT NULL,
  photo_tagging INTEGER NOT NULL,
  receives_dm INTEGER NOT NULL,
  pinned_post_id INTEGER,
  entities TEXT,
  followers_count INTEGER NOT NULL DEFAULT 0,
  following_count INTEGER NOT NULL DEFAULT 0,
  post_count INTEGER NOT NULL DEFAULT 0,
  like_count INTEGER NOT NULL DEFAULT 0,
  listed_count INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE IF NOT EXISTS media (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  media_key TEXT NOT NULL UNIQUE,
  owner_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  facts TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS polls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  options TEXT NOT NULL,
  duration_minutes INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS places (
  id TEXT PRIMARY KEY,
  facts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS posts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  author_id INTEGER NOT NULL,
  text TEXT NOT NULL,
  conversation_id INTEGER NOT NULL,
  in_reply_to_user_id INTEGER,
  in_reply_to_post_id INTEGER,
  quoted_post_id INTEGER,
  reposted_post_id INTEGER,
  lang TEXT NOT NULL,
  source TEXT NOT NULL,
  reply_settings TEXT NOT NULL,
  possibly_sensitive INTEGER NOT NULL,
  hidden INTEGER NOT NULL DEFAULT 0,
  entities TEXT,
  attachments TEXT,
  place_id TEXT,
  extra TEXT,
  impression_count INTEGER NOT NULL,
  like_count INTEGER NOT NULL DEFAULT 0,
  reply_count INTEGER NOT NULL DEFAULT 0,
  repost_count INTEGER NOT NULL DEFAULT 0,
  quote_count INTEGER NOT NULL DEFAULT 0,
  bookmark_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS posts_by_author ON posts (author_id);
CREATE INDEX IF NOT EXISTS posts_by_quoted ON posts (quoted_post_id) WHERE quoted_post_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS posts_by_reposted ON posts (reposted_post_id, author_id)
  WHERE reposted_post_id IS NOT NULL;

-- Holds no text of its own: words and facts of public posts as src/query/Terms.ts spells them, by post id.
CREATE VIRTUAL TABLE IF NOT EXISTS post_index USING fts5(
  text, facts, urls, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
);

CREATE TABLE IF NOT EXISTS mentions (
  user_id INTEGER NOT NULL,
  post_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, post_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS likes (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL,
  post_id INTEGER NOT NULL,
  UNIQUE (post_id, user_id)
) STRICT;
CREATE INDEX IF NOT EXISTS likes_by_user ON likes (user_id);

CREATE TABLE IF NOT EXISTS bookmarks (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL,
  post_id INTEGER NOT NULL,
  UNIQUE (post_id, user_id)
) STRICT;
CREATE INDEX IF NOT EXISTS bookmarks_by_user ON bookmarks (user_id);

CREATE TABLE IF NOT EXISTS follows (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  UNIQUE (source_id, target_id)
) STRICT;
CREATE INDEX IF NOT EXISTS follows_by_target ON follows (target_id);

CREATE TABLE IF NOT EXISTS blocks (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  UNIQUE (target_id, source_id)
) STRICT;
CREATE INDEX IF NOT EXISTS blocks_by_source ON blocks (source_id);

CREATE TABLE IF NOT EXISTS mutes (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  UNIQUE (target_id, source_id)
) STRICT;
CREATE INDEX IF NOT EXISTS mutes_by_source ON mutes (source_id);

CREATE TABLE IF NOT EXISTS lists (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  private INTEGER NOT NULL,
  member_count INTEGER NOT NULL DEFAULT 0,
  follower_count INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE IF NOT EXISTS list_members (
  list_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  PRIMARY KEY (list_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS list_followers (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  list_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  UNIQUE (list_id, user_id)
) STRICT;
CREATE INDEX IF NOT EXISTS list_followers_by_user ON list_followers (user_id);

CREATE TABLE IF NOT EXISTS topics (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS spaces (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  creator_id INTEGER NOT NULL,
  title TEXT,
  terms TEXT NOT NULL,
  scheduled_start INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  is_ticketed INTEGER NOT NULL,
  lang TEXT NOT NULL,
  people TEXT NOT NULL,
  participant_count INTEGER NOT NULL,
  subscriber_count INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS spaces_by_creator ON spaces (creator_id);

CREATE TABLE IF NOT EXISTS space_buyers (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  UNIQUE (space_id, user_id)
) STRICT;

CREATE TABLE IF NOT EXISTS space_posts (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space_id TEXT NOT NULL,
  post_id INTEGER NOT NULL,
  UNIQUE (post_id, space_id)
) STRICT;
CREATE INDEX IF NOT EXISTS space_posts_by_space ON space_posts (space_id);

CREATE TABLE IF NOT EXISTS dm_conversations (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS dm_participants (
  conversation_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  PRIMARY KEY (conversation_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dm_participants_by_user ON dm_participants (user_id);

CREATE TABLE IF NOT EXISTS dm_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  sender_id INTEGER NOT NULL,
  text TEXT,
  participant_ids TEXT,
  entities TEXT,
  attachments TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS dm_events_by_conversation ON dm_events (conversation_id);

CREATE TABLE IF NOT EXISTS apps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  access TEXT NOT NULL,
  rights TEXT NOT NULL,
  consumer_key TEXT NOT NULL UNIQUE,
  consumer_secret TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS access_tokens (
  token TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  app_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  rights TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS bearer_tokens (
  hash TEXT PRIMARY KEY,
  app_id INTEGER NOT NULL,
  user_id INTEGER,
  rights TEXT NOT NULL,
  scopes TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`

const statements = tables.split(";").map((statement) => statement.trim()).filter((statement) => statement !== "")
