/** Likes (spec: Likes). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, pages, path, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const liked = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ liked: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
)

/**
 * Likes a post for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`,
 * which first looks the user's id up, once (spec: Likes). Needs write permission and, since April 2026, an Enterprise plan.
 *
 * ```ts
 * yield* like({ post_id: "1460323737035677698" })
 * ```
 */
export const like = /*#__PURE__*/ toggle({
  name: "like",
  summary: "Likes a post.",
  route: "POST /2/users/:id/likes",
  identity: "id",
  body: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: liked,
  scopes: ["like.write", "post.read", "users.read"],
  price: { request: "userInteractionCreate" },
  selfServe: "none"
})

/**
 * Takes the like of a post back; succeeds with no action when it is not liked. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once (spec: Likes). Needs write permission.
 *
 * ```ts
 * yield* unlike({ post_id: "1460323737035677698" })
 * ```
 */
export const unlike = /*#__PURE__*/ toggle({
  name: "unlike",
  summary: "Takes the like of a post back.",
  route: "DELETE /2/users/:id/likes/:post_id",
  identity: "id",
  path: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: liked,
  scopes: ["like.write", "post.read", "users.read"],
  price: { request: "interactionDelete" }
})

/**
 * Lists the users who liked a post. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Likes).
 * `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const users = getLikingUsers.items({ id: "1460323737035677698", user_fields: ["verified"] })
 * ```
 */
export const getLikingUsers = /*#__PURE__*/ Operation.makePaged({
  name: "getLikingUsers",
  summary: "Lists the users who liked a post.",
  route: "GET /2/posts/:id/liking_users",
  path,
  query: { ...Selectors.allOfUsers, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["like.read", "post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "like" },
  total: { of: "post", metric: "like_count" },
  ...pages
})

/**
 * Lists the posts that a user liked. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Likes). Counts
 * towards the project-level post cap. `max_results` is 5 to 100 (default 100).
 *
 * ```ts
 * const posts = getLikedPosts.items({ id: "2244994945", post_fields: ["created_at"] })
 * ```
 */
export const getLikedPosts = /*#__PURE__*/ Operation.makePaged({
  name: "getLikedPosts",
  summary: "Lists the posts that a user liked.",
  route: "GET /2/users/:id/liked_posts",
  path,
  query: {
    ...Selectors.all,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 5, maximum: 100, default: 100 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["like.read", "post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "like", owned: true },
  postCap: true,
  ...pages
})
