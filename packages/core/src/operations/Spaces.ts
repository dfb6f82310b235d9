/** Spaces (spec: Spaces). They take a bearer token and have no `user_auth`. */
import * as Operation from "../client/Operation.ts"
import { Post } from "../schema/models/Post.ts"
import { Space } from "../schema/models/Space.ts"
import { User } from "../schema/models/User.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, pages } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Searches spaces by text of their titles. Credential: bearer token (spec: Spaces). The query has up to 2,048 characters;
 * `max_results` is 1 to 100; without `state`, as with `all`, all spaces are searched. There are no further pages.
 *
 * ```ts
 * const spaces = yield* searchSpaces({ query: "effect", state: "live", space_fields: ["title"] })
 * ```
 */
export const searchSpaces = /*#__PURE__*/ Operation.make({
  name: "searchSpaces",
  summary: "Searches spaces by their titles.",
  route: "GET /2/spaces/search",
  query: {
    query: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(2048)),
    ...Selectors.space,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100 }),
    state: /*#__PURE__*/ Parameters.choice(["live", "scheduled", "all"])
  },
  result: /*#__PURE__*/ Response.many(Space),
  scopes: ["post.read", "space.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "space" },
  effect: "read"
})

/**
 * Looks spaces up, by exactly one of up to 100 `ids` and the `user_ids` of up to 100 creators. Credential: bearer token
 * (spec: Spaces).
 *
 * ```ts
 * const spaces = yield* getSpaces({ user_ids: ["2244994945"], space_fields: ["title", "scheduled_start"] })
 * ```
 */
export const getSpaces = /*#__PURE__*/ Operation.make({
  name: "getSpaces",
  summary: "Looks spaces up, by their ids or by their creators.",
  route: { ids: "GET /2/spaces", user_ids: "GET /2/spaces/by/creator_ids" },
  query: {
    ids: /*#__PURE__*/ Parameters.segments(100),
    user_ids: /*#__PURE__*/ Parameters.ids(100),
    ...Selectors.space
  },
  alternatives: /*#__PURE__*/ ParameterRule.exactlyOne("ids", "user_ids"),
  result: /*#__PURE__*/ Response.many(Space),
  scopes: ["post.read", "space.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "space" },
  effect: "read"
})

/**
 * Looks one space up. Credential: bearer token (spec: Spaces).
 *
 * ```ts
 * const space = yield* getSpace({ id: "1DXxyRYNejbKM", space_fields: ["title"] })
 * ```
 */
export const getSpace = /*#__PURE__*/ Operation.make({
  name: "getSpace",
  summary: "Looks one space up.",
  route: "GET /2/spaces/:id",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.segment) },
  query: Selectors.space,
  result: /*#__PURE__*/ Response.one(Space),
  scopes: ["post.read", "space.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "space" },
  effect: "read"
})

/**
 * Lists the users who bought a ticket for a space. Credential: the bearer token of the creator of the space (spec:
 * Spaces). `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const buyers = yield* getSpaceBuyers({ id: "1DXxyRYNejbKM" })
 * ```
 */
export const getSpaceBuyers = /*#__PURE__*/ Operation.makePaged({
  name: "getSpaceBuyers",
  summary: "Lists the users who bought a ticket for a space.",
  route: "GET /2/spaces/:id/buyers",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.segment) },
  query: { ...Selectors.allOfUsers, ...hundred },
  result: /*#__PURE__*/ Response.many(User),
  bearer: "user",
  scopes: ["post.read", "space.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "user" },
  ...pages
})

/**
 * Lists the posts shared in a space. Credential: bearer token (spec: Spaces). `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const posts = yield* getSpacePosts({ id: "1DXxyRYNejbKM", post_fields: ["created_at"] })
 * ```
 */
export const getSpacePosts = /*#__PURE__*/ Operation.makePaged({
  name: "getSpacePosts",
  summary: "Lists the posts shared in a space.",
  route: "GET /2/spaces/:id/posts",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.segment) },
  query: { ...Selectors.all, ...hundred },
  result: /*#__PURE__*/ Response.many(Post),
  scopes: ["post.read", "space.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "post" },
  ...pages
})
