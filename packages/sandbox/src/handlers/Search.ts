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
    const { now, parameters: { end_time, start_time } } = call
    const earliest = now - 7 * day
    if (start_time !== undefined && start_time < earliest) {
      return yield* Problem.invalidRequest(
        `Invalid 'start_time':'${iso(start_time)}'. 'start_time' must be on or after ${iso(earliest)}.`,
        { start_time: iso(start_time) }
      )
    }
    const until = end_time ?? now - 30 * second
    return yield* search(call, { from: start_time ?? earliest, until, earliest })
  }),

  searchAllPosts: (call) => {
    const { now, parameters: { end_time, start_time } } = call
    const until = end_time ?? now - 30 * second
    return search(call, { from: start_time ?? until - 30 * day, until, earliest: 0 })
  }
}

const search = Effect.fnUntraced(function*(
  { cursor, now, parameters, store }: Call<Parameters<"searchRecentPosts">>,
  { earliest, from, until }: { readonly from: number; readonly until: number; readonly earliest: number }
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
    // `since_id` takes the place of `start_time`; the window of the operation itself stays.
    from: sinceId === undefined ? from : earliest,
    until,
    limit,
    cursor,
    order: sort_order === "relevancy" ? "relevancy" : "recency"
  }))
})

const iso = (millis: number): string => new Date(millis).toISOString()
