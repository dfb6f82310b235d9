/** Media on their way in: sessions, their bytes in segments, and what became of them. */
import type { MediaFacts, MediaType } from "./Attachments.ts"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** Why media cannot be used. */
export interface Failure {
  readonly code: number
  readonly name: string
  readonly message: string
}

/** An upload. Instants are in milliseconds since the epoch. */
export interface Upload {
  /** That of the media. */
  readonly id: string
  readonly owner_id: string
  readonly additional_owners: ReadonlyArray<string>
  /** None until it is told, or found at the end. */
  readonly category: string | undefined
  /** What was told, and at the end what it is. */
  readonly media_type: string | undefined
  readonly total_bytes: number | undefined
  readonly expires_at: number
  readonly finalized_at: number | undefined
  /** When processing ends. */
  readonly ready_at: number | undefined
  /** What comes of processing, where it is no media. */
  readonly failure: Failure | undefined
  /** Whether a post or a message shows it: such media do not expire. */
  readonly used: boolean
}

/** An upload to be. */
export interface NewUpload {
  readonly ownerId: string
  readonly additionalOwners: ReadonlyArray<string>
  readonly category: string | undefined
  readonly mediaType: string | undefined
  readonly totalBytes: number | undefined
  readonly createdAt: number
  readonly expiresAt: number
}

/** The end of an upload. */
export interface Finished {
  readonly category: string
  readonly mediaType: string
  readonly expiresAt: number
  readonly finalizedAt: number
  readonly readyAt: number
  readonly failure: Failure | undefined
  /** What others see of it; nothing of a file that is no media of its own, as subtitles are. */
  readonly media: { readonly key: string; readonly type: MediaType; readonly facts: MediaFacts } | undefined
}

/** Bytes, in parts that are read one by one. */
export interface Content {
  readonly size: number
  /** The bytes from `offset` to `end` (not included), a segment at a time. */
  readonly read: (offset: number, end: number) => Iterable<Uint8Array<ArrayBuffer>>
}

/** Subtitles of a video. */
export interface Subtitles {
  readonly language_code: string
  readonly display_name: string
  /** The media id of the file. */
  readonly id: string
}

/** The uploads of a store. */
export interface Uploads {
  /** Returns the media id. */
  readonly begin: (upload: NewUpload) => string
  readonly byId: (id: string) => Upload | undefined
  /** Keeps a segment, in place of one at the same position. */
  readonly put: (id: string, position: number, bytes: Uint8Array) => void
  /** How many bytes there are, at all positions or at all but one. */
  readonly size: (id: string, but?: number) => number
  readonly finish: (id: string, end: Finished) => void
  /** Ends processing without media. */
  readonly fail: (id: string, failure: Failure, at: number) => void
  /** Keeps media that a post or a message shows. */
  readonly use: (ids: ReadonlyArray<string>) => void
  /** Lets go of the bytes of what nobody can use any more. */
  readonly forget: (now: number) => void
  /** The bytes that there are. */
  readonly content: (id: string) => Content
  readonly addSubtitles: (mediaId: string, subtitles: Subtitles) => void
  /** Whether there were any. */
  readonly deleteSubtitles: (mediaId: string, languageCode: string) => boolean
  readonly subtitlesOf: (mediaId: string) => ReadonlyArray<Subtitles>
}

interface Row {
  readonly id: string
  readonly owner_id: string
  readonly additional_owners: string
  readonly category: string | null
  readonly media_type: string | null
  readonly total_bytes: number | null
  readonly expires_at: number
  readonly finalized_at: number | null
  readonly ready_at: number | null
  readonly failure: string | null
  readonly used: number
}

