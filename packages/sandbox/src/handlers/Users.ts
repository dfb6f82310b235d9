import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed, listedUncounted } from "../projection/Reply.ts"
import * as Caller from "./Caller.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** User lookup. Profiles are public, even those of protected accounts. */
export const handlers = {
  getMe: ({ caller, store }) => Effect.map(Caller.user(caller), ({ userId }) => ({ data: store.users.byId(userId) })),

  getUser: ({ parameters: { id, username }, store }) => {
    const user = id === undefined ? store.users.byUsername(username ?? "") : store.users.byId(id)
    const [parameter, value] = id === undefined ? ["username", username ?? ""] as const : ["id", id] as const
    return Effect.succeed(
      user === undefined || user.suspended
        ? { errors: [Subject.unseenUser(user, { kind: "user", id: value, parameter })] }
        : { data: user }
    )
  },

  getUsers: ({ page: { selection }, parameters: { ids, usernames = [] }, store }) => {
    const users = ids === undefined ? store.users.byUsernames(usernames) : store.users.byIds(ids, selection)
    const found = new Map(users.map((user) => [ids === undefined ? user.username.toLowerCase() : user.id, user]))
    const seen = users.filter(({ suspended }) => !suspended)
    const parameter = ids === undefined ? "usernames" : "ids"
    return Effect.succeed({
      ...(seen.length === 0 ? {} : { data: seen }),
      errors: (ids ?? usernames).flatMap((id) => {
        const user = found.get(id.toLowerCase())
        return user === undefined || user.suspended ? [Subject.unseenUser(user, { kind: "user", id, parameter })] : []
      })
    })
  },

  searchUsers: ({ page, parameters: { query }, store }) => {
    if (query.trim() === "") return Problem.invalidRequest("The `query` parameter can not be empty", { query })
    return Effect.succeed(listedUncounted(store.users.search({ query, ...page })))
  },

  // Affiliates are public, even if the organization's posts are not.
  getAffiliates: ({ page, parameters: { id }, store }) => {
    const organization = store.users.byId(id)
    return Effect.succeed(
      organization === undefined || organization.suspended
        ? { errors: [Subject.unseenUser(organization, { kind: "user", id, parameter: "id" })] }
        : listed(store.affiliates.of({ organizationId: id, ...page }))
    )
  }
} satisfies Partial<Handlers>
