/** The history of a conversation: verified messages with their edits and deletions, and what cannot be shown. */
import type { Client } from "@postwire/core/client/Client"
import { getChatConversationEvents } from "@postwire/core/operations/Chat"
import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import type { Event, SigningKeyEntry } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Library } from "../library/Library.ts"
import type { ConversationId } from "./ConversationId.ts"
import * as ConversationKeys from "./ConversationKeys.ts"
import type { ChatMedia, Edit, Item, Message, Tombstone } from "./Message.ts"

/** An event as the service serves it. What it says of itself is not verified. */
export interface Row {
  readonly sequenceId: string
  readonly createdAt: string | undefined
  readonly event: string
}

/** The newest items of a conversation, the oldest first. */
export const read = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  limit: number,
  withDirectMessages: boolean
): Effect.fn.Return<ReadonlyArray<Item>, ConversationKeys.UseError, Client> {
  const { changes, rows, senders } = yield* rowsOf(opened, conversation, limit)
  const items = yield* verified(opened, conversation, rows, [...changes, ...rows.map(({ event }) => event)], senders)
  const old = withDirectMessages ? yield* directMessages(conversation, limit) : []
  // An omitted event leaves a gap before the messages that follow.
  const from = rows.length < limit ? 0 : timeOf(items[0])
  return [...items, ...old.filter((message) => timeOf(message) >= from)]
    .sort((a, b) => timeOf(a) - timeOf(b))
    .slice(-limit)
})

const timeOf = (item: Item | undefined): number => item?.createdAt?.getTime() ?? 0

/** The newest events, the changes of keys that they need, and the users who may have signed them. */
const rowsOf = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  limit: number
) {
  const rows: Array<Row> = []
  const changes = new Set<string>()
  const senders = new Set((yield* ConversationKeys.membersOf(opened, conversation)).members)
  const pages = getChatConversationEvents.pages({
    id: conversation.path,
    chat_message_event_fields: ConversationKeys.eventFields,
    max_results: Math.min(100, limit)
  }, { limit })
  const gather = Stream.runForEach(pages, ({ data = [], meta }) =>
    Effect.sync(() => {
      for (const { created_at, encoded_event, id, sender_id } of data) {
        // Former members of a group have signed its older messages. A conversation of two has two signers.
        if (sender_id !== undefined && conversation.peer === undefined) senders.add(sender_id)
        if (encoded_event !== undefined) rows.push({ sequenceId: id, createdAt: created_at, event: encoded_event })
      }
      for (const change of meta.conversation_key_events ?? []) changes.add(change)
    }))
  // Two users may have old direct messages only.
  yield* Effect.catchIf(gather, Predicate.isTagged("NotFound"), () => Effect.void)
  return { rows, changes, senders }
})

/** The items of events, with the keys that changes give. */
export const verified = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  rows: ReadonlyArray<Row>,
  changes: ReadonlyArray<string>,
  senders: Iterable<string>
) {
  const attempt = Effect.gen(function*() {
    const signers = yield* opened.publicKeys.signers(senders)
    const keys = yield* ConversationKeys.harvest(opened, conversation, changes, signers)
    return itemsOf(opened.library, conversation, rows, ConversationKeys.forLibrary(keys), signers)
  })
  const items = yield* attempt
  if (!items.some((item) => item.kind === "tombstone" && item.reason !== "deleted")) return items
  // A sender may have new keys.
  opened.publicKeys.forget(senders)
  return yield* attempt
})

