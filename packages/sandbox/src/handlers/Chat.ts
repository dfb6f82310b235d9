/** Encrypted chat. Signatures have to be there and well formed; nothing is decrypted or verified. */
import type { ActionSignature } from "@postwire/core/schema/models/Chat"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import * as ChatEnvelope from "../store/ChatEnvelope.ts"
import type { ChatEvent, Conversation, EventType } from "../store/Chats.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"

/** The maximum number of members of a group. */
const maxMembers = 1_000

export const handlers = {
  getChatConversations: Effect.fnUntraced(function*({ caller, page, store }) {
    const { userId } = yield* Caller.user(caller)
    const found = store.chats.conversations(userId, page)
    return listed({ ...found, items: found.items.map(shown) })
  }),

  getChatConversation: Effect.fnUntraced(function*(call) {
    return { data: shown((yield* joined(call)).conversation) }
  }),

  getChatConversationEvents: Effect.fnUntraced(function*(call) {
    const { conversation, userId } = yield* joined(call)
    const { chats } = call.store
    const reply = listed(chats.events(conversation.id, userId, call.page))
    const changes = chats.keyEvents(conversation.id, userId).map(({ encoded_event }) => encoded_event)
    return { ...reply, meta: { ...reply.meta, conversation_key_events: changes } }
  }),

  sendChatMessage: Effect.fnUntraced(function*(call) {
    const { encoded_message_create_event, encoded_message_event_signature: signature, message_id } = call.parameters
    const { conversation, userId } = yield* joined(call, true)
    if (signature === undefined) {
      return yield* invalid("encoded_message_event_signature", "The message has no signature.")
    }
    const { encoded_event } = call.store.chats.append({
      conversationId: conversation.id,
      senderId: userId,
      messageId: message_id,
      type: "message",
      createdAt: call.now,
      detail: ChatEnvelope.messageDetail(ChatEnvelope.bytesOf(encoded_message_create_event)),
      signature: ChatEnvelope.bytesOf(signature)
    })
    return { data: { encoded_message_event: encoded_event } }
  }),

  deleteChatMessages: Effect.fnUntraced(function*(call) {
    const { action_signatures, delete_message_action, sequence_ids } = call.parameters
    const { conversation, userId } = yield* joined(call)
    const forAll = delete_message_action === "delete_for_all"
    for (const id of sequence_ids) {
      const event = call.store.chats.event(id)
      if (event?.conversation_id !== conversation.id || (forAll && event.sender_id !== userId)) {
        return yield* invalid("sequence_ids", `There is no message [${id}] that this user may delete.`)
      }
    }
    yield* sign(call, conversation.id, userId, action_signatures, { count: 1, seenBy: forAll ? undefined : userId })
    return { data: { deleted: true } }
  }),

  markChatConversationRead: Effect.fnUntraced(function*(call) {
    const { conversation } = yield* joined(call)
    const { seen_until_sequence_id: id } = call.parameters
    if (!/^\d{1,19}$/.test(id) || call.store.chats.event(id)?.conversation_id !== conversation.id) {
      return yield* invalid("seen_until_sequence_id", `There is no event [${id}] in this conversation.`)
    }
    return { data: { success: true } }
  }),

  sendChatTyping: (call) => Effect.as(joined(call), { data: { success: true } }),

  initializeChatGroup: Effect.fnUntraced(function*({ caller, now, store }) {
    const { userId } = yield* Caller.user(caller)
    return { data: { conversation_id: store.chats.reserve(userId, now) } }
  }),

  createChatGroup: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { action_signatures, conversation_id: id, conversation_key_version, group_name: title } = call.parameters
    const { group_admins: admins = [userId], group_members: members } = call.parameters
    const { chats } = call.store
    if (chats.conversation(id)?.creator_id !== userId) {
      return yield* invalid("conversation_id", "It was not initialized by this user.")
    }
    yield* checkMembers(call, [...members, ...admins], "group_members")
    // The signed title is a text of the encoded change.
    if (title !== undefined && action_signatures?.some((signature) => isSigned(signature, title)) !== true) {
      return yield* invalid("group_name", "It is not the one that was signed.")
    }
    yield* checkSignatures(action_signatures, 2)
    if (!chats.createGroup(id, title)) return yield* invalid("conversation_id", "It exists.")
    const events = yield* change(call, id, userId, { action_signatures, conversation_key_version }, 2)
    chats.join(id, { members: [userId, ...members], admins, eventId: additionOf(events) })
    return { data: { conversation_id: id, conversation_key_change_sequence_id: events[0].id } }
  }),

  addChatGroupMembers: Effect.fnUntraced(function*(call) {
    const { conversation, userId } = yield* joined(call)
    const { user_ids } = call.parameters
    if (conversation.type !== "group") return yield* invalid("id", "It is no group.")
    yield* checkMembers(call, [...conversation.member_ids, ...user_ids], "user_ids")
    const events = yield* change(call, conversation.id, userId, call.parameters, 2)
    call.store.chats.join(conversation.id, { members: user_ids, eventId: additionOf(events) })
    return { data: {} }
  }),

  addChatConversationKeys: Effect.fnUntraced(function*(call) {
    const { conversation, userId } = yield* joined(call, true)
    const keyed = call.parameters.conversation_participant_keys.map(({ user_id }) => user_id)
    if (keyed.some((user) => user === undefined || !conversation.member_ids.includes(user))) {
      return yield* invalid("conversation_participant_keys", "A key is for a user who is no member.")
    }
    const [event] = yield* change(call, conversation.id, userId, call.parameters, 1)
    return { data: { conversation_id: conversation.id.replace(":", "-"), sequence_id: event.id } }
  }),

  initializeChatMediaUpload: Effect.fnUntraced(function*(call) {
    const { conversation } = yield* joined({ ...call, parameters: { id: call.parameters.conversation_id } })
    const hashKey = randomUUID().replaceAll("-", "")
    const id = call.store.chats.beginFile(conversation.id, hashKey, call.now)
    return { data: { session_id: id, media_hash_key: hashKey, conversation_id: conversation.id } }
  }),

  appendChatMediaUpload: Effect.fnUntraced(function*(call) {
    const { media, segment_index } = call.parameters
    const { id } = yield* fileOf(call)
    call.store.uploads.put(id, segment_index, media)
    return { data: { expires_at: Math.floor(call.now / 1000) + 86_400 } }
  }),

  finalizeChatMediaUpload: Effect.fnUntraced(function*(call) {
    const { id } = yield* fileOf(call)
    if (call.store.uploads.size(id) === 0) return yield* invalid("id", "It has no segments.")
    call.store.chats.finishFile(id)
    return { data: { success: true } }
  }),

  downloadChatMedia: Effect.fnUntraced(function*(call) {
    const { conversation } = yield* joined(call)
    const { media_hash_key: id } = call.parameters
    const file = call.store.chats.finishedFile(conversation.id, id)
    if (file === undefined) {
      return yield* Problem.missing(Problem.notFound({ kind: "media", id, parameter: "media_hash_key" }))
    }
    return { file: { type: "application/octet-stream", content: call.store.uploads.content(file.id) } }
  }),

  getPublicKeys: Effect.fnUntraced(function*({ caller, parameters: { ids }, store }) {
    const { userId } = yield* Caller.user(caller)
    const data = ids.flatMap((id) => store.chats.publicKeys(id).map((keys) => ownOf(keys, id === userId)))
    return { ...data.length > 0 && { data }, meta: { result_count: data.length } }
  }),

  getUserPublicKeys: Effect.fnUntraced(function*({ caller, parameters: { id }, store }) {
    const { userId } = yield* Caller.user(caller)
    if (store.users.byId(id) === undefined) {
      return { errors: [Problem.notFound({ kind: "user", id, parameter: "id" })] }
    }
    const data = store.chats.publicKeys(id).map((keys) => ownOf(keys, id === userId))
    return { ...data.length > 0 && { data }, meta: { result_count: data.length } }
  }),

  addPublicKey: Effect.fnUntraced(function*({ caller, now, parameters, store }) {
    const { userId } = yield* Caller.user(caller)
    const { generate_version, version, ...keys } = parameters
    const { identity_public_key_signature, public_key, signing_public_key } = keys
    if (signing_public_key === undefined || identity_public_key_signature === undefined) {
      return yield* invalid("public_key", "The signing key or its signature is missing.")
    }
    const public_key_version = generate_version === true ? String(now) : version
    const known = { public_key, signing_public_key, identity_public_key_signature, public_key_version }
    store.chats.addPublicKeys(userId, known)
    return { data: { public_key_version, juicebox_config: backup } }
  })
} satisfies Partial<Handlers>

