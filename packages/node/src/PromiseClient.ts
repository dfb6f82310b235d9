/**
 * The Promise face: every operation of the catalogue as a method. Nothing here knows an operation by name.
 */
import type { Catalogue } from "@postwire/core/Catalogue"
import { catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/Client"
import type * as Executor from "@postwire/core/Executor"
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
import type { Included, Selection } from "@postwire/core/Selection"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

/** What a call takes besides its parameters. */
export interface CallOptions extends Executor.CallOptions {
  /** Ends the call at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** What a run of pages takes besides the parameters. */
export interface PageOptions<out D extends Direction = Direction> extends Pagination.PageOptions<D> {
  /** Ends the run at once, wherever it is; the loop is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** An operation as a method. Raw results are web `Response`s. */
export interface PromiseOperation<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ): Promise<FormOf<F, R, S, globalThis.Response>>
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

/** The methods in a form, run with the services of a context until `closing` is aborted. */
export const make = <F extends Form>(
  context: Context.Context<Client>,
  closing: AbortSignal,
  form: F
): Methods<F> => {
  const runPromise = Effect.runPromiseWith(context)

  const endOf = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closing : AbortSignal.any([signal, closing])

  const method = (operation: Untyped): Call => async (parameters = {}, options) => {
    const { signal: given, ...rest } = options ?? {}
    const signal = endOf(given)
    signal.throwIfAborted()
    try {
      const result = await runPromise(operation(parameters, rest), { signal })
      return form === "raw" ? await webOf(result as HttpClientResponse) : result
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }

  // One generator makes the items of all pages: another for each step would cost more than fetching them does.
  const iterable =
    <A>(definition: Definition, itemsOf: (page: Pagination.Page) => ReadonlyArray<A>) =>
    (parameters: object = {}, options?: PageOptions): AsyncIterable<A> => {
      const { signal: given, ...rest } = options ?? {}
      const pages = Stream.toAsyncIterableWith(
        Pagination.stream(definition, parameters, rest, (page) => [page]),
        context
      )
      return {
        async *[Symbol.asyncIterator]() {
          const signal = endOf(given)
          const iterator = pages[Symbol.asyncIterator]()
          const end = () => void iterator.return?.()
          signal.addEventListener("abort", end)
          try {
            while (true) {
              signal.throwIfAborted()
              const next = await iterator.next()
              signal.throwIfAborted()
              if (next.done === true) return
              for (const item of itemsOf(next.value)) {
                yield item
                if (signal.aborted) signal.throwIfAborted()
              }
            }
          } finally {
            signal.removeEventListener("abort", end)
            await iterator.return?.()
          }
        }
      }
    }

  const face = (operation: Untyped) => {
    const { definition } = operation
    if (definition.paging === undefined) return method(operation)
    return Object.assign(method(operation), {
      pages: iterable(definition, (page) => [form === "raw" ? webOf(page.raw) : Pagination.inForm(form, page)]),
      items: iterable(definition, ({ position, response }) => Pagination.itemsAt(position, response)),
      joined: iterable(definition, ({ position, response }) => Pagination.joinedAt(position, response))
    })
  }

  return Object.fromEntries(
    Object.entries(catalogue as unknown as Record<string, Untyped>).map(([name, operation]) => [
      name,
      face(form === "response" ? operation : operation.as(form))
    ])
  ) as unknown as Methods<F>
}

/** An operation whose types are erased: the mapped type above states them. */
interface Untyped {
  (parameters: object, options?: Executor.CallOptions): Effect.Effect<unknown, unknown, Client>
  readonly as: (form: Form) => Untyped
  readonly definition: Definition
}

/** A response as the platform knows it. The body has arrived already. */
const webOf = async ({ arrayBuffer, headers, status }: HttpClientResponse): Promise<globalThis.Response> => {
  const body = await Effect.runPromise(arrayBuffer)
  return new Response(body.byteLength === 0 ? null : body, { status, headers: { ...headers } })
}
