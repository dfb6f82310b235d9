/** Hiding of replies (spec: Hide replies). */
import * as Schema from "effect/Schema"
import * as Response from "../schema/Response.ts"
import { path, toggle } from "./internal/families.ts"

const hidden = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ hidden: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean) })
)

/**
 * Hides a reply to a post of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false` (spec: Hide replies). Needs write permission.
 *
 * ```ts
 * yield* hideReply({ id: "1460323737035677698" })
 * ```
 */
export const hideReply = /*#__PURE__*/ toggle({
  name: "hideReply",
  summary: "Hides a reply.",
  route: "PUT /2/posts/:id/hidden",
  path,
  constants: { hidden: true },
  result: hidden,
  scopes: ["post.moderate.write", "post.read", "users.read"],
  price: { request: "contentManage" }
})

/**
 * Shows a hidden reply again. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false` (spec: Hide
 * replies). Needs write permission.
 *
 * ```ts
 * yield* unhideReply({ id: "1460323737035677698" })
 * ```
 */
export const unhideReply = /*#__PURE__*/ toggle({
  name: "unhideReply",
  summary: "Shows a hidden reply again.",
  route: "PUT /2/posts/:id/hidden",
  path,
  constants: { hidden: false },
  result: hidden,
  scopes: ["post.moderate.write", "post.read", "users.read"],
  price: { request: "contentManage" }
})
