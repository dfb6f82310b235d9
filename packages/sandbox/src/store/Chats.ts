/** Encrypted chat: public keys, conversations, their events and files. The contents are bytes that only clients can read. */
import * as ConversationId from "@postwire/core/schema/ConversationId"
import * as ChatEnvelope from "./ChatEnvelope.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"

const conversation = Records.record("c", {
  /** `A:B`, or `g...` for a group. */
  id: Records.text(),
  type: Records.text<"one_to_one" | "group">(),
  creator_id: Records.id(),
  group_name: Records.optional(Records.text()),
  /** The latest version of its key. */
  key_version: Records.optional(Records.text()),
  created_at: Records.created("key"),
  updated_at: Records.created("coalesce((SELECT max(e.id) FROM chat_events e WHERE e.conversation_id = c.id), c.key)"),
  member_ids: Records.json<ReadonlyArray<string>>(
    "(SELECT json_group_array(CAST(m.user_id AS TEXT)) FROM chat_members m WHERE m.conversation_id = c.id)"
  ),
  admin_ids: Records.json<ReadonlyArray<string>>(
    "(SELECT json_group_array(CAST(m.user_id AS TEXT)) FROM chat_members m WHERE m.conversation_id = c.id AND m.admin = 1)"
  )
})

/** A conversation. */
export type Conversation = Records.Of<typeof conversation>

const event = Records.record("e", {
  id: Records.id(),
  conversation_id: Records.text(),
  sender_id: Records.id(),
  created_at: Records.created("id"),
  encoded_event: Records.text("encoded"),
  type: Records.text<EventType>()
})

/** An event of a conversation. */
export type ChatEvent = Records.Of<typeof event>

/** The type of an event: a message, a change of keys, or another change. */
export type EventType = "message" | "key" | "change"

/** The input of `append`. */
export interface NewEvent {
  readonly conversationId: string
  readonly senderId: string
  readonly messageId: string
  readonly type: EventType
  readonly createdAt: number
  readonly detail: Uint8Array
  readonly signature: Uint8Array
  /** The only user who sees it. */
  readonly seenBy?: string | undefined
}

/** A set of public keys, as it was registered. */
export type PublicKeys = Readonly<Record<string, string>>

/** A file, which is uploaded in segments under its id. */
export interface File {
  readonly id: string
  readonly conversation_id: string
  readonly hash_key: string
  readonly finalized: number
}

