/** What changing the rules of the filtered stream can fail with besides the calls themselves; programs find it in `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** A rule that cannot be one, and why. */
export interface RefusedRule {
  /** Its place among those that were wished for, from 0. */
  readonly index: number
  readonly value: string
  readonly tag?: string | undefined
  /** What is wrong, and what is expected. */
  readonly detail: string
  /** Where the trouble starts, if that is known: UTF-16 units of the value before it. */
  readonly position?: number | undefined
  /** Where it ends. */
  readonly end?: number | undefined
}

/** Some rules cannot be rules of the filtered stream: the client or the service refuses them. None of the rules was changed. */
export class InvalidRules extends Data.TaggedError("InvalidRules")<{
  readonly operation: string
  /** All that are wrong, in their order. */
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

/** The app would have more rules than it may have. None of the rules was deleted. */
export class RuleCapReached extends Data.TaggedError("RuleCapReached")<{
  readonly operation: string
  /** How many rules the app would have. */
  readonly rules: number
  /** How many it may have, if the service tells. */
  readonly cap?: number | undefined
}> {
  override get message(): string {
    const most = this.cap === undefined ? "more than the app may have" : `and the app may have ${this.cap}`
    return `${this.operation}: there would be ${this.rules} rules, ${most}. Join some with OR, or leave some out.`
  }
}

/** What changing rules can fail with besides the calls themselves. */
export type RuleError = InvalidRules | RuleCapReached

brand([InvalidRules, RuleCapReached])
