/**
 * The tables of a copy as SQL, for SQLite and PostgreSQL, and the changes that bring an older copy to them. Ids are text. Times of
 * the service are text as the service sends them; those of the copy are ISO 8601.
 */
import type { Column, ColumnType } from "@postwire/export/rows/Table"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import { CopyUnusable } from "./CopyErrors.ts"
import { type CopyTable, tables } from "./Tables.ts"

/** The version of the layout. A copy of a newer one is refused, and one of an older one is changed. */
export const version = 1

/** The dialects of SQL that can hold a copy. */
export type Dialect = "sqlite" | "pg"

/** The name in double quotes. */
export const quoted = (name: string): string => `"${name}"`

const types: { readonly [D in Dialect]: { readonly [T in ColumnType]: string } } = {
  sqlite: { text: "TEXT", json: "TEXT", integer: "INTEGER", real: "REAL", boolean: "INTEGER" },
  pg: { text: "TEXT", json: "TEXT", integer: "BIGINT", real: "DOUBLE PRECISION", boolean: "BOOLEAN" }
}

/** The SQL type of a column. */
export const typeOf = (dialect: Dialect, { type }: Pick<Column, "type">): string => types[dialect][type]

/** A row of a table. */
export type Row = Readonly<Record<string, unknown>>

/** Gives the values of rows their types: SQLite has numbers for booleans, and PostgreSQL other types for large numbers. */
export const typed = (columns: ReadonlyArray<SqlColumn>): (row: Row) => Row => {
  const read = { integer: Number, boolean: Boolean }
  const others = columns.flatMap(({ name, type }) =>
    type in read ? [[name, read[type as keyof typeof read]] as const] : []
  )
  return (row) => {
    const values = { ...row }
    for (const [name, read] of others) {
      if (values[name] !== null) values[name] = read(values[name])
    }
    return values
  }
}

/** A text that both databases can hold: PostgreSQL has no NUL, and neither has halves of characters. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd")

/** The placeholders of parameters. */
export const placeholders = (dialect: Dialect, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${dialect === "pg" ? "$" : "?"}${index + 1}`)

/** The placeholders of parameters, with commas. */
export const parameters = (dialect: Dialect, count: number): string => placeholders(dialect, count).join(", ")

/** The elements of a JSON array in a parameter, as a table `v` with the column `value`. */
export const elements = (dialect: Dialect, parameter: number): string =>
  dialect === "pg"
    ? `jsonb_array_elements(CAST($${parameter} AS TEXT)::jsonb) AS v(value)`
    : `json_each(?${parameter}) AS v`

/** A member of such an element, as the type of a column. */
export const elementOf = (dialect: Dialect, column: Pick<Column, "type">, index: number): string =>
  dialect === "sqlite" ? `v.value->>${index}` : `(v.value->>${index})::${typeOf(dialect, column)}`

/** A column of a table in the database. */
export type SqlColumn = Pick<Column, "name" | "type">

/** The columns that each table of resources has besides those of the service. */
const own: ReadonlyArray<SqlColumn> = [
  /** When a sync first met it. */
  { name: "first_seen", type: "text" },
  /** Why it is gone: `deleted`, `deactivated`, `protected`, `suspended`, `withheld`; `unknown` if it never was found. */
  { name: "gone", type: "text" },
  { name: "gone_at", type: "text" },
  /** The commits that added it and last changed it. */
  { name: "added_in", type: "integer" },
  { name: "changed_in", type: "integer" }
]

/** True for a post whose text may be cut, as in lists that others made. */
const preview: SqlColumn = { name: "is_preview", type: "boolean" }

/** The columns of relations. */
export const edgeColumns: ReadonlyArray<SqlColumn> = [
  ...["kind", "from_id", "to_id", "first_seen", "gone_at"].map((name) => ({ name, type: "text" as const })),
  ...["added_in", "changed_in"].map((name) => ({ name, type: "integer" as const }))
]

/** The columns of a table of resources, those of the service first. */
export const columnsOf = ({ columns, name }: Pick<CopyTable, "columns" | "name">): ReadonlyArray<SqlColumn> => [
  ...columns,
  ...name === "posts" ? [preview] : [],
  ...own
]

/** The name of the table with the metrics of a table over time. */
export const metricsOf = ({ name }: Pick<CopyTable, "name">): string => `${name.replace(/s$/, "")}_metrics`

const tableOf = (dialect: Dialect, table: CopyTable): ReadonlyArray<string> => {
  const { isTimed, key, metrics, name } = table
  const defined = [
    // The full-text index needs numbers that last, and in this order the newest come first.
    ...isTimed && dialect === "sqlite" ? ["n INTEGER PRIMARY KEY"] : [],
    ...columnsOf(table).map((column) =>
      `${quoted(column.name)} ${typeOf(dialect, column)}${
        column.name !== key ? "" : isTimed && dialect === "sqlite" ? " NOT NULL UNIQUE" : " PRIMARY KEY"
      }`
    )
  ]
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (${defined.join(", ")})`,
    `CREATE INDEX IF NOT EXISTS ${name}_changed ON ${name} (changed_in)`,
    ...metrics.length === 0 ? [] : [
      `CREATE TABLE IF NOT EXISTS ${metricsOf({ name })} (id TEXT NOT NULL, at TEXT NOT NULL, ${
        metrics.map((column) => `${quoted(column.name)} ${typeOf(dialect, column)}`).join(", ")
      }, PRIMARY KEY (id, at))`
    ]
  ]
}

