/** Media uploads: sessions, segments and results. */
import type { MediaFacts, MediaType } from "./Attachments.ts"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** The reason why media cannot be used. */
export interface Failure {
  readonly code: number
  readonly name: string
  readonly message: string
}

/** An upload. Times are in milliseconds since the epoch. */
export interface Upload {
  /** The media id. */
  readonly id: string
  readonly owner_id: string
  readonly additional_owners: ReadonlyArray<string>
  /** Undefined until declared, or detected when the upload is finalized. */
  readonly category: string | undefined
  /** The declared type; once finalized, the detected one. */
  readonly media_type: string | undefined
  readonly total_bytes: number | undefined
  readonly expires_at: number
  readonly finalized_at: number | undefined
  /** The time at which processing ends. */
  readonly ready_at: number | undefined
  /** The error of failed processing. */
  readonly failure: Failure | undefined
  /** True if a post or a message uses it: such media do not expire. */
  readonly used: boolean
}

/** The input of `begin`. */
export interface NewUpload {
  readonly ownerId: string
  readonly additionalOwners: ReadonlyArray<string>
  readonly category: string | undefined
  readonly mediaType: string | undefined
  readonly totalBytes: number | undefined
  readonly createdAt: number
  readonly expiresAt: number
}

/** The result of a finalized upload. */
export interface Finished {
  readonly category: string
  readonly mediaType: string
  readonly expiresAt: number
  readonly finalizedAt: number
  readonly readyAt: number
  readonly failure: Failure | undefined
  /** The media; undefined for auxiliary files such as subtitles. */
  readonly media: { readonly key: string; readonly type: MediaType; readonly facts: MediaFacts } | undefined
}

/** Content that is read in parts. */
export interface Content {
  readonly size: number
  /** The bytes from `offset` to `end` (exclusive), one segment at a time. */
  readonly read: (offset: number, end: number) => Iterable<Uint8Array<ArrayBuffer>>
}

/** Subtitles of a video. */
export interface Subtitles {
  readonly language_code: string
  readonly display_name: string
  /** The media id of the file. */
  readonly id: string
}

