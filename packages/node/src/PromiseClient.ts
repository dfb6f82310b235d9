/**
 * The Promise face: every operation of the catalogue as a method. Nothing here knows an operation by name.
 */
import * as CallErrors from "@postwire/core/CallErrors"
import type * as Core from "@postwire/core/CallOptions"
import type { Catalogue } from "@postwire/core/Catalogue"
import { catalogue } from "@postwire/core/Catalogue"
import { Client } from "@postwire/core/Client"
import type { Definition, Direction, Form } from "@postwire/core/Definition"
import { type AnyError, InvalidParameters, InvalidSettings, PaginationStuck, show } from "@postwire/core/Errors"
import type { Joined } from "@postwire/core/Joins"
import type { Arguments, FormOf, ItemOf, Operation, Paged, SelectionOf } from "@postwire/core/Operation"
import * as Pagination from "@postwire/core/Pagination"
import * as Prepare from "@postwire/core/Prepare"
import type { Response } from "@postwire/core/Response"
import type { Included, Selection } from "@postwire/core/Selection"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import { setImmediate } from "node:timers/promises"
import { BufferedResponse } from "./internal/BufferedResponse.ts"

const forms: ReadonlyArray<Form> = ["response", "dictionary", "raw"]

/** Whether there is such a form. */
export const checkForm = (form: Form): Effect.Effect<void, InvalidSettings> =>
  forms.includes(form)
    ? Effect.void
    : Effect.fail(new InvalidSettings({ setting: "returnType", rule: `must be one of ${forms.join(", ")}` }))

/** Settings that choose no form choose the first; any other is chosen by a value, not only by a type. */
export type Chosen<F extends Form> = "response" extends F ? unknown : { readonly returnType: NoInfer<F> }

/** What a call takes besides its parameters. */
export interface CallOptions extends Core.CallOptions {
  /** Ends the call at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** What a run of pages takes besides the parameters. */
export interface PageOptions<out D extends Direction = Direction> extends Pagination.PageOptions<D> {
  /** Ends the run at once, wherever it is; the loop is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The promise of a result, which also tells of the response that it was read from. */
export interface Answer<A> extends Promise<A> {
  /** The result beside the HTTP response that brought it: status, headers, body. Nothing is sent again. */
  readonly withResponse: () => Promise<{ readonly data: A; readonly response: globalThis.Response }>
}

/** An operation as a method. Raw results are web `Response`s. */
export interface PromiseOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ): Answer<FormOf<F, R, S, globalThis.Response>>
}

/** An operation that pages, as a method with iterables. A page is fetched when it is needed. */
export interface PromisePaged<
  in out P,
  out R,
  Sel extends keyof Selection,
  F extends Form = "response",
  in D extends Direction = "forward"
> extends PromiseOperation<P, R, Sel, F> {
  /** Every page, with its `includes`, `errors`, `meta` and place (`page`). */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => AsyncIterable<FormOf<F, R, S, globalThis.Response>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => AsyncIterable<ItemOf<R, S>>
  /** Every item of every page, joined with the objects that expansions brought with it. */
  readonly joined: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, PageOptions<D>>
  ) => AsyncIterable<Joined<ItemOf<R, S>, Included<S>>>
}

/** Every operation of the catalogue as a method. */
export type Methods<F extends Form = "response"> = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E, infer _F, infer D>
    ? PromisePaged<P, R, Sel, F, D>
    : Catalogue[N] extends Operation<infer P, infer R, infer Sel, infer _E> ? PromiseOperation<P, R, Sel, F>
    : never
}

type Call = (parameters?: object, options?: CallOptions) => unknown

/** What programs that use Effect find of a client. */
export interface EffectFace {
  /**
   * Provides this client to operations, and its rate limits to `RateLimit.snapshot` and `RateLimit.changes`:
   * `Effect.provide(getMe(), client.effect.layer)`. The program keeps its own loggers.
   */
  readonly layer: Layer.Layer<Client>
  /** Runs an Effect with this client; it is interrupted when the client is closed. */
  readonly runPromise: <A, E>(effect: Effect.Effect<A, E, Client>) => Promise<A>
}

/** Every operation as a method that returns a Promise, and the end of the client. */
export type PromiseClient<F extends Form = "response", Also extends object = {}> =
  & Methods<F>
  & Also
  & AsyncDisposable
  & {
    /** The same client (one login, one pool of connections), returning results in another form. */
    readonly as: <F extends Form>(form: F) => PromiseClient<F, Also>
    readonly effect: EffectFace
    /** Ends what is under way, which is rejected, and closes the client. */
    readonly close: () => Promise<void>
  }

