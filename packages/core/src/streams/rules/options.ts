/** Options, progress, results and errors of changing the rules of the filtered stream. */
import type { CallOptions } from "../../client/CallOptions.ts"
import type { AnyError } from "../../errors/Errors.ts"
import type { RuleError } from "../../errors/StreamRuleErrors.ts"

/** A desired rule: the query that posts have to match, and a tag that is delivered with them. */
export interface WantedRule {
  readonly value: string
  readonly tag?: string | undefined
}

/** A rule of the service. */
export interface Rule extends WantedRule {
  readonly id: string
}

/** Options of a plan. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Keeps rules that are not desired. Default false: they are deleted. */
  readonly keep?: boolean | undefined
  /**
   * Whether to check rules locally, which reports the position of each error. Default true. With false only the service checks
   * them, which may know operators that this version does not.
   */
  readonly check?: boolean | undefined
}

/** Options of a synchronization. */
export interface SyncOptions extends PlanOptions {
  /** Deletes all rules if the list of desired rules is empty. Default false: an empty list is refused. */
  readonly allowEmpty?: boolean | undefined
  /**
   * Milliseconds between adding new rules and deleting old ones. Default 20,000: the service may take this long until a stream
   * follows a change, and posts that match old and new rules would be missed meanwhile.
   */
  readonly overlap?: number | undefined
  /** Called with each step. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** A step of a synchronization. */
export type Progress =
  | { readonly step: "added" | "deleted"; readonly rules: ReadonlyArray<Rule> }
  /** A pause before old rules are deleted, in milliseconds. */
  | { readonly step: "waiting"; readonly duration: number }

/** A change of a rule's tag. The service cannot change tags, so a rule with the new tag replaces the old one. */
export interface Retagging {
  /** The present rule. */
  readonly rule: Rule
  /** The new tag. */
  readonly tag: string | undefined
  /**
   * The query of the new rule. The service refuses two rules with the same query, so this one is spelled differently, such as in
   * parentheses, and added before the old one is deleted. If the service refuses that too, it is the original query, and the stream
   * misses posts from the deletion until the new rule is active.
   */
  readonly value: string
  /** True if the new rule is added before the old one is deleted. */
  readonly isCovered: boolean
}

/** The changes that lead to the desired rules. */
export interface RulesPlan {
  /** The number of present rules. */
  readonly rules: number
  /** The maximum number of rules, if the service states it. */
  readonly cap?: number | undefined
  readonly add: ReadonlyArray<WantedRule>
  readonly retag: ReadonlyArray<Retagging>
  readonly remove: ReadonlyArray<Rule>
  /** Desired rules that are present. */
  readonly present: ReadonlyArray<Rule>
  /** Present rules that are not desired and stay. */
  readonly kept: ReadonlyArray<Rule>
}

/** The result of a synchronization. */
export interface SyncedRules {
  /** The desired rules, in their order. */
  readonly rules: ReadonlyArray<Rule>
  /** Desired rules that were added, also because their tags changed. */
  readonly added: ReadonlyArray<Rule>
  readonly removed: ReadonlyArray<Rule>
  readonly kept: ReadonlyArray<Rule>
  /** Rules that were deleted before their successors were added: posts that match only these may have been missed. */
  readonly uncovered: ReadonlyArray<Rule>
}

/** The errors of a synchronization. After any of them, the same call continues the work. */
export type RulesError = AnyError | RuleError
