/** Errors of changes to the rules of the filtered stream, beside those of the calls themselves; re-exported by `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** An invalid rule and the reason. */
export interface RefusedRule {
  /** Its index among the wanted rules, from 0. */
  readonly index: number
  readonly value: string
  readonly tag?: string | undefined
  /** The fault and the expectation. */
  readonly detail: string
  /** The start of the fault, if known, in UTF-16 units of the value. */
  readonly position?: number | undefined
  /** Its end. */
  readonly end?: number | undefined
}

/** Some rules are invalid for the filtered stream: the client or the service refuses them. No rule was changed. */
export class InvalidRules extends Data.TaggedError("InvalidRules")<{
  readonly operation: string
  /** All invalid rules, in their order. */
  readonly rules: ReadonlyArray<RefusedRule>
}> {
  override get message(): string {
    const [first] = this.rules
    if (first === undefined) return `${this.operation}: the service refuses the rules.`
    const { detail, index, position, tag, value } = first
    const others = this.rules.length - 1
    return `${this.operation}: rule ${index + 1}${tag === undefined ? "" : ` (${tag})`}${
      position === undefined ? "" : `, at character ${Array.from(value.slice(0, position)).length + 1}`
    }: ${detail.replace(/\.$/, "")}.${
      others === 0 ? "" : ` ${others === 1 ? "One other rule is" : `${others} other rules are`} wrong too.`
    }`
  }
}

/** The app would exceed its maximum number of rules. No rule was deleted. */
export class RuleCapReached extends Data.TaggedError("RuleCapReached")<{
  readonly operation: string
  /** How many rules the app would have. */
  readonly rules: number
  /** The maximum, if the service reports it. */
  readonly cap?: number | undefined
}> {
  override get message(): string {
    const most = this.cap === undefined ? "more than the app is allowed" : `and the app is allowed ${this.cap}`
    return `${this.operation}: there would be ${this.rules} rules, ${most}. Join some with OR, or omit some.`
  }
}

/** Errors of changes to rules, beside those of the calls themselves. */
export type RuleError = InvalidRules | RuleCapReached

brand([InvalidRules, RuleCapReached])
