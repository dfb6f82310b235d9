import * as Effect from "effect/Effect"
import type { Call } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import type { Marks } from "../store/Marks.ts"
import * as Caller from "./Caller.ts"

/** Puts or takes a mark of the caller on a post. Taking one that is not there succeeds with no action. */
export const set = Effect.fnUntraced(function*(
  { caller, parameters: { post_id }, store }: Call<{ readonly post_id: string }>,
  marks: Marks,
  marked: boolean
) {
  const { userId } = yield* Caller.user(caller)
  if (!marked) return marks.set(userId, post_id, false)
  if (store.posts.byId(post_id) === undefined) {
    return yield* Problem.missing(Problem.notFound({ kind: "post", id: post_id, parameter: "post_id" }))
  }
  return marks.set(userId, post_id, true)
})
