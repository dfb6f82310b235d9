/** Decodes a received body into a response: parses it, translates its names, verifies it, and repairs it if that is worthwhile. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Verify } from "../schema/Anomaly.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Model from "../schema/Model.ts"
import { Includes } from "../schema/models/Includes.ts"
import { Meta } from "../schema/models/Meta.ts"
import { Problem } from "../schema/models/Problem.ts"
import * as Response from "../schema/Response.ts"
import type * as StreamItem from "../schema/StreamItem.ts"
import * as Json from "./Json.ts"
import * as Repair from "./Repair.ts"
import * as TextNumbers from "./TextNumbers.ts"
import type { Wire } from "./Wire.ts"

/** Why a body is not a response of the operation. */
export class Undecodable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** The parts of a declaration that decoding needs. */
interface Read {
  readonly result: Response.Result | Response.Received
  readonly paging?: unknown
}

interface Decoder {
  is: (body: unknown) => body is Response.Body
  /** Made for the first body that does not match the schema. */
  repair: ReturnType<typeof Repair.make> | undefined
  readonly schema: Schema.Codec<Response.Body, unknown>
  /** Converts numbers that come as text in `data`, if its schema has any. */
  readonly toNumbers: ReturnType<typeof TextNumbers.reader>
  used: number
}

const decoders = new WeakMap<Response.Result, Decoder>()

let compile: ((ast: SchemaAST.AST) => void) | undefined

/**
 * Sets the compiler of verifiers, `enable` of `effect/schema/SchemaJITCompiler`. The clients for Node do so. It is a
 * tenth of a bundle, so without it verifiers are interpreted.
 */
export const compileWith = (enable: (ast: SchemaAST.AST) => void): void => {
  compile = enable
}

/** Compiling a verifier takes milliseconds and saves a fraction of one per page: worthwhile for a long-running client. */
const usesBeforeCompiling = 20

const decoderOf = (result: Response.Result): Decoder => {
  let decoder = decoders.get(result)
  if (decoder === undefined) {
    const schema = envelope(result)
    decoder = {
      schema,
      is: Schema.is(schema),
      repair: undefined,
      toNumbers: TextNumbers.reader(dataOf(result)),
      used: 0
    }
    decoders.set(result, decoder)
  }
  decoder.used++
  if (decoder.used === usesBeforeCompiling && compile !== undefined) decoder.is = verifierOf(decoder.schema)
  return decoder
}

/** The verifier of a schema, compiled if there is a compiler. */
export const verifierOf = <A>(schema: Schema.Codec<A, unknown>): (value: unknown) => value is A => {
  compile?.(schema.ast)
  return Schema.is(schema)
}

/** The schema of the whole body of a result, in neutral names. */
export const envelope = (result: Response.Result): Schema.Codec<Response.Body, unknown> =>
  Model.essential(
    Schema.Struct({
      data: Schema.optionalKey(dataOf(result)),
      includes: Schema.optionalKey(Includes),
      errors: Schema.optionalKey(Schema.Array(Problem)),
      meta: Schema.optionalKey(Meta)
    }),
    "data",
    "includes",
    "errors",
    "meta"
  )

const MatchingRule = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    id: Schema.String,
    tag: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    embedding_similarity: /*#__PURE__*/ Schema.optionalKey(Schema.Finite),
    embedding_threshold: /*#__PURE__*/ Schema.optionalKey(Schema.Finite)
  }),
  "id"
)

/** The schema of a line of a stream with a result, in neutral names. */
export const lineOf = (result: Response.Result): Schema.Codec<StreamItem.Body, unknown> =>
  Model.essential(
    Schema.Struct({
      data: dataOf(result),
      includes: Schema.optionalKey(Includes),
      errors: Schema.optionalKey(Schema.Array(Problem)),
      matching_rules: Schema.optionalKey(Schema.Array(MatchingRule))
    }),
    "data",
    "includes",
    "errors",
    "matching_rules"
  )

/** The schema of an operation's response: of the whole body or, for a stream, of each line. */
export const answerOf = (
  { live, result }: Pick<Definition, "live" | "result">
): Schema.Codec<Response.Body, unknown> | Schema.Codec<StreamItem.Body, unknown> =>
  live === undefined ? envelope(result) : lineOf(result)

/** The schema of a result's `data`. */
export const dataOf = (result: Response.Result): Schema.Codec<unknown> =>
  result._tag === "Bytes" || result._tag === "Document"
    ? Model.Json
    : result._tag === "Value"
    ? whole(result.schema)
    : result._tag === "One"
    ? result.model.schema
    : Model.essential(Schema.Array(result.model.schema), "items")

/** A result that is not a resource must be complete, unless its schema names the essential members. */
const whole = (schema: Schema.Codec<unknown>): Schema.Codec<unknown> =>
  SchemaAST.isObjects(schema.ast) && Model.essentialOf(schema.ast).length === 0
    ? Model.essential(
      schema,
      ...schema.ast.propertySignatures.flatMap(({ name, type }) => SchemaAST.isOptional(type) ? [] : [String(name)])
    )
    : schema