export const make = (database: Database, events: EventPublisher) => {
  const next = {
    conversation: ids(database, "chat_conversations"),
    event: ids(database, "chat_events"),
    file: ids(database, "media", "uploads", "chat_files")
  }
  const byId = database.select(conversation, "FROM chat_conversations c WHERE c.id = :id")
  const created = database.command(
    "UPDATE chat_conversations SET opened = 1, group_name = :title WHERE id = :id AND opened = 0"
  )
  const setVersion = database.command("UPDATE chat_conversations SET key_version = :version WHERE id = :id")
  const ofUser = pager(database, conversation, {
    from: "chat_conversations c",
    where: "c.opened = 1 AND c.id IN (SELECT conversation_id FROM chat_members WHERE user_id = :user)",
    key: "c.key"
  })
  const seen = "e.conversation_id = :conversation AND (e.seen_by IS NULL OR e.seen_by = :user)"
  const ofConversation = pager(database, event, { from: "chat_events e", where: seen, key: "e.id" })
  const keyEvents = database.select(event, `FROM chat_events e WHERE ${seen} AND e.type = 'key' ORDER BY e.id`)
  const sent = database.select(
    event,
    "FROM chat_events e WHERE e.conversation_id = :conversation AND e.sender_id = :sender AND e.message_id = :message"
  )
  const eventById = database.select(event, "FROM chat_events e WHERE e.id = :id")
  const keysOf = database.query<{ readonly record: string }>(
    "SELECT record FROM chat_keys WHERE user_id = :user ORDER BY key DESC"
  )
  const fileBy = (condition: string) =>
    database.query<File>(
      `SELECT CAST(id AS TEXT) AS id, conversation_id, hash_key, finalized FROM chat_files WHERE ${condition}`
    )
  const fileById = fileBy("id = :id")
  const fileByHash = fileBy("conversation_id = :conversation AND hash_key = :hash AND finalized = 1")
  const finish = database.command("UPDATE chat_files SET finalized = 1 WHERE id = :id")
  const insertMembers = (id: string, users: ReadonlyArray<string>, admins: ReadonlyArray<string> = []): void => {
    for (const user of users) {
      const admin = admins.includes(user) ? 1 : 0
      database.insert("chat_members", { conversation_id: id, user_id: user, admin }, "IGNORE")
    }
  }

  return {
    /** The public keys of a user, the latest first. */
    publicKeys: (user: string): ReadonlyArray<PublicKeys> =>
      keysOf.all({ user }).map(({ record }) => JSON.parse(record)),
    addPublicKeys: (userId: string, keys: PublicKeys): void =>
      void database.insert("chat_keys", { user_id: userId, record: JSON.stringify(keys) }),
    /** Finds or begins the conversation of two users; returns its id. */
    open: (userId: string, peer: string, createdAt: number): string =>
      database.transaction(() => {
        const id = ConversationId.ofUsers(userId, peer).replace("-", ":")
        if (byId.get({ id }) === undefined) {
          const key = next.conversation(createdAt)
          database.insert("chat_conversations", { key, id, type: "one_to_one", creator_id: userId, opened: 1 })
          insertMembers(id, [userId, peer])
        }
        return id
      }),
    /** Reserves the id of a group. */
    reserve: (creator_id: string, createdAt: number): string => {
      const key = next.conversation(createdAt)
      database.insert("chat_conversations", { key, id: `g${key}`, type: "group", creator_id, opened: 0 })
      return `g${key}`
    },
    /** Creates a group with a reserved id; false if it exists. */
    createGroup: (id: string, title: string | undefined): boolean => created({ id, title: title ?? null }) > 0,
    /** Adds members to a group, by the event of its conversation that adds them. */
    join: (id: string, { admins, eventId, members }: {
      readonly members: ReadonlyArray<string>
      readonly admins?: ReadonlyArray<string>
      readonly eventId: string
    }): void => {
      const present = byId.get({ id })?.member_ids ?? []
      insertMembers(id, members, admins)
      const userIds = Array.from(new Set(members)).filter((member) => !present.includes(member))
      events.publish({ _tag: "Joined", eventId, userIds })
    },
    conversation: (id: string): Conversation | undefined => byId.get({ id }),
    /** The conversations of a user, the latest first. */
    conversations: (userId: string, options: PageRequest): Page<Conversation> =>
      ofUser({ user: userId }, unbounded, options),
    setKeyVersion: (id: string, version: string): void => void setVersion({ id, version }),
    /** Adds an event, unless the conversation has one of its sender with its message id. Returns the event. */
    append: (
      { conversationId, createdAt, detail, messageId, senderId, signature, type, seenBy }: NewEvent
    ): ChatEvent => {
      const found = sent.get({ conversation: conversationId, sender: senderId, message: messageId })
      if (found !== undefined) return found
      const id = next.event(createdAt)
      const sequenceId = String(id)
      const millis = Snowflake.toMillis(id)
      const parts = { sequenceId, messageId, senderId, conversationId, createdAt: millis, detail, signature }
      const encoded = ChatEnvelope.encode(parts)
      database.insert("chat_events", {
        id,
        conversation_id: conversationId,
        sender_id: senderId,
        message_id: messageId,
        type,
        encoded,
        seen_by: seenBy
      })
      if (type === "message") events.publish({ _tag: "Chatted", id: sequenceId })
      return eventById.get({ id })!
    },
    event: (id: string): ChatEvent | undefined => eventById.get({ id }),
    /** The events of a conversation that a user sees, the latest first. */
    events: (conversationId: string, userId: string, options: PageRequest): Page<ChatEvent> =>
      ofConversation({ conversation: conversationId, user: userId }, unbounded, options),
    /** The changes of a conversation's key, the oldest first. */
    keyEvents: (conversation: string, user: string): ReadonlyArray<ChatEvent> => keyEvents.all({ conversation, user }),
    /** Begins a file; returns its id. */
    beginFile: (conversationId: string, hashKey: string, createdAt: number): string => {
      const id = next.file(createdAt)
      database.insert("chat_files", { id, conversation_id: conversationId, hash_key: hashKey })
      return String(id)
    },
    file: (id: string): File | undefined => fileById.get({ id }),
    finishedFile: (conversation: string, hash: string): File | undefined => fileByHash.get({ conversation, hash }),
    finishFile: (id: string): void => void finish({ id })
  }
}
