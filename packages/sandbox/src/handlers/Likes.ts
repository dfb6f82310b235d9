import * as Effect from "effect/Effect"
import type { Handlers } from "../Handler.ts"
import * as Marks from "./Marks.ts"

/** Likes. */
export const handlers: Pick<Handlers, "like" | "unlike"> = {
  like: (call) => Effect.map(Marks.set(call, call.store.likes, true), (liked) => ({ data: { liked } })),
  unlike: (call) => Effect.map(Marks.set(call, call.store.likes, false), (liked) => ({ data: { liked } }))
}