/** The items that events amount to, in their order. An edit or a deletion counts only of the sender of its message. */
const itemsOf = (
  library: Library,
  { id: conversation }: ConversationId,
  rows: ReadonlyArray<Row>,
  keys: Record<string, Uint8Array>,
  signers: Array<SigningKeyEntry>
): ReadonlyArray<Item> => {
  const items = new Map<string, Item>()
  const seen = new Set<string>()
  for (const row of rows.toSorted((a, b) => compare(a.sequenceId, b.sequenceId))) {
    const { createdAt, sequenceId } = row
    const bury = (reason: Tombstone["reason"]) =>
      items.set(sequenceId, { kind: "tombstone", sequenceId, conversation, createdAt: dateOf(createdAt), reason })
    try {
      const event = library.decryptEvent(row.event, keys, signers)
      // The service may serve a signed message of another conversation.
      if (event.verified === false || event.conversationId !== conversation) bury("unverified")
      else if (event.type === "unknown") bury("unknown")
      // The id is signed: the service, or a retry, may have served the same message twice.
      else if (event.id !== undefined && !seen.has(event.id)) {
        seen.add(event.id)
        const item = itemOf(event, row)
        if (item?.kind === "edit") applyEdit(items, item)
        else if (item !== undefined) items.set(item.sequenceId, item)
        else applyDeletion(items, event)
      }
    } catch (error) {
      // A change of keys for others cannot be verified, and is no message.
      if (typeOf(library, row.event) === "keyChange") continue
      bury(/no matching key/i.test(String(error)) ? "no key" : "unverified")
    }
  }
  return [...items.values()]
}

const compare = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)

/** The type that an event states. */
const typeOf = (library: Library, event: string): Event["type"] => {
  library.setRejectUnverified(false)
  try {
    return library.decryptEvent(event, {}, []).type
  } catch {
    return "message"
  } finally {
    library.setRejectUnverified(true)
  }
}

const dateOf = (text: string | undefined): Date | undefined => {
  const date = new Date(text ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** Applies an edit, or keeps it if its message is not here. */
const applyEdit = (items: Map<string, Item>, edit: Edit): void => {
  const { senderId, sequenceId, text } = edit
  const message = items.get(sequenceId)
  if (message === undefined) items.set(edit.id, edit)
  else if (message.kind === "message" && message.senderId === senderId) {
    items.set(sequenceId, { ...message, text, edited: true })
  }
}

/** Applies a deletion. Changes of keys and members, receipts and reactions are not shown. */
const applyDeletion = (items: Map<string, Item>, { messageIds, senderId, type }: Event): void => {
  for (const id of type === "messageDeleted" && Array.isArray(messageIds) ? messageIds.map(String) : []) {
    const item = items.get(id)
    if (item?.kind !== "message" || item.senderId !== senderId) continue
    const { conversation, createdAt, sequenceId } = item
    items.set(id, { kind: "tombstone", sequenceId, conversation, createdAt, reason: "deleted" })
  }
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

/** A message, an edit, or a tombstone for contents of an unknown type; undefined for other events. */
const itemOf = (event: Event, row: Row): Message | Edit | Tombstone | undefined => {
  const { conversationId: conversation = "", id = "", senderId = "", sequenceId = row.sequenceId } = event
  const createdAt = new Date(event.createdAtMsec ?? 0)
  const { newText, preview, target, text, type } = contentOf(event)
  if (event.type !== "message") return undefined
  if (type === "edit" && target !== undefined) {
    return { kind: "edit", id, sequenceId: target, conversation, senderId, createdAt, text: newText ?? "" }
  }
  if (type === "unknown") return { kind: "tombstone", sequenceId, conversation, createdAt, reason: "unknown" }
  return type !== "text" ? undefined : {
    ...plain,
    id,
    sequenceId,
    conversation,
    senderId,
    createdAt,
    text: text ?? "",
    replyTo: replyOf(event, preview),
    media: (event.attachments ?? []).flatMap(mediaOf),
    source: "chat",
    keyVersion: event.keyVersion,
    event: row.event
  }
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

/** The newest direct messages of the same two users, from before their chat was encrypted. */
const directMessages = ({ id, peer }: ConversationId, limit: number) =>
  peer === undefined ? Effect.succeed([]) : Stream.runCollect(Stream.map(
    getDirectMessageEvents.items({
      participant_id: peer,
      event_types: ["MessageCreate"],
      dm_event_fields: ["created_at", "sender_id"],
      max_results: Math.min(100, limit)
    }, { limit }),
    ({ created_at, id: sequenceId, sender_id: senderId = "", text = "" }): Message => ({
      ...plain,
      id: sequenceId,
      sequenceId,
      conversation: id,
      senderId,
      createdAt: new Date(created_at),
      text,
      source: "dm",
      keyVersion: undefined,
      event: undefined
    })
  ))

/** A message before any edit. */
const plain = { kind: "message", edited: false, replyTo: undefined, media: [] } as const
