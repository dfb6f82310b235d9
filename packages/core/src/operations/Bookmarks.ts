/** Bookmarks (spec: Bookmarks), which take a user's OAuth 2.0 bearer token and have no `user_auth`, and their folders. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { Post } from "../schema/models/Post.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const bookmarked = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ bookmarked: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
)

/**
 * Bookmarks a post for the authenticated user. Credential: a user's bearer token; the user's id is looked up first, once
 * (spec: Bookmarks). Needs write permission. With `folder_id` the bookmark is in that folder of the user as well.
 *
 * ```ts
 * yield* bookmark({ post_id: "1460323737035677698" })
 * ```
 */
export const bookmark = /*#__PURE__*/ Operation.make({
  name: "bookmark",
  summary: "Bookmarks a post.",
  route: "POST /2/users/:id/bookmarks",
  identity: "id",
  body: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id), folder_id: Parameters.id },
  result: bookmarked,
  scopes: ["bookmark.write", "post.read", "users.read"],
  limits: { perWindow: 50 },
  price: { request: "bookmark" },
  effect: "toggle"
})

/**
 * Lists the authenticated user's 800 most recently bookmarked posts. Credential: a user's bearer token; the user's id is
 * looked up first, once (spec: Bookmarks). `max_results` is 1 to 100 (default 100).
 *
 * With pages of 100 the live service may end the list early, after 98 of 1,120 posts in one report; with 90 all pages came.
 * `.pages`, `.items` and exports therefore have pages of 90 unless `max_results` is set. Set 90 in a loop of your own.
 *
 * ```ts
 * const posts = getBookmarks.items({ post_fields: ["created_at"] })
 * ```
 */
export const getBookmarks = /*#__PURE__*/ Operation.makePaged({
  name: "getBookmarks",
  summary: "Lists the authenticated user's bookmarked posts.",
  route: "GET /2/users/:id/bookmarks",
  identity: "id",
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  scopes: ["bookmark.read", "post.read", "users.read"],
  limits: { perWindow: 180 },
  price: { read: "post", owned: true },
  paging: { token: "pagination_token", directions: "both", completeUpTo: 90 },
  effect: "read"
})

/**
 * Removes a bookmark of the authenticated user. Credential: a user's bearer token; the user's id is looked up first, once
 * (spec: Bookmarks). Needs write permission.
 *
 * ```ts
 * yield* removeBookmark({ post_id: "1460323737035677698" })
 * ```
 */
export const removeBookmark = /*#__PURE__*/ Operation.make({
  name: "removeBookmark",
  summary: "Removes a bookmark.",
  route: "DELETE /2/users/:id/bookmarks/:post_id",
  identity: "id",
  path: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: bookmarked,
  scopes: ["bookmark.write", "post.read", "users.read"],
  limits: { perWindow: 50 },
  price: { request: "bookmark" },
  effect: "toggle"
})

const folder = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({ id: Schema.String, name: /*#__PURE__*/ Schema.optionalKey(Schema.String) }),
  "id"
)

const folderPaging = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100 }),
  pagination_token: Parameters.token
}

/**
 * Lists the authenticated user's folders of bookmarks. Credential: a user's bearer token, which first looks the user's id
 * up, once, or OAuth 1.0a with `user_auth: true`. `max_results` is 1 to 100.
 *
 * ```ts
 * const folders = getBookmarkFolders.items()
 * ```
 */
export const getBookmarkFolders = /*#__PURE__*/ Operation.makePaged({
  name: "getBookmarkFolders",
  summary: "Lists the authenticated user's folders of bookmarks.",
  route: "GET /2/users/:id/bookmarks/folders",
  identity: "id",
  query: folderPaging,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Array(folder)),
  userAuth: false,
  scopes: ["bookmark.read", "users.read"],
  limits: { perWindow: 50 },
  price: "free",
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})

/**
 * Creates a folder of bookmarks for the authenticated user. Credential: a user's bearer token; the user's id is looked up
 * first, once. Needs write permission. `name` has 1 to 25 characters.
 *
 * A create is never sent twice: if its response does not arrive, the call fails with `OutcomeUnknown`, and
 * `getBookmarkFolders` shows whether it happened.
 *
 * ```ts
 * const { data } = yield* createBookmarkFolder({ name: "To read" })
 * ```
 */
export const createBookmarkFolder = /*#__PURE__*/ Operation.make({
  name: "createBookmarkFolder",
  summary: "Creates a folder of bookmarks.",
  route: "POST /2/users/:id/bookmarks/folders",
  identity: "id",
  body: { name: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(25)) },
  result: /*#__PURE__*/ Response.value(folder),
  scopes: ["bookmark.write", "users.read"],
  limits: {},
  price: { request: "bookmark" },
  effect: "create",
  confirmWith: "getBookmarkFolders"
})

/**
 * Lists the posts in a folder of bookmarks, by their ids alone: `getPosts` looks them up. Credential: a user's bearer
 * token, which first looks the user's id up, once, or OAuth 1.0a with `user_auth: true`. `max_results` is 1 to 100.
 *
 * ```ts
 * const ids = getBookmarkFolderPosts.items({ folder_id: "1520262394675200000" })
 * ```
 */
export const getBookmarkFolderPosts = /*#__PURE__*/ Operation.makePaged({
  name: "getBookmarkFolderPosts",
  summary: "Lists the ids of the posts in a folder of bookmarks.",
  route: "GET /2/users/:id/bookmarks/folders/:folder_id",
  identity: "id",
  path: { folder_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  query: folderPaging,
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Model.essential(/*#__PURE__*/ Schema.Struct({ id: Schema.String }), "id"))
  ),
  userAuth: false,
  scopes: ["bookmark.read", "post.read", "users.read"],
  limits: { perWindow: 50 },
  price: { read: "post" },
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})
