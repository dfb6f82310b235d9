/** Reposts (spec: Reposts). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, pages, path, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const reposted = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ reposted: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
)

// The post that was reposted: its id is `rest_id` since August 2026.
const repostedPost = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({
    reposted: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean),
    id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    rest_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
  })
)

/**
 * Reposts a post for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`,
 * which first looks the user's id up, once (spec: Reposts). Needs write permission.
 *
 * ```ts
 * yield* repost({ post_id: "1460323737035677698" })
 * ```
 */
export const repost = /*#__PURE__*/ toggle({
  name: "repost",
  summary: "Reposts a post.",
  route: "POST /2/users/:id/reposts",
  identity: "id",
  body: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: repostedPost,
  scopes: ["post.read", "post.write", "users.read"],
  price: { request: "userInteractionCreate" },
  settled: {
    data: { reposted: true },
    by: { status: 400, problem: { message: "You cannot retweet a Tweet that you have already retweeted." } }
  }
})

/**
 * Takes a repost back; succeeds with no action when the post is not reposted. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once (spec: Reposts). Needs write permission.
 *
 * ```ts
 * yield* unrepost({ source_post_id: "1460323737035677698" })
 * ```
 */
export const unrepost = /*#__PURE__*/ toggle({
  name: "unrepost",
  summary: "Takes a repost back.",
  route: "DELETE /2/users/:id/reposts/:source_post_id",
  identity: "id",
  path: { source_post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: reposted,
  scopes: ["post.read", "post.write", "users.read"],
  price: { request: "interactionDelete" }
})

/**
 * Lists the users who reposted a post. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Reposts).
 * `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const users = getReposters.items({ id: "1460323737035677698", user_fields: ["verified"] })
 * ```
 */
export const getReposters = /*#__PURE__*/ Operation.makePaged({
  name: "getReposters",
  summary: "Lists the users who reposted a post.",
  route: "GET /2/posts/:id/reposted_by",
  path,
  query: { ...Selectors.allOfUsers, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "user" },
  total: { of: "post", metric: "repost_count" },
  ...pages
})

/**
 * Lists the reposts of a post: posts of those who reposted it. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true`. `max_results` is 1 to 100 (default 100). `getReposters` lists the users.
 *
 * ```ts
 * const reposts = getReposts.items({ id: "1460323737035677698", post_fields: ["created_at"] })
 * ```
 */
export const getReposts = /*#__PURE__*/ Operation.makePaged({
  name: "getReposts",
  summary: "Lists the reposts of a post.",
  route: "GET /2/posts/:id/reposts",
  path,
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "post" },
  total: { of: "post", metric: "repost_count" },
  ...pages
})

/**
 * Lists the posts of the authenticated user that others have reposted, most recent first. Credential: OAuth 1.0a, or a
 * user's bearer token with `user_auth: false`. `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const posts = getRepostsOfMe.items({ post_fields: ["public_metrics"] })
 * ```
 */
export const getRepostsOfMe = /*#__PURE__*/ Operation.makePaged({
  name: "getRepostsOfMe",
  summary: "Lists the authenticated user's posts that were reposted.",
  route: "GET /2/users/reposts_of_me",
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: true,
  scopes: ["post.read", "timeline.read"],
  limits: { user: { perWindow: 75 } },
  price: { read: "post" },
  ...pages
})
