import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listedUncounted } from "../projection/Reply.ts"
import { type Handlers } from "./Handler.ts"

export const handlers = {
  getCommunity: ({ parameters: { id }, store }) => {
    const community = store.communities.byId(id)
    return Effect.succeed(
      community === undefined
        ? { errors: [Problem.notFound({ kind: "community", id, parameter: "id" })] }
        : { data: community }
    )
  },

  searchCommunities: ({ page, parameters: { query }, store }) => {
    if (query.trim() === "") return Problem.invalidRequest("The `query` parameter can not be empty", { query })
    return Effect.succeed(listedUncounted(store.communities.search({ query, ...page })))
  }
} satisfies Partial<Handlers>