/** A client with the services of a context; `end` is called when it is closed. */
export const of = <F extends Form, Also extends object>(
  context: Context.Context<Client>,
  form: F,
  end: () => Promise<void>,
  also: Also
): PromiseClient<F, Also> => {
  const closing = new AbortController()
  const close = () => {
    closing.abort(new Error("the client is closed"))
    return end()
  }
  const effect: EffectFace = {
    layer: Layer.succeedContext(context),
    runPromise: async (effect) => {
      const exit = await Effect.runPromiseExitWith(context)(effect, { signal: closing.signal })
      if (Exit.isSuccess(exit)) return exit.value
      if (Cause.hasInterruptsOnly(exit.cause)) closing.signal.throwIfAborted()
      throw Cause.squash(exit.cause)
    }
  }
  const as = <F extends Form>(form: F): PromiseClient<F, Also> => {
    Effect.runSync(checkForm(form))
    const client = {
      ...make(context, closing.signal, form),
      ...also,
      as,
      effect,
      close,
      [Symbol.asyncDispose]: close
    }
    // What is printed with its parts shows those of a given dispatcher, such as the password of its proxy.
    return Object.defineProperty(client, NodeInspectSymbol, { value: () => `PostwireClient { form: "${form}" }` })
  }
  return as(form)
}

/**
 * The way from Effect to Promises: a client on the services of a Layer, such as one on another HttpClient. Closing it
 * releases what the Layer acquired. Rejects with what the Layer fails with.
 */
export const fromLayer: {
  <E>(layer: Layer.Layer<Client, E>): Promise<PromiseClient>
  <E, F extends Form = "response">(
    layer: Layer.Layer<Client, E>,
    options: { readonly returnType?: F | undefined } & Chosen<F>
  ): Promise<PromiseClient<F>>
} = async <E, F extends Form = "response">(
  layer: Layer.Layer<Client, E>,
  options: { readonly returnType?: F | undefined } = {}
): Promise<PromiseClient<F>> => {
  const scope = Scope.makeUnsafe()
  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    // Without the option, F is its default.
    return of(context, options.returnType ?? "response" as F, end, {})
  } catch (error) {
    await end()
    throw error
  }
}

/** The methods in a form, run with the services of a context until `closing` is aborted. */
const make = <F extends Form>(
  context: Context.Context<Client>,
  closing: AbortSignal,
  form: F
): Methods<F> => {
  const client = Context.get(context, Client)
  const run = running(context, closing)

  const exchange = async (definition: Definition, parameters: object, options?: CallOptions): Promise<Exchange> => {
    const [signal, rest] = split(definition, options)
    const { raw, response } = valueOf(
      await run(definition, fetch(definition, parameters, rest), signal),
      signal,
      closing
    )
    return { raw, data: response === undefined ? await webOf(raw) : form === "response" ? response : response.body }
  }

  const fetch = (
    definition: Definition,
    parameters: object,
    options: Core.CallOptions | undefined
  ): Effect.Effect<Fetched, AnyError> =>
    Effect.flatMap(
      client.request(definition, parameters, options),
      (raw): Effect.Effect<Fetched, AnyError> =>
        form === "raw"
          ? Effect.succeed({ raw, response: undefined })
          : Effect.map(client.read(definition, raw), (response) => ({ raw, response }))
    )

  const method = (definition: Definition): Call => (parameters = {}, options) => {
    const exchanged = exchange(definition, parameters, options)
    const result = exchanged.then(({ data }) => data)
    return Object.assign(result, {
      withResponse: async () => {
        // Not `exchanged` first: what two wait for, the stack of an error does not lead through.
        const data = await result
        const { raw } = await exchanged
        return { data, response: await webOf(raw) }
      }
    })
  }

  // One generator makes the items of all pages: another for each step would cost more than fetching them does. Between two
  // steps nothing refers to it, so a loop that was left without an end is collected.
  const iterable =
    <A>(definition: Definition, itemsOf: (page: Pagination.Page) => ReadonlyArray<A>) =>
    (parameters: object = {}, options?: PageOptions): AsyncIterable<A> => {
      // The caller may change the objects between pages.
      const own = Prepare.own(definition, parameters)
      const chosen = Predicate.isObject(options) ? { ...options } : options
      return {
        async *[Symbol.asyncIterator]() {
          const [given, rest] = split(definition, chosen)
          given?.throwIfAborted()
          if (own instanceof InvalidParameters) throw own
          const first = Pagination.start(definition, own, rest)
          if (first === undefined) return
          if (first instanceof InvalidParameters) throw first
          const { prefetch, retries, timeout } = rest ?? {}
          const ended = prefetch === 1 ? new AbortController() : undefined
          const signal = ended === undefined || given === undefined
            ? ended?.signal ?? given
            : AbortSignal.any([given, ended.signal])
          const fetchAt = async (position: Pagination.Position) => {
            const here = Pagination.parametersAt(definition, own, position)
            const page = Pagination.fetch(definition, here, { retries, timeout })
            return valueOf(await run(definition, page, signal), signal, closing)
          }
          let position: Pagination.Position = first
          let pending = fetchAt(position)
          try {
            while (true) {
              const [raw, response] = await pending
              const here = position
              const next = Pagination.advance(definition, rest ?? {}, here, response)
              const isLast = next === undefined || next instanceof PaginationStuck
              if (!isLast && prefetch === 1) {
                pending = fetchAt(next)
                // The loop may end before it gets there.
                pending.catch(() => {})
                // Who works on this page may keep the thread busy: a turn of the event loop lets the request leave before.
                await setImmediate()
              }
              for (const item of itemsOf({ raw, response, position: here })) {
                yield item
                given?.throwIfAborted()
                if (closing.aborted) throw CallErrors.closed(definition)
              }
              if (next === undefined) return
              if (next instanceof PaginationStuck) throw next
              position = next
              if (prefetch !== 1) pending = fetchAt(next)
            }
          } finally {
            ended?.abort()
          }
        }
      }
    }

  const face = (definition: Definition) => {
    if (definition.paging === undefined) return method(definition)
    return Object.assign(method(definition), {
      pages: iterable(definition, (page) => [form === "raw" ? webOf(page.raw) : Pagination.inForm(form, page)]),
      items: iterable(definition, ({ position, response }) => Pagination.itemsAt(position, response)),
      joined: iterable(definition, ({ position, response }) => Pagination.joinedAt(position, response))
    })
  }

  // The mapped type states what each method takes and returns.
  return Object.fromEntries(
    Object.entries(catalogue).map(([name, { definition }]) => [name, face(definition)])
  ) as unknown as Methods<F>
}

