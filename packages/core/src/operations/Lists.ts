/** Lists of users, whose posts they show (spec: Lists). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { List } from "../schema/models/List.ts"
import { Post } from "../schema/models/Post.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, type Own, pages, path, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const listId = { list_id: /*#__PURE__*/ Parameters.required(Parameters.id) }

const name = /*#__PURE__*/ Parameters.text(25)

const description = /*#__PURE__*/ Parameters.emptiable(100)

const toggled = /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)

const membership = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ is_member: toggled }))

const following = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ following: toggled }))

const pinned = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ pinned: toggled }))

const managed = <const D extends Own<"userAuth" | "scopes" | "limits" | "price" | "effect">>(own: D) =>
  Operation.make({
    ...own,
    userAuth: true,
    scopes: ["list.write", "post.read", "users.read"],
    limits: { perWindow: 300 },
    price: { request: "listManage" },
    effect: "toggle"
  })

const chosen = <const D extends Own<"userAuth" | "scopes" | "limits" | "price" | "effect">>(own: D) =>
  toggle({ ...own, scopes: ["list.write", "post.read", "users.read"], price: { request: "listManage" } })

const lists = {
  path,
  query: { ...Selectors.list, ...hundred },
  result: /*#__PURE__*/ Response.many(List),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  price: { read: "list", owned: true },
  ...pages
} as const

/**
 * Creates a list for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs
 * write permission.
 *
 * `name` has 1 to 25 characters, `description` up to 100. A list is public unless it is `private`. A create is never sent
 * twice: if its response does not arrive, the call fails with `OutcomeUnknown`, and `getOwnedLists` shows whether it
 * happened.
 *
 * ```ts
 * const { data } = yield* createList({ name: "Tech News", description: "What is new", private: true })
 * ```
 */
export const createList = /*#__PURE__*/ Operation.make({
  name: "createList",
  summary: "Creates a list for the authenticated user.",
  route: "POST /2/lists",
  body: { name: /*#__PURE__*/ Parameters.required(name), description, private: Parameters.boolean },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Model.essential(/*#__PURE__*/ Schema.Struct({ id: Schema.String, name: Schema.String }), "id")
  ),
  userAuth: true,
  scopes: ["list.read", "list.write", "post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { request: "listCreate" },
  effect: "create",
  confirmWith: "getOwnedLists"
})

/**
 * Changes name, description or privacy of a list that the authenticated user owns. Credential: OAuth 1.0a, or a user's
 * bearer token with `user_auth: false`. Needs write permission.
 *
 * Omitted members are unchanged. `name` has 1 to 25 characters, `description` up to 100; an empty one removes the
 * description.
 *
 * ```ts
 * yield* updateList({ id: "1441162269824405510", description: "What is new in technology" })
 * ```
 */
export const updateList = /*#__PURE__*/ managed({
  name: "updateList",
  summary: "Changes a list of the authenticated user.",
  route: "PUT /2/lists/:id",
  path,
  body: { name, description, private: Parameters.boolean },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ updated: toggled }))
})

/**
 * Deletes a list that the authenticated user owns. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteList({ id: "1441162269824405510" })
 * ```
 */
export const deleteList = /*#__PURE__*/ managed({
  name: "deleteList",
  summary: "Deletes a list of the authenticated user.",
  route: "DELETE /2/lists/:id",
  path,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: toggled })),
  settled: {
    data: { deleted: true },
    by: { status: 404, problem: { type: "resource-not-found", resource_type: "list" } }
  }
})

/**
 * Looks one list up. Credential: bearer token, or OAuth 1.0a with `user_auth: true`.
 *
 * A list that does not exist is no failure: `data` is `undefined` and `errors` says why.
 *
 * ```ts
 * const list = yield* getList({ id: "1441162269824405510", list_fields: ["member_count"], expansions: ["owner_id"] })
 * ```
 */
export const getList = /*#__PURE__*/ Operation.make({
  name: "getList",
  summary: "Looks one list up.",
  route: "GET /2/lists/:id",
  path,
  query: Selectors.list,
  result: /*#__PURE__*/ Response.one(List),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 75 },
  price: { read: "list" },
  effect: "read"
})

/**
 * Lists the members of a list. Credential: bearer token, or OAuth 1.0a with `user_auth: true`. `max_results` is 1 to 100
 * (default 100).
 *
 * ```ts
 * const users = getListMembers.items({ id: "1441162269824405510", user_fields: ["verified"] })
 * ```
 */
export const getListMembers = /*#__PURE__*/ Operation.makePaged({
  name: "getListMembers",
  summary: "Lists the members of a list.",
  route: "GET /2/lists/:id/members",
  path,
  query: { ...Selectors.user, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 900 },
  total: { of: "list", metric: "member_count" },
  price: { read: "user" },
  ...pages
})

