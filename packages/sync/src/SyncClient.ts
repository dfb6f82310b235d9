/** The synchronous face: every operation of the catalogue as a blocking method. Nothing here knows one by name. */
import { type Catalogue, catalogue } from "@postwire/core/Catalogue"
import { InvalidSettings, PaginationStuck } from "@postwire/core/Errors"
import * as Executor from "@postwire/core/Executor"
import type { Joined } from "@postwire/core/Joins"
import type {
  Arguments,
  Definition,
  Direction,
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
import * as Transport from "@postwire/core/Transport"
import * as NodeClient from "@postwire/node/NodeClient"
import type { Statistics } from "@postwire/node/UndiciHttpClient"
import * as Redacted from "effect/Redacted"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as Bridge from "./Bridge.ts"
import * as ErrorCodec from "./internal/ErrorCodec.ts"
import * as NetworkDefaults from "./internal/NetworkDefaults.ts"
import * as OwnServers from "./internal/OwnServers.ts"
import type { Answer } from "./internal/Protocol.ts"

/** Every setting of a synchronous client. A dispatcher cannot be handed to a worker. */
export interface Settings<F extends Form = "response">
  extends Omit<NodeClient.Settings<F>, "dispatcher" | "logger" | "onRateLimit" | "onRequest">
{
  /**
   * Limits in milliseconds. A number is the longest that one call may block, waits for a rate limit included. Without one
   * that is 5 minutes, or the total if it is longer, and `maxWait` on top with `waitOnRateLimit`.
   */
  readonly timeout?: number | Transport.Timeouts | undefined
  /** Gives the client a worker of its own, which ends with it, instead of the one that all clients share. */
  readonly ownWorker?: boolean | undefined
  /** Where `@postwire/sync/PostwireWorker` is, when the client is bundled and the worker is not beside the bundle. */
  readonly workerUrl?: string | URL | undefined
}

/** What a call takes besides its parameters. A `timeout` that is a number is the longest that it may block. */
export type CallOptions = Executor.CallOptions

/** What a run of pages takes besides the parameters. */
export type PageOptions<D extends Direction = Direction> = Pagination.PageOptions<D>

/** An operation as a blocking method. */
export interface SyncOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<R, Sel>>(...args: Arguments<P, Sel, S, CallOptions>): FormOf<F, R, S, RawResponse>
}

/** An operation that pages, with lazy iterables: a page is fetched when the loop gets to it. */
export interface SyncPaged<
  in out P,
  out R,
  Sel extends keyof Selection,
  F extends Form = "response",
  in D extends Direction = "forward"
> extends SyncOperation<P, R, Sel, F> {
  /** Every page, with its `includes`, `errors`, `meta` and place (`page`). */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => Iterable<FormOf<F, R, S, RawResponse>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => Iterable<ItemOf<R, S>>
  /** Every item of every page, joined with the objects that expansions brought with it. */
  readonly joined: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => Iterable<Joined<ItemOf<R, S>, Included<S>>>
}

/** Every operation of the catalogue as a blocking method. */
export type Methods<F extends Form = "response"> = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E, infer _F, infer D>
    ? SyncPaged<P, R, Sel, F, D>
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

/** The HTTP session of a client: its connections are in the worker. */
export interface Session {
  /** Connections and requests by origin; empty before the first call. */
  readonly statistics: () => Readonly<Record<string, Statistics>>
  /** Closes the connections and the client. */
  readonly close: () => void
}

/** The methods of one client in each form, its session, and its end. */
export interface Client {
  readonly methods: <F extends Form>(form: F) => Methods<F>
  readonly session: Session
  readonly close: () => void
}

type AnyResponse = Response.Response<unknown, unknown>

/** One worker serves all clients of a thread. It starts with the first call, and again after it was lost. */
const shared = new Map<string, Bridge.Bridge>()
let lastClient = 0

/** Throws `InvalidSettings` when a setting breaks a rule. */
export const assertValid = (settings: Settings<Form>): void => {
  const { ownWorker: _own, workerUrl: _url, ...others } = settings
  NodeClient.assertValid(others)
  const given: NodeClient.Settings<Form> = others
  for (const setting of ["dispatcher", "logger", "onRateLimit", "onRequest"] as const) {
    if (given[setting] !== undefined) throw new InvalidSettings({ setting, rule: "cannot be handed to a worker" })
  }
  if (!isTimeout(settings.maxWait)) throw new InvalidSettings({ setting: "maxWait", rule: timeoutRule })
}

