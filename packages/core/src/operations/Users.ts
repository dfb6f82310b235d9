/** User lookup (spec: User lookup). */
import * as Operation from "../client/Operation.ts"
import * as UserId from "../client/UserId.ts"
import { User } from "../schema/models/User.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { pages, path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Looks one user up, by exactly one of `id` and `username`. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true` (spec: User lookup).
 *
 * ```ts
 * const ada = yield* getUser({ username: "ada", user_fields: ["public_metrics"] })
 * ```
 */
export const getUser = /*#__PURE__*/ Operation.make({
  name: "getUser",
  summary: "Looks one user up, by id or by username.",
  route: { id: "GET /2/users/:id", username: "GET /2/users/by/username/:username" },
  path: { id: Parameters.id, username: Parameters.username },
  query: Selectors.user,
  alternatives: /*#__PURE__*/ ParameterRule.exactlyOne("id", "username"),
  result: /*#__PURE__*/ Response.one(User),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "user" },
  effect: "read"
})

/**
 * Returns the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`
 * (spec: User lookup).
 *
 * ```ts
 * const me = yield* getMe({ user_fields: ["created_at"] })
 * ```
 */
export const getMe = /*#__PURE__*/ Operation.make({
  name: "getMe",
  summary: "Returns the authenticated user.",
  route: UserId.route,
  query: Selectors.user,
  result: /*#__PURE__*/ Response.one(User),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "user" },
  effect: "read"
})

/**
 * Looks up to 100 users up, by exactly one of `ids` and `usernames`. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true` (spec: User lookup). Users that do not exist are listed in `errors`.
 *
 * ```ts
 * const users = yield* getUsers({ usernames: ["ada", "grace"], user_fields: ["created_at"] })
 * ```
 */
export const getUsers = /*#__PURE__*/ Operation.make({
  name: "getUsers",
  summary: "Looks users up, by their ids or by their usernames.",
  route: { ids: "GET /2/users", usernames: "GET /2/users/by" },
  query: {
    ids: /*#__PURE__*/ Parameters.ids(100),
    usernames: /*#__PURE__*/ Parameters.usernames(100),
    ...Selectors.user
  },
  alternatives: /*#__PURE__*/ ParameterRule.exactlyOne("ids", "usernames"),
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "user" },
  effect: "read"
})

/**
 * Searches users by their names and handles. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * `query` has 1 to 50 letters, digits, underscores, apostrophes and spaces; `max_results` is 1 to 1000 (default 100).
 *
 * ```ts
 * const users = searchUsers.items({ query: "ada", user_fields: ["public_metrics"] })
 * ```
 */
export const searchUsers = /*#__PURE__*/ Operation.makePaged({
  name: "searchUsers",
  summary: "Searches users by their names and handles.",
  route: "GET /2/users/search",
  query: {
    query: /*#__PURE__*/ Parameters.required(Parameters.userQuery),
    ...Selectors.user,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 1000, default: 100 }),
    next_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { app: { perWindow: 300 }, user: { perWindow: 900 } },
  price: { read: "user" },
  paging: { token: "next_token", directions: "both" },
  effect: "read"
})

/**
 * Lists the users who belong to an organization, which vouches for them. Credential: bearer token, or OAuth 1.0a with
 * `user_auth: true`. `max_results` is 1 to 1000.
 *
 * ```ts
 * const users = getAffiliates.items({ id: "2244994945", user_fields: ["affiliation"] })
 * ```
 */
export const getAffiliates = /*#__PURE__*/ Operation.makePaged({
  name: "getAffiliates",
  summary: "Lists the users who belong to an organization.",
  route: "GET /2/users/:id/affiliates",
  path,
  query: {
    ...Selectors.user,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 1000 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: {},
  price: { read: "user" },
  ...pages
})
