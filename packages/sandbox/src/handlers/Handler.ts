/** The types of handlers. */
import type { Catalogue, Name } from "@postwire/core/Catalogue"
import type { Operation, Paged } from "@postwire/core/client/Operation"
import type { Definition } from "@postwire/core/schema/Definition"
import type { BytesInput } from "@postwire/core/schema/Parameters"
import type { WireName } from "@postwire/core/schema/WireName"
import type { StreamOperation } from "@postwire/core/streams/StreamOperation"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Caller } from "../auth/Authentication.ts"
import type { Deliveries } from "../events/Events.ts"
import type { Behaviour } from "../faults/Faults.ts"
import type { Problem } from "../http/Problem.ts"
import type { Plan } from "../limits/Plan.ts"
import type { PostCap } from "../limits/RateLimits.ts"
import type { Usage } from "../limits/Usage.ts"
import type { Reply } from "../projection/Reply.ts"
import type { PageRequest } from "../store/Pages.ts"
import type { Store } from "../store/Store.ts"
import type { Hub } from "../streams/Hub.ts"

/** A decoded parameter: lists as arrays, times as milliseconds, ids and texts as strings, bytes in memory. */
type Received<T> = [T] extends [Schema.JsonObject | ReadonlyArray<object>] ? T
  : [T] extends [BytesInput] ? Uint8Array<ArrayBuffer>
  : Date extends T ? number
  : ReadonlyArray<never> extends T ? ReadonlyArray<string>
  : [T] extends [boolean] ? boolean
  : [T] extends [number] ? number
  : [T] extends [string] ? T
  : string

type Keys<P> = P extends unknown ? keyof P : never

type At<P, K extends PropertyKey> = P extends { readonly [X in K]?: infer T } ? T : never

type IsRequired<P, K extends PropertyKey> = P extends unknown
  ? (P extends { readonly [X in K]: unknown } ? (undefined extends At<P, K> ? false : true) : false)
  : never

type ParametersIn<O> = O extends Paged<infer P, infer _R, infer _S, infer _E> ? P
  : O extends Operation<infer P, infer _R, infer _S, infer _E> ? P
  : O extends StreamOperation<infer P, infer _R, infer _S, infer _E> ? P
  : never

type Seen<P> =
  & { readonly [K in Keys<P> as false extends IsRequired<P, K> ? never : K]: Received<NonNullable<At<P, K>>> }
  & { readonly [K in Keys<P> as false extends IsRequired<P, K> ? K : never]?: Received<NonNullable<At<P, K>>> }

/** The decoded parameters of an operation. */
export type Parameters<N extends Name> = Seen<ParametersIn<Catalogue[N]>>

export interface Call<P> {
  readonly definition: Definition
  readonly parameters: P
  readonly caller: Caller
  /** The service's time in milliseconds. */
  readonly now: number
  readonly store: Store["Service"]
  readonly usage: Usage
  readonly postCap: PostCap
  readonly plan: Plan
  readonly streams: Hub
  readonly deliveries: Deliveries
  readonly wire: WireName
  /** The requested page; its limit is that of the request, or the declared default. */
  readonly page: PageRequest
  /** The fault of media processing. */
  readonly processing?: Behaviour["processing"]
}

/** Handles an operation. */
export type Handler<N extends Name> = (call: Call<Parameters<N>>) => Effect.Effect<Reply, Problem>

/** The streaming operations. */
export type LiveName = {
  readonly [N in Name]: Catalogue[N] extends { readonly definition: { readonly live: unknown } } ? N : never
}[Name]

/** A handler for every operation but streams; the type checks that none is missing. */
export type Handlers = { readonly [N in Exclude<Name, LiveName>]: Handler<N> }
