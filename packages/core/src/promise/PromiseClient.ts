/**
 * The Promise client: every operation of the catalogue as a method. No operation is referred to by name here, and the platform is
 * used only through `Calls.Platform`.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Catalogue, catalogue } from "../Catalogue.ts"
import type { RequestOptions } from "../client/CallOptions.ts"
import type { Client } from "../client/Client.ts"
import type { Operation, Paged } from "../client/Operation.ts"
import * as Pagination from "../client/Pagination.ts"
import * as RawRequest from "../client/RawRequest.ts"
import type { InvalidSettings } from "../errors/Errors.ts"
import type { Definition, Direction, Form } from "../schema/Definition.ts"
import type * as Documentation from "../schema/Documentation.ts"
import type { Selection } from "../schema/Selection.ts"
import * as Journal from "../storage/Journal.ts"
import type { StreamOperation } from "../streams/StreamOperation.ts"
import * as Calls from "./Calls.ts"
import * as Composites from "./Composites.ts"
import type { OperationMethod, PagedMethod, RequestMethod } from "./OperationMethods.ts"
import { iterable } from "./Pages.ts"
import { checkForm, type Chosen, formOf } from "./ReturnType.ts"
import * as Streaming from "./Streaming.ts"
import type { InputOf } from "./Workflows.ts"

export type { Answer } from "./Calls.ts"

/** An operation as a method. Raw results are web `Response`s. */
export interface PromiseOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response">
  extends OperationMethod<P, R, Sel, F, Calls.Promises>
{}

/** A paged operation as a method with iterables. A page is fetched when it is needed. */
export interface PromisePaged<
  in out P,
  out R,
  Sel extends keyof Selection,
  F extends Form = "response",
  in D extends Direction = "forward"
> extends PagedMethod<P, R, Sel, F, D, Calls.Promises> {}

type MethodOf<O, F extends Form> = O extends Paged<infer P, infer R, infer Sel, infer _E, infer _F, infer D> ?
  PromisePaged<P, R, Sel, F, D>
  : O extends StreamOperation<infer P, infer R, infer Sel, infer _E> ? Streaming.PromiseLive<P, R, Sel, F>
  : O extends Operation<infer P, infer R, infer Sel, infer _E> ? PromiseOperation<P, R, Sel, F>
  : never

interface PromiseMethod<F extends Form> extends Documentation.MethodType {
  readonly method: MethodOf<Catalogue[this["name"] & keyof Catalogue], F>
}

/** Every operation of the catalogue as a method. */
export interface Methods<F extends Form = "response"> extends Documentation.Methods<PromiseMethod<F>> {}

/** The client for programs that use Effect. */
export interface WithEffect {
  readonly effect: EffectAccess
}

/** The client as a Layer and as a runtime. */
export interface EffectAccess {
  /**
   * Provides this client to operations, its journal to uploads and threads, and its rate limits to `RateLimit.snapshot` and
   * `RateLimit.changes`: `Effect.provide(getMe(), client.effect.layer)`. The loggers of the program stay.
   */
  readonly layer: Layer.Layer<Calls.Provided>
  /**
   * Runs an Effect with this client. When the client is closed, the Effect is interrupted and rejects as calls do: with
   * `OutcomeUnknown` if it has sent a create, otherwise with `TransportFailure`.
   */
  readonly runPromise: <A, E>(effect: Effect.Effect<A, E, Calls.Provided>) => Promise<A>
}

/** Every operation as a method that returns a Promise, and `close`. */
export type PromiseClient<F extends Form = "response", Also extends object = {}> =
  & Methods<F>
  & Also
  & AsyncDisposable
  & {
    /** The same client (one login, one pool of connections) with another return type. */
    readonly as: <F extends Form>(form: F) => PromiseClient<F, Also>
    /**
     * Requests any path of the service, for endpoints without a method, with the credential, timeouts, retries and errors of every
     * call. Field names are those of the service in both directions.
     */
    readonly request: RequestMethod<F, Calls.Promises>
    /** Aborts calls in flight, which are rejected, and closes the client. */
    readonly close: () => Promise<void>
  }

/** The functions of a platform, including the conversion of its files. */
export interface Platform<in I> extends Calls.Platform {
  readonly inputOf: InputOf<I>
}

/** Makes clients on a platform, where `I` is the type of a file. */
export interface Makers<in out I> {
  /**
   * A client with the services of a context. `also` adds to its methods; `end` is called when it is closed. Without a journal among
   * the services, uploads and threads record their progress in memory.
   */
  readonly of: <F extends Form, Also extends object>(
    services: Context.Context<Client>,
    form: F,
    end: () => Promise<void>,
    also: (context: Calls.Context) => Also
  ) => PromiseClient<F, Also & Composites.Composites<I>>
  /**
   * Converts from Effect to Promises: a client on the services of a Layer, such as one with another HttpClient. Closing the client
   * releases the resources of the Layer. Uploads and threads use the journal of the Layer, or memory by default. Rejects with the
   * errors of the Layer.
   */
  readonly fromLayer: {
    <E>(layer: Layer.Layer<Client, E>): Promise<PromiseClient<"response", WithEffect & Composites.Composites<I>>>
    <E, F extends Form = "response">(
      layer: Layer.Layer<Client, E>,
      options: { readonly returnType?: F | undefined } & Chosen<F>
    ): Promise<PromiseClient<F, WithEffect & Composites.Composites<I>>>
  }
}

