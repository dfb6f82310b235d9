/**
 * One exchange with the service over any `HttpClient`: how long its phases may take, how long its body may be, and the
 * span that tells of it. Redirects are never followed here.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { DecodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as TraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { Redact } from "../auth/Redaction.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { ResponseHead } from "../schema/RateLimitHeaders.ts"
import { type Allowance, busyMillis, Watch } from "./Deadlines.ts"
import { Progress, TimedOut } from "./Timeouts.ts"

/** The property under which the `HttpClientError` of a transport has the {@link ResponseHead} of a response that it lost on the way. */
export const head: unique symbol = Symbol.for("@postwire/core/http/Transport/head")

/** The head that came before a failure. */
export const headOf = ({ reasons }: Cause.Cause<unknown>): ResponseHead | undefined => {
  const error = reasons.find((reason) => reason._tag === "Fail")?.error
  return Predicate.hasProperty(error, head) && isHead(error[head]) ? error[head] : undefined
}

const isHead = (value: unknown): value is ResponseHead =>
  Predicate.hasProperty(value, "status") && typeof value.status === "number" &&
  Predicate.hasProperty(value, "headers") &&
  Predicate.isObject(value.headers)

/** An error of a transport, and the head that came before it. */
export const headed = (error: HttpClientError, response: ResponseHead): HttpClientError =>
  Object.defineProperty(error, head, { value: response })

/** The longest body of a response in bytes, after decompression, unless a setting says otherwise. */
export const defaultMaxBodyBytes = 64 * 1024 * 1024

/** A response, or why there is none. */
export type Sending = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError>

/**
 * The property under which an `HttpClient` that tells its {@link Progress} has a function to be called with it: sent like
 * this, a request passes no other client and has no span but ours.
 */
export const tells: unique symbol = Symbol.for("@postwire/core/http/Transport/tells")

/** The value of {@link tells}. */
export type Telling = (request: HttpClientRequest.HttpClientRequest, progress: Progress) => Sending

const tellingOf = (http: HttpClient.HttpClient): Telling | undefined => {
  const telling = tells in http ? http[tells] : undefined
  return typeof telling === "function" ? telling as Telling : undefined
}

/**
 * The scope of a response that has no end: it is wanted as soon as its head is there, and its connection is closed with the
 * scope. A transport that knows of no such thing gives a body that can be read while it comes, too; this client's would wait
 * for its end.
 */
export const Streaming = /*#__PURE__*/ Context.Reference<Scope.Scope | undefined>(
  "@postwire/core/http/Transport/Streaming",
  { defaultValue: () => undefined }
)

/** What an exchange is about. */
export interface Exchange extends Allowance {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly span: SpanDetails
}

/** What a span tells of a request. */
export interface SpanDetails {
  readonly operation: string
  /** The path with the names of its variable parts. */
  readonly template: string
  /** How many requests of the same call went before. */
  readonly resends: number
  /** Whether query and body may be recorded. */
  readonly content: string | undefined | false
  /** Keeps credentials out, which a path may hold by mistake. */
  readonly redact: Redact
}

/** Takes a request to the service and brings its response, within what is allowed. */
export type Carrier = (
  http: HttpClient.HttpClient,
  allowance: Allowance,
  request: HttpClientRequest.HttpClientRequest,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock
) => Sending

/** Sends a request. A response has been read to its end, unless another carrier is given. */
export const exchange = (
  http: HttpClient.HttpClient,
  exchange: Exchange,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock,
  carry: Carrier = watched
): Sending =>
  Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined
    ? carry(http, exchange, exchange.request, fiber, clock)
    : spanned(exchange, (request) => carry(http, exchange, request, fiber, clock))

const watched: Carrier = (http, allowance, request, fiber, clock) => {
  const telling = tellingOf(http)
  return telling === undefined
    ? limited(http, new Watch(clock, withTimeToSend(allowance, request)), request, fiber)
    : telling(request, new Watch(clock, allowance))
}

/** What may take long to leave has time for it, where nobody knows when it has left. */
const withTimeToSend = (
  allowance: Allowance,
  { body }: HttpClientRequest.HttpClientRequest
): Allowance => {
  if (body._tag !== "Stream" || body.contentLength === undefined) return allowance
  const { limits } = allowance
  const firstByte = limits.firstByte + body.contentLength / slowestBytesPerMilli
  return { ...allowance, limits: { ...limits, firstByte } }
}

