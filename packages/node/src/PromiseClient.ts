/**
 * The Promise face: every operation of the catalogue as a method. Nothing here knows an operation by name.
 */
import type { Catalogue } from "@postwire/core/Catalogue"
import { catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/Client"
import type { Joined } from "@postwire/core/Joins"
import type { Arguments, Form, FormOf, ItemOf, Operation, Paged, SelectionOf } from "@postwire/core/Operation"
import type { Included, Selection } from "@postwire/core/Selection"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

/** What a call takes besides its parameters. */
export interface CallOptions {
  /** Ends the call at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** An operation as a method. Raw results are web `Response`s. */
export interface PromiseOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ): Promise<FormOf<F, R, S, globalThis.Response>>
}

/** An operation that pages, as a method with iterables. A page is fetched when it is needed. */
export interface PromisePaged<in out P, out R, Sel extends keyof Selection, F extends Form = "response">
  extends PromiseOperation<P, R, Sel, F>
{
  /** Every page, with its `includes`, `errors` and `meta`. */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => AsyncIterable<FormOf<F, R, S, globalThis.Response>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => AsyncIterable<ItemOf<R, S>>
  /** Every item of every page, joined with the objects that expansions brought with it. */
  readonly joined: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => AsyncIterable<Joined<ItemOf<R, S>, Included<S>>>
}

/** Every operation of the catalogue as a method. */
export type Methods<F extends Form = "response"> = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E>
    ? PromisePaged<P, R, Sel, F>
    : Catalogue[N] extends Operation<infer P, infer R, infer Sel, infer _E> ? PromiseOperation<P, R, Sel, F>
    : never
}

type Call = (parameters?: object, options?: CallOptions) => unknown

/** The methods in a form, run with the services of a context until `closing` is aborted. */
export const make = <F extends Form>(
  context: Context.Context<Client>,
  closing: AbortSignal,
  form: F
): Methods<F> => {
  const runPromise = Effect.runPromiseWith(context)

  const endOf = (options: CallOptions | undefined): AbortSignal =>
    options?.signal === undefined ? closing : AbortSignal.any([options.signal, closing])

  const method = (operation: Untyped): Call => async (parameters = {}, options) => {
    const signal = endOf(options)
    signal.throwIfAborted()
    try {
      const result = await runPromise(operation(parameters), { signal })
      return form === "raw" ? await webOf(result as HttpClientResponse) : result
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }

  const iterable = (stream: UntypedStream): Call => (parameters = {}, options) =>
    until(endOf(options), Stream.toAsyncIterableWith(stream(parameters), context))

  const paged = (operation: UntypedPaged): Call =>
    Object.assign(method(operation), {
      pages: iterable((parameters) => {
        const pages = operation.pages(parameters)
        return form === "raw"
          ? Stream.mapEffect(pages, (raw) => Effect.promise(() => webOf(raw as HttpClientResponse)))
          : pages
      }),
      items: iterable(operation.items),
      joined: iterable(operation.joined)
    })

  const inForm = form === "response" ? (operation: Untyped) => operation : (operation: Untyped) => operation.as(form)
  return Object.fromEntries(
    Object.entries(catalogue as unknown as Record<string, Untyped>).map(([name, operation]) => {
      const formed = inForm(operation)
      return [name, isPaged(formed) ? paged(formed) : method(formed)]
    })
  ) as unknown as Methods<F>
}

type UntypedStream = (parameters: object) => Stream.Stream<unknown, unknown, Client>

/** An operation whose types are erased: the mapped type above states them. */
interface Untyped {
  (parameters: object): Effect.Effect<unknown, unknown, Client>
  readonly as: (form: Form) => Untyped
}

interface UntypedPaged extends Untyped {
  readonly pages: UntypedStream
  readonly items: UntypedStream
  readonly joined: UntypedStream
}

const isPaged = (operation: Untyped): operation is UntypedPaged => "pages" in operation

/** A response as the platform knows it. The body has arrived already. */
const webOf = async ({ arrayBuffer, headers, status }: HttpClientResponse): Promise<globalThis.Response> => {
  const body = await Effect.runPromise(arrayBuffer)
  return new Response(body.byteLength === 0 ? null : body, { status, headers: { ...headers } })
}

/** Rejects with the signal's reason once that is aborted, and interrupts what is under way. Fetches nothing ahead. */
const until = <A>(signal: AbortSignal, all: AsyncIterable<A>): AsyncIterable<A> => ({
  async *[Symbol.asyncIterator]() {
    const iterator = all[Symbol.asyncIterator]()
    const end = () => void iterator.return?.()
    signal.addEventListener("abort", end)
    try {
      while (true) {
        signal.throwIfAborted()
        const next = await iterator.next()
        signal.throwIfAborted()
        if (next.done === true) return
        yield next.value
      }
    } finally {
      signal.removeEventListener("abort", end)
      await iterator.return?.()
    }
  }
})
