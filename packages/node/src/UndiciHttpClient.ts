/**
 * An `HttpClient` on Undici's `dispatch`: bodies are buffered and decompressed, redirects are not followed, and spans are made only
 * if a tracer is installed.
 *
 * `Transport.Streaming` streams a body without an end; other endless streams need another client, such as the one of
 * `@effect/platform-node`.
 */
import { secrets } from "@postwire/core/auth/Redaction"
import { Progress } from "@postwire/core/http/Timeouts"
import { defaultMaxBodyBytes, type Reporting, reports, Streaming } from "@postwire/core/http/Transport"
import * as Multipart from "@postwire/core/schema/Multipart"
import * as RenameCompiler from "@postwire/core/wire/RenameCompiler"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import * as WireNames from "@postwire/core/wire/WireNames"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { Dispatcher } from "undici"
import { BufferedResponse } from "./internal/bufferedResponse.ts"
import { Exchange, type Outcome, Upload } from "./internal/exchange.ts"
import { type Options as SessionOptions, Session } from "./internal/session.ts"
import { Streamed } from "./internal/streamed.ts"

export type { IncomingHeaders } from "./internal/bufferedResponse.ts"
export { BodyTooLarge, type Phase, UndiciTransportCause } from "./internal/exchange.ts"
export { secretsOfProxy, Session, type Statistics } from "./internal/session.ts"

/** Settings of any client. */
export interface Options {
  /** The maximum size of a response body, in bytes after decompression. Default: 64 MiB. */
  readonly maxBodySize?: number | undefined
}

/** Settings of a client that has its own connections. */
export interface AgentOptions extends Options, SessionOptions {}

/** Settings of a client on a dispatcher that its owner configures and closes, such as a proxy agent. */
export interface DispatcherOptions extends Options {
  readonly dispatcher: Pick<Dispatcher, "dispatch">
}

/** A client on a dispatcher that its owner configures and closes. */
export const make = (dispatcher: Pick<Dispatcher, "dispatch">, options?: Options): HttpClient.HttpClient =>
  fromDispatch(
    (request, exchange) => dispatcher.dispatch(request, exchange),
    options,
    // Of a session, made by any copy of this package.
    () => secrets in dispatcher && typeof dispatcher[secrets] === "function" ? dispatcher[secrets]() : []
  )

/** A client on a given dispatcher, or on its own connections, which are closed with the layer. */
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

/** The body of a response. Not a copy if it is from one of these clients: do not read a body that was passed on. */
export const bytesOf = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Uint8Array<ArrayBuffer>, HttpClientError.HttpClientError> =>
  response instanceof BufferedResponse
    ? Effect.succeed(response.body)
    : Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** Passes a request to a dispatcher, which reports to the exchange. */
type Dispatch = (request: Dispatcher.DispatchOptions, exchange: Exchange) => void

const fromDispatch = (
  dispatch: Dispatch,
  options: Options | undefined,
  ownSecrets: () => ReadonlyArray<string>
): HttpClient.HttpClient => {
  // The bodies of this client are decoded, and on Node the size of a compiler does not matter.
  ResponseDecoder.compileWith(SchemaJITCompiler.enable)
  WireNames.compileWith(RenameCompiler.compile)
  const send = sender(dispatch, options?.maxBodySize ?? defaultMaxBodyBytes)
  const traced = HttpClient.make((request) => send(request))
  const client = HttpClient.makeWith(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) =>
        Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined ? send(request) : traced.execute(request)
      )
    ),
    Effect.succeed<HttpClientRequest.HttpClientRequest>
  )
  return Object.assign(client, { [reports]: send satisfies Reporting, [secrets]: ownSecrets })
}

type Send = (
  request: HttpClientRequest.HttpClientRequest,
  progress?: Progress
) => Outcome

