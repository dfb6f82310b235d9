import * as ConversationId from "@postwire/core/schema/ConversationId"
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as MediaFiles from "../media/MediaFiles.ts"
import { listed } from "../projection/Reply.ts"
import type { DmEventType } from "../store/Messages.ts"
import * as Attached from "./Attached.ts"
import * as Caller from "./Caller.ts"
import { type Call, type Handlers } from "./Handler.ts"

/** How long events can be listed, in milliseconds. */
const retention = 30 * 86_400_000

const notReceiving = Problem.forbidden("You cannot send messages to this user.")

const notInConversation = Problem.forbidden("You are not a participant of this conversation.")

export const handlers = {
  getDirectMessageEvents: Effect.fnUntraced(function*({ caller, now, page, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { dm_conversation_id, event_types, participant_id } = parameters
    const conversationId = participant_id === undefined
      ? dm_conversation_id
      : ConversationId.ofUsers(userId, participant_id)
    if (conversationId !== undefined) {
      const conversation = store.messages.conversation(conversationId)
      if (conversation === undefined) return { meta: { result_count: 0 } }
      if (!conversation.participantIds.includes(userId)) return yield* notInConversation
    }
    const events = store.messages.events({
      ...(conversationId === undefined ? { userId } : { conversationId }),
      types: event_types as ReadonlyArray<DmEventType> | undefined,
      from: now - retention,
      ...page
    })
    const newest = events.items[0]
    // The service returns a token for newer events even on the first page, so that clients can poll.
    return listed(
      newest === undefined ? events : {
        ...events,
        previous: events.previous ?? { direction: "newer", key: newest.id }
      }
    )
  }),

  createDirectMessage: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { now, parameters: { dm_conversation_id, media_id, participant_id, text }, store } = call
    const mediaKey = yield* attachmentOf(call, userId)
    if (participant_id !== undefined) yield* checkRecipient(call, userId, participant_id, "participant_id")
    else {
      const conversation = store.messages.conversation(dm_conversation_id ?? "")
      if (conversation === undefined || !conversation.participantIds.includes(userId)) return yield* notInConversation
      if (conversation.type === "OneToOne") {
        const [other = ""] = conversation.participantIds.filter((id) => id !== userId)
        if (isBlocked(call, userId, other)) return yield* notReceiving
      }
    }
    return {
      data: store.transaction(() => {
        if (media_id !== undefined) store.uploads.use([media_id])
        const conversationId = participant_id === undefined
          ? dm_conversation_id as string
          : store.messages.open(userId, participant_id)
        const id = store.messages.insert({ conversationId, senderId: userId, createdAt: now, text, mediaKey })
        return { dm_conversation_id: conversationId, dm_event_id: id }
      })
    }
  }),

  createDirectMessageConversation: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { now, parameters: { media_id, participant_ids, text }, store } = call
    const mediaKey = yield* attachmentOf(call, userId)
    const participantIds = [...new Set(participant_ids)]
    for (const id of participantIds) yield* checkRecipient(call, userId, id, "participant_ids")
    return {
      data: store.transaction(() => {
        if (media_id !== undefined) store.uploads.use([media_id])
        const conversationId = store.messages.openGroup({ creatorId: userId, participantIds, createdAt: now })
        const id = store.messages.insert({ conversationId, senderId: userId, createdAt: now, text, mediaKey })
        return { dm_conversation_id: conversationId, dm_event_id: id }
      })
    }
  }),

  getDirectMessageEvent: Effect.fnUntraced(function*({ caller, parameters: { event_id: id }, store }) {
    const { userId } = yield* Caller.user(caller)
    const event = store.messages.byId(id)
    const named = { kind: "dm_event", id, parameter: "event_id" }
    if (event === undefined) return { errors: [Problem.notFound(named)] }
    const conversation = store.messages.conversation(event.dm_conversation_id)
    return conversation?.participantIds.includes(userId) === true
      ? { data: event }
      : { errors: [Problem.notAuthorized(named)] }
  }),

  deleteDirectMessageEvent: Effect.fnUntraced(function*({ caller, parameters: { event_id: id }, store }) {
    const { userId } = yield* Caller.user(caller)
    const event = store.messages.byId(id)
    if (event === undefined) {
      return yield* Problem.missing(Problem.notFound({ kind: "dm_event", id, parameter: "event_id" }))
    }
    if (event.event_type !== "MessageCreate" || event.sender_id !== userId) {
      return yield* Problem.forbidden("You are not permitted to delete this event.")
    }
    return { data: { deleted: store.messages.delete(id) } }
  }),

  downloadDirectMessageMedia: Effect.fnUntraced(function*({ caller, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { dm_id, media_id, resource_id } = parameters
    const event = store.messages.byId(dm_id)
    const [key = ""] = store.attachments.mediaKeys([media_id])
    const type = store.uploads.byId(media_id)?.media_type ?? ""
    const content = store.uploads.content(media_id)
    if (
      event?.attachments?.media_keys.includes(key) !== true || content.size === 0 ||
      MediaFiles.pathOf(key, type) !== `/media/${resource_id}`
    ) return yield* Problem.missing(Problem.notFound({ kind: "media", id: media_id, parameter: "media_id" }))
    const conversation = store.messages.conversation(event.dm_conversation_id)
    if (conversation?.participantIds.includes(userId) !== true) return yield* notInConversation
    return { file: { type: "application/octet-stream", content } }
  }),

  blockDirectMessages: (call) => setBlocked(call, true),

  unblockDirectMessages: (call) => setBlocked(call, false)
} satisfies Partial<Handlers>

const setBlocked = Effect.fnUntraced(function*(
  { caller, parameters: { id }, store }: Call<{ readonly id: string }>,
  blocked: boolean
) {
  const { userId } = yield* Caller.user(caller)
  if (store.users.byId(id) === undefined) {
    return yield* Problem.missing(Problem.notFound({ kind: "user", id, parameter: "id" }))
  }
  if (id === userId) return yield* Problem.invalidRequest("You cannot do this to yourself.", { id })
  return { data: { blocked: store.dmBlocks.set(userId, id, blocked) } }
})

const attachmentOf = (call: Call<{ readonly media_id?: string }>, userId: string) => {
  const { media_id } = call.parameters
  return media_id === undefined
    ? Effect.undefined
    : Effect.map(
      Attached.keysOf(call, { ids: [media_id], parameter: "media_id", purpose: "directMessage", userId }),
      ([key]) => key
    )
}

const checkRecipient = Effect.fnUntraced(function*(
  call: Call<unknown>,
  senderId: string,
  id: string,
  parameter: string
) {
  const recipient = call.store.users.byId(id)
  if (recipient === undefined || id === senderId) {
    return yield* Problem.invalidRequest(`There is no such participant [${id}].`, { [parameter]: id })
  }
  // Users who accept no messages from strangers accept them from accounts that they follow.
  const receives = recipient.receives_your_dm || call.store.follows.state(id, senderId) === "following"
  if (!receives || isBlocked(call, senderId, id)) return yield* notReceiving
})

/** True if a block prevents messages. A user who blocks only messages may still send them. */
const isBlocked = ({ store: { blocks, dmBlocks } }: Call<unknown>, senderId: string, recipientId: string): boolean =>
  blocks.has(senderId, recipientId) || blocks.has(recipientId, senderId) || dmBlocks.has(recipientId, senderId)
