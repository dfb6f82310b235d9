/** What posts and messages carry along: media, polls, places. */
import type { Database } from "./Database.ts"
import { idList, ids, inOrder } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** Kinds of media. */
export type MediaType = "photo" | "video" | "animated_gif"

/** Media, with every field that the store knows. */
export interface Media extends MediaFacts {
  readonly media_key: string
  readonly type: MediaType
  readonly owner_id: string
}

/** What is known about media besides kind and identity. */
export interface MediaFacts {
  readonly width: number
  readonly height: number
  readonly alt_text?: string
  /** Of what was uploaded, a path under the address of the sandbox. */
  readonly url?: string
  readonly duration_ms?: number
  readonly preview_image_url?: string
  readonly public_metrics?: { readonly view_count: number }
  readonly variants?: ReadonlyArray<{ readonly bit_rate?: number; readonly content_type: string; readonly url: string }>
  /** Whatever else was said of it. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Uploaded media to be. */
export interface NewMedia {
  readonly ownerId: string
  readonly type: MediaType
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly facts: MediaFacts
}

/** A poll, with every field that the store knows. */
export interface Poll {
  readonly id: string
  readonly options: ReadonlyArray<{ readonly position: number; readonly label: string; readonly votes: number }>
  readonly duration_minutes: number
  readonly end_datetime: string
  readonly voting_status: "open" | "closed"
}

/** A poll to be. */
export interface NewPoll {
  readonly options: ReadonlyArray<string>
  readonly durationMinutes: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Votes by position; none when left out. */
  readonly votes?: ReadonlyArray<number>
}

/** A place, with every field that the store knows. */
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

/** The attachments of a store. */
export interface Attachments {
  /** Returns the media id; the media key is the id after the number of the kind. */
  readonly insertMedia: (media: NewMedia) => string
  /**
   * The keys of media ids in their order, without ids that do not exist or, when a user is given, that are neither theirs
   * nor were uploaded for them, too.
   */
  readonly mediaKeys: (ids: ReadonlyArray<string>, ownerId?: string) => ReadonlyArray<string>
  /** How many there are of an owner. */
  readonly mediaOf: (ownerId: string) => number
  /** Puts facts in the place of those that there were under the same names. */
  readonly updateMedia: (id: string, facts: Partial<MediaFacts>) => void
  readonly mediaByKeys: (keys: ReadonlyArray<string>) => ReadonlyArray<Media>
  /** Returns the poll id. */
  readonly insertPoll: (poll: NewPoll) => string
  /** The polls as they stand at `now`, in milliseconds since the epoch. */
  readonly pollsByIds: (ids: ReadonlyArray<string>, now: number) => ReadonlyArray<Poll>
  readonly insertPlace: (place: Place) => void
  readonly placesByIds: (ids: ReadonlyArray<string>) => ReadonlyArray<Place>
}

/** The attachments in a database. */
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
      const owner = ownerId === undefined ? null : Snowflake.parse(ownerId)
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
