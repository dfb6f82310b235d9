/**
 * The rules of the filtered stream become those that are wished for. Rules are the same where they mean the same, however they are
 * spelled, and have the same tag.
 */
import * as Effect from "effect/Effect"
import type { Client } from "../../client/Client.ts"
import { invalidParameter, type InvalidParameters } from "../../errors/Errors.ts"
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
 * Tells what it takes to make the rules of the filtered stream those that are wished for, and changes nothing. Reads the rules, and
 * asks the service whether it would take the new ones.
 *
 * ```ts
 * const { add, remove, retag, there } = yield* planRules([{ value: "cat has:images", tag: "cats" }])
 * ```
 */
export const planRules = (
  desired: Iterable<WantedRule>,
  options: PlanOptions = {}
): Effect.Effect<RulesPlan, RulesError, Client> =>
  Effect.map(RulePlan.make("planRules", desired, options), ({ plan }) => plan)

/**
 * Makes the rules of the filtered stream those that are wished for: adds what is missing, and then deletes what is not wished for.
 * Nothing is changed before the client and the service find all of it right. Safe to repeat, after an interruption too, and to run
 * in several processes that wish for the same.
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
    const invalid = checkOptions(options)
    if (invalid !== undefined) return yield* invalid
    const planned = yield* RulePlan.make(operation, desired, options)
    const refused = guard(planned.plan, options)
    if (refused !== undefined) return yield* refused
    return yield* RuleChanges.apply(planned, options)
  })

const operation = "syncRules"

const checkOptions = ({ onProgress, overlap }: SyncOptions): InvalidParameters | undefined => {
  if (overlap !== undefined && !(Number.isFinite(overlap) && overlap >= 0)) {
    return invalidParameter(operation, "overlap", "must be a number of milliseconds from 0", overlap)
  }
  return onProgress === undefined || typeof onProgress === "function"
    ? undefined
    : invalidParameter(operation, "onProgress", "must be a function", onProgress)
}

const guard = ({ add, remove, retag, there }: RulesPlan, { allowEmpty = false }: SyncOptions) =>
  allowEmpty || remove.length === 0 || add.length + retag.length + there.length > 0
    ? undefined
    : invalidParameter(
      operation,
      "desired",
      `must not be empty: all ${remove.length} rules would be deleted. With allowEmpty: true they are`,
      undefined
    )