/**
 * Builds the services of a Layer synchronously for the function that makes a client; `end` releases them. Throws the errors of the
 * Layer.
 */
export const build = (
  layer: Layer.Layer<Calls.Provided, InvalidSettings>,
  caller: Calls.Caller
): { readonly services: Context.Context<Calls.Provided>; readonly end: () => Promise<void> } => {
  const scope = Scope.makeUnsafe()
  const built = Effect.onError(Layer.buildWithScope(layer, scope), (cause) => Scope.close(scope, Exit.failCause(cause)))
  return {
    services: Calls.valueOf(Effect.runSyncExit(built), undefined, caller),
    end: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Makes clients on a platform. */
export const on = <I>(platform: Platform<I>): Makers<I> => {
  const of = <F extends Form, Also extends object>(
    services: Context.Context<Client>,
    form: F,
    end: () => Promise<void>,
    also: (context: Calls.Context) => Also
  ): PromiseClient<F, Also & Composites.Composites<I>> => {
    const closing = new AbortController()
    const context = Calls.contextOf(withJournal(services), closing.signal, platform)
    const close = () => {
      closing.abort()
      return end()
    }
    return inForm(context, form, {
      ...also(context),
      ...Composites.make(context, platform.inputOf),
      close
    })
  }
  const fromLayer = async <E, F extends Form = "response">(
    layer: Layer.Layer<Client, E>,
    options: { readonly returnType?: F | undefined } = {}
  ): Promise<PromiseClient<F, WithEffect & Composites.Composites<I>>> => {
    const scope = Scope.makeUnsafe()
    const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
    try {
      const services = withJournal(await Effect.runPromise(Layer.buildWithScope(layer, scope)))
      return of(services, formOf(options), end, withEffect(services))
    } catch (error) {
      await end()
      throw error
    }
  }
  return { of, fromLayer }
}

/** Adds a journal in memory if there is none. */
const withJournal = (services: Context.Context<Client>): Context.Context<Calls.Provided> =>
  Context.add(services, Journal.Journal, Context.getOrElse(services, Journal.Journal, Journal.makeMemory))

/** The Effect access of a client with these services. */
export const withEffect = (services: Context.Context<Calls.Provided>) => (context: Calls.Context): WithEffect => ({
  effect: {
    layer: Layer.succeedContext(services),
    runPromise: async (effect) => {
      // The Effect may send creates.
      const exit = await Calls.run(context, { name: "effect.runPromise", effect: "create" }, effect, undefined)
      if (Exit.isSuccess(exit)) return exit.value
      throw Cause.squash(exit.cause)
    }
  }
})

const inForm = <F extends Form, Also extends object>(
  context: Calls.Context,
  form: F,
  rest: Also & { readonly close: () => Promise<void> }
): PromiseClient<F, Also> => {
  Effect.runSync(checkForm(form))
  const client = {
    ...methods(context, form),
    request: request(context, form),
    ...rest,
    as: <F extends Form>(form: F) => inForm<F, Also>(context, form, rest),
    [Symbol.asyncDispose]: rest.close
  }
  // Printing all members would show those of a given dispatcher, such as the password of its proxy.
  return Object.defineProperty(client, NodeInspectSymbol, { value: () => `PostwireClient { form: "${form}" }` })
}

const methods = <F extends Form>(context: Calls.Context, form: F): Methods<F> =>
  // oxlint-disable-next-line postwire/no-blind-assertion -- The mapped type is the only source of the types.
  Object.fromEntries(
    Object.entries(catalogue).map(([name, { definition }]) => [name, method(context, definition, form)])
  ) as unknown as Methods<F>

function request<F extends Form>(context: Calls.Context, form: F): RequestMethod<F, Calls.Promises>
// The declaration above is the only source of the types.
function request(context: Calls.Context, form: Form): object {
  return (request: unknown, options?: Calls.CallOptions) => {
    const checked = RawRequest.check(request)
    const send = (options?: RequestOptions) => RawRequest.send(context.client, request, checked, options)
    return Calls.exchange(context, RawRequest.infoOf(checked), form, send, options)
  }
}

const method = (context: Calls.Context, definition: Definition, form: Form) => {
  if (definition.live !== undefined) return Streaming.method(context, definition, form)
  const { client } = context
  const call = (parameters: object = {}, options?: Calls.CallOptions) =>
    Calls.exchange(context, definition, form, (options) => client.request(definition, parameters, options), options)
  if (definition.paging === undefined) return call
  return Object.assign(call, {
    pages: iterable(
      context,
      definition,
      (page) => [form === "raw" ? context.platform.webOf(page.raw) : Pagination.inForm(form, page)]
    ),
    items: iterable(context, definition, ({ position, response }) => Pagination.itemsAt(position, response)),
    joined: iterable(context, definition, ({ position, response }) => Pagination.joinedAt(position, response))
  })
}
