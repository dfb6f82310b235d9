/**
 * The figures of a user's own posts as the source of an export: the posts of a span of time, newest first, and the figures of each
 * page of them in one request. A page is both, so a resumed export requests neither again.
 *
 * ```ts
 * const source = Analytics.make("2244994945", { start_time: "2026-11-01T00:00:00Z" })
 * const { progress } = yield* Export.run(source, { sink: Parquet.make("own.parquet"), mode: "resume" })
 * ```
 */
import { getPostAnalytics } from "@postwire/core/operations/Analytics"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as Anomaly from "@postwire/core/schema/Anomaly"
import { PostAnalytics } from "@postwire/core/schema/models/Analytics"
import { ofOmitted } from "@postwire/core/schema/models/Problem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Page, sumOf } from "../rows/Page.ts"
import type { Column } from "../rows/Table.ts"
import * as Source from "./Source.ts"

type Request = NonNullable<Parameters<typeof getPostAnalytics>[0]>

/** Which figures. */
export interface Options {
  /** The beginning of the span: of the posts, and of what is counted. */
  readonly start_time: string
  /** Its end. Default: the time of the first request. */
  readonly end_time?: string | undefined
  /** Default `total`: one row for each post; otherwise one for each post and hour, day or week. */
  readonly granularity?: Request["granularity"]
  /** Default: all figures. */
  readonly analytics_fields?: ReadonlyArray<string> | undefined
  readonly user_auth?: boolean | undefined
  /** Adds the time and the text of the post to each row. */
  readonly posts?: boolean | undefined
}

/** The columns of the post of a row. */
const marks: ReadonlyArray<Column> = [
  { name: "created_at", path: ["created_at"], type: "text" },
  { name: "text", path: ["text"], type: "text" }
]

/** The progress: the cursor, as JSON. */
const Place = Schema.Struct({
  end_time: Schema.String,
  /** The cursor within the posts; absent at the beginning. */
  within: Schema.optionalKey(Schema.String)
})

const decodePlace = Schema.decodeUnknownOption(Schema.fromJsonString(Place))

/** The field with the figures of each hour, day or week. */
const series = "timestamped_metrics"

const allFigures = Object.keys(PostAnalytics.fields).filter((name) => !["id", "timestamp", series].includes(name))

/** The posts of a user, by whose number a plan estimates the cost. */
export const postsOf = (id: string, { end_time, posts, start_time, user_auth }: Options): Source.Source =>
  Source.fromDefinition(getUsersPosts.definition, {
    id,
    start_time,
    ...(end_time === undefined ? {} : { end_time }),
    ...(posts === true ? { post_fields: ["created_at"] } : {}),
    ...(user_auth === undefined ? {} : { user_auth }),
    exclude: ["retweets"]
  })

/** The figures of the posts of a user, the owner of the credential. */
export const make = (id: string, options: Options): Source.Source => {
  const { analytics_fields = allFigures, end_time, granularity = "total", posts = false, start_time, user_auth } =
    options
  const isSeries = granularity !== "total"
  const parameters = { start_time, granularity, ...(user_auth === undefined ? {} : { user_auth }) }
  const requested = (isSeries ? [...analytics_fields, series] : analytics_fields) as Request["analytics_fields"]
  return {
    definition: getPostAnalytics.definition,
    parameters: { ...parameters, analytics_fields: isSeries ? ["timestamp", ...analytics_fields] : analytics_fields },
    perRequest: { ids: ["1"], end_time: end_time ?? start_time },
    ...(posts ? { marks } : {}),
    isRepeated: true,
    fingerprint: { user: id, posts: String(posts), "end time": end_time ?? "the first request" },
    // A prefetched page of a run that is killed would be paid twice.
    pages: (cursor) =>
      Stream.unwrap(Effect.map(Clock.currentTimeMillis, (now) => {
        const { end_time: end = end_time ?? new Date(Math.floor(now / 1000) * 1000).toISOString(), within } =
          Option.getOrUndefined(decodePlace(cursor)) ?? {}
        const own = { ...parameters, end_time: end, analytics_fields: requested }
        return postsOf(id, { ...options, end_time: end }).pages(within).pipe(
          Stream.mapEffect((page) => withFigures(page, own, posts)),
          Stream.map(({ next, ...page }) => ({
            ...page,
            next: next === undefined ? undefined : JSON.stringify({ end_time: end, within: next })
          }))
        )
      }))
  }
}

interface Post {
  readonly id: string
  readonly created_at?: string
  readonly text?: string
}

/** A page of posts as one of their figures. */
const withFigures = Effect.fnUntraced(function*(page: Page, parameters: Omit<Request, "ids">, isJoined: boolean) {
  const posts = new Map((page.items as ReadonlyArray<Post>).map((post) => [post.id, post]))
  if (posts.size === 0) return page
  const ids = [...posts.keys()]
  const { anomalies, data = [], errors, rateLimit } = yield* getPostAnalytics({ ...parameters, ids })
  const answered: Page = {
    ...page,
    items: data.flatMap((one) => rowsOf(one, isJoined ? posts.get(one.id) : undefined)),
    errors: [...page.errors, ...errors, ...ofOmitted(ids, data, errors)],
    anomalies: sumOf(page.anomalies, Object.fromEntries(Anomaly.countsOf(anomalies))),
    rateLimit
  }
  return answered
})

/** The rows of a post: one, or one for each time, if there are any. */
const rowsOf = (
  { timestamped_metrics, ...figures }: {
    readonly id: string
    readonly timestamped_metrics?: ReadonlyArray<{ readonly timestamp?: string; readonly metrics?: object }>
  },
  post: Post | undefined
): ReadonlyArray<object> => {
  const joined = post === undefined ? figures : { created_at: post.created_at, text: post.text, ...figures }
  return timestamped_metrics === undefined || timestamped_metrics.length === 0
    ? [joined]
    : timestamped_metrics.map(({ metrics, timestamp }) => ({ ...joined, timestamp, ...metrics }))
}
