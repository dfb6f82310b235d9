/** Batch compliance jobs and their results. */
import { randomBytes } from "node:crypto"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"

/** The kind of id that a job checks. */
export type Type = "posts" | "users"

const job = Records.record("j", {
  id: Records.id(),
  app_id: Records.id(),
  type: Records.text<Type>(),
  name: Records.optional(Records.text()),
  resumable: Records.flag(),
  created_at: Records.millis("id"),
  /** The secret of the upload URL. */
  upload_key: Records.text(),
  download_key: Records.text(),
  /** The upload time of the ids. */
  uploaded_at: Records.optional(Records.number()),
  /** The time at which the results are ready. */
  ready_at: Records.optional(Records.number()),
  /** The reason of a failed job. */
  failure: Records.optional(Records.text()),
  /** The size of the results, in bytes. */
  size: Records.number()
})

/** A job. Times are in milliseconds since the epoch. */
export type Job = Records.Of<typeof job>

/** The input of `insert`. */
export interface NewJob extends Pick<Job, "type" | "resumable"> {
  readonly appId: string
  readonly name: string | undefined
  readonly createdAt: number
}

/** Uploaded ids, or the reason why the upload was unusable. */
export interface Uploaded {
  readonly ids: ReadonlyArray<string>
  readonly failure: string | undefined
  readonly at: number
  readonly readyAt: number
}

/** The number of ids checked by one statement. */
const most = 10_000

export const make = (database: Database) => {
  const nextId = ids(database, "compliance_jobs")
  const byId = database.select(job, "FROM compliance_jobs j WHERE id = :id")
  const of = database.select(job, "FROM compliance_jobs j WHERE app_id = :app AND type = :type ORDER BY j.id DESC")
  const finish = database.command(
    `UPDATE compliance_jobs SET uploaded_at = :at, ready_at = :ready, failure = :failure, size = :size WHERE id = :id`
  )
  const forget = database.command("DELETE FROM compliance_results WHERE job_id = :id")
  const read = database.query<{ readonly position: number; readonly bytes: Uint8Array }>(
    `SELECT position, bytes FROM compliance_results
     WHERE job_id = :id AND position < :end AND position + length(bytes) > :offset ORDER BY position`
  )
  const reasons = {
    posts: database.query<Reason>(`
      SELECT ids.key AS place, CASE
        WHEN p.id IS NULL THEN 'deleted' WHEN u.suspended THEN 'suspended' WHEN u.protected THEN 'protected'
        ELSE 'scrub_geo' END AS reason
      FROM json_each(:ids) ids LEFT JOIN posts p ON p.id = ids.value LEFT JOIN users u ON u.id = p.author_id
      WHERE p.id IS NULL OR u.suspended OR u.protected OR p.facts ->> '$.geo_scrubbed' ORDER BY ids.key`),
    users: database.query<Reason>(`
      SELECT ids.key AS place, CASE
        WHEN u.id IS NULL THEN 'deleted' WHEN u.suspended THEN 'suspended' ELSE 'protected' END AS reason
      FROM json_each(:ids) ids LEFT JOIN users u ON u.id = ids.value
      WHERE u.id IS NULL OR u.suspended OR u.protected ORDER BY ids.key`)
  }

  const resultsOf = (type: Type, ids: ReadonlyArray<string>, at: number): Buffer =>
    Buffer.from(
      reasons[type].all({ ids: idList(ids) }).map(({ place, reason }) => {
        const id = ids[place] ?? ""
        const result = {
          id,
          action: "delete",
          created_at: new Date(Snowflake.toMillis(Snowflake.parse(id))).toISOString(),
          redacted_at: new Date(at).toISOString(),
          reason
        }
        return `${JSON.stringify(result)}\n`
      }).join("")
    )

  return {
    /** Returns the id. */
    insert: ({ appId, createdAt, ...job }: NewJob): string => {
      const id = nextId(createdAt)
      const [upload_key, download_key] = [randomBytes(24).toString("hex"), randomBytes(24).toString("hex")]
      database.insert("compliance_jobs", { id, app_id: appId, ...job, upload_key, download_key })
      return String(id)
    },
    byId: (id: string) => byId.get({ id }),
    /** The jobs of an app, latest first. */
    of: (app: string, type: Type) => of.all({ app, type }),
    /** Checks all ids and stores the results, replacing earlier ones. */
    upload: (id: string, { at, failure, ids, readyAt }: Uploaded): void =>
      database.transaction(() => {
        const type = byId.get({ id })?.type ?? "posts"
        forget({ id })
        let size = 0
        for (let from = 0; from < ids.length; from += most) {
          const bytes = resultsOf(type, ids.slice(from, from + most), at)
          if (bytes.length === 0) continue
          database.insert("compliance_results", { job_id: id, position: size, bytes })
          size += bytes.length
        }
        finish({ id, at, ready: readyAt, failure: failure ?? null, size })
      }),
    /** The bytes of the results from `offset` to `end` (exclusive), in chunks. */
    read: function*(id: string, offset: number, end: number): Iterable<Uint8Array> {
      for (const { bytes, position } of read.all({ id, offset, end })) {
        yield bytes.subarray(Math.max(offset - position, 0), end - position)
      }
    }
  }
}

interface Reason {
  /** The index among the ids. */
  readonly place: number
  readonly reason: string
}
