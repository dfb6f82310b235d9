/** The processing state of uploads. It is simulated: it depends only on the service's clock. */
import type { Upload } from "../store/Uploads.ts"

/** How long an upload accepts bytes, in seconds. */
export const sessionSeconds = 1_295_999

/** How long media can be used after the upload is finalized, in seconds. */
export const validitySeconds = 86_400

export type State = "uploading" | "pending" | "in_progress" | "succeeded" | "failed" | "expired"

/** The `processing_info` of an upload. */
export interface Info {
  readonly state: State
  readonly check_after_secs?: number
  readonly progress_percent?: number
  readonly error?: Upload["failure"]
}

/** The processing time in milliseconds: a second for every started 16 MiB. Images are not processed. */
export const millisOf = (mediaType: string, category: string, size: number): number =>
  mediaType.startsWith("video/") || category.endsWith("_gif") ? Math.ceil(size / (16 * 1_048_576)) * 1_000 : 0

/** The state of an upload at `now`, in milliseconds since the epoch. */
export const stateOf = ({ expires_at, failure, finalized_at, ready_at, used }: Upload, now: number): State => {
  if (!used && now >= expires_at) return "expired"
  if (finalized_at === undefined || ready_at === undefined) return "uploading"
  if (now >= ready_at) return failure === undefined ? "succeeded" : "failed"
  return shareOf(finalized_at, ready_at, now) < 0.25 ? "pending" : "in_progress"
}

const shareOf = (from: number, to: number, now: number): number => Math.max(0, (now - from) / (to - from))

/** The `processing_info` of an upload at `now`; undefined if nothing is processed. */
export const infoOf = (upload: Upload, now: number): Info | undefined => {
  const { failure, finalized_at: from, ready_at: to } = upload
  if (from === undefined || to === undefined || (from === to && failure === undefined)) return undefined
  const state = stateOf(upload, now)
  const check_after_secs = Math.min(Math.ceil((to - now) / 1_000), 30)
  switch (state) {
    case "pending":
      return { state, check_after_secs }
    case "in_progress":
      return { state, check_after_secs, progress_percent: Math.floor(shareOf(from, to, now) * 100) }
    case "failed":
      return { state, progress_percent: 100, ...(failure === undefined ? {} : { error: failure }) }
    default:
      return { state, progress_percent: 100 }
  }
}
