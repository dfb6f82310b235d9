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
import { createServer } from "node:http"
import * as Seed from "./Seed.ts"
import * as Service from "./Service.ts"
import { Store, type StoreUnavailable } from "./store/Store.ts"

/** Settings of a sandbox. */
export interface Options {
  /** Where the state is kept; in memory when left out. A file that holds a state already is used as it is. */
  readonly file?: string | undefined
  /** The number that decides all data. Default 1. */
  readonly seed?: number | undefined
  /** How many posts there are at the start. Default 1,000. */
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

const layerStore = (options: Options): Layer.Layer<Store, StoreUnavailable> =>
  Store.layer({ file: options.file ?? ":memory:" })

/** The sandbox in process: an `HttpClient` whose requests go to it and to nothing else. No port is opened. */
export const layer = (options: Options = {}): Layer.Layer<HttpClient.HttpClient | Sandbox, StoreUnavailable> =>
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
): Layer.Layer<Sandbox, StoreUnavailable | PortUnavailable> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const { port = 0 } = options
      const store = yield* Store
      const seeded = yield* populate(options)
      const service = yield* Service.make({ ...options, loopbackOnly: true })
      const http = createServer()
      const server = yield* NodeHttpServer.make(() => http, { port, host: "127.0.0.1" }).pipe(
        Effect.mapError(({ cause }) => new PortUnavailable({ port, cause }))
      )
      yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, service))
      // A client that does not finish its request must not hold up the end.
      yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
      return { store, seeded, baseUrl: HttpServer.formatAddress(server.address) }
    })
  ).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))
