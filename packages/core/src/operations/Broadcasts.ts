/** Broadcasts: the authenticated user's live videos, their plans and their chat. Times are in milliseconds since 1970. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { Broadcast, BroadcastChatMessage, Recurrence, ScheduledBroadcast } from "../schema/models/Broadcast.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import type { Own } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const path = { id: /*#__PURE__*/ Parameters.required(Parameters.segment) }

const text = /*#__PURE__*/ Parameters.text()

const forward = { token: "pagination_token", directions: "forward" } as const

type Shared = "userAuth" | "scopes" | "limits" | "price"

const read = <const D extends Own<Shared | "effect">>(own: D) =>
  Operation.make({
    ...own,
    userAuth: true,
    scopes: ["broadcast.read"],
    limits: {},
    price: "unknown",
    effect: "read"
  })

const change = <const D extends Own<Shared>>(own: D) =>
  Operation.make({
    ...own,
    userAuth: true,
    scopes: ["broadcast.read", "broadcast.write"],
    limits: {},
    price: "unknown"
  })

const schedule = {
  title: text,
  description: text,
  locale: text,
  chat_option: Parameters.digits,
  available_for_replay: Parameters.boolean,
  is_locked: Parameters.boolean,
  manual_publish: Parameters.boolean,
  thumbnail_media_id: Parameters.id,
  scheduled_start_ms: /*#__PURE__*/ Parameters.required(Parameters.digits),
  scheduled_end_ms: /*#__PURE__*/ Parameters.required(Parameters.digits)
}

const scheduled = /*#__PURE__*/ Response.value(ScheduledBroadcast)

const deleted = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean }))

const muted = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ muted: Schema.Boolean }))

/**
 * Lists the broadcasts of the authenticated user, or those of them with `ids`. Credential: OAuth 1.0a, or a user's bearer token
 * with `user_auth: false`. `ids` are up to 100, and `max_results` is 1 to 100.
 *
 * ```ts
 * const broadcasts = getBroadcasts.items({ broadcast_fields: ["title", "state", "start_ms"] })
 * ```
 */
export const getBroadcasts = /*#__PURE__*/ Operation.makePaged({
  name: "getBroadcasts",
  summary: "Lists the broadcasts of the authenticated user.",
  route: "GET /2/broadcasts",
  query: {
    ids: /*#__PURE__*/ Parameters.segments(100),
    ...Selectors.broadcast,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100 }),
    pagination_token: Parameters.token
  },
  rules: [
    /*#__PURE__*/ ParameterRule.excludes("max_results", "ids"),
    /*#__PURE__*/ ParameterRule.excludes("pagination_token", "ids")
  ],
  result: /*#__PURE__*/ Response.many(Broadcast),
  userAuth: true,
  scopes: ["broadcast.read"],
  limits: {},
  price: "unknown",
  paging: forward,
  effect: "read"
})

/**
 * Looks a broadcast of the authenticated user up. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * ```ts
 * const broadcast = yield* getBroadcast({ id: "1DXxyRYNejbKM", broadcast_fields: ["title", "total_watching"] })
 * ```
 */
export const getBroadcast = /*#__PURE__*/ read({
  name: "getBroadcast",
  summary: "Looks a broadcast up.",
  route: "GET /2/broadcasts/:id",
  path,
  query: Selectors.broadcast,
  result: /*#__PURE__*/ Response.one(Broadcast)
})

/**
 * Lists the planned broadcasts of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`.
 *
 * `max_results` is 1 to 100. `oldest_start_time` and `newest_start_time` bound the beginning of the broadcasts; their
 * format is not documented.
 *
 * ```ts
 * const schedules = getScheduledBroadcasts.items({ max_results: 20 })
 * ```
 */
export const getScheduledBroadcasts = /*#__PURE__*/ Operation.makePaged({
  name: "getScheduledBroadcasts",
  summary: "Lists the planned broadcasts of the authenticated user.",
  route: "GET /2/broadcasts/scheduled",
  query: {
    oldest_start_time: text,
    newest_start_time: text,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Array(ScheduledBroadcast)),
  userAuth: true,
  scopes: ["broadcast.read"],
  limits: {},
  price: "unknown",
  paging: forward,
  effect: "read"
})

/**
 * Looks a planned broadcast up. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * ```ts
 * const { data } = yield* getScheduledBroadcast({ id: "1DXxyRYNejbKM" })
 * ```
 */
export const getScheduledBroadcast = /*#__PURE__*/ read({
  name: "getScheduledBroadcast",
  summary: "Looks a planned broadcast up.",
  route: "GET /2/broadcasts/scheduled/:id",
  path,
  result: scheduled
})

/**
 * Plans a broadcast, or a series with `recurrence`. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 * Needs write permission.
 *
 * `source_id` is the stream key of a source, which is made in the service's own studio: no operation creates or lists sources.
 * With `manual_publish` the broadcast begins only with `goLiveScheduledBroadcast`. A create is never sent twice: when its answer
 * does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const planned = yield* createScheduledBroadcast({
 *   source_id: "ab12cd34ef",
 *   title: "Office hours",
 *   scheduled_start_ms: 1_795_600_000_000,
 *   scheduled_end_ms: 1_795_603_600_000,
 *   manual_publish: true
 * })
 * ```
 */
export const createScheduledBroadcast = /*#__PURE__*/ change({
  name: "createScheduledBroadcast",
  summary: "Plans a broadcast.",
  route: "POST /2/broadcasts/scheduled",
  body: {
    source_id: /*#__PURE__*/ Parameters.required(text),
    ...schedule,
    recurrence: /*#__PURE__*/ Parameters.structure(
      Recurrence,
      "must be an object with frequency (Daily or Weekly) and repeats, a whole number"
    ),
    telecast_id: Parameters.id
  },
  result: scheduled,
  effect: "create",
  confirmWith: "getScheduledBroadcasts"
})

