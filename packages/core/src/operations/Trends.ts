/** Trends: what many posts are about. */
import * as Operation from "../client/Operation.ts"
import { PersonalizedTrend } from "../schema/models/PersonalizedTrend.ts"
import { Trend } from "../schema/models/Trend.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Lists the trends of a place, named by its WOEID: 1 is the world. Credential: bearer token. `max_trends` is 1 to 50
 * (default 20).
 *
 * ```ts
 * const trends = yield* getTrends({ woeid: 1, trend_fields: ["post_count"] })
 * ```
 */
export const getTrends = /*#__PURE__*/ Operation.make({
  name: "getTrends",
  summary: "Lists the trends of a place.",
  route: "GET /2/trends/by/woeid/:woeid",
  path: { woeid: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.integer()) },
  query: { max_trends: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 50, default: 20 }), ...Selectors.trend },
  result: /*#__PURE__*/ Response.many(Trend),
  scopes: [],
  limits: { app: { perWindow: 75 } },
  price: { request: "trends" },
  effect: "read"
})

/**
 * Lists the trends that the service picks for the authenticated user, who must have Premium: for others it answers one
 * trend without a name, whose category is `Unknown`. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`.
 *
 * ```ts
 * const trends = yield* getPersonalizedTrends({ personalized_trend_fields: ["category", "trend_name"] })
 * ```
 */
export const getPersonalizedTrends = /*#__PURE__*/ Operation.make({
  name: "getPersonalizedTrends",
  summary: "Lists the trends for the authenticated user.",
  route: "GET /2/users/personalized_trends",
  query: Selectors.personalizedTrend,
  result: /*#__PURE__*/ Response.many(PersonalizedTrend),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { app: { perWindow: 200, perDay: 200 }, user: { perWindow: 10, perDay: 100 } },
  price: { request: "trends" },
  effect: "read"
})
