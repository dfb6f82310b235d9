import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed, type Reply } from "../projection/Reply.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

export const handlers = {
  searchSpaces: ({ now, page, parameters: { query, state = "all" }, store }) =>
    query.trim() === ""
      ? Problem.invalidRequest("The `query` parameter can not be empty", { query })
      : Effect.succeed(
        all(store.spaces.search({ text: query, state: state === "all" ? undefined : state, limit: page.limit, now }))
      ),

  getSpaces: ({ now, parameters: { ids = [], user_ids }, store }) => {
    if (user_ids !== undefined) return Effect.succeed(all(store.spaces.byCreators(user_ids, now)))
    const spaces = store.spaces.byIds(ids, now)
    const found = new Set(spaces.map((space) => space.id))
    return Effect.succeed({
      ...(spaces.length === 0 ? {} : { data: spaces }),
      errors: ids.filter((id) => !found.has(id)).map((id) => Problem.notFound({ kind: "space", id, parameter: "ids" }))
    })
  },

  getSpace: (call) => Subject.ofSpace(call, (space) => Effect.succeed({ data: space })),

  getSpaceBuyers: (call) =>
    Subject.ofSpace(call, ({ creator_id, id }) =>
      creator_id === call.caller.userId
        ? Effect.succeed(listed(call.store.spaces.buyers({ spaceId: id, ...call.page })))
        : Problem.forbidden("Only the creator of a space may see who bought a ticket.")),

  getSpacePosts: (call) =>
    Subject.ofSpace(
      call,
      ({ id }) => Effect.succeed(listed(call.store.spaces.posts({ spaceId: id, viewer: call.caller, ...call.page })))
    )
} satisfies Partial<Handlers>

const all = (items: ReadonlyArray<{ readonly id: string }>): Reply =>
  listed({ items, next: undefined, previous: undefined })
