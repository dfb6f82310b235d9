/** Serves media files. As at the service, the URL alone grants access. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import * as Problem from "../http/Problem.ts"
import { urlOf } from "../http/RequestTarget.ts"
import type { Store } from "../store/Store.ts"
import type { Content } from "../store/Uploads.ts"
import * as Processing from "./Processing.ts"

/** The path prefix of media. */
const root = "/media/"

/** The path of media: the key with a file extension. */
export const pathOf = (mediaKey: string, mediaType: string): string =>
  `${root}${mediaKey}.${extensions.get(mediaType) ?? "bin"}`

/** The path of a file in a message: both ids and the file name. */
export const inMessage = (path: string, messageId: string): string =>
  path.replace(/^\/media\/(\d+_(\d+)\.\w+)$/, `${root}dm/${messageId}/$2/$1`)

/** Types that browsers may display. Others are sent as downloads. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["video/mp4", "mp4"],
  ["video/quicktime", "mov"],
  ["video/webm", "webm"]
])

export const isFor = ({ url }: HttpServerRequest.HttpServerRequest): boolean => url.startsWith(root)

/** Serves processed media, completely or a range. */
export const make = (store: Store["Service"], now: () => number) =>
(
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    const path = (urlOf(request)?.pathname ?? "").replace(/dm\/\d+\/\d+\//, "")
    const key = path.slice(root.length).replace(/\.\w+$/, "")
    const id = key.slice(key.indexOf("_") + 1)
    const upload = store.uploads.byId(id)
    const type = upload?.media_type
    if (
      upload === undefined || type === undefined || Processing.stateOf(upload, now()) !== "succeeded" ||
      path !== pathOf(key, type) || store.attachments.mediaByKeys([key]).length === 0 ||
      (request.method !== "GET" && request.method !== "HEAD")
    ) return Problem.response(Problem.noRoute())
    const headers = safety(type, path.slice(root.length))
    const contentType = extensions.has(type) ? type : "application/octet-stream"
    return ranged(request, store.uploads.content(id), contentType, headers)
  }).pipe(Problem.answerDefects)

export const response = (
  { content, type }: { readonly content: Content; readonly type: string }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(streamOf(content, 0, content.size), {
    contentType: type,
    contentLength: content.size,
    headers: { "x-content-type-options": "nosniff" }
  })

/** The response with content, completely or the requested range. */
export const ranged = (
  { headers: { range: wanted }, method }: HttpServerRequest.HttpServerRequest,
  content: Omit<Content, "read"> & { readonly read: (offset: number, end: number) => Iterable<Uint8Array> },
  contentType: string,
  more: Record<string, string>
): HttpServerResponse.HttpServerResponse => {
  const { size } = content
  const range = rangeOf(wanted, size)
  const headers = { ...more, "accept-ranges": "bytes" }
  if (range === "unsatisfiable") {
    return HttpServerResponse.empty({ status: 416, headers: { ...headers, "content-range": `bytes */${size}` } })
  }
  const { end, start } = range ?? { start: 0, end: size }
  return HttpServerResponse.stream(method === "HEAD" ? Stream.empty : streamOf(content, start, end), {
    status: range === undefined ? 200 : 206,
    contentType,
    contentLength: end - start,
    headers: range === undefined ? headers : { ...headers, "content-range": `bytes ${start}-${end - 1}/${size}` }
  })
}

/** Reads one segment at a time, on demand. */
const streamOf = ({ read }: Pick<Parameters<typeof ranged>[1], "read">, start: number, end: number) =>
  Stream.fromIterable(read(start, end), { chunkSize: 1 })

/** Untrusted files share the console's origin: no content sniffing, scripts or subresources. */
const safety = (type: string, name: string): Record<string, string> => ({
  "content-disposition": `${extensions.has(type) ? "inline" : "attachment"}; filename="${name}"`,
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-site",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store"
})

/** The range of a header; undefined, for the whole file, if there are several or it is invalid. */
export const rangeOf = (
  header: string | undefined,
  size: number
): { readonly start: number; readonly end: number } | "unsatisfiable" | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? []
  if (first === "" && last === "") return undefined
  const start = first === "" ? Math.max(size - Number(last), 0) : Number(first)
  const end = first === "" || last === "" ? size : Math.min(Number(last) + 1, size)
  return first !== "" && last !== "" && Number(last) < start
    ? undefined
    : start < end
    ? { start, end }
    : "unsatisfiable"
}
