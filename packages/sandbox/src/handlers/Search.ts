import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Problem from "../http/Problem.ts"
import { listedPosts } from "../projection/Reply.ts"
import * as Query from "../search/Query.ts"
import { type Call, type Handlers, type Parameters } from "./Handler.ts"
import * as TimeWindow from "./TimeWindow.ts"

/** Search of the last seven days and of the full archive. */
export const handlers = {
  searchRecentPosts: (call) => Effect.flatMap(TimeWindow.recent(call), (window) => search(call, window)),
  searchAllPosts: (call) => Effect.flatMap(TimeWindow.archive(call), (window) => search(call, window))
} satisfies Partial<Handlers>

/** The query of a request. */
export const queryOf = (
  { parameters: { query }, wire }: Call<{ readonly query: string }>
): Effect.Effect<Query.Query, Problem.Problem> => {
  const parsed = Query.parse(query, wire !== "x")
  if (Result.isSuccess(parsed)) return Effect.succeed(parsed.success)
  const { message, position } = parsed.failure
  const character = Array.from(query.slice(0, position)).length + 1
  return Problem.invalidRequest(`${message} (at position ${character})`, { query })
}

const search = Effect.fnUntraced(function*(
  call: Call<Parameters<"searchRecentPosts">>,
  window: TimeWindow.TimeWindow
) {
  const { since_id, sort_order, until_id } = call.parameters
  return listedPosts(call.store.posts.search({
    query: yield* queryOf(call),
    sinceId: since_id,
    untilId: until_id,
    order: sort_order === "relevancy" ? "relevancy" : "recency",
    viewer: call.caller,
    ...window,
    ...call.page
  }))
})
