/** Relations of resources. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as layout from "./Layout.ts"
import type { Writing } from "./Transaction.ts"

/** A relation of two resources. */
export interface Edge {
  readonly kind: string
  readonly from: string
  readonly to: string
}

/** The references of posts and messages. */
interface Referring {
  readonly id?: string
  readonly referenced_posts?: ReadonlyArray<{ readonly type?: string; readonly id: string }>
  readonly attachments?: {
    readonly media_keys?: ReadonlyArray<string>
    readonly poll_ids?: ReadonlyArray<string>
  }
}

/** The relations that posts and messages have by themselves: `replied_to`, `quoted`, `reposted`, `media` and `poll`. */
export const ofPosts = (posts: ReadonlyArray<object>, isContext = false): ReadonlyArray<Edge> =>
  posts.flatMap(({ attachments = {}, id = "", referenced_posts = [] }: Referring) => [
    ...(isContext ? [] : referenced_posts).map(({ id: to, type = "shared" }) => ({ kind: type, from: id, to })),
    ...(attachments.media_keys ?? []).map((to) => ({ kind: "media", from: id, to })),
    ...(attachments.poll_ids ?? []).map((to) => ({ kind: "poll", from: id, to }))
  ])

/** Adds edges. Returns the transaction that had added each, `undefined` for new ones. */
export const put = Effect.fnUntraced(function*(
  { at, commit, dialect, isArchived, sql }: Writing,
  edges: ReadonlyArray<Edge>
): Effect.fn.Return<ReadonlyArray<number | undefined>, SqlError> {
  if (edges.length === 0) return []
  const keys = new Map(edges.map((edge) => [keyOf(edge), [edge.kind, edge.from, edge.to]]))
  const rows = JSON.stringify([...keys.values()])
  const each = layout.elements(dialect, 1)
  const found = yield* sql.unsafe<{ kind: string; from_id: string; to_id: string; added_in: number }>(
    `SELECT e.kind, e.from_id, e.to_id, e.added_in FROM ${each}
      JOIN edges e ON e.kind = v.value->>0 AND e.from_id = v.value->>1 AND e.to_id = v.value->>2`,
    [rows]
  )
  const known = new Map(
    found.map(({ added_in, from_id, kind, to_id }) => [keyOf({ kind, from: from_id, to: to_id }), Number(added_in)])
  )
  const [, b, c] = layout.placeholders(dialect, 3)
  const integer = layout.typeOf(dialect, { type: "integer" })
  yield* sql.unsafe(
    `INSERT INTO edges (kind, from_id, to_id, first_seen, added_in, seen_in, changed_in)
      SELECT v.value->>0, v.value->>1, v.value->>2, CAST(${b} AS TEXT), CAST(${c} AS ${integer}),
        ${isArchived ? "0" : `CAST(${c} AS ${integer})`}, CAST(${c} AS ${integer}) FROM ${each} WHERE true
      ON CONFLICT (kind, from_id, to_id) DO ${
      isArchived ? "NOTHING" : `UPDATE SET seen_in = excluded.seen_in, gone_at = NULL,
        changed_in = CASE WHEN edges.gone_at IS NULL THEN edges.changed_in ELSE excluded.changed_in END`
    }`,
    [rows, at, commit]
  )
  return edges.map((edge) => known.get(keyOf(edge)))
})

const keyOf = ({ from, kind, to }: Edge): string => `${kind} ${from} ${to}`
