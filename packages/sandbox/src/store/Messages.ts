/** Direct messages: conversations and their events. */
import * as ConversationId from "@postwire/core/schema/ConversationId"
import * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"

/** The type of an event in a conversation. */
export type DmEventType = "MessageCreate" | "ParticipantsJoin" | "ParticipantsLeave"

const stored = Records.record("e", {
  id: Records.id(),
  event_type: Records.text<DmEventType>(),
  text: Records.optional(Records.text()),
  sender_id: Records.id(),
  dm_conversation_id: Records.text("conversation_id"),
  created_at: Records.created("id"),
  participant_ids: Records.optional(Records.json<ReadonlyArray<string>>()),
  attachments: Records.optional(Records.json<{ readonly media_keys: ReadonlyArray<string> }>()),
  entities: Records.optional(Records.json<Entities.Entities>())
})

const dmEvent = Records.map(stored, ({ entities, ...event }) => ({ ...event, ...entities }))

export type DmEvent = Records.Of<typeof dmEvent>

/** The input of `insert`. */
export interface NewMessage {
  readonly conversationId: string
  readonly senderId: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly text?: string | undefined
  readonly mediaKey?: string | undefined
}

/** Selects the events of a conversation, or of all conversations of a user. */
export type Request = PageRequest & ({ readonly conversationId: string } | { readonly userId: string }) & {
  readonly types?: ReadonlyArray<DmEventType> | undefined
  /** Events of this millisecond or later only. */
  readonly from?: number | undefined
}

export const make = (database: Database, events: EventPublisher) => {
  const nextId = ids(database, "dm_events")
  const mentionable = database.query<Entities.Mentionable>(
    "SELECT CAST(id AS TEXT) AS id, username FROM users WHERE username = :username"
  )
  const conversation = database.query<{ readonly type: "OneToOne" | "Group" }>(
    "SELECT type FROM dm_conversations WHERE id = :id"
  )
  const participants = database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM dm_participants WHERE conversation_id = :id"
  )
  const byId = database.select(dmEvent, "FROM dm_events e WHERE e.id = :id")
  const remove = database.command("DELETE FROM dm_events WHERE id = :id")
  const listing = (where: string) =>
    pager(database, dmEvent, {
      from: "dm_events e",
      where: `${where} AND (:types IS NULL OR e.event_type IN (SELECT value FROM json_each(:types)))`,
      key: "e.id"
    })
  const ofConversation = listing("e.conversation_id = :conversation")
  const ofUser = listing("e.conversation_id IN (SELECT conversation_id FROM dm_participants WHERE user_id = :user)")
  /** Returns the number of created conversations. */
  const create = (id: string, type: "OneToOne" | "Group"): number =>
    database.insert("dm_conversations", { id, type }, "IGNORE")
  const join = (id: string, users: ReadonlyArray<string>): void => {
    for (const user of users) database.insert("dm_participants", { conversation_id: id, user_id: user }, "IGNORE")
  }

  return {
    /** Finds or creates the conversation of two users; returns its id. */
    open: (userId: string, participantId: string): string =>
      database.transaction(() => {
        const id = ConversationId.ofUsers(userId, participantId)
        if (create(id, "OneToOne") > 0) join(id, [userId, participantId])
        return id
      }),
    /** Creates a group that includes the creator; its first event is the joining of the others. Returns its id. */
    openGroup: ({ createdAt, creatorId, participantIds }: {
      readonly creatorId: string
      readonly participantIds: ReadonlyArray<string>
      readonly createdAt: number
    }): string =>
      database.transaction(() => {
        const id = String(nextId(createdAt))
        create(id, "Group")
        join(id, [creatorId, ...participantIds])
        database.insert("dm_events", {
          id,
          conversation_id: id,
          event_type: "ParticipantsJoin",
          sender_id: creatorId,
          participant_ids: participantIds
        })
        return id
      }),
    conversation: (id: string) => {
      const found = conversation.get({ id })
      return found && { id, type: found.type, participantIds: participants.all({ id }).map((row) => row.id) }
    },
    /** Adds a message to an existing conversation; returns the event id. */
    insert: ({ conversationId, createdAt, mediaKey, senderId, text }: NewMessage): string => {
      const id = nextId(createdAt)
      database.insert("dm_events", {
        id,
        conversation_id: conversationId,
        event_type: "MessageCreate",
        sender_id: senderId,
        text,
        entities: Entities.find(text ?? "", (username) => mentionable.get({ username })),
        attachments: mediaKey === undefined ? null : { media_keys: [mediaKey] }
      })
      events.publish({ _tag: "Messaged", id: String(id) })
      return String(id)
    },
    byId: (id: string) => byId.get({ id }),
    /** Removes an event; false when there is none. */
    delete: (id: string): boolean => remove({ id }) > 0,
    /** Latest first. */
    events: ({ from, types, ...options }: Request): Page<DmEvent> => {
      const range = from === undefined ? unbounded : { ...unbounded, low: Snowflake.fromMillis(from) - 1n }
      const known = { types: types === undefined ? null : JSON.stringify(types) }
      return "userId" in options
        ? ofUser({ ...known, user: options.userId }, range, options)
        : ofConversation({ ...known, conversation: options.conversationId }, range, options)
    }
  }
}
