/** Encrypted chat. The service routes bytes that only the members of a conversation can read. */
import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** Bytes of the chat's cryptography as base64 text: encrypted, signed or a public key. Passed on unread. */
export const Ciphertext = /*#__PURE__*/ Schema.String.pipe(/*#__PURE__*/ Schema.brand("Ciphertext"))
/** Bytes of the chat's cryptography as base64 text. */
export type Ciphertext = typeof Ciphertext.Type

const json = /*#__PURE__*/ Schema.Record(Schema.String, Model.Json)
const ids = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(Schema.String))
const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)
const flag = /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
const ciphertext = /*#__PURE__*/ Schema.optionalKey(Ciphertext)

/** A conversation of encrypted messages. */
export const ChatConversation = /*#__PURE__*/ Model.make({
  kind: "chat_conversation",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    id: Schema.String,
    admin_ids: ids,
    created_at: text,
    /** Encrypted, like the name. */
    group_avatar_url: text,
    group_name: text,
    is_muted: flag,
    member_ids: ids,
    /** How long messages are kept, in milliseconds. */
    message_ttl_ms: /*#__PURE__*/ Schema.optionalKey(Schema.Int),
    participant_ids: ids,
    screen_capture_blocking_enabled: flag,
    screen_capture_detection_enabled: flag,
    type: text,
    updated_at: text
  },
  expansions: { admin_ids: "user", member_ids: "user", participant_ids: "user" }
})
/** A conversation of encrypted messages with every field selected. */
export interface ChatConversation extends Model.Type<typeof ChatConversation> {}

/** An event in a conversation: a message, an edit, or a change of its keys or members. Only `encoded_event` has its kind. */
export const ChatMessageEvent = /*#__PURE__*/ Model.make({
  kind: "chat_message_event",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    /** The sequence id, which the service assigns: no signature covers it. */
    id: Schema.String,
    /** With a colon between the ids of two users, unlike in paths. */
    conversation_id: text,
    conversation_token: text,
    created_at: text,
    encoded_event: ciphertext,
    is_trusted: flag,
    message_event_signature: /*#__PURE__*/ Schema.optionalKey(json),
    previous_id: text,
    sender_id: text
  }
})
/** An event in a conversation with every field selected. */
export interface ChatMessageEvent extends Model.Type<typeof ChatMessageEvent> {}

/** The public keys of a user: one to encrypt conversation keys with, one to verify signatures. */
export const PublicKey = /*#__PURE__*/ Model.make({
  kind: "public_key",
  identifier: "public_key_version",
  includes: undefined,
  defaults: ["public_key_version"],
  fields: {
    identity_public_key_signature: ciphertext,
    /** The places of the shares of the private keys; in one's own record only. */
    juicebox_config: /*#__PURE__*/ Schema.optionalKey(json),
    public_key: ciphertext,
    /** Milliseconds since 1970, as text: compare them as numbers. */
    public_key_version: text,
    signing_public_key: ciphertext
  }
})
/** The public keys of a user with every field selected. */
export interface PublicKey extends Model.Type<typeof PublicKey> {}

const base64 = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^[A-Za-z0-9+/=_-]+$/))
const version = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^[0-9]+$/))

/** The signature of a change of a conversation, as the chat's library prepares it. */
export const ActionSignature = /*#__PURE__*/ Schema.Struct({
  message_id: /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isMinLength(1)),
  encoded_message_event_detail: base64,
  message_event_signature: /*#__PURE__*/ Schema.Struct({
    signature: base64,
    signature_version: version,
    public_key_version: version,
    signing_public_key: text,
    message_signing_key_info_list: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Array(
        /*#__PURE__*/ Schema.Struct({ member_id: text, public_key_version: text, signing_public_key: text })
      )
    )
  }),
  signature_payload: text
})
/** The signature of a change of a conversation, as the chat's library prepares it. */
export interface ActionSignature extends Schema.Schema.Type<typeof ActionSignature> {}

/** The key of a conversation, encrypted for one of its members. */
export const ParticipantKey = /*#__PURE__*/ Schema.Struct({
  user_id: text,
  encrypted_conversation_key: text,
  public_key_version: text
})
/** The key of a conversation, encrypted for one of its members. */
export interface ParticipantKey extends Schema.Schema.Type<typeof ParticipantKey> {}
