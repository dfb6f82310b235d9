/**
 * An `HttpClient` on Undici's `dispatch`: bodies are buffered and decompressed, redirects are not followed, and spans
 * are made only where a tracer is installed.
 *
 * A stream that never ends needs another client, such as the one of `@effect/platform-node`.
 */
import { secrets } from "@postwire/core/Redaction"
import * as Response from "@postwire/core/Response"
import { Progress, type TimedOut } from "@postwire/core/Timeouts"
import { type Telling, tells } from "@postwire/core/Transport"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { constants } from "node:buffer"
import { Readable } from "node:stream"
import * as Zlib from "node:zlib"
import type { Agent, Dispatcher } from "undici"
import { BufferedResponse, type IncomingHeaders } from "./internal/BufferedResponse.ts"

/** Settings of any client. */
export interface Options {
  /** The longest body that a response may have, in bytes after decompression; 64 MiB unless given. */
  readonly maxBodySize?: number | undefined
}

/**
 * Settings of a client that has its own connections. Times are in milliseconds, and 0 turns one off. Requests of Postwire
 * have limits of their own, of which this client only keeps the one for connecting.
 */
export interface AgentOptions extends Options {
  /** The number of connections per origin, beyond which requests wait for one; 64 unless given. */
  readonly connections?: number | undefined
  /** The time for DNS, TCP and TLS together; 10 seconds unless given. */
  readonly connectTimeout?: number | undefined
  /** The time from the end of the request to the headers of the response; 60 seconds unless given. */
  readonly headersTimeout?: number | undefined
  /** The time between two pieces of a body; 60 seconds unless given. */
  readonly bodyTimeout?: number | undefined
  /** The address of a proxy, or `environment` to take it from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly proxy?: string | undefined
  /** Certificates (PEM) that are trusted instead of those that come with Node. */
  readonly ca?: string | ReadonlyArray<string> | undefined
}

/** Settings of a client on a dispatcher that its owner configures and closes, such as a proxy agent. */
export interface DispatcherOptions extends Options {
  readonly dispatcher: Pick<Dispatcher, "dispatch">
}

/**
 * How far an exchange had come: getting a connection, writing the request, waiting for the headers of the response,
 * reading its body.
 */
export type Phase = "connect" | "send" | "headers" | "body"

/** The `cause` of a `TransportError`. It quotes nothing of the request. */
export class UndiciTransportCause extends Data.TaggedError("UndiciTransportCause")<{
  readonly phase: Phase
  /** Whether any byte of the request may have reached the server. */
  readonly requestSent: boolean
  /** The code of Node or Undici, such as `ECONNREFUSED` or `UND_ERR_HEADERS_TIMEOUT`. */
  readonly code: string | undefined
  readonly message: string
}> {}

/** The `cause` of a `DecodeError` for a body longer than `maxBodySize`, of which nothing is kept. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly maxBodySize: number }> {
  override get message() {
    return `the body is longer than ${this.maxBodySize} bytes`
  }
}

/** A client on a dispatcher that somebody else configures and closes. */
export const make = (dispatcher: Pick<Dispatcher, "dispatch">, options?: Options): HttpClient.HttpClient =>
  fromDispatch(
    (request, exchange) => dispatcher.dispatch(request, exchange),
    options,
    () => dispatcher instanceof Session ? Session.secretsOf(dispatcher) : []
  )

/** A client on a given dispatcher, or on connections of its own, which are closed with the layer. */
export const layer = (options: AgentOptions | DispatcherOptions = {}): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    "dispatcher" in options ? Effect.sync(() => make(options.dispatcher, options)) : Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Session(options)),
        (session) => Effect.promise(() => session.close())
      ),
      (session) => make(session, options)
    )
  )

/** The body of a response; not a copy where it is one of these clients': whoever gives it away reads it no more. */
export const bytesOf = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Uint8Array<ArrayBuffer>, HttpClientError.HttpClientError> =>
  response instanceof BufferedResponse
    ? Effect.succeed(response.body)
    : Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** Hands a request to a dispatcher, which tells the exchange what happens. */
