/** Changes rules of the filtered stream as planned: in pieces, new ones before old ones as far as there is room. */
import * as Effect from "effect/Effect"
import { InvalidRules, type RefusedRule, RuleCapReached } from "../../../errors/StreamRuleErrors.ts"
import type { Progress, Retagging, Rule, SyncedRules, SyncOptions, WantedRule } from "../options.ts"
import { meaningOf, type Planned } from "./plan.ts"
import * as RuleRequests from "./requests.ts"

/** So long the service takes at most until a stream follows, in milliseconds. */
const settling = 20_000

/** So often new rules wait for old ones to go, where there is no room for all at once. */
const mostRounds = 10

/** So often it is waited for what another run has put in for a while, and takes out again. */
const mostPauses = 6

/** A rule to add, and the one that goes once it is there. */
interface Addition extends WantedRule {
  readonly instead?: Rule | undefined
}

/** Carries a plan out. */
export const apply = Effect.fnUntraced(
  function*(
    { left, operation, plan, wishes }: Planned,
    { onProgress, overlap = settling, retries, timeout }: SyncOptions
  ) {
    const call = { retries, timeout }
    const tell = (progress: Progress) => Effect.ignore(Effect.try(() => onProgress?.(progress)))
    const wishOf = new Map(wishes.map((wish) => [wish.meaning, wish]))
    const added: Array<Rule> = []
    const removed: Array<Rule> = []
    const uncovered: Array<Rule> = []
    const old = [...plan.remove]
    let waiting: ReadonlyArray<Addition> = [
      ...plan.retag.filter(({ isCovered }) => isCovered).map(additionOf),
      ...plan.add
    ]
    let room = left
    // What a run that was interrupted, or that goes on beside this one, has put in the place of an old rule may be new.
    let isFresh = old.some(({ value }) => wishOf.has(meaningOf(value)))
    let isShared = false
    let pauses = mostPauses

    const add = Effect.fnUntraced(function*(rules: ReadonlyArray<Addition>) {
      const answers = yield* RuleRequests.add(rules, false, call)
      const refused: Array<RefusedRule> = []
      const made: Array<Rule> = []
      const full: Array<Addition> = []
      for (const [i, { instead, ...rule }] of rules.entries()) {
        const answer = answers[i] ?? { became: "full" }
        if (answer.became === "full") full.push({ ...rule, instead })
        else if (answer.became === "refused") {
          refused.push({ ...rule, index: wishOf.get(meaningOf(rule.value))?.index ?? 0, detail: answer.detail })
        } else {
          if (answer.became === "added" && answer.id !== undefined) made.push({ id: answer.id, ...rule })
          else isShared = true
          if (instead !== undefined) old.push(instead)
        }
      }
      added.push(...made)
      isFresh = isFresh || full.length < rules.length
      room = full.length > 0 ? 0 : room - made.length
      if (made.length > 0) yield* tell({ step: "added", rules: made })
      if (refused.length > 0) return yield* new InvalidRules({ operation, rules: refused })
      return full
    })

    const remove = Effect.fnUntraced(function*(rules: ReadonlyArray<Rule>) {
      if (isFresh && overlap > 0) {
        yield* tell({ step: "waiting", duration: overlap })
        yield* Effect.sleep(overlap)
      }
      isFresh = false
      yield* RuleRequests.remove(rules.map(({ id }) => id), call)
      removed.push(...rules)
      room += rules.length
      yield* tell({ step: "deleted", rules })
    })

    /** Where there is no room and nothing to delete: another run has added it, or old rules go before the new ones. */
    const makeRoom = Effect.fnUntraced(function*(least: number) {
      const values = new Set((yield* RuleRequests.read(call)).map(({ value }) => value))
      const missing = waiting.filter(({ value }) => !values.has(value))
      if (missing.length < waiting.length) {
        isShared = isFresh = true
        // The run that added them may have been interrupted before it deleted the old ones.
        for (const { instead, value } of waiting) if (instead !== undefined && values.has(value)) old.push(instead)
        return missing
      }
      const first = missing.filter(({ instead }) => instead !== undefined).slice(0, least - room)
      const gone = first.flatMap(({ instead }) => instead ?? [])
      if (gone.length === 0) {
        const mayFit = plan.cap === undefined || plan.rules + waiting.length <= plan.cap
        if (mayFit && pauses-- > 0) {
          yield* Effect.sleep(settling)
          room = plan.cap === undefined ? waiting.length : plan.cap - (yield* RuleRequests.read(call)).length
          return missing
        }
        return yield* new RuleCapReached({ operation, rules: plan.rules + waiting.length, cap: plan.cap })
      }
      yield* remove(gone)
      uncovered.push(...gone)
      return [
        ...first.map((addition) => ({ ...addition, instead: undefined })),
        ...missing.filter((addition) => !first.includes(addition))
      ]
    })

    // With little room there would be a wait for each few rules.
    const least = Math.min(RuleRequests.rulesAtOnce, Math.ceil(waiting.length / mostRounds))
    while (waiting.length > 0) {
      if (room >= Math.min(least, waiting.length) || room > 0 && old.length > 0) {
        const some = waiting.slice(0, Math.min(room, RuleRequests.rulesAtOnce))
        waiting = [...(yield* add(some)), ...waiting.slice(some.length)]
      } else if (old.length > 0) yield* remove(old.splice(0, Math.min(waiting.length, RuleRequests.rulesAtOnce)))
      else waiting = yield* makeRoom(least)
    }
    while (old.length > 0) yield* remove(old.splice(0, RuleRequests.rulesAtOnce))

    const bare = plan.retag.filter(({ isCovered }) => !isCovered)
    for (let at = 0; at < bare.length; at += RuleRequests.rulesAtOnce) {
      const some = bare.slice(at, at + RuleRequests.rulesAtOnce)
      const rules = some.map(({ rule }) => rule)
      yield* remove(rules)
      uncovered.push(...rules)
      const full = yield* add(some.map((retagging) => ({ ...additionOf(retagging), instead: undefined })))
      if (full.length > 0) {
        return yield* new RuleCapReached({ operation, rules: plan.rules + full.length, cap: plan.cap })
      }
    }

    // What another run has added has an id that only the service knows.
    const now = isShared ? yield* RuleRequests.read(call) : [...plan.there, ...added]
    const byMeaning = new Map(now.map((rule) => [meaningOf(rule.value), rule]))
    const synced: SyncedRules = {
      rules: wishes.flatMap(({ meaning }) => byMeaning.get(meaning) ?? []),
      added,
      removed,
      kept: plan.kept,
      uncovered
    }
    return synced
  }
)

const additionOf = ({ rule, tag, value }: Retagging): Addition => ({
  value,
  ...(tag === undefined ? {} : { tag }),
  instead: rule
})
