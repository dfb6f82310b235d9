/**
 * What an operation returns: the received body, read through `data`, `includes`, `errors`, `meta` and `rateLimit`.
 * Also what a declaration says of its result (`one`, `many`, `value`).
 */
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Budget } from "./Errors.ts"
import * as Joins from "./Joins.ts"
import type { AnyModel, Kind } from "./Model.ts"
import { Includes } from "./models/Includes.ts"
import { Meta } from "./models/Meta.ts"
import { Problem } from "./models/Problem.ts"
import * as RateLimitHeaders from "./RateLimitHeaders.ts"
import * as WireNames from "./WireNames.ts"

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
}

/** What an operation returns as `data`. */
export type Result = One<Kind> | Many<Kind> | Value<unknown>

type ModelOf<K extends Kind> = AnyModel & { readonly kind: K }

/** The result is one resource. */
export const one = <K extends Kind>(model: ModelOf<K>): One<K> => ({ _tag: "One", kind: model.kind, model })

/** The result is a page of resources. */
export const many = <K extends Kind>(model: ModelOf<K>): Many<K> => ({ _tag: "Many", kind: model.kind, model })

/** The result is plain data of a schema. */
export const value = <A>(schema: Schema.Codec<A, unknown>): Value<A> => ({ _tag: "Value", schema })

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
 * `errors` tells what of the request was left out; it is empty on full success. Unknown fields survive everywhere.
 * `JSON.stringify` gives the body back; printing shows the guaranteed fields only.
 */
export interface Response<out Data, out Included = {}> extends Joins.Joins<Included> {
  readonly data: Data | undefined
  /** Related objects that `expansions` asked for. */
  readonly includes: Included
  /** Partial failures: parts of the request that the service could not answer. */
  readonly errors: ReadonlyArray<Problem>
  /** Counts and page tokens. */
  readonly meta: Meta
  /** Of a page of `.pages`: where it stands, so that a later run can go on from there. */
  readonly page: PageTokens | undefined
  /** The budget left for this operation and credential, where the service announced it. */
  readonly rateLimit: Budget | undefined
  /** The service's id of the request, for its support. */
  readonly requestId: string | undefined
  /** The whole body as received, in neutral names. */
  readonly body: Dictionary<Data, Included>
  /** The items of the page, each with what belongs to it. */
  readonly joined: () => ReadonlyArray<Joins.Joined<Data extends ReadonlyArray<infer Item> ? Item : Data, Included>>
  readonly toJSON: () => Dictionary<Data, Included>
}

/** Where a page stands among the others. Passed as the operation's token, each leads to its page again. */
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
const noErrors: ReadonlyArray<never> = Object.freeze([])

class ResponseImpl implements Response<unknown, unknown> {
  readonly data: unknown
  readonly includes: unknown
  readonly errors: ReadonlyArray<Problem>
  readonly meta: Meta
  page: PageTokens | undefined
  readonly #definition: { readonly result: Result }
  readonly #body: Body
  readonly #headers: Headers | (() => Headers)
  #index: Joins.Joins<unknown> | undefined

  constructor(definition: { readonly result: Result }, body: Body, headers: Headers | (() => Headers)) {
    this.data = body.data ?? undefined
    this.includes = body.includes ?? nothing
    this.errors = body.errors ?? noErrors
    this.meta = body.meta ?? nothing
    this.page = undefined
    this.#definition = definition
    this.#body = body
    this.#headers = headers
  }

  get body(): Body {
    return this.#body
  }

