/** Serves uploads and downloads of compliance jobs, in the style of an object store. The URL alone grants access. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { isSame } from "../auth/Authentication.ts"
import * as Problem from "../http/Problem.ts"
import { urlOf } from "../http/RequestTarget.ts"
import { ranged } from "../media/MediaFiles.ts"
import type { Job } from "../store/ComplianceJobs.ts"
import type { Store } from "../store/Store.ts"
import * as ComplianceJobs from "./ComplianceJobs.ts"

export const isFor = ({ url }: HttpServerRequest.HttpServerRequest): boolean => url.startsWith(ComplianceJobs.root)

/** The maximum size of an upload, in bytes. */
const maxBytes = 64 * 1_048_576

/** Accepts the ids of jobs and serves their results, completely or a range. */
export const make = ({ complianceJobs }: Store["Service"], now: () => number) => {
  const take = Effect.fnUntraced(function*(job: Job, request: HttpServerRequest.HttpServerRequest) {
    const at = now()
    // The URL is signed for this type.
    if (request.headers["content-type"] !== "text/plain") return refuse("SignatureDoesNotMatch")
    if (at >= job.created_at + ComplianceJobs.uploadMillis) return refuse("ExpiredToken")
    const bytes = yield* request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
      Effect.option
    )
    if (bytes._tag === "None" || bytes.value.byteLength > maxBytes) return refuse("EntityTooLarge")
    const ids = new TextDecoder().decode(bytes.value).split(/\r?\n/).filter((line) => line !== "")
    const wrong = ids.findIndex((id) => !/^\d{1,19}$/.test(id))
    complianceJobs.upload(job.id, {
      ids: wrong < 0 ? ids : [],
      failure: wrong < 0 ? undefined : `Line ${wrong + 1} is no id.`,
      at,
      readyAt: at + ComplianceJobs.processingMillis(ids.length)
    })
    return HttpServerResponse.empty({ status: 200 })
  })

  const give = (job: Job, request: HttpServerRequest.HttpServerRequest) => {
    const at = now()
    if (at >= job.created_at + ComplianceJobs.downloadMillis) return refuse("ExpiredToken")
    if (ComplianceJobs.statusOf(job, at) !== "complete") return refuse("NoSuchKey")
    const { id, size, uploaded_at } = job
    const headers = { etag: `"${id}-${uploaded_at}"`, "cache-control": "no-store" }
    const content = { size, read: (offset: number, end: number) => complianceJobs.read(id, offset, end) }
    return ranged(request, content, "application/octet-stream", headers)
  }

  return (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.suspend(() => {
      const url = urlOf(request)
      const { file, id } = ComplianceJobs.namedBy(url?.pathname ?? "") ?? {}
      const job = id === undefined ? undefined : complianceJobs.byId(id)
      const key = file === "results" ? job?.download_key : job?.upload_key
      if (job === undefined || key === undefined || !isSame(key, url?.searchParams.get("signature") ?? "")) {
        return Effect.succeed(refuse("SignatureDoesNotMatch"))
      }
      if (file === "submission" && request.method === "PUT") return take(job, request)
      return Effect.succeed(
        file === "results" && request.method === "GET" ? give(job, request) : refuse("MethodNotAllowed")
      )
    }).pipe(Problem.answerDefects)
}

const statuses = {
  EntityTooLarge: 400,
  ExpiredToken: 400,
  MethodNotAllowed: 405,
  NoSuchKey: 404,
  SignatureDoesNotMatch: 403
} as const

const refuse = (code: keyof typeof statuses): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`, {
    status: statuses[code],
    contentType: "application/xml"
  })
