/** Search (spec: Search, with its time rules). */
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { span } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const shared = {
  ...Selectors.all,
  ...span,
  next_token: Parameters.token,
  pagination_token: Parameters.token,
  sort_order: /*#__PURE__*/ Parameters.openChoice(["recency", "relevancy"], { default: "recency" })
}

// Two names of one token.
const rules = [/*#__PURE__*/ ParameterRule.excludes("pagination_token", "next_token")]

/**
 * Searches the posts of the last seven days, most recent first. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true` (spec: Search). Counts towards the project-level post cap.
 *
 * `query` has 1 to 1,024 characters (512 with standard access), `max_results` is 10 to 100 (default 10).
 * `start_time` is inclusive, `end_time` exclusive (default 30 seconds ago); `since_id` and `until_id` are exclusive, and
 * the service ignores `start_time` beside `since_id`. Since May 2026 a query with words finds no reposts on the live service.
 *
 * ```ts
 * const posts = searchRecentPosts.items({ query: "effect lang:en", max_results: 100 })
 * ```
 */
export const searchRecentPosts = /*#__PURE__*/ Operation.makePaged({
  name: "searchRecentPosts",
  summary: "Searches the posts of the last seven days.",
  route: "GET /2/posts/search/recent",
  query: {
    query: /*#__PURE__*/ Parameters.required(Parameters.recentQuery),
    ...shared,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 10, maximum: 100, default: 10 })
  },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 450 },
  price: { read: "post" },
  rules,
  paging: { token: "next_token", directions: "forward" },
  reach: { days: 7 },
  total: { countedBy: "getRecentPostsCount" },
  effect: "read",
  postCap: true
})

/**
 * Searches the full archive since 2006-03-26, most recent first. Credential: bearer token of a project with research
 * access (spec: Search). Counts towards the project-level post cap.
 *
 * `query` has 1 to 1,024 characters, `max_results` is 10 to 500 (default 10). Without `start_time` the 30 days before
 * `end_time` (default 30 seconds ago) are searched. The service takes one request per second. Since
 * May 2026 a query with words finds no reposts on the live service.
 *
 * ```ts
 * const posts = searchAllPosts.items({ query: "effect", start_time: "2026-01-01T00:00:00Z", max_results: 500 })
 * ```
 */
export const searchAllPosts = /*#__PURE__*/ Operation.makePaged({
  name: "searchAllPosts",
  summary: "Searches the full archive of posts.",
  route: "GET /2/posts/search/all",
  query: {
    query: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(1024)),
    ...shared,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 10, maximum: 500, default: 10 })
  },
  result: /*#__PURE__*/ Response.many(Post),
  access: "research",
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "post" },
  rules,
  paging: { token: "next_token", directions: "forward" },
  reach: { days: 30, unless: ["start_time", "end_time", "since_id"], isDefault: true },
  total: { countedBy: "getAllPostsCount" },
  effect: "read",
  postCap: true,
  pace: 1_000
})
