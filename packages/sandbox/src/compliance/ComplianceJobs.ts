/** The state of compliance jobs by the clock of the service, and the paths of their files. */
import type { Job } from "../store/ComplianceJobs.ts"

const minute = 60_000

/** How long a job accepts ids, in milliseconds. */
export const uploadMillis = 15 * minute

/** How long its results are available, in milliseconds. */
export const downloadMillis = 7 * 24 * 60 * minute

/** The processing time of ids, in milliseconds: a second for every started 100,000. */
export const processingMillis = (ids: number): number => Math.ceil(ids / 100_000) * 1_000

/** The path prefix of files. */
export const root = "/compliance/"

type File = "submission" | "results"

const pathOf = ({ download_key, id, upload_key }: Job, file: File): string =>
  `${root}${id}/${file}?signature=${file === "submission" ? upload_key : download_key}`

/** The job and the kind of file of a path. */
export const namedBy = (path: string): { readonly id: string; readonly file: File } | undefined => {
  const [, id, file] = /^\/compliance\/(\d{1,19})\/(submission|results)$/.exec(path) ?? []
  return id === undefined ? undefined : { id, file: file === "results" ? file : "submission" }
}

export type Status = "created" | "in_progress" | "complete" | "failed" | "expired"

/** The status of a job at `now`, in milliseconds since the epoch. */
export const statusOf = ({ created_at, failure, ready_at }: Job, now: number): Status =>
  ready_at === undefined
    ? now < created_at + uploadMillis ? "created" : "expired"
    : now < ready_at
    ? "in_progress"
    : failure === undefined
    ? "complete"
    : "failed"

/** The representation of a job in responses, with URLs relative to the sandbox. */
export const toldOf = (job: Job, now: number): object => {
  const { created_at, id, name, resumable, type } = job
  return {
    id,
    type,
    status: statusOf(job, now),
    created_at: new Date(created_at).toISOString(),
    upload_url: pathOf(job, "submission"),
    upload_expires_at: new Date(created_at + uploadMillis).toISOString(),
    download_url: pathOf(job, "results"),
    download_expires_at: new Date(created_at + downloadMillis).toISOString(),
    ...(name !== undefined && { name }),
    resumable
  }
}
