/** Encrypted chat. The service routes bytes that only the chat's library makes and reads; these operations pass them on. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import {
  ActionSignature,
  ChatConversation,
  ChatMessageEvent,
  Ciphertext,
  ParticipantKey
} from "../schema/models/Chat.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import type { Own } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const conversation = { id: /*#__PURE__*/ Parameters.required(Parameters.chatConversation) }

const page = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 10 }),
  pagination_token: Parameters.token
}

const signatures = /*#__PURE__*/ Parameters.structure(
  /*#__PURE__*/ Schema.Array(ActionSignature),
  "must be a list of signatures as the chat's library prepares them"
)

const participantKeys = /*#__PURE__*/ Parameters.structure(
  /*#__PURE__*/ Schema.Array(ParticipantKey),
  "must be a list of keys of the conversation, each with user_id, encrypted_conversation_key and public_key_version"
)

const text = /*#__PURE__*/ Parameters.text()

const success = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ success: Schema.Boolean }))

/** Declares a change of a conversation. */
const change = <const D extends Own<"userAuth" | "scopes" | "limits">>(own: D) =>
  Operation.make({ ...own, userAuth: true, scopes: ["dm.write", "post.read", "users.read"], limits: {} })

/**
 * Lists the conversations of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * `max_results` is 1 to 100 (default 10). Requests of strangers are not listed: `meta.has_message_requests` says whether there
 * are any, and a conversation with a user is read by their id.
 *
 * ```ts
 * const conversations = getChatConversations.items({ chat_conversation_fields: ["type", "updated_at"] })
 * ```
 */
export const getChatConversations = /*#__PURE__*/ Operation.makePaged({
  name: "getChatConversations",
  summary: "Lists conversations of encrypted chat.",
  route: "GET /2/chat/conversations",
  query: { ...Selectors.chatConversation, ...page },
  result: /*#__PURE__*/ Response.many(ChatConversation),
  userAuth: true,
  scopes: ["dm.read", "users.read"],
  limits: {},
  price: "unknown",
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})

/**
 * Looks a conversation of encrypted chat up. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * ```ts
 * const conversation = yield* getChatConversation({ id: "g1580705921830768647", expansions: ["member_ids"] })
 * ```
 */
export const getChatConversation = /*#__PURE__*/ Operation.make({
  name: "getChatConversation",
  summary: "Looks a conversation of encrypted chat up.",
  route: "GET /2/chat/conversations/:id",
  path: conversation,
  query: Selectors.chatConversation,
  result: /*#__PURE__*/ Response.one(ChatConversation),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: {},
  price: "unknown",
  effect: "read"
})

/**
 * Lists the events of a conversation, encrypted. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * `max_results` is 1 to 100 (default 10). Edits and deletions are events of their own. The keys that decrypt a page are in
 * `meta.conversation_key_events`.
 *
 * ```ts
 * const events = getChatConversationEvents.items({ id: "2244994945", chat_message_event_fields: ["encoded_event"] })
 * ```
 */
export const getChatConversationEvents = /*#__PURE__*/ Operation.makePaged({
  name: "getChatConversationEvents",
  summary: "Lists the events of a conversation, encrypted.",
  route: "GET /2/chat/conversations/:id/events",
  path: conversation,
  query: { ...Selectors.chatMessageEvent, ...page },
  result: /*#__PURE__*/ Response.many(ChatMessageEvent),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: {},
  price: "unknown",
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})

/**
 * Sends an encrypted message. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write permission.
 *
 * The chat's library encrypts and signs the message, and makes its `message_id`, which is part of what it signs. The same
 * message may therefore be sent twice: unlike other creates, it is retried after a lost answer, and fails with `OutcomeUnknown`
 * only when retries are exhausted. Repeat it with the same parameters, never with a message encrypted again.
 *
 * ```ts
 * const sent = yield* sendChatMessage({
 *   id: "2244994945",
 *   message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a51",
 *   encoded_message_create_event: "CwABAAAA",
 *   encoded_message_event_signature: "CwABAAAB"
 * })
 * ```
 */
