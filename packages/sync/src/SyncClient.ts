/** The synchronous face: every operation of the catalogue as a blocking method. Nothing here knows one by name. */
import { type Catalogue, catalogue } from "@postwire/core/Catalogue"
import { AnyError, InvalidParameters, InvalidSettings, PaginationStuck, show } from "@postwire/core/Errors"
import * as Executor from "@postwire/core/Executor"
import type { Arguments, Definition, ItemOf, Operation, Paged, ResponseOf, SelectionOf } from "@postwire/core/Operation"
import * as Pagination from "@postwire/core/Pagination"
import * as Response from "@postwire/core/Response"
import type { Selection } from "@postwire/core/Selection"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Bridge } from "./internal/Bridge.ts"

/** Every setting of a synchronous client. A dispatcher cannot be handed to a worker. */
export interface Settings extends Omit<NodeClient.Settings, "dispatcher"> {
  /** The longest that one call may block, in milliseconds. Default 5 minutes, and `maxWait` on top with `waitOnRateLimit`. */
  readonly timeout?: number | undefined
}

/** What a call takes besides its parameters. */
export interface CallOptions {
  /** The longest that this call may block, in milliseconds. */
  readonly timeout?: number | undefined
}

/** An operation as a blocking method. */
export interface SyncOperation<in out P, out R, Sel extends keyof Selection> {
  <const S extends SelectionOf<R, Sel>>(...args: Arguments<P, Sel, S, CallOptions>): ResponseOf<R, S>
}

/** An operation that pages, with two lazy iterables: a page is fetched when the loop gets to it. */
export interface SyncPaged<in out P, out R, Sel extends keyof Selection> extends SyncOperation<P, R, Sel> {
  /** Every page, with its `includes`, `errors` and `meta`. */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => Iterable<ResponseOf<R, S>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => Iterable<ItemOf<R, S>>
}

/** Every operation of the catalogue as a blocking method. */
export type Methods = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E>
    ? SyncPaged<P, R, Sel>
    : Catalogue[N] extends Operation<infer P, infer R, infer Sel, infer _E> ? SyncOperation<P, R, Sel>
    : never
}

/** The methods of one client, and its end. */
export interface Client {
  readonly methods: Methods
  readonly close: () => void
}

type AnyResponse = Response.Response<unknown, unknown>

const decodeError = /*#__PURE__*/ Schema.decodeUnknownSync(/*#__PURE__*/ Schema.toCodecJson(AnyError))

/** One worker serves all clients of a thread. It starts with the first call, and again after it was lost. */
let bridge: Bridge | undefined
let lastClient = 0

/** Throws `InvalidSettings` when a setting breaks a rule. */
export const assertValid = (settings: Settings): void => {
  NodeClient.assertValid(settings)
  if ("dispatcher" in settings && settings.dispatcher !== undefined) {
    throw new InvalidSettings({ setting: "dispatcher", rule: "cannot be handed to a worker" })
  }
  for (const setting of ["timeout", "maxWait"] as const) {
    if (!isTimeout(settings[setting])) throw new InvalidSettings({ setting, rule: timeoutRule })
  }
}

/** Makes a client of checked settings. */
export const make = (settings: Settings): Client => {
  const number = ++lastClient
  const plain = withPlainSecrets(settings)
  const wire = settings.wire ?? "neutral"
  const defaultTimeout = settings.timeout ??
    300_000 + (settings.waitOnRateLimit === true ? settings.maxWait ?? 1_200_000 : 0)
  const utf8 = new TextDecoder()
  let opened: Bridge | undefined
  let closed = false

  const connect = (): Bridge => {
    if (bridge === undefined || bridge.isDead) bridge = new Bridge()
    if (opened !== bridge) bridge.post({ _tag: "Open", client: number, settings: plain })
    opened = bridge
    return bridge
  }

  const attempt = (
    definition: Definition,
    parameters: object,
    { timeout = defaultTimeout }: CallOptions = {}
  ): AnyResponse | Error => {
    const prepared = Executor.prepare(definition, parameters, wire)
    if (prepared instanceof Error) return prepared
    if (!isTimeout(timeout)) {
      const operation = definition.name
      return new InvalidParameters({ operation, parameter: "timeout", rule: timeoutRule, value: show(timeout) })
    }
    if (closed) return Executor.lost(prepared, { phase: "connect", sent: false, reason: "the client is closed" })
    const answer = connect().call({ _tag: "Send", client: number, prepared }, timeout)
    switch (answer._tag) {
      case "Response": {
        const text = utf8.decode(answer.bytes)
        const decoded = Response.decode(definition, wire, text, answer.headers)
        if (!(decoded instanceof Response.Undecodable)) return decoded
        return Executor.undecodable(definition.name, answer, decoded.reason, text)
      }
      case "Failure":
        return decodeError(answer.error)
      case "NoAnswer":
        return Executor.lost(prepared, { phase: "unknown", sent: true, reason: answer.reason })
      default:
        // A defect of ours, in words.
        return new Error(answer._tag === "Defect" ? answer.message : answer._tag)
    }
  }

  const run = (
    definition: Definition,
    parameters: object,
    options: CallOptions | undefined,
    caller: (...args: never) => unknown
  ): AnyResponse => {
    const outcome = attempt(definition, parameters, options)
    if (!(outcome instanceof Error)) return outcome
    // Its stack is to begin with whoever called the method.
    Error.captureStackTrace(outcome, caller)
    throw outcome
  }

  function* pages(definition: Definition, parameters: object, options: CallOptions | undefined) {
    let position: Pagination.Position | undefined = Pagination.start(definition, parameters)
    while (position !== undefined) {
      const page = run(definition, Pagination.parametersAt(definition, parameters, position), options, pages)
      yield page
      const next: Pagination.Position | PaginationStuck | undefined = Pagination.advance(definition, position, page)
      if (next instanceof PaginationStuck) throw next
      position = next
    }
  }

  function* items(definition: Definition, parameters: object, options: CallOptions | undefined) {
    for (const page of pages(definition, parameters, options)) yield* Pagination.itemsOf(page)
  }

  const method = (definition: Definition) => {
    const call = (parameters: object = {}, options?: CallOptions) => run(definition, parameters, options, call)
    return definition.paging === undefined ? call : Object.assign(call, {
      pages: (parameters: object = {}, options?: CallOptions) => pages(definition, parameters, options),
      items: (parameters: object = {}, options?: CallOptions) => items(definition, parameters, options)
    })
  }

  return {
    // The mapped type states what each method takes and returns.
    methods: Object.fromEntries(
      Object.entries(catalogue).map(([name, { definition }]) => [name, method(definition)])
    ) as unknown as Methods,
    close: () => {
      if (!closed && opened !== undefined && !opened.isDead) opened.call({ _tag: "Close", client: number }, 5_000)
      closed = true
    }
  }
}

const timeoutRule = "must be a number of milliseconds above 0"

const isTimeout = (timeout: number | undefined): boolean =>
  timeout === undefined || (typeof timeout === "number" && timeout > 0)

/** Redacted values do not cross threads. */
const withPlainSecrets = (settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )
