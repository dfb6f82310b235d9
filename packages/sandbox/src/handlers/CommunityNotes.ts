import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import type { Document } from "../store/Documents.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Shape from "./Shape.ts"
import * as Subject from "./Subject.ts"

/** Notes of accounts whose description has these words; all others are refused. */
const enrolled = "AI Note Writer"

const writer = Effect.fnUntraced(function*({ caller, store }: Pick<Call<unknown>, "caller" | "store">) {
  const { userId } = yield* Caller.user(caller)
  return store.users.byId(userId)?.description.includes(enrolled) === true
    ? userId
    : yield* Problem.forbidden(
      `Only accounts that are enrolled as AI Note Writers may do this; here, those with "${enrolled}" in their description.`
    )
})

export const handlers = {
  createCommunityNote: Effect.fnUntraced(function*(call) {
    const ownerId = yield* writer(call)
    const { now, parameters: { post_id, test_mode: _, ...info }, store: { documents } } = call
    yield* Subject.post(call, post_id, "post_id")
    if (info.classification === "misinformed_or_potentially_misleading" && info.misleading_tags.length === 0) {
      return yield* Problem.invalidRequest("A note about a misleading post has a tag.", { misleading_tags: "" })
    }
    if (documents.all("note", { ownerId, key: post_id }).length > 0) {
      return yield* Problem.invalidRequest("The account has a note about this post.", { post_id })
    }
    const body = { info: { ...info, post_id } }
    return { data: { id: documents.insert("note", { ownerId, createdAt: now, key: post_id, body }) } }
  }),

  evaluateCommunityNote: Shape.after((call) =>
    Effect.andThen(writer(call), Subject.post(call, call.parameters.post_id, "post_id"))
  ),

  searchCommunityNotesWritten: Effect.fnUntraced(function*(call) {
    const ownerId = yield* writer(call)
    const notes = call.store.documents.pages("note", { ownerId }, call.page)
    return listed({ ...notes, items: notes.items.map(shown) })
  }),

  /** Public posts of others about which the account has no note, latest first. */
  searchPostsEligibleForNotes: Effect.fnUntraced(function*(call) {
    const ownerId = yield* writer(call)
    const { caller, now, page: { cursor, limit }, store } = call
    const noted = new Set(store.documents.all("note", { ownerId }).map(({ key }) => key))
    const until = cursor === undefined ? undefined : BigInt(cursor.key)
    const found = store.publicPosts({ from: now - reach, until: now + 1, limit: maxPosts })
      .filter(({ id }) => !noted.has(id) && (until === undefined || BigInt(id) < until))
    const posts = store.posts.byIds(found.map(({ id }) => id), caller).filter(({ author_id }) => author_id !== ownerId)
    const items = posts.slice(0, limit)
    const last = posts.length > limit ? items.at(-1) : undefined
    return listed({ items, next: last && { direction: "older", key: last.id }, previous: undefined })
  }),

  deleteCommunityNote: Effect.fnUntraced(function*(call) {
    const ownerId = yield* writer(call)
    const { parameters: { id }, store: { documents } } = call
    return documents.byId("note", id)?.ownerId === ownerId
      ? { data: { deleted: documents.delete("note", id) } }
      : yield* Problem.missing(Problem.notFound({ kind: "note", id, parameter: "id" }))
  })
} satisfies Partial<Handlers>

/** The greatest age of eligible posts, in milliseconds. */
const reach = 30 * 86_400_000

const maxPosts = 1_000

/** Notes are never rated. */
const shown = ({ body: { info }, id }: Document<"note">) => ({
  id,
  info: { ...info, rating_status: "needs_more_ratings" },
  status: "needs_more_ratings"
})
