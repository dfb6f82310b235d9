/**
 * One exchange with the service over any `HttpClient`: how long its phases may take, how long its body may be, and the
 * span that tells of it. Redirects are never followed here.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { DecodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as TraceContext from "effect/http/HttpTraceContext"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as Monotonic from "./Monotonic.ts"

/** Times in milliseconds; 0 turns one off. */
export interface Timeouts {
  /**
   * For DNS, TCP and TLS together. Default 10 seconds. A setting of a client only, for a connection serves many calls; a
   * transport that does not tell when it is connected counts it as part of `firstByte`.
   */
  readonly connect?: number | undefined
  /** From sending the request to the headers of the response. Default 30 seconds. */
  readonly firstByte?: number | undefined
  /** Between two pieces of a body. Default 30 seconds. */
  readonly idle?: number | undefined
  /** For a whole call: every try and the pauses between them, but not what it waits for a rate limit. Default 2 minutes. */
  readonly total?: number | undefined
}

/** Every time, in milliseconds; `Infinity` where there is no limit. */
export type Limits = { readonly [K in keyof Timeouts]-?: number }

const defaults: Limits = { connect: 10_000, firstByte: 30_000, idle: 30_000, total: 120_000 }

/** What a timeout must be, in words. */
export const timeoutRule =
  "must be a number of milliseconds above 0, or an object with connect, firstByte, idle and total, each from 0 (off)"

/** Fills in what is left out; a number is the total. `undefined` where it breaks the rule. */
export const limitsOf = (timeout: number | Timeouts | undefined, otherwise: Limits = defaults): Limits | undefined => {
  if (timeout === undefined) return otherwise
  if (typeof timeout === "number") return timeout > 0 ? { ...otherwise, total: timeout } : undefined
  if (!Predicate.isObject(timeout)) return undefined
  const limits: { -readonly [K in keyof Limits]: Limits[K] } = { ...otherwise }
  for (const [name, millis] of Object.entries(timeout)) {
    if (!isName(name)) return undefined
    if (millis === undefined) continue
    if (typeof millis !== "number" || !(millis >= 0)) return undefined
    limits[name] = millis === 0 ? Infinity : millis
  }
  return limits
}

const isName = (name: string): name is keyof Limits => Object.hasOwn(defaults, name)

/** The longest body of a response in bytes, after decompression, unless a setting says otherwise. */
export const defaultMaxBodySize = 64 * 1024 * 1024

/** How far an exchange has come. */
export type Phase = "connect" | "headers" | "body"

/**
 * Where a transport tells how far it is. One that does has {@link tells} among its properties, reads whole bodies and caps
 * them.
 */
export interface Progress {
  /** The longest body in bytes, after decompression. */
  readonly maxBodySize: number
  /** The exchange begins, in the phase `connect`, whose time is for the transport to limit; `fail` gives it up. */
  readonly started: (fail: (reason: TimedOut) => void) => void
  /** A phase begins or, for `body`, another piece has come. */
  readonly reached: (phase: Phase) => void
  /** The exchange is over, in whatever way. */
  readonly ended: () => void
}

/** The exchange that the fiber's request belongs to, for transports that can tell how far they are. */
export const Progress = Context.Reference<Progress | undefined>("@postwire/core/Transport/Progress", {
  defaultValue: () => undefined
})

/** The property that marks an `HttpClient` which tells its {@link Progress}. */
export const tells: unique symbol = Symbol.for("@postwire/core/Transport/tells")

/** A limit was reached; the request was given up. It is the `cause` of a `TransportError`. */
export class TimedOut {
  readonly limit: keyof Limits
  readonly phase: Phase
  readonly message: string
  constructor(limit: keyof Limits, phase: Phase, millis: number) {
    this.limit = limit
    this.phase = phase
    this.message = `${timedOut[limit]} within ${Math.ceil(millis)} ms`
  }
}

const timedOut: Readonly<Record<keyof Limits, string>> = {
  connect: "there was no connection",
  firstByte: "the response did not begin",
  idle: "nothing more of the body came",
  total: "the call did not end"
}

/** What an exchange is about. */
export interface Exchange {
  readonly request: HttpClientRequest.HttpClientRequest
  /** As they were set. Of these, `connect` is the transport's. */
  readonly limits: Limits
  /** Milliseconds left of the total. */
  readonly left: number
  readonly maxBodySize: number
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
}

