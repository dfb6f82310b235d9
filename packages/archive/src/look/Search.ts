/** Full-text search over the posts or messages of a copy, newest first. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import { exact } from "./Rows.ts"

/** The conditions of a search. */
export interface Options {
  /**
   * The words that a text has, in any order, whatever their case and accents. `"a phrase"` has its words in this order, `begin*`
   * is the beginning of a word. Without any, all posts are found.
   */
  readonly words?: string | undefined
  /** Default: posts. */
  readonly in?: "posts" | "messages" | undefined
  /** The author: a username with `@`, or an id. */
  readonly from?: string | undefined
  /** The earliest time, ISO 8601. */
  readonly since?: string | undefined
  /** An id: only older ones are found. */
  readonly before?: string | undefined
  /** Default 20. */
  readonly limit?: number | undefined
}

/** A post or a message. */
export interface Found {
  readonly id: string
  readonly created_at: string | null
  readonly author_id: string | null
  /** The author, if the copy has them. */
  readonly username: string | null
  readonly name: string | null
  readonly text: string | null
  readonly conversation_id: string | null
  /** Why it is no longer shown. */
  readonly gone: string | null
  readonly replies: number | null
  readonly reposts: number | null
  readonly likes: number | null
  readonly [column: string]: string | number | null
}

/** The parts of such texts: phrases, words, and beginnings of words. Parts without a letter or a digit match nothing. */
export const parse = (words: string): ReadonlyArray<{ readonly text: string; readonly isPrefix: boolean }> =>
  [...words.replaceAll("\0", " ").matchAll(/"([^"]*)"?|[^\s"]+/g)].flatMap(([part, phrase]) => {
    const text = phrase ?? part.replace(/(?<!\*)\*+$/, "")
    return /[\p{L}\p{N}]/u.test(text) ? [{ text, isPrefix: phrase === undefined && part.endsWith("*") }] : []
  })

/** The parts as the query language of the full-text index, in quotes: nothing in them has a meaning there. */
const queryOf = (words: string, dialect: Copy.Copy["dialect"]): string =>
  parse(words).map(({ isPrefix, text }) =>
    dialect === "pg"
      ? `'${text.replace(/['\\]/g, "$&$&")}'${isPrefix ? ":*" : ""}`
      : `"${text}"${isPrefix ? " *" : ""}`
  ).join(dialect === "pg" ? " & " : " ")

const columnsOf = {
  posts: `p.id, p.created_at, p.author_id, u.username, u.name, p.text, p.conversation_id, p.gone,
    p.public_metrics_reply_count AS replies, p.public_metrics_repost_count AS reposts, p.public_metrics_like_count AS likes`,
  messages:
    `p.id, p.created_at, p.sender_id AS author_id, u.username, u.name, p.text, p.dm_conversation_id AS conversation_id,
    p.gone, NULL AS replies, NULL AS reposts, NULL AS likes`
}

/** Rows of posts or messages `p` from tables, with their authors `u`. */
export const select = (table: "posts" | "messages", from = `${table} p`): string =>
  `SELECT ${columnsOf[table]} FROM ${from} LEFT JOIN users u ON u.id = ${authorOf[table]}`

const authorOf = { posts: "p.author_id", messages: "p.sender_id" }

/** Finds posts or messages, newest first. */
export const find = (
  { before, from, in: table = "posts", limit = 20, since, words = "" }: Options
): Effect.Effect<ReadonlyArray<Found>, SqlError, Copy.Current> =>
  Effect.flatMap(Copy.Current, ({ dialect, sql }) => {
    const query = queryOf(words, dialect)
    if (query === "" && words.trim() !== "") return Effect.succeed([])
    const author = sql.literal(authorOf[table])
    // The full-text index of SQLite has the newest first, so that it is read only until there are enough.
    const isIndexed = query !== "" && dialect === "sqlite"
    const number = sql.literal(dialect === "pg" ? "CAST(p.id AS BIGINT)" : isIndexed ? "t.rowid" : "p.n")
    const conditions = [
      query === ""
        ? sql`p.text IS NOT NULL`
        : isIndexed
        ? sql`${sql.literal(`${table}_text`)} MATCH ${query}`
        : sql`to_tsvector('simple', coalesce(p.text, '')) @@ to_tsquery('simple', ${query})`,
      ...from === undefined ? [] : [
        from.startsWith("@")
          ? sql`${author} IN (SELECT id FROM users WHERE lower(username) = ${from.slice(1).toLowerCase()})`
          : sql`${author} = ${from}`
      ],
      ...since === undefined ? [] : [sql`p.created_at >= ${since}`],
      ...before === undefined ? [] : [sql`${number} < CAST(${before} AS BIGINT)`]
    ]
    const rows = select(table, isIndexed ? `${table}_text t CROSS JOIN ${table} p ON p.n = t.rowid` : undefined)
    return exact(sql<Found>`${sql.literal(rows)} WHERE ${sql.and(conditions)} ORDER BY ${number} DESC LIMIT ${limit}`)
  })
