/** Requests about rules, and the result for each rule. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { CallOptions } from "../../../client/CallOptions.ts"
import type { Client } from "../../../client/Client.ts"
import { getStreamRuleCounts, getStreamRules, updateStreamRules } from "../../../operations/Rules.ts"
import type { Problem } from "../../../schema/models/Problem.ts"
import { StreamRule } from "../../../schema/models/StreamRule.ts"
import type { Rule, WantedRule } from "../options.ts"

type Call = Pick<CallOptions, "timeout" | "retries">

/** The number of rules in a request: few enough for the body limit of every access level. */
export const rulesAtOnce = 100

/** The result for one rule. */
export type Answer =
  /** `id` is `undefined` after a dry run. */
  | { readonly became: "added"; readonly id: string | undefined }
  /** A rule with this value exists. */
  | { readonly became: "present"; readonly id: string | undefined }
  /** There is no room for it. */
  | { readonly became: "full" }
  | { readonly became: "refused"; readonly detail: string }

const isRule = /*#__PURE__*/ Schema.is(StreamRule)

/** Reads the present rules. */
export const read = (call: Call) =>
  Effect.map(
    Stream.runCollect(getStreamRules.items({}, call)),
    (rules) =>
      rules.filter(isRule)
        .flatMap(({ id, tag, value }): Rule | [] => id === undefined ? [] : { id, value, ...tagOf(tag) })
  )

/** How many more rules the app may have, and the maximum; `undefined` if the service does not state it. */
export const room = (call: Call) =>
  getStreamRuleCounts({}, call).pipe(
    Effect.map(({ data }) => {
      if (data === undefined) return undefined
      const [cap, ofProject] = [Number(data.cap_per_client_app), Number(data.cap_per_project)]
      const left = Math.min(cap - data.client_app_rules_count.rule_count, ofProject - Number(data.project_rules_count))
      return Number.isNaN(left) ? undefined : { cap, left: Math.max(0, left) }
    }),
    // Not every access level has the counts. The service still refuses too many rules.
    Effect.catchTags({
      BadRequest: () => Effect.undefined,
      Forbidden: () => Effect.undefined,
      NotFound: () => Effect.undefined
    })
  )

/** Adds rules, or tests whether they could be added. Returns the result for each, in their order. */
export const add = (rules: ReadonlyArray<WantedRule>, dryRun: boolean, call: Call) =>
  updateStreamRules({
    add: rules.map(({ tag, value }) => ({ value, ...tagOf(tag) })),
    ...(dryRun ? { dry_run: true } : {})
  }, call).pipe(
    Effect.map(({ data = [], errors }) => answersOf(rules, data, errors)),
    Effect.catchTag("BadRequest", (error) =>
      // All rules were refused.
      error.problems.some(isOfRules) ? Effect.succeed(answersOf(rules, [], error.problems)) : Effect.fail(error))
  )

/** Deletes rules. Rules that no longer exist are skipped. */
export const remove = (
  ids: ReadonlyArray<string>,
  call: Call
): Effect.Effect<void, Effect.Error<ReturnType<typeof removed> | ReturnType<typeof read>>, Client> =>
  removed(ids, call).pipe(Effect.catchTag("BadRequest", (error) =>
    // The service refuses the whole request if one rule no longer exists, as when another run was faster.
    Effect.gen(function*() {
      const present = new Set((yield* read(call)).map(({ id }) => id))
      const left = ids.filter((id) => present.has(id))
      if (left.length === ids.length) return yield* error
      if (left.length > 0) return yield* remove(left, call)
    })))

const removed = (ids: ReadonlyArray<string>, call: Call) => Effect.asVoid(updateStreamRules({ delete_ids: ids }, call))

const answersOf = (
  rules: ReadonlyArray<WantedRule>,
  made: ReadonlyArray<{ readonly id?: string; readonly value: string }>,
  problems: ReadonlyArray<Problem>
): ReadonlyArray<Answer> => {
  const ids = new Map(made.map(({ id, value }) => [value, id]))
  const isFull = problems.some((problem) => isOf(problem, "rule-cap"))
  const said = saidIn(problems.filter((problem) => typeof problem.value !== "string"))
  return rules.map(({ value }): Answer => {
    if (ids.has(value)) return { became: "added", id: ids.get(value) }
    const own = problems.filter((problem) => problem.value === value)
    const duplicate = own.find((problem) => isOf(problem, "duplicate-rules") || isOf(problem, "duplicate-rule"))
    if (duplicate !== undefined) {
      const { id } = duplicate
      return { became: "present", id: typeof id === "string" ? id : undefined }
    }
    if (own.length === 0 ? isFull : own.every((problem) => isOf(problem, "rule-cap"))) return { became: "full" }
    return { became: "refused", detail: saidIn(own) || said || "The service does not say why" }
  })
}

const isOf = ({ title = "", type = "" }: Problem, kind: string): boolean =>
  type.endsWith(`/${kind}`) || title.replace(/[ -]/g, "").toLowerCase() === kind.replaceAll("-", "")

const isOfRules = (problem: Problem): boolean =>
  ["duplicate-rules", "duplicate-rule", "invalid-rules", "invalid-rule", "rule-cap", "noncompliant-rules"].some((
    kind
  ) => isOf(problem, kind))

const saidIn = (problems: ReadonlyArray<Problem>): string =>
  problems.map(({ detail, details, message, title }) =>
    Array.isArray(details) && details.length > 0 ? details.join("; ") : message ?? detail ?? title ?? ""
  ).filter((text) => text !== "").join("; ")

const tagOf = (tag: string | undefined) => tag === undefined ? {} : { tag }
