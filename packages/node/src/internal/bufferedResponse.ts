/** An `HttpClientResponse` whose body has arrived: no streams, no decoder state, no finalizers. */
import { arrived, protocolVersion, webOf } from "@postwire/core/http/Transport"
import { received } from "@postwire/core/schema/RateLimitHeaders"
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as HttpHeaders from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as IncomingMessage from "effect/http/HttpIncomingMessage"
import * as UrlParams from "effect/http/UrlParams"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"
import type * as Schema from "effect/Schema"
import type * as Socket from "effect/socket/Socket"
import * as Stream from "effect/Stream"

export type IncomingHeaders = Readonly<Record<string, string | Array<string> | undefined>>

export class BufferedResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [IncomingMessage.TypeId]: typeof IncomingMessage.TypeId = IncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly [received]: IncomingHeaders
  readonly body: Buffer<ArrayBuffer>
  readonly [protocolVersion]: string | undefined

  constructor(
    request: HttpClientRequest.HttpClientRequest,
    status: number,
    rawHeaders: IncomingHeaders,
    body: Buffer<ArrayBuffer>,
    version: string | undefined
  ) {
    super()
    this.request = request
    this.status = status
    this[received] = rawHeaders
    this.body = body
    this[protocolVersion] = version
  }

  get url(): string {
    const url = Option.getOrUndefined(HttpClientRequest.toUrl(this.request))
    if (url === undefined) return ""
    url.hash = ""
    return url.href
  }

  private cachedHeaders: HttpHeaders.Headers | undefined
  get headers(): HttpHeaders.Headers {
    return this.cachedHeaders ??= toHeaders(this[received])
  }

  private cachedCookies: Cookies.Cookies | undefined
  get cookies(): Cookies.Cookies {
    return this.cachedCookies ??= Cookies.fromSetCookie(this[received]["set-cookie"] ?? [])
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  [arrived](): string {
    return toText(this.body)
  }

  get text(): Effect.Effect<string, HttpClientError.HttpClientError> {
    return Effect.sync(() => this[arrived]())
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError.HttpClientError> {
    return this.decode(() => this.body.length === 0 ? null : JSON.parse(toText(this.body)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpClientError.HttpClientError> {
    return Effect.sync(() => new Uint8Array(this.body).buffer)
  }

  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.fromIterableEffect(Effect.sync(() => this.body.length === 0 ? [] : [new Uint8Array(this.body)]))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpClientError.HttpClientError> {
    // URLSearchParams would drop a leading question mark, which is data here.
    return this.decode(() => UrlParams.fromInput(new URLSearchParams(this.body.toString().replace(/^\?/, "%3F"))))
  }

  get formData(): Effect.Effect<FormData, HttpClientError.HttpClientError> {
    return Effect.tryPromise({ try: () => this.toWeb().formData(), catch: (cause) => this.decodeError(cause) })
  }

  get upgrade(): Effect.Effect<Socket.Socket, HttpClientError.HttpClientError> {
    return Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.StatusCodeError({
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

  /** A new response of the platform. */
  toWeb(): globalThis.Response {
    const headers = new globalThis.Headers()
    for (const name in this[received]) {
      for (const value of [this[received][name] ?? []].flat()) headers.append(name, value)
    }
    return webOf(this.status, headers, bodyless.has(this.status) ? null : this.body)
  }

  private decode<A>(f: () => A): Effect.Effect<A, HttpClientError.HttpClientError> {
    return Effect.try({ try: f, catch: (cause) => this.decodeError(cause) })
  }

  private decodeError(cause: unknown): HttpClientError.HttpClientError {
    return new HttpClientError.HttpClientError({
      reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    })
  }
}

// Undici has made the names lower-case, and the object for this response only, so that it need not be copied.
const toHeaders = (raw: IncomingHeaders): HttpHeaders.Headers =>
  areTexts(raw) ? HttpHeaders.fromRecordUnsafe(raw) : HttpHeaders.fromInput(raw)

const areTexts = (raw: IncomingHeaders): raw is Readonly<Record<string, string>> => {
  for (const name in raw) {
    if (typeof raw[name] !== "string") return false
  }
  return true
}

/** The statuses for which a web `Response` refuses a body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

// A byte order mark is not part of a text, as everywhere on the web.
const toText = (body: Buffer): string =>
  body.toString("utf8", body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)
