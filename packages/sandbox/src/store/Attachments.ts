/** Media, polls and places. */
import type { Database } from "./Database.ts"
import { idList, ids, inOrder } from "./Ids.ts"
import * as Records from "./Records.ts"

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

const stored = Records.record("m", {
  media_key: Records.text(),
  type: Records.text<MediaType>(),
  owner_id: Records.id(),
  facts: Records.json<MediaFacts>()
})

const media = Records.map(stored, ({ facts, ...media }): Media => ({ ...media, ...facts }))

type Options = ReadonlyArray<{ readonly position: number; readonly label: string; readonly votes: number }>

const poll = Records.record("p", {
  id: Records.id(),
  millis: Records.millis("id"),
  options: Records.json<Options>(),
  duration_minutes: Records.number()
})

const place = Records.map(
  Records.record("p", { id: Records.text(), facts: Records.json<Omit<Place, "id">>() }),
  ({ facts, id }): Place => ({ id, ...facts })
)

export type Attachments = ReturnType<typeof make>

export const make = (database: Database) => {
  const nextMediaId = ids(database, "media", "uploads")
  const nextPollId = ids(database, "polls")
  const mediaKeys = database.query<{ readonly id: string; readonly media_key: string }>(
    `SELECT CAST(id AS TEXT) AS id, media_key FROM media
     WHERE id IN (SELECT value FROM json_each(:ids)) AND (:owner IS NULL OR owner_id = :owner OR EXISTS (
       SELECT 1 FROM uploads, json_each(additional_owners) WHERE uploads.id = media.id AND value = :owner
     ))`
  )
  const updateMedia = database.command("UPDATE media SET facts = json_patch(facts, :facts) WHERE id = :id")
  const mediaOf = database.query<{ readonly count: number }>(
    "SELECT count(*) AS count FROM media WHERE owner_id = :owner"
  )
  const mediaByKeys = database.select(media, "FROM media m WHERE media_key IN (SELECT value FROM json_each(:keys))")
  const polls = database.select(poll, "FROM polls p WHERE id IN (SELECT value FROM json_each(:ids))")
  const places = database.select(place, "FROM places p WHERE id IN (SELECT value FROM json_each(:ids))")

  return {
    /** Returns the media id. The media key is the number of the kind, `_` and the id. */
    insertMedia: ({ createdAt, facts, ownerId, type }: NewMedia): string => {
      const id = nextMediaId(createdAt)
      database.insert("media", { id, media_key: `${kindNumbers[type]}_${id}`, owner_id: ownerId, type, facts })
      return String(id)
    },
    /**
     * The media keys in the order of `ids`, without unknown ids and, if a user is given, without media that were neither
     * uploaded by nor shared with them.
     */
    mediaKeys: (ids: ReadonlyArray<string>, owner?: string): ReadonlyArray<string> =>
      inOrder(ids, mediaKeys.all({ ids: idList(ids), owner: owner ?? null }), (row) => row.id)
        .map((row) => row.media_key),
    mediaOf: (owner: string): number => mediaOf.get({ owner })?.count ?? 0,
    /** Merges facts into the existing ones. */
    updateMedia: (id: string, facts: Partial<MediaFacts>): void =>
      void updateMedia({ id, facts: JSON.stringify(facts) }),
    mediaByKeys: (keys: ReadonlyArray<string>) =>
      inOrder(keys, mediaByKeys.all({ keys: JSON.stringify(keys) }), (row) => row.media_key),
    /** Returns the poll id. */
    insertPoll: ({ createdAt, durationMinutes, options, votes = [] }: NewPoll): string => {
      const id = nextPollId(createdAt)
      const choices: Options = options.map((label, i) => ({ position: i + 1, label, votes: votes[i] ?? 0 }))
      database.insert("polls", { id, options: choices, duration_minutes: durationMinutes })
      return String(id)
    },
    /** The polls as of `now`, in milliseconds since the epoch. */
    pollsByIds: (ids: ReadonlyArray<string>, now: number) =>
      inOrder(ids, polls.all({ ids: idList(ids) }), ({ id }) => id).map(({ millis, ...poll }) => {
        const end = millis + poll.duration_minutes * 60_000
        return { ...poll, end_datetime: new Date(end).toISOString(), voting_status: now < end ? "open" : "closed" }
      }),
    insertPlace: ({ id, ...facts }: Place): void => void database.insert("places", { id, facts }, "REPLACE"),
    placesByIds: (ids: ReadonlyArray<string>) => inOrder(ids, places.all({ ids: JSON.stringify(ids) }), ({ id }) => id)
  }
}

const kindNumbers = { photo: 3, video: 7, animated_gif: 16 }
