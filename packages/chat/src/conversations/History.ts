/** The history of a conversation: verified messages with their edits and deletions, and what cannot be shown. */
import type { Client } from "@postwire/core/client/Client"
import type { Event, SigningKeyEntry } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import type { ConversationKey } from "../keys/ChatStore.ts"
import type { Library } from "../library/Library.ts"
import type { ConversationId } from "./ConversationId.ts"
import * as ConversationKeys from "./ConversationKeys.ts"
import * as DirectMessages from "./DirectMessages.ts"
import type { ChatMedia, Edit, Item, Message, TimelineItem, Tombstone } from "./Message.ts"
import * as Recent from "./Recent.ts"

/** The newest items of a conversation, the oldest first. */
export const read = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  limit: number,
  withDirectMessages: boolean
): Effect.fn.Return<ReadonlyArray<TimelineItem>, ConversationKeys.UseError, Client> {
  const { members } = yield* ConversationKeys.membersOf(opened, conversation)
  const { changes, rows } = yield* ConversationKeys.eventsOf(conversation, limit, () => false)
  const items = yield* verified(opened, conversation, rows, changes, members)
  return withDirectMessages
    ? DirectMessages.merged(items, yield* DirectMessages.of(conversation, limit)).slice(-limit)
    : items
})

/** The items of events, with the keys that changes give. */
export const verified = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  rows: ReadonlyArray<ConversationKeys.Row>,
  changes: ReadonlyArray<string>,
  members: ReadonlyArray<string>
) {
  // Former members of a group have signed its older messages. A conversation of two has two signers.
  const others = conversation.peer === undefined ? rows.flatMap(({ senderId }) => senderId ?? []) : []
  const senders = new Set([...members, ...others])
  const attempt = Effect.gen(function*() {
    const signers = yield* opened.publicKeys.signers(senders)
    const harvest = yield* ConversationKeys.harvest(
      opened,
      conversation,
      ConversationKeys.eventsIn(rows, changes),
      signers
    )
    return itemsOf(opened, conversation, rows, harvest, signers)
  })
  const { items, unreadable } = yield* attempt
  if (unreadable.filter(opened.isNewlyUnreadable).length === 0) return items
  // A sender may have new keys.
  opened.publicKeys.forget(senders)
  return (yield* attempt).items
})

/** The items that events amount to, in the order of the service, and the events that cannot be read. */
const itemsOf = (
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  rows: ReadonlyArray<ConversationKeys.Row>,
  { changes, keys }: { readonly changes: ReadonlyMap<string, string>; readonly keys: ReadonlyArray<ConversationKey> },
  signers: Array<SigningKeyEntry>
) => {
  const items: Array<Item> = []
  const deletions: Array<Event> = []
  const unreadable: Array<string> = []
  const isNew = Recent.make()
  const libraryKeys = ConversationKeys.forLibrary(keys)
  for (const row of rows.toSorted((a, b) => compare(a.sequenceId, b.sequenceId))) {
    const { event, reason } = readingOf(opened.library, conversation, row.event, libraryKeys, signers)
    const { createdAtMsec, id, senderId = row.senderId, sequenceId = row.sequenceId, type } = event
    const createdAt = dateOf(createdAtMsec ?? row.createdAt)
    const bury = (reason: Tombstone["reason"]) =>
      items.push({ kind: "tombstone", sequenceId, conversation: conversation.id, senderId, createdAt, reason })
    if (reason === "unknown") bury(reason)
    else if (reason !== undefined) {
      // Other events, such as changes of keys for others, are no messages.
      if (type !== "message") continue
      unreadable.push(row.event)
      bury(senderId !== undefined && opened.publicKeys.isChanged(senderId) ? "changed keys" : reason)
    } else if (type === "messageDeleted") deletions.push(event)
    // The id is signed: the service, or a retry, may have served the same message twice.
    else if (type === "message" && isNew(`${senderId} ${id}`)) items.push(...itemOf(event, row, createdAt, changes))
  }
  return { items: settled(opened.userId, items, deletions), unreadable }
}

/** An event, and the reason why it cannot be shown. */
const readingOf = (
  library: Library,
  { id }: ConversationId,
  encoded: string,
  keys: Record<string, Uint8Array>,
  signers: Array<SigningKeyEntry>
): { readonly event: Event; readonly reason?: "unverified" | "no key" | "unknown" } => {
  try {
    const event = library.decryptEvent(encoded, keys, signers)
    if (event.type === "unknown") return { event: { type: "unknown" }, reason: "unknown" }
    // The service may serve a signed message of another conversation.
    return event.verified === true && event.conversationId === id ? { event } : { event, reason: "unverified" }
  } catch (error) {
    const event = ConversationKeys.statedOf(library, encoded, keys)
    return { event, reason: /no matching key/i.test(String(error)) ? "no key" : "unverified" }
  }
}

