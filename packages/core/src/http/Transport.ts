/**
 * One exchange with the service over any `HttpClient`: its timeouts, the maximum size of its body, and its span. Redirects are
 * never followed here.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { RequestInit } from "effect/http/FetchHttpClient"
import { fromRecordUnsafe } from "effect/http/Headers"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import { DecodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as TraceContext from "effect/http/HttpTraceContext"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { Redact } from "../auth/Redaction.ts"
import type * as Metrics from "../runtime/Metrics.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { ResponseHead } from "../schema/RateLimitHeaders.ts"
import { busyMillis, type ExchangeLimits, Watch } from "./Deadlines.ts"
import { Progress, TimedOut } from "./Timeouts.ts"

/** The property of an `HttpClientError` that holds the {@link ResponseHead} of a response whose body was lost. */
export const head: unique symbol = Symbol.for("@postwire/core/http/Transport/head")

/** The head that was received before a failure. */
export const headOf = ({ reasons }: Cause.Cause<unknown>): ResponseHead | undefined => {
  const error = reasons.find((reason) => reason._tag === "Fail")?.error
  return Predicate.hasProperty(error, head) && isHead(error[head]) ? error[head] : undefined
}

const isHead = (value: unknown): value is ResponseHead =>
  Predicate.hasProperty(value, "status") && typeof value.status === "number" &&
  Predicate.hasProperty(value, "headers") &&
  Predicate.isObject(value.headers)

/** Adds the head that was received before it to a transport error. */
export const headed = (error: HttpClientError, response: ResponseHead): HttpClientError =>
  Object.defineProperty(error, head, { value: response })

/** The default maximum size of a response body in bytes, after decompression. */
export const defaultMaxBodyBytes = 64 * 1024 * 1024

/** A response, or the transport's error. */
export type Sending = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError>

/**
 * The property of an `HttpClient` that reports its {@link Progress}: a function that sends a request directly, without other
 * clients around it and with no span but ours.
 */
export const reports: unique symbol = Symbol.for("@postwire/core/http/Transport/reports")

/** The value of {@link reports}. */
export type Reporting = (request: HttpClientRequest.HttpClientRequest, progress: Progress) => Sending

const reportingOf = (http: HttpClient.HttpClient): Reporting | undefined => {
  const reporting = reports in http ? http[reports] : undefined
  return typeof reporting === "function" ? reporting as Reporting : undefined
}

/** The property of a response whose body has arrived: a function that returns it as text. */
export const arrived: unique symbol = Symbol.for("@postwire/core/http/Transport/arrived")

/** The body of a response as text, if it has arrived. */
export const arrivedOf = (
  response: HttpClientResponse.HttpClientResponse & { readonly [arrived]?: () => string }
): string | undefined => response[arrived]?.()

/** The property of a response that holds the version of HTTP, `1.1` or `2`, if the transport reports it. */
export const protocolVersion: unique symbol = Symbol.for("@postwire/core/http/Transport/protocolVersion")

/** Records the duration of a request. */
export type Measure = (
  method: string,
  template: string,
  exit: Exit.Exit<HttpClientResponse.HttpClientResponse, unknown>,
  millis: number
) => void

/** Makes the function that measures the requests to a server, given by a URL. By default nothing does: `client/Telemetry` does. */
export const Measuring = /*#__PURE__*/ Context.Reference<((server: string) => Measure) | undefined>(
  "@postwire/core/http/Transport/Measuring",
  { defaultValue: () => undefined }
)

/**
 * The scope of an endless response: it is returned as soon as its head is received, and its connection is closed with the
 * scope. Other transports return a body that can be read while it arrives, too; this client's would wait for its end.
 */
export const Streaming = /*#__PURE__*/ Context.Reference<Scope.Scope | undefined>(
  "@postwire/core/http/Transport/Streaming",
  { defaultValue: () => undefined }
)