/** The day of a post, as its index has it. */
export const dayOf = "substr(created_at, 1, 10)"

const common = (dialect: Dialect): ReadonlyArray<string> => {
  const integer = types[dialect].integer
  return [
    // Relations: who likes, follows or keeps what, what a search found, and what a post refers to.
    `CREATE TABLE IF NOT EXISTS edges (kind TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL, first_seen TEXT,
      gone_at TEXT, added_in ${integer}, seen_in ${integer}, changed_in ${integer}, PRIMARY KEY (kind, from_id, to_id))`,
    "CREATE INDEX IF NOT EXISTS edges_to ON edges (to_id, kind)",
    "CREATE INDEX IF NOT EXISTS edges_changed ON edges (changed_in)",
    // Earlier values of columns that changed.
    "CREATE TABLE IF NOT EXISTS history (of_table TEXT NOT NULL, id TEXT NOT NULL, until TEXT NOT NULL, was TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS history_of ON history (id, of_table)",
    // SQLite has the newest first by their numbers.
    ...dialect === "pg" ? ["CREATE INDEX IF NOT EXISTS posts_newest ON posts ((CAST(id AS BIGINT)))"] : [],
    "CREATE INDEX IF NOT EXISTS posts_author ON posts (author_id, id)",
    // In SQLite an index has the number of the row at its end.
    `CREATE INDEX IF NOT EXISTS posts_day ON posts (${dayOf}${dialect === "pg" ? ", id" : ""})`,
    "CREATE INDEX IF NOT EXISTS posts_conversation ON posts (conversation_id)",
    "CREATE INDEX IF NOT EXISTS messages_conversation ON messages (dm_conversation_id)",
    "CREATE INDEX IF NOT EXISTS users_username ON users (lower(username))",
    // Files of media. One without the time when it was fetched is from an archive, and may be a smaller one.
    `CREATE TABLE IF NOT EXISTS media_files (media_key TEXT PRIMARY KEY, file TEXT, sha256 TEXT, bytes ${integer},
      content_type TEXT, fetched_at TEXT, problem TEXT, attempts ${integer}, validator TEXT)`,
    "CREATE INDEX IF NOT EXISTS media_files_sha256 ON media_files (sha256)",
    "CREATE TABLE IF NOT EXISTS progress (source TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (source, subject))",
    ...Object.entries(noted).map(([name, { key, value }]) =>
      `CREATE TABLE IF NOT EXISTS ${name} (id TEXT NOT NULL, ${value} TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (${key}))`
    ),
    `CREATE TABLE IF NOT EXISTS runs (id ${integer} PRIMARY KEY, started_at TEXT NOT NULL, ended_at TEXT, status TEXT, reason TEXT,
      requests ${integer}, items ${integer}, added ${integer}, changed ${integer}, micros ${integer})`
  ]
}

