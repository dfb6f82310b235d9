/** How far a compliance job is, by the clock of the service, and where its files are. */
import type { Job } from "../store/ComplianceJobs.ts"

const minute = 60_000

/** How long ids can be sent after a job was created, in milliseconds. */
export const uploadMillis = 15 * minute

/** How long its results can be fetched, in milliseconds. */
export const downloadMillis = 7 * 24 * 60 * minute

/** How long so many ids are looked at, in milliseconds: a second for every 100,000 that are begun. */
export const processingMillis = (ids: number): number => Math.ceil(ids / 100_000) * 1_000

/** Where the addresses of files begin. */
export const root = "/compliance/"

type File = "submission" | "results"

const pathOf = ({ download_key, id, upload_key }: Job, file: File): string =>
  `${root}${id}/${file}?signature=${file === "submission" ? upload_key : download_key}`

/** The job and its file that a path is of. */
export const namedBy = (path: string): { readonly id: string; readonly file: File } | undefined => {
  const [, id, file] = /^\/compliance\/(\d{1,19})\/(submission|results)$/.exec(path) ?? []
  return id === undefined ? undefined : { id, file: file === "results" ? file : "submission" }
}

/** How far a job is. */
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

/** A job as the service tells of it. Its addresses are under that of the sandbox. */
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
