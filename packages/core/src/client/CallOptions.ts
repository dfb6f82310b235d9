/** The options of a single call. */
import * as Predicate from "effect/Predicate"
import * as Errors from "../errors/Errors.ts"
import * as Timeouts from "../http/Timeouts.ts"
import type { Definition } from "../schema/Definition.ts"
import type { Extras } from "../wire/ExtraParameters.ts"
import * as Retry from "./Retry.ts"

/** The options of a call, besides its parameters. */
export interface CallOptions extends Extras {
  /**
   * Timeouts in milliseconds, instead of those of the client. A number is the total: every attempt, the pauses between them and
   * the lookup of the user's id, but not the waiting for a rate limit.
   */
  readonly timeout?: number | Omit<Timeouts.Timeouts, "connect"> | undefined
  /**
   * The maximum number of retries, 0 to 10, instead of the client's `retries`. With 0 there is exactly one request, and one for
   * the lookup of the user's id if it is needed.
   */
  readonly retries?: number | undefined
}

/** The options of a raw request. */
export type RequestOptions = Pick<CallOptions, "timeout" | "retries">

/** The names of the options of a raw request. */
export const requestOptionNames: ReadonlyArray<string> = ["timeout", "retries"]

/** The names of the options of a call. */
export const optionNames: ReadonlyArray<string> = [...requestOptionNames, "extraQuery", "extraBody"]

/** Checks the options of a call: the error of the rule that they break, if any. */
export const checkOptions = (
  definition: Pick<Definition, "name">,
  options: CallOptions,
  names: ReadonlyArray<string> = optionNames
): Errors.InvalidParameters | undefined => {
  const invalid = (option: string, rule: string, value: unknown) =>
    Errors.invalidParameter(definition.name, option, rule, value)
  if (!Predicate.isObject(options)) return invalid("options", "must be an object", options)
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) return invalid(name, `is not an option of ${definition.name}`, undefined)
  }
  const { retries, timeout }: CallOptions = options
  if (retries !== undefined && !Retry.isRetries(retries)) return invalid("retries", Retry.rule, retries)
  return Timeouts.limitsOf(timeout) === undefined ? invalid("timeout", Timeouts.timeoutRule, timeout) : undefined
}
