/** Media uploads: sessions, segments and results. */
import type { MediaFacts, MediaType } from "./Attachments.ts"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Records from "./Records.ts"

/** The reason why media cannot be used. */
export interface Failure {
  readonly code: number
  readonly name: string
  readonly message: string
}

const upload = Records.record("u", {
  /** The media id. */
  id: Records.id(),
  owner_id: Records.id(),
  additional_owners: Records.json<ReadonlyArray<string>>(),
  /** Undefined until declared, or detected when the upload is finalized. */
  category: Records.optional(Records.text()),
  /** The declared type; once finalized, the detected one. */
  media_type: Records.optional(Records.text()),
  total_bytes: Records.optional(Records.number()),
  expires_at: Records.number(),
  finalized_at: Records.optional(Records.number()),
  /** The time at which processing ends. */
  ready_at: Records.optional(Records.number()),
  /** The error of failed processing. */
  failure: Records.optional(Records.json<Failure>()),
  /** True if a post or a message uses it: such media do not expire. */
  used: Records.flag()
})

/** An upload. Times are in milliseconds since the epoch. */
export type Upload = Records.Of<typeof upload>

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

const statements = (database: Database, segments: string) => ({
  byId: database.select(upload, "FROM uploads u WHERE id = :id"),
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
  deleteSubtitles: database.command(
    "DELETE FROM media_subtitles WHERE media_id = :media AND language_code = :language"
  ),
  subtitlesOf: database.query<Subtitles>(
    `SELECT language_code, display_name, CAST(subtitles_id AS TEXT) AS id FROM media_subtitles
     WHERE media_id = :media ORDER BY language_code`
  )
})

export const make = (database: Database) => {
  const segments = `${database.bulkIn}.media_segments`
  const sql = statements(database, segments)
  const nextId = ids(database, "media", "uploads", "chat_files")

  return {
    /** Returns the media id. */
    begin: (upload: NewUpload): string => {
      const id = nextId(upload.createdAt)
      database.insert("uploads", {
        id,
        owner_id: upload.ownerId,
        additional_owners: upload.additionalOwners,
        category: upload.category,
        media_type: upload.mediaType,
        total_bytes: upload.totalBytes,
        expires_at: upload.expiresAt
      })
      return String(id)
    },
    byId: (id: string) => sql.byId.get({ id }),
    /** Stores a segment, replacing one at the same position. */
    put: (id: string, position: number, bytes: Uint8Array): void =>
      void database.insert(segments, { media_id: id, position, bytes }, "REPLACE"),
    /** The number of stored bytes, optionally without one position. */
    size: (id: string, but?: number): number =>
      sql.lengths.all({ id }).reduce((sum, { length, position }) => position === but ? sum : sum + length, 0),
    finish: (
      id: string,
      { category, expiresAt: expires, failure, finalizedAt: finalized, media, mediaType: type, readyAt: ready }:
        Finished
    ): void =>
      database.transaction(() => {
        const failed = failure === undefined ? null : JSON.stringify(failure)
        sql.finish({ id, category, type, expires, finalized, ready, failure: failed })
        if (media !== undefined) sql.insertMedia({ ...media, id, facts: JSON.stringify(media.facts) })
      }),
    /** Marks processing as failed. */
    fail: (id: string, failure: Failure, at: number): void =>
      void sql.fail({ id, failure: JSON.stringify(failure), at }),
    /** Marks media as used by a post or a message. */
    use: (ids: ReadonlyArray<string>): void => void sql.use({ ids: idList(ids) }),
    /** Deletes the bytes of expired media. */
    forget: (now: number): void => void sql.forget({ now }),
    /** The stored bytes. */
    content: (id: string): Content => {
      const parts = sql.lengths.all({ id })
      // Caches the last segment: small reads follow each other, and SQLite reads whole segments.
      let [last, bytes] = [-1, new Uint8Array()]
      const at = (position: number) => {
        if (last !== position) {
          bytes = sql.segment.get({ id, position })?.bytes ?? new Uint8Array()
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
    addSubtitles: (mediaId: string, { id, ...subtitles }: Subtitles): void =>
      void database.insert("media_subtitles", { media_id: mediaId, subtitles_id: id, ...subtitles }, "REPLACE"),
    /** Returns false if there were none. */
    deleteSubtitles: (media: string, language: string): boolean => sql.deleteSubtitles({ media, language }) > 0,
    subtitlesOf: (media: string): ReadonlyArray<Subtitles> => sql.subtitlesOf.all({ media }).map((row) => ({ ...row }))
  }
}