type Dispatch = (request: Dispatcher.DispatchOptions, exchange: Exchange) => void

const fromDispatch = (
  dispatch: Dispatch,
  options: Options | undefined,
  ownSecrets: () => ReadonlyArray<string>
): HttpClient.HttpClient => {
  // Whoever has this client reads what it brings, and on Node the size of a compiler does not matter.
  Response.compileWith(SchemaJITCompiler.enable)
  const send = sender(dispatch, options?.maxBodySize ?? 64 * 1024 * 1024)
  const traced = HttpClient.make((request) => send(request))
  const client = HttpClient.makeWith(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) =>
        Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined ? send(request) : traced.execute(request)
      )
    ),
    Effect.succeed<HttpClientRequest.HttpClientRequest>
  )
  return Object.assign(client, { [tells]: send satisfies Telling, [secrets]: ownSecrets })
}

/** The connections to one origin, and the requests on them. */
export interface Statistics {
  /** Open connections, and those of them that carry no request. */
  readonly connected: number
  readonly free: number
  /** Requests that wait for a connection, that are under way, and both. */
  readonly queued: number
  readonly running: number
  readonly size: number
}

/**
 * Connections with their end and their figures: an Undici Agent that is loaded at the first request, for it takes longer
 * to import than all the rest.
 */
export class Session {
  // Truly private: what prints a client does not print the password of its proxy.
  readonly #options: AgentOptions
  #loading: Promise<Connections> | undefined
  #connections: Connections | undefined
  #closed = false

  constructor(options: AgentOptions = {}) {
    this.#options = options
  }

  /** What no text may hold of how a session connects. */
  static secretsOf(session: Session): ReadonlyArray<string> {
    return secretsOfProxy(session.#options.proxy)
  }

  /** As of an Undici dispatcher. */
  dispatch(
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & { onResponseError: (controller: undefined, error: Error) => void }
  ): boolean {
    if (this.#connections !== undefined) return this.#connections.dispatch(request, handler)
    this.#loading ??= this.#load()
    this.#loading.then((connections) => connections.dispatch(request, handler)).catch((error) =>
      handler.onResponseError(undefined, error)
    )
    return true
  }

  /** By origin; empty before the first request, and through a proxy. */
  statistics(): Readonly<Record<string, Statistics>> {
    return Object.fromEntries(
      Object.entries(this.#connections?.stats ?? {}).map(([origin, stats]) => {
        const { connected, running, size } = stats
        // An origin with a single connection tells whether it is open.
        return "free" in stats
          ? [origin, { connected: stats.connected, free: stats.free, queued: stats.queued, running, size }]
          : [origin, {
            connected: Number(connected),
            free: Number(connected && running === 0),
            queued: stats.pending,
            running,
            size
          }]
      })
    )
  }

  /** Ends what is under way and closes the connections. */
  async close(): Promise<void> {
    this.#closed = true
    const connections = await this.#loading
    await connections?.destroy()
  }

  async #load(): Promise<Connections> {
    const { ca, proxy } = this.#options
    const tls = ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }
    const options = {
      // With HTTP/1.1 alone, a connection carries one exchange, and what became of it is certain.
      allowH2: false,
      connections: this.#options.connections ?? 64,
      connectTimeout: this.#options.connectTimeout ?? 10_000,
      headersTimeout: this.#options.headersTimeout ?? 60_000,
      bodyTimeout: this.#options.bodyTimeout ?? 60_000,
      ...(ca === undefined ? {} : { connect: tls })
    }
    const connections = await connect(options, tls, proxy)
    this.#connections = connections
    if (this.#closed) await connections.destroy()
    return connections
  }
}

/** User name and password of a proxy, as they are and as a header has them; of all in the environment, if that says which. */
export const secretsOfProxy = (proxy: string | undefined): ReadonlyArray<string> => {
  const addresses = proxy === "environment"
    ? ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].map((name) => process.env[name])
    : [proxy]
  return addresses.flatMap((address) => {
    if (address === undefined || !URL.canParse(address)) return []
    const { password, username } = new URL(address)
    // A header has both in one base64.
    return password === "" ? [username] : [password, `${username}:${password}`]
  })
}

