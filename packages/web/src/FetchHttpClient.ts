/**
 * An `HttpClient` on `fetch`, for the requests of this client. It sets what every platform has, and follows no redirect.
 * Time and size are limited above it: `fetch` tells nothing on its way.
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { EncodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"

/** A function like `fetch`. It is called with no more than this, since not every platform takes all of `RequestInit`. */
export type Fetch = (url: string, init: FetchInit) => Promise<globalThis.Response>

/** What a request is besides its address. */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer>
  /** The credential goes nowhere that the client has not looked at. */
  readonly redirect: "manual"
  readonly signal: AbortSignal
}

/** A client on a function like `fetch`; without one, on that of the platform as it is when a request is sent. */
export const layer = (given?: Fetch): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url, signal) => {
      const { body, method } = request
      if (body._tag !== "Empty" && body._tag !== "Uint8Array") {
        return Effect.fail(new HttpClientError({ reason: new EncodeError({ request, cause: body._tag }) }))
      }
      const send: Fetch = given ?? globalThis.fetch
      const init = { method, headers: { ...request.headers }, redirect: "manual", signal } as const
      return Effect.map(
        Effect.tryPromise({
          try: () => send(url.href, body._tag === "Empty" ? init : { ...init, body: new Uint8Array(body.body) }),
          catch: (cause) => new HttpClientError({ reason: new TransportError({ request, cause }) })
        }),
        (response) => HttpClientResponse.fromWeb(request, response)
      )
    })
  )
