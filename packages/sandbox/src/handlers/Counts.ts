import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as Effect from "effect/Effect"
import * as Snowflake from "../store/Snowflake.ts"
import type { Call, Handlers, Parameters } from "./Handler.ts"
import * as Search from "./Search.ts"
import * as TimeWindow from "./TimeWindow.ts"

const second = 1_000
const day = 86_400 * second

const sizes = { minute: 60 * second, hour: 3_600 * second, day }

/** The maximum period of a page of archive counts. */
const spans = { minute: day, hour: 31 * day, day: 31 * day }

/** Post counts of the last seven days and of the full archive. */
export const handlers = {
  getRecentPostsCount: (call) => Effect.flatMap(TimeWindow.recent(call), (window) => count(call, window)),
  getAllPostsCount: (call) =>
    Effect.flatMap(
      TimeWindow.archive(call),
      (window) => count(call, window, spans[call.parameters.granularity ?? "hour"])
    )
} satisfies Partial<Handlers>

const count = Effect.fnUntraced(function*(
  call: Call<Parameters<"getRecentPostsCount">>,
  { from, until }: TimeWindow.TimeWindow,
  span = Infinity
) {
  const { page: { cursor }, parameters: { granularity = "hour", since_id, until_id }, store } = call
  const query = yield* Search.queryOf(call)
  const size = sizes[granularity]
  // The period starts and ends with the bounding posts, in whole seconds; pages go from its end to its start.
  const start = since_id === undefined ? from : Math.max(from, Math.floor(timeOf(since_id) / second) * second)
  const last = until_id === undefined ? until : Math.min(until, Math.floor(timeOf(until_id) / second + 1) * second)
  const end = cursor === undefined ? last : Number(cursor.key)
  const first = Math.max(start, Math.ceil(end / size) * size - span)
  const counts = store.posts.counts({
    query,
    size,
    sinceId: since_id,
    untilId: until_id,
    from: first,
    until: end,
    viewer: call.caller
  })
  const data: Array<CountBucket> = []
  let total = 0
  for (let number = Math.floor(first / size); Math.max(first, number * size) < end; number++) {
    const post_count = counts.get(number) ?? 0
    total += post_count
    data.push({
      start: new Date(Math.max(first, number * size)).toISOString(),
      end: new Date(Math.min(end, (number + 1) * size)).toISOString(),
      post_count
    })
  }
  return {
    data,
    meta: { total_post_count: total },
    page: { next: first > start ? { direction: "older" as const, key: String(first) } : undefined, previous: undefined }
  }
})

const timeOf = (id: string): number => Snowflake.toMillis(Snowflake.parse(id))
