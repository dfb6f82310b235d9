/** Media, polls and places. */
import type { Database } from "./Database.ts"
import { idList, ids, inOrder, optionalId } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** Kinds of media. */
export type MediaType = "photo" | "video" | "animated_gif"

/** Media with all stored fields. */
export interface Media extends MediaFacts {
  readonly media_key: string
  readonly type: MediaType
  readonly owner_id: string
}

/** The properties of media besides kind and identity. */
export interface MediaFacts {
  readonly width: number
  readonly height: number
  readonly alt_text?: string
  /** For uploaded media, a path relative to the sandbox's base URL. */
  readonly url?: string
  readonly duration_ms?: number
  readonly preview_image_url?: string
  readonly public_metrics?: { readonly view_count: number }
  readonly variants?: ReadonlyArray<{ readonly bit_rate?: number; readonly content_type: string; readonly url: string }>
  /** Other metadata supplied by the uploader. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The input of `insertMedia`. */
export interface NewMedia {
  readonly ownerId: string
  readonly type: MediaType
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly facts: MediaFacts
}

export interface Poll {
  readonly id: string
  readonly options: ReadonlyArray<{ readonly position: number; readonly label: string; readonly votes: number }>
  readonly duration_minutes: number
  readonly end_datetime: string
  readonly voting_status: "open" | "closed"
}

/** The input of `insertPoll`. */
export interface NewPoll {
  readonly options: ReadonlyArray<string>
  readonly durationMinutes: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Votes by position. Default: none. */
  readonly votes?: ReadonlyArray<number>
}

export interface Place {
  readonly id: string
  readonly full_name: string
  readonly name: string
  readonly country: string
  readonly country_code: string
  readonly place_type: "poi" | "neighborhood" | "city" | "admin" | "country" | "unknown"
  readonly geo: {
    readonly type: "Feature"
    readonly bbox: readonly [west: number, south: number, east: number, north: number]
    readonly properties: {}
  }
}

export interface Attachments {
  /** Returns the media id. The media key is the number of the kind, `_` and the id. */
  readonly insertMedia: (media: NewMedia) => string
  /**
   * The media keys in the order of `ids`, without unknown ids and, if a user is given, without media that were neither
   * uploaded by nor shared with them.
   */
  readonly mediaKeys: (ids: ReadonlyArray<string>, ownerId?: string) => ReadonlyArray<string>
  readonly mediaOf: (ownerId: string) => number
  /** Merges facts into the existing ones. */
  readonly updateMedia: (id: string, facts: Partial<MediaFacts>) => void
  readonly mediaByKeys: (keys: ReadonlyArray<string>) => ReadonlyArray<Media>
  /** Returns the poll id. */
  readonly insertPoll: (poll: NewPoll) => string
  /** The polls as of `now`, in milliseconds since the epoch. */
  readonly pollsByIds: (ids: ReadonlyArray<string>, now: number) => ReadonlyArray<Poll>
  readonly insertPlace: (place: Place) => void
  readonly placesByIds: (ids: ReadonlyArray<string>) => ReadonlyArray<Place>
}

export const make = (database: Database): Attachments => {
  const nextMediaId = ids(database, "media", "uploads")
  const nextPollId = ids(database, "polls")
  const insertMedia = database.command(
    "INSERT INTO media (id, media_key, owner_id, type, facts) VALUES (:id, :key, :owner, :type, :facts)"
  )
  const insertPoll = database.command(
    "INSERT INTO polls (id, options, duration_minutes) VALUES (:id, :options, :minutes)"
  )
  const insertPlace = database.command("INSERT OR REPLACE INTO places (id, facts) VALUES (:id, :facts)")
  const mediaKeys = database.query<{ readonly id: string; readonly media_key: string }>(
    `SELECT CAST(id AS TEXT) AS id, media_key FROM media
     WHERE id IN (SELECT value FROM json_each(:ids)) AND (:owner IS NULL OR owner_id = :owner OR EXISTS (
       SELECT 1 FROM uploads, json_each(additional_owners)
       WHERE uploads.id = media.id AND value = CAST(:owner AS TEXT)
     ))`
  )
  const updateMedia = database.command("UPDATE media SET facts = json_patch(facts, :facts) WHERE id = :id")
  const mediaOf = database.query<{ readonly count: number }>(
    "SELECT count(*) AS count FROM media WHERE owner_id = :owner"
  )
  const media = database.query<
    { readonly media_key: string; readonly type: MediaType; readonly owner_id: string; readonly facts: string }
  >(
    `SELECT media_key, type, CAST(owner_id AS TEXT) AS owner_id, facts
     FROM media WHERE media_key IN (SELECT value FROM json_each(:keys))`
  )
  const polls = database.query<
    { readonly id: string; readonly millis: number; readonly options: string; readonly duration_minutes: number }
  >(
    `SELECT CAST(id AS TEXT) AS id, id >> ${Snowflake.counterBits} AS millis, options, duration_minutes
     FROM polls WHERE id IN (SELECT value FROM json_each(:ids))`
  )
  const places = database.query<{ readonly id: string; readonly facts: string }>(
    "SELECT id, facts FROM places WHERE id IN (SELECT value FROM json_each(:ids))"
  )

  return {
    insertMedia: ({ createdAt, facts, ownerId, type }) => {
      const id = nextMediaId(createdAt)
      insertMedia({
        id,
        key: `${kindNumbers[type]}_${id}`,
        owner: Snowflake.parse(ownerId),
        type,
        facts: JSON.stringify(facts)
      })
      return String(id)
    },
    mediaKeys: (ids, ownerId) => {
      const owner = optionalId(ownerId)
      return inOrder(ids, mediaKeys.all({ ids: idList(ids), owner }), (row) => row.id).map((row) => row.media_key)
    },
    updateMedia: (id, facts) => void updateMedia({ id: Snowflake.parse(id), facts: JSON.stringify(facts) }),
    mediaOf: (ownerId) => mediaOf.get({ owner: Snowflake.parse(ownerId) })?.count ?? 0,
    mediaByKeys: (keys) =>
      inOrder(keys, media.all({ keys: JSON.stringify(keys) }), (row) => row.media_key)
        .map(({ facts, ...media }) => ({ ...media, ...JSON.parse(facts) })),
    insertPoll: ({ createdAt, durationMinutes, options, votes = [] }) => {
      const id = nextPollId(createdAt)
      const choices = options.map((label, i) => ({ position: i + 1, label, votes: votes[i] ?? 0 }))
      insertPoll({ id, options: JSON.stringify(choices), minutes: durationMinutes })
      return String(id)
    },
    pollsByIds: (ids, now) =>
      inOrder(ids, polls.all({ ids: idList(ids) }), (row) => row.id).map(
        ({ duration_minutes, id, millis, options }) => {
          const end = millis + duration_minutes * 60_000
          return {
            id,
            options: JSON.parse(options),
            duration_minutes,
            end_datetime: new Date(end).toISOString(),
            voting_status: now < end ? "open" : "closed"
          }
        }
      ),
    insertPlace: ({ id, ...facts }) => void insertPlace({ id, facts: JSON.stringify(facts) }),
    placesByIds: (ids) =>
      inOrder(ids, places.all({ ids: JSON.stringify(ids) }), (row) => row.id)
        .map(({ facts, id }) => ({ id, ...JSON.parse(facts) }))
  }
}

const kindNumbers = { photo: 3, video: 7, animated_gif: 16 }