/**
 * Decodes a body: parses it, translates it to neutral names, and verifies every known field. The parsed object itself is kept,
 * so that unknown fields survive. Parts that do not match the schema are omitted and listed in `anomalies`, which may hold
 * credentials until they pass `CallErrors.redactResponse`; with `strict` they make the body undecodable.
 *
 * Headers may be passed as a function, which is called when one of them is read. `parse` replaces `Json.parse`.
 */
export const decode = (
  definition: Read,
  wire: Wire,
  text: string,
  headers: Response.Headers | (() => Response.Headers),
  verify: Verify = "lenient",
  parse: (text: string) => unknown = Json.parse
): Response.Response<unknown, unknown> | Undecodable => {
  if (definition.result._tag === "Received") {
    const read = definition.result.read(text)
    return typeof read === "string" ? new Undecodable(read) : Response.make(definition, read, headers)
  }
  let parsed: unknown
  try {
    parsed = parse(text)
  } catch (error) {
    return new Undecodable(text === "" ? "the body is empty" : Json.reasonOf("body", error))
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return new Undecodable("the body is not an object")
  }
  if (definition.result._tag === "Document") return Response.make(definition, { data: parsed }, headers)
  // Some responses have null for an absent value.
  if ("data" in parsed && parsed.data === null) delete parsed.data
  if (!isAnswer(definition, parsed)) return noAnswer
  const decoder = decoderOf(definition.result)
  if ("model" in definition.result && definition.result.model.gathered !== undefined && "data" in parsed) {
    for (const item of Array.isArray(parsed.data) ? parsed.data : [parsed.data]) {
      gather(item, definition.result.model.gathered)
    }
  }
  if (definition.result._tag === "Value") definition.result.normalise?.(parsed)
  if ("data" in parsed) decoder.toNumbers?.(parsed.data)
  // Broadcasts may have a foreign name that the search in the text does not find.
  const body = decoder.toNumbers !== undefined || wire.isForeign(text)
    ? wire.problemToNeutral(wire.toNeutral(decoder.schema)(parsed))
    : parsed
  return decoder.is(body)
    ? Response.make(definition, body, headers)
    : repaired(definition, decoder, body, headers, verify)
}

/** Decodes a response of bytes. An empty body, or a document instead of a file, is not one. */
export const decodeBytes = (
  definition: Read,
  bytes: Uint8Array,
  headers: Response.Headers
): Response.Response<unknown, unknown> | Undecodable =>
  bytes.length === 0
    ? new Undecodable("the body is empty")
    : /^(text\/|application\/(.*\+)?(json|xml)\b)/i.test(headers["content-type"] ?? "")
    ? new Undecodable("the body is a document, and not a file")
    : Response.make(definition, { data: bytes }, headers)

/** Moves members that are beside their field into it, unless the field already has one of that name. */
export const gather = (item: unknown, gathered: Model.Gathered): void => {
  if (!Predicate.isObject(item)) return
  for (const [field, members] of Object.entries(gathered)) {
    for (const member of members) {
      if (!Object.hasOwn(item, member)) continue
      const into = item[field] ??= {}
      if (!Predicate.isObject(into) || Object.hasOwn(into, member)) continue
      into[member] = item[member]
      delete item[member]
    }
  }
}

const repaired = (
  definition: Read,
  decoder: Decoder,
  body: unknown,
  headers: Response.Headers | (() => Response.Headers),
  verify: Verify
): Response.Response<unknown, unknown> | Undecodable => {
  const outcome = (decoder.repair ??= Repair.make(decoder.schema))(body)
  const { found, last } = outcome
  if (!isLeft(body, outcome, decoder) || (verify === "strict" && found.length > 0)) {
    const first = verify === "strict" ? found[0] : last
    return new Undecodable(
      first === undefined ? "the body does not match the schema" : `${first.path} is not ${first.expected}`
    )
  }
  return isAnswer(definition, body) ? Response.make(definition, body, headers, found) : noAnswer
}

/** Nothing to omit means that the body is valid, or that it cannot be repaired. */
const isLeft = (body: unknown, { found, isAnswer }: Repair.Repaired, { is }: Decoder): body is Response.Body =>
  isAnswer && (found.length > 0 || is(body))

const noAnswer = new Undecodable("the body has neither data nor errors")

const isAnswer = (definition: Read, body: object): boolean =>
  "data" in body || hasErrors(body) || ("meta" in body && mayBeEmpty(definition))

const hasErrors = (body: object): boolean => "errors" in body && Array.isArray(body.errors) && body.errors.length > 0

/** An empty page and an empty list have nothing but `meta`; any other response has data or errors. */
const mayBeEmpty = ({ paging, result }: Read): boolean =>
  result._tag === "Many" || paging !== undefined || result._tag === "Value" && result.schema.ast._tag === "Arrays"
