/**
 * An `HttpClient` on `fetch`, for the requests of this client. It uses only what every platform supports, and follows no redirects.
 * Timeouts and size limits are enforced by the caller: `fetch` reports no progress.
 */
import * as Multipart from "@postwire/core/schema/Multipart"
import * as Effect from "effect/Effect"
import type { HttpBody } from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import { EncodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"

/** A function like `fetch`. It is called with these members only, since not every platform supports all of `RequestInit`. */
export type Fetch = (url: string, init: FetchInit) => Promise<globalThis.Response>

/** A request without its address. */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer> | Blob
  /** The credential is sent only to addresses that the client has checked. */
  readonly redirect: "manual"
  readonly signal: AbortSignal
}

/** A client on a function like `fetch`. Default: the global `fetch` at the time of a request. */
export const layer = (given?: Fetch): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url, signal) => {
      const { method } = request
      const body = bodyOf(request.body)
      if (body === undefined) {
        return Effect.fail(new HttpClientError({ reason: new EncodeError({ request, cause: request.body._tag }) }))
      }
      const send: Fetch = given ?? globalThis.fetch
      const { "content-length": _, ...headers } = request.headers
      const init = { method, headers, ...body, redirect: "manual", signal } as const
      return Effect.map(
        Effect.tryPromise({
          try: () => send(url.href, init),
          catch: (cause) => new HttpClientError({ reason: new TransportError({ request, cause }) })
        }),
        (response) => HttpClientResponse.fromWeb(request, response)
      )
    })
  )

/** The body for `fetch`; `undefined` if there is none. */
const bodyOf = (body: HttpBody): Pick<FetchInit, "body"> | undefined => {
  if (body._tag === "Empty") return {}
  if (body._tag === "Uint8Array") return { body: new Uint8Array(body.body) }
  // Not every platform sends streams. Every platform knows the length of a Blob, and need not hold it in memory.
  return body instanceof Multipart.Content ? { body: new Blob([...body.bytes]) } : undefined
}
