/** An item of a stream: one post, or one event about posts, likes or users, with its related objects. */
import { NodeInspectSymbol } from "effect/Inspectable"
import type { Anomaly } from "./Anomaly.ts"
import type { Form } from "./Definition.ts"
import * as Joins from "./Joins.ts"
import type { Includes } from "./models/Includes.ts"
import type { Problem } from "./models/Problem.ts"
import type { One, Result, Value } from "./Response.ts"
import type { Included, Selected } from "./Selection.ts"

/** A rule that a post matches. */
export interface MatchingRule {
  readonly id: string
  /** The label that the rule was created with. */
  readonly tag?: string
  /** The semantic similarity of the post to the text of a rule, from 0 to 1. */
  readonly embedding_similarity?: number
  /** The similarity that the rule requires. */
  readonly embedding_threshold?: number
}

/** The common part of all items. */
export interface Item<out Included = {}> {
  /** The rules that it matches; none if the stream is not filtered by rules. */
  readonly matchingRules: ReadonlyArray<MatchingRule>
  /** Related objects that `expansions` selected. */
  readonly includes: Included
  /** Partial failures: parts that the service could not deliver. */
  readonly errors: ReadonlyArray<Problem>
  /** Parts that did not match the schema and were omitted; usually none. */
  readonly anomalies: ReadonlyArray<Anomaly>
  /** The line as received, in neutral names and without the `anomalies`. */
  readonly body: Body
  readonly toJSON: () => Body
}

/** A post as it was created. */
export interface PostItem<out Post, out Included = {}> extends Item<Included> {
  readonly post: Post
  /** The post with its related objects, which are looked up when they are read. */
  readonly joined: () => Joins.Joined<Post, Included>
}

/** Something that happened. */
export interface EventItem<out Event, out Included = {}> extends Item<Included> {
  readonly event: Event
}

/** A line of a stream, in neutral names. */
export interface Body<out Data = unknown, out Included = Includes> {
  readonly data: Data
  readonly includes?: Included
  readonly errors?: ReadonlyArray<Problem>
  readonly matching_rules?: ReadonlyArray<MatchingRule>
}

/** The items of a stream with the result `R` and the selection `S`. */
export type ItemOf<R, S> = R extends One<"post"> ? PostItem<Selected<"post", S>, Included<S>>
  : R extends One<infer K> ? EventItem<Selected<K, S>, Included<S>>
  : R extends Value<infer A> ? EventItem<A>
  : never

/** The lines of such a stream. */
export type BodyOf<R, S> = R extends One<infer K> ? Body<Selected<K, S>, Included<S>>
  : R extends Value<infer A> ? Body<A, {}>
  : never

/** The items of such a stream in a return type: items for `response`, their lines for the others. */
export type FormOf<F extends Form, R, S> = F extends "response" ? ItemOf<R, S> : BodyOf<R, S>

/** Any item. */
export type AnyItem = PostItem<unknown, unknown> | EventItem<unknown, unknown>

const nothing = Object.freeze({})
const none: ReadonlyArray<never> = Object.freeze([])

abstract class ItemImpl implements Item<unknown> {
  readonly body: Body
  readonly anomalies: ReadonlyArray<Anomaly>

  constructor(body: Body, anomalies: ReadonlyArray<Anomaly>) {
    this.body = body
    this.anomalies = anomalies
  }

  get matchingRules(): ReadonlyArray<MatchingRule> {
    return this.body.matching_rules ?? none
  }

  get includes(): unknown {
    return this.body.includes ?? nothing
  }

  get errors(): ReadonlyArray<Problem> {
    return this.body.errors ?? none
  }

  toJSON(): Body {
    return this.body
  }

  [NodeInspectSymbol](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `${this.constructor.name} ${inspect(this.body, options)}`
  }
}

class LivePost extends ItemImpl implements PostItem<unknown, unknown> {
  get post(): unknown {
    return this.body.data
  }

  joined(): Joins.Joined<unknown, unknown> {
    const { data, includes = nothing } = this.body
    return Joins.join(Object(data), Joins.make(includes))
  }
}

class LiveEvent extends ItemImpl implements EventItem<unknown, unknown> {
  get event(): unknown {
    return this.body.data
  }
}

/** Tests whether lines with such a result are posts rather than events. */
export const isPost = (result: Result): boolean => result._tag === "One" && result.kind === "post"

/** The item in a line. */
export const make = (isPost: boolean, body: Body, anomalies: ReadonlyArray<Anomaly> = none): AnyItem =>
  isPost ? new LivePost(body, anomalies) : new LiveEvent(body, anomalies)