/** Tables of an id and a text. */
export const noted = {
  folders: { key: "id", value: "name" },
  post_analytics: { key: "id, at", value: "figures" }
} as const

const search = (dialect: Dialect): ReadonlyArray<string> =>
  dialect === "pg"
    ? ["posts", "messages"].map((name) =>
      `CREATE INDEX IF NOT EXISTS ${name}_text ON ${name} USING gin (to_tsvector('simple', coalesce(text, '')))`
    )
    : ["posts", "messages"].flatMap((name) => [
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${name}_text USING fts5(text, content='${name}', content_rowid='n', tokenize='unicode61 remove_diacritics 2')`,
      `CREATE TRIGGER IF NOT EXISTS ${name}_text_added AFTER INSERT ON ${name} WHEN new.text IS NOT NULL BEGIN
        INSERT INTO ${name}_text (rowid, text) VALUES (new.n, new.text); END`,
      `CREATE TRIGGER IF NOT EXISTS ${name}_text_changed AFTER UPDATE OF text ON ${name} WHEN old.text IS NOT new.text BEGIN
        INSERT INTO ${name}_text (${name}_text, rowid, text) SELECT 'delete', old.n, old.text WHERE old.text IS NOT NULL;
        INSERT INTO ${name}_text (rowid, text) SELECT new.n, new.text WHERE new.text IS NOT NULL; END`
    ])

/** Views for people who query. */
const views: Readonly<Record<string, string>> = {
  timeline:
    `SELECT p.id, p.created_at, u.username, u.name, p.text, p.lang, p.conversation_id, p.public_metrics_like_count AS likes,
      p.public_metrics_repost_count AS reposts, p.public_metrics_reply_count AS replies, p.gone
      FROM posts p LEFT JOIN users u ON u.id = p.author_id`,
  bookmarks:
    `SELECT e.from_id AS user_id, e.first_seen AS found_at, p.id, p.created_at, u.username, p.text, p.gone FROM edges e
      JOIN posts p ON p.id = e.to_id LEFT JOIN users u ON u.id = p.author_id WHERE e.kind = 'bookmarks' AND e.gone_at IS NULL`,
  likes:
    `SELECT e.from_id AS user_id, e.first_seen AS found_at, p.id, p.created_at, u.username, p.text, p.gone FROM edges e
      JOIN posts p ON p.id = e.to_id LEFT JOIN users u ON u.id = p.author_id WHERE e.kind = 'likes' AND e.gone_at IS NULL`,
  followers:
    `SELECT e.to_id AS of_user, e.first_seen, e.gone_at, u.id, u.username, u.name, u.public_metrics_followers_count AS followers
      FROM edges e LEFT JOIN users u ON u.id = e.from_id WHERE e.kind = 'follows'`,
  replies: `SELECT e.to_id AS to_post, p.id, p.created_at, u.username, p.text, p.gone FROM edges e
      JOIN posts p ON p.id = e.from_id LEFT JOIN users u ON u.id = p.author_id WHERE e.kind = 'replied_to'`
}

/** The statements that make the tables of a copy, and those that need all of their columns. */
const statementsOf = (dialect: Dialect) => ({
  tables: [...Object.values(tables).flatMap((table) => tableOf(dialect, table)), ...common(dialect)],
  others: [
    ...search(dialect),
    ...Object.entries(views).flatMap(([name, query]) => [
      `DROP VIEW IF EXISTS ${name}`,
      `CREATE VIEW ${name} AS ${query}`
    ])
  ]
})

/** Makes the tables. Columns that a newer release knows are added to the tables of an older one. */
const make = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  statements: ReturnType<typeof statementsOf>
): Effect.fn.Return<void, SqlError> {
  for (const statement of statements.tables) yield* sql.unsafe(statement)
  for (const { columns, metrics, name } of Object.values(tables)) {
    yield* addColumns(sql, dialect, name, columns)
    if (metrics.length > 0) yield* addColumns(sql, dialect, metricsOf({ name }), metrics)
  }
  for (const statement of statements.others) yield* sql.unsafe(statement)
})

const addColumns = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  table: string,
  columns: ReadonlyArray<Column>
): Effect.fn.Return<void, SqlError> {
  const found = yield* sql.unsafe<{ readonly name: string }>(
    dialect === "pg"
      ? `SELECT column_name AS name FROM information_schema.columns
          WHERE table_schema = current_schema() AND table_name = '${table}'`
      : `SELECT name FROM pragma_table_info('${table}')`
  )
  const known = new Set(found.map(({ name }) => name))
  for (const column of columns) {
    if (known.has(column.name)) continue
    yield* sql.unsafe(`ALTER TABLE ${table} ADD COLUMN ${quoted(column.name)} ${typeOf(dialect, column)}`)
  }
})

/** The version of the layout of a database, 0 if it has none yet. */
const versionOf = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  where: string
): Effect.fn.Return<number, SqlError | CopyUnusable> {
  const [found] = yield* sql.unsafe<{ readonly value: string }>("SELECT value FROM meta WHERE key = 'version'")
  const known = Number(found?.value ?? 0)
  if (known > version) {
    return yield* new CopyUnusable({ path: where, reason: `a newer release made it (layout ${known})` })
  }
  return known
})

/** Verifies that a database is a copy that this release can read. */
export const verify = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  where: string
): Effect.fn.Return<void, SqlError | CopyUnusable> {
  const [found] = yield* sql.unsafe<{ readonly name: string | null }>(
    dialect === "pg" ? "SELECT to_regclass('meta')::text AS name" : "SELECT name FROM sqlite_schema WHERE name = 'meta'"
  )
  if ((found?.name ?? null) === null || (yield* versionOf(sql, where)) === 0) {
    return yield* new CopyUnusable({ path: where, reason: "it is not a copy of Postwire" })
  }
})

/** Makes the tables, or brings those of an older release to the current layout. */
export const prepare = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  where: string
): Effect.fn.Return<void, SqlError | CopyUnusable> {
  if (dialect === "pg") {
    // Two connections that make the same table would fail, although either accepts one that exists.
    yield* sql.unsafe("SELECT pg_advisory_xact_lock(hashtext('postwire.layout'))")
    yield* sql.unsafe(`DO $$ BEGIN
      IF current_schema() IS NULL THEN EXECUTE 'CREATE SCHEMA ' || current_setting('search_path'); END IF; END $$`)
  }
  yield* sql.unsafe("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
  yield* versionOf(sql, where)
  const statements = statementsOf(dialect)
  const layout = createHash("sha256").update(JSON.stringify(statements)).digest("hex")
  // Statements that make what exists wait for those that write, and could block each other.
  const [made] = yield* sql.unsafe(`SELECT key FROM meta WHERE key = 'layout' AND value = '${layout}'`)
  if (made !== undefined) return
  yield* make(sql, dialect, statements)
  yield* sql.unsafe(
    `INSERT INTO meta VALUES ('version', '${version}'), ('layout', '${layout}')
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`
  )
  yield* sql.unsafe(
    `INSERT INTO meta VALUES ('created', '${yield* Clock.currentTimeMillis}') ON CONFLICT (key) DO NOTHING`
  )
})
