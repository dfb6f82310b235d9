/** What a single call may be told besides its parameters. */
import * as Predicate from "effect/Predicate"
import * as Errors from "../errors/Errors.ts"
import * as Timeouts from "../http/Timeouts.ts"
import type { Definition } from "../schema/Definition.ts"
import type { Extras } from "../wire/ExtraParameters.ts"
import * as Retry from "./Retry.ts"

/** What a call of any operation takes besides its parameters. */
export interface CallOptions extends Extras {
  /**
   * Limits in milliseconds, instead of those of the client. A number is the total: every try and the pauses between them,
   * the lookup of the user's id included, but not what is waited for a rate limit.
   */
  readonly timeout?: number | Omit<Timeouts.Timeouts, "connect"> | undefined
  /**
   * How often a failed request is sent again, 0 to 10, instead of the client's `retries`. 0 is exactly one request, and one
   * for the lookup of the user's id where that is needed.
   */
  readonly retries?: number | undefined
}

/** What a request to any path takes besides itself. */
export type RequestOptions = Pick<CallOptions, "timeout" | "retries">

/** The names of what a request to any path takes besides itself. */
export const requestOptionNames: ReadonlyArray<string> = ["timeout", "retries"]

/** The names of what a call takes besides its parameters. */
export const optionNames: ReadonlyArray<string> = [...requestOptionNames, "extraQuery", "extraBody"]

/** Checks the options of a call: the rule that they break, or nothing. */
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
