/** Timelines (spec: Timelines, with its rules). */
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, pages, path, span } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Lists the posts of a user, most recent first: the latest 3,200, or 800 when replies are excluded. Credential: bearer
 * token, or OAuth 1.0a with `user_auth: true` (spec: Timelines). Counts towards the project-level post cap.
 *
 * `max_results` is 5 to 100 (default 10). `start_time` and `end_time` are inclusive, and not before 2010-11-06;
 * `since_id` and `until_id` are exclusive.
 *
 * ```ts
 * const posts = getUsersPosts.items({ id: "2244994945", exclude: ["replies"], max_results: 100 })
 * ```
 */
export const getUsersPosts = /*#__PURE__*/ Operation.makePaged({
  name: "getUsersPosts",
  summary: "Lists the posts of a user.",
  route: "GET /2/users/:id/posts",
  path,
  query: {
    exclude: /*#__PURE__*/ Parameters.list(["replies", "retweets"]),
    ...Selectors.all,
    start_time: /*#__PURE__*/ Parameters.notBefore("2010-11-06T00:00:00Z"),
    end_time: /*#__PURE__*/ Parameters.notBefore("2010-11-06T00:00:01Z"),
    since_id: Parameters.id,
    until_id: Parameters.id,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 5, maximum: 100, default: 10 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 1_500 },
  price: { read: "post", owned: true },
  total: { of: "user", metric: "post_count", most: 3_200 },
  postCap: true,
  ...pages
})

/**
 * Lists the posts that mention a user, most recent first: the latest 800. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true` (spec: Timelines). Counts towards the project-level post cap.
 *
 * `max_results` is 5 to 100 (default 10). `start_time` and `end_time` are inclusive; `since_id` and `until_id` are
 * exclusive.
 *
 * ```ts
 * const posts = getUsersMentions.items({ id: "2244994945", max_results: 100 })
 * ```
 */
export const getUsersMentions = /*#__PURE__*/ Operation.makePaged({
  name: "getUsersMentions",
  summary: "Lists the posts that mention a user.",
  route: "GET /2/users/:id/mentions",
  path,
  query: {
    ...Selectors.all,
    ...span,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 5, maximum: 100, default: 10 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 450 },
  price: { read: "post", owned: true },
  postCap: true,
  ...pages
})

/**
 * Lists the recent posts and reposts of the authenticated user and of those whom the user follows, most recent first: the
 * latest 3,200. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`, which first looks the user's id
 * up, once (spec: Timelines).
 *
 * `max_results` is 1 to 100 (default 100). `start_time` and `end_time` are inclusive; `since_id` and `until_id` are
 * exclusive.
 *
 * ```ts
 * const posts = getHomeTimeline.items({ exclude: ["replies"], post_fields: ["author_id"] })
 * ```
 */
export const getHomeTimeline = /*#__PURE__*/ Operation.makePaged({
  name: "getHomeTimeline",
  summary: "Lists the authenticated user's home timeline.",
  route: "GET /2/users/:id/timelines/reverse_chronological",
  identity: "id",
  query: { exclude: /*#__PURE__*/ Parameters.list(["replies", "retweets"]), ...Selectors.all, ...span, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 180 },
  price: { read: "post" },
  ...pages
})
