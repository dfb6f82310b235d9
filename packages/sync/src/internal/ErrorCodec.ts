/** How errors cross threads: encoded by the schema of all errors, no deeper than the stack of either thread can take. */
import { AnyError } from "@postwire/core/Errors"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"

/** How many causes of an error, and how many levels of a problem, are kept. A clone gives up at some thousands. */
const mostLevels = 100

const codec = /*#__PURE__*/ Schema.toCodecJson(AnyError)
const encodeSchema = /*#__PURE__*/ Schema.encodeUnknownSync(codec)
const isAnyError = /*#__PURE__*/ Schema.is(AnyError)

/** Encodes what an operation failed with, and nothing else. */
export const encode = (error: unknown): Option.Option<unknown> => {
  if (!isAnyError(error)) return Option.none()
  const fields: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(error)
  if ("cause" in error && error.cause !== undefined) fields["cause"] = { enumerable: true, value: causeOf(error.cause) }
  if ("problems" in error) fields["problems"] = { enumerable: true, value: cut(error.problems, mostLevels) }
  return Option.some(encodeSchema(Object.create(Object.getPrototypeOf(error), fields)))
}

/** The error that was encoded. */
export const decode: (encoded: unknown) => AnyError = /*#__PURE__*/ Schema.decodeUnknownSync(codec)

/** What came as JSON, down to a level. */
const cut = (value: unknown, levels: number): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (levels === 0) return "[nested too deeply]"
  return Array.isArray(value)
    ? value.map((member) => cut(member, levels - 1))
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, levels - 1)]))
}

/** The chain of causes, down to a level. A cause may be anything, lead back to itself, and throw when it is read. */
const causeOf = (cause: unknown, levels = mostLevels, above: ReadonlySet<unknown> = new Set()): unknown => {
  if (above.has(cause)) return "[circular]"
  if (levels === 0) return "[nested too deeply]"
  try {
    if (!(cause instanceof Error)) return typeof cause === "string" ? cause : inspect(cause)
    const copy = new Error(cause.message)
    copy.name = cause.name
    if (cause.cause !== undefined) copy.cause = causeOf(cause.cause, levels - 1, new Set(above).add(cause))
    return copy
  } catch {
    return "[unreadable]"
  }
}
