/** Sources that no single list has: what they read follows from what the copy has. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getPostAnalytics } from "@postwire/core/operations/Analytics"
import { getBookmarkFolderPosts, getBookmarkFolders } from "@postwire/core/operations/Bookmarks"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getSpaces } from "@postwire/core/operations/Spaces"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as FullText from "@postwire/export/rows/FullText"
import * as Source from "@postwire/export/sources/Source"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Copy from "../copy/Copy.ts"
import * as layout from "../copy/Layout.ts"
import { fields } from "../copy/Tables.ts"
import { kinds, parametersOf } from "../sources/Kinds.ts"
import * as gone from "./Gone.ts"
import { type PageReport, reachOf } from "./Window.ts"

/** The copy and the account of a lookup. */
export interface Scene {
  readonly copy: Copy.Copy
  /** The id of the user whose items it reads. */
  readonly id: string
  readonly userAuth: boolean
  readonly onPage: (page: PageReport) => Effect.Effect<void, SqlError>
}

type Lookup = (scene: Scene) => Effect.Effect<void, AnyError | ExportError | SqlError, Client>

const day = 86_400_000

const put = Effect.fnUntraced(function*({ copy, onPage }: Scene, objects: Copy.Batch["objects"], count: number) {
  const { added, changed } = yield* Copy.write(copy, { objects })
  yield* onPage({ items: count, added, changed, errors: [] })
})

const spaces: Lookup = Effect.fnUntraced(function*(scene) {
  const { data = [] } = yield* getSpaces({ user_ids: [scene.id], space_fields: fields.space_fields })
  yield* put(scene, { spaces: data }, data.length)
})

/** The length of a query at which the recent search still accepts it at every access level. */
const longestQuery = 512

/**
 * The replies to recent posts of a user. A search names as many conversations as fit into it, and begins after the newest post that
 * the copy has of any of them.
 */
const conversations: Lookup = Effect.fnUntraced(function*(scene) {
  const { copy: { dialect, sql }, id, userAuth } = scene
  const since = new Date((yield* Clock.currentTimeMillis) - reachOf(kinds.search)).toISOString()
  const [a, b] = layout.placeholders(dialect, 2)
  const known = yield* sql.unsafe<{ readonly id: string; readonly newest: string }>(
    `SELECT conversation_id AS id, CAST(max(CAST(id AS BIGINT)) AS TEXT) AS newest FROM posts WHERE conversation_id IN (
        SELECT conversation_id FROM posts WHERE author_id = ${a} AND created_at >= ${b} AND gone IS NULL)
      GROUP BY conversation_id ORDER BY max(CAST(id AS BIGINT)) DESC`,
    [id, since]
  )
  const { user_auth: _, ...parameters } = parametersOf(kinds.search, userAuth)
  const joined = FullText.joiner(parameters)
  for (const { query, since_id } of queriesOf(known)) {
    yield* Source.fromDefinition(searchRecentPosts.definition, { ...parameters, query, since_id }).pages(undefined)
      .pipe(
        Stream.runForEach((page) => {
          const { includes: { media = [] }, items } = joined(page)
          return put(scene, { posts: items, media }, items.length)
        })
      )
  }
})

const queriesOf = (known: ReadonlyArray<{ readonly id: string; readonly newest: string }>) => {
  const queries: Array<{ query: string; since_id: string }> = []
  for (const { id, newest } of known) {
    const term = `conversation_id:${id}`
    const last = queries.at(-1)
    const longer = `${last?.query} OR ${term}`
    if (last === undefined || longer.length > longestQuery) queries.push({ query: term, since_id: newest })
    else Object.assign(last, { query: longer, since_id: newest })
  }
  return queries
}

/** The service counts the figures of this many days. */
const countedDays = 30

const analytics: Lookup = Effect.fnUntraced(function*(scene) {
  const { copy, id, onPage, userAuth } = scene
  const now = yield* Clock.currentTimeMillis
  const start_time = `${new Date(now - countedDays * day).toISOString().slice(0, 19)}Z`
  const end_time = `${new Date(now).toISOString().slice(0, 19)}Z`
  const [a, b] = layout.placeholders(copy.dialect, 2)
  const posts = yield* copy.sql.unsafe<{ readonly id: string }>(
    `SELECT id FROM posts WHERE author_id = ${a} AND created_at >= ${b} AND gone IS NULL ORDER BY id`,
    [id, start_time]
  )
  for (let from = 0; from < posts.length; from += 100) {
    const ids = posts.slice(from, from + 100).map(({ id }) => id)
    const { data = [], errors } = yield* getPostAnalytics({ ids, start_time, end_time, user_auth: userAuth })
    yield* Copy.note(copy, "post_analytics", data.map((figures) => [figures.id, JSON.stringify(figures)]))
    yield* gone.meet(copy, errors, data.map(({ id }) => id))
    yield* onPage({ items: data.length, added: 0, changed: 0, errors })
  }
})

/** The folders of the account's bookmarks. */
const folders: Lookup = Effect.fnUntraced(function*({ copy, id, onPage, userAuth }) {
  const own = { id, user_auth: userAuth }
  const found = yield* Stream.runCollect(getBookmarkFolders.items({ user_auth: userAuth }))
  yield* Copy.note(copy, "folders", found.map(({ id, name }) => [id, name ?? ""]))
  for (const folder of found) {
    const after = yield* Copy.lastCommit(copy)
    const posts = yield* Stream.runCollect(
      getBookmarkFolderPosts.items({ folder_id: folder.id, user_auth: own.user_auth })
    )
    const edges = posts.map((post) => ({ kind: "filed", from: folder.id, to: post.id }))
    yield* Copy.write(copy, { objects: {}, edges })
    yield* Copy.sweep(copy, { kind: "filed", end: "from_id", id: folder.id, since: after + 1 })
    yield* onPage({ items: posts.length, added: 0, changed: 0, errors: [] })
  }
})

/** Every lookup, by the kind of its source. */
export const lookups = { spaces, conversations, analytics, folders } as const
