/** Direct messages: conversations and their events. */
import * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"

/** The type of an event in a conversation. */
export type DmEventType = "MessageCreate" | "ParticipantsJoin" | "ParticipantsLeave"

export interface DmEvent extends Entities.Entities {
  readonly id: string
  readonly event_type: DmEventType
  readonly text?: string
  readonly sender_id: string
  readonly dm_conversation_id: string
  readonly created_at: string
  readonly participant_ids?: ReadonlyArray<string>
  readonly attachments?: { readonly media_keys: ReadonlyArray<string> }
}

export interface Conversation {
  readonly id: string
  readonly type: "OneToOne" | "Group"
  readonly participantIds: ReadonlyArray<string>
}

/** The input of `insert`. */
export interface NewMessage {
  readonly conversationId: string
  readonly senderId: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly text?: string | undefined
  readonly mediaKey?: string | undefined
}

export interface Messages {
  /** Finds or creates the conversation of two users; returns its id. */
  readonly open: (userId: string, participantId: string) => string
  /** Creates a group that includes the creator; its first event is the joining of the others. Returns its id. */
  readonly openGroup: (
    group: { readonly creatorId: string; readonly participantIds: ReadonlyArray<string>; readonly createdAt: number }
  ) => string
  readonly conversation: (id: string) => Conversation | undefined
  /** Adds a message to an existing conversation; returns the event id. */
  readonly insert: (message: NewMessage) => string
  readonly byId: (id: string) => DmEvent | undefined
  /** Removes an event; false when there is none. */
  readonly delete: (id: string) => boolean
  /** The events of a conversation, or of all conversations of a user, latest first. */
  readonly events: (
    options:
      & PageRequest
      & ({ readonly conversationId: string } | { readonly userId: string })
      & {
        readonly types?: ReadonlyArray<DmEventType> | undefined
        /** Events of this millisecond or later only. */
        readonly from?: number | undefined
      }
  ) => Page<DmEvent>
}

/** The id of the conversation of two users: both user ids, the smaller one first. */
export const oneToOneId = (a: string, b: string): string => BigInt(a) < BigInt(b) ? `${a}-${b}` : `${b}-${a}`

export const make = (database: Database): Messages => {
  const nextId = ids(database, "dm_events")
  const user = database.query<Entities.Mentionable>(
    "SELECT CAST(id AS TEXT) AS id, username FROM users WHERE username = :username"
  )
  const create = database.command("INSERT OR IGNORE INTO dm_conversations (id, type) VALUES (:id, :type)")
  const join = database.command("INSERT OR IGNORE INTO dm_participants (conversation_id, user_id) VALUES (:id, :user)")
  const conversation = database.query<{ readonly type: Conversation["type"] }>(
    "SELECT type FROM dm_conversations WHERE id = :id"
  )
  const participants = database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM dm_participants WHERE conversation_id = :id"
  )
  const insert = database.command(`
    INSERT INTO dm_events (id, conversation_id, event_type, sender_id, text, participant_ids, entities, attachments)
    VALUES (:id, :conversation, :type, :sender, :text, :participants, :entities, :attachments)`)
  const byId = database.queryAs(`SELECT ${columns} FROM dm_events e WHERE e.id = :id`, decode)
  const remove = database.command("DELETE FROM dm_events WHERE id = :id")
  const listing = (where: string) =>
    pager<Row, DmEvent>(database, {
      select: columns,
      from: "dm_events e",
      where: `${where} AND (:types IS NULL OR e.event_type IN (SELECT value FROM json_each(:types)))`,
      key: "e.id"
    }, decode)
  const ofConversation = listing("e.conversation_id = :conversation")
  const ofUser = listing("e.conversation_id IN (SELECT conversation_id FROM dm_participants WHERE user_id = :user)")

  return {
    open: (userId, participantId) =>
      database.transaction(() => {
        const id = oneToOneId(userId, participantId)
        if (create({ id, type: "OneToOne" }) > 0) {
          for (const member of [userId, participantId]) join({ id, user: Snowflake.parse(member) })
        }
        return id
      }),
    openGroup: ({ createdAt, creatorId, participantIds }) =>
      database.transaction(() => {
        const eventId = nextId(createdAt)
        const id = String(eventId)
        create({ id, type: "Group" })
        for (const member of [creatorId, ...participantIds]) join({ id, user: Snowflake.parse(member) })
        insert({
          id: eventId,
          conversation: id,
          type: "ParticipantsJoin",
          sender: Snowflake.parse(creatorId),
          text: null,
          participants: JSON.stringify(participantIds),
          entities: null,
          attachments: null
        })
        return id
      }),
    conversation: (id) => {
      const found = conversation.get({ id })
      return found && { id, type: found.type, participantIds: participants.all({ id }).map((row) => row.id) }
    },
    insert: (message) => {
      const id = nextId(message.createdAt)
      const entities = message.text && Entities.find(message.text, (username) => user.get({ username }))
      insert({
        id,
        conversation: message.conversationId,
        type: "MessageCreate",
        sender: Snowflake.parse(message.senderId),
        text: message.text ?? null,
        participants: null,
        entities: entities ? JSON.stringify(entities) : null,
        attachments: message.mediaKey === undefined ? null : JSON.stringify({ media_keys: [message.mediaKey] })
      })
      return String(id)
    },
    byId: (id) => byId.get({ id: Snowflake.parse(id) }),
    delete: (id) => remove({ id: Snowflake.parse(id) }) > 0,
    events: ({ from, types, ...options }) => {
      const range = from === undefined ? unbounded : { ...unbounded, low: Snowflake.fromMillis(from) - 1n }
      const known = { types: types === undefined ? null : JSON.stringify(types) }
      return "userId" in options
        ? ofUser({ ...known, user: Snowflake.parse(options.userId) }, range, options)
        : ofConversation({ ...known, conversation: options.conversationId }, range, options)
    }
  }
}

const columns = `
  CAST(e.id AS TEXT) AS id, e.id >> ${Snowflake.counterBits} AS millis, e.conversation_id, e.event_type,
  CAST(e.sender_id AS TEXT) AS sender_id, e.text, e.participant_ids, e.entities, e.attachments`

interface Row {
  readonly id: string
  readonly millis: number
  readonly conversation_id: string
  readonly event_type: DmEventType
  readonly sender_id: string
  readonly text: string | null
  readonly participant_ids: string | null
  readonly entities: string | null
  readonly attachments: string | null
}

const decode = (row: Row): DmEvent => ({
  id: row.id,
  event_type: row.event_type,
  ...(row.text !== null && { text: row.text }),
  sender_id: row.sender_id,
  dm_conversation_id: row.conversation_id,
  created_at: new Date(row.millis).toISOString(),
  ...(row.participant_ids !== null && { participant_ids: JSON.parse(row.participant_ids) }),
  ...(row.attachments !== null && { attachments: JSON.parse(row.attachments) }),
  ...(row.entities !== null && JSON.parse(row.entities))
})