const sender = (dispatch: Dispatch, maxBodySize: number): Send => {
  const locate = makeLocate()
  const wireHeaders = makeWireHeaders()
  const send = (
    request: HttpClientRequest.HttpClientRequest,
    body: unknown,
    headers: Headers.Headers,
    told: Progress | undefined
  ): Outcome => {
    const target = locate(request)
    if (target === undefined) {
      return Effect.fail(
        new HttpClientError.HttpClientError({ reason: new HttpClientError.InvalidUrlError({ request }) })
      )
    }
    const exchanged = (progress: Progress | undefined, Kind: typeof Exchange, scope?: Scope.Scope) =>
      Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
        const exchange = new Kind(request, progress?.maxBodySize ?? maxBodySize, resume, progress)
        if (scope !== undefined) Effect.runSync(Scope.addFinalizer(scope, Effect.sync(() => exchange.interrupt())))
        const { origin, path } = target
        const { method } = request
        const wired = wireHeaders(headers)
        // The dispatcher accepts more bodies than its types declare, and refuses unknown ones.
        const taken = body as Uint8Array | null
        try {
          dispatch(
            progress === undefined
              ? { origin, path, method, headers: wired, body: taken }
              // The owner of the progress limits the phases.
              : { origin, path, method, headers: wired, body: taken, headersTimeout: 0, bodyTimeout: 0 },
            exchange
          )
        } catch (error) {
          exchange.onResponseError(undefined, error)
        }
        return Effect.sync(() => exchange.interrupt())
      })
    const Kind = body instanceof Multipart.Pieces ? Upload : Exchange
    if (told !== undefined) return exchanged(told, Kind)
    return Effect.withFiber((fiber) => {
      const scope = fiber.getRef(Streaming)
      const progress = fiber.getRef(Progress)
      return scope === undefined ? exchanged(progress, Kind) : exchanged(progress, Streamed, scope)
    })
  }
  return (request, progress) => {
    const { body, headers } = request
    switch (body._tag) {
      case "Empty":
        return send(request, null, headers, progress)
      case "Uint8Array":
        return send(request, body.body, headers, progress)
      case "Raw":
        return send(request, body.body, headers, progress)
      case "FormData":
        return Effect.flatMap(
          Effect.promise(async () => {
            const encoded = new globalThis.Response(body.formData)
            return { body: await encoded.bytes(), contentType: encoded.headers.get("content-type")! }
          }),
          (encoded) => send(request, encoded.body, { ...headers, "content-type": encoded.contentType }, progress)
        )
      case "Stream":
        // Its bytes need no stream.
        if (body instanceof Multipart.Content) return send(request, new Multipart.Pieces(body.bytes), headers, progress)
        return Effect.flatMap(
          Stream.toAsyncIterableEffect(body.stream),
          (iterable) => send(request, readableOf(iterable), headers, progress)
        )
    }
  }
}

// Not imported: Node takes 2 ms to load it, and few bodies are streams.
const readableOf = (iterable: AsyncIterable<Uint8Array>) =>
  process.getBuiltinModule("node:stream").Readable.from(iterable, { objectMode: false })

/** Makes the function that separates origin and path. It remembers the origin, which is usually the same. */
const makeLocate = () => {
  let known = ""
  return (
    request: HttpClientRequest.HttpClientRequest
  ): { readonly origin: string; readonly path: string } | undefined => {
    if (request.urlParams.params.length === 0) {
      // A URL in the usual form is not re-encoded: that would break its signature.
      const { url } = request
      const isKnown = url.startsWith(known) && url.startsWith("/", known.length)
      const origin = isKnown ? known : usualOrigin.exec(url)?.[0] ?? ""
      const path = url.slice(origin.length)
      if (origin !== "" && usualPath.test(path)) {
        known = origin
        return { origin, path }
      }
    }
    const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
    return url === undefined || !/^https?:$/.test(url.protocol)
      ? undefined
      : { origin: url.origin, path: url.pathname + url.search }
  }
}

const usualOrigin = /^https?:\/\/[a-z0-9.:[\]-]+/
const usualPath = /^\/[!"$-~]*$/

/** Makes the function that lists headers for Undici. It remembers the last list, since requests may share their headers. */
const makeWireHeaders = () => {
  let last: Headers.Headers | undefined
  let list: Array<string> = []
  return (headers: Headers.Headers): Array<string> => {
    if (headers !== last) {
      last = headers
      list = "accept-encoding" in headers ? [] : ["accept-encoding", "gzip, br"]
      for (const name in headers) list.push(name, headers[name]!)
    }
    // A copy, since a dispatcher may add to it.
    return list.slice()
  }
}
