/** Operations as methods, for every kind of client. */
import type { CallOptions, RequestOptions } from "../client/CallOptions.ts"
import type { Arguments, FormOf, ItemOf, SelectionOf } from "../client/Operation.ts"
import type * as Pagination from "../client/Pagination.ts"
import type * as RawRequest from "../client/RawRequest.ts"
import type { Direction, Form } from "../schema/Definition.ts"
import type { Joined } from "../schema/Joins.ts"
import type { Included, Selection } from "../schema/Selection.ts"
import type { FormOf as ItemFormOf } from "../schema/StreamItem.ts"
import type { StreamEvent } from "../streams/StreamEvents.ts"
import type { StreamOptions } from "../streams/StreamOptions.ts"
import type { Kind, Many } from "./Methods.ts"

/** A kind of client: how the methods of its operations return results. */
export interface OperationKind extends Kind {
  /** The result that `answer` is the return type of. */
  readonly answer: unknown
  /** A raw response. */
  readonly raw: unknown
}

type Answer<K extends OperationKind, A> = (K & { readonly value: A })["answer"]

/** An operation as a method. */
export interface OperationMethod<
  in out P,
  out R,
  Sel extends keyof Selection,
  F extends Form,
  K extends OperationKind
> {
  <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, CallOptions & K["options"]>
  ): Answer<K, FormOf<F, R, S, K["raw"]>>
}

/** A paged operation as a method with iterables. A page is fetched when it is needed. */
export interface PagedMethod<
  in out P,
  out R,
  Sel extends keyof Selection,
  F extends Form,
  in D extends Direction,
  K extends OperationKind
> extends OperationMethod<P, R, Sel, F, K> {
  /** Every page, with its `includes`, `errors`, `meta` and position (`page`). */
  readonly pages: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, Pagination.PageOptions<D> & K["options"]>
  ) => Many<K, FormOf<F, R, S, K["raw"]>>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, Pagination.PageOptions<D> & K["options"]>
  ) => Many<K, ItemOf<R, S>>
  /** Every item of every page, joined with the objects that expansions included. */
  readonly joined: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, Pagination.PageOptions<D> & K["options"]>
  ) => Many<K, Joined<ItemOf<R, S>, Included<S>>>
}

/**
 * A streaming operation as a method. It connects when a loop begins, stays connected, and ends with the loop. With return types
 * other than `response`, an item is its line as a plain dictionary.
 */
export interface StreamMethod<in out P, out R, Sel extends keyof Selection, F extends Form, K extends OperationKind> {
  <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, StreamOptions & K["options"]>
  ): Many<K, ItemFormOf<F, R, S>>
  /** All events in order: items (`Delivered`), connections, gaps and their recovery. */
  readonly events: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, StreamOptions & K["options"]>
  ) => Many<K, StreamEvent<ItemFormOf<F, R, S>>>
}

/** A request to any path of the service, for endpoints without a method. */
export interface RequestMethod<F extends Form, K extends OperationKind> {
  <A = unknown>(
    request: RawRequest.Request<A>,
    options?: RequestOptions & K["options"]
  ): Answer<K, RawRequest.ResultOf<F, A, K["raw"]>>
}