/**
 * Replaces the plan of a broadcast. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * It replaces everything: a member that is absent here is gone from the plan, so pass all that should stay.
 * `scheduled_broadcast_id` is that of the plan, and `id` its `broadcast_id`. `roll_forward` applies the change to the following
 * broadcasts of a series.
 *
 * ```ts
 * const planned = yield* updateScheduledBroadcast({
 *   id: "1DXxyRYNejbKM",
 *   scheduled_broadcast_id: "1880028106020515842",
 *   title: "Office hours, an hour later",
 *   scheduled_start_ms: 1_795_603_600_000,
 *   scheduled_end_ms: 1_795_607_200_000
 * })
 * ```
 */
export const updateScheduledBroadcast = /*#__PURE__*/ change({
  name: "updateScheduledBroadcast",
  summary: "Replaces the plan of a broadcast.",
  route: "PUT /2/broadcasts/scheduled/:id",
  path,
  body: {
    scheduled_broadcast_id: /*#__PURE__*/ Parameters.required(Parameters.id),
    source_id: text,
    ...schedule,
    roll_forward: Parameters.boolean
  },
  result: scheduled,
  effect: "toggle"
})

/**
 * Deletes the plan of a broadcast, with `roll_forward` also those that follow in its series. Credential: OAuth 1.0a, or a user's
 * bearer token with `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteScheduledBroadcast({ id: "1DXxyRYNejbKM" })
 * ```
 */
export const deleteScheduledBroadcast = /*#__PURE__*/ change({
  name: "deleteScheduledBroadcast",
  summary: "Deletes the plan of a broadcast.",
  route: "DELETE /2/broadcasts/scheduled/:id",
  path,
  query: { roll_forward: Parameters.boolean },
  result: deleted,
  effect: "toggle"
})

/**
 * Begins a planned broadcast that has `manual_publish`. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * const { data } = yield* goLiveScheduledBroadcast({ id: "1DXxyRYNejbKM" })
 * ```
 */
export const goLiveScheduledBroadcast = /*#__PURE__*/ change({
  name: "goLiveScheduledBroadcast",
  summary: "Begins a planned broadcast.",
  route: "POST /2/broadcasts/scheduled/:id/live",
  path,
  result: scheduled,
  effect: "toggle"
})

/**
 * Lists the chat of a broadcast of the authenticated user, newest first. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. `max_results` is 1 to 200 (default 100).
 *
 * ```ts
 * const messages = getBroadcastChat.items({ id: "1DXxyRYNejbKM", broadcast_chat_message_fields: ["text"] })
 * ```
 */
export const getBroadcastChat = /*#__PURE__*/ Operation.makePaged({
  name: "getBroadcastChat",
  summary: "Lists the chat of a broadcast.",
  route: "GET /2/broadcasts/:id/chat",
  path,
  query: {
    ...Selectors.broadcastChatMessage,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 200, default: 100 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(BroadcastChatMessage),
  userAuth: true,
  scopes: ["broadcast.read"],
  limits: {},
  price: "unknown",
  paging: forward,
  effect: "read"
})

/**
 * Writes in the chat of a running broadcast. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs
 * write permission.
 *
 * `text` has 1 to 140 characters. A create is never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * yield* sendBroadcastChat({ id: "1DXxyRYNejbKM", text: "Welcome" })
 * ```
 */
export const sendBroadcastChat = /*#__PURE__*/ change({
  name: "sendBroadcastChat",
  summary: "Writes in the chat of a broadcast.",
  route: "POST /2/broadcasts/:id/chat",
  path,
  body: {
    text: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(140)),
    reply_to: Parameters.id
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ success: Schema.Boolean, timestamp: /*#__PURE__*/ Schema.optionalKey(Schema.String) })
  ),
  effect: "create",
  status: 200,
  confirmWith: "getBroadcastChat"
})

/**
 * Deletes a message from the chat of a broadcast of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token
 * with `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteBroadcastChatMessage({ id: "1DXxyRYNejbKM", message_id: "1880028106020515843" })
 * ```
 */
export const deleteBroadcastChatMessage = /*#__PURE__*/ change({
  name: "deleteBroadcastChatMessage",
  summary: "Deletes a message from the chat of a broadcast.",
  route: "DELETE /2/broadcasts/:id/chat/:message_id",
  path: { ...path, message_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: deleted,
  effect: "toggle"
})

/**
 * Mutes a user in the chat of a broadcast of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * The mute lasts until `end_at_ms`. `message_id` is the message that is the reason.
 *
 * ```ts
 * yield* muteBroadcastChatUser({ id: "1DXxyRYNejbKM", user_id: "2244994945" })
 * ```
 */
export const muteBroadcastChatUser = /*#__PURE__*/ change({
  name: "muteBroadcastChatUser",
  summary: "Mutes a user in the chat of a broadcast.",
  route: "POST /2/broadcasts/:id/chat/mutes",
  path,
  body: {
    user_id: /*#__PURE__*/ Parameters.required(Parameters.id),
    message_id: Parameters.id,
    end_at_ms: Parameters.digits
  },
  result: muted,
  effect: "toggle"
})

/**
 * Ends the mute of a user in the chat of a broadcast. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* unmuteBroadcastChatUser({ id: "1DXxyRYNejbKM", user_id: "2244994945" })
 * ```
 */
export const unmuteBroadcastChatUser = /*#__PURE__*/ change({
  name: "unmuteBroadcastChatUser",
  summary: "Ends the mute of a user in the chat of a broadcast.",
  route: "DELETE /2/broadcasts/:id/chat/mutes/:user_id",
  path: { ...path, user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: muted,
  effect: "toggle"
})
