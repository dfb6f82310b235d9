/** One request and its response, from the callbacks of an Undici dispatcher. */
import type { Progress, TimedOut } from "@postwire/core/http/Timeouts"
import { headed } from "@postwire/core/http/Transport"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import type { Dispatcher } from "undici"
import { BufferedResponse, type IncomingHeaders } from "./bufferedResponse.ts"
import { decompressors } from "./decompression.ts"

/**
 * The phase of an exchange: getting a connection, writing the request, waiting for the headers of the response, reading its
 * body.
 */
export type Phase = "connect" | "send" | "headers" | "body"

/**
 * The `cause` of Effect's `TransportError`, from which the client makes `TransportFailure` or `OutcomeUnknown`. It quotes no part of the
 * request.
 */
export class UndiciTransportCause extends Data.TaggedError("UndiciTransportCause")<{
  readonly phase: Phase
  /** True if any byte of the request may have reached the server. */
  readonly requestSent: boolean
  /** The code of Node or Undici, such as `ECONNREFUSED` or `UND_ERR_HEADERS_TIMEOUT`. */
  readonly code: string | undefined
  readonly message: string
}> {}

/**
 * The `cause` of Effect's `DecodeError` for a body longer than `maxBodySize`, which is discarded. The service has answered the request.
 */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{
  /** In bytes. */
  readonly maxBodySize: number
}> {
  override get message() {
    return `the body is longer than ${this.maxBodySize} bytes`
  }
}

/** A response, or the reason why there is none. */
export type Outcome = Effect.Effect<HttpClientResponse, HttpClientError.HttpClientError>

export type Resume = (outcome: Outcome) => void

const none: IncomingHeaders = {}

/** Calls `resume` once, unless it was interrupted. */
export class Exchange implements Dispatcher.DispatchHandler {
  protected readonly request: HttpClientRequest
  private readonly maxBodySize: number
  protected readonly resume: Resume
  private controller: Dispatcher.DispatchController | undefined
  protected phase: Phase = "connect"
  private status = 0
  private headers: IncomingHeaders = none
  private chunks: Array<Buffer> | undefined
  private size = 0
  protected settled = false
  protected readonly progress: Progress | undefined

  constructor(
    request: HttpClientRequest,
    maxBodySize: number,
    resume: Resume,
    progress: Progress | undefined
  ) {
    this.request = request
    this.maxBodySize = maxBodySize
    this.resume = resume
    this.progress = progress
    progress?.started((reason) => this.expire(reason))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Unlike an abort, throwing before the first byte spares the connection.
    if (this.settled) throw new Error("interrupted")
    this.controller = controller
    this.phase = "send"
    this.progress?.reached("headers")
  }

  onRequestSent(): void {
    if (this.phase === "send") this.phase = "headers"
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHeaders): void {
    if (status < 200) return
    this.phase = "body"
    this.progress?.reached("body")
    this.status = status
    this.headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return
    this.progress?.reached("body")
    this.size += chunk.length
    if (this.size <= this.maxBodySize) {
      if (this.chunks === undefined) this.chunks = [chunk]
      else this.chunks.push(chunk)
    } else {
      const error = new BodyTooLarge({ maxBodySize: this.maxBodySize })
      this.undecodable(error, Buffer.alloc(0))
      controller.abort(error)
    }
  }

