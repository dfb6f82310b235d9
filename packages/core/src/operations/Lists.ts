/** Lists (spec: Lists). */
import * as Schema from "effect/Schema"
import { List } from "../models/List.ts"
import { Post } from "../models/Post.ts"
import { User } from "../models/User.ts"
import * as Operation from "../Operation.ts"
import * as Parameters from "../Parameters.ts"
import * as Response from "../Response.ts"
import * as Selectors from "./Selectors.ts"

const hundred = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 100 }),
  pagination_token: Parameters.token
}

/**
 * Lists the posts of a list. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Lists). `max_results`
 * is 1 to 100 (default 100).
 *
 * ```ts
 * const posts = getListPosts.items({ id: "1441162269824405510", post_fields: ["created_at"] })
 * ```
 */
export const getListPosts = /*#__PURE__*/ Operation.makePaged({
  name: "getListPosts",
  summary: "Lists the posts of a list.",
  route: "GET /2/lists/:id/posts",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 900 },
  paging: { token: "pagination_token", directions: "both" },
  effect: "read"
})

/**
 * Lists the followers of a list. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Lists).
 * `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const users = getListFollowers.items({ id: "1441162269824405510" })
 * ```
 */
export const getListFollowers = /*#__PURE__*/ Operation.makePaged({
  name: "getListFollowers",
  summary: "Lists the followers of a list.",
  route: "GET /2/lists/:id/followers",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  query: { ...Selectors.user, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 180 },
  paging: { token: "pagination_token", directions: "both" },
  effect: "read"
})

/**
 * Lists the lists that a user follows. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Lists).
 * `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const lists = getFollowedLists.items({ id: "2244994945", list_fields: ["follower_count"] })
 * ```
 */
export const getFollowedLists = /*#__PURE__*/ Operation.makePaged({
  name: "getFollowedLists",
  summary: "Lists the lists that a user follows.",
  route: "GET /2/users/:id/followed_lists",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  query: {
    ...Selectors.list,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 100 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(List),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  paging: { token: "pagination_token", directions: "both" },
  effect: "read"
})

/**
 * Ends the follow of a list by the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Lists). Needs write permission.
 *
 * ```ts
 * yield* unfollowList({ list_id: "1441162269824405510" })
 * ```
 */
export const unfollowList = /*#__PURE__*/ Operation.make({
  name: "unfollowList",
  summary: "Ends the follow of a list.",
  route: "DELETE /2/users/:id/followed_lists/:list_id",
  identity: "id",
  path: { list_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ following: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
  ),
  userAuth: true,
  scopes: ["list.write", "post.read", "users.read"],
  limits: { perWindow: 50 },
  effect: "toggle"
})
