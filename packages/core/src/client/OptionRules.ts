/** Rules of options: each is a test of a value, and the words of its error. */
import * as Predicate from "effect/Predicate"
import { invalidParameter, type InvalidParameters } from "../errors/Errors.ts"

/** The rule of an option. */
export type OptionRule = readonly [isKept: (value: unknown) => boolean, rule: string]

export const callback: OptionRule = [Predicate.isFunction, "must be a function"]

export const flag: OptionRule = [Predicate.isBoolean, "must be true or false"]

/** A number of milliseconds, which may be infinite. */
export const millis: OptionRule = [
  (value) => Predicate.isNumber(value) && value >= 0,
  "must be a number of milliseconds from 0"
]

/** A whole number in a range. */
export const whole = (least: 0 | 1, unit = "", most = Infinity): OptionRule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  `must be a whole number${unit} ${most < Infinity ? `from ${least} to ${most}` : least === 0 ? "from 0" : "above 0"}`
]

/** One of two texts. */
export const either = (one: string, other: string): OptionRule => [
  (value) => value === one || value === other,
  `must be ${one} or ${other}`
]

/** The rules of options by their names. */
type Rules<O> = { readonly [K in keyof O]?: OptionRule }

/** The first given option that breaks its rule, with the rule and the value. */
export const broken = <O extends object>(
  options: O,
  rules: Rules<O>
): readonly [option: string, rule: string, value: unknown] | undefined => {
  for (const option of Object.keys(rules) as Array<keyof O & string>) {
    const { [option]: value } = options
    const [isKept, rule] = rules[option]!
    if (value !== undefined && !isKept(value)) return [option, rule, value]
  }
  return undefined
}

/** The error of the first given option that breaks its rule. */
export const check = <O extends object>(
  operation: string,
  options: O,
  rules: Rules<O>
): InvalidParameters | undefined => {
  const first = broken(options, rules)
  return first && invalidParameter(operation, ...first)
}
