/** Plans changes of the rules of the filtered stream. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { invalidParameter } from "../../../errors/Errors.ts"
import { InvalidRules, type RefusedRule, RuleCapReached } from "../../../errors/StreamRuleErrors.ts"
import * as Query from "../../../query/Query.ts"
import type { PlanOptions, Rule, RulesPlan, WantedRule } from "../options.ts"
import * as RuleRequests from "./requests.ts"

type Call = Pick<PlanOptions, "timeout" | "retries">

/** A plan, with the data to carry it out. */
export interface Planned {
  readonly plan: RulesPlan
  readonly operation: string
  readonly wishes: ReadonlyArray<Wish>
  /** How many more rules the app may have. */
  readonly left: number
}

/** A desired rule. */
export interface Wish extends WantedRule {
  readonly index: number
  /** Equal for queries that match the same posts in other spellings. */
  readonly meaning: string
}

/** The normal form of a query. */
export const meaningOf = (value: string): string =>
  Result.match(Query.parse(value, { dialect: "rule" }), {
    onSuccess: ({ node }) => Query.meaningOf(node),
    onFailure: () => value.trim()
  })

/** Checks the desired rules, reads the present ones, and tests with the service whether it accepts the new ones. */
export const make = Effect.fnUntraced(
  function*(
    operation: string,
    desired: Iterable<WantedRule>,
    { check = true, keep = false, retries, timeout }: PlanOptions
  ) {
    const call = { retries, timeout }
    const wishes = yield* wishesOf(operation, desired, check)
    const current = yield* RuleRequests.read(call)
    const found = differencesOf(wishes, current)
    const [remove, kept] = keep ? [[], found.others] : [found.others, []]
    const rules = wishes.length + kept.length
    const news = found.missing.length + found.mistagged.length
    const room = news === 0 ? undefined : yield* RuleRequests.room(call)
    if (room !== undefined && rules > room.cap) return yield* new RuleCapReached({ operation, rules, cap: room.cap })
    const tried = yield* tryOut(operation, found, call, room === undefined ? rules : undefined)
    const plan: RulesPlan = {
      rules: current.length,
      cap: room?.cap,
      add: found.missing.map(plainOf),
      retag: found.mistagged.map(({ rule, spelling, ...wish }) => {
        const { tag, value } = plainOf(wish)
        const isCovered = spelling !== undefined && tried.has(wish.meaning)
        return { rule, tag, value: isCovered ? spelling : value, isCovered }
      }),
      remove,
      present: found.present,
      kept
    }
    const planned: Planned = { plan, operation, wishes, left: room?.left ?? Infinity }
    return planned
  }
)

const plainOf = ({ tag, value }: WantedRule): WantedRule => ({ value, ...(tag === undefined ? {} : { tag }) })

const wishesOf = Effect.fnUntraced(function*(operation: string, desired: Iterable<WantedRule>, check: boolean) {
  if (!Predicate.isIterable(desired)) {
    return yield* invalidParameter(operation, "desired", "must be an iterable of rules", desired)
  }
  const refused: Array<RefusedRule> = []
  const wishes = new Map<string, Wish>()
  let index = -1
  for (const wanted of desired) {
    index++
    const { tag, value } = wanted ?? {}
    if (typeof value !== "string" || tag !== undefined && typeof tag !== "string") {
      const rule = "must be a rule: an object with a value and optionally a tag, both strings"
      return yield* invalidParameter(operation, `desired[${index}]`, rule, wanted)
    }
    const refuse = (detail: string, span: { readonly position?: number; readonly end?: number } = {}) =>
      refused.push({ index, value, ...(tag === undefined ? {} : { tag }), detail, ...span })
    const read = check ? Query.check(value, { dialect: "rule" }) : undefined
    if (read !== undefined && Result.isFailure(read)) {
      const { end, message, position } = read.failure
      refuse(message, { position, end })
      continue
    }
    const meaning = meaningOf(value)
    const same = wishes.get(meaning)
    if (same === undefined) wishes.set(meaning, { index, value, tag, meaning })
    else if (same.tag !== tag) refuse(`It means the same as rule ${same.index + 1}, which has another tag`)
  }
  if (refused.length > 0) return yield* new InvalidRules({ operation, rules: refused })
  return [...wishes.values()]
})

/** A desired rule that is present with another tag, and a spelling of its query that no rule has. */
interface Mistagged extends Wish {
  readonly rule: Rule
  readonly spelling: string | undefined
}

interface Differences {
  readonly present: ReadonlyArray<Rule>
  readonly missing: ReadonlyArray<Wish>
  readonly mistagged: ReadonlyArray<Mistagged>
  readonly others: ReadonlyArray<Rule>
}

const differencesOf = (wishes: ReadonlyArray<Wish>, current: ReadonlyArray<Rule>): Differences => {
  const byMeaning = Map.groupBy(current, ({ value }) => meaningOf(value))
  const values = new Set(current.map(({ value }) => value))
  const present: Array<Rule> = []
  const missing: Array<Wish> = []
  const mistagged: Array<Mistagged> = []
  const used = new Set<Rule>()
  for (const wish of wishes) {
    const { meaning, tag, value } = wish
    const same = byMeaning.get(meaning) ?? []
    const right = same.filter((rule) => rule.tag === tag)
    const rule = right.find((rule) => rule.value === value) ?? right[0] ?? same[0]
    if (rule === undefined) {
      missing.push(wish)
      continue
    }
    used.add(rule)
    if (rule.tag === tag) present.push(rule)
    else {
      mistagged.push({
        ...wish,
        rule,
        spelling: [value, `(${value})`, `((${value}))`].find((spelling) => !values.has(spelling))
      })
    }
  }
  return { present, missing, mistagged, others: current.filter((rule) => !used.has(rule)) }
}

/** Returns the meanings of new rules that the service accepts. Fails if it refuses one in the caller's own spelling. */
const tryOut = Effect.fnUntraced(
  function*(operation: string, { missing, mistagged }: Differences, call: Call, unknownCap: number | undefined) {
    const taken = new Set<string>()
    const refused: Array<RefusedRule> = []
    const sent = [
      ...missing.map((wish) => ({ wish, value: wish.value, rule: undefined })),
      ...mistagged.flatMap(({ rule, spelling, ...wish }) =>
        spelling === undefined ? [] : [{ wish, value: spelling, rule }]
      )
    ]
    for (let at = 0; at < sent.length; at += RuleRequests.rulesAtOnce) {
      const some = sent.slice(at, at + RuleRequests.rulesAtOnce)
      const rules = some.map(({ value, wish }) => ({ ...wish, value }))
      const answers = yield* RuleRequests.add(rules, true, call)
      for (const [i, { rule, wish }] of some.entries()) {
        const answer = answers[i]
        if (answer === undefined || answer.became === "full" && unknownCap !== undefined) {
          return yield* new RuleCapReached({ operation, rules: unknownCap ?? rules.length })
        }
        if (answer.became === "refused") {
          if (rule === undefined) refused.push({ ...plainOf(wish), index: wish.index, detail: answer.detail })
        } else if (answer.became !== "present" || rule === undefined || answer.id !== rule.id) {
          taken.add(wish.meaning)
        }
      }
    }
    if (refused.length > 0) return yield* new InvalidRules({ operation, rules: refused })
    return taken
  }
)
