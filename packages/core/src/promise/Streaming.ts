/** Streams of the service as async iterables. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Arguments, SelectionOf } from "../client/Operation.ts"
import { InvalidParameters } from "../errors/Errors.ts"
import type { Definition, Form } from "../schema/Definition.ts"
import type { Selection } from "../schema/Selection.ts"
import type { AnyItem, FormOf } from "../schema/StreamItem.ts"
import type { SharedOptions } from "../streams/shared/SharedStream.ts"
import type { StreamEvent } from "../streams/StreamEvents.ts"
import type * as Options from "../streams/StreamOptions.ts"
import * as RequestEncoder from "../wire/RequestEncoder.ts"
import type * as Calls from "./Calls.ts"
import { Loop } from "./internal/loop.ts"
import type { StreamMethod } from "./OperationMethods.ts"
import * as SharedStream from "./SharedStream.ts"
import * as Workflows from "./Workflows.ts"

/** The options of a stream. */
export interface StreamOptions extends Options.StreamOptions {
  /** Aborts the stream immediately; the loop is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A streaming operation as a method. Its signal and the client end it, too. */
export interface PromiseLive<in out P, out R, Sel extends keyof Selection, F extends Form = "response">
  extends StreamMethod<P, R, Sel, F, Calls.Promises>
{
  /**
   * Joins a stream that processes share by its name, with the same parameters and the same `streamLog`. One process is connected,
   * any number of consumers read the items, and another process connects when that one ends or dies.
   */
  readonly shared: <const S extends SelectionOf<P, R, Sel>>(
    name: string,
    ...args: Arguments<P, R, Sel, S, SharedOptions>
  ) => Promise<SharedStream.SharedStream<FormOf<F, R, S>>>
}

/** The method of a streaming operation. */
export const method = (context: Calls.Context, definition: Definition, form: Form) => {
  const itemOf = (item: AnyItem): unknown => form === "response" ? item : item.body
  const eventOf = (event: StreamEvent<AnyItem>): StreamEvent<unknown> =>
    event._tag === "Delivered" ? { ...event, item: itemOf(event.item) } : event
  return Object.assign(iterable(context, definition, Workflows.openLive, itemOf), {
    events: iterable(context, definition, Workflows.openLiveEvents, eventOf),
    shared: SharedStream.method(context, definition, form)
  })
}

const iterable = <A, B>(
  context: Calls.Context,
  definition: Definition,
  open: (definition: Definition, parameters: object, options?: Options.StreamOptions) => Workflows.Opening<A>,
  f: (one: A) => B
) =>
(parameters: object = {}, options?: StreamOptions): AsyncIterable<B> => {
  // The caller may change the objects before the next loop.
  const own = RequestEncoder.ownProperties(definition, parameters)
  const chosen = Predicate.isObject(options) ? { ...options } : options
  const opened = (rest: Options.StreamOptions | undefined): Workflows.Opening<A> =>
    own instanceof InvalidParameters ? Effect.fail(own) : open(definition, own, rest)
  return { [Symbol.asyncIterator]: () => new Loop(context, definition, chosen, opened, f) }
}
