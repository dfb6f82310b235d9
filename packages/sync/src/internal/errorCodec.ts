/** Encodes errors to cross threads, no deeper than the stack of either thread allows. */
import { type AnyError, isAnyError } from "@postwire/core/errors/Errors"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import * as ErrorSchemas from "./errorSchemas.ts"

/** The most causes of an error and levels of a problem that are kept. A structured clone fails at some thousands. */
const maxLevels = 100

const Composed = /*#__PURE__*/ Schema.Union([
  ErrorSchemas.PublishingError,
  ErrorSchemas.ComplianceError,
  ErrorSchemas.StreamError,
  ErrorSchemas.RuleError
])

/** An error of a single call or of many calls. */
export type Encodable = AnyError | typeof Composed.Type

const codec = /*#__PURE__*/ Schema.toCodecJson(/*#__PURE__*/ Schema.Union([ErrorSchemas.AnyError, Composed]))
const isComposed = /*#__PURE__*/ Schema.is(Composed)
const encodeSchema = /*#__PURE__*/ Schema.encodeUnknownSync(codec)
const decodeSchema: (encoded: unknown) => Encodable = /*#__PURE__*/ Schema.decodeUnknownSync(codec)

/** An error and its cause, which is encoded separately: the schema keeps neither error codes nor circular chains. */
export interface Encoded {
  readonly error: unknown
  readonly cause: EncodedCause | undefined
}

/** A cause; a string if it is not an Error. */
type EncodedCause = string | {
  readonly name: string
  readonly message: string
  /** A code of Node or Undici, such as `ECONNREFUSED`. */
  readonly code: string | undefined
  readonly cause: EncodedCause | undefined
}

/** Encodes an error of a call, and no other value. */
export const encode = (error: unknown): Option.Option<Encoded> => {
  if (!isAnyError(error) && !isComposed(error)) return Option.none()
  const { cause, ...fields }: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(error)
  if ("problems" in error) fields["problems"] = { enumerable: true, value: cut(error.problems, maxLevels) }
  return Option.some({
    error: encodeSchema(Object.create(Object.getPrototypeOf(error), fields)),
    cause: cause?.value === undefined ? undefined : encodeCause(cause.value)
  })
}

/** The error that was encoded. */
export const decode = ({ cause, error }: Encoded): Encodable => {
  const decoded = decodeSchema(error)
  if (cause !== undefined) hide(decoded, "cause", decodeCause(cause))
  return decoded
}

/** Cuts JSON off below a depth. */
const cut = (value: unknown, levels: number): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (levels === 0) return "[nested too deeply]"
  return Array.isArray(value)
    ? value.map((member) => cut(member, levels - 1))
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, levels - 1)]))
}

/** Encodes the chain of causes down to a depth. A cause can be any value, circular, and throw when it is read. */
const encodeCause = (cause: unknown, levels = maxLevels, above: ReadonlySet<unknown> = new Set()): EncodedCause => {
  if (above.has(cause)) return "[circular]"
  if (levels === 0) return "[nested too deeply]"
  try {
    if (!(cause instanceof Error)) return typeof cause === "string" ? cause : inspect(cause)
    return {
      name: `${cause.name}`,
      message: `${cause.message}`,
      code: "code" in cause && typeof cause.code === "string" ? cause.code : undefined,
      cause: cause.cause === undefined ? undefined : encodeCause(cause.cause, levels - 1, new Set(above).add(cause))
    }
  } catch {
    return "[unreadable]"
  }
}

const decodeCause = (encoded: EncodedCause): unknown => {
  if (typeof encoded === "string") return encoded
  const { cause, code, message, name } = encoded
  const error = new Error(message)
  if (name !== error.name) hide(error, "name", name)
  if (code !== undefined) Object.assign(error, { code })
  if (cause !== undefined) hide(error, "cause", decodeCause(cause))
  return error
}

/** Defines a property that is not enumerable, as the constructors of errors do. */
const hide = (error: Error, name: "cause" | "name", value: unknown): void => {
  Object.defineProperty(error, name, { value, writable: true, configurable: true })
}
