/** Marks resources that the service no longer shows, and removes their content from the copy. */
import type { Problem } from "@postwire/core/schema/models/Problem"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import * as layout from "../copy/Layout.ts"
import { type TableName, tables } from "../copy/Tables.ts"
import type { Writing } from "../copy/Transaction.ts"

/** A resource that is not shown, and why: an outcome of a lookup, or the reason of a compliance job. */
export interface Gone {
  readonly id: string
  readonly why: string
}

/** The resources that can be gone by themselves. */
export type Name = "posts" | "users"

/** The columns that stay when content is removed. */
const kept: ReadonlySet<string> = new Set(["id", "media_key", "author_id", "created_at"])

const emptied = (name: TableName): string =>
  tables[name].columns.filter((column) => !kept.has(column.name)).map(({ name }) => `${layout.quoted(name)} = NULL`)
    .join(", ")

/** The edges that end with a resource. Those by which others refer to a post remain: they are facts of the others. */
const ends: { readonly [N in Name]: string } = {
  posts: `(from_id IN IDS AND kind IN ('quoted', 'replied_to', 'reposted', 'media', 'poll'))
    OR (to_id IN IDS AND kind IN ('bookmarks', 'likes', 'mentions', 'timeline', 'found', 'list_posts', 'filed'))`,
  users: "(from_id IN IDS AND kind = 'follows') OR (to_id IN IDS AND kind IN ('follows', 'members'))"
}

/** The posts that cannot be shown without a gone resource: those of a user, and the reposts of a post. */
const dependent: { readonly [N in Name]: string } = {
  posts: "JOIN edges e ON e.kind = 'reposted' AND e.to_id = v.value->>0 JOIN posts p ON p.id = e.from_id",
  users: "JOIN posts p ON p.author_id = v.value->>0"
}

/**
 * Marks resources as gone. Their content, its history and its metrics are removed, and so are dependent posts; the row stays, so that
 * it is not requested again. A resource whose state the service does not report keeps its content. With `knownAt`, only rows of the
 * copy are marked, and none that a transaction after that one has changed: it has been shown since.
 */
export const mark = (
  copy: Copy.Copy,
  name: Name,
  gone: ReadonlyArray<Gone>,
  knownAt?: number
): Effect.Effect<void, SqlError> =>
  gone.length === 0
    ? Effect.void
    : copy.sql.withTransaction(Effect.flatMap(Copy.begin(copy), (writing) => marking(writing, name, gone, knownAt)))

const marking = Effect.fnUntraced(function*(
  writing: Writing,
  name: Name,
  gone: ReadonlyArray<Gone>,
  knownAt?: number
): Effect.fn.Return<void, SqlError> {
  const { at, commit, dialect, sql } = writing
  const table = tables[name]
  const [, b, c, d] = layout.placeholders(dialect, 4)
  const [n, number] = dialect === "sqlite" && table.isTimed ? ["n, ", "CAST(v.value->>0 AS INTEGER), "] : ["", ""]
  const integer = layout.typeOf(dialect, { type: "integer" })
  const isMeant = knownAt === undefined
    ? "true"
    : `EXISTS (SELECT 1 FROM ${name} t WHERE t.id = v.value->>0 AND t.changed_in <= ${d})`
  const marked = yield* sql.unsafe<Gone & { readonly [column: string]: string }>(
    `INSERT INTO ${name} (${n}id, first_seen, gone, gone_at, added_in, changed_in)
      SELECT ${number}v.value->>0, CAST(${b} AS TEXT), v.value->>1, CAST(${b} AS TEXT),
        CAST(${c} AS ${integer}), CAST(${c} AS ${integer}) FROM ${layout.elements(dialect, 1)} WHERE ${isMeant}
      ON CONFLICT (id) DO UPDATE SET gone = excluded.gone, gone_at = excluded.gone_at, changed_in = excluded.changed_in,
        ${emptied(name)} WHERE excluded.gone <> 'unknown' AND ${name}.gone IS DISTINCT FROM excluded.gone
      RETURNING id, gone AS why`,
    [rowsOf(gone), at, commit, ...knownAt === undefined ? [] : [knownAt]]
  )
  const removed = marked.filter(({ why }) => why !== "unknown")
  if (removed.length === 0) return
  yield* removeTraces(writing, name, removed)
  const posts = yield* dependentOn(writing, name, removed)
  if (posts.length > 0) yield* marking(writing, "posts", posts)
})

const rowsOf = (gone: ReadonlyArray<Gone>): string => JSON.stringify([...new Map(gone.map(({ id, why }) => [id, why]))])

const dependentOn = ({ dialect, sql }: Writing, name: Name, gone: ReadonlyArray<Gone>) =>
  sql.unsafe<Gone & { readonly [column: string]: string }>(
    `SELECT p.id, v.value->>1 AS why FROM ${layout.elements(dialect, 1)} ${dependent[name]} WHERE p.gone IS NULL`,
    [rowsOf(gone)]
  )

