/** Direct messages (spec: Direct messages). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { DirectMessageEvent } from "../schema/models/DirectMessageEvent.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { hundred, pages } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const sent = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Schema.Struct({ dm_conversation_id: Schema.String, dm_event_id: Schema.String })
)

/**
 * Lists direct message events, newest first: of a conversation (`dm_conversation_id`), of the conversation with a user
 * (`participant_id`), or all of the previous 30 days. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false` (spec: Direct messages). `max_results` is 1 to 100 (default 100).
 *
 * ```ts
 * const events = getDirectMessageEvents.items({ participant_id: "2244994945", dm_event_fields: ["created_at"] })
 * ```
 */
export const getDirectMessageEvents = /*#__PURE__*/ Operation.makePaged({
  name: "getDirectMessageEvents",
  summary: "Lists direct message events.",
  route: {
    dm_conversation_id: "GET /2/dm_conversations/:dm_conversation_id/dm_events",
    participant_id: "GET /2/dm_conversations/with/:participant_id/dm_events",
    none: "GET /2/dm_events"
  },
  path: { dm_conversation_id: Parameters.segment, participant_id: Parameters.id },
  query: {
    ...Selectors.directMessageEvent,
    event_types: /*#__PURE__*/ Parameters.list(["MessageCreate", "ParticipantsJoin", "ParticipantsLeave"]),
    ...hundred
  },
  alternatives: /*#__PURE__*/ ParameterRule.atMostOne("dm_conversation_id", "participant_id"),
  result: /*#__PURE__*/ Response.many(DirectMessageEvent),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "dmEvent" },
  reach: { days: 30, unless: ["dm_conversation_id", "participant_id"] },
  ...pages
})

/**
 * Sends a direct message: into a conversation (`dm_conversation_id`) or to one user (`participant_id`). Credential:
 * OAuth 1.0a, or a user's bearer token with `user_auth: false` (spec: Direct messages). Needs write permission.
 *
 * One of `text` (1 to 10,000 characters) and `media_id` is required. A create is never sent twice: when its answer does
 * not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const sent = yield* createDirectMessage({ participant_id: "2244994945", text: "Hello" })
 * ```
 */
export const createDirectMessage = /*#__PURE__*/ Operation.make({
  name: "createDirectMessage",
  summary: "Sends a direct message.",
  route: {
    dm_conversation_id: "POST /2/dm_conversations/:dm_conversation_id/messages",
    participant_id: "POST /2/dm_conversations/with/:participant_id/messages"
  },
  path: { dm_conversation_id: Parameters.segment, participant_id: Parameters.id },
  body: { media_id: Parameters.id, text: /*#__PURE__*/ Parameters.text(10_000) },
  at: { media_id: "attachments.0.media_id" },
  alternatives: /*#__PURE__*/ ParameterRule.exactlyOne("dm_conversation_id", "participant_id"),
  rules: [/*#__PURE__*/ ParameterRule.atLeastOne("text", "media_id")],
  result: sent,
  userAuth: true,
  scopes: ["dm.write", "post.read", "users.read"],
  limits: { perWindow: 200 },
  price: { request: "dmInteractionCreate" },
  effect: "create",
  confirmWith: "getDirectMessageEvents"
})

/** The short name of `getDirectMessageEvents`. */
export const getDmEvents = getDirectMessageEvents

/** The short name of `createDirectMessage`. */
export const createDm = createDirectMessage

/**
 * Creates a group conversation and its first message. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false` (spec: Direct messages). Needs write permission.
 *
 * `participant_ids` are at most 50; one of `text` (1 to 10,000 characters) and `media_id` is required. A create is never
 * sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const group = yield* createDirectMessageConversation({ participant_ids: ["2244994945", "783214"], text: "Hello" })
 * ```
 */
export const createDirectMessageConversation = /*#__PURE__*/ Operation.make({
  name: "createDirectMessageConversation",
  summary: "Creates a group conversation and its first message.",
  route: "POST /2/dm_conversations",
  body: {
    participant_ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.idArray(50)),
    media_id: Parameters.id,
    text: /*#__PURE__*/ Parameters.text(10_000)
  },
  at: { media_id: "message.attachments.0.media_id", text: "message.text" },
  constants: { conversation_type: "Group" },
  rules: [/*#__PURE__*/ ParameterRule.atLeastOne("text", "media_id")],
  result: sent,
  userAuth: true,
  scopes: ["dm.write", "post.read", "users.read"],
  limits: { perWindow: 200 },
  price: { request: "dmInteractionCreate" },
  effect: "create",
  confirmWith: "getDirectMessageEvents"
})

