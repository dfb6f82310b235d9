import * as Effect from "effect/Effect"
import { listed } from "../projection/Reply.ts"
import { type Handlers } from "./Handler.ts"
import * as Reactions from "./Reactions.ts"
import * as Subject from "./Subject.ts"

export const handlers = {
  like: (call) => Effect.map(Reactions.set(call, call.store.likes, true), (liked) => ({ data: { liked } })),
  unlike: (call) => Effect.map(Reactions.set(call, call.store.likes, false), (liked) => ({ data: { liked } })),

  getLikingUsers: (call) =>
    Subject.ofPost(call, ({ id }) => listed(call.store.likes.users({ postId: id, ...call.page }))),

  getLikedPosts: (call) =>
    Subject.ofUser(call, ({ id }) => listed(call.store.likes.posts({ userId: id, viewer: call.caller, ...call.page })))
} satisfies Partial<Handlers>