/** Makes a client of checked settings. */
export const make = (settings: Settings<Form>): Client => {
  const number = ++lastClient
  // Bodies are read on this side.
  Response.compileWith(SchemaJITCompiler.enable)
  const { ownWorker = false, workerUrl, ...others } = settings
  const sent = plain(others)
  const wire = settings.wire ?? "neutral"
  const limits = Transport.limitsOf(settings.timeout)
  const waits = settings.waitOnRateLimit === true ? settings.maxWait ?? 1_200_000 : 0
  let opened: Bridge.Bridge | undefined
  let closed = false

  const connect = (): ReturnType<typeof Bridge.start> => {
    const key = String(workerUrl)
    const known = ownWorker ? opened : shared.get(key)
    const bridge = known === undefined || known.isDead ? Bridge.start(workerUrl) : known
    if (!(bridge instanceof Bridge.Bridge)) return bridge
    if (!ownWorker) shared.set(key, bridge)
    if (opened !== bridge) {
      const defaults = NetworkDefaults.read({ secure: sent.baseUrl?.startsWith("http:") !== true })
      bridge.post({ _tag: "Open", client: number, settings: sent, defaults })
    }
    opened = bridge
    return bridge
  }

  const close = () => {
    if (!closed && opened !== undefined && !opened.isDead) {
      opened.call({ _tag: "Close", client: number }, 5_000)
      if (ownWorker) opened.terminate()
    }
    closed = true
  }

  const statistics = (): Readonly<Record<string, Statistics>> => {
    if (closed || opened === undefined || opened.isDead) return {}
    const answer = opened.call({ _tag: "Statistics", client: number }, 5_000)
    if (answer._tag === "Defect") throw new Error(answer.message)
    return answer._tag === "Statistics" ? answer.statistics : {}
  }

  /** How long a call may block. */
  const deadlineOf = (timeout = settings.timeout): number =>
    typeof timeout === "number"
      ? timeout
      : Math.max(300_000, Transport.limitsOf(timeout, limits)?.total ?? 0) + waits

  /** Hands a request to the worker; what comes of it is for `receive` to wait for, `ahead` of other calls or not. */
  const begin = (
    definition: Definition,
    parameters: object,
    options: CallOptions,
    ahead = false
  ): Pending | Error => {
    if (closed) return Executor.closed(definition)
    const invalid = Executor.checkOptions(definition, options)
    if (invalid !== undefined) return invalid
    const prepared = Executor.prepare(definition, parameters, wire, settings)
    if (prepared instanceof Error) return prepared
    if (sent.baseUrl !== undefined && OwnServers.listensHere(sent.baseUrl)) {
      return Executor.lost(prepared, { phase: "connect", sent: false, reason: ownServer(sent.baseUrl) })
    }
    const bridge = connect()
    if (bridge instanceof InvalidSettings) return bridge
    if (!(bridge instanceof Bridge.Bridge)) return unanswered(prepared, bridge)
    const id = bridge.send({ _tag: "Send", client: number, prepared, options: plain(options), ahead })
    const limit = deadlineOf(options.timeout)
    // The worker, which keeps the limits too and knows more, is let speak first.
    return { prepared, bridge, id, limit, timeout: limit + 100 }
  }

  const receive = ({ bridge, id, limit, prepared, timeout }: Pending): Received | Error => {
    const answer = bridge.wait(id, timeout)
    switch (answer._tag) {
      case "Response":
        return answer
      case "Failure":
        return ErrorCodec.decode(answer.error)
      case "Unsent":
        return Executor.lost(prepared, { phase: "connect", sent: false, reason: answer.reason })
      case "NoAnswer":
        return unanswered(prepared, answer, limit)
      default:
        // A defect of ours, in words.
        return new Error(answer._tag === "Defect" ? answer.message : answer._tag)
    }
  }

  const read = (definition: Definition, received: Received): AnyResponse | Error => {
    const { headers, status } = received
    const text = textOf(received.body)
    const decoded = Response.decode(definition, wire, text, () => headersOf(headers))
    return decoded instanceof Response.Undecodable
      ? Executor.undecodable(definition.name, { status, headers: headersOf(headers) }, decoded.reason, text)
      : decoded
  }

  /** Throws what is an error, with a stack that begins with whoever called the method. */
  const orThrow = <A>(outcome: A, caller: Caller): Exclude<A, Error> => {
    if (!(outcome instanceof Error)) return outcome as Exclude<A, Error>
    Error.captureStackTrace(outcome, caller)
    throw outcome
  }

  function* exchanges(
    definition: Definition,
    parameters: object,
    given: PageOptions | undefined,
    caller: Caller
  ): Generator<Exchange> {
    const options: PageOptions = { ...given }
    const own = orThrow(Executor.own(definition, parameters), caller)
    const first = Pagination.start(definition, own, given)
    if (first === undefined) return
    let position: Pagination.Position = orThrow(first, caller)
    const { prefetch, retries, timeout } = options
    const at = (position: Pagination.Position, ahead = false) =>
      begin(definition, Pagination.parametersAt(definition, own, position), { retries, timeout }, ahead)
    let pending = at(position)
    try {
      while (true) {
        const received = orThrow(receive(orThrow(pending, caller)), caller)
        const response = orThrow(read(definition, received), caller)
        const here = position
        const next = Pagination.advance(definition, options, here, response)
        if (next === undefined || next instanceof PaginationStuck) {
          yield { received, response, position: here }
          if (next !== undefined) throw next
          return
        }
        position = next
        if (prefetch === 1) pending = at(position, true)
        yield { received, response, position: here }
        if (prefetch !== 1) pending = at(position)
      }
    } finally {
      // The loop may end while the next page is on its way.
      if (!(pending instanceof Error)) pending.bridge.abandon(pending.id)
    }
  }

  function* whileOpen<A>(definition: Definition, items: ReadonlyArray<A>, caller: Caller): Generator<A> {
    for (const item of items) {
      yield item
      if (closed) orThrow(Executor.closed(definition), caller)
    }
  }

  const inForm = (
    form: Form,
    { received, response }: { readonly received: Received; readonly response: AnyResponse }
  ) => form === "raw" ? rawOf(received) : form === "response" ? response : response.body

  const method = (definition: Definition, form: Form) => {
    const call = (parameters: object = {}, options: CallOptions = {}) => {
      const received = orThrow(receive(orThrow(begin(definition, parameters, options), call)), call)
      if (form === "raw") return rawOf(received)
      return inForm(form, { received, response: orThrow(read(definition, received), call) })
    }
    if (definition.paging === undefined) return call
    function* pages(parameters: object, options?: PageOptions) {
      for (const page of exchanges(definition, parameters, options, pages)) yield inForm(form, page)
    }
    function* items(parameters: object, options?: PageOptions) {
      for (const { position, response } of exchanges(definition, parameters, options, items)) {
        yield* whileOpen(definition, Pagination.itemsAt(position, response), items)
      }
    }
    function* joined(parameters: object, options?: PageOptions) {
      for (const { position, response } of exchanges(definition, parameters, options, joined)) {
        yield* whileOpen(definition, Pagination.joinedAt(position, response), joined)
      }
    }
    return Object.assign(call, { pages: iterable(pages), items: iterable(items), joined: iterable(joined) })
  }

  return {
    methods: <F extends Form>(form: F) =>
      // The mapped type states what each method takes and returns.
      Object.fromEntries(
        Object.entries(catalogue).map(([name, { definition }]) => [name, method(definition, form)])
      ) as unknown as Methods<F>,
    session: { statistics, close },
    close
  }
}

