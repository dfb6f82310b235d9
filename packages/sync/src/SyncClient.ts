/** The synchronous client: every operation of the catalogue as a blocking method. No operation is referred to by name here. */
import * as Credentials from "@postwire/core/auth/Credentials"
import type { Redact } from "@postwire/core/auth/Redaction"
import * as Redaction from "@postwire/core/auth/Redaction"
import { type Catalogue, catalogue } from "@postwire/core/Catalogue"
import * as CallErrors from "@postwire/core/client/CallErrors"
import type * as Core from "@postwire/core/client/CallOptions"
import { checkFlag } from "@postwire/core/client/Client"
import type { Operation, Paged } from "@postwire/core/client/Operation"
import * as Pagination from "@postwire/core/client/Pagination"
import * as RawRequest from "@postwire/core/client/RawRequest"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import type { OperationMethod, PagedMethod, RequestMethod, StreamMethod } from "@postwire/core/promise/OperationMethods"
import * as Anomaly from "@postwire/core/schema/Anomaly"
import type { Definition, Direction, Form } from "@postwire/core/schema/Definition"
import type * as Documentation from "@postwire/core/schema/Documentation"
import type { BytesInput } from "@postwire/core/schema/Parameters"
import type { StreamOperation } from "@postwire/core/streams/StreamOperation"
import * as RenameCompiler from "@postwire/core/wire/RenameCompiler"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as WireNames from "@postwire/core/wire/WireNames"
import * as NodeClient from "@postwire/node/NodeClient"
import type { Statistics } from "@postwire/node/UndiciHttpClient"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { existsSync } from "node:fs"
import * as Composites from "./Composites.ts"
import type { Blocking } from "./internal/blocking.ts"
import * as Calls from "./internal/calls.ts"
import { Connection } from "./internal/connection.ts"
import * as Pages from "./internal/pages.ts"
import * as Received from "./internal/received.ts"
import * as Live from "./Live.ts"
import type { Settings } from "./Settings.ts"

/** The options of a call. A `timeout` that is a number is the longest time that the call may block. */
export type CallOptions = Core.CallOptions

/** The options of iterating over pages. */
export type PageOptions<D extends Direction = Direction> = Pagination.PageOptions<D>

/** A request to any path of the service, for endpoints without a method. */
export type SyncRequest<F extends Form> = RequestMethod<F, Blocking>

type MethodOf<O, F extends Form> = O extends Paged<infer P, infer R, infer Sel, infer _E, infer _F, infer D> ?
  PagedMethod<P, R, Sel, F, D, Blocking>
  : O extends StreamOperation<infer P, infer R, infer Sel, infer _E> ? StreamMethod<P, R, Sel, F, Blocking>
  : O extends Operation<infer P, infer R, infer Sel, infer _E> ? OperationMethod<InMemory<P>, R, Sel, F, Blocking>
  : never

/** Bytes must be in memory: a blocking call cannot read a Blob. */
type InMemory<P> = BytesInput extends P[keyof P] ? { [K in keyof P]: Exclude<P[K], Blob> } : P

interface BlockingMethod<F extends Form> extends Documentation.MethodType {
  readonly method: MethodOf<Catalogue[this["name"] & keyof Catalogue], F>
}

/** Every operation of the catalogue as a blocking method. */
export interface Methods<F extends Form = "response"> extends Documentation.Methods<BlockingMethod<F>> {}

/** The HTTP session of a client: its connections are in the worker. */
export interface Session {
  /** Connections and requests by origin; empty before the first call. */
  readonly statistics: () => Readonly<Record<string, Statistics>>
  /** Closes the connections and the client. */
  readonly close: () => void
}

/** The methods of one client by return type, its session, and `close`. */
export interface Client {
  readonly methods: <F extends Form>(form: F) => Methods<F>
  readonly request: <F extends Form>(form: F) => SyncRequest<F>
  readonly composites: Composites.Composites
  readonly session: Session
  readonly close: () => void
}

