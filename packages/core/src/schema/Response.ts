/**
 * The result of an operation: the received body, read through `data`, `includes`, `errors`, `meta` and `rateLimit`.
 * Also the result types of declarations (`one`, `many`, `value`).
 */
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { NodeInspectSymbol } from "effect/Inspectable"
import type * as Schema from "effect/Schema"
import * as SecretMembers from "../internal/secretMembers.ts"
import type { Anomaly } from "./Anomaly.ts"
import * as Joins from "./Joins.ts"
import type { AnyModel, Kind } from "./Model.ts"
import type { Includes } from "./models/Includes.ts"
import type { Meta } from "./models/Meta.ts"
import type { Problem } from "./models/Problem.ts"
import type { RateLimitInfo } from "./RateLimitHeaders.ts"
import * as RateLimitHeaders from "./RateLimitHeaders.ts"

/** One resource of kind `K`. */
export interface One<out K extends Kind> {
  readonly _tag: "One"
  readonly kind: K
  readonly model: AnyModel
}

/** A page of resources of kind `K`. */
export interface Many<out K extends Kind> {
  readonly _tag: "Many"
  readonly kind: K
  readonly model: AnyModel
}

/** Plain data that no selector changes. */
export interface Value<out A> {
  readonly _tag: "Value"
  readonly schema: Schema.Codec<A, unknown>
  /** Brings the forms of a body to the one of the schema, before its names are translated. Changes the body. */
  readonly normalise?: (body: object) => void
}

/** The bytes of a file, without an envelope. */
export interface Bytes {
  readonly _tag: "Bytes"
}

/** A JSON object without an envelope. */
export interface Document {
  readonly _tag: "Document"
}

/** A result that is not read by a declaration, in the names of the service. */
export interface Received {
  readonly _tag: "Received"
  /** Reads a body, or returns the reason why it cannot be read. */
  readonly read: (text: string) => Body | string
}

/** The `data` that an operation returns. */
export type Result = One<Kind> | Many<Kind> | Value<unknown> | Bytes | Document

type ModelOf<K extends Kind> = AnyModel & { readonly kind: K }

/** The result is one resource. */
export const one = <K extends Kind>(model: ModelOf<K>): One<K> => ({ _tag: "One", kind: model.kind, model })

/** The result is a page of resources. */
export const many = <K extends Kind>(model: ModelOf<K>): Many<K> => ({ _tag: "Many", kind: model.kind, model })

/** The result is plain data of a schema. */
export const value = <A>(schema: Schema.Codec<A, unknown>, normalise?: (body: object) => void): Value<A> => ({
  _tag: "Value",
  schema,
  ...(normalise === undefined ? {} : { normalise })
})

/** The result is the bytes of a file. */
export const bytes: Bytes = { _tag: "Bytes" }

/** The result is a JSON object, which is the whole body. */
export const document: Document = { _tag: "Document" }

/** The headers of a response by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** The body of every response, in neutral names. */
export interface Body {
  readonly data?: unknown
  readonly includes?: Includes
  readonly errors?: ReadonlyArray<Problem>
  readonly meta?: Meta
}

/**
 * The response of an operation.
 *
 * `data` is `undefined` on an empty page and where the service reports only `errors` (an id that does not exist).
 * `errors` lists the parts of the request that could not be answered; it is empty on full success. Unknown fields are kept
 * everywhere. `JSON.stringify` returns the body; printing shows the guaranteed fields only.
 */
export interface Response<out Data, out Included = {}> extends Joins.Joins<Included> {
  readonly data: Data | undefined
  /** Related objects that `expansions` selected. */
  readonly includes: Included
  /** Partial failures: parts of the request that the service could not answer. */
  readonly errors: ReadonlyArray<Problem>
  /**
   * Parts of the response that did not match the schema and were omitted, at most the first thousand; usually none. The values
   * at their paths are `undefined`, whatever their type says.
   */
  readonly anomalies: ReadonlyArray<Anomaly>
  /** Counts and page tokens. */
  readonly meta: Meta
  /** The tokens of a page of `.pages`, from which a later run can resume. */
  readonly page: PageTokens | undefined
  /** The requests remaining for this operation and credential, if the service announced them. */
  readonly rateLimit: RateLimitInfo | undefined
  /** The cost of the response; `undefined` unless the client counts spending. */
  readonly cost: Cost | undefined
  /** The service's id of the request, for its support. */
  readonly requestId: string | undefined
  /** The whole body as received, in neutral names and without the `anomalies`. */
  readonly body: Dictionary<Data, Included>
  /** The items of the page, each with its related objects. */
  readonly joined: () => ReadonlyArray<Joins.Joined<Data extends ReadonlyArray<infer Item> ? Item : Data, Included>>
  readonly toJSON: () => Dictionary<Data, Included>
}

/** The cost of a response. */
export interface Cost {
  readonly dollars: number
  /** Resources that were charged; 1 for an operation that is charged per request. */
  readonly charged: number
  /** Resources that had already been charged on that day, in UTC. */
  readonly repeats: number
}

