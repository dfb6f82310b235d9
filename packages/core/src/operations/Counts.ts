/** Counts of posts over time (spec: Counts). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { CountBucket } from "../schema/models/CountBucket.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { span } from "./internal/families.ts"

const shared = {
  ...span,
  next_token: Parameters.token,
  pagination_token: Parameters.token,
  granularity: /*#__PURE__*/ Parameters.choice(["minute", "hour", "day"], { default: "hour" })
}

// Two names of one token.
const rules = [/*#__PURE__*/ ParameterRule.excludes("pagination_token", "next_token")]

const buckets = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Array(CountBucket))

/**
 * Counts the posts of the last seven days that match a query, per `granularity` (default hour); `meta.total_post_count`
 * is their sum. Credential: bearer token (spec: Counts). Same time rules as `searchRecentPosts`; `query` has 1 to 1,024
 * characters (512 with standard access).
 *
 * ```ts
 * const counts = yield* getRecentPostsCount({ query: "effect", granularity: "day" })
 * ```
 */
export const getRecentPostsCount = /*#__PURE__*/ Operation.makePaged({
  name: "getRecentPostsCount",
  summary: "Counts the posts of the last seven days that match a query.",
  route: "GET /2/posts/counts/recent",
  query: { query: /*#__PURE__*/ Parameters.required(Parameters.recentQuery), ...shared },
  result: buckets,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { request: "countsRecent" },
  rules,
  paging: { token: "next_token", directions: "forward" },
  effect: "read"
})

/**
 * Counts the posts of the full archive that match a query, per `granularity` (default hour); `meta.total_post_count` is
 * the sum of the page. Credential: bearer token of a project with research access (spec: Counts). Same time rules as
 * `searchAllPosts`; `query` has 1 to 1,024 characters. The service takes one request per second.
 *
 * ```ts
 * const days = getAllPostsCount.items({ query: "effect", granularity: "day", start_time: "2026-01-01T00:00:00Z" })
 * ```
 */
export const getAllPostsCount = /*#__PURE__*/ Operation.makePaged({
  name: "getAllPostsCount",
  summary: "Counts the posts of the full archive that match a query.",
  route: "GET /2/posts/counts/all",
  query: { query: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(1024)), ...shared },
  result: buckets,
  access: "research",
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { request: "countsAll" },
  rules,
  paging: { token: "next_token", directions: "forward" },
  effect: "read",
  pace: 1_000
})
