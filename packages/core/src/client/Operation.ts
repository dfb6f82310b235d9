/**
 * One declaration per operation; every client, the sandbox and the documentation interpret this value.
 *
 * `make` and `makePaged` return the operation itself: a function from parameters to an Effect, with `.pages` and
 * `.items` Streams if the service pages, and the declaration as `.definition`. `StreamOperation.make` declares streaming
 * operations.
 */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { JsonObject } from "effect/Schema"
import type * as Stream from "effect/Stream"
import type {
  AnyError,
  ConflictingIdentifiers,
  OperationError,
  OutcomeUnknown,
  PaginationStuck
} from "../errors/Errors.ts"
import type { Definition, Direction, Form, Paging } from "../schema/Definition.ts"
import type * as Documentation from "../schema/Documentation.ts"
import type * as ForeignNames from "../schema/ForeignNames.ts"
import type { Joined } from "../schema/Joins.ts"
import type { Kind } from "../schema/Model.ts"
import type { Alternatives } from "../schema/ParameterRule.ts"
import type { Parameter } from "../schema/Parameters.ts"
import type { Bytes, Dictionary, Document, Many, One, Response, Value } from "../schema/Response.ts"
import type { Included, Lists, RefusedParts, Selected, Selection } from "../schema/Selection.ts"
import type { CallOptions } from "./CallOptions.ts"
import { Client } from "./Client.ts"
import * as Pagination from "./Pagination.ts"
import type { PageOptions } from "./Pagination.ts"

type In<P> = P extends Parameter<infer I, boolean> ? I : never

type RequiredKeys<G> = { [K in keyof G]: G[K] extends { readonly required: true } ? K : never }[keyof G]

type Group<G> =
  & { readonly [K in RequiredKeys<G>]: In<G[K]> }
  & { readonly [K in Exclude<keyof G, RequiredKeys<G> | keyof Selection>]?: In<G[K]> | undefined }

type Get<D, K extends string> = D extends { readonly [X in K]: infer V } ? V : {}

type Groups<D> = Get<D, "path"> & Get<D, "query"> & Get<D, "body">

/** A type without values: its message is the compiler's for a parameter that another one excludes. */
export interface Excluded<Message extends string> {
  readonly [excluded]: Message
}

declare const excluded: unique symbol

type OneOf<A extends string, B extends string, None> = `${None extends true ? "at most"
  : "exactly"} one of ${A} and ${B}`

type Choice<A extends string, B extends string, None, G> =
  | ({ readonly [K in A]: In<G[K & keyof G]> } & { readonly [K in B]?: Excluded<OneOf<A, B, None>> | undefined })
  | ({ readonly [K in B]: In<G[K & keyof G]> } & { readonly [K in A]?: Excluded<OneOf<A, B, None>> | undefined })
  | (None extends true ? { readonly [K in A | B]?: undefined } : never)

/** `A` as one object type, with the docstrings that editors show for each parameter. */
type Described<A, D> = A extends unknown ? { [K in keyof A]: A[K] } & Documentation.ParametersOf<D> : never

type UserAuth<D> = D extends { readonly userAuth: boolean } ? { readonly user_auth?: boolean | undefined } : {}

/** The parameters of a declaration without selectors. */
export type ParametersOf<D> = D extends { readonly alternatives: Alternatives<infer A, infer B, infer None> }
  ? Described<Group<Omit<Groups<D>, A | B>> & Choice<A, B, None, Groups<D>> & UserAuth<D>, D>
  : Described<Group<Groups<D>> & UserAuth<D>, D>

/** The selectors of a declaration. */
export type SelectorsOf<D> = keyof Get<D, "query"> & keyof Selection

/** The errors of a call of a declaration. */
export type ErrorsOf<D> = ByName<
  | OperationError
  | (D extends { readonly alternatives: Alternatives } ? ConflictingIdentifiers : never)
  | (D extends { readonly effect: "create" } ? OutcomeUnknown : never)
>

/** The same union without an alias, so that editors show the name of each error. */
export type ByName<E extends { readonly _tag: string }> = { [X in E as X["_tag"]]: X } extends infer Errors
  ? Errors[keyof Errors]
  : never

/** Refuses, by name, anything that is neither a parameter nor a selector of the operation. */
type Refused<P, R, Sel extends keyof Selection, S, Options> =
  & {
    readonly [K in Exclude<keyof S, KeysOf<P> | Sel>]?: NotAParameter<
      K extends keyof Options ? `${K & string} is an option: pass it in the object after the parameters`
        : Message<K & string, ForeignNames.Meant<K & string, KeysOf<P> | Sel>>
    >
  }
  & RefusedParts<Names<P, R, Sel>, S>

/** The compiler's message for an unknown parameter. */
interface NotAParameter<in out Message> {
  readonly notAParameter: Message
}

type Message<Name extends string, Meant> = `${Name} is not a parameter${[Meant] extends [never] ? ""
  : ` (did you mean ${Meant & string}?)`}`

type KeysOf<P> = P extends unknown ? keyof P : never

type KindOf<R> = R extends One<infer K> ? K : R extends Many<infer K> ? K : Kind

/**
 * `S` without its declarations, since editors show no docstring for a property that has two. The condition never holds: it lets
 * the compiler infer `S` itself.
 */
type Undeclared<S> = unknown extends S ? S : { readonly [K in keyof S as K]: S[K] }

/** The arguments of a call: the parameters and the selection `S`; optional as a whole if nothing is required. */
export type Arguments<P, R, Sel extends keyof Selection, S, Options> = {} extends P
  ? [parameters?: P & Undeclared<S> & Refused<P, R, Sel, S, Options>, options?: Options]
  : [parameters: P & Undeclared<S> & Refused<P, R, Sel, S, Options>, options?: Options]