/** A dispatcher of Undici; only an Agent has figures. */
type Connections = Pick<Dispatcher, "dispatch" | "destroy"> & { readonly stats?: Agent["stats"] | undefined }

const connect = async (
  options: Agent.Options,
  tls: { readonly ca?: string | Array<string> },
  proxy: string | undefined
): Promise<Connections> => {
  if (proxy === undefined) {
    const { default: Agent } = await import("undici/lib/dispatcher/agent.js")
    return new Agent(options)
  }
  const { EnvHttpProxyAgent, ProxyAgent } = await import("undici")
  return proxy === "environment"
    ? new EnvHttpProxyAgent({ ...options, requestTls: tls, proxyTls: tls })
    : new ProxyAgent({ ...options, uri: proxy, requestTls: tls, proxyTls: tls })
}

type Send = (
  request: HttpClientRequest.HttpClientRequest,
  progress?: Progress
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const sender = (dispatch: Dispatch, maxBodySize: number): Send => {
  const send = (
    request: HttpClientRequest.HttpClientRequest,
    body: Exclude<Dispatcher.DispatchOptions["body"], undefined>,
    headers: Headers.Headers,
    told: Progress | undefined
  ): ReturnType<Send> => {
    const target = locate(request)
    if (target === undefined) {
      return Effect.fail(
        new HttpClientError.HttpClientError({ reason: new HttpClientError.InvalidUrlError({ request }) })
      )
    }
    const exchanged = (progress: Progress | undefined) =>
      Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
        const exchange = new Exchange(request, progress?.maxBodySize ?? maxBodySize, resume, progress)
        const { origin, path } = target
        const { method } = request
        const wired = wireHeaders(headers)
        try {
          dispatch(
            progress === undefined
              ? { origin, path, method, headers: wired, body }
              // Who follows the progress limits the phases.
              : { origin, path, method, headers: wired, body, headersTimeout: 0, bodyTimeout: 0 },
            exchange
          )
        } catch (error) {
          exchange.onResponseError(undefined, error)
        }
        return Effect.sync(() => exchange.interrupt())
      })
    return told === undefined ? Effect.withFiber((fiber) => exchanged(fiber.getRef(Progress))) : exchanged(told)
  }
  return (request, progress) => {
    const { body, headers } = request
    switch (body._tag) {
      case "Empty":
        return send(request, null, headers, progress)
      case "Uint8Array":
        return send(request, body.body, headers, progress)
      case "Raw":
        // What a raw body may be is for the dispatcher to say, and it refuses what it does not know.
        return send(request, body.body as Uint8Array, headers, progress)
      case "FormData":
        return Effect.flatMap(
          Effect.promise(async () => {
            const encoded = new globalThis.Response(body.formData)
            return { body: await encoded.bytes(), contentType: encoded.headers.get("content-type")! }
          }),
          (encoded) => send(request, encoded.body, { ...headers, "content-type": encoded.contentType }, progress)
        )
      case "Stream":
        return Effect.flatMap(
          Stream.toAsyncIterableEffect(body.stream),
          (iterable) => send(request, Readable.from(iterable, { objectMode: false }), headers, progress)
        )
    }
  }
}

/** Origin and path. A URL in the usual form is taken as it is: re-encoding would break a signature of it. */
const locate = (
  request: HttpClientRequest.HttpClientRequest
): { readonly origin: string; readonly path: string } | undefined => {
  if (request.urlParams.params.length === 0) {
    const parts = usual.exec(request.url)
    if (parts !== null) return { origin: parts[1]!, path: parts[2]! }
  }
  const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
  return url === undefined || !/^https?:$/.test(url.protocol)
    ? undefined
    : { origin: url.origin, path: url.pathname + url.search }
}

