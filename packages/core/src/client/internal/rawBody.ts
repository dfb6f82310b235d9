/** Decodes the response to a raw request: the envelope of the service or any other JSON, and its data with a schema. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { Meta } from "../../schema/models/Meta.ts"
import { Problem } from "../../schema/models/Problem.ts"
import type { Body } from "../../schema/Response.ts"
import * as Json from "../../wire/Json.ts"

/** Decodes data, or returns the reason for a failure. */
export type Decode = (data: unknown) => { readonly value: unknown } | string

/** The decoder of a schema; `undefined` if the value is not a schema. */
export const decoderOf = (schema: unknown): Decode | undefined => {
  if (schema === undefined) return (value) => ({ value })
  if (isOfEffect(schema)) {
    const decode = Schema.decodeUnknownResult(schema)
    return (data) => {
      const outcome = decode(data)
      return outcome._tag === "Success" ? { value: outcome.success } : outcome.failure.message
    }
  }
  return isStandard(schema) ? (data) => validated(schema["~standard"].validate(data)) : undefined
}

// The types refuse a schema that needs services.
const isOfEffect = (schema: unknown): schema is Schema.ConstraintDecoder<unknown> => Schema.isSchema(schema)

const isStandard = (schema: unknown): schema is StandardSchemaV1 => {
  // In some libraries schemas are functions.
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false
  const standard: unknown = Reflect.get(schema, "~standard")
  return Predicate.hasProperty(standard, "version") && standard.version === 1 &&
    Predicate.hasProperty(standard, "validate") && typeof standard.validate === "function"
}

const validated = (
  outcome: StandardSchemaV1.Result<unknown> | PromiseLike<unknown>
): { readonly value: unknown } | string => {
  if (Predicate.isPromiseLike(outcome)) {
    outcome.then(() => {}, () => {})
    return "the schema is asynchronous"
  }
  if (outcome.issues === undefined) return { value: outcome.value }
  return outcome.issues
    .map(({ message, path = [] }) => {
      const at = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".")
      return at === "" ? message : `${message} at ${at}`
    })
    .join("; ")
}

const isShaped = /*#__PURE__*/ Schema.is(
  /*#__PURE__*/ Schema.Struct({
    data: /*#__PURE__*/ Schema.optionalKey(Schema.Unknown),
    includes: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Record(
        Schema.String,
        /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Record(Schema.String, Schema.Unknown))
      )
    ),
    errors: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(Problem)),
    meta: /*#__PURE__*/ Schema.optionalKey(Meta)
  })
)

const parts = ["data", "includes", "errors", "meta"]

/** Tests whether a body has members of a response, all of their usual types. */
const isEnvelope = (body: unknown): body is Body =>
  Predicate.isObject(body) && parts.some((part) => Object.hasOwn(body, part)) && isShaped(body)

/** Decodes a body, or returns the reason for a failure. */
export const read = (text: string, decode: Decode): Body | string => {
  // A 204 has no body.
  if (text === "") return {}
  let parsed: unknown
  try {
    parsed = Json.parse(text)
  } catch (error) {
    return Json.reasonOf("body", error)
  }
  const body: Body = isEnvelope(parsed) ? parsed : { data: parsed }
  // Some responses have null for an absent value.
  if (body.data === undefined || body.data === null) {
    const { data: _, ...rest } = body
    return rest
  }
  try {
    const decoded = decode(body.data)
    return typeof decoded === "string" ? decoded : { ...body, data: decoded.value }
  } catch (error) {
    // Effect's decoders throw if they are asynchronous or need services.
    return `the schema failed to decode synchronously: ${String(error)}`
  }
}