  get rateLimit(): Budget | undefined {
    return RateLimitHeaders.budgetOf(this.#received())
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
      : this.data
    return {
      data,
      ...(this.errors.length === 0 ? {} : { errors: this.errors }),
      ...(this.#body.meta === undefined ? {} : { meta: this.meta })
    }
  }
}

/** Tells a page where it stands. */
export const markPage = (page: Response<unknown, unknown>, tokens: PageTokens): void => {
  if (page instanceof ResponseImpl) page.page = tokens
}

const pickDefaults = (model: AnyModel, item: unknown): unknown =>
  typeof item !== "object" || item === null
    ? item
    : Object.fromEntries(
      model.defaults.filter((name) => Object.hasOwn(item, name)).map((
        name
      ) => [name, (item as Readonly<Record<string, unknown>>)[name]])
    )

/** The service's id of a request. */
export const requestIdOf = (headers: Headers): string | undefined =>
  headers["x-transaction-id"] ?? headers["x-request-id"]

/** Why a body is not a response of the operation. */
export class Undecodable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

interface Decoder {
  is: (body: unknown) => body is Body
  readonly explain: (body: unknown) => string
  readonly toNeutral: (body: unknown) => unknown
  readonly schema: Schema.Codec<Body, unknown>
  used: number
}

const decoders = new WeakMap<Result, Decoder>()

let compile: ((ast: SchemaAST.AST) => void) | undefined

/**
 * Gives the compiler of verifiers, `enable` of `effect/schema/SchemaJITCompiler`. The clients for Node do so. It is a
 * tenth of a bundle, so without it verifiers are interpreted.
 */
export const compileWith = (enable: (ast: SchemaAST.AST) => void): void => {
  compile = enable
}

/** Compiling a verifier costs milliseconds and saves a fraction of one per page: worth it for a client that goes on. */
const usesBeforeCompiling = 20

const decoderOf = (result: Result): Decoder => {
  let decoder = decoders.get(result)
  if (decoder === undefined) {
    const schema = envelope(result)
    const decode = Schema.decodeUnknownResult(schema)
    decoder = {
      schema,
      is: Schema.is(schema),
      explain: (body) => {
        const outcome = decode(body)
        return outcome._tag === "Failure" ? outcome.failure.message : "of another form"
      },
      toNeutral: WireNames.toNeutral(schema),
      used: 0
    }
    decoders.set(result, decoder)
  }
  decoder.used++
  if (decoder.used === usesBeforeCompiling && compile !== undefined) {
    compile(decoder.schema.ast)
    decoder.is = Schema.is(decoder.schema)
  }
  return decoder
}

/** The schema of the whole body of a result, in neutral names. */
export const envelope = (result: Result): Schema.Codec<Body, unknown> => {
  const data = result._tag === "Value"
    ? result.schema
    : result._tag === "One"
    ? result.model.schema
    : Schema.Array(result.model.schema)
  return Schema.Struct({
    data: Schema.optionalKey(data),
    includes: Schema.optionalKey(Includes),
    errors: Schema.optionalKey(Schema.Array(Problem)),
    meta: Schema.optionalKey(Meta)
  })
}

/**
 * Reads a body: parses it, brings it into neutral names, and verifies every known field. The parsed object itself is
 * kept, so unknown fields survive. Headers may come as a function, which is called when one of them is asked for.
 */
export const decode = (
  definition: { readonly result: Result; readonly paging?: unknown },
  wire: WireNames.Wire,
  text: string,
  headers: Headers | (() => Headers)
): Response<unknown, unknown> | Undecodable => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return new Undecodable(text === "" ? "the body is empty" : "the body is not JSON")
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return new Undecodable("the body is not an object")
  }
  // Null is another way to write that there is none.
  if ("data" in parsed && parsed.data === null) delete parsed.data
  if (!("data" in parsed || hasErrors(parsed) || ("meta" in parsed && mayBeEmpty(definition)))) {
    return new Undecodable("the body has neither data nor errors")
  }
  const decoder = decoderOf(definition.result)
  const body = wire === "x" ? WireNames.problemToNeutral(decoder.toNeutral(parsed)) : parsed
  return decoder.is(body)
    ? new ResponseImpl(definition, body, headers)
    : new Undecodable(decoder.explain(body))
}

const hasErrors = (body: object): boolean => "errors" in body && Array.isArray(body.errors) && body.errors.length > 0

/** An empty page has nothing but `meta`; what is no page always has something to say. */
const mayBeEmpty = ({ paging, result }: { readonly result: Result; readonly paging?: unknown }): boolean =>
  result._tag === "Many" || paging !== undefined
