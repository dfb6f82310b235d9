/** Quote posts (spec: Quote posts). */
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Lists the posts that quote a post, most recent first. Credential: bearer token, or OAuth 1.0a with `user_auth: true`
 * (spec: Quote posts). Counts towards the project-level post cap.
 *
 * `max_results` is 10 to 100 (default 10); a page may hold fewer. Pages go forward only.
 *
 * ```ts
 * const quotes = getQuotePosts.items({ id: "1460323737035677698", exclude: ["replies"] })
 * ```
 */
export const getQuotePosts = /*#__PURE__*/ Operation.makePaged({
  name: "getQuotePosts",
  summary: "Lists the posts that quote a post.",
  route: "GET /2/posts/:id/quote_posts",
  path,
  query: {
    exclude: /*#__PURE__*/ Parameters.list(["replies", "retweets"]),
    ...Selectors.all,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 10, maximum: 100, default: 10 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "post" },
  paging: { token: "pagination_token", directions: "forward" },
  total: { of: "post", metric: "quote_count" },
  effect: "read",
  postCap: true
})
