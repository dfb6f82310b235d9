/** What a stream delivers: one post, or one event about posts, likes or users, with what came along. */
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
  /** The label that the rule was made with. */
  readonly tag?: string
  /** How near the post is to the text of a rule by meaning, from 0 to 1. */
  readonly embedding_similarity?: number
  /** How near it has to be. */
  readonly embedding_threshold?: number
}

/** What all items have. */
export interface Item<out Included = {}> {
  /** The rules that it matches; none where a stream is not chosen by rules. */
  readonly matchingRules: ReadonlyArray<MatchingRule>
  /** Related objects that `expansions` asked for. */
  readonly includes: Included
  /** What of it the service could not bring. */
  readonly errors: ReadonlyArray<Problem>
  /** What of it was not as the interface has it and was left out; none, as a rule. */
  readonly anomalies: ReadonlyArray<Anomaly>
  /** The line as received, in neutral names and without the `anomalies`. */
  readonly body: Body
  readonly toJSON: () => Body
}

/** A post as it was made. */
export interface PostItem<out Post, out Included = {}> extends Item<Included> {
  readonly post: Post
  /** The post with what belongs to it; it is looked up when it is read. */
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

/** What a stream whose result is `R` delivers when it is asked for the selection `S`. */
export type ItemOf<R, S> = R extends One<"post"> ? PostItem<Selected<"post", S>, Included<S>>
  : R extends One<infer K> ? EventItem<Selected<K, S>, Included<S>>
  : R extends Value<infer A> ? EventItem<A>
  : never

/** The lines of such a stream. */
export type BodyOf<R, S> = R extends One<infer K> ? Body<Selected<K, S>, Included<S>>
  : R extends Value<infer A> ? Body<A, {}>
  : never

/** What such a stream delivers in a form: items or, in others than `response`, their lines. */
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

/** Whether lines with such a result are posts, rather than events. */
export const isPost = (result: Result): boolean => result._tag === "One" && result.kind === "post"

/** The item that a line holds. */
export const make = (
  isPost: boolean,
  body: Body,
  anomalies: ReadonlyArray<Anomaly> = none
): AnyItem => isPost ? new LivePost(body, anomalies) : new LiveEvent(body, anomalies)
