/** Batch compliance jobs and their results. */
import { randomBytes } from "node:crypto"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** The kind of id that a job checks. */
export type Type = "posts" | "users"

/** A job. Times are in milliseconds since the epoch. */
export interface Job {
  readonly id: string
  readonly app_id: string
  readonly type: Type
  readonly name: string | undefined
  readonly resumable: boolean
  readonly created_at: number
  /** The secret of the upload URL. */
  readonly upload_key: string
  readonly download_key: string
  /** The upload time of the ids. */
  readonly uploaded_at: number | undefined
  /** The time at which the results are ready. */
  readonly ready_at: number | undefined
  /** The reason of a failed job. */
  readonly failure: string | undefined
  /** The size of the results, in bytes. */
  readonly size: number
}

/** The input of `insert`. */
export interface NewJob extends Pick<Job, "type" | "name" | "resumable"> {
  readonly appId: string
  readonly createdAt: number
}

/** Uploaded ids, or the reason why the upload was unusable. */
export interface Uploaded {
  readonly ids: ReadonlyArray<string>
  readonly failure: string | undefined
  readonly at: number
  readonly readyAt: number
}

export interface ComplianceJobs {
  /** Returns the id. */
  readonly insert: (job: NewJob) => string
  readonly byId: (id: string) => Job | undefined
  /** The jobs of an app, latest first. */
  readonly of: (appId: string, type: Type) => ReadonlyArray<Job>
  /** Checks all ids and stores the results, replacing earlier ones. */
  readonly upload: (id: string, uploaded: Uploaded) => void
  /** The bytes of the results from `offset` to `end` (exclusive), in chunks. */
  readonly read: (id: string, offset: number, end: number) => Iterable<Uint8Array>
}

interface Row {
  readonly id: string
  readonly app_id: string
  readonly type: Type
  readonly name: string | null
  readonly resumable: number
  readonly created_at: number
  readonly upload_key: string
  readonly download_key: string
  readonly uploaded_at: number | null
  readonly ready_at: number | null
  readonly failure: string | null
  readonly size: number
}

const columns = `CAST(id AS TEXT) AS id, CAST(app_id AS TEXT) AS app_id, type, name, resumable,
  id >> ${Snowflake.counterBits} AS created_at, upload_key, download_key, uploaded_at, ready_at, failure, size`

const decode = ({ failure, name, ready_at, resumable, uploaded_at, ...row }: Row): Job => ({
  ...row,
  name: name ?? undefined,
  resumable: resumable === 1,
  uploaded_at: uploaded_at ?? undefined,
  ready_at: ready_at ?? undefined,
  failure: failure ?? undefined
})

/** The number of ids checked by one statement. */
const most = 10_000

export const make = (database: Database): ComplianceJobs => {
  const nextId = ids(database, "compliance_jobs")
  const insert = database.command(
    `INSERT INTO compliance_jobs (id, app_id, type, name, resumable, upload_key, download_key)
     VALUES (:id, :app, :type, :name, :resumable, :upload, :download)`
  )
  const byId = database.queryAs(`SELECT ${columns} FROM compliance_jobs WHERE id = :id`, decode)
  const of = database.queryAs(
    `SELECT ${columns} FROM compliance_jobs WHERE app_id = :app AND type = :type ORDER BY compliance_jobs.id DESC`,
    decode
  )
  const finish = database.command(
    `UPDATE compliance_jobs SET uploaded_at = :at, ready_at = :ready, failure = :failure, size = :size WHERE id = :id`
  )
  const forget = database.command("DELETE FROM compliance_results WHERE job_id = :id")
  const keep = database.command(
    "INSERT INTO compliance_results (job_id, position, bytes) VALUES (:id, :position, :bytes)"
  )
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
    insert: ({ appId, createdAt, name, resumable, type }) => {
      const id = nextId(createdAt)
      insert({
        id,
        app: Snowflake.parse(appId),
        type,
        name: name ?? null,
        resumable: Number(resumable),
        upload: randomBytes(24).toString("hex"),
        download: randomBytes(24).toString("hex")
      })
      return String(id)
    },
    byId: (id) => byId.get({ id: Snowflake.parse(id) }),
    of: (appId, type) => of.all({ app: Snowflake.parse(appId), type }),
    upload: (id, { at, failure, ids, readyAt }) =>
      database.transaction(() => {
        const key = Snowflake.parse(id)
        const type = byId.get({ id: key })?.type ?? "posts"
        forget({ id: key })
        let size = 0
        for (let from = 0; from < ids.length; from += most) {
          const bytes = resultsOf(type, ids.slice(from, from + most), at)
          if (bytes.length === 0) continue
          keep({ id: key, position: size, bytes })
          size += bytes.length
        }
        finish({ id: key, at, ready: readyAt, failure: failure ?? null, size })
      }),
    read: function*(id, offset, end) {
      for (const { bytes, position } of read.all({ id: Snowflake.parse(id), offset, end })) {
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