export interface Uploads {
  /** Returns the media id. */
  readonly begin: (upload: NewUpload) => string
  readonly byId: (id: string) => Upload | undefined
  /** Stores a segment, replacing one at the same position. */
  readonly put: (id: string, position: number, bytes: Uint8Array) => void
  /** The number of stored bytes, optionally without one position. */
  readonly size: (id: string, but?: number) => number
  readonly finish: (id: string, end: Finished) => void
  /** Marks processing as failed. */
  readonly fail: (id: string, failure: Failure, at: number) => void
  /** Marks media as used by a post or a message. */
  readonly use: (ids: ReadonlyArray<string>) => void
  /** Deletes the bytes of expired media. */
  readonly forget: (now: number) => void
  /** The stored bytes. */
  readonly content: (id: string) => Content
  readonly addSubtitles: (mediaId: string, subtitles: Subtitles) => void
  /** Returns false if there were none. */
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

const decode = (row: Row): Upload => ({
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
})

const statements = (database: Database, segments: string) => ({
  insert: database.command(
    `INSERT INTO uploads (id, owner_id, additional_owners, category, media_type, total_bytes, expires_at)
     VALUES (:id, :owner, :others, :category, :type, :total, :expires)`
  ),
  byId: database.queryAs(
    `SELECT CAST(id AS TEXT) AS id, CAST(owner_id AS TEXT) AS owner_id, additional_owners, category, media_type,
       total_bytes, expires_at, finalized_at, ready_at, failure, used
     FROM uploads WHERE id = :id`,
    decode
  ),
  put: database.command(
    `INSERT OR REPLACE INTO ${segments} (media_id, position, bytes) VALUES (:id, :position, :bytes)`
  ),
  lengths: database.query<{ readonly position: number; readonly length: number }>(
    `SELECT position, length(bytes) AS length FROM ${segments} WHERE media_id = :id ORDER BY position`
  ),
  segment: database.query<{ readonly bytes: Uint8Array<ArrayBuffer> }>(
    `SELECT bytes FROM ${segments} WHERE media_id = :id AND position = :position`
  ),
  finish: database.command(
    `UPDATE uploads SET category = :category, media_type = :type, expires_at = :expires, finalized_at = :finalized,
       ready_at = :ready, failure = :failure
     WHERE id = :id`
  ),
  insertMedia: database.command(
    "INSERT INTO media (id, media_key, owner_id, type, facts) SELECT id, :key, owner_id, :type, :facts FROM uploads WHERE id = :id"
  ),
  fail: database.command("UPDATE uploads SET failure = :failure, ready_at = :at WHERE id = :id"),
  use: database.command("UPDATE uploads SET used = 1 WHERE id IN (SELECT value FROM json_each(:ids))"),
  forget: database.command(
    `DELETE FROM ${segments} WHERE media_id IN (SELECT id FROM uploads WHERE used = 0 AND expires_at <= :now)`
  ),
  addSubtitles: database.command(
    `INSERT OR REPLACE INTO media_subtitles (media_id, language_code, subtitles_id, display_name)
     VALUES (:media, :language, :id, :name)`
  ),
  deleteSubtitles: database.command(
    "DELETE FROM media_subtitles WHERE media_id = :media AND language_code = :language"
  ),
  subtitlesOf: database.query<Subtitles>(
    `SELECT language_code, display_name, CAST(subtitles_id AS TEXT) AS id FROM media_subtitles
     WHERE media_id = :media ORDER BY language_code`
  )
})

export const make = (database: Database): Uploads => {
  const sql = statements(database, `${database.bytesIn}.media_segments`)
  const nextId = ids(database, "media", "uploads")

  return {
    begin: ({ additionalOwners, category, createdAt, expiresAt, mediaType, ownerId, totalBytes }) => {
      const id = nextId(createdAt)
      sql.insert({
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
    byId: (id) => sql.byId.get({ id: Snowflake.parse(id) }),
    put: (id, position, bytes) => void sql.put({ id: Snowflake.parse(id), position, bytes }),
    size: (id, but) =>
      sql.lengths.all({ id: Snowflake.parse(id) })
        .reduce((sum, { length, position }) => position === but ? sum : sum + length, 0),
    finish: (id, { category, expiresAt, failure, finalizedAt, media, mediaType, readyAt }) =>
      database.transaction(() => {
        sql.finish({
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
        sql.insertMedia({ id: Snowflake.parse(id), key, type, facts: JSON.stringify(facts) })
      }),
    fail: (id, failure, at) => void sql.fail({ id: Snowflake.parse(id), failure: JSON.stringify(failure), at }),
    use: (ids) => void sql.use({ ids: idList(ids) }),
    forget: (now) => void sql.forget({ now }),
    content: (id) => {
      const parts = sql.lengths.all({ id: Snowflake.parse(id) })
      // Caches the last segment: small reads follow each other, and SQLite reads whole segments.
      let [last, bytes] = [-1, new Uint8Array()]
      const at = (position: number) => {
        if (last !== position) {
          bytes = sql.segment.get({ id: Snowflake.parse(id), position })?.bytes ?? new Uint8Array()
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
      void sql.addSubtitles({
        media: Snowflake.parse(mediaId),
        language: language_code,
        id: Snowflake.parse(id),
        name: display_name
      }),
    deleteSubtitles: (mediaId, languageCode) =>
      sql.deleteSubtitles({ media: Snowflake.parse(mediaId), language: languageCode }) > 0,
    subtitlesOf: (mediaId) => sql.subtitlesOf.all({ media: Snowflake.parse(mediaId) }).map((row) => ({ ...row }))
  }
}
