/** Likes (spec: Likes). */
import * as Schema from "effect/Schema"
import * as Operation from "../Operation.ts"
import * as Parameters from "../Parameters.ts"
import * as Response from "../Response.ts"

const liked = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ liked: Schema.Boolean }))

/**
 * Likes a post for the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`,
 * which first looks the user's id up, once (spec: Likes). Needs write permission.
 *
 * ```ts
 * yield* like({ post_id: "1460323737035677698" })
 * ```
 */
export const like = /*#__PURE__*/ Operation.make({
  name: "like",
  summary: "Likes a post.",
  route: "POST /2/users/:id/likes",
  identity: "id",
  body: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: liked,
  userAuth: true,
  effect: "toggle"
})

/**
 * Takes the like of a post back; succeeds with no action when it is not liked. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`, which first looks the user's id up, once (spec: Likes). Needs write permission.
 *
 * ```ts
 * yield* unlike({ post_id: "1460323737035677698" })
 * ```
 */
export const unlike = /*#__PURE__*/ Operation.make({
  name: "unlike",
  summary: "Takes the like of a post back.",
  route: "DELETE /2/users/:id/likes/:post_id",
  identity: "id",
  path: { post_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: liked,
  userAuth: true,
  effect: "toggle"
})