/** The uploads in a database. */
export const make = (database: Database): Uploads => {
  const nextId = ids(database, "media", "uploads")
  const segments = `${database.bytesIn}.media_segments`
  const insert = database.command(
    `INSERT INTO uploads (id, owner_id, additional_owners, category, media_type, total_bytes, expires_at)
     VALUES (:id, :owner, :others, :category, :type, :total, :expires)`
  )
  const byId = database.query<Row>(
    `SELECT CAST(id AS TEXT) AS id, CAST(owner_id AS TEXT) AS owner_id, additional_owners, category, media_type,
       total_bytes, expires_at, finalized_at, ready_at, failure, used
     FROM uploads WHERE id = :id`
  )
  const put = database.command(
    `INSERT OR REPLACE INTO ${segments} (media_id, position, bytes) VALUES (:id, :position, :bytes)`
  )
  const lengths = database.query<{ readonly position: number; readonly length: number }>(
    `SELECT position, length(bytes) AS length FROM ${segments} WHERE media_id = :id ORDER BY position`
  )
  const segment = database.query<{ readonly bytes: Uint8Array<ArrayBuffer> }>(
    `SELECT bytes FROM ${segments} WHERE media_id = :id AND position = :position`
  )
  const finish = database.command(
    `UPDATE uploads SET category = :category, media_type = :type, expires_at = :expires, finalized_at = :finalized,
       ready_at = :ready, failure = :failure
     WHERE id = :id`
  )
  const insertMedia = database.command(
    "INSERT INTO media (id, media_key, owner_id, type, facts) SELECT id, :key, owner_id, :type, :facts FROM uploads WHERE id = :id"
  )
  const fail = database.command("UPDATE uploads SET failure = :failure, ready_at = :at WHERE id = :id")
  const use = database.command("UPDATE uploads SET used = 1 WHERE id IN (SELECT value FROM json_each(:ids))")
  const forget = database.command(
    `DELETE FROM ${segments} WHERE media_id IN (SELECT id FROM uploads WHERE used = 0 AND expires_at <= :now)`
  )
  const addSubtitles = database.command(
    `INSERT OR REPLACE INTO media_subtitles (media_id, language_code, subtitles_id, display_name)
     VALUES (:media, :language, :id, :name)`
  )
  const deleteSubtitles = database.command(
    "DELETE FROM media_subtitles WHERE media_id = :media AND language_code = :language"
  )
  const subtitlesOf = database.query<Subtitles>(
    `SELECT language_code, display_name, CAST(subtitles_id AS TEXT) AS id FROM media_subtitles
     WHERE media_id = :media ORDER BY language_code`
  )

  return {
    begin: ({ additionalOwners, category, createdAt, expiresAt, mediaType, ownerId, totalBytes }) => {
      const id = nextId(createdAt)
      insert({
        id,
        owner: Snowflake.parse(ownerId),
        others: JSON.stringify(additionalOwners),
        category: category ?? null,
        type: mediaType ?? null,
        total: totalBytes ?? null,
        expires: expiresAt
      })
      return String(id)
    },
    byId: (id) => {
      const row = byId.get({ id: Snowflake.parse(id) })
      return row && {
        id: row.id,
        owner_id: row.owner_id,
        additional_owners: JSON.parse(row.additional_owners),
        category: row.category ?? undefined,
        media_type: row.media_type ?? undefined,
        total_bytes: row.total_bytes ?? undefined,
        expires_at: row.expires_at,
        finalized_at: row.finalized_at ?? undefined,
        ready_at: row.ready_at ?? undefined,
        failure: row.failure === null ? undefined : JSON.parse(row.failure),
        used: row.used === 1
      }
    },
    put: (id, position, bytes) => void put({ id: Snowflake.parse(id), position, bytes }),
    size: (id, but) =>
      lengths.all({ id: Snowflake.parse(id) })
        .reduce((sum, { length, position }) => position === but ? sum : sum + length, 0),
    finish: (id, { category, expiresAt, failure, finalizedAt, media, mediaType, readyAt }) =>
      database.transaction(() => {
        finish({
          id: Snowflake.parse(id),
          category,
          type: mediaType,
          expires: expiresAt,
          finalized: finalizedAt,
          ready: readyAt,
          failure: failure === undefined ? null : JSON.stringify(failure)
        })
        if (media === undefined) return
        const { facts, key, type } = media
        insertMedia({ id: Snowflake.parse(id), key, type, facts: JSON.stringify(facts) })
      }),
    fail: (id, failure, at) => void fail({ id: Snowflake.parse(id), failure: JSON.stringify(failure), at }),
    use: (ids) => void use({ ids: idList(ids) }),
    forget: (now) => void forget({ now }),
    content: (id) => {
      const parts = lengths.all({ id: Snowflake.parse(id) })
      // Small reads follow each other, and SQLite reads a segment as a whole.
      let [last, bytes] = [-1, new Uint8Array()]
      const at = (position: number) => {
        if (last !== position) {
          bytes = segment.get({ id: Snowflake.parse(id), position })?.bytes ?? new Uint8Array()
          last = position
        }
        return bytes
      }
      return {
        size: parts.reduce((sum, { length }) => sum + length, 0),
        read: function*(offset, end) {
          let begin = 0
          for (const { length, position } of parts) {
            const [from, to] = [Math.max(offset - begin, 0), Math.min(end - begin, length)]
            if (from < to) yield at(position).subarray(from, to)
            begin += length
          }
        }
      }
    },
    addSubtitles: (mediaId, { display_name, id, language_code }) =>
      void addSubtitles({
        media: Snowflake.parse(mediaId),
        language: language_code,
        id: Snowflake.parse(id),
        name: display_name
      }),
    deleteSubtitles: (mediaId, languageCode) =>
      deleteSubtitles({ media: Snowflake.parse(mediaId), language: languageCode }) > 0,
    subtitlesOf: (mediaId) => subtitlesOf.all({ media: Snowflake.parse(mediaId) }).map((row) => ({ ...row }))
  }
}
