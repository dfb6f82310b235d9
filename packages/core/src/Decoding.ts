/** From a received body to a response: parsed, brought into neutral names, verified. */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { Includes } from "./models/Includes.ts"
import { Meta } from "./models/Meta.ts"
import { Problem } from "./models/Problem.ts"
import * as Response from "./Response.ts"
import type { Wire } from "./Wire.ts"

/** Why a body is not a response of the operation. */
export class Undecodable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

interface Decoder {
  is: (body: unknown) => body is Response.Body
  readonly explain: (body: unknown) => string
  readonly schema: Schema.Codec<Response.Body, unknown>
  used: number
}

const decoders = new WeakMap<Response.Result, Decoder>()

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

const decoderOf = (result: Response.Result): Decoder => {
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
export const envelope = (result: Response.Result): Schema.Codec<Response.Body, unknown> => {
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
 * kept, so unknown fields survive. Response.Headers may come as a function, which is called when one of them is asked for.
 */
export const decode = (
  definition: { readonly result: Response.Result; readonly paging?: unknown },
  wire: Wire,
  text: string,
  headers: Response.Headers | (() => Response.Headers)
): Response.Response<unknown, unknown> | Undecodable => {
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
  const body = wire.problemToNeutral(wire.toNeutral(decoder.schema)(parsed))
  return decoder.is(body)
    ? Response.make(definition, body, headers)
    : new Undecodable(decoder.explain(body))
}

const hasErrors = (body: object): boolean => "errors" in body && Array.isArray(body.errors) && body.errors.length > 0

/** An empty page has nothing but `meta`; what is no page always has something to say. */
const mayBeEmpty = ({ paging, result }: { readonly result: Response.Result; readonly paging?: unknown }): boolean =>
  result._tag === "Many" || paging !== undefined