/** The short name of `createDirectMessageConversation`. */
export const createDmConversation = createDirectMessageConversation

/**
 * Looks a direct message event up, of a conversation that the authenticated user takes part in. Credential: OAuth 1.0a, or
 * a user's bearer token with `user_auth: false`.
 *
 * ```ts
 * const event = yield* getDirectMessageEvent({ event_id: "1580705921830768647", dm_event_fields: ["created_at"] })
 * ```
 */
export const getDirectMessageEvent = /*#__PURE__*/ Operation.make({
  name: "getDirectMessageEvent",
  summary: "Looks a direct message event up.",
  route: "GET /2/dm_events/:event_id",
  path: { event_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  query: Selectors.directMessageEvent,
  result: /*#__PURE__*/ Response.one(DirectMessageEvent),
  userAuth: true,
  scopes: ["dm.read", "post.read", "users.read"],
  limits: { user: { perWindow: 15 } },
  price: { read: "dmEvent" },
  effect: "read"
})

/**
 * Deletes a direct message that the authenticated user has sent. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteDirectMessageEvent({ event_id: "1580705921830768647" })
 * ```
 */
export const deleteDirectMessageEvent = /*#__PURE__*/ Operation.make({
  name: "deleteDirectMessageEvent",
  summary: "Deletes a direct message of one's own.",
  route: "DELETE /2/dm_events/:event_id",
  path: { event_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  userAuth: true,
  scopes: ["dm.read", "dm.write"],
  limits: { app: { perDay: 4000 }, user: { perWindow: 300, perDay: 1500 } },
  price: { request: "interactionDelete" },
  effect: "toggle"
})

/**
 * Fetches a file of a direct message in a conversation that the authenticated user takes part in, as bytes. Credential: a user's
 * bearer token.
 *
 * The three ids are those in the address of the file: `resource_id` is its last part, the name of a file. `maxBodySize` of the
 * client, 64 MiB by default, is the longest that comes; a longer one is `UndecodableResponse`, and one that breaks off
 * `TransportFailure`. The raw form has the `content-type`.
 *
 * ```ts
 * const { data } = yield* downloadDirectMessageMedia({ dm_id: "1580705921830768647", media_id: "1880028106020515840", resource_id: "3_1880028106020515840.jpg" })
 * ```
 */
export const downloadDirectMessageMedia = /*#__PURE__*/ Operation.make({
  name: "downloadDirectMessageMedia",
  summary: "Fetches a file of a direct message.",
  route: "GET /2/dm_conversations/media/:dm_id/:media_id/:resource_id",
  path: {
    dm_id: /*#__PURE__*/ Parameters.required(Parameters.segment),
    media_id: /*#__PURE__*/ Parameters.required(Parameters.segment),
    resource_id: /*#__PURE__*/ Parameters.required(Parameters.fileName)
  },
  result: Response.bytes,
  bearer: "user",
  scopes: ["dm.read"],
  limits: {},
  price: "free",
  effect: "read"
})

const blocked = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ blocked: Schema.Boolean }))

const another = {
  path: { id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: blocked,
  userAuth: true,
  scopes: ["dm.write", "post.read", "users.read"],
  limits: { app: { perWindow: 25, perDay: 1000 }, user: { perWindow: 10, perDay: 400 } },
  price: { request: "privacyUpdate" },
  effect: "toggle"
} as const

/**
 * Blocks the direct messages of a user, and nothing else of them. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * `id` is the other user.
 *
 * ```ts
 * yield* blockDirectMessages({ id: "2244994945" })
 * ```
 */
export const blockDirectMessages = /*#__PURE__*/ Operation.make({
  name: "blockDirectMessages",
  summary: "Blocks the direct messages of a user.",
  route: "POST /2/users/:id/dm/block",
  ...another
})

/**
 * Ends the block of the direct messages of a user; succeeds with no action when there is none. Credential: OAuth 1.0a, or a
 * user's bearer token with `user_auth: false`. Needs write permission.
 *
 * `id` is the other user.
 *
 * ```ts
 * yield* unblockDirectMessages({ id: "2244994945" })
 * ```
 */
export const unblockDirectMessages = /*#__PURE__*/ Operation.make({
  name: "unblockDirectMessages",
  summary: "Ends the block of the direct messages of a user.",
  route: "POST /2/users/:id/dm/unblock",
  ...another
})
