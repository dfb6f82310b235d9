import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Call, type Handlers, listedPosts, type Parameters } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import * as Query from "../query/Query.ts"

const second = 1_000
const day = 86_400 * second

/** Search: of the last seven days, and of the full archive. */
export const handlers: Pick<Handlers, "searchAllPosts" | "searchRecentPosts"> = {
  searchRecentPosts: Effect.fnUntraced(function*(call) {
    const { now, parameters: { end_time, since_id, start_time } } = call
    const earliest = now - 7 * day
    // Beside `since_id`, `start_time` does not count.
    const from = since_id === undefined ? start_time ?? earliest : earliest
    if (from < earliest) {
      return yield* Problem.invalidRequest(
        `Invalid 'start_time':'${iso(from)}'. 'start_time' must be on or after ${iso(earliest)}.`,
        { start_time: iso(from) }
      )
    }
    return yield* search(call, { from, until: end_time ?? now - 30 * second })
  }),

  searchAllPosts: (call) => {
    const { now, parameters: { end_time, since_id, start_time } } = call
    const until = end_time ?? now - 30 * second
    return search(call, { from: since_id === undefined ? start_time ?? until - 30 * day : 0, until })
  }
}

const search = Effect.fnUntraced(function*(
  { cursor, now, parameters, store }: Call<Parameters<"searchRecentPosts">>,
  { from, until }: { readonly from: number; readonly until: number }
) {
  const parsed = Query.parse(parameters.query)
  if (Result.isFailure(parsed)) {
    const { message, position } = parsed.failure
    return yield* Problem.invalidRequest(`${message} (at position ${position + 1})`, { query: parameters.query })
  }
  if (until > now - 10 * second) {
    return yield* Problem.invalidRequest(
      `Invalid 'end_time':'${iso(until)}'. 'end_time' must be at least 10 seconds before the request time.`,
      { end_time: iso(until) }
    )
  }
  if (from >= until) {
    return yield* Problem.invalidRequest("'start_time' must be before 'end_time'.", { start_time: iso(from) })
  }
  const { max_results: limit = 10, since_id: sinceId, sort_order, until_id: untilId } = parameters
  return listedPosts(store.posts.search({
    query: parsed.success,
    sinceId,
    untilId,
    from,
    until,
    limit,
    cursor,
    order: sort_order === "relevancy" ? "relevancy" : "recency"
  }))
})

const iso = (millis: number): string => new Date(millis).toISOString()
