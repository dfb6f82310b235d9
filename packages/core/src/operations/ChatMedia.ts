/** Files of encrypted chat. They are encrypted before they are uploaded, and decrypted after they are downloaded. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import type { Own } from "./internal/families.ts"

const path = { id: /*#__PURE__*/ Parameters.required(Parameters.id) }

const conversation_id = /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text())

const media_hash_key = /*#__PURE__*/ Parameters.required(Parameters.segment)

const step = <const D extends Own<"userAuth" | "scopes" | "limits" | "price" | "effect">>(own: D) =>
  Operation.make({
    ...own,
    userAuth: true,
    scopes: ["media.write"],
    limits: {},
    price: "unknown",
    effect: "toggle"
  })

/**
 * Begins the upload of an encrypted file. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * `total_bytes` counts the encrypted bytes. `media_hash_key` of the response names the file in the message that shows it.
 *
 * ```ts
 * const begun = yield* initializeChatMediaUpload({ conversation_id: "g1580705921830768647", total_bytes: 3 })
 * ```
 */
export const initializeChatMediaUpload = /*#__PURE__*/ step({
  name: "initializeChatMediaUpload",
  summary: "Begins the upload of an encrypted file.",
  route: "POST /2/chat/media/upload/initialize",
  body: {
    conversation_id,
    total_bytes: /*#__PURE__*/ Parameters.required(
      /*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 17_179_869_184 })
    )
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({
      conversation_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
      media_hash_key: Schema.String,
      session_id: Schema.String
    })
  )
})

/**
 * Sends one segment of an encrypted file. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * `id` is the `session_id` of the upload, and `segment_index` counts from 0 to 999. Repeating a segment replaces it.
 *
 * ```ts
 * yield* appendChatMediaUpload({
 *   id: "1880028106020515840",
 *   conversation_id: "g1580705921830768647",
 *   media_hash_key: "AbCdEf123",
 *   segment_index: 0,
 *   media: Uint8Array.of(0x9f, 0x01, 0x7c)
 * })
 * ```
 */
export const appendChatMediaUpload = /*#__PURE__*/ step({
  name: "appendChatMediaUpload",
  summary: "Sends one segment of an encrypted file.",
  route: "POST /2/chat/media/upload/:id/append",
  encoding: "multipart",
  path,
  body: {
    conversation_id,
    media_hash_key,
    segment_index: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 999 })),
    media: /*#__PURE__*/ Parameters.required(Parameters.bytes)
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ expires_at: /*#__PURE__*/ Schema.optionalKey(Schema.Int) })
  )
})

/**
 * Ends the upload of an encrypted file. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * `num_parts` is the number of segments; `message_id` and `ttl_msec` are those of the message that shows the file.
 *
 * ```ts
 * yield* finalizeChatMediaUpload({
 *   id: "1880028106020515840",
 *   conversation_id: "g1580705921830768647",
 *   media_hash_key: "AbCdEf123",
 *   num_parts: 1
 * })
 * ```
 */
export const finalizeChatMediaUpload = /*#__PURE__*/ step({
  name: "finalizeChatMediaUpload",
  summary: "Ends the upload of an encrypted file.",
  route: "POST /2/chat/media/upload/:id/finalize",
  path,
  body: {
    conversation_id,
    media_hash_key,
    num_parts: /*#__PURE__*/ Parameters.required(Parameters.digits),
    message_id: /*#__PURE__*/ Parameters.text(),
    ttl_msec: Parameters.digits
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ success: Schema.Boolean }))
})

/**
 * Fetches an encrypted file of a conversation, as bytes. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`.
 *
 * It is decrypted with the key of the conversation at the time of its message, which may not be the latest. `maxBodySize` of the
 * client, 64 MiB by default, is the longest that comes.
 *
 * ```ts
 * const { data } = yield* downloadChatMedia({ id: "g1580705921830768647", media_hash_key: "AbCdEf123" })
 * ```
 */
export const downloadChatMedia = /*#__PURE__*/ Operation.make({
  name: "downloadChatMedia",
  summary: "Fetches an encrypted file.",
  route: "GET /2/chat/media/:id/:media_hash_key",
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.chatConversation), media_hash_key },
  result: Response.bytes,
  userAuth: true,
  scopes: ["media.write"],
  limits: {},
  price: "unknown",
  effect: "read"
})