/** Checks all settings. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>
): Effect.fn.Return<void, InvalidSettings> {
  yield* NodeClient.check(settings, ["ownWorker", "workerUrl"])
  yield* checkFlag("ownWorker", settings.ownWorker)
  const { journal, tokenStore, ...given }: NodeClient.Settings<Form> = settings
  const { dispatcher, logger, oauth2: { save } = {}, onRateLimit, onRequest, onSpend } = given
  const functions = { dispatcher, logger, onRateLimit, onRequest, onSpend, "oauth2.save": save }
  for (const [setting, value] of Object.entries(functions)) {
    if (value !== undefined) return yield* new InvalidSettings({ setting, rule: "cannot be handed to a worker" })
  }
  for (const [setting, value] of Object.entries({ journal, tokenStore })) {
    if (value === undefined || typeof value === "string") continue
    return yield* new InvalidSettings({ setting, rule: "cannot be handed to a worker, unless by name" })
  }
  // Checked here, because the worker opens the client with the first call.
  if (settings.waitOnRateLimit === true) yield* Effect.scoped(Layer.build(NodeClient.layerStore(settings)))
  if (settings.spendStore !== undefined) yield* Effect.scoped(Layer.build(NodeClient.layerSpendStore(settings)))
  if (settings.account !== undefined) yield* Effect.scoped(Layer.build(NodeClient.layerTokenStore(settings)))
})

/** Makes a client from checked settings. */
export const make = (given: Settings<Form>): Client => {
  // Later changes of the object do not affect this client.
  const settings = { ...given }
  // Bodies are decoded on this side.
  ResponseDecoder.compileWith(SchemaJITCompiler.enable)
  WireNames.compileWith(RenameCompiler.compile)
  const warningsOf = Anomaly.makeWarnings()
  const connection = new Connection(settings, settings.workerUrl ?? besideThis())
  const context: Calls.Context = {
    settings,
    wire: Wire.named[settings.wire ?? "neutral"],
    connection,
    redact: redactOf(settings, connection),
    warn: (operation, anomalies) => {
      for (const line of warningsOf(operation, anomalies)) process.emitWarning(line, "PostwireWarning")
    }
  }
  const close = () => connection.close()
  return {
    methods: <F extends Form>(form: F) =>
      // oxlint-disable-next-line postwire/no-blind-assertion -- The mapped type is the only source of the types.
      Object.fromEntries(
        Object.entries(catalogue).map(([name, { definition }]) => [name, method(context, definition, form)])
      ) as unknown as Methods<F>,
    request: (form) => request(context, form),
    composites: Composites.make(context),
    session: { statistics: () => connection.statistics(), close },
    close
  }
}

function request<F extends Form>(context: Calls.Context, form: F): SyncRequest<F>
// The declaration above is the only source of the types.
function request(context: Calls.Context, form: Form): object {
  const call = (request: unknown, options: CallOptions = {}) => {
    const checked = RawRequest.check(request, context.redact)
    const pending = Calls.orThrow(Calls.beginRequest(context, checked, options), call)
    const received = Calls.orThrow(Calls.receive(pending), call)
    if (form === "raw") return Received.rawOf(received)
    const response = Calls.orThrow(Received.read(context, RawRequest.infoOf(checked), received), call)
    return Received.inForm(form, received, response)
  }
  return call
}

const method = (context: Calls.Context, definition: Definition, form: Form) => {
  if (definition.live !== undefined) return Live.method(context, definition, form)
  const call = (parameters: object = {}, options: CallOptions = {}) => {
    const pending = Calls.orThrow(Calls.begin(context, definition, parameters, options), call)
    const received = Calls.orThrow(Calls.receive(pending), call)
    if (form === "raw") return Received.rawOf(received)
    return Received.inForm(form, received, Calls.orThrow(Received.read(context, definition, received), call))
  }
  if (definition.paging === undefined) return call
  const pages = each(context, definition, ({ received, response }) => [Received.inForm(form, received, response)])
  const items = each(context, definition, ({ position, response }) => Pagination.itemsAt(position, response))
  const joined = each(context, definition, ({ position, response }) => Pagination.joinedAt(position, response))
  return Object.assign(call, { pages, items, joined })
}

/** An iterable over every page. Unlike a generator, it can be iterated more than once. */
const each = (context: Calls.Context, definition: Definition, of: (page: Pages.Page) => Iterable<unknown>) => {
  function* run(parameters: object, options?: PageOptions) {
    for (const page of Pages.run(context, definition, parameters, options, run, of)) {
      for (const item of page) {
        yield item
        if (context.connection.isClosed) Calls.orThrow(CallErrors.closed(definition), run)
      }
    }
  }
  return (parameters: object = {}, options?: PageOptions): Iterable<unknown> => ({
    [Symbol.iterator]: () => run(parameters, options)
  })
}

/** The worker beside this module. In a bundle, the module may not know its own address. */
const besideThis = (): URL | undefined => {
  const here: string | undefined = import.meta.url
  if (here === undefined) return undefined
  const url = new URL(`./PostwireWorker${here.endsWith(".ts") ? ".ts" : ".js"}`, here)
  return url.protocol === "file:" && existsSync(url) ? url : undefined
}

/**
 * Redacts literal secrets. Signatures, made by the worker, are recognized by their format; tokens of accounts are redacted by the
 * worker.
 */
const redactOf = (settings: Settings<Form>, connection: Connection): Redact => {
  const literal = Redaction.make(() => [
    ...[...Credentials.names, "clientSecret" as const].map((name) => {
      const given = settings[name] ?? ""
      return (Redacted.isRedacted(given) ? Redacted.value(given) : given).trim()
    }),
    ...UndiciHttpClient.secretsOfProxy(settings.proxy)
  ])
  const own: Redact = (text) => Redaction.signatures(literal(text))
  return settings.account === undefined && settings.oauth2 === undefined ? own : (text) => connection.redact(own(text))
}