/** Unlike a generator, it begins anew with each loop. */
const iterable =
  <A>(run: (parameters: object, options?: PageOptions) => Generator<A>) =>
  (parameters: object = {}, options?: PageOptions): Iterable<A> => ({
    [Symbol.iterator]: () => run(parameters, options)
  })

/** A request that is with the worker. */
interface Pending {
  readonly prepared: Executor.Prepared
  readonly bridge: Bridge.Bridge
  readonly id: number
  /** How long the call may take, in milliseconds. */
  readonly limit: number
  /** How long to wait for it at most. */
  readonly timeout: number
}

interface Exchange {
  readonly received: Received
  readonly response: AnyResponse
  readonly position: Pagination.Position
}

type Received = Extract<Answer, { readonly _tag: "Response" }>

type Caller = (...args: never) => unknown

/** The error of a call that had no answer within `limit` milliseconds. */
const unanswered = (prepared: Executor.Prepared, { late, reason, sent }: Bridge.NoAnswer, limit?: number) =>
  Executor.lost(prepared, {
    phase: sent ? "unknown" : "connect",
    sent,
    reason: late ? `the call did not end within ${limit} ms` : reason,
    timeout: late ? "total" : undefined
  })

/** The next answer may take the place of this body, so what is handed out is a copy. */
const rawOf = ({ body, headers, status }: Received): RawResponse => {
  const bytes = new Uint8Array(body)
  const text = () => new TextDecoder().decode(bytes)
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers(headersOf(headers)),
    bytes: () => bytes.slice(),
    text,
    json: () => JSON.parse(text())
  }
}

/** UTF-8 in shared memory, which a TextDecoder refuses; without a byte order mark, as everywhere on the web. */
const textOf = ({ buffer, byteLength, byteOffset }: Uint8Array): string => {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  return bytes.toString("utf8", bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
}

const headersOf = (lines: string): Record<string, string> => {
  const headers: Record<string, string> = {}
  const parts = lines.split("\n")
  for (let i = 0; i + 1 < parts.length; i += 2) headers[parts[i]!] = parts[i + 1]!
  return headers
}

const ownServer = (baseUrl: string): string =>
  `the service at ${baseUrl} runs on this thread, which the call blocks, so it could never answer. Start it in a process ` +
  "of its own (`postwire sandbox`), or call it with @postwire/node"

const timeoutRule = "must be a number of milliseconds above 0"

const isTimeout = (timeout: number | undefined): boolean =>
  timeout === undefined || (typeof timeout === "number" && timeout > 0)

/** Neither redacted values cross threads nor proxies, which objects of frameworks may be. */
const plainOf = (value: unknown): unknown =>
  Redacted.isRedacted(value)
    ? Redacted.value(value)
    : Array.isArray(value)
    ? [...value]
    : typeof value === "object" && value !== null
    ? { ...value }
    : value

const plain = <A extends object>(settings: A): A =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, plainOf(value)])) as A
