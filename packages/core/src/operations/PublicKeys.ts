/** Public keys of users for encrypted chat. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { PublicKey } from "../schema/models/Chat.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const text = /*#__PURE__*/ Parameters.text()

/**
 * Lists the public keys of up to 100 users. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * A record does not name its user: with several, use `getUserPublicKeys`.
 *
 * ```ts
 * const keys = yield* getPublicKeys({ ids: ["2244994945"], public_key_fields: ["public_key"] })
 * ```
 */
export const getPublicKeys = /*#__PURE__*/ Operation.make({
  name: "getPublicKeys",
  summary: "Lists the public keys of up to 100 users.",
  route: "GET /2/users/public_keys",
  query: { ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.ids(100)), ...Selectors.publicKey },
  result: /*#__PURE__*/ Response.many(PublicKey),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: {},
  price: "unknown",
  effect: "read"
})

/**
 * Lists the public keys of a user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * The service writes keys in a longer form than the chat's library: compare their ends. `juicebox_config` is in one's own
 * records only.
 *
 * ```ts
 * const keys = yield* getUserPublicKeys({ id: "2244994945", public_key_fields: ["public_key", "signing_public_key"] })
 * ```
 */
export const getUserPublicKeys = /*#__PURE__*/ Operation.make({
  name: "getUserPublicKeys",
  summary: "Lists the public keys of a user.",
  route: "GET /2/users/:id/public_keys",
  path,
  query: Selectors.publicKey,
  result: /*#__PURE__*/ Response.many(PublicKey),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: {},
  price: "unknown",
  effect: "read"
})

/**
 * Registers public keys of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 * Needs write permission.
 *
 * Save the private keys before the call: no operation returns them. `version` is the time in
 * milliseconds; with `generate_version` the service chooses it. A create is never sent twice: when its answer does not come it
 * fails with `OutcomeUnknown`.
 *
 * ```ts
 * const registered = yield* addPublicKey({
 *   version: "1780000000000",
 *   public_key: "BAQx",
 *   signing_public_key: "BAQy",
 *   identity_public_key_signature: "MEUC",
 *   signing_public_key_signature: "MEUD"
 * })
 * ```
 */
export const addPublicKey = /*#__PURE__*/ Operation.make({
  name: "addPublicKey",
  summary: "Registers public keys of the authenticated user.",
  route: "POST /2/users/:id/public_keys",
  identity: "id",
  body: {
    version: /*#__PURE__*/ Parameters.required(text),
    generate_version: Parameters.boolean,
    public_key: /*#__PURE__*/ Parameters.required(Parameters.base64),
    signing_public_key: Parameters.base64,
    identity_public_key_signature: Parameters.base64,
    signing_public_key_signature: Parameters.base64,
    public_key_fingerprint: text,
    registration_method: text
  },
  at: {
    public_key: "public_key.public_key",
    signing_public_key: "public_key.signing_public_key",
    identity_public_key_signature: "public_key.identity_public_key_signature",
    signing_public_key_signature: "public_key.signing_public_key_signature",
    public_key_fingerprint: "public_key.public_key_fingerprint",
    registration_method: "public_key.registration_method"
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({
      public_key_version: /*#__PURE__*/ Schema.optionalKey(Schema.String),
      juicebox_config: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Record(Schema.String, Model.Json))
    })
  ),
  userAuth: true,
  scopes: ["dm.write", "post.read", "users.read"],
  limits: {},
  price: "unknown",
  effect: "create",
  status: 200,
  confirmWith: "getUserPublicKeys"
})