/** There are no realms that keep private keys here. */
const backup = { token_map: [], max_guess_count: 20 }

const ownOf = (keys: object, isOwn: boolean) => ({ ...keys, ...isOwn && { juicebox_config: backup } })

const invalid = (parameter: string, message: string) =>
  Effect.fail(Problem.invalidRequest(message, { [parameter]: "" }))

/** A conversation as paths name it. */
const shown = ({ creator_id: _, key_version: __, ...conversation }: Conversation) => ({
  ...conversation,
  id: conversation.id.replace(":", "-"),
  participant_ids: conversation.member_ids,
  ...conversation.type === "one_to_one" && { admin_ids: undefined }
})

/** The conversation of a request, of which the caller is a member. One of two users begins with `begin`. */
const joined = Effect.fnUntraced(function*(call: Call<{ readonly id: string }>, begin = false) {
  const { userId } = yield* Caller.user(call.caller)
  const { chats, users } = call.store
  const { id } = call.parameters
  const pair = /^\d+$/.test(id) ? [userId, id] : id.split(/[:-]/)
  const peer = pair.find((user) => user !== userId)
  const isPair = pair.length === 2 && pair.includes(userId) && peer !== undefined && users.byId(peer) !== undefined
  const found = chats.conversation(
    id.startsWith("g") || !isPair ? id : begin
      ? chats.open(userId, peer, call.now)
      : pair.map(BigInt).sort((a, b) => a < b ? -1 : 1).join(":")
  )
  if (found?.member_ids.includes(userId) !== true) {
    return yield* Problem.missing(Problem.notFound({ kind: "chat_conversation", id, parameter: "id" }))
  }
  return { conversation: found, userId }
})

