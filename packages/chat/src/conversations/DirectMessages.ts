/** Direct messages from before a chat was encrypted, in one timeline with its items. */
import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationId } from "./ConversationId.ts"
import type { DirectMessage, Item, TimelineItem } from "./Message.ts"

/** The newest direct messages of the two users of a conversation; none of a group, which begins encrypted. */
export const of = ({ id, peer }: ConversationId, limit: number) =>
  peer === undefined ? Effect.succeed([]) : Stream.runCollect(Stream.map(
    getDirectMessageEvents.items({
      participant_id: peer,
      event_types: ["MessageCreate"],
      dm_event_fields: ["created_at", "sender_id"],
      max_results: Math.min(100, limit)
    }, { limit }),
    ({ created_at, id: sequenceId, sender_id: senderId = "", text = "" }): DirectMessage => ({
      kind: "direct message",
      sequenceId,
      conversation: id,
      senderId,
      createdAt: new Date(created_at),
      text
    })
  ))

/** Items and direct messages by time. Items keep their order: one without a time has that of the item before it. */
export const merged = (
  items: ReadonlyArray<Item>,
  messages: ReadonlyArray<DirectMessage>
): ReadonlyArray<TimelineItem> => {
  let last = 0
  return [...items, ...messages.toSorted((a, b) => timeOf(a) - timeOf(b))]
    .map((item) => ({
      item,
      at: item.kind === "direct message" ? timeOf(item) : (last = Math.max(last, timeOf(item)))
    }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

const timeOf = ({ createdAt }: TimelineItem): number => createdAt?.getTime() ?? 0
