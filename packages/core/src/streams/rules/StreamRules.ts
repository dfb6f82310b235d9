/**
 * Synchronizes the rules of the filtered stream with a list of desired rules. Two rules are equal if their tags are equal and their
 * queries mean the same, in any spelling.
 */
import * as Effect from "effect/Effect"
import type { Client } from "../../client/Client.ts"
import * as OptionRules from "../../client/OptionRules.ts"
import { invalidParameter } from "../../errors/Errors.ts"
import * as RuleChanges from "./internal/apply.ts"
import * as RulePlan from "./internal/plan.ts"
import type { PlanOptions, RulesError, RulesPlan, SyncedRules, SyncOptions, WantedRule } from "./options.ts"

export type {
  PlanOptions,
  Progress,
  Retagging,
  Rule,
  RulesError,
  RulesPlan,
  SyncedRules,
  SyncOptions,
  WantedRule
} from "./options.ts"

/**
 * Plans the changes that lead to the desired rules, without making them. Reads the present rules, and tests whether the service
 * accepts the new ones.
 *
 * ```ts
 * const { add, remove, retag, present } = yield* planRules([{ value: "cat has:images", tag: "cats" }])
 * ```
 */
export const planRules = (
  desired: Iterable<WantedRule>,
  options: PlanOptions = {}
): Effect.Effect<RulesPlan, RulesError, Client> =>
  Effect.map(RulePlan.make("planRules", desired, options), ({ plan }) => plan)

/**
 * Makes the desired rules the rules of the filtered stream: adds those that are missing, then deletes those that are not desired.
 * Nothing is changed before the client and the service have checked all rules. Safe to repeat, also after an interruption, and safe
 * to run in several processes with the same desired rules.
 *
 * ```ts
 * const { added, removed } = yield* syncRules([{ value: "cat has:images -is:repost", tag: "cats" }])
 * ```
 */
export const syncRules = (
  desired: Iterable<WantedRule>,
  options: SyncOptions = {}
): Effect.Effect<SyncedRules, RulesError, Client> =>
  Effect.gen(function*() {
    const invalid = OptionRules.check<SyncOptions>(operation, options, optionRules)
    if (invalid !== undefined) return yield* invalid
    const planned = yield* RulePlan.make(operation, desired, options)
    const refused = guard(planned.plan, options)
    if (refused !== undefined) return yield* refused
    return yield* RuleChanges.apply(planned, options)
  })

const operation = "syncRules"

const [isMillis, millis] = OptionRules.millis

const optionRules = {
  overlap: [(value: unknown) => isMillis(value) && value !== Infinity, millis],
  onProgress: OptionRules.callback
} as const

const guard = ({ add, remove, retag, present }: RulesPlan, { allowEmpty = false }: SyncOptions) =>
  allowEmpty || remove.length === 0 || add.length + retag.length + present.length > 0
    ? undefined
    : invalidParameter(
      operation,
      "desired",
      `must not be empty: all ${remove.length} rules would be deleted. Set allowEmpty: true to delete them`,
      undefined
    )