/** One exchange: the limits and the span of a request. */
export interface Exchange extends ExchangeLimits {
  readonly span: SpanDetails
}

/** The contents of a request's span. */
export interface SpanDetails {
  readonly operation: string
  /** The path template. */
  readonly template: string
  /** The number of earlier requests of the same call. */
  readonly resends: number
  /** The body to record, if any; `false` to record neither query nor body. */
  readonly content: string | undefined | false
  /** Redacts credentials, which a path may hold by mistake. */
  readonly redact: Redact
}

/** A request with the type and the length of its body: `makeWith` sets no headers, and every client knows the length of a text. */
export const requestOf = (
  method: string,
  url: string,
  headers: Record<string, string>,
  body: HttpBody.Empty | HttpBody.Uint8Array | HttpBody.Stream
): HttpClientRequest.HttpClientRequest => {
  if (body._tag !== "Empty") headers["content-type"] ??= body.contentType
  if (body._tag === "Stream") headers["content-length"] = String(body.contentLength)
  return HttpClientRequest.makeWith(method, url, UrlParams.empty, Option.none(), fromRecordUnsafe(headers), body)
}

/** Sends a request and returns its response, within the limits. */
export type Carrier = (
  http: HttpClient.HttpClient,
  limits: ExchangeLimits,
  request: HttpClientRequest.HttpClientRequest,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock
) => Sending

/** Sends a request. The response is read completely, unless another carrier is given. */
export const exchange = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  exchange: Exchange,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock,
  carry: Carrier = watched
): Sending =>
  Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined
    ? carry(http, exchange, request, fiber, clock)
    : spanned(request, exchange.span, (request) => carry(http, exchange, request, fiber, clock))

/** Sends a request, and measures it. */
export const measured = (
  measure: Measure | undefined,
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  details: Exchange,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock
): Sending => {
  const begun = Monotonic.millisUnsafe(clock)
  return Effect.onExitPrimitive(exchange(http, request, details, fiber, clock), (exit) => {
    const millis = Monotonic.millisUnsafe(clock) - begun
    measure?.(request.method, details.span.template, exit, millis)
    return undefined
  })
}

const watched: Carrier = (http, limits, request, fiber, clock) => {
  const reporting = reportingOf(http)
  return reporting === undefined
    ? limited(http, new Watch(clock, withTimeToSend(limits, request)), request, fiber)
    : reporting(request, new Watch(clock, limits))
}

/** Adds time for sending a large body, if the transport does not report when it is sent. */
const withTimeToSend = (
  exchange: ExchangeLimits,
  { body }: HttpClientRequest.HttpClientRequest
): ExchangeLimits => {
  if (body._tag !== "Stream" || body.contentLength === undefined) return exchange
  const { left, limits, maxBodySize } = exchange
  const firstByte = limits.firstByte + body.contentLength / slowestBytesPerMilli
  return { left, maxBodySize, limits: { ...limits, firstByte } }
}

/** 64 KiB a second. */
const slowestBytesPerMilli = 65.536

/** Enforces the limits for any client: with a fiber that waits for them, unless a client beneath reports its progress. */
const limited = (
  http: HttpClient.HttpClient,
  watch: Watch,
  request: HttpClientRequest.HttpClientRequest,
  fiber: Fiber.Fiber<unknown, unknown>
): Sending => {
  const init = Context.getOrUndefined(fiber.context, RequestInit)
  let begun: ResponseHead | undefined
  const whole = Effect.flatMap(http.execute(request), (response) => {
    if (watch.isReported) return Effect.succeed(response)
    begun = response
    watch.reached("body")
    return buffered(request, response, watch)
  })
  const raced = Effect.raceFirst(
    Effect.provideContext(
      whole,
      Context.make(Progress, watch).pipe(
        Context.add(RequestInit, init === undefined ? noRedirects : { ...init, ...noRedirects })
      )
    ),
    limit(watch, request)
  )
  return Effect.mapError(raced, (error) => begun === undefined ? error : headed(error, begun))
}

