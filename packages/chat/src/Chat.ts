/** Encrypted chat of one user. */
import { Client } from "@postwire/core/client/Client"
import { dataOf } from "@postwire/core/client/DataOf"
import {
  type AnyError,
  invalidParameter,
  type InvalidParameters,
  type StorageFailure
} from "@postwire/core/errors/Errors"
import { getChatConversations, markChatConversationRead, sendChatTyping } from "@postwire/core/operations/Chat"
import { getMe } from "@postwire/core/operations/Users"
import type { Texts } from "@postwire/core/storage/Texts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { type ConversationId, parse } from "./conversations/ConversationId.ts"
import * as ConversationKeys from "./conversations/ConversationKeys.ts"
import * as History from "./conversations/History.ts"
import type { ChatMedia, Message } from "./conversations/Message.ts"
import * as Recent from "./conversations/Recent.ts"
import type { ChatError } from "./errors/ChatErrors.ts"
import * as ChatStore from "./keys/ChatStore.ts"
import * as PublicKeys from "./keys/PublicKeys.ts"
import * as Registration from "./keys/Registration.ts"
import * as Library from "./library/Library.ts"
import * as Calls from "./service/Calls.ts"
import * as Groups from "./sessions/Groups.ts"
import * as Listening from "./sessions/Listening.ts"
import * as Sending from "./sessions/Sending.ts"

/** A conversation of the user. */
export interface Conversation {
  readonly id: string
  readonly type: string | undefined
  /** The title of a group, as the service has it. */
  readonly title: string | undefined
  readonly members: ReadonlyArray<string>
  readonly updatedAt: string | undefined
}

/** The conversations of the user. */
export interface Conversations {
  readonly conversations: ReadonlyArray<Conversation>
  /** True if strangers have written: their conversations are not listed, and are read by the id of the user. */
  readonly hasMessageRequests: boolean
}

/** Options of reading. */
export interface ReadOptions {
  /** The number of events to read, 1 to 10,000: edits and deletions are events, too. Default 100. */
  readonly limit?: number | undefined
  /**
   * Includes direct messages of the same two users, from before their chat was encrypted. They have no signatures, and each has the
   * price of a direct message. Default false.
   */
  readonly directMessages?: boolean | undefined
}

/** Options of opening a chat. Without a passcode and a key blob, it has the private keys that the store has. */
export interface Options {
  /** The store of keys. Its texts are secrets: a folder that only this user can read, or a table of secrets. */
  readonly store: Texts
  /** The passcode of the backup of the private keys. 20 wrong ones delete it. */
  readonly passcode?: Redacted.Redacted | undefined
  /** The private keys, as `register` returned them. */
  readonly keyBlob?: Redacted.Redacted | undefined
  /** Sign calls with OAuth 1.0a. Default false: a user's bearer token. */
  readonly userAuth?: boolean | undefined
}

/** The errors of using a chat. */
export type UseError = AnyError | StorageFailure | ChatError

/**
 * An opened chat. A conversation is named by the id of the other user, by its id (`A:B` or `A-B`), or by that of a group (`g...`).
 */
export interface Session extends ReturnType<typeof sessionOf> {}

/** The chat of a user. */
export class Chat extends Context.Service<Chat, Session>()("@postwire/chat/Chat") {}

/** Opens a chat. Private keys leave memory when the scope ends. */
export const open = (options: Options): Effect.Effect<Session, UseError, Client | Scope.Scope> =>
  Effect.gen(function*() {
    const parts = yield* partsOf(options.store)
    yield* Registration.unlock(parts, options)
    const publicKeys = PublicKeys.make(parts)
    const opened = { ...parts, publicKeys, turn: Semaphore.makeUnsafe(1), isNewlyUnreadable: Recent.make() }
    return sessionOf(opened, yield* Client, yield* Calls.Activity)
  }).pipe(withUserAuth(options))

/** The chat of a user as a Layer. */
export const layer = (options: Options): Layer.Layer<Chat, UseError, Client> => Layer.effect(Chat, open(options))

/**
 * Registers the keys of a user who has none, once. With a passcode they are backed up at the service; without, the key blob is their
 * only copy beside the store. Repeat it after an interruption: it completes with the same keys.
 */
export const register = (
  { passcode, store, userAuth }: Omit<Options, "keyBlob">
): Effect.Effect<Registration.Registered, UseError, Client> =>
  partsOf(store).pipe(
    Effect.flatMap((parts) => Registration.register(parts, passcode)),
    Effect.scoped,
    withUserAuth({ userAuth })
  )

const withUserAuth = ({ userAuth = false }: Pick<Options, "userAuth">) =>
  Effect.updateService(Client, (client) => Calls.withUserAuth(client, userAuth))