/** The response of a call with the selection `S`. */
export type ResponseOf<R, S> = R extends One<infer K> ? Response<Selected<K, S>, Included<S>>
  : R extends Many<infer K> ? Response<ReadonlyArray<Selected<K, S>>, Included<S>>
  : R extends Value<infer A> ? Response<A, {}>
  : R extends Bytes ? Response<Uint8Array<ArrayBuffer>, {}>
  : R extends Document ? Response<JsonObject, {}>
  : never

/** The result of a call in a form: the response, its body as a plain dictionary, or the raw HTTP response of the client. */
export type FormOf<F extends Form, R, S, Raw> = F extends "response" ? ResponseOf<R, S>
  : F extends "raw" ? Raw
  : ResponseOf<R, S> extends Response<infer D, infer I> ? Dictionary<D, I>
  : never

/** One item of a page of a call with the selection `S`. */
export type ItemOf<R, S> = R extends Many<infer K> ? Selected<K, S>
  : R extends Value<ReadonlyArray<infer A>> ? A
  : never

/** The selections, and the other lists of names, that an operation accepts. */
type Names<P, R, Sel extends keyof Selection> = Pick<Selection<KindOf<R>> & Lists<P>, Sel | keyof Lists<P>>

type Loose<P> = { readonly [K in KeysOf<P>]?: P extends { readonly [X in K]?: infer V } ? V : never }

/**
 * What the arguments of an operation extend. `object` lets foreign names through to their message, and `P` keeps values of other
 * types out of the selection, so that the compiler compares them with the types of the parameters.
 */
export type SelectionOf<P, R, Sel extends keyof Selection> = object & Loose<P> & Names<P, R, Sel>

/**
 * An operation: called with parameters, it returns an Effect that needs a `Client`.
 * `P` are its parameters, `R` its result, `Sel` its selectors, `E` its errors, `F` its return type.
 */
export interface Operation<in out P, out R, Sel extends keyof Selection, out E, F extends Form = "response"> {
  <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, CallOptions>
  ): Effect.Effect<FormOf<F, R, S, HttpClientResponse>, E, Client>
  readonly definition: Definition
  /** The same operation with another return type. */
  readonly as: <F extends Form>(form: F) => Operation<P, R, Sel, E, F>
}

type DirectionsOf<D> = D extends { readonly paging: { readonly directions: "both" } } ? Direction : "forward"

/**
 * A paged operation, in the directions `D`. `.pages` and `.items` fetch a page only when it is needed, until there is no next
 * token.
 */
export interface Paged<
  in out P,
  out R,
  Sel extends keyof Selection,
  out E,
  F extends Form = "response",
  in D extends Direction = "forward"
> extends Operation<P, R, Sel, E, F> {
  readonly as: <F extends Form>(form: F) => Paged<P, R, Sel, E, F, D>
  /** Every page, with its `includes`, `errors`, `meta` and tokens (`page`). */
  readonly pages: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, PageOptions<D>>
  ) => Stream.Stream<FormOf<F, R, S, HttpClientResponse>, E | PaginationStuck, Client>
  /** Every item of every page. */
  readonly items: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, PageOptions<D>>
  ) => Stream.Stream<ItemOf<R, S>, E | PaginationStuck, Client>
  /** Every item of every page, joined with its related objects. */
  readonly joined: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, PageOptions<D>>
  ) => Stream.Stream<Joined<ItemOf<R, S>, Included<S>>, E | PaginationStuck, Client>
}

/** Declares an operation. */
export const make = <const D extends Definition & { readonly paging?: never; readonly live?: never }>(
  definition: D
): Operation<ParametersOf<D>, D["result"], SelectorsOf<D>, ErrorsOf<D>> =>
  // oxlint-disable-next-line postwire/no-blind-assertion -- The signature comes from the declaration's type alone; running it is untyped.
  operation(definition, "response") as never

/** Declares a paged operation. */
export const makePaged = <const D extends Definition & { readonly paging: Paging; readonly live?: never }>(
  definition: D
): Paged<ParametersOf<D>, D["result"], SelectorsOf<D>, ErrorsOf<D>, "response", DirectionsOf<D>> =>
  // oxlint-disable-next-line postwire/no-blind-assertion -- As above.
  paged(definition, "response") as never

const operation = (definition: Definition, form: Form) =>
  Object.assign(call(definition, form), { definition, as: (form: Form) => operation(definition, form) })

// Separate from `operation`, so that a program without pagination does not bundle streams.
const paged = (definition: Definition, form: Form): object => {
  const run =
    <A>(project: (page: Pagination.Page) => ReadonlyArray<A>) => (parameters: object = {}, options?: PageOptions) =>
      Pagination.stream(definition, parameters, options, project)
  return Object.assign(call(definition, form), {
    definition,
    as: (form: Form) => paged(definition, form),
    pages: run((page) => [Pagination.inForm(form, page)]),
    items: run(({ position, response }) => Pagination.itemsAt(position, response)),
    joined: run(({ position, response }) => Pagination.joinedAt(position, response))
  })
}

const call = (definition: Definition, form: Form) => (parameters: unknown = {}, options?: CallOptions) =>
  Effect.flatMap(Client, (client): Effect.Effect<unknown, AnyError> => {
    const request = client.request(definition, parameters, options)
    if (form === "raw") return request
    const response = Effect.flatMap(request, (raw) => client.read(definition, raw))
    return form === "response" ? response : Effect.map(response, ({ body }) => body)
  })