export const sendChatMessage = /*#__PURE__*/ change({
  name: "sendChatMessage",
  summary: "Sends an encrypted message.",
  route: "POST /2/chat/conversations/:id/messages",
  path: conversation,
  body: {
    message_id: /*#__PURE__*/ Parameters.required(text),
    encoded_message_create_event: /*#__PURE__*/ Parameters.required(Parameters.base64),
    encoded_message_event_signature: Parameters.base64,
    conversation_token: text
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ encoded_message_event: /*#__PURE__*/ Schema.optionalKey(Ciphertext) })
  ),
  price: { request: "dmInteractionCreate" },
  effect: "create",
  key: "message_id",
  confirmWith: "getChatConversationEvents"
})

/**
 * Deletes messages of a conversation, for all members or for the authenticated user. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteChatMessages({
 *   id: "2244994945",
 *   sequence_ids: ["1580705921830768648"],
 *   delete_message_action: "delete_for_all",
 *   action_signatures: [{
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a52",
 *     encoded_message_event_detail: "CwABAAAA",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }]
 * })
 * ```
 */
export const deleteChatMessages = /*#__PURE__*/ change({
  name: "deleteChatMessages",
  summary: "Deletes messages of a conversation.",
  route: "POST /2/chat/conversations/:id/messages/delete",
  path: conversation,
  body: {
    sequence_ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.textArray()),
    delete_message_action: /*#__PURE__*/ Parameters.required(
      /*#__PURE__*/ Parameters.choice(["delete_for_all", "delete_for_self"])
    ),
    action_signatures: /*#__PURE__*/ Parameters.required(signatures),
    media_hash_keys: /*#__PURE__*/ Parameters.textArray()
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  price: "unknown",
  effect: "toggle"
})

/**
 * Marks a conversation as read up to an event. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs
 * write permission.
 *
 * ```ts
 * yield* markChatConversationRead({ id: "2244994945", seen_until_sequence_id: "1580705921830768648" })
 * ```
 */
export const markChatConversationRead = /*#__PURE__*/ change({
  name: "markChatConversationRead",
  summary: "Marks a conversation as read up to an event.",
  route: "POST /2/chat/conversations/:id/read",
  path: conversation,
  body: { seen_until_sequence_id: /*#__PURE__*/ Parameters.required(text) },
  result: success,
  price: "unknown",
  effect: "toggle"
})

/**
 * Shows the members of a conversation that the authenticated user is typing. Credential: OAuth 1.0a, or a user's bearer token
 * with `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* sendChatTyping({ id: "2244994945" })
 * ```
 */
export const sendChatTyping = /*#__PURE__*/ change({
  name: "sendChatTyping",
  summary: "Shows that the user is typing.",
  route: "POST /2/chat/conversations/:id/typing",
  path: conversation,
  result: success,
  price: "unknown",
  effect: "toggle"
})

/**
 * Reserves the id of a new group, which `createChatGroup` creates. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission. An id that is not used does no harm.
 *
 * ```ts
 * const { data } = yield* initializeChatGroup()
 * ```
 */
export const initializeChatGroup = /*#__PURE__*/ Operation.make({
  name: "initializeChatGroup",
  summary: "Reserves the id of a new group.",
  route: "POST /2/chat/conversations/group/initialize",
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ conversation_id: Schema.String })),
  userAuth: true,
  scopes: ["dm.write"],
  limits: {},
  price: "unknown",
  effect: "toggle"
})

/**
 * Creates a group. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write permission.
 *
 * `conversation_id` comes from `initializeChatGroup`. The chat's library prepares the keys and the two signatures; `group_name`
 * is byte for byte the one that it signed. A create is never sent twice: when its answer does not come it fails with
 * `OutcomeUnknown`.
 *
 * ```ts
 * const group = yield* createChatGroup({
 *   conversation_id: "g1580705921830768647",
 *   group_members: ["2244994945", "783214"],
 *   group_name: "RW5jcnlwdGVk",
 *   conversation_key_version: "1780000000000",
 *   conversation_participant_keys: [
 *     { user_id: "2244994945", encrypted_conversation_key: "S2V5", public_key_version: "1780000000000" }
 *   ],
 *   action_signatures: [{
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a53",
 *     encoded_message_event_detail: "CwABAAAA",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }, {
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a54",
 *     encoded_message_event_detail: "DAAEDAABDAABCwADAAAADFJXNWpjbmx3ZEdWawAAAAA=",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }]
 * })
 * ```
 */