const partsOf = Effect.fnUntraced(function*(texts: Texts) {
  const { id: userId } = yield* dataOf("getMe", getMe())
  const library = yield* Library.open(userId)
  return { userId, library, store: ChatStore.make(texts, userId) }
})

const sessionOf = (
  opened: ConversationKeys.Opened,
  client: Client["Service"],
  activity: typeof Calls.Activity.Service
) => {
  const use = Effect.provideService(Client, client)
  const within = <A, E>(
    conversation: string,
    f: (id: ConversationId) => Effect.Effect<A, E, Client>
  ): Effect.Effect<A, E | InvalidParameters> => use(Effect.flatMap(parse(conversation, opened.userId), f))
  const send = (conversation: string, contents: string | Sending.Contents, replyTo?: Message) =>
    within(
      conversation,
      (id) => Sending.send(opened, id, { ...typeof contents === "string" ? { text: contents } : contents, replyTo })
    )
  return {
    userId: opened.userId,
    conversations: use(conversations),
    /** The newest items of a conversation, the oldest first: verified messages, and tombstones where one cannot be shown. */
    read: (conversation: string, { directMessages = false, limit = 100 }: ReadOptions = {}) =>
      Number.isSafeInteger(limit) && limit >= 1 && limit <= 10_000
        ? within(conversation, (id) => History.read(opened, id, limit, directMessages))
        : Effect.fail(invalidParameter("chat", "limit", "must be a whole number from 1 to 10,000", limit)),
    /** Sends a message. The first one begins the conversation with a user. A lost answer is retried with the same message. */
    send: (conversation: string, contents: string | Sending.Contents) => send(conversation, contents),
    reply: (to: Message, contents: string | Sending.Contents) => send(to.conversation, contents, to),
    /** Replaces the text of a message of one's own. Clients may miss an edit in the first five seconds of a message. */
    edit: (message: Message, text: string) =>
      within(message.conversation, (id) => Sending.edit(opened, id, message, text)),
    /** Deletes a message of one's own for everybody, or any message for this user alone. */
    delete: (message: Message, from: "everyone" | "me") =>
      within(message.conversation, (id) => Sending.remove(opened, id, message, from === "everyone")),
    /** The bytes of a file of a message. */
    media: (message: Message, file: ChatMedia) =>
      within(message.conversation, (id) => Sending.download(opened, id, message, file)),
    /** Marks a conversation as read up to a message. */
    markRead: ({ conversation, sequenceId: seen_until_sequence_id }: Pick<Message, "conversation" | "sequenceId">) =>
      within(conversation, ({ path }) => Effect.asVoid(markChatConversationRead({ id: path, seen_until_sequence_id }))),
    /** Shows the others that this user is typing. */
    typing: (conversation: string) => within(conversation, ({ path }) => Effect.asVoid(sendChatTyping({ id: path }))),
    /** Live messages of all conversations. The stream needs the app's bearer token; subscriptions are made if they are missing. */
    listen: Stream.provideService(Listening.listen(opened, activity), Client, client),
    /** Creates a group and returns its id. */
    createGroup: (group: Groups.Group) => use(Groups.create(opened, group)),
    addMembers: (conversation: string, userIds: ReadonlyArray<string>) =>
      within(conversation, (id) => Groups.addMembers(opened, id, userIds)),
    /** Gives the members a new key, which protects what is sent from now on. */
    rotate: (conversation: string) => within(conversation, (id) => Effect.asVoid(ConversationKeys.rotate(opened, id))),
    /**
     * Accepts the changed keys of a user, and returns their fingerprints, the latest first. Compare them by another way with
     * `fingerprint` of that user's chat.
     */
    acceptKeys: (userId: string) => use(opened.publicKeys.accept(userId)),
    /** Accepts the members that a group has now, and returns their ids. */
    acceptMembers: (conversation: string) => within(conversation, (id) => ConversationKeys.acceptMembers(opened, id)),
    /** The fingerprint of this user's keys. */
    fingerprint: () => PublicKeys.ownFingerprint(opened.library)
  }
}

/** All conversations that the service lists. */
const conversations: Effect.Effect<Conversations, AnyError, Client> = Effect.map(
  Stream.runCollect(getChatConversations.pages({
    chat_conversation_fields: ["group_name", "member_ids", "participant_ids", "type", "updated_at"],
    max_results: 100
  })),
  (pages) => ({
    conversations: pages.flatMap(({ data = [] }) =>
      data.map(({ group_name, id, member_ids, participant_ids, type, updated_at }) => ({
        id,
        type,
        title: group_name,
        members: member_ids ?? participant_ids ?? [],
        updatedAt: updated_at
      }))
    ),
    hasMessageRequests: pages.some(({ meta }) => meta.has_message_requests === true)
  })
)
