/**
 * The Promise face: every operation of the catalogue as a method. Nothing here knows an operation by name.
 */
import type { Catalogue } from "@postwire/core/Catalogue"
import { catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/Client"
import type { Arguments, ItemOf, Operation, Paged, ResponseOf, SelectionOf } from "@postwire/core/Operation"
import type { Selection } from "@postwire/core/Selection"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** What a call takes besides its parameters. */
export interface CallOptions {
  /** Ends the call at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** An operation as a method. */
export interface PromiseOperation<in out P, out R, Sel extends keyof Selection> {
  <const S extends SelectionOf<R, Sel>>(...args: Arguments<P, Sel, S, CallOptions>): Promise<ResponseOf<R, S>>
}

/** An operation that pages, as a method with two iterables. A page is fetched when it is needed. */
export interface PromisePaged<in out P, out R, Sel extends keyof Selection> extends PromiseOperation<P, R, Sel> {
  /** Every page, with its `includes`, `errors` and `meta`. */
  readonly pages: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => AsyncIterable<ResponseOf<R, S>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<R, Sel>>(
    ...args: Arguments<P, Sel, S, CallOptions>
  ) => AsyncIterable<ItemOf<R, S>>
}

/** Every operation of the catalogue as a method. */
export type Methods = {
  readonly [N in keyof Catalogue]: Catalogue[N] extends Paged<infer P, infer R, infer Sel, infer _E>
    ? PromisePaged<P, R, Sel>
    : Catalogue[N] extends Operation<infer P, infer R, infer Sel, infer _E> ? PromiseOperation<P, R, Sel>
    : never
}

type Call = (parameters?: object, options?: CallOptions) => unknown

/** The methods, run with the services of a context until `closing` is aborted. */
export const make = (context: Context.Context<Client>, closing: AbortSignal): Methods => {
  const runPromise = Effect.runPromiseWith(context)

  const endOf = (options: CallOptions | undefined): AbortSignal =>
    options?.signal === undefined ? closing : AbortSignal.any([options.signal, closing])

  const method = (operation: Untyped): Call => async (parameters = {}, options) => {
    const signal = endOf(options)
    signal.throwIfAborted()
    try {
      return await runPromise(operation(parameters), { signal })
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }

  const iterable = (stream: UntypedStream): Call => (parameters = {}, options) =>
    until(endOf(options), Stream.toAsyncIterableWith(stream(parameters), context))

  return Object.fromEntries(
    Object.entries(catalogue as unknown as Record<string, Untyped>).map(([name, operation]) => [
      name,
      operation.pages === undefined || operation.items === undefined
        ? method(operation)
        : Object.assign(method(operation), { pages: iterable(operation.pages), items: iterable(operation.items) })
    ])
  ) as unknown as Methods
}

type UntypedStream = (parameters: object) => Stream.Stream<unknown, unknown, Client>

/** An operation whose types are erased: the mapped type above states them. */
interface Untyped {
  (parameters: object): Effect.Effect<unknown, unknown, Client>
  readonly pages?: UntypedStream
  readonly items?: UntypedStream
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
