/** The part of a service that takes media, in memory: it keeps what it got, and fails as a test says. */
import { Clock, Effect, Fiber, Layer } from "effect"
import { HttpClient, type HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as Client from "../../src/client/Client.ts"
import * as Transport from "../../src/http/Transport.ts"
import * as Multipart from "../../src/schema/Multipart.ts"
import * as Service from "./Service.ts"

export type Operation = "initialize" | "append" | "finalize" | "status" | "metadata" | "subtitles"

export interface Call {
  readonly operation: Operation
  /** How many calls of this operation came before. */
  readonly nth: number
  readonly mediaId: string
  /** Of a segment. */
  readonly index: number
  readonly body: Readonly<Record<string, unknown>>
  /** By the clock of the service. */
  readonly at: number
}

/** What goes wrong with a call: it is answered so, or its connection is lost, before or after it has taken effect. */
export type Fault = Service.Answer | "lost before" | "lost after" | { readonly after: Service.Answer } | undefined

export interface Processing {
  readonly state?: string
  readonly check_after_secs?: number
  readonly progress_percent?: number
  readonly error?: object
}

export interface Options {
  readonly fault?: (call: Call) => Fault | Effect.Effect<Fault>
  /** What finalize and then each status says; the last one stays. Media are ready at once by default. */
  readonly processing?: ReadonlyArray<Processing | undefined>
  /** Whether segments are copied, as they must be where a buffer is used again. Default true. */
  readonly copies?: boolean
  readonly headers?: (call: Call) => Readonly<Record<string, string>>
}

export interface Upload {
  readonly terms: Readonly<Record<string, unknown>>
  readonly segments: Map<number, Uint8Array>
  isEnded: boolean
  statuses: number
}

const problem = (status: number, detail: string): Service.Answer => ({ status, body: { title: "Refused", detail } })

export const make = (
  { copies = true, fault = () => undefined, headers = () => ({}), processing = [] }: Options = {}
) => {
  const uploads = new Map<string, Upload>()
  const calls: Array<Call> = []

  const answer = ({ body, index, mediaId, operation }: Call, media: Uint8Array): Service.Answer => {
    const upload = uploads.get(mediaId)
    const told = () => {
      const processing_info = processing[Math.min(upload?.statuses ?? 0, processing.length - 1)]
      if (upload !== undefined) upload.statuses++
      return {
        body: {
          data: {
            id: mediaId,
            media_key: `3_${mediaId}`,
            size: sizeOf(upload),
            expires_after_secs: 86_400,
            ...(processing_info && { processing_info })
          }
        }
      }
    }
    if (operation === "initialize") {
      const id = String(uploads.size + 1)
      uploads.set(id, { terms: body, segments: new Map(), isEnded: false, statuses: 0 })
      return { body: { data: { id, media_key: `3_${id}`, expires_after_secs: 3600 } } }
    }
    if (operation === "metadata" || operation === "subtitles") return { body: { data: { id: mediaId } } }
    if (upload === undefined) return problem(404, "There is no such upload.")
    if (operation === "status") return upload.isEnded ? told() : problem(400, "It is not finalized.")
    if (upload.isEnded) return problem(400, "It is finalized.")
    if (operation === "append") {
      upload.segments.set(index, media)
      return { body: { data: { expires_at: 7200 } } }
    }
    if (sizeOf(upload) !== upload.terms["total_bytes"]) return problem(400, "Segments do not add up.")
    upload.isEnded = true
    return told()
  }

  const http = HttpClient.make((request) =>
    Effect.gen(function*() {
      const { pathname, searchParams } = new URL(request.url)
      const [, id = "", action] = /\/upload\/(\d+)\/(\w+)$/.exec(pathname) ?? []
      const operation = (action ?? (pathname.endsWith("/upload") ? "status" : pathname.split("/").at(-1))) as Operation
      const form = request.body instanceof Multipart.Form ? request.body.bytes : []
      const media = form[1] instanceof Uint8Array ? form[1] : new Uint8Array()
      const text = form[0] instanceof Uint8Array ? new TextDecoder().decode(form[0]) : ""
      const body = request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : {}
      const call: Call = {
        operation,
        nth: calls.filter((call) => call.operation === operation).length,
        mediaId: id || searchParams.get("media_id") || body.id || "",
        index: Number(/name="segment_index"\r\n\r\n(\d+)/.exec(text)?.[1] ?? -1),
        body,
        at: yield* Clock.currentTimeMillis
      }
      calls.push(call)
      const found = fault(call)
      const failure = Effect.isEffect(found) ? yield* found : found
      const lost: Effect.Effect<never, HttpClientError.HttpClientError> = Service.transportError({ code: "ECONNRESET" })
      if (failure === "lost before") return yield* lost
      const said = failure === undefined || failure === "lost after" || "after" in failure
        ? answer(call, copies ? media.slice() : media)
        : failure
      if (failure === "lost after") return yield* lost
      const { body: shown = {}, status = 200, ...rest } = failure !== undefined && "after" in failure
        ? failure.after
        : said
      return HttpClientResponse.fromWeb(
        request,
        new Response(JSON.stringify(shown), { status, headers: { ...headers(call), ...rest.headers } })
      )
    })
  )
  const telling = Object.assign(http, {
    [Transport.reports]: (request: Parameters<typeof http.execute>[0]) => http.execute(request)
  })

  return {
    uploads,
    calls,
    /** The bytes of an upload, put together. */
    bytes: (id: string): Uint8Array => {
      const segments = [...uploads.get(id)?.segments ?? []].sort(([a], [b]) => a - b)
      return Buffer.concat(segments.map(([, bytes]) => bytes))
    },
    /** The operations that were called, in their order. */
    operations: () => calls.map(({ operation }) => operation),
    layer: (
      settings: Service.Settings = {},
      services: Layer.Layer<never> = Layer.empty,
      credentials: Credentials.Settings = Service.secrets
    ) =>
      Client.layer({ baseUrl: Service.baseUrl, retries: 0, ...settings, wire: undefined }).pipe(
        Layer.provide([Credentials.layer(credentials), Layer.succeed(HttpClient.HttpClient, telling), services])
      )
  }
}

const sizeOf = (upload: Upload | undefined): number =>
  [...upload?.segments.values() ?? []].reduce((size, { length }) => size + length, 0)

/** Runs an Effect to its end while the time passes, however much it needs. Real Promises are given their turn. */
export const passing = <A, E, R>(effect: Effect.Effect<A, E, R>, stepMillis = 250): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust(stepMillis)
    }
    return yield* Fiber.join(fiber)
  })

/** Bytes that differ everywhere, of no type that anything could tell. */
export const noise = (length: number, seed = 1): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let at = 0, block = 0; at < length; at += 32, block++) {
    bytes.set(createHash("sha256").update(`${seed} ${block}`).digest().subarray(0, length - at), at)
  }
  return bytes
}
