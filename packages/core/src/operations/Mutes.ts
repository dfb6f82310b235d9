/** Mutes (spec: Blocks, follows, mutes). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { User } from "../schema/models/User.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { pages, thousand, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const muting = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ muting: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
)

/**
 * Mutes a user for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). Needs write permission.
 *
 * ```ts
 * yield* mute({ target_user_id: "2244994945" })
 * ```
 */
export const mute = /*#__PURE__*/ toggle({
  name: "mute",
  summary: "Mutes a user.",
  route: "POST /2/users/:id/muting",
  identity: "id",
  body: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: muting,
  scopes: ["mute.write", "post.read", "users.read"],
  price: { request: "privacyUpdate" }
})

/**
 * Ends the mute of a user; succeeds with no action when there is none. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). Needs write permission.
 *
 * ```ts
 * yield* unmute({ target_user_id: "2244994945" })
 * ```
 */
export const unmute = /*#__PURE__*/ toggle({
  name: "unmute",
  summary: "Ends the mute of a user.",
  route: "DELETE /2/users/:source_user_id/muting/:target_user_id",
  identity: "source_user_id",
  path: { target_user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: muting,
  scopes: ["mute.write", "post.read", "users.read"],
  price: { request: "muteDelete" }
})

/**
 * Lists the users whom the authenticated user mutes. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once (spec: Blocks, follows, mutes). `max_results`
 * is 1 to 1000 (default 100).
 *
 * ```ts
 * const users = getMuted.items({ max_results: 1000 })
 * ```
 */
export const getMuted = /*#__PURE__*/ Operation.makePaged({
  name: "getMuted",
  summary: "Lists the users whom the authenticated user mutes.",
  route: "GET /2/users/:id/muting",
  identity: "id",
  query: { ...Selectors.user, ...thousand },
  result: /*#__PURE__*/ Response.many(User),
  userAuth: true,
  scopes: ["mute.read", "post.read", "users.read"],
  limits: { perWindow: 15 },
  price: { read: "mute", owned: true },
  ...pages
})