  onResponseEnd(): void {
    if (this.settled) return
    // Undici allocates each chunk, and we allocate the whole body: no memory is shared.
    const { chunks = [] } = this
    const body = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)) as Buffer<ArrayBuffer>
    const encoding = this.headers["content-encoding"]
    const decompress = body.length > 0 && typeof encoding === "string"
      ? decompressors.get(encoding.trim().toLowerCase())
      : undefined
    if (decompress === undefined) return this.succeed(this.headers, body)
    decompress(body, this.maxBodySize, (error, plain) => {
      if (error === null) {
        const { "content-encoding": _, "content-length": __, ...headers } = this.headers
        this.succeed(headers, plain)
      } else if (Predicate.hasProperty(error, "code") && error.code === "ERR_BUFFER_TOO_LARGE") {
        this.undecodable(new BodyTooLarge({ maxBodySize: this.maxBodySize }), Buffer.alloc(0))
      } else {
        this.undecodable(error, body)
      }
    })
  }

  onResponseError(_: unknown, error: unknown): void {
    if (!this.settled) this.fail(this.brokenOff(error))
  }

  /** The reason why the exchange failed. */
  protected brokenOff(error: unknown): HttpClientError.TransportError {
    const code = Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined
    const refused = code !== undefined && refusal.test(code)
    const phase = refused && this.phase === "connect" ? "send" : this.phase
    const message = code === undefined || refused ? failures[phase] : messageOf(error, failures[phase])
    const cause = new UndiciTransportCause({ phase, requestSent: this.controller !== undefined, code, message })
    return new HttpClientError.TransportError({ request: this.request, cause, description: message })
  }

  interrupt(): void {
    if (this.settled) return
    this.settled = true
    this.progress?.ended()
    this.controller?.abort(new Error("interrupted"))
  }

  private expire(cause: TimedOut): void {
    const request = this.request
    this.fail(new HttpClientError.TransportError({ request, cause, description: cause.message }))
    this.controller?.abort(new Error("interrupted"))
  }

  private succeed(headers: IncomingHeaders, body: Buffer<ArrayBuffer>): void {
    this.settle(Effect.succeed(this.responseOf(headers, body)))
  }

  private undecodable(cause: Error, body: Buffer<ArrayBuffer>): void {
    const response = this.responseOf(this.headers, body)
    this.fail(
      new HttpClientError.DecodeError({ request: this.request, response, cause, description: cause.message })
    )
  }

  private fail(reason: HttpClientError.HttpClientErrorReason): void {
    const error = new HttpClientError.HttpClientError({ reason })
    // Only this phase has a status.
    if (this.phase === "body") headed(error, this.responseOf(this.headers, Buffer.alloc(0)))
    this.settle(Effect.fail(error))
  }

  private responseOf(headers: IncomingHeaders, body: Buffer<ArrayBuffer>): BufferedResponse {
    return new BufferedResponse(this.request, this.status, headers, body, versionOf(this.controller))
  }

  protected settle(outcome: Outcome): void {
    if (this.settled) return
    this.settled = true
    this.progress?.ended()
    this.resume(outcome)
  }
}

/** The version of HTTP: Undici has a list of raw headers from HTTP/1.1, and an object from HTTP/2. A mock may have neither. */
export const versionOf = (controller: Dispatcher.DispatchController | undefined): string | undefined => {
  const headers = controller?.rawHeaders
  return Array.isArray(headers) ? "1.1" : Predicate.isObject(headers) ? "2" : undefined
}

/** An exchange whose request body is sent in chunks. */
export class Upload extends Exchange {
  override onRequestStart(controller: Dispatcher.DispatchController): void {
    super.onRequestStart(controller)
    this.progress?.reached("send")
  }

  onBodySent(): void {
    // A response may arrive before the end of the request.
    if (this.phase === "send") this.progress?.reached("send")
  }

  override onRequestSent(): void {
    if (this.phase === "send") this.progress?.reached("headers")
    super.onRequestSent()
  }
}

// Messages about the request may quote it, and so may those without a code.
const refusal = /^(ERR_(HTTP_)?INVALID_|UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_))/

const failures: Readonly<Record<Phase, string>> = {
  connect: "there was no connection",
  send: "the request could not be sent",
  headers: "there was no valid response",
  body: "the response broke off"
}

const messageOf = (error: unknown, otherwise: string): string =>
  error instanceof AggregateError && error.message === ""
    ? error.errors.map((part) => messageOf(part, otherwise)).join("; ")
    : error instanceof Error
    ? error.message
    : otherwise
