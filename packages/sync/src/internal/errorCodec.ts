/** Encodes errors to cross threads, no deeper than the stack of either thread allows. */
import * as Errors from "@postwire/core/errors/Errors"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { inspect } from "node:util"

/** The most causes of an error and levels of a problem that are kept. A structured clone fails at some thousands. */
const maxLevels = 100

/** Any error of this library. */
export type Encodable = InstanceType<
  Extract<typeof Errors[keyof typeof Errors], abstract new(...args: never) => { readonly _tag: string }>
>

const classes: Pick<typeof Errors, Encodable["_tag"]> = Errors

/** An error: its fields, and its cause, which may be any value. */
export interface Encoded {
  readonly tag: Encodable["_tag"]
  readonly fields: object
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

const isEncodable = (error: unknown): error is Encodable =>
  error instanceof Error && Predicate.hasProperty(error, "_tag") &&
  Predicate.hasProperty(classes, String(error._tag)) &&
  error instanceof classes[error._tag as Encodable["_tag"]]

/** Encodes an error of this library, and no other value. */
export const encode = (error: unknown): Option.Option<Encoded> => {
  if (!isEncodable(error)) return Option.none()
  const { _tag: tag, cause, ...fields }: Pick<Encodable, "_tag" | "cause"> = error
  if ("problems" in fields) fields.problems = cut(fields.problems, maxLevels)
  return Option.some({ tag, fields, cause: cause === undefined ? undefined : encodeCause(cause) })
}

/** The error that was encoded. */
export const decode = ({ cause, fields, tag }: Encoded): Encodable => {
  const decoded: Encodable = Reflect.construct(classes[tag], [fields])
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
