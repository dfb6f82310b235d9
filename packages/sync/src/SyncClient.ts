/** The synchronous face: every operation of the catalogue as a blocking method. Nothing here knows one by name. */
import { type Catalogue, catalogue } from "@postwire/core/Catalogue"
import { AnyError, InvalidParameters, InvalidSettings, PaginationStuck, show } from "@postwire/core/Errors"
import * as Executor from "@postwire/core/Executor"
import type { Joined } from "@postwire/core/Joins"
import type {
  Arguments,
  Definition,
  Form,
  FormOf,
  ItemOf,
  Operation,
  Paged,
  SelectionOf
} from "@postwire/core/Operation"
import * as Pagination from "@postwire/core/Pagination"
import * as Response from "@postwire/core/Response"
import type { Included, Selection } from "@postwire/core/Selection"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Bridge } from "./internal/Bridge.ts"
import type { Answer } from "./internal/Protocol.ts"

/** Every setting of a synchronous client. A dispatcher cannot be handed to a worker. */
export interface Settings<F extends Form = "response">
  extends Omit<NodeClient.Settings<F>, "dispatcher" | "onRateLimit">
{
  /** The longest that one call may block, in milliseconds. Default 5 minutes, and `maxWait` on top with `waitOnRateLimit`. */
  readonly timeout?: number | undefined
}

/** What a call takes besides its parameters. */
export interface CallOptions {
  /** The longest that this call may block, in milliseconds. */
  readonly timeout?: number | undefined
}

/** An operation as a blocking method. */
export interface SyncOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<R, Sel>>(...args: Arguments<P, Sel, S, CallOptions>): FormOf<F, R, S, RawResponse>
}

/** An operation that pages, with lazy iterables: a page is fetched when the loop gets to it. */
export interface SyncPaged<in out P, out R, Sel extends keyof Selection, F extends Form = "response">
  extends SyncOperation<P, R, Sel, F>
{
  /** Every page, with its `includes`, `errors` and `meta`. */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => Iterable<FormOf<F, R, S, RawResponse>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => Iterable<ItemOf<R, S>>
  /** Every item of every page, joined with the objects that expansions brought with it. */
  readonly joined: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => Iterable<Joined<ItemOf<R, S>, Included<S>>>
}

/** Every operation of the catalogue as a blocking method. */
export type Methods<F extends Form = "response"> = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E>
    ? SyncPaged<P, R, Sel, F>
    : Catalogue[N] extends Operation<infer P, infer R, infer Sel, infer _E> ? SyncOperation<P, R, Sel, F>
    : never
}

/** A raw HTTP response whose body has arrived: like a web `Response`, but everything is there at once. */
export interface RawResponse {
  readonly status: number
  readonly ok: boolean
  readonly headers: globalThis.Headers
  readonly bytes: () => Uint8Array<ArrayBuffer>
  readonly text: () => string
  readonly json: () => unknown
}

/** The methods of one client in each form, and its end. */
export interface Client {
  readonly methods: <F extends Form>(form: F) => Methods<F>
  readonly close: () => void
}

type AnyResponse = Response.Response<unknown, unknown>

const decodeError = /*#__PURE__*/ Schema.decodeUnknownSync(/*#__PURE__*/ Schema.toCodecJson(AnyError))

/** One worker serves all clients of a thread. It starts with the first call, and again after it was lost. */
let bridge: Bridge | undefined
let lastClient = 0

/** Throws `InvalidSettings` when a setting breaks a rule. */
export const assertValid = (settings: Settings<Form>): void => {
  NodeClient.assertValid(settings)
  const given: NodeClient.Settings<Form> = settings
  for (const setting of ["dispatcher", "onRateLimit"] as const) {
    if (given[setting] !== undefined) throw new InvalidSettings({ setting, rule: "cannot be handed to a worker" })
  }
  for (const setting of ["timeout", "maxWait"] as const) {
    if (!isTimeout(settings[setting])) throw new InvalidSettings({ setting, rule: timeoutRule })
  }
}

