/** The keys of conversations: taken from the changes that members have signed, cached, begun and rotated. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError, StorageFailure } from "@postwire/core/errors/Errors"
import { addChatConversationKeys, getChatConversation, getChatConversationEvents } from "@postwire/core/operations/Chat"
import type {
  ActionSignature,
  Event,
  PreparedConversationChange,
  PublicKeyInput,
  SigningKeyEntry
} from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { type ChatRefused, refused } from "../errors/ChatErrors.ts"
import { bytesOf, type ConversationKey, keyOf } from "../keys/ChatStore.ts"
import type { Parts } from "../keys/Parts.ts"
import type { PublicKeys } from "../keys/PublicKeys.ts"
import type { Library } from "../library/Library.ts"
import { confirmed } from "../service/Calls.ts"
import type { ConversationId } from "./ConversationId.ts"

/** The parts of an opened chat. */
export interface Opened extends Parts {
  readonly publicKeys: PublicKeys
  /** Only one at a time finds or makes the key to encrypt with: the second would make another one. */
  readonly turn: Semaphore.Semaphore
  /** Tests whether an event has not been unreadable before. */
  readonly isNewlyUnreadable: (event: string) => boolean
}

/** The errors of using a conversation. */
export type UseError = AnyError | StorageFailure | ChatRefused

/** Runs the library. Its messages are not passed on. */
export const use = <A>(conversation: string, f: () => A): Effect.Effect<A, ChatRefused> =>
  Effect.try({ try: f, catch: () => refused(conversation, "refused by library") })

/** An event as the service serves it. What it says of itself is not verified. */
export interface Row {
  readonly sequenceId: string | undefined
  readonly senderId: string | undefined
  readonly createdAt: string | undefined
  readonly event: string
}

/** The users whose signatures a conversation may have. */
export const membersOf = Effect.fnUntraced(function*({ userId }: Opened, { path, peer }: ConversationId) {
  if (peer !== undefined) return { members: [userId, peer], admins: [], title: undefined }
  const { data } = yield* getChatConversation({
    id: path,
    chat_conversation_fields: ["admin_ids", "group_name", "member_ids"]
  })
  return { members: data?.member_ids ?? [], admins: data?.admin_ids ?? [], title: data?.group_name }
})

/**
 * The members to encrypt for. Those of a group are trusted on first use: a member whom the service adds later would be given the key, so
 * that this user has to accept it.
 */
export const acceptedMembersOf = Effect.fnUntraced(function*(opened: Opened, conversation: ConversationId) {
  const found = yield* membersOf(opened, conversation)
  if (conversation.peer !== undefined) return found
  const accepted = yield* opened.store.accepted("members", conversation.id, found.members, false)
  const other = found.members.find((member) => !accepted.includes(member))
  return other === undefined ? found : yield* refused(`${conversation.id} with user ${other}`, "new members")
})

/** Accepts the members that a conversation has now, and returns them. */
export const acceptMembers = Effect.fnUntraced(function*(opened: Opened, conversation: ConversationId) {
  const { members } = yield* membersOf(opened, conversation)
  if (conversation.peer === undefined) yield* opened.store.accepted("members", conversation.id, members, true)
  return members
})

/**
 * The keys of a conversation with those of these events, and the changes that brought these, by version. What is new is stored. The
 * signers may be former members of a group, whose messages are read with their keys.
 */
export const harvest = Effect.fnUntraced(function*(
  { library, store }: Opened,
  conversation: ConversationId,
  events: ReadonlyArray<string>,
  signers: Array<SigningKeyEntry>
) {
  const found = events.flatMap((event) => keysIn(library, conversation, event, signers).map((key) => ({ key, event })))
  const keys = yield* store.addKeys(conversation.id, found.map(({ key }) => key))
  return { keys, changes: new Map(found.map(({ event, key }) => [key.version, event])) }
})

/**
 * The keys of an event that changes them. The library also returns keys whose signature does not verify, so that each event is read
 * by itself. A group has such keys of former members, whose public keys are no longer served: they have no signer.
 */
const keysIn = (
  library: Library,
  { id, peer }: ConversationId,
  event: string,
  signers: Array<SigningKeyEntry>
): ReadonlyArray<ConversationKey> => {
  try {
    const { messages: [signed] } = library.decryptEvents([event], signers)
    const signer = signed?.event.verified === true && signed.event.conversationId === id
      ? signed.event.senderId
      : undefined
    if (signer === undefined && peer !== undefined) return []
    return Object.entries(library.extractConversationKeys([event]).keys).map(([version, key]) =>
      keyOf(version, key, signer)
    )
  } catch {
    return []
  }
}

/** Keys for the library. */
export const forLibrary = (keys: ReadonlyArray<ConversationKey>): Record<string, Uint8Array> =>
  Object.fromEntries(keys.map((key) => [key.version, bytesOf(key)]))

/** The latest key whose change one of these members has signed: former members, or anybody, may have given others to the service. */
const latestOf = (
  keys: ReadonlyArray<ConversationKey>,
  members: ReadonlyArray<string>
): ConversationKey | undefined =>
  keys.filter(({ signer }) => signer !== undefined && members.includes(signer))
    .toSorted((a, b) => Number(b.version) - Number(a.version))[0]

/** An event as it states itself, unverified. */
export const statedOf = (library: Library, event: string, keys: Record<string, Uint8Array> = {}): Event => {
  library.setRejectUnverified(false)
  try {
    return library.decryptEvent(event, keys, [])
  } catch {
    // Messages alone cannot be read without their key.
    return { type: "message" }
  } finally {
    library.setRejectUnverified(true)
  }
}

/** The newest events of a conversation, and changes of its keys: until a page is enough, and none if it has not begun. */
export const eventsOf = Effect.fnUntraced(function*(
  { path }: ConversationId,
  limit: number,
  isEnough: (events: ReadonlyArray<string>) => boolean
) {
  const rows: Array<Row> = []
  const changes: Array<string> = []
  const pages = getChatConversationEvents.pages({
    id: path,
    chat_message_event_fields: ["created_at", "encoded_event", "sender_id"],
    max_results: Math.min(100, limit)
  }, { limit })
  const gather = Stream.runForEachWhile(pages, ({ data = [], meta }) =>
    Effect.sync(() => {
      for (const { created_at: createdAt, encoded_event: event, id: sequenceId, sender_id: senderId } of data) {
        if (event !== undefined) rows.push({ sequenceId, senderId, createdAt, event })
      }
      changes.push(...meta.conversation_key_events ?? [])
      return !isEnough(eventsIn(rows, changes))
    }))
  yield* Effect.catchIf(gather, Predicate.isTagged("NotFound"), () => Effect.void)
  return { rows, changes }
})

/** Changes and the events of rows. */
export const eventsIn = (rows: ReadonlyArray<Row>, changes: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set([...changes, ...rows.map(({ event }) => event)])
]

/** The keys that the service has now. Events that bring none may have come after the latest change. */
const served = Effect.fnUntraced(function*(
  opened: Opened,
  conversation: ConversationId,
  members: ReadonlyArray<string>
) {
  const { library, publicKeys } = opened
  const hasChange = (events: ReadonlyArray<string>) =>
    events.some((event) => statedOf(library, event).type === "keyChange")
  const { changes, rows } = yield* eventsOf(conversation, 1_000, hasChange)
  const signers = yield* publicKeys.signers(members)
  return yield* harvest(opened, conversation, eventsIn(rows, changes), signers)
})

/** The key to encrypt with, read from the service, since a member may have rotated it. A conversation without any begins. */
export const current = (
  opened: Opened,
  conversation: ConversationId
): Effect.Effect<ConversationKey, UseError, Client> =>
  opened.turn.withPermit(Effect.gen(function*() {
    const { members } = yield* acceptedMembersOf(opened, conversation)
    const { keys } = yield* served(opened, conversation, members)
    yield* opened.publicKeys.check(members)
    return latestOf(keys, members) ?? (yield* rotate(opened, conversation))
  }))

/** Gives every member a new key. */
export const rotate = (
  opened: Opened,
  conversation: ConversationId
): Effect.Effect<ConversationKey, UseError, Client> =>
  Effect.flatMap(acceptedMembersOf(opened, conversation), ({ members }) =>
    change(opened, conversation.id, members, {
      prepare: (publicKeys) =>
        opened.library.prepareConversationKeyChange({
          publicKeys,
          ...conversation.peer === undefined && { conversationId: conversation.id }
        }),
      pass: (body) =>
        confirmed(
          addChatConversationKeys({ id: conversation.path, ...body }),
          Effect.map(
            served(opened, conversation, members),
            ({ keys }) => keys.some(({ version }) => version === body.conversation_key_version)
          )
        )
    }))

/** Changes the key of a conversation: a signed change for these members is prepared, passed to the service, and its key kept. */
export const change = Effect.fnUntraced(function*(
  { publicKeys, store, userId }: Opened,
  id: string,
  members: ReadonlyArray<string>,
  { pass, prepare }: {
    readonly prepare: (publicKeys: Array<PublicKeyInput>) => PreparedConversationChange
    readonly pass: (body: ReturnType<typeof bodyOf>) => Effect.Effect<unknown, AnyError, Client>
  }
): Effect.fn.Return<ConversationKey, UseError, Client> {
  const recipients = yield* publicKeys.recipients(members)
  const prepared = yield* use(id, () => prepare(recipients))
  yield* pass(bodyOf(prepared))
  const key = keyOf(prepared.conversationKeyVersion, prepared.conversationKey, userId)
  yield* store.addKeys(id, [key])
  return key
})

/** The body of a change of keys. */
const bodyOf = ({ actionSignatures, conversationKeyVersion, participantKeys }: PreparedConversationChange) => ({
  conversation_key_version: conversationKeyVersion,
  conversation_participant_keys: participantKeys.map(({ encryptedKey, publicKeyVersion, userId }) => ({
    user_id: userId,
    encrypted_conversation_key: encryptedKey,
    public_key_version: publicKeyVersion
  })),
  action_signatures: actionSignatures.map(signatureOf)
})

/** A signature as the service accepts it. */
export const signatureOf = (signature: ActionSignature) => ({
  message_id: signature.messageId,
  encoded_message_event_detail: signature.encodedMessageEventDetail,
  message_event_signature: {
    signature: signature.signature,
    public_key_version: signature.publicKeyVersion,
    signature_version: signature.signatureVersion
  },
  ...signature.signaturePayload !== undefined && { signature_payload: signature.signaturePayload }
})
