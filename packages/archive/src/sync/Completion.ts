/**
 * Looks up the users and the posts that a copy refers to and does not have: each is bought once, whereas expansions buy it again
 * every day.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as FullText from "@postwire/export/rows/FullText"
import { emptyPage } from "@postwire/export/rows/Page"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import * as layout from "../copy/Layout.ts"
import { fields } from "../copy/Tables.ts"
import * as budget from "./Budget.ts"
import * as gone from "./Gone.ts"
import type { PageReport } from "./Window.ts"

/** The ids that are missing since a transaction, but for references that only an archive has. Ids that do not exist have a row, too, once they were looked up. */
const missing = {
  posts: `SELECT DISTINCT e.to_id AS id FROM edges e LEFT JOIN posts p ON p.id = e.to_id
    WHERE e.seen_in > ? AND e.kind IN ('quoted', 'replied_to', 'reposted') AND p.id IS NULL LIMIT ${Hydrate.idsPerRequest}`,
  users: `SELECT DISTINCT p.author_id AS id FROM posts p LEFT JOIN users u ON u.id = p.author_id
    WHERE p.changed_in > ? AND p.author_id IS NOT NULL AND u.id IS NULL LIMIT ${Hydrate.idsPerRequest}`
} as const

const parameters = {
  posts: { post_fields: fields.post_fields, media_fields: fields.media_fields, expansions: ["attachments.media_keys"] },
  users: { user_fields: fields.user_fields }
}

/** The ids of a request when the rest of a budget is small. */
const fewIds = 10

/** The name of its progress, which no source of a file can have. */
const source = " completion"

/** The posts that were gone when a repost of them was last shown: their authors have opened their accounts again. */
const reopened = `SELECT DISTINCT e.to_id AS id FROM edges e JOIN posts p ON p.id = e.to_id
  WHERE e.seen_in > ? AND e.kind = 'reposted' AND p.gone IS NOT NULL AND e.seen_in > p.changed_in`

/** Looks up what is missing until nothing is. */
export const run = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  userAuth: boolean,
  onPage: (page: PageReport) => Effect.Effect<void, SqlError>
): Effect.fn.Return<void, AnyError | SqlError, Client> {
  const since = Number((yield* Copy.progressOf(copy, source)).get("all") ?? 0)
  const last = yield* Copy.lastCommit(copy)
  const idsOf = (query: string) =>
    Effect.map(
      copy.sql.unsafe<{ readonly id: string }>(query.replace("?", layout.parameters(copy.dialect, 1)), [since]),
      (rows) => rows.map(({ id }) => id)
    )
  /** Looks up some ids; returns how many of them. */
  const complete = Effect.fnUntraced(function*(table: gone.Name, ids: ReadonlyArray<string>) {
    const { errors, includes, items, outcomes } = yield* lookUp(table, ids, userAuth)
    const written = yield* Copy.write(copy, { objects: { ...includes, [table]: items }, isContext: true })
    yield* gone.mark(copy, table, outcomes)
    yield* onPage({ items: items.length, added: written.added, changed: written.changed, errors })
    return items.length + outcomes.length
  })
  const again = yield* idsOf(reopened)
  for (let at = 0; at < again.length;) at += yield* complete("posts", again.slice(at, at + idsPerLookup))
  for (const table of ["posts", "users"] as const) {
    while (true) {
      const ids = yield* idsOf(missing[table])
      if (ids.length === 0) break
      yield* complete(table, ids)
    }
  }
  yield* Copy.write(copy, { objects: {}, progress: { source, subject: "all", state: String(last) } })
})

/** The objects that exist, and the outcomes of the other ids. */
interface LookedUp {
  readonly items: ReadonlyArray<object>
  readonly includes: { readonly media?: ReadonlyArray<object> }
  readonly errors: ReadonlyArray<object>
  readonly outcomes: ReadonlyArray<gone.Gone>
}

/** The ids of a lookup. */
export const idsPerLookup = Hydrate.idsPerRequest

/** Looks up ids; only the first ones where all of them might cost more than is left of a budget. */
export const lookUp = (
  table: gone.Name,
  ids: ReadonlyArray<string>,
  userAuth: boolean
): Effect.Effect<LookedUp, AnyError, Client> =>
  Effect.catchIf(
    lookUpAll(table, ids, userAuth),
    budget.isUsedUp,
    () => lookUpAll(table, ids.slice(0, fewIds), userAuth)
  )

const lookUpAll = Effect.fnUntraced(function*(
  table: gone.Name,
  ids: ReadonlyArray<string>,
  userAuth: boolean
): Effect.fn.Return<LookedUp, AnyError, Client> {
  const { errors, response, results } = yield* Hydrate.lookUp(Hydrate.lookups[table], ids, {
    ...parameters[table],
    user_auth: userAuth
  }, {})
  const found = results.flatMap(({ data }) => typeof data === "object" && data !== null ? [data] : [])
  const { items } = FullText.joiner(parameters[table])({ ...emptyPage, items: found })
  const { media } = (response?.includes ?? {}) as { readonly media?: ReadonlyArray<object> }
  return {
    items,
    includes: media === undefined ? {} : { media },
    errors,
    outcomes: results.flatMap(({ data, id, outcome }) => data === undefined ? [{ id, why: outcome }] : [])
  }
})