/** Keeps transports from following redirects. */
export const noRedirects = { redirect: "manual" } as const

/** Watches a transport that reports nothing but the arrival of the headers. */
export const limit = (
  watch: Watch,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<never, HttpClientError> =>
  Effect.gen(function*() {
    let next = watch.next()
    while (typeof next === "number") {
      const due = (yield* Monotonic.millis) + next
      yield* Effect.sleep(next)
      // Data that arrived while the thread was busy is read first.
      if ((yield* Monotonic.millis) - due > busyMillis) yield* Effect.sleep(1)
      next = watch.next()
    }
    return yield* new HttpClientError({ reason: new TransportError({ request, cause: next }) })
  })

/** The statuses with which a web `Response` does not allow a body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

/** Reads the body of a response that is still arriving. */
export const buffered = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  watch: Watch
): Sending => {
  // A browser hides everything of a redirect, even its status.
  if (response.status < 200 || bodyless.has(response.status)) return Effect.succeed(response)
  const pieces: Array<Uint8Array> = []
  let size = 0
  const read = Stream.runForEachArray(response.stream, (chunk) => {
    watch.reached("body")
    for (const piece of chunk) {
      size += piece.length
      pieces.push(piece)
    }
    return size <= watch.maxBodySize ? Effect.void : Effect.fail(tooLarge(request, response, watch.maxBodySize))
  })
  const broken = Effect.catch(read, (error) =>
    error.reason._tag === "EmptyBodyError"
      ? Effect.void
      : Effect.fail(
        error.reason._tag === "DecodeError" && error.reason.cause instanceof TooLarge
          ? error
          : brokenOff(request, error)
      ))
  return Effect.map(broken, () => {
    const body = new Uint8Array(size)
    let at = 0
    for (const piece of pieces) {
      body.set(piece, at)
      at += piece.length
    }
    return HttpClientResponse.fromWeb(request, webOf(response.status, headersOf(response), body))
  })
}

/** A web response with the body of a response that was already read. */
export const toWeb = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<globalThis.Response, HttpClientError> =>
  Effect.map(
    response.arrayBuffer,
    (body) => webOf(response.status, headersOf(response), body.byteLength === 0 ? null : new Uint8Array(body))
  )

/** The headers as received, if the platform has them: joined in one line, cookies cannot be separated. */
const headersOf = (
  response: HttpClientResponse.HttpClientResponse
): Record<string, string> | globalThis.Headers =>
  Option.match(HttpClientResponse.toWeb(response), {
    onNone: () => ({ ...response.headers }),
    onSome: ({ headers }) => headers
  })

/** A web `Response`, whose constructor refuses statuses above 599, although a server may send one. */
export const webOf = (
  status: number,
  headers: Record<string, string> | globalThis.Headers,
  body: Uint8Array<ArrayBuffer> | null
): globalThis.Response => {
  if (status < 600) return new Response(body, { status, headers })
  return Object.defineProperty(new Response(body, { status: 500, headers }), "status", { value: status })
}

class TooLarge {
  readonly message: string
  constructor(maxBodySize: number) {
    this.message = `the body is longer than ${maxBodySize} bytes`
  }
}

const tooLarge = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  maxBodySize: number
): HttpClientError =>
  new HttpClientError({ reason: new DecodeError({ request, response, cause: new TooLarge(maxBodySize) }) })

const brokenOff = (request: HttpClientRequest.HttpClientRequest, { reason }: HttpClientError): HttpClientError => {
  const inner = "cause" in reason ? reason.cause : undefined
  const message = Predicate.hasProperty(inner, "message") ? String(inner.message) : "the response was truncated"
  return new HttpClientError({
    reason: new TransportError({ request, cause: { phase: "body", requestSent: true, message } })
  })
}

