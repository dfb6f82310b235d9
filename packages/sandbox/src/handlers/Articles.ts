import type { ArticleContent } from "@postwire/core/schema/models/Article"
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Attached from "./Attached.ts"
import * as Caller from "./Caller.ts"
import type { Handlers } from "./Handler.ts"

/** Drafts, which only their author can publish, once. The post of an Article has its title as text. */
export const handlers = {
  createArticleDraft: Effect.fnUntraced(function*(call) {
    const { userId: ownerId } = yield* Caller.user(call.caller)
    const { now, parameters: { content_state, cover_media, title }, store } = call
    const reason = faultOf(content_state)
    if (reason !== undefined) return yield* Problem.invalidRequest(`content_state: ${reason}`)
    const media = [
      ...cover_media === undefined ? [] : [cover_media],
      ...content_state.entities.flatMap(({ value }) => value.data.media_items ?? [])
    ].map(({ media_id }) => media_id)
    for (const id of media) {
      yield* Attached.keysOf(call, { ids: [id], parameter: "content_state", purpose: "post", userId: ownerId })
    }
    return {
      data: store.transaction(() => {
        store.uploads.use(media)
        return { id: store.documents.insert("article", { ownerId, createdAt: now, body: { title } }), title }
      })
    }
  }),

  publishArticle: Effect.fnUntraced(function*({ caller, now, parameters: { article_id: id }, store }) {
    const { userId } = yield* Caller.user(caller)
    const draft = store.documents.byId("article", id)
    if (draft?.ownerId !== userId || draft.key !== "") {
      return yield* Problem.missing(Problem.notFound({ kind: "article", id, parameter: "article_id" }))
    }
    const { post_id: published, title } = draft.body
    if (published !== undefined) {
      return yield* Problem.invalidRequest(`The draft was published as post ${published}.`, { article_id: id })
    }
    return {
      data: store.transaction(() => {
        const post_id = store.posts.insert({ authorId: userId, text: title, createdAt: now })
        store.documents.update("article", { id, body: { title, post_id } })
        store.documents.insert("article", { ownerId: userId, createdAt: now, key: post_id, body: { title, post_id } })
        return { post_id }
      })
    }
  })
} satisfies Partial<Handlers>

/** Why a content cannot be shown. */
const faultOf = ({ blocks, entities }: ArticleContent): string | undefined => {
  const keys = new Set(entities.map(({ key }) => key))
  if (keys.size < entities.length) return "two entities have one key"
  for (const [i, { entity_ranges = [], inline_style_ranges = [], text, type }] of blocks.entries()) {
    const at = `block ${i}`
    const isOutside = [...entity_ranges, ...inline_style_ranges].some(({ length, offset }) =>
      offset + length > text.length
    )
    if (isOutside) return `${at} has a range that is longer than its text`
    const unknown = entity_ranges.find(({ key }) => !keys.has(String(key)))
    if (unknown !== undefined) return `${at} has an entity [${unknown.key}] that is not in entities`
    if (type === "atomic" && entity_ranges.length === 0) return `${at} is atomic and has no entity`
  }
  return undefined
}
