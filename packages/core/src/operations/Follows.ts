/** Follows (spec: Blocks, follows, mutes). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { pages, path, thousand, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Follows a user for the authenticated user, or sends a follow request when the target's posts are protected
 * (`pending_follow`). Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`, which first looks the
 * user's id up, once (spec: Blocks, follows, mutes). Needs write permission and, since April
 * 2026, an Enterprise plan.
 *
 * ```ts
 * const { data } = yield* followUser({ target_user_id: "2244994945" })
 * ```
 */
export const followUser = /*#__PURE__*/ toggle({
  name: "followUser",
  summary: "Follows a user, or asks to.",
  route: "POST /2/users/:id/following",
  identity: "id",
  body: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({
    following: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean),
    pending_follow: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
  })),
  scopes: ["follows.write", "post.read", "users.read"],
  price: { request: "userInteractionCreate" },
  selfServe: "none"
})

/**
 * The old name of `followUser`.
 *
 * @deprecated Use `followUser`.
 */
export const follow = followUser

/**
 * Ends the follow of a user; succeeds with no action when there is none. Credential: OAuth 1.0a, or a user's bearer token
 * with `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). Needs write
 * permission.
 *
 * ```ts
 * yield* unfollowUser({ target_user_id: "2244994945" })
 * ```
 */
export const unfollowUser = /*#__PURE__*/ toggle({
  name: "unfollowUser",
  summary: "Ends the follow of a user.",
  route: "DELETE /2/users/:source_user_id/following/:target_user_id",
  identity: "source_user_id",
  path: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ following: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
  ),
  scopes: ["follows.write", "post.read", "users.read"],
  price: { request: "interactionDelete" }
})

/**
 * The old name of `unfollowUser`.
 *
 * @deprecated Use `unfollowUser`.
 */
export const unfollow = unfollowUser

/**
 * Lists the followers of a user. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Blocks, follows,
 * mutes). `max_results` is 1 to 1000 (default 100).
 *
 * ```ts
 * const users = getUsersFollowers.items({ id: "2244994945", max_results: 1000 })
 * ```
 */
export const getUsersFollowers = /*#__PURE__*/ Operation.makePaged({
  name: "getUsersFollowers",
  summary: "Lists the followers of a user.",
  route: "GET /2/users/:id/followers",
  path,
  query: { ...Selectors.user, ...thousand },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["follows.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  price: { read: "followingOrFollower", owned: true },
  total: { of: "user", metric: "followers_count" },
  ...pages
})

/**
 * Lists the users whom a user follows. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Blocks,
 * follows, mutes). `max_results` is 1 to 1000 (default 100).
 *
 * ```ts
 * const users = getUsersFollowing.items({ id: "2244994945", max_results: 1000 })
 * ```
 */
export const getUsersFollowing = /*#__PURE__*/ Operation.makePaged({
  name: "getUsersFollowing",
  summary: "Lists the users whom a user follows.",
  route: "GET /2/users/:id/following",
  path,
  query: { ...Selectors.user, ...thousand },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["follows.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  price: { read: "followingOrFollower", owned: true },
  total: { of: "user", metric: "following_count" },
  ...pages
})
