/**
 * Streaming operations: functions from parameters to a Stream, with `.events`, and the declaration as `.definition`. They are apart
 * from other operations so that programs that never stream do not bundle them.
 */
import type * as Stream from "effect/Stream"
import type { Client } from "../client/Client.ts"
import type { Arguments, ErrorsOf, ParametersOf, SelectionOf, SelectorsOf } from "../client/Operation.ts"
import type { StreamError } from "../errors/StreamErrors.ts"
import type { Definition, Live as Liveness } from "../schema/Definition.ts"
import type { Selection } from "../schema/Selection.ts"
import type { ItemOf } from "../schema/StreamItem.ts"
import * as Streaming from "./internal/loading.ts"
import type { StreamEvent } from "./StreamEvents.ts"
import type { StreamOptions } from "./StreamOptions.ts"

/** A declaration of a streaming operation. */
export interface StreamDefinition extends Definition {
  readonly live: Liveness
  readonly paging?: never
}

/**
 * A streaming operation. Called with parameters, it returns a Stream of items, which connects when it is run, stays connected, and
 * disconnects when it is no longer read.
 * `P` are its parameters, `R` the result of each line, `Sel` its selectors, `E` its errors.
 */
export interface StreamOperation<in out P, out R, Sel extends keyof Selection, out E> {
  <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, StreamOptions>
  ): Stream.Stream<ItemOf<R, S>, E, Client>
  readonly definition: StreamDefinition
  /** All events, in order: items (`Delivered`), connections, gaps and how they were filled. */
  readonly events: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, StreamOptions>
  ) => Stream.Stream<StreamEvent<ItemOf<R, S>>, E, Client>
}

/** Declares a streaming operation. */
export function make<const D extends StreamDefinition>(
  definition: D
): StreamOperation<ParametersOf<D>, D["result"], SelectorsOf<D>, ErrorsOf<D> | StreamError>
// The declaration's type is the only source of the signature; running it is untyped.
export function make(definition: StreamDefinition): object {
  const operation = (parameters: object = {}, options?: StreamOptions) =>
    Streaming.items(definition, parameters, options)
  return Object.assign(operation, {
    definition,
    events: (parameters: object = {}, options?: StreamOptions) => Streaming.run(definition, parameters, options)
  })
}
