/** Encrypted chat of one user. */
import { Client } from "@postwire/core/client/Client"
import { dataOf } from "@postwire/core/client/DataOf"
import { type AnyError, invalidParameter, type StorageFailure, type StreamError } from "@postwire/core/errors/Errors"
import { getChatConversations, markChatConversationRead } from "@postwire/core/operations/Chat"
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
import type { ChatMedia, Item, Message } from "./conversations/Message.ts"
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
  /** Includes old direct messages of the same two users, each at the price of a direct message. Default true. */
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
export interface Session {
  readonly userId: string
  readonly conversations: Effect.Effect<Conversations, UseError>
  /** The newest items of a conversation, the oldest first: verified messages, and tombstones where one cannot be shown. */
  readonly read: (conversation: string, options?: ReadOptions) => Effect.Effect<ReadonlyArray<Item>, UseError>
  /** Sends a message. The first one begins the conversation with a user. A lost answer is retried with the same message. */
  readonly send: (conversation: string, contents: string | Sending.Contents) => Effect.Effect<Sending.Sent, UseError>
  readonly reply: (to: Message, contents: string | Sending.Contents) => Effect.Effect<Sending.Sent, UseError>
  /** Replaces the text of a message of one's own. Clients may miss an edit in the first five seconds of a message. */
  readonly edit: (message: Message, text: string) => Effect.Effect<Sending.Sent, UseError>
  /** The bytes of a file of a message. */
  readonly media: (message: Message, file: ChatMedia) => Effect.Effect<Uint8Array, UseError>
  /** Marks a conversation as read up to a message. */
  readonly markRead: (message: Pick<Message, "conversation" | "sequenceId">) => Effect.Effect<void, UseError>
  /** Live messages of all conversations. The stream needs the app's bearer token; subscriptions are made if they are missing. */
  readonly listen: Stream.Stream<Item, UseError | StreamError>
  /** Creates a group and returns its id. */
  readonly createGroup: (group: Groups.Group) => Effect.Effect<string, UseError>
  readonly addMembers: (conversation: string, userIds: ReadonlyArray<string>) => Effect.Effect<void, UseError>
  /** Gives the members a new key, which protects what is sent from now on. */
  readonly rotate: (conversation: string) => Effect.Effect<void, UseError>
}

/** The chat of a user. */
export class Chat extends Context.Service<Chat, Session>()("@postwire/chat/Chat") {}

/** Opens a chat. Private keys leave memory when the scope ends. */
export const open = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Session, UseError, Client | Scope.Scope> {
  const client = Calls.withUserAuth(yield* Client, options.userAuth === true)
  const parts = yield* Effect.provideService(partsOf(options.store), Client, client)
  yield* Effect.provideService(Registration.unlock(parts, options), Client, client)
  const opened = { ...parts, publicKeys: PublicKeys.make(parts.library), turn: Semaphore.makeUnsafe(1) }
  return sessionOf(opened, client, yield* Calls.Activity)
})

/** The chat of a user as a Layer. */
export const layer = (options: Options): Layer.Layer<Chat, UseError, Client> => Layer.effect(Chat, open(options))

/**
 * Registers the keys of a user who has none, once. With a passcode they are backed up at the service; without, the key blob is their
 * only copy beside the store. Repeat it after an interruption: it completes with the same keys.
 */
export const register = (
  { passcode, store, userAuth = false }: Omit<Options, "keyBlob">
): Effect.Effect<Registration.Registered, UseError, Client> =>
  partsOf(store).pipe(
    Effect.flatMap((parts) => Registration.register(parts, passcode)),
    Effect.scoped,
    Effect.updateService(Client, (client) => Calls.withUserAuth(client, userAuth))
  )

const partsOf = Effect.fnUntraced(function*(texts: Texts) {
  const { id: userId } = yield* dataOf("getMe", getMe())
  const library = yield* Library.open(userId)
  return { userId, library, store: ChatStore.make(texts, userId) }
})

const sessionOf = (
  opened: ConversationKeys.Opened,
  client: Client["Service"],
  activity: typeof Calls.Activity.Service
): Session => {
  const use = Effect.provideService(Client, client)
  const within = <A, E>(conversation: string, f: (id: ConversationId) => Effect.Effect<A, E, Client>) =>
    use(Effect.flatMap(parse(conversation, opened.userId), f))
  const send = (conversation: string, contents: string | Sending.Contents, replyTo?: Message) =>
    within(
      conversation,
      (id) => Sending.send(opened, id, { ...typeof contents === "string" ? { text: contents } : contents, replyTo })
    )
  return {
    userId: opened.userId,
    conversations: use(conversations),
    read: (conversation, { directMessages = true, limit = 100 } = {}) =>
      Number.isSafeInteger(limit) && limit >= 1 && limit <= 10_000
        ? within(conversation, (id) => History.read(opened, id, limit, directMessages))
        : Effect.fail(invalidParameter("chat", "limit", "must be a whole number from 1 to 10,000", limit)),
    send: (conversation, contents) => send(conversation, contents),
    reply: (to, contents) => send(to.conversation, contents, to),
    edit: (message, text) => within(message.conversation, (id) => Sending.edit(opened, id, message, text)),
    media: (message, file) => within(message.conversation, (id) => Sending.download(opened, id, message, file)),
    markRead: ({ conversation, sequenceId }) =>
      within(
        conversation,
        ({ path }) => Effect.asVoid(markChatConversationRead({ id: path, seen_until_sequence_id: sequenceId }))
      ),
    listen: Stream.provideService(Listening.listen(opened, activity), Client, client),
    createGroup: (group) => use(Groups.create(opened, group)),
    addMembers: (conversation, userIds) => within(conversation, (id) => Groups.addMembers(opened, id, userIds)),
    rotate: (conversation) => within(conversation, (id) => Effect.asVoid(ConversationKeys.rotate(opened, id)))
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