type Signatures = ReadonlyArray<ActionSignature> | undefined

const checkSignatures = (signatures: Signatures, count: number) =>
  signatures?.length === count && Arr.isReadonlyArrayNonEmpty(signatures)
    ? Effect.succeed(signatures)
    : invalid("action_signatures", `There must be ${count}, and there are ${signatures?.length ?? 0}.`)

const isSigned = ({ encoded_message_event_detail }: ActionSignature, title: string): boolean => {
  const text = Buffer.from(title)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.from(encoded_message_event_detail, "base64").includes(Buffer.concat([length, text]))
}

/** Adds the signed events of a change. */
const sign = Effect.fnUntraced(function*(
  { now, store }: Call<unknown>,
  conversationId: string,
  senderId: string,
  signatures: Signatures,
  { count, seenBy }: { readonly count: number; readonly seenBy?: string | undefined }
) {
  return Arr.map(yield* checkSignatures(signatures, count), (signature) => {
    const detail = ChatEnvelope.bytesOf(signature.encoded_message_event_detail)
    return store.chats.append({
      conversationId,
      senderId,
      messageId: signature.message_id,
      type: typeOf(detail),
      createdAt: now,
      detail,
      signature: ChatEnvelope.signatureOf(signature.message_event_signature),
      seenBy
    })
  })
})

/** The event that adds members: the other one changes the key. */
const additionOf = ([first, ...others]: Arr.NonEmptyReadonlyArray<ChatEvent>): string =>
  (others.find(({ type }) => type !== "key") ?? first).id

/** The encoded details are a union: its third member is a change of keys. */
const typeOf = (detail: Uint8Array): EventType => detail[0] === 12 && detail[2] === 3 ? "key" : "change"

/** A change of the key of a conversation; returns its events. */
const change = Effect.fnUntraced(function*(
  call: Call<unknown>,
  id: string,
  userId: string,
  { action_signatures, conversation_key_version: version }: {
    readonly action_signatures?: Signatures
    readonly conversation_key_version?: string | undefined
  },
  count: number
) {
  const events = yield* sign(call, id, userId, action_signatures, { count })
  if (version !== undefined) call.store.chats.setKeyVersion(id, version)
  return events
})

const checkMembers = Effect.fnUntraced(function*(
  { store: { chats, users } }: Call<unknown>,
  members: ReadonlyArray<string>,
  parameter: string
) {
  const all = new Set(members)
  if (all.size > maxMembers) {
    return yield* invalid(parameter, "Too many members: adding these members would exceed the allowed group size.")
  }
  for (const id of all) {
    if (users.byId(id) === undefined || chats.publicKeys(id).length === 0) {
      return yield* invalid(
        parameter,
        "Cannot add all members: one or more of the requested members cannot be added to this conversation."
      )
    }
  }
})

/** The file of an upload, in a conversation of the caller. */
const fileOf = Effect.fnUntraced(function*(
  call: Call<{ readonly id: string; readonly conversation_id: string; readonly media_hash_key: string }>
) {
  const { conversation_id, id, media_hash_key } = call.parameters
  const { conversation } = yield* joined({ ...call, parameters: { id: conversation_id } })
  const file = call.store.chats.file(id)
  if (file?.conversation_id !== conversation.id || file.hash_key !== media_hash_key || file.finalized === 1) {
    return yield* invalid("id", `There is no upload [${id}] in progress.`)
  }
  return file
})