/** The tokens of a page. Passed as the operation's token, each leads to its page again. */
export interface PageTokens {
  /** The token that led to this page; `undefined` for the first. */
  readonly token: string | undefined
  /** The token of the page after this one, in the direction of the run; `undefined` at its end. */
  readonly next: string | undefined
}

/** A body as a plain dictionary. */
export interface Dictionary<out Data, out Included = {}> {
  readonly data?: Data
  readonly includes?: Included
  readonly errors?: ReadonlyArray<Problem>
  readonly meta?: Meta
}

const nothing = Object.freeze({})
const none: ReadonlyArray<never> = Object.freeze([])

class ResponseImpl implements Response<unknown, unknown> {
  readonly data: unknown
  readonly includes: unknown
  readonly errors: ReadonlyArray<Problem>
  readonly anomalies: ReadonlyArray<Anomaly>
  readonly meta: Meta
  page: PageTokens | undefined
  readonly #definition: { readonly result: Result | Received }
  readonly #body: Body
  readonly #headers: Headers | (() => Headers)
  #index: Joins.Joins<unknown> | undefined

  constructor(
    definition: { readonly result: Result | Received },
    body: Body,
    headers: Headers | (() => Headers),
    anomalies: ReadonlyArray<Anomaly>
  ) {
    this.data = body.data ?? undefined
    this.includes = body.includes ?? nothing
    this.errors = body.errors ?? none
    this.anomalies = anomalies
    this.meta = body.meta ?? nothing
    this.page = undefined
    this.#definition = definition
    this.#body = body
    this.#headers = headers
  }

  get body(): Body {
    return this.#body
  }

  get rateLimit(): RateLimitInfo | undefined {
    return RateLimitHeaders.rateLimitOf(this.#received())
  }

  get cost(): Cost | undefined {
    return costOf(this)
  }

  get requestId(): string | undefined {
    return requestIdOf(this.#received())
  }

  toJSON(): Body {
    return this.#body
  }

  joined(): ReadonlyArray<Joins.Joined<unknown, unknown>> {
    const items = Array.isArray(this.data) ? this.data : this.data === undefined ? [] : [this.data]
    return items.map((item) => Joins.join(item, this.#joins()))
  }

  author(item: object) {
    return this.#joins().author(item)
  }

  referenced(item: object) {
    return this.#joins().referenced(item)
  }

  media(item: object) {
    return this.#joins().media(item)
  }

  poll(item: object) {
    return this.#joins().poll(item)
  }

  place(item: object) {
    return this.#joins().place(item)
  }

  pinned(item: object) {
    return this.#joins().pinned(item)
  }

  toString(): string {
    return JSON.stringify(this.#guaranteed())
  }

  [NodeInspectSymbol](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `Response ${inspect(this.#guaranteed(), options)}`
  }

  #received(): Headers {
    return typeof this.#headers === "function" ? this.#headers() : this.#headers
  }

  #joins(): Joins.Joins<unknown> {
    return this.#index ??= Joins.make(this.#body.includes ?? nothing)
  }

  #guaranteed(): object {
    const { result } = this.#definition
    const data = result._tag === "One"
      ? pickDefaults(result.model, this.data)
      : result._tag === "Many" && Array.isArray(this.data)
      ? this.data.map((item) => pickDefaults(result.model, item))
      : result._tag === "Value"
      ? SecretMembers.without(this.data)
      : this.data
    return {
      data,
      ...(this.errors.length === 0 ? {} : { errors: this.errors }),
      ...(this.anomalies.length === 0 ? {} : { anomalies: this.anomalies }),
      ...(this.#body.meta === undefined ? {} : { meta: this.meta })
    }
  }
}

/** The response with a body of the declared result. A headers function is called when a header is read. */
export const make = (
  definition: { readonly result: Result | Received },
  body: Body,
  headers: Headers | (() => Headers),
  anomalies: ReadonlyArray<Anomaly> = none
): Response<unknown, unknown> => new ResponseImpl(definition, body, headers, anomalies)

// Not a property, since most clients do not count spending.
const costs = new WeakMap<Response<unknown, unknown> | HttpClientResponse, Cost>()

/** The cost of a response, raw or decoded. */
export const costOf = (response: Response<unknown, unknown> | HttpClientResponse): Cost | undefined =>
  costs.get(response)

/** Sets the cost of a response. */
export const markCost = (response: Response<unknown, unknown> | HttpClientResponse, cost: Cost | undefined): void => {
  if (cost !== undefined) costs.set(response, cost)
}

/** Sets the tokens of a page. */
export const markPage = (page: Response<unknown, unknown>, tokens: PageTokens): void => {
  if (page instanceof ResponseImpl) page.page = tokens
}

const pickDefaults = (model: AnyModel, item: unknown): unknown => {
  if (typeof item !== "object" || item === null) return item
  const own: Readonly<Record<string, unknown>> = { ...item }
  return Object.fromEntries(model.defaults.filter((name) => Object.hasOwn(own, name)).map((name) => [name, own[name]]))
}

/** The service's id of a request. */
export const requestIdOf = (headers: Headers): string | undefined =>
  headers["x-transaction-id"] ?? headers["x-request-id"]
