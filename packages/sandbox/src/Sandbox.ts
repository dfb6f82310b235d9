/**
 * The sandbox: in process as an `HttpClient` (`layer`), or on a loopback port (`layerServer`).
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Wire } from "@postwire/core/WireNames"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Problem from "./Problem.ts"
import * as Seed from "./Seed.ts"
import * as Service from "./Service.ts"
import { Store, type StoreUnavailable } from "./store/Store.ts"

/** Settings of a sandbox. */
export interface Options {
  /** Where the state is kept; in memory when left out. A file that holds a state already is used as it is. */
  readonly file?: string | undefined
  /** The number that decides all data. Default 1. */
  readonly seed?: number | undefined
  /** How many posts there are at the start: a whole number from 0 to 1,000,000. Default 1,000. */
  readonly posts?: number | undefined
  /** The words of an answer where the request does not tell. Default `neutral`. */
  readonly wire?: Wire | undefined
  /** How many posts a project may read per month with the operations that count. Default 10,000,000. */
  readonly postCap?: number | undefined
}

/** Settings of a sandbox on a port. */
export interface ServerOptions extends Options {
  /** Default 0: any free one. */
  readonly port?: number | undefined
}

/** The port could not be had: it is taken, or not allowed. */
export class PortUnavailable extends Schema.TaggedError<PortUnavailable>("@postwire/sandbox/Sandbox/PortUnavailable")(
  "PortUnavailable",
  { port: Schema.Number, cause: Schema.Defect() }
) {
  override get message() {
    return `Cannot listen on port ${this.port}`
  }
}

/** An option of the sandbox breaks a rule. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>("@postwire/sandbox/Sandbox/InvalidOption")(
  "InvalidOption",
  { option: Schema.String, rule: Schema.String }
) {
  override get message() {
    return `${this.option} ${this.rule}`
  }
}

/** A sandbox: its state, and what one needs to use it. */
export class Sandbox extends Context.Service<Sandbox, {
  readonly store: Store["Service"]
  /** What the seed made: the user ada and credentials of every form. */
  readonly seeded: Seed.Seeded
  /** The address; over a connection with its port. */
  readonly baseUrl: string
}>()("@postwire/sandbox/Sandbox") {}

/** The state with its seed: made as a whole or not at all, unless it is there already. */
const populate = Effect.fnUntraced(function*({ posts = 1_000, seed = 1 }: Options) {
  const store = yield* Store
  const options: Seed.Options = { seed, posts, start: yield* Clock.currentTimeMillis }
  return store.transaction(() => Seed.existing(store, options) ?? Seed.run(store, options))
})

const layerStore = ({ file = ":memory:", posts = 0 }: Options): Layer.Layer<Store, StoreUnavailable | InvalidOption> =>
  Seed.isSize(posts)
    ? Store.layer({ file })
    : Layer.effect(Store, new InvalidOption({ option: "posts", rule: `must be ${Seed.size}` }))

/** The sandbox in process: an `HttpClient` whose requests go to it and to nothing else. No port is opened. */
export const layer = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient | Sandbox, StoreUnavailable | InvalidOption> =>
  Layer.effectContext(Effect.gen(function*() {
    const store = yield* Store
    const seeded = yield* populate(options)
    const service = yield* Service.make(options)
    const client = HttpClient.make((request) =>
      Effect.map(
        // The headers that describe the body are added by whatever sends it.
        service(HttpServerRequest.fromClientRequest(HttpClientRequest.setBody(request, request.body))),
        (response) => HttpServerResponse.toClientResponse(response, { request })
      )
    )
    return Context.make(HttpClient.HttpClient, client).pipe(
      Context.add(Sandbox, { store, seeded, baseUrl: "http://localhost" })
    )
  })).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

/** The sandbox as a real HTTP server on a loopback port. */
export const layerServer = (
  options: ServerOptions = {}
): Layer.Layer<Sandbox, StoreUnavailable | PortUnavailable | InvalidOption> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const { port = 0 } = options
      const store = yield* Store
      const seeded = yield* populate(options)
      const service = yield* Service.make({ ...options, loopbackOnly: true })
      // Whoever names no host is told so by the service.
      const http = createServer({ requireHostHeader: false })
      http.on("clientError", refuse)
      http.on("checkExpectation", ({ socket }) => refuse({ code: "EXPECTATION" }, socket))
      const server = yield* NodeHttpServer.make(() => http, { port, host: "127.0.0.1" }).pipe(
        Effect.mapError(({ cause }) => new PortUnavailable({ port, cause }))
      )
      yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, service))
      // There is no other protocol to change to, so such a request is one like any other.
      http.removeAllListeners("upgrade")
      // A client that does not finish its request must not hold up the end.
      yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
      return { store, seeded, baseUrl: HttpServer.formatAddress(server.address) }
    })
  ).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

/** Answers what is no request that Node reads, with a problem document as everything else. */
const refuse = ({ code = "" }: { readonly code?: string }, socket: Duplex): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const status = statuses[code] ?? 400
  const title = STATUS_CODES[status] ?? ""
  const { document } = new Problem.Problem({
    status,
    title,
    detail: "This cannot be read as a request.",
    type: "about:blank"
  })
  const body = JSON.stringify(document)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroy()
  )
}

const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  EXPECTATION: 417,
  HPE_HEADER_OVERFLOW: 431
}
