/** The keys of conversations: taken from the changes that members have signed, cached, begun and rotated. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError, StorageFailure } from "@postwire/core/errors/Errors"
import { addChatConversationKeys, getChatConversation, getChatConversationEvents } from "@postwire/core/operations/Chat"
import type { ActionSignature, PreparedConversationChange, SigningKeyEntry } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Semaphore from "effect/Semaphore"
import { type ChatRefused, refused } from "../errors/ChatErrors.ts"
import { bytesOf, type ChatStore, type ConversationKey, keyOf } from "../keys/ChatStore.ts"
import type { PublicKeys } from "../keys/PublicKeys.ts"
import type { Library } from "../library/Library.ts"
import { confirmed } from "../service/Calls.ts"
import type { ConversationId } from "./ConversationId.ts"

/** The parts of an opened chat. */
export interface Opened {
  readonly userId: string
  readonly library: Library
  readonly store: ChatStore
  readonly publicKeys: PublicKeys
  /** Only one at a time finds or makes the key to encrypt with: the second would make another one. */
  readonly turn: Semaphore.Semaphore
}

/** The errors of using a conversation. */
export type UseError = AnyError | StorageFailure | ChatRefused

/** Runs the library. Its messages are not passed on. */
export const use = <A>(conversation: string, f: () => A): Effect.Effect<A, ChatRefused> =>
  Effect.try({ try: f, catch: () => refused(conversation, "refused by library") })

/** The fields of a conversation's events. */
export const eventFields = ["created_at", "encoded_event", "sender_id"] as const

/** The users whose signatures a conversation may have. */
export const membersOf = Effect.fnUntraced(function*({ userId }: Opened, { path, peer }: ConversationId) {
  if (peer !== undefined) return { members: [userId, peer], admins: [], title: undefined }
  const { data } = yield* getChatConversation({
    id: path,
    chat_conversation_fields: ["admin_ids", "group_name", "member_ids"]
  })
  return { members: data?.member_ids ?? [], admins: data?.admin_ids ?? [], title: data?.group_name }
})

/** The keys of a conversation by version, with those of these events. What is new is stored. */
export const harvest = Effect.fnUntraced(function*(
  { library, store }: Opened,
  { id, peer }: ConversationId,
  events: ReadonlyArray<string>,
  signers: Array<SigningKeyEntry>
) {
  const known = (yield* store.read).conversations[id] ?? []
  const found = yield* use(id, () => events.flatMap((event) => keysIn(library, id, event, signers)))
  // The keys of members who have left a group are no longer served, so that their changes cannot be verified: read with them only.
  const unverified = peer !== undefined ? [] : events.flatMap((event) => {
    try {
      return Object.entries(library.extractConversationKeys([event]).keys)
    } catch {
      return []
    }
  }).map(([version, key]) => keyOf(version, key, false))
  const all = new Map([...unverified, ...known, ...found].map((key) => [key.version, key]))
  yield* store.addKeys(id, [...all.values()])
  return all
})

/**
 * The keys of a change that one of these users has signed for this conversation. The library also returns keys whose signature does
 * not verify, so that each event is read by itself.
 */
const keysIn = (library: Library, id: string, event: string, signers: Array<SigningKeyEntry>) => {
  const { conversationKeys, messages } = library.decryptEvents([event], signers)
  return messages.some(({ event }) => event.verified === true && event.conversationId === id)
    ? Object.entries(conversationKeys.keys).map(([version, key]) => keyOf(version, key, true))
    : []
}

/** Keys for the library. */
export const forLibrary = (keys: ReadonlyMap<string, ConversationKey>): Record<string, Uint8Array> =>
  Object.fromEntries([...keys].map(([version, key]) => [version, bytesOf(key)]))

/** The latest key whose change verified: others may have been given to the service by anybody. */
const latestOf = (keys: Iterable<ConversationKey>): ConversationKey | undefined =>
  [...keys].filter(({ verified }) => verified).sort((a, b) => Number(b.version) - Number(a.version))[0]

/** The keys of a conversation that the service has now. */
const served = Effect.fnUntraced(function*(opened: Opened, conversation: ConversationId) {
  const { publicKeys } = opened
  const { members } = yield* membersOf(opened, conversation)
  const { data: rows = [], meta } = yield* Effect.catchIf(
    getChatConversationEvents({ id: conversation.path, chat_message_event_fields: eventFields, max_results: 1 }),
    Predicate.isTagged("NotFound"),
    () => Effect.succeed({ data: undefined, meta: undefined })
  )
  const events = [...meta?.conversation_key_events ?? [], ...rows.flatMap(({ encoded_event }) => encoded_event ?? [])]
  return yield* harvest(opened, conversation, events, yield* publicKeys.signers(members))
})

/** The key to encrypt with, read from the service, since a member may have rotated it. A conversation without any begins. */
export const current = (
  opened: Opened,
  conversation: ConversationId
): Effect.Effect<ConversationKey, UseError, Client> =>
  opened.turn.withPermit(Effect.flatMap(
    served(opened, conversation),
    (keys) => {
      const key = latestOf(keys.values())
      return key === undefined ? rotate(opened, conversation) : Effect.succeed(key)
    }
  ))

/** Gives every member a new key. */
export const rotate = Effect.fnUntraced(function*(
  opened: Opened,
  conversation: ConversationId
): Effect.fn.Return<ConversationKey, UseError, Client> {
  const { library, publicKeys, store } = opened
  const { id, path, peer } = conversation
  const { members } = yield* membersOf(opened, conversation)
  const recipients = yield* publicKeys.recipients(members)
  const prepared = yield* use(id, () =>
    library.prepareConversationKeyChange({
      publicKeys: recipients,
      ...peer === undefined && { conversationId: id }
    }))
  const { conversationKey, conversationKeyVersion: version } = prepared
  yield* confirmed(
    addChatConversationKeys({ id: path, ...bodyOf(prepared) }),
    Effect.map(served(opened, conversation), (keys) => keys.has(version))
  )
  const key = keyOf(version, conversationKey, true)
  yield* store.addKeys(id, [key])
  return key
})

/** The body of a change of keys. */
export const bodyOf = ({ actionSignatures, conversationKeyVersion, participantKeys }: PreparedConversationChange) => ({
  conversation_key_version: conversationKeyVersion,
  conversation_participant_keys: participantKeys.map(({ encryptedKey, publicKeyVersion, userId }) => ({
    user_id: userId,
    encrypted_conversation_key: encryptedKey,
    public_key_version: publicKeyVersion
  })),
  action_signatures: actionSignatures.map(signatureOf)
})

const signatureOf = (signature: ActionSignature) => ({
  message_id: signature.messageId,
  encoded_message_event_detail: signature.encodedMessageEventDetail,
  message_event_signature: {
    signature: signature.signature,
    public_key_version: signature.publicKeyVersion,
    signature_version: signature.signatureVersion
  },
  ...signature.signaturePayload !== undefined && { signature_payload: signature.signaturePayload }
})
