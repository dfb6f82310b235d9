/** What changing the rules of the filtered stream takes, tells, gives and fails with. */
import type { CallOptions } from "../../client/CallOptions.ts"
import type { AnyError } from "../../errors/Errors.ts"
import type { RuleError } from "../../errors/StreamRuleErrors.ts"

/** A rule that is wished for: what posts it lets through, and what their receiver calls it. */
export interface WantedRule {
  readonly value: string
  readonly tag?: string | undefined
}

/** A rule of the service. */
export interface Rule extends WantedRule {
  readonly id: string
}

/** What is planned of rules may be told. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Rules that are not wished for stay. Default false: they are deleted. */
  readonly keep?: boolean | undefined
  /**
   * Whether rules are read here, so that a mistake is told with its place. Default true. With false the service alone decides, which
   * may know operators that are unknown here.
   */
  readonly check?: boolean | undefined
}

/** What changing rules may be told. */
export interface SyncOptions extends PlanOptions {
  /** Whether a wish for no rules at all deletes all. Default false: it is refused. */
  readonly allowEmpty?: boolean | undefined
  /**
   * How long new rules have before old ones are deleted, in milliseconds. Default 20,000: so long the service may take until a
   * stream follows, and what old and new rules have in common would be missed meanwhile.
   */
  readonly overlap?: number | undefined
  /** Called with every step. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** How it goes on. */
export type Progress =
  | { readonly step: "added" | "deleted"; readonly rules: ReadonlyArray<Rule> }
  /** New rules have this long, in milliseconds, before old ones are deleted. */
  | { readonly step: "waiting"; readonly duration: number }

/** A rule whose tag is to change. The service has no such change: a rule with the new tag takes its place. */
export interface Retagging {
  /** As it is. */
  readonly rule: Rule
  /** As it will be. */
  readonly tag: string | undefined
  /**
   * How the new rule is spelled. The service refuses a second rule with the same value, so it is one that means the same, such as the
   * old one in parentheses: it is added before the old one is deleted. Where the service refuses that too it is the value itself,
   * and the stream misses posts from the deletion until the new rule is in effect.
   */
  readonly value: string
  /** Whether the new one is there before the old one goes. */
  readonly isCovered: boolean
}

/** What it takes to make the rules those that are wished for. */
export interface RulesPlan {
  /** How many rules there are. */
  readonly rules: number
  /** How many there may be, if the service tells. */
  readonly cap?: number | undefined
  readonly add: ReadonlyArray<WantedRule>
  readonly retag: ReadonlyArray<Retagging>
  readonly remove: ReadonlyArray<Rule>
  /** Rules that are wished for. */
  readonly there: ReadonlyArray<Rule>
  /** Rules that are not, and stay. */
  readonly kept: ReadonlyArray<Rule>
}

/** What has become of the rules. */
export interface SyncedRules {
  /** Those that were wished for, in their order. */
  readonly rules: ReadonlyArray<Rule>
  /** Those of them that are new, with those whose tag changed. */
  readonly added: ReadonlyArray<Rule>
  readonly removed: ReadonlyArray<Rule>
  readonly kept: ReadonlyArray<Rule>
  /** Those whose place nothing took for a moment: posts that only they match may have been missed. */
  readonly uncovered: ReadonlyArray<Rule>
}

/** What it can fail with. Whatever it is, the same call goes on. */
export type RulesError = AnyError | RuleError