/**
 * A span by OpenTelemetry's conventions for HTTP clients: one per request. It contains no headers and, unless allowed, neither
 * query nor body; a failure is recorded by status or kind, never by message.
 */
const spanned = (
  request: HttpClientRequest.HttpClientRequest,
  { content, operation, redact, resends, template }: SpanDetails,
  run: (request: HttpClientRequest.HttpClientRequest) => Sending
): Sending => {
  const url = new URL(request.url)
  const attributes: { [A in Metrics.SpanAttribute]?: string | number } = {
    "http.request.method": request.method,
    "url.full": redact(content === false ? url.origin + url.pathname : url.href),
    "url.template": template,
    ...serverOf(url),
    "postwire.operation": operation
  }
  if (resends > 0) attributes["http.request.resend_count"] = resends
  if (typeof content === "string") attributes["postwire.request.body"] = redact(content)
  return Effect.flatMap(
    Effect.makeSpan(`${request.method} ${template}`, { kind: "client", attributes }),
    (span) =>
      Effect.withFiber((fiber) => {
        const traced = fiber.getRef(HttpClient.TracerPropagationEnabled)
          ? HttpClientRequest.setHeaders(request, TraceContext.toHeaders(span))
          : request
        const end = (exit: Exit.Exit<unknown, string>) =>
          Effect.map(Clock.currentTimeNanos, (now) => span.end(now, exit))
        return Effect.onExit(
          run(traced).pipe(
            Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
            Effect.withParentSpan(span, { captureStackTrace: false })
          ),
          (exit) => {
            const set = (name: Metrics.SpanAttribute, value: number | string | undefined) => {
              if (value !== undefined) span.attribute(name, value)
            }
            const type = errorTypeOf(exit)
            set("http.response.status_code", statusOf(exit))
            set("network.protocol.version", versionOf(exit))
            set("error.type", type)
            return end(type !== undefined ? Exit.fail(type) : Exit.isSuccess(exit) ? Exit.void : Exit.interrupt())
          }
        )
      })
  )
}

/** The attributes of a server. */
export const serverOf = (url: URL) => ({
  "server.address": url.hostname.replace(/^\[|\]$/g, ""),
  "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80))
})

type Ending = Exit.Exit<HttpClientResponse.HttpClientResponse, unknown>

/** The status of the response, if one was received. */
export const statusOf = (exit: Ending): number | undefined =>
  (Exit.isSuccess(exit) ? exit.value : headOf(exit.cause))?.status

/** The version of HTTP, if the transport reports it. */
export const versionOf = (exit: Ending): string | undefined => {
  const response = Exit.isSuccess(exit) ? exit.value : headOf(exit.cause)
  const version = response !== undefined && protocolVersion in response ? response[protocolVersion] : undefined
  return typeof version === "string" ? version : undefined
}

/** The kind of a failure. By the conventions, a status of 400 or more is one, and an interruption is none. */
export const errorTypeOf = (exit: Ending): string | undefined => {
  if (Exit.isSuccess(exit)) return exit.value.status < 400 ? undefined : String(exit.value.status)
  const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
  if (!(error instanceof HttpClientError)) return undefined
  const { reason } = error
  return "cause" in reason && reason.cause instanceof TimedOut ? "timeout" : codeOf(error) ?? reason._tag
}

/** Other values may be messages that quote the request. */
const codePattern = /^[A-Z][A-Z0-9_]{1,63}$/

/** The platform's code, such as `ECONNREFUSED`, anywhere in the chain of causes. */
export const codeOf = (error: unknown): string | undefined => {
  let current: unknown = error instanceof HttpClientError ? error.reason : error
  for (let depth = 0; depth < 4 && Predicate.isObject(current); depth++) {
    if (Predicate.hasProperty(current, "code") && typeof current.code === "string" && codePattern.test(current.code)) {
      return current.code
    }
    current = Predicate.hasProperty(current, "cause") ? current.cause : undefined
  }
  return undefined
}
