/** Analytics: figures of one's own posts and media. */
import * as Operation from "../client/Operation.ts"
import { MediaAnalytics, PostAnalytics } from "../schema/models/Analytics.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import * as Selectors from "./Selectors.ts"

const span = {
  start_time: /*#__PURE__*/ Parameters.required(Parameters.timestamp),
  end_time: /*#__PURE__*/ Parameters.required(Parameters.timestamp)
}

/**
 * Returns the figures of up to 100 posts of the authenticated user in a span of time. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`. The service's documents list it for Enterprise plans.
 *
 * With the default `granularity` of `total`, a post has its figures; with another, `timestamped_metrics` has those of each hour,
 * day or week.
 *
 * ```ts
 * const figures = yield* getPostAnalytics({
 *   ids: ["1460323737035677698"],
 *   start_time: "2026-11-01T00:00:00Z",
 *   end_time: "2026-11-08T00:00:00Z",
 *   analytics_fields: ["impressions", "engagements"]
 * })
 * ```
 */
export const getPostAnalytics = /*#__PURE__*/ Operation.make({
  name: "getPostAnalytics",
  summary: "Returns the figures of posts in a span of time.",
  route: "GET /2/posts/analytics",
  query: {
    ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.ids(100)),
    ...span,
    granularity: /*#__PURE__*/ Parameters.openChoice(["hourly", "daily", "weekly", "total"], { default: "total" }),
    ...Selectors.postAnalytics
  },
  result: /*#__PURE__*/ Response.many(PostAnalytics),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: "unknown",
  selfServe: "none",
  effect: "read"
})

/**
 * Returns the figures of up to 100 videos of the authenticated user in a span of time. Credential: OAuth 1.0a, or a user's
 * bearer token with `user_auth: false`. The service's documents list it for Enterprise plans.
 *
 * With a `granularity` of `total`, a video has its figures; with another, `timestamped_metrics` has those of each hour or day,
 * the default.
 *
 * ```ts
 * const figures = yield* getMediaAnalytics({
 *   media_keys: ["3_1460323737035677698"],
 *   start_time: "2026-11-01T00:00:00Z",
 *   end_time: "2026-11-08T00:00:00Z",
 *   media_analytics_fields: ["video_views"]
 * })
 * ```
 */
export const getMediaAnalytics = /*#__PURE__*/ Operation.make({
  name: "getMediaAnalytics",
  summary: "Returns the figures of videos in a span of time.",
  route: "GET /2/media/analytics",
  query: {
    media_keys: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.mediaKeys(100)),
    ...span,
    granularity: /*#__PURE__*/ Parameters.openChoice(["hourly", "daily", "total"], { default: "daily" }),
    ...Selectors.mediaAnalytics
  },
  result: /*#__PURE__*/ Response.many(MediaAnalytics),
  userAuth: true,
  scopes: ["post.read"],
  limits: {},
  price: "unknown",
  selfServe: "none",
  effect: "read"
})