export const createChatGroup = /*#__PURE__*/ change({
  name: "createChatGroup",
  summary: "Creates a group of encrypted chat.",
  route: "POST /2/chat/conversations/group",
  body: {
    conversation_id: /*#__PURE__*/ Parameters.required(text),
    group_members: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.idArray()),
    group_admins: /*#__PURE__*/ Parameters.idArray(),
    group_name: text,
    group_description: text,
    group_avatar_url: text,
    ttl_msec: Parameters.digits,
    conversation_key_version: /*#__PURE__*/ Parameters.required(text),
    conversation_participant_keys: /*#__PURE__*/ Parameters.required(participantKeys),
    base64_encoded_key_rotation: Parameters.base64,
    action_signatures: signatures
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({
      conversation_id: Schema.String,
      conversation_key_change_sequence_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
    })
  ),
  price: "unknown",
  effect: "create",
  confirmWith: "getChatConversations"
})

/**
 * Adds users to a group, with a new key of the conversation for everybody. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * The service does not document what it answers: its document shows a post, which it cannot be.
 *
 * ```ts
 * yield* addChatGroupMembers({
 *   id: "g1580705921830768647",
 *   user_ids: ["2244994945"],
 *   conversation_key_version: "1780000000001",
 *   conversation_participant_keys: [
 *     { user_id: "2244994945", encrypted_conversation_key: "S2V5", public_key_version: "1780000000000" }
 *   ],
 *   action_signatures: [{
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a55",
 *     encoded_message_event_detail: "CwABAAAA",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }, {
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a57",
 *     encoded_message_event_detail: "CwABAAAA",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }]
 * })
 * ```
 */
export const addChatGroupMembers = /*#__PURE__*/ change({
  name: "addChatGroupMembers",
  summary: "Adds users to a group of encrypted chat.",
  route: "POST /2/chat/conversations/:id/members",
  path: conversation,
  body: {
    user_ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.idArray()),
    conversation_key_version: text,
    conversation_participant_keys: participantKeys,
    encrypted_title: Parameters.base64,
    encrypted_avatar_url: Parameters.base64,
    action_signatures: signatures
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Record(Schema.String, Model.Json)),
  price: "unknown",
  effect: "toggle"
})

/**
 * Sends each member of a conversation its key, new or changed. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * A conversation begins with it. A create is never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const change = yield* addChatConversationKeys({
 *   id: "2244994945",
 *   conversation_key_version: "1780000000001",
 *   conversation_participant_keys: [
 *     { user_id: "2244994945", encrypted_conversation_key: "S2V5", public_key_version: "1780000000000" }
 *   ],
 *   action_signatures: [{
 *     message_id: "5b0a3f0e-2b0b-4b3e-9d6b-1d0f6b0c9a56",
 *     encoded_message_event_detail: "CwABAAAA",
 *     message_event_signature: { signature: "MEUCIQDx", signature_version: "4", public_key_version: "1780000000000" }
 *   }]
 * })
 * ```
 */
export const addChatConversationKeys = /*#__PURE__*/ change({
  name: "addChatConversationKeys",
  summary: "Sends each member of a conversation its key.",
  route: "POST /2/chat/conversations/:id/keys",
  path: conversation,
  body: {
    conversation_key_version: /*#__PURE__*/ Parameters.required(text),
    conversation_participant_keys: /*#__PURE__*/ Parameters.required(participantKeys),
    base64_encoded_key_rotation: Parameters.base64,
    action_signatures: signatures
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({
      conversation_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
      sequence_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
    })
  ),
  price: "unknown",
  effect: "create",
  status: 200,
  confirmWith: "getChatConversationEvents"
})