/** 64 KiB a second. */
const slowestBytesPerMilli = 65.536

/** Keeps the limits of any client: with a fiber that waits for them, unless a client beneath tells its progress. */
const limited = (
  http: HttpClient.HttpClient,
  watch: Watch,
  request: HttpClientRequest.HttpClientRequest,
  fiber: Fiber.Fiber<unknown, unknown>
): Sending => {
  const init = Context.getOrUndefined(fiber.context, RequestInit)
  let begun: ResponseHead | undefined
  const whole = Effect.flatMap(http.execute(request), (response) => {
    if (watch.isTold) return Effect.succeed(response)
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

/** Redirects are followed by nobody but us. */
export const noRedirects = { redirect: "manual" } as const

/** Watches a transport that tells nothing but that the headers have come. */
export const limit = (
  watch: Watch,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<never, HttpClientError> =>
  Effect.gen(function*() {
    let next = watch.next()
    while (typeof next === "number") {
      const due = (yield* Monotonic.millis) + next
      yield* Effect.sleep(next)
      // What came while the thread was busy is read first.
      if ((yield* Monotonic.millis) - due > busyMillis) yield* Effect.sleep(1)
      next = watch.next()
    }
    return yield* new HttpClientError({ reason: new TransportError({ request, cause: next }) })
  })

/** The statuses with which a web `Response` refuses any body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

/** Reads the body of a response that is still arriving. */
export const buffered = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  watch: Watch
): Sending => {
  // A browser shows nothing of a redirect, not even its status.
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

/** Of a response whose body was read, however often, one that has not been. */
export const toWeb = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<globalThis.Response, HttpClientError> =>
  Effect.map(
    response.arrayBuffer,
    (body) => webOf(response.status, headersOf(response), body.byteLength === 0 ? null : new Uint8Array(body))
  )

/** As they came, where the platform has them: on one line, cookies cannot be told apart. */
const headersOf = (
  response: HttpClientResponse.HttpClientResponse
): Record<string, string> | globalThis.Headers =>
  Option.match(HttpClientResponse.toWeb(response), {
    onNone: () => ({ ...response.headers }),
    onSome: ({ headers }) => headers
  })

/** A web `Response`, which refuses to be made with a status beyond the classes of HTTP: a server may send one all the same. */
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
  const message = Predicate.hasProperty(inner, "message") ? String(inner.message) : "the response broke off"
  return new HttpClientError({
    reason: new TransportError({ request, cause: { phase: "body", requestSent: true, message } })
  })
}

/**
 * A span as OpenTelemetry's conventions for HTTP clients have it: one per request. Neither headers nor, unless it is
 * allowed, the query and the body are in it; what went wrong is told by status or kind, never in words.
 */
const spanned = (
  { request, span: { content, operation, redact, resends, template } }: Exchange,
  run: (request: HttpClientRequest.HttpClientRequest) => Sending
): Sending => {
  const url = new URL(request.url)
  const attributes: Record<string, unknown> = {
    "http.request.method": request.method,
    "url.full": redact(content === false ? url.origin + url.pathname : url.href),
    "url.template": template,
    "server.address": url.hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
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
          Exit.match({
            onSuccess: ({ status }) => {
              span.attribute("http.response.status_code", status)
              if (status < 400) return end(Exit.void)
              span.attribute("error.type", String(status))
              return end(Exit.fail(String(status)))
            },
            onFailure: (cause) => {
              const error = cause.reasons.find((reason) => reason._tag === "Fail")?.error
              if (error === undefined) return end(Exit.interrupt())
              const { reason } = error
              const type = "cause" in reason && reason.cause instanceof TimedOut
                ? "timeout"
                : codeOf(error) ?? reason._tag
              span.attribute("error.type", type)
              return end(Exit.fail(type))
            }
          })
        )
      })
  )
}

/** What is no code may be a text, which may quote the request. */
const codePattern = /^[A-Z][A-Z0-9_]{1,63}$/

/** The code of the platform, such as `ECONNREFUSED`, wherever in the causes it stands. */
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