/**
 * Adds a user to a list that the authenticated user owns. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission; that of the user is not needed.
 *
 * ```ts
 * yield* addListMember({ id: "1441162269824405510", user_id: "2244994945" })
 * ```
 */
export const addListMember = /*#__PURE__*/ managed({
  name: "addListMember",
  summary: "Adds a user to a list of the authenticated user.",
  route: "POST /2/lists/:id/members",
  path,
  body: { user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: membership
})

/**
 * Removes a user from a list that the authenticated user owns. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* removeListMember({ id: "1441162269824405510", user_id: "2244994945" })
 * ```
 */
export const removeListMember = /*#__PURE__*/ managed({
  name: "removeListMember",
  summary: "Removes a user from a list of the authenticated user.",
  route: "DELETE /2/lists/:id/members/:user_id",
  path: { ...path, user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: membership
})

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
  path,
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 900 },
  price: { read: "post" },
  ...pages
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
  path,
  query: { ...Selectors.user, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 180 },
  price: { read: "followingOrFollower" },
  total: { of: "list", metric: "follower_count" },
  ...pages
})

/**
 * Lists the lists that a user owns. Credential: bearer token, or OAuth 1.0a with `user_auth: true`. `max_results` is 1 to
 * 100 (default 100).
 *
 * ```ts
 * const lists = getOwnedLists.items({ id: "2244994945", list_fields: ["member_count", "private"] })
 * ```
 */
export const getOwnedLists = /*#__PURE__*/ Operation.makePaged({
  name: "getOwnedLists",
  summary: "Lists the lists that a user owns.",
  route: "GET /2/users/:id/owned_lists",
  limits: { perWindow: 15 },
  ...lists
})

/**
 * Lists the lists that a user is a member of. Credential: bearer token, or OAuth 1.0a with `user_auth: true`. `max_results`
 * is 1 to 100 (default 100).
 *
 * ```ts
 * const lists = getListMemberships.items({ id: "2244994945", expansions: ["owner_id"] })
 * ```
 */
export const getListMemberships = /*#__PURE__*/ Operation.makePaged({
  name: "getListMemberships",
  summary: "Lists the lists that a user is a member of.",
  route: "GET /2/users/:id/list_memberships",
  limits: { perWindow: 75 },
  total: { of: "user", metric: "listed_count" },
  ...lists
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
  limits: { perWindow: 15 },
  ...lists
})

/**
 * Follows a list for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`,
 * which first looks the user's id up, once. Needs write permission.
 *
 * ```ts
 * yield* followList({ list_id: "1441162269824405510" })
 * ```
 */
export const followList = /*#__PURE__*/ chosen({
  name: "followList",
  summary: "Follows a list.",
  route: "POST /2/users/:id/followed_lists",
  identity: "id",
  body: listId,
  result: following
})

/**
 * Ends the follow of a list by the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Lists). Needs write permission.
 *
 * ```ts
 * yield* unfollowList({ list_id: "1441162269824405510" })
 * ```
 */
export const unfollowList = /*#__PURE__*/ chosen({
  name: "unfollowList",
  summary: "Ends the follow of a list.",
  route: "DELETE /2/users/:id/followed_lists/:list_id",
  identity: "id",
  path: listId,
  result: following
})

/**
 * Lists the lists that the authenticated user has pinned, all in one answer. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once.
 *
 * ```ts
 * const { data } = yield* getPinnedLists({ list_fields: ["member_count"], expansions: ["owner_id"] })
 * ```
 */
export const getPinnedLists = /*#__PURE__*/ Operation.make({
  name: "getPinnedLists",
  summary: "Lists the lists that the authenticated user has pinned.",
  route: "GET /2/users/:id/pinned_lists",
  identity: "id",
  query: Selectors.list,
  result: /*#__PURE__*/ Response.many(List),
  userAuth: true,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  price: { read: "list", owned: true },
  effect: "read"
})

/**
 * Pins a list that the authenticated user owns or follows. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once. Needs write permission. The service limits how many lists
 * can be pinned.
 *
 * ```ts
 * yield* pinList({ list_id: "1441162269824405510" })
 * ```
 */
export const pinList = /*#__PURE__*/ chosen({
  name: "pinList",
  summary: "Pins a list that the authenticated user owns or follows.",
  route: "POST /2/users/:id/pinned_lists",
  identity: "id",
  body: listId,
  result: pinned
})

/**
 * Unpins a list of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`, which
 * first looks the user's id up, once. Needs write permission.
 *
 * ```ts
 * yield* unpinList({ list_id: "1441162269824405510" })
 * ```
 */
export const unpinList = /*#__PURE__*/ chosen({
  name: "unpinList",
  summary: "Unpins a list.",
  route: "DELETE /2/users/:id/pinned_lists/:list_id",
  identity: "id",
  path: listId,
  result: pinned
})
