/** Blocks (spec: Blocks, follows, mutes). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { pages, thousand, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const blocking = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ blocking: Schema.Boolean }))

/**
 * Blocks a user for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). Needs write permission.
 *
 * ```ts
 * yield* block({ target_user_id: "2244994945" })
 * ```
 */
export const block = /*#__PURE__*/ toggle({
  name: "block",
  summary: "Blocks a user.",
  route: "POST /2/users/:id/blocking",
  identity: "id",
  body: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: blocking,
  scopes: ["block.write", "post.read", "users.read"],
  price: { request: "privacyUpdate" },
  selfServe: "none"
})

/**
 * Ends the block of a user; succeeds with no action when there is none. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). Needs write permission.
 *
 * ```ts
 * yield* unblock({ target_user_id: "2244994945" })
 * ```
 */
export const unblock = /*#__PURE__*/ toggle({
  name: "unblock",
  summary: "Ends the block of a user.",
  route: "DELETE /2/users/:source_user_id/blocking/:target_user_id",
  identity: "source_user_id",
  path: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: blocking,
  scopes: ["block.write", "post.read", "users.read"],
  price: { request: "privacyUpdate" },
  selfServe: "none"
})

/**
 * Lists the users whom the authenticated user blocks. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). `max_results`
 * is 1 to 1000 (default 100).
 *
 * ```ts
 * const users = getBlocked.items({ max_results: 1000 })
 * ```
 */
export const getBlocked = /*#__PURE__*/ Operation.makePaged({
  name: "getBlocked",
  summary: "Lists the users whom the authenticated user blocks.",
  route: "GET /2/users/:id/blocking",
  identity: "id",
  query: { ...Selectors.user, ...thousand },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: true,
  scopes: ["block.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  price: { read: "block", owned: true },
  ...pages
})
