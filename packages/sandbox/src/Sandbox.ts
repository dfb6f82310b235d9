/**
 * The sandbox: in process as an `HttpClient` (`layer`), or on a loopback port (`layerServer`).
 */
import "@postwire/core/runtime/SupportedNode"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Admin from "./admin/Admin.ts"
import * as Console from "./admin/Console.ts"
import * as Controls from "./admin/Controls.ts"
import { invalid, type InvalidOption, type Options, type ServerOptions } from "./admin/Options.ts"
import { type Template, templateOf } from "./admin/Population.ts"
import * as ComplianceFiles from "./compliance/ComplianceFiles.ts"
import * as MediaFiles from "./media/MediaFiles.ts"
import * as Server from "./service/Server.ts"
import * as Service from "./service/Service.ts"
import { NodeUnsupported } from "./store/Engine.ts"
import { Store, StoreUnavailable } from "./store/Store.ts"

export type { Budget } from "./admin/Budget.ts"
export { InvalidOption, type Options, type Population, type ServerOptions } from "./admin/Options.ts"
export { NodeUnsupported, StoreUnavailable }

/** The port is taken, or not permitted. The sandbox was not started. */
export class PortUnavailable extends Schema.TaggedError<PortUnavailable>("@postwire/sandbox/Sandbox/PortUnavailable")(
  "PortUnavailable",
  { port: Schema.Number, cause: Schema.Defect() }
) {
  override get message() {
    return `Cannot listen on port ${this.port}. ${this.advice}`
  }
  get advice() {
    return "Choose another one, or 0 for any free port."
  }
}

/** A sandbox: its state and the calls that control it. */
export class Sandbox extends Context.Service<Sandbox, Controls.Controls>()("@postwire/sandbox/Sandbox") {}

/** Creates the sandbox and its request handler. */
const make = Effect.fnUntraced(function*(
  options: Options,
  { baseUrl, delivered, template }: {
    readonly baseUrl: () => string
    readonly delivered: Service.Parts["delivered"]
    readonly template?: Template | undefined
  }
) {
  const { controls, parts } = yield* Controls.make(options, { baseUrl, template })
  const service = yield* Service.make({ ...parts, delivered }, options)
  const admin = Admin.make(controls)
  const files = MediaFiles.make(controls.store, controls.clock.now)
  const compliance = ComplianceFiles.make(controls.store, controls.clock.now)
  const answer: Service.Service = (request) =>
    Admin.isFor(request)
      ? admin(request)
      : Console.isFor(request)
      ? Console.answer(request)
      : MediaFiles.isFor(request)
      ? files(request)
      : ComplianceFiles.isFor(request)
      ? compliance(request)
      : service(request)
  return { sandbox: Sandbox.of(controls), answer }
})

const layerStore = (
  options: ServerOptions
): Layer.Layer<Store, StoreUnavailable | NodeUnsupported | InvalidOption> =>
  Layer.unwrap(Effect.suspend(() => {
    const error = invalid(options)
    return error === undefined
      ? Effect.succeed(Store.layer({ file: options.file ?? ":memory:" }))
      : Effect.fail(error)
  }))

/** The sandbox in process: an `HttpClient` that sends all requests to it. No port is opened. */
export const layer = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient | Sandbox, StoreUnavailable | NodeUnsupported | InvalidOption> =>
  Layer.effectContext(Effect.gen(function*() {
    const { answer, sandbox } = yield* make(options, {
      baseUrl: () => "http://localhost",
      delivered: () => Effect.void
    })
    const client = HttpClient.make((request) =>
      // Setting the body adds the headers that describe it.
      answer(HttpServerRequest.fromClientRequest(HttpClientRequest.setBody(request, encoded(request.body)))).pipe(
        Effect.mapError((cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        ),
        Effect.map((response) => HttpServerResponse.toClientResponse(response, { request }))
      )
    )
    return Context.make(HttpClient.HttpClient, client).pipe(Context.add(Sandbox, sandbox))
  })).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

/** Encodes a form, whose boundary must be in the headers. */
const encoded = (body: HttpBody.HttpBody): HttpBody.HttpBody => {
  if (body._tag !== "FormData") return body
  const request = new Response(body.formData)
  return HttpBody.raw(request.body, { contentType: request.headers.get("content-type") ?? undefined })
}

/** The sandbox as a real HTTP server on a loopback port. */
export const layerServer = (
  options: ServerOptions = {}
): Layer.Layer<Sandbox, StoreUnavailable | NodeUnsupported | PortUnavailable | InvalidOption> => serve(options)

const serve = (
  options: ServerOptions,
  template?: Template
): Layer.Layer<Sandbox, StoreUnavailable | NodeUnsupported | PortUnavailable | InvalidOption> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const { host = Server.loopback, port = 0, requestTimeout = 30_000 } = options
      let baseUrl = ""
      const { answer, sandbox } = yield* make(options, {
        baseUrl: () => baseUrl,
        delivered: Server.delivered,
        template
      })
      baseUrl = yield* Server.listen(answer, { host, port, requestTimeout: Duration.toMillis(requestTimeout) }).pipe(
        Effect.mapError(({ cause }) => new PortUnavailable({ port, cause }))
      )
      return sandbox
    })
  ).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

/** A sandbox on a port, for programs without Effect. It runs until it is stopped or disposed. */
export type RunningSandbox = Sandbox["Service"] & AsyncDisposable & {
  /** Closes the port and aborts requests in progress. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a sandbox on a port. Its population is created once per process and then copied, so that every test can have a
 * sandbox of its own. Rejects with `PortUnavailable`, `StoreUnavailable`, `InvalidOption` or `NodeUnsupported`.
 */
export const start = async (options: ServerOptions = {}): Promise<RunningSandbox> => {
  const scope = Scope.makeUnsafe()
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(
      Effect.flatMap(
        invalid(options) === undefined ? templateOf(options) : Effect.undefined,
        (template) => Layer.buildWithScope(serve(options, template), scope)
      )
    )
    return Object.assign(Context.get(context, Sandbox), { stop, [Symbol.asyncDispose]: stop })
  } catch (error) {
    await stop()
    throw error
  }
}
