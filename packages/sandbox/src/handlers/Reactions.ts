import * as Effect from "effect/Effect"
import type { Reactions } from "../store/Reactions.ts"
import * as Caller from "./Caller.ts"
import type { Call } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** Adds or removes a like or bookmark of the caller. Removing one that does not exist succeeds. */
export const set = Effect.fnUntraced(
  function*(call: Call<{ readonly post_id: string }>, reactions: Reactions, active: boolean) {
    const { userId } = yield* Caller.user(call.caller)
    const { post_id } = call.parameters
    if (active) yield* Subject.post(call, post_id, "post_id")
    return reactions.set(userId, post_id, active)
  }
)