const compare = (a = "", b = ""): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)

const dateOf = (time: string | number | undefined): Date | undefined => {
  const date = new Date(time ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/**
 * Items after their edits and deletions. An edit counts only if it has the sender of its message; so does a deletion for everybody.
 * This user alone can delete a message for this user.
 */
const settled = (userId: string, items: ReadonlyArray<Item>, deletions: ReadonlyArray<Event>): ReadonlyArray<Item> => {
  const isDeleted = (message: Message | Edit) =>
    deletions.some(({ deleteForAll, messageIds, senderId }) =>
      Array.isArray(messageIds) && messageIds.map(String).includes(message.sequenceId) &&
      senderId === (deleteForAll === true ? message.senderId : userId)
    )
  const edits = new Map<string, Edit>()
  const present = new Set<string | undefined>()
  const keyOf = ({ senderId, sequenceId }: Message | Edit) => `${senderId} ${sequenceId}`
  for (const item of items) {
    if (item.kind === "edit") edits.set(keyOf(item), item)
    else present.add(item.sequenceId)
  }
  return items.flatMap((item): ReadonlyArray<Item> => {
    if (item.kind === "tombstone") return [item]
    const edit = edits.get(keyOf(item))
    if (item.kind === "edit") return edit !== item || present.has(item.sequenceId) || isDeleted(item) ? [] : [item]
    if (!isDeleted(item)) return [edit === undefined ? item : { ...item, text: edit.text, edited: true }]
    const { conversation, createdAt, senderId, sequenceId } = item
    return [{ kind: "tombstone", sequenceId, conversation, senderId, createdAt, reason: "deleted" }]
  })
}

/** The contents of a message. The library's declarations spell their members otherwise than what it returns. */
const contentOf = ({ content = {} }: Event) => {
  const member = (camel: string, snake: string): unknown => content[camel] ?? content[snake] ?? undefined
  const text = (value: unknown) => typeof value === "string" ? value : undefined
  return {
    type: text(member("contentType", "content_type")),
    text: text(content.text),
    newText: text(member("newText", "new_text")),
    target: text(member("targetMessageId", "target_message_id")),
    preview: member("replyingToPreview", "replying_to_preview")
  }
}

/** A message, an edit, or a tombstone for contents of an unknown type; nothing for reactions and receipts. */
const itemOf = (
  event: Event,
  row: ConversationKeys.Row,
  createdAt: Date | undefined,
  changes: ReadonlyMap<string, string>
): ReadonlyArray<Item> => {
  const { conversationId: conversation = "", id = "", keyVersion = "", senderId = "", sequenceId = "" } = event
  const common = { id, sequenceId, conversation, senderId, createdAt }
  const { newText, preview, target, text, type } = contentOf(event)
  if (type === "edit" && target !== undefined) {
    return [{ ...common, kind: "edit", sequenceId: target, text: newText ?? "" }]
  }
  if (type === "unknown") {
    return [{ kind: "tombstone", sequenceId, conversation, senderId, createdAt, reason: "unknown" }]
  }
  return type !== "text" ? [] : [{
    ...common,
    kind: "message",
    text: text ?? "",
    edited: false,
    replyTo: replyOf(event, preview),
    media: (event.attachments ?? []).flatMap(mediaOf),
    keyVersion,
    event: row.event,
    keyChange: changes.get(keyVersion)
  }]
}

const replyOf = ({ replyPreviewValidation }: Event, preview: unknown): Message["replyTo"] => {
  if (typeof preview !== "object" || preview === null) return undefined
  const { messageText, replyingToMessageSequenceId: sequenceId } = preview as Readonly<Record<string, unknown>>
  if (typeof sequenceId !== "string") return undefined
  return {
    sequenceId,
    text: replyPreviewValidation === "valid" && typeof messageText === "string" ? messageText : undefined
  }
}

const mediaOf = (attachment: NonNullable<Event["attachments"]>[number]): ReadonlyArray<ChatMedia> => {
  const { dimensions, filename, filesizeBytes, mediaHashKey } = attachment
  if (typeof mediaHashKey !== "string") return []
  return [{ mediaHashKey, filename, width: dimensions?.width, height: dimensions?.height, size: filesizeBytes }]
}
