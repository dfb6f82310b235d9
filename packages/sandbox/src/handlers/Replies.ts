import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** Hides replies. */
export const handlers = {
  hideReply: (call) => set(call, true),
  unhideReply: (call) => set(call, false)
} satisfies Partial<Handlers>

const set = Effect.fnUntraced(function*(call: Call<{ readonly id: string }>, hidden: boolean) {
  const { userId } = yield* Caller.user(call.caller)
  const reply = yield* Subject.post(call, call.parameters.id, "id")
  if (reply.in_reply_to_user_id === undefined) return yield* Problem.forbidden("This post is no reply.")
  if (call.store.posts.byId(reply.conversation_id)?.author_id !== userId) {
    return yield* Problem.forbidden("Only who began a conversation may hide its replies.")
  }
  return { data: { hidden: call.store.posts.setHidden(reply.id, hidden) } }
})