const usual = /^(https?:\/\/[a-z0-9.:[\]-]+)(\/[!"$-~]*)$/

const wireHeaders = (headers: Headers.Headers): Array<string> => {
  const out = "accept-encoding" in headers ? [] : ["accept-encoding", "gzip, br"]
  for (const name in headers) out.push(name, headers[name]!)
  return out
}

type Resume = (effect: ReturnType<Send>) => void

/** One request and its response, told by the dispatcher in callbacks. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly request: HttpClientRequest.HttpClientRequest
  private readonly maxBodySize: number
  private readonly resume: Resume
  private controller: Dispatcher.DispatchController | undefined
  private phase: Phase = "connect"
  private status = 0
  private headers: IncomingHeaders = {}
  private chunks: Array<Buffer> = []
  private size = 0
  private settled = false
  private readonly progress: Progress | undefined

  constructor(
    request: HttpClientRequest.HttpClientRequest,
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
      this.chunks.push(chunk)
    } else {
      const error = new BodyTooLarge({ maxBodySize: this.maxBodySize })
      this.undecodable(error, Buffer.alloc(0))
      controller.abort(error)
    }
  }

  onResponseEnd(): void {
    if (this.settled) return
    // Undici makes each chunk, and so do we the whole: no memory here is shared.
    const body = (this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks)) as Buffer<ArrayBuffer>
    const encoding = this.headers["content-encoding"]
    const decompress = body.length > 0 && typeof encoding === "string"
      ? decompressors.get(encoding.trim().toLowerCase())
      : undefined
    if (decompress === undefined) return this.succeed(this.headers, body)
    decompress(body, this.maxBodySize, (error, plain) => {
      if (error === null) {
        const { "content-encoding": _, "content-length": __, ...headers } = this.headers
        this.succeed(headers, plain)
      } else if (error.code === "ERR_BUFFER_TOO_LARGE") {
        this.undecodable(new BodyTooLarge({ maxBodySize: this.maxBodySize }), Buffer.alloc(0))
      } else {
        this.undecodable(error, body)
      }
    })
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.settled) return
    const code = Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined
    const refused = code !== undefined && refusal.test(code)
    const phase = refused && this.phase === "connect" ? "send" : this.phase
    const message = code === undefined || refused ? failures[phase] : messageOf(error, failures[phase])
    const cause = new UndiciTransportCause({ phase, requestSent: this.controller !== undefined, code, message })
    this.fail(new HttpClientError.TransportError({ request: this.request, cause, description: message }))
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
    this.settle(Effect.succeed(new BufferedResponse(this.request, this.status, headers, body)))
  }

  private undecodable(cause: Error, body: Buffer<ArrayBuffer>): void {
    const response = new BufferedResponse(this.request, this.status, this.headers, body)
    this.fail(
      new HttpClientError.DecodeError({ request: this.request, response, cause, description: cause.message })
    )
  }

  private fail(reason: HttpClientError.HttpClientErrorReason): void {
    this.settle(Effect.fail(new HttpClientError.HttpClientError({ reason })))
  }

  private settle(effect: ReturnType<Send>): void {
    if (this.settled) return
    this.settled = true
    this.progress?.ended()
    this.resume(effect)
  }
}

// Texts about what was to be sent may quote it, and so may those without a code, whoever wrote them.
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

type Decompressed = (error: NodeJS.ErrnoException | null, plain: Buffer<ArrayBuffer>) => void

type Decompress = (body: Buffer, maxOutputLength: number, done: Decompressed) => void

const decompressor = (
  decompress: (body: Buffer, options: { readonly maxOutputLength: number }, done: Decompressed) => void,
  decompressSync: (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer<ArrayBuffer>
): Decompress =>
(body, limit, done) => {
  const options = { maxOutputLength: Math.min(limit, constants.MAX_LENGTH) }
  // Up to here, a thread would cost more than it saves.
  if (body.length > 1024 * 1024) return decompress(body, options, done)
  let plain: Buffer<ArrayBuffer>
  try {
    plain = decompressSync(body, options)
  } catch (error) {
    return done(error as NodeJS.ErrnoException, Buffer.alloc(0))
  }
  done(null, plain)
}

const gunzip = decompressor(Zlib.gunzip, Zlib.gunzipSync)

const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["br", decompressor(Zlib.brotliDecompress, Zlib.brotliDecompressSync)]
])
