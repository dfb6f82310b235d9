/** Uploads as a client of the service makes them, by hand. */
import { Effect } from "effect"
import * as MediaBytes from "../../../core/test/support/MediaBytes.ts"
import type { Authorization, Bench } from "./Requests.ts"

/** A body of parts, and its type. */
export const multipart = Effect.fnUntraced(
  function*(parts: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>) {
    const form = new FormData()
    for (const [name, value] of Object.entries(parts)) {
      if (typeof value === "string") form.append(name, value)
      else form.append(name, new Blob([value]), name)
    }
    const encoded = new Response(form)
    const body = new Uint8Array(yield* Effect.promise(() => encoded.arrayBuffer()))
    return { body, type: encoded.headers.get("content-type") ?? "" }
  }
)

/** What an upload does, step by step. */
export const of = ({ request }: Bench, as: Authorization = "user") => {
  const initialize = (body: object) => request("POST", "/2/media/upload/initialize", { as, body })

  const append = Effect.fnUntraced(function*(id: string, segment_index: number, media: Uint8Array<ArrayBuffer>) {
    const parts = yield* multipart({ segment_index: String(segment_index), media })
    return yield* request("POST", `/2/media/upload/${id}/append`, { as, ...parts })
  })

  const finalize = (id: string) => request("POST", `/2/media/upload/${id}/finalize`, { as })

  const status = (id: string) => request("GET", `/2/media/upload?command=STATUS&media_id=${id}`, { as })

  /** In one request. */
  const whole = Effect.fnUntraced(function*(media: Uint8Array<ArrayBuffer>, media_category: string) {
    return yield* request("POST", "/2/media/upload", { as, ...yield* multipart({ media_category, media }) })
  })

  /** In segments; answers what finalize does. */
  const inSegments = Effect.fnUntraced(function*(media: Uint8Array<ArrayBuffer>, told: object, segmentBytes: number) {
    const { body: { data: { id } } } = yield* initialize({ total_bytes: media.length, ...told })
    for (let i = 0; i * segmentBytes < media.length; i++) {
      yield* append(id, i, media.slice(i * segmentBytes, (i + 1) * segmentBytes))
    }
    return yield* finalize(id)
  })

  /** The id of a photo that can be used. */
  const photo = Effect.map(whole(MediaBytes.png(), "tweet_image"), ({ body }): string => body.data.id)

  return { initialize, append, finalize, status, whole, inSegments, photo }
}
