import * as Effect from "effect/Effect"
import type { Handlers } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import * as Caller from "./Caller.ts"

/** User lookup. */
export const handlers: Pick<Handlers, "getMe" | "getUser"> = {
  getMe: ({ caller, store }) => Effect.map(Caller.user(caller), ({ userId }) => ({ data: store.users.byId(userId) })),

  getUser: ({ parameters: { id, username }, store }) => {
    const user = id === undefined ? store.users.byUsername(username ?? "") : store.users.byId(id)
    const [parameter, value] = id === undefined ? ["username", username ?? ""] as const : ["id", id] as const
    return Effect.succeed(
      user === undefined ? { errors: [Problem.notFound({ kind: "user", id: value, parameter })] } : { data: user }
    )
  }
}