/** Sends a request and reads the whole response, within the limits. */
export const exchange = (
  http: HttpClient.HttpClient,
  exchange: Exchange
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError> =>
  Effect.withFiber((fiber) => {
    if (Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined) return watched(http, exchange)
    return spanned(exchange, (request) => watched(http, { ...exchange, request }))
  })

/** The longest time that a timer of the platform can have. */
const longestTimer = 2 ** 31 - 1

/** Follows the phases of one exchange and knows when the next limit is reached. */
class Watch implements Progress {
  readonly maxBodySize: number
  private readonly clock: Clock.Clock
  private readonly limits: Limits
  private readonly shortest: number
  private readonly end: number
  private phase: Phase = "headers"
  private since: number
  private fail: ((reason: TimedOut) => void) | undefined
  private cancel: (() => void) | undefined
  isTold = false

  constructor(clock: Clock.Clock, { left, limits, maxBodySize }: Exchange) {
    this.clock = clock
    this.limits = limits
    this.maxBodySize = maxBodySize
    this.shortest = Math.min(limits.firstByte, limits.idle, left, longestTimer)
    this.since = Monotonic.millisUnsafe(clock)
    this.end = this.since + left
  }

  started(fail: (reason: TimedOut) => void): void {
    this.isTold = true
    this.fail = fail
    this.reached("connect")
    this.look()
  }

  reached(phase: Phase): void {
    this.phase = phase
    this.since = Monotonic.millisUnsafe(this.clock)
  }

  ended(): void {
    this.cancel?.()
    this.fail = undefined
  }

  /** Milliseconds until the next look, or the limit that is reached. */
  next(): number | TimedOut {
    const now = Monotonic.millisUnsafe(this.clock)
    const limit = this.phase === "headers" ? "firstByte" : this.phase === "body" ? "idle" : "connect"
    const allowed = limit === "connect" ? Infinity : this.limits[limit]
    const left = Math.min(this.end, this.since + allowed) - now
    // A phase that begins later may have a shorter limit.
    if (left > 0) return Math.min(left, this.shortest)
    return this.end <= now
      ? new TimedOut("total", this.phase, this.limits.total)
      : new TimedOut(limit, this.phase, allowed)
  }

  private look(): void {
    const next = this.next()
    if (typeof next === "number") this.cancel = after(this.clock, next, () => this.look())
    else this.fail?.(next)
  }
}

const liveClock: Clock.Clock = /*#__PURE__*/ Context.get(/*#__PURE__*/ Context.empty(), Clock.Clock)

/** A fiber for every request would cost more than the rest of the watching: the real clock has timers. */
const after = (clock: Clock.Clock, millis: number, run: () => void): () => void => {
  if (clock === liveClock) {
    const timer = setTimeout(run, millis)
    return () => clearTimeout(timer)
  }
  const fiber = Effect.runFork(Effect.andThen(clock.sleep(Duration.millis(millis)), Effect.sync(run)))
  return () => fiber.interruptUnsafe()
}

const watched = (http: HttpClient.HttpClient, exchange: Exchange) =>
  Effect.withFiber<HttpClientResponse.HttpClientResponse, HttpClientError>((fiber) => {
    const { request } = exchange
    const watch = new Watch(fiber.getRef(Clock.Clock), exchange)
    if (tells in http) return Effect.provideService(http.execute(request), Progress, watch)
    const init = Context.getOrUndefined(fiber.context, RequestInit)
    const whole = Effect.flatMap(http.execute(request), (response) => {
      if (watch.isTold) return Effect.succeed(response)
      watch.reached("body")
      return buffered(request, response, watch)
    })
    return Effect.raceFirst(
      Effect.provideContext(
        whole,
        Context.make(Progress, watch).pipe(
          Context.add(RequestInit, init === undefined ? noRedirects : { ...init, ...noRedirects })
        )
      ),
      limit(watch, request)
    )
  })

const noRedirects = { redirect: "manual" } as const

/** Watches a transport that tells nothing but that the headers have come. */
const limit = (watch: Watch, request: HttpClientRequest.HttpClientRequest): Effect.Effect<never, HttpClientError> =>
  Effect.suspend(() => {
    const next = watch.next()
    return typeof next === "number"
      ? Effect.andThen(Effect.sleep(next), limit(watch, request))
      : Effect.fail(new HttpClientError({ reason: new TransportError({ request, cause: next }) }))
  })

/** The statuses with which a web `Response` refuses any body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

/** Reads the body of a response that is still arriving. */
const buffered = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  watch: Watch
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError> => {
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
    return HttpClientResponse.fromWeb(request, webOf(response.status, { ...response.headers }, body))
  })
}

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
  { request, span: { content, operation, resends, template } }: Exchange,
  run: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError>
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError> => {
  const url = new URL(request.url)
  const attributes: Record<string, unknown> = {
    "http.request.method": request.method,
    "url.full": content === false ? url.origin + url.pathname : url.href,
    "url.template": template,
    "server.address": url.hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
    "postwire.operation": operation
  }
  if (resends > 0) attributes["http.request.resend_count"] = resends
  if (typeof content === "string") attributes["postwire.request.body"] = content
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
const code = /^[A-Z][A-Z0-9_]{1,63}$/

/** The code of the platform, such as `ECONNREFUSED`, wherever in the causes it stands. */
export const codeOf = (error: unknown): string | undefined => {
  let current: unknown = error instanceof HttpClientError ? error.reason : error
  for (let depth = 0; depth < 4 && Predicate.isObject(current); depth++) {
    if (Predicate.hasProperty(current, "code") && typeof current.code === "string" && code.test(current.code)) {
      return current.code
    }
    current = Predicate.hasProperty(current, "cause") ? current.cause : undefined
  }
  return undefined
}
