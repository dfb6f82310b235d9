/** Sending: messages, replies, edits, files. */
import type { Client } from "@postwire/core/client/Client"
import { dataOf } from "@postwire/core/client/DataOf"
import type { AnyError } from "@postwire/core/errors/Errors"
import { deleteChatMessages, sendChatMessage } from "@postwire/core/operations/Chat"
import {
  appendChatMediaUpload,
  downloadChatMedia,
  finalizeChatMediaUpload,
  initializeChatMediaUpload
} from "@postwire/core/operations/ChatMedia"
import type { SendPayload } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import type { ConversationId } from "../conversations/ConversationId.ts"
import * as ConversationKeys from "../conversations/ConversationKeys.ts"
import type { ChatMedia, Message } from "../conversations/Message.ts"
import { refused } from "../errors/ChatErrors.ts"
import { bytesOf, type ConversationKey } from "../keys/ChatStore.ts"

/** A file to send. */
export interface File {
  readonly data: Uint8Array
  readonly filename: string
}

/** A sent message. */
export interface Sent {
  /** The id of the message, which its sender makes. */
  readonly id: string
  readonly conversation: string
  /** Assigned by the service; undefined if its answer does not show it. */
  readonly sequenceId: string | undefined
}

/** The contents of a message. */
export interface Contents {
  readonly text: string
  readonly files?: ReadonlyArray<File> | undefined
}

/** Encrypts and sends a message. */
export const send = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  { files = [], replyTo, text }: Contents & { readonly replyTo?: Message | undefined }
): Effect.fn.Return<Sent, ConversationKeys.UseError, Client> {
  const { library } = opened
  const { id: conversationId } = conversation
  const key = yield* ConversationKeys.current(opened, conversation)
  const attachments = yield* Effect.forEach(files, (file) => upload(opened, conversation, key, file))
  const contents = { conversationId, text, attachments, ...libraryKey(key) }
  const payload = yield* ConversationKeys.use(conversationId, () =>
    replyTo === undefined
      ? library.encryptMessage(contents)
      : library.encryptReply({ ...contents, ...quoteOf(replyTo, key) }))
  return yield* deliver(opened, conversation, payload, key)
})

/** The message that a reply quotes: proven by its event, which a later key reads with the change that brought its own. */
const quoteOf = ({ event, keyChange, keyVersion, senderId, sequenceId, text }: Message, key: ConversationKey) =>
  keyVersion === key.version
    ? { replyToEvent: event }
    : keyChange !== undefined
    ? { replyToEvent: event, replyToCkces: [keyChange] }
    : { replyToSequenceId: sequenceId, replyToSenderId: senderId, replyToText: text }

/** Encrypts and sends the new text of a message. */
export const edit = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  { event: targetEvent }: Pick<Message, "event">,
  updatedText: string
): Effect.fn.Return<Sent, ConversationKeys.UseError, Client> {
  const key = yield* ConversationKeys.current(opened, conversation)
  const payload = yield* ConversationKeys.use(
    conversation.id,
    () => opened.library.encryptEdit({ updatedText, targetEvent, ...libraryKey(key) })
  )
  return yield* deliver(opened, conversation, payload, key)
})

const libraryKey = (key: ConversationKey) => ({ conversationKey: bytesOf(key), conversationKeyVersion: key.version })

/** Sends a payload. The client retries it unchanged, so that a lost answer makes no second message. */
const deliver = Effect.fnUntraced(function*(
  { library }: ConversationKeys.Opened,
  { id, path }: ConversationId,
  payload: SendPayload,
  key: ConversationKey
): Effect.fn.Return<Sent, AnyError, Client> {
  const { data: { encoded_message_event: event } = {} } = yield* sendChatMessage({
    id: path,
    message_id: payload.messageId,
    encoded_message_create_event: payload.encryptedContent,
    encoded_message_event_signature: payload.encodedEventSignature
  })
  const keys = { [key.version]: bytesOf(key) }
  const sequenceId = event === undefined ? undefined : ConversationKeys.statedOf(library, event, keys).sequenceId
  return { id: payload.messageId, conversation: id, sequenceId }
})

/** Deletes a message for everybody, or for this user alone. */
export const remove = Effect.fnUntraced(function*(
  { library }: ConversationKeys.Opened,
  { id, path }: ConversationId,
  { media, sequenceId }: Message,
  deleteForAll: boolean
): Effect.fn.Return<void, ConversationKeys.UseError, Client> {
  const sequenceIds = [sequenceId]
  const signature = yield* ConversationKeys.use(
    id,
    () => library.prepareMessageDelete({ conversationId: id, sequenceIds, deleteForAll })
  )
  yield* deleteChatMessages({
    id: path,
    sequence_ids: sequenceIds,
    delete_message_action: deleteForAll ? "delete_for_all" : "delete_for_self",
    action_signatures: [ConversationKeys.signatureOf(signature)],
    ...deleteForAll && media.length > 0 && { media_hash_keys: media.map(({ mediaHashKey }) => mediaHashKey) }
  })
})

/** The longest segment of an upload, in bytes. */
const longestSegment = 4 * 1024 * 1024

/** Encrypts and uploads a file. */
const upload = Effect.fnUntraced(function*(
  { library }: ConversationKeys.Opened,
  { id, path }: ConversationId,
  key: ConversationKey,
  { data, filename }: File
) {
  const encrypted = yield* ConversationKeys.use(id, () => library.encryptStream(data, bytesOf(key)))
  const { media_hash_key, session_id } = yield* dataOf(
    "initializeChatMediaUpload",
    initializeChatMediaUpload({ conversation_id: path, total_bytes: encrypted.length })
  )
  const file = { id: session_id, conversation_id: path, media_hash_key }
  const count = Math.ceil(encrypted.length / longestSegment)
  for (let index = 0; index < count; index++) {
    const media = encrypted.subarray(index * longestSegment, (index + 1) * longestSegment)
    yield* appendChatMediaUpload({ ...file, segment_index: index, media })
  }
  yield* finalizeChatMediaUpload({ ...file, num_parts: count })
  const { height = 0, width = 0 } = library.dimensionsOf(data) ?? {}
  return { attachment_type: "media" as const, media_hash_key, width, height, filesize_bytes: data.length, filename }
})

/** Downloads a file, and decrypts it with the key that its message had. */
export const download = Effect.fnUntraced(function*(
  { library, store }: ConversationKeys.Opened,
  { id, path }: ConversationId,
  { keyVersion }: Pick<Message, "keyVersion">,
  { mediaHashKey }: Pick<ChatMedia, "mediaHashKey">
): Effect.fn.Return<Uint8Array, ConversationKeys.UseError, Client> {
  const key = (yield* store.read).conversations[id]?.find(({ version }) => version === keyVersion)
  if (key === undefined) return yield* refused(id, "no conversation key")
  const data = yield* dataOf("downloadChatMedia", downloadChatMedia({ id: path, media_hash_key: mediaHashKey }))
  return yield* Effect.try({
    try: () => library.decryptStream(data, bytesOf(key)),
    catch: () => refused(id, "unreadable file")
  })
})