/** Removes the history and the metrics of resources, ends their edges, and empties media and polls that no other resource has. */
const removeTraces = Effect.fnUntraced(function*(
  { at, commit, dialect, sql }: Writing,
  name: Name,
  gone: ReadonlyArray<Gone>
): Effect.fn.Return<void, SqlError> {
  const [, b, c] = layout.placeholders(dialect, 3)
  const ids = `(SELECT v.value->>0 FROM ${layout.elements(dialect, 1)})`
  const rows = rowsOf(gone)
  yield* sql.unsafe(`DELETE FROM history WHERE of_table = '${name}' AND id IN ${ids}`, [rows])
  yield* sql.unsafe(`DELETE FROM ${layout.metricsOf(tables[name])} WHERE id IN ${ids}`, [rows])
  yield* sql.unsafe(
    `UPDATE edges SET gone_at = ${b}, changed_in = ${c} WHERE gone_at IS NULL AND (${
      ends[name].replaceAll("IDS", ids)
    })`,
    [rows, at, commit]
  )
  if (name === "users") return
  yield* sql.unsafe(`DELETE FROM post_analytics WHERE id IN ${ids}`, [rows])
  for (const [kind, of] of [["media", "media"], ["poll", "polls"]] as const) {
    const { key } = tables[of]
    yield* sql.unsafe(
      `UPDATE ${of} SET gone = 'deleted', gone_at = ${b}, changed_in = ${c}, ${emptied(of)}
        WHERE gone IS NULL AND ${key} IN (SELECT to_id FROM edges WHERE kind = '${kind}' AND from_id IN ${ids})
          AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.kind = '${kind}' AND e.to_id = ${of}.${key} AND e.gone_at IS NULL)`,
      [rows, at, commit]
    )
  }
})

/** Marks the reposts of posts that are gone: a source may have shown them since, and jobs do not report them. */
export const follow = (copy: Copy.Copy): Effect.Effect<void, SqlError> =>
  copy.sql.withTransaction(Effect.gen(function*() {
    const writing = yield* Copy.begin(copy)
    const reposts = yield* copy.sql.unsafe<Gone & { readonly [column: string]: string }>(
      `SELECT p.id, o.gone AS why FROM posts o JOIN edges e ON e.kind = 'reposted' AND e.to_id = o.id
        JOIN posts p ON p.id = e.from_id WHERE o.gone <> 'unknown' AND p.gone IS NULL`
    )
    if (reposts.length > 0) yield* marking(writing, "posts", reposts)
  }))

/** Marks the posts of accounts that are protected. Their profiles are public and remain. */
export const hide = (copy: Copy.Copy, ids: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
  copy.sql.withTransaction(Effect.gen(function*() {
    const writing = yield* Copy.begin(copy)
    const users = ids.map((id) => ({ id, why: "protected" }))
    yield* copy.sql.unsafe(
      `UPDATE users SET protected = true, changed_in = ${layout.placeholders(copy.dialect, 2)[1]}
        WHERE protected IS NOT TRUE AND id IN (SELECT v.value->>0 FROM ${layout.elements(copy.dialect, 1)})`,
      [rowsOf(users), writing.commit]
    )
    const posts = yield* dependentOn(writing, "users", users)
    if (posts.length > 0) yield* marking(writing, "posts", posts)
  }))

/** Removes the places of posts. */
export const scrub = (copy: Copy.Copy, ids: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
  copy.sql.withTransaction(Effect.gen(function*() {
    const { dialect, sql } = copy
    const { commit } = yield* Copy.begin(copy)
    const columns = tables.posts.columns.filter(({ path: [first] }) => first === "geo").map(({ name }) =>
      layout.quoted(name)
    )
    const found = yield* sql.unsafe<{ readonly id: string }>(
      `UPDATE posts SET ${columns.map((name) => `${name} = NULL`).join(", ")},
          changed_in = ${layout.placeholders(dialect, 2)[1]}
        WHERE id IN (SELECT v.value->>0 FROM ${layout.elements(dialect, 1)})
          AND (${columns.map((name) => `${name} IS NOT NULL`).join(" OR ")}) RETURNING id`,
      [JSON.stringify(ids.map((id) => [id])), commit]
    )
    yield* sql.unsafe(
      `DELETE FROM history WHERE of_table = 'posts' AND was LIKE '%"geo%'
        AND id IN (SELECT v.value->>0 FROM ${layout.elements(dialect, 1)})`,
      [JSON.stringify(found.map(({ id }) => [id]))]
    )
  }))

type Said = Pick<Problem, "detail" | "resource_id" | "resource_type" | "title" | "type" | "value">

/** Marks the known resources that the problems of a response are about. Those in `shown` are there, in part. */
export const meet = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  problems: ReadonlyArray<object>,
  shown: ReadonlyArray<string>
): Effect.fn.Return<void, SqlError> {
  const about = problems.map((problem: Said) => ({
    kind: problem.resource_type,
    id: String(problem.value ?? problem.resource_id ?? ""),
    why: problem.type?.endsWith("-for-field") === true ? "unknown" : Hydrate.outcomeOf(problem)
  })).filter(({ id, why }) => why !== "unknown" && !shown.includes(id))
  for (const name of ["posts", "users"] as const) {
    yield* mark(copy, name, about.filter(({ kind }) => `${kind}s` === name), Number.MAX_SAFE_INTEGER)
  }
})
