/** An `HttpClientResponse` whose body has arrived: no streams, no decoder state, no finalizers. */
import { received } from "@postwire/core/RateLimitHeaders"
import { webOf } from "@postwire/core/Transport"
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import * as Error from "effect/http/HttpClientError"
import * as Request from "effect/http/HttpClientRequest"
import * as Response from "effect/http/HttpClientResponse"
import * as IncomingMessage from "effect/http/HttpIncomingMessage"
import * as UrlParams from "effect/http/UrlParams"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"
import type * as Schema from "effect/Schema"
import type * as Socket from "effect/socket/Socket"
import * as Stream from "effect/Stream"

export type IncomingHeaders = Readonly<Record<string, string | Array<string> | undefined>>

export class BufferedResponse extends Inspectable.Class implements Response.HttpClientResponse {
  readonly [IncomingMessage.TypeId]: typeof IncomingMessage.TypeId = IncomingMessage.TypeId
  readonly [Response.TypeId]: typeof Response.TypeId = Response.TypeId
  readonly request: Request.HttpClientRequest
  readonly status: number
  readonly [received]: IncomingHeaders
  readonly body: Buffer<ArrayBuffer>

  constructor(
    request: Request.HttpClientRequest,
    status: number,
    rawHeaders: IncomingHeaders,
    body: Buffer<ArrayBuffer>
  ) {
    super()
    this.request = request
    this.status = status
    this[received] = rawHeaders
    this.body = body
  }

  get url(): string {
    const url = Option.getOrUndefined(Request.toUrl(this.request))
    if (url === undefined) return ""
    url.hash = ""
    return url.href
  }

  private cachedHeaders: Headers.Headers | undefined
  get headers(): Headers.Headers {
    return this.cachedHeaders ??= toHeaders(this[received])
  }

  private cachedCookies: Cookies.Cookies | undefined
  get cookies(): Cookies.Cookies {
    return this.cachedCookies ??= Cookies.fromSetCookie(this[received]["set-cookie"] ?? [])
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  get text(): Effect.Effect<string, Error.HttpClientError> {
    return Effect.sync(() => toText(this.body))
  }

  get json(): Effect.Effect<Schema.Json, Error.HttpClientError> {
    return this.decode(() => this.body.length === 0 ? null : JSON.parse(toText(this.body)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, Error.HttpClientError> {
    return Effect.sync(() => new Uint8Array(this.body).buffer)
  }

  get stream(): Stream.Stream<Uint8Array, Error.HttpClientError> {
    return this.body.length === 0 ? Stream.empty : Stream.sync(() => new Uint8Array(this.body))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, Error.HttpClientError> {
    // URLSearchParams would drop a leading question mark, which is data here.
    return this.decode(() => UrlParams.fromInput(new URLSearchParams(this.body.toString().replace(/^\?/, "%3F"))))
  }

  get formData(): Effect.Effect<FormData, Error.HttpClientError> {
    return Effect.tryPromise({ try: () => this.toWeb().formData(), catch: (cause) => this.decodeError(cause) })
  }

  get upgrade(): Effect.Effect<Socket.Socket, Error.HttpClientError> {
    return Effect.fail(
      new Error.HttpClientError({
        reason: new Error.StatusCodeError({
          request: this.request,
          response: this,
          description: "a buffered response has no connection to hand over"
        })
      })
    )
  }

  // The name under which `HttpClientResponse.toWeb` looks for the response of the platform.
  "~effect/http/HttpClientResponse/WebSource"(): globalThis.Response {
    return this.toWeb()
  }

  toJSON(): unknown {
    return IncomingMessage.inspect(this, {
      _id: "HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  /** A response of the platform, anew each time. */
  toWeb(): globalThis.Response {
    const headers = new globalThis.Headers()
    for (const name in this[received]) {
      for (const value of [this[received][name] ?? []].flat()) headers.append(name, value)
    }
    return webOf(this.status, headers, bodyless.has(this.status) ? null : this.body)
  }

  private decode<A>(f: () => A): Effect.Effect<A, Error.HttpClientError> {
    return Effect.try({ try: f, catch: (cause) => this.decodeError(cause) })
  }

  private decodeError(cause: unknown): Error.HttpClientError {
    return new Error.HttpClientError({
      reason: new Error.DecodeError({ request: this.request, response: this, cause })
    })
  }
}

// Undici has made the names lower-case and the object for this response alone, so it need not be copied.
const toHeaders = (raw: IncomingHeaders): Headers.Headers => {
  const values = Object.values(raw)
  for (let i = 0; i < values.length; i++) {
    if (typeof values[i] !== "string") return Headers.fromInput(raw)
  }
  return Headers.fromRecordUnsafe(raw as Record<string, string>)
}

/** The statuses with which a web `Response` refuses any body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

// A byte order mark is no part of a text, as everywhere on the web.
const toText = (body: Buffer): string =>
  body.toString("utf8", body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)
