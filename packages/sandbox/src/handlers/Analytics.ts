import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import type { Reply } from "../projection/Reply.ts"
import * as Caller from "./Caller.ts"
import type { Handlers } from "./Handler.ts"

const day = 86_400_000

const lengths: Readonly<Record<string, number>> = { hourly: day / 24, daily: day, weekly: 7 * day }

/** A span of time in milliseconds; the end is not part of it. */
interface Span {
  readonly from: number
  readonly until: number
}

/**
 * Figures of the caller's own posts and videos. The sandbox keeps no times of views: it spreads the counts of a post
 * over the time since its creation, a half of the rest each day, so that parts of a span add up to its whole.
 */
export const handlers = {
  getPostAnalytics: Effect.fnUntraced(function*({ caller, now, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { granularity = "total", ids } = parameters
    const spans = yield* spansOf(parameters, granularity)
    const own = store.posts.byIds(ids, caller).filter(({ author_id }) => author_id === userId)
    const data = own.map(({ created_at, id, public_metrics }) => {
      const { bookmark_count, impression_count, like_count, quote_count, reply_count, repost_count } = public_metrics
      const counts = {
        bookmarks: bookmark_count,
        impressions: impression_count,
        likes: like_count,
        quote_posts: quote_count,
        replies: reply_count,
        reposts: repost_count,
        engagements: bookmark_count + like_count + quote_count + reply_count + repost_count
      }
      const of = (span: Span) => ({ ...nothing, ...within(counts, { ...span, created: Date.parse(created_at), now }) })
      return { id, ...figures(of, spans, granularity) }
    })
    return answer(data, ids.filter((id) => own.every((post) => post.id !== id)), "post", "ids")
  }),

  getMediaAnalytics: Effect.fnUntraced(function*({ caller, now, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { granularity = "daily", media_keys } = parameters
    const spans = yield* spansOf(parameters, granularity)
    const isOwn = (key: string) => store.attachments.mediaKeys([key.split("_")[1] ?? ""], userId).includes(key)
    const own = store.attachments.mediaByKeys(media_keys.filter(isOwn))
    const data = own.map(({ media_key, public_metrics: { view_count } = { view_count: 0 } }) => {
      const counts = { playback_start: view_count, playback_complete: view_count >> 1, video_views: view_count }
      const created = Number(BigInt(media_key.split("_")[1] ?? 0) >> 22n)
      const of = (span: Span) => within(counts, { ...span, created: Math.min(created, now), now })
      return { media_key, ...figures(of, spans, granularity) }
    })
    const missing = media_keys.filter((key) => own.every(({ media_key }) => media_key !== key))
    return answer(data, missing, "media", "media_keys")
  })
} satisfies Partial<Handlers>

/** Counts of what the sandbox has none of. */
const nothing = Object.fromEntries(
  [
    ..."app_install_attempts app_opens detail_expands email_post follows hashtag_clicks media_views".split(" "),
    ..."permalink_clicks shares unfollows unlikes url_clicks user_profile_clicks".split(" ")
  ].map((name) => [name, 0])
)

type Counts = Readonly<Record<string, number>>

const figures = (of: (span: Span) => Counts, spans: ReadonlyArray<Span>, granularity: string) => {
  const shown = spans.map((span) => ({ timestamp: new Date(span.from).toISOString(), metrics: of(span) }))
  const [whole] = shown
  return granularity === "total" ? { timestamp: whole?.timestamp, ...whole?.metrics } : { timestamped_metrics: shown }
}

/** The parts of the requested time. */
const spansOf = (
  { end_time, start_time }: { readonly start_time: number; readonly end_time: number },
  granularity: string
): Effect.Effect<ReadonlyArray<Span>, Problem.Problem> => {
  if (start_time >= end_time) return Problem.invalidRequest("'end_time' must be after 'start_time'.")
  const length = lengths[granularity] ?? end_time - start_time
  const count = Math.ceil((end_time - start_time) / length)
  if (count > maxSpans) return Problem.invalidRequest(`There are more than ${maxSpans} parts of time.`, { granularity })
  return Effect.succeed(Array.from({ length: count }, (_, i) => ({
    from: start_time + i * length,
    until: Math.min(start_time + (i + 1) * length, end_time)
  })))
}

const maxSpans = 1_000

/** The part of counts that falls into a span. */
const within = (
  counts: Counts,
  { created, from, now, until }: Span & { readonly created: number; readonly now: number }
): Counts => {
  // Everything that has been counted lies between the creation and now.
  const share = (at: number) => at >= now ? 1 : at <= created ? 0 : 1 - 2 ** (-(at - created) / day)
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [
      name,
      Math.floor(count * share(until)) - Math.floor(count * share(from))
    ])
  )
}

const answer = (
  data: ReadonlyArray<object>,
  missing: ReadonlyArray<string>,
  kind: string,
  parameter: string
): Reply => ({
  ...data.length === 0 ? {} : { data },
  ...missing.length === 0 ? {} : { errors: missing.map((id) => Problem.notAuthorized({ kind, id, parameter })) }
})
