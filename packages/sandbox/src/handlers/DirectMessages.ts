import * as Effect from "effect/Effect"
import { type Handlers, listed } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import type { DmEventType } from "../store/Messages.ts"
import { oneToOneId } from "../store/Messages.ts"
import * as Caller from "./Caller.ts"

/** Events can be listed for so long, in milliseconds. */
const retention = 30 * 86_400_000

const notInConversation = Problem.forbidden("You are not a participant of this conversation.")

/** Direct messages. */
export const handlers: Pick<Handlers, "createDirectMessage" | "getDirectMessageEvents"> = {
  getDirectMessageEvents: Effect.fnUntraced(function*({ caller, cursor, now, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { dm_conversation_id, event_types, max_results: limit = 100, participant_id } = parameters
    const conversationId = participant_id === undefined ? dm_conversation_id : oneToOneId(userId, participant_id)
    if (conversationId !== undefined) {
      const conversation = store.messages.conversation(conversationId)
      if (conversation === undefined) return { meta: { result_count: 0 } }
      if (!conversation.participantIds.includes(userId)) return yield* notInConversation
    }
    const page = store.messages.events({
      ...(conversationId === undefined ? { userId } : { conversationId }),
      types: event_types as ReadonlyArray<DmEventType> | undefined,
      from: now - retention,
      limit,
      cursor
    })
    const newest = page.items[0]
    // The service gives a way to newer events even on the first page: that is how one waits for messages.
    return listed(
      newest === undefined ? page : {
        ...page,
        previous: page.previous ?? { direction: "newer", key: newest.id }
      }
    )
  }),

  createDirectMessage: Effect.fnUntraced(function*({ caller, now, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { dm_conversation_id, media_id, participant_id, text } = parameters
    const [mediaKey] = media_id === undefined ? [] : store.attachments.mediaKeys([media_id])
    if (media_id !== undefined && mediaKey === undefined) {
      return yield* Problem.invalidRequest("Your media IDs are invalid.", { media_id })
    }
    if (participant_id !== undefined) {
      const participant = store.users.byId(participant_id)
      if (participant === undefined || participant_id === userId) {
        return yield* Problem.invalidRequest(`There is no such participant [${participant_id}].`, { participant_id })
      }
      if (!participant.receives_your_dm) return yield* Problem.forbidden("You cannot send messages to this user.")
    } else {
      const conversation = store.messages.conversation(dm_conversation_id ?? "")
      if (conversation === undefined || !conversation.participantIds.includes(userId)) return yield* notInConversation
    }
    const sent = store.transaction(() => {
      const conversationId = participant_id === undefined
        ? dm_conversation_id as string
        : store.messages.open(userId, participant_id)
      const id = store.messages.insert({ conversationId, senderId: userId, createdAt: now, text, mediaKey })
      return { dm_conversation_id: conversationId, dm_event_id: id }
    })
    return { data: sent }
  })
}