/**
 * Runs steps until they end, their signal is aborted or the client is closed. All steps under way share one listener for
 * that, since a signal walks all of its own whenever one comes or goes. They are in an array: a Set whose members come and
 * go makes work for the collector.
 */
const running = (context: Context.Context<Client>, closing: AbortSignal) => {
  const fork = Effect.runForkWith(context)
  const steps: Array<{ readonly fiber: Fiber.Fiber<unknown, unknown>; index: number }> = []
  closing.addEventListener("abort", () => {
    for (const { fiber } of steps.slice()) fiber.interruptUnsafe()
  }, { once: true })
  return <A>(
    definition: Definition,
    effect: Effect.Effect<A, AnyError, Client>,
    signal: AbortSignal | undefined
  ): Promise<Exit.Exit<A, AnyError>> => {
    signal?.throwIfAborted()
    if (closing.aborted) throw CallErrors.closed(definition)
    return new Promise((resolve) => {
      const fiber = fork(effect)
      const step = { fiber, index: steps.length }
      steps.push(step)
      const interrupt = () => fiber.interruptUnsafe()
      signal?.addEventListener("abort", interrupt, { once: true })
      fiber.addObserver((exit) => {
        signal?.removeEventListener("abort", interrupt)
        const last = steps.pop()
        if (last !== undefined && last !== step) {
          last.index = step.index
          steps[step.index] = last
        }
        resolve(exit)
      })
    })
  }
}

interface Fetched {
  readonly raw: HttpClientResponse
  /** None in the raw form, in which nothing is read. */
  readonly response: Response<unknown, unknown> | undefined
}

/** A result and what it was read from. */
interface Exchange {
  readonly raw: HttpClientResponse
  readonly data: unknown
}

/**
 * What a call led to. The stack of an error begins where the call is awaited: the frames of the runtime, in which it was
 * made, lead nowhere, and to note the caller beforehand would cost calls that succeed some microseconds.
 */
const valueOf = <A>(exit: Exit.Exit<A, AnyError>, signal: AbortSignal | undefined, closing: AbortSignal): A => {
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  closing.throwIfAborted()
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isNone(failure)) throw Cause.squash(exit.cause)
  Error.captureStackTrace(failure.value, valueOf)
  throw failure.value
}

/** The signal among the options, and the others. What is no object is for the core to refuse. */
const split = <O extends { readonly signal?: AbortSignal | undefined }>(
  { name }: Definition,
  options: O | undefined
): readonly [AbortSignal | undefined, Omit<O, "signal"> | undefined] => {
  if (options === undefined || !Predicate.isObject(options)) return [undefined, options]
  const { signal, ...rest } = options
  if (signal === undefined || signal instanceof AbortSignal) return [signal, rest]
  throw new InvalidParameters({
    operation: name,
    parameter: "signal",
    rule: "must be an AbortSignal",
    value: show(signal)
  })
}

/** A response as the platform knows it. The body has arrived already. */
const webOf = async (response: HttpClientResponse): Promise<globalThis.Response> => {
  // Whose headers are still as they came: cookies cannot be told apart when they are one line.
  if (response instanceof BufferedResponse) return response.toWeb()
  const { arrayBuffer, headers, status } = response
  const body = await Effect.runPromise(arrayBuffer)
  return new globalThis.Response(body.byteLength === 0 ? null : body, { status, headers: { ...headers } })
}
