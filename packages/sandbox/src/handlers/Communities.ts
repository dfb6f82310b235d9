import * as Effect from "effect/Effect"
import type { Handlers } from "../Handler.ts"
import * as Problem from "../Problem.ts"

/** Communities. */
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
    const found = store.communities.search({ query, ...page })
    return Effect.succeed({ ...(found.items.length === 0 ? {} : { data: found.items }), meta: {}, page: found })
  }
} satisfies Partial<Handlers>