/** Makes a client of checked settings. */
export const make = (settings: Settings<Form>): Client => {
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
  ): Received | Error => {
    const prepared = Executor.prepare(definition, parameters, wire, settings)
    if (prepared instanceof Error) return prepared
    if (!isTimeout(timeout)) {
      const operation = definition.name
      return new InvalidParameters({ operation, parameter: "timeout", rule: timeoutRule, value: show(timeout) })
    }
    if (closed) return Executor.lost(prepared, { phase: "connect", sent: false, reason: "the client is closed" })
    const answer = connect().call({ _tag: "Send", client: number, prepared }, timeout)
    switch (answer._tag) {
      case "Response":
        return answer
      case "Failure":
        return decodeError(answer.error)
      case "NoAnswer":
        return Executor.lost(prepared, { phase: "unknown", sent: true, reason: answer.reason })
      default:
        // A defect of ours, in words.
        return new Error(answer._tag === "Defect" ? answer.message : answer._tag)
    }
  }

  const read = (definition: Definition, received: Received): AnyResponse | Error => {
    const text = utf8.decode(received.bytes)
    const decoded = Response.decode(definition, wire, text, received.headers)
    return decoded instanceof Response.Undecodable
      ? Executor.undecodable(definition.name, received, decoded.reason, text)
      : decoded
  }

  /** Throws what is an error, with a stack that begins with whoever called the method. */
  const orThrow = <A>(outcome: A | Error, caller: Caller): A => {
    if (!(outcome instanceof Error)) return outcome
    Error.captureStackTrace(outcome, caller)
    throw outcome
  }

  function* exchanges(definition: Definition, parameters: object, options: CallOptions | undefined, caller: Caller) {
    const own = orThrow(Executor.own(definition, parameters), caller)
    let position: Pagination.Position | undefined = Pagination.start(definition, own)
    while (position !== undefined) {
      const here: object = Pagination.parametersAt(definition, own, position)
      const received = orThrow(attempt(definition, here, options), caller)
      const response = orThrow(read(definition, received), caller)
      yield { received, response }
      const next: Pagination.Position | PaginationStuck | undefined = Pagination.advance(definition, position, response)
      if (next instanceof PaginationStuck) throw next
      position = next
    }
  }

  const inForm = (
    form: Form,
    { received, response }: { readonly received: Received; readonly response: AnyResponse }
  ) => form === "raw" ? rawOf(received) : form === "response" ? response : response.body

  const method = (definition: Definition, form: Form) => {
    const call = (parameters: object = {}, options?: CallOptions) => {
      const received = orThrow(attempt(definition, parameters, options), call)
      if (form === "raw") return rawOf(received)
      return inForm(form, { received, response: orThrow(read(definition, received), call) })
    }
    if (definition.paging === undefined) return call
    function* pages(parameters: object = {}, options?: CallOptions) {
      for (const page of exchanges(definition, parameters, options, pages)) yield inForm(form, page)
    }
    function* items(parameters: object = {}, options?: CallOptions) {
      for (const { response } of exchanges(definition, parameters, options, items)) yield* Pagination.itemsOf(response)
    }
    function* joined(parameters: object = {}, options?: CallOptions) {
      for (const { response } of exchanges(definition, parameters, options, joined)) yield* response.joined()
    }
    return Object.assign(call, { pages, items, joined })
  }

  return {
    methods: <F extends Form>(form: F) =>
      // The mapped type states what each method takes and returns.
      Object.fromEntries(
        Object.entries(catalogue).map(([name, { definition }]) => [name, method(definition, form)])
      ) as unknown as Methods<F>,
    close: () => {
      if (!closed && opened !== undefined && !opened.isDead) opened.call({ _tag: "Close", client: number }, 5_000)
      closed = true
    }
  }
}

type Received = Extract<Answer, { readonly _tag: "Response" }>

type Caller = (...args: never) => unknown

const rawOf = ({ bytes, headers, status }: Received): RawResponse => {
  const text = () => new TextDecoder().decode(bytes)
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    bytes: () => new Uint8Array(bytes.slice()),
    text,
    json: () => JSON.parse(text())
  }
}

const timeoutRule = "must be a number of milliseconds above 0"

const isTimeout = (timeout: number | undefined): boolean =>
  timeout === undefined || (typeof timeout === "number" && timeout > 0)

/** Redacted values do not cross threads. */
const withPlainSecrets = (settings: Settings<Form>): Settings<Form> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )
