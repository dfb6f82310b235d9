import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** Reposts, quotes and replies. */
export const handlers = {
  repost: Effect.fnUntraced(function*(call) {
    const { now, parameters: { post_id }, store } = call
    const { userId } = yield* Caller.user(call.caller)
    const post = yield* Subject.post(call, post_id, "post_id")
    // Reposting a repost reposts the original.
    const originalId = post.referenced_posts?.find(({ type }) => type === "reposted")?.id ?? post.id
    const original = store.posts.byId(originalId) ?? post
    const author = store.users.byId(original.author_id)
    if (author?.protected === true && author.id !== userId) {
      return yield* Problem.forbidden("Posts of a protected account cannot be reposted.")
    }
    if (store.posts.repostBy(userId, original.id) === undefined) {
      store.posts.insert({
        authorId: userId,
        text: `RT @${author?.username}: ${original.text}`,
        createdAt: now,
        lang: original.lang,
        repostedPostId: original.id
      })
    }
    return { data: { reposted: true, rest_id: original.id } }
  }),

  unrepost: Effect.fnUntraced(function*({ caller, parameters: { source_post_id }, store }) {
    const { userId } = yield* Caller.user(caller)
    const repost = store.posts.repostBy(userId, source_post_id)
    if (repost !== undefined) store.posts.delete(repost)
    return { data: { reposted: false } }
  }),

  getReposters: (call) =>
    Subject.ofPost(call, ({ id }) => listed(call.store.posts.reposters({ postId: id, ...call.page }))),

  getReposts: (call) =>
    Subject.ofPost(
      call,
      ({ id }) => listed(call.store.posts.repostsOf({ postId: id, viewer: call.caller, ...call.page }))
    ),

  getRepostsOfMe: ({ caller, page, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => listed(store.posts.repostedOf({ authorId: userId, ...page }))),

  getQuotePosts: (call) =>
    Subject.ofPost(call, ({ id }) =>
      // A quote is never a repost, so excluding reposts has no effect.
      listed(call.store.posts.quotesOf({
        postId: id,
        excludeReplies: call.parameters.exclude?.includes("replies"),
        viewer: call.caller,
        ...call.page
      }))),

  hideReply: (call) => setHidden(call, true),
  unhideReply: (call) => setHidden(call, false)
} satisfies Partial<Handlers>

const setHidden = Effect.fnUntraced(function*(call: Call<{ readonly id: string }>, hidden: boolean) {
  const { userId } = yield* Caller.user(call.caller)
  const reply = yield* Subject.post(call, call.parameters.id, "id")
  if (reply.in_reply_to_user_id === undefined) return yield* Problem.forbidden("This post is no reply.")
  if (call.store.posts.byId(reply.conversation_id)?.author_id !== userId) {
    return yield* Problem.forbidden("Only who began a conversation may hide its replies.")
  }
  return { data: { hidden: call.store.posts.setHidden(reply.id, hidden) } }
})
