import * as Effect from "effect/Effect"
import type { Handlers } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import * as Caller from "./Caller.ts"

/** User lookup. Profiles are public, those of protected accounts too. */
export const handlers = {
  getMe: ({ caller, store }) => Effect.map(Caller.user(caller), ({ userId }) => ({ data: store.users.byId(userId) })),

  getUser: ({ parameters: { id, username }, store }) => {
    const user = id === undefined ? store.users.byUsername(username ?? "") : store.users.byId(id)
    const [parameter, value] = id === undefined ? ["username", username ?? ""] as const : ["id", id] as const
    return Effect.succeed(
      user === undefined ? { errors: [Problem.notFound({ kind: "user", id: value, parameter })] } : { data: user }
    )
  },

  getUsers: ({ parameters: { ids, usernames = [] }, store }) => {
    const users = ids === undefined ? store.users.byUsernames(usernames) : store.users.byIds(ids)
    const found = new Set(users.map((user) => ids === undefined ? user.username.toLowerCase() : user.id))
    const parameter = ids === undefined ? "usernames" : "ids"
    return Effect.succeed({
      ...(users.length === 0 ? {} : { data: users }),
      errors: (ids ?? usernames).filter((name) => !found.has(name.toLowerCase())).map((id) =>
        Problem.notFound({ kind: "user", id, parameter })
      )
    })
  }
} satisfies Partial<Handlers>
