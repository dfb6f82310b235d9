/** Changes the rules of the filtered stream as planned: in batches, and new rules before old ones as far as there is room. */
import * as Effect from "effect/Effect"
import { InvalidRules, type RefusedRule, RuleCapReached } from "../../../errors/StreamRuleErrors.ts"
import * as Callback from "../../../runtime/Callback.ts"
import type { Progress, Retagging, Rule, SyncedRules, SyncOptions, WantedRule } from "../options.ts"
import { meaningOf, type Planned } from "./plan.ts"
import * as RuleRequests from "./requests.ts"

/** The longest time until a stream follows a change of rules, in milliseconds. */
const settlingMillis = 20_000

/** If there is little room, new rules are added in at most this many batches. */
const maxRounds = 10

/** How often to wait for rules that another run has added temporarily. */
const maxPauses = 6

/** A rule to add, and the rule to delete after that. */
interface Addition extends WantedRule {
  readonly instead?: Rule | undefined
}

/** Carries out a plan. */
export const apply = (planned: Planned, options: SyncOptions) => new Changes(planned, options).run()

class Changes {
  readonly #planned: Planned
  readonly #options: SyncOptions
  readonly #indexes: ReadonlyMap<string, number>
  readonly #added: Array<Rule> = []
  readonly #removed: Array<Rule> = []
  readonly #uncovered: Array<Rule> = []
  /** The rules that are still to be added. */
  #waiting: ReadonlyArray<Addition>
  /** The rules that can be deleted. */
  readonly #old: Array<Rule>
  /** How many more rules the app may have. */
  #room: number
  /** True if rules are so new that streams may not follow them yet. */
  #isFresh: boolean
  /** True if another run has added some of the rules. */
  #isShared = false
  #pauses = maxPauses

  constructor(planned: Planned, options: SyncOptions) {
    const { left, plan, wishes } = planned
    this.#planned = planned
    this.#options = options
    this.#indexes = new Map(wishes.map(({ index, meaning }) => [meaning, index]))
    this.#waiting = [...plan.retag.filter(({ isCovered }) => isCovered).map(additionOf), ...plan.add]
    this.#old = [...plan.remove]
    this.#room = left
    // A concurrent or interrupted run may just have added the successor of an old rule.
    this.#isFresh = plan.remove.some(({ value }) => this.#indexes.has(meaningOf(value)))
  }

  readonly run = Effect.fnUntraced(function*(this: Changes) {
    // Without a lower bound on the batch size, a small room would mean one wait for every few rules.
    const least = Math.min(RuleRequests.rulesAtOnce, Math.ceil(this.#waiting.length / maxRounds))
    while (this.#waiting.length > 0) {
      const { length } = this.#waiting
      if (this.#room >= Math.min(least, length) || this.#room > 0 && this.#old.length > 0) {
        const batch = this.#waiting.slice(0, Math.min(this.#room, RuleRequests.rulesAtOnce))
        this.#waiting = [...(yield* this.#add(batch)), ...this.#waiting.slice(batch.length)]
      } else if (this.#old.length > 0) {
        yield* this.#remove(this.#old.splice(0, Math.min(length, RuleRequests.rulesAtOnce)))
      } else this.#waiting = yield* this.#makeRoom(least)
    }
    while (this.#old.length > 0) yield* this.#remove(this.#old.splice(0, RuleRequests.rulesAtOnce))
    const bare = this.#planned.plan.retag.filter(({ isCovered }) => !isCovered)
    for (let at = 0; at < bare.length; at += RuleRequests.rulesAtOnce) {
      yield* this.#replace(bare.slice(at, at + RuleRequests.rulesAtOnce))
    }
    return yield* this.#result()
  })

  get #call() {
    const { retries, timeout } = this.#options
    return { retries, timeout }
  }

  #report(progress: Progress): void {
    const { onProgress } = this.#options
    if (onProgress !== undefined) Callback.call(onProgress, progress)
  }

  /** Adds rules, and returns those for which there is no room. */
  readonly #add = Effect.fnUntraced(function*(this: Changes, rules: ReadonlyArray<Addition>) {
    const answers = yield* RuleRequests.add(rules, false, this.#call)
    const refused: Array<RefusedRule> = []
    const made: Array<Rule> = []
    const full: Array<Addition> = []
    for (const [i, { instead, ...rule }] of rules.entries()) {
      const answer = answers[i] ?? { became: "full" }
      if (answer.became === "full") full.push({ ...rule, instead })
      else if (answer.became === "refused") {
        refused.push({ ...rule, index: this.#indexes.get(meaningOf(rule.value)) ?? 0, detail: answer.detail })
      } else {
        if (answer.became === "added" && answer.id !== undefined) made.push({ id: answer.id, ...rule })
        else this.#isShared = true
        if (instead !== undefined) this.#old.push(instead)
      }
    }
    this.#added.push(...made)
    if (full.length < rules.length) this.#isFresh = true
    this.#room = full.length > 0 ? 0 : this.#room - made.length
    if (made.length > 0) this.#report({ step: "added", rules: made })
    if (refused.length > 0) return yield* new InvalidRules({ operation: this.#planned.operation, rules: refused })
    return full
  })

  readonly #remove = Effect.fnUntraced(function*(this: Changes, rules: ReadonlyArray<Rule>) {
    const { overlap = settlingMillis } = this.#options
    if (this.#isFresh && overlap > 0) {
      this.#report({ step: "waiting", duration: overlap })
      yield* Effect.sleep(overlap)
    }
    this.#isFresh = false
    yield* RuleRequests.remove(rules.map(({ id }) => id), this.#call)
    this.#removed.push(...rules)
    this.#room += rules.length
    this.#report({ step: "deleted", rules })
  })

  /**
   * Makes room when there is none and no rule can be deleted, and returns the rules that are still to be added: another run may
   * have added some, or will delete some. Otherwise old rules are deleted before their successors are added.
   */
  readonly #makeRoom = Effect.fnUntraced(function*(this: Changes, least: number) {
    const { plan } = this.#planned
    const values = new Set((yield* RuleRequests.read(this.#call)).map(({ value }) => value))
    const missing = this.#waiting.filter(({ value }) => !values.has(value))
    if (missing.length < this.#waiting.length) {
      this.#isShared = this.#isFresh = true
      // The run that added them may have been interrupted before it deleted the old ones.
      for (const { instead, value } of this.#waiting) {
        if (instead !== undefined && values.has(value)) this.#old.push(instead)
      }
      return missing
    }
    const first = missing.filter(({ instead }) => instead !== undefined).slice(0, least - this.#room)
    const gone = first.flatMap(({ instead }) => instead ?? [])
    if (gone.length > 0) {
      yield* this.#remove(gone)
      this.#uncovered.push(...gone)
      return [
        ...first.map((addition) => ({ ...addition, instead: undefined })),
        ...missing.filter((addition) => !first.includes(addition))
      ]
    }
    const mayFit = plan.cap === undefined || plan.rules + missing.length <= plan.cap
    if (!mayFit || this.#pauses-- === 0) return yield* this.#capReached(missing.length)
    yield* Effect.sleep(settlingMillis)
    this.#room = plan.cap === undefined ? missing.length : plan.cap - (yield* RuleRequests.read(this.#call)).length
    return missing
  })

  /** Deletes rules before their successors are added, as the service accepts no other spelling of them. */
  readonly #replace = Effect.fnUntraced(function*(this: Changes, retaggings: ReadonlyArray<Retagging>) {
    const rules = retaggings.map(({ rule }) => rule)
    yield* this.#remove(rules)
    this.#uncovered.push(...rules)
    const full = yield* this.#add(retaggings.map((retagging) => ({ ...additionOf(retagging), instead: undefined })))
    if (full.length > 0) return yield* this.#capReached(full.length)
  })

  #capReached(more: number): RuleCapReached {
    const { operation, plan } = this.#planned
    return new RuleCapReached({ operation, rules: plan.rules + more, cap: plan.cap })
  }

  readonly #result = Effect.fnUntraced(function*(this: Changes) {
    const { plan, wishes } = this.#planned
    // The ids of rules that another run has added have to be read.
    const now = this.#isShared ? yield* RuleRequests.read(this.#call) : [...plan.present, ...this.#added]
    const byMeaning = new Map(now.map((rule) => [meaningOf(rule.value), rule]))
    const synced: SyncedRules = {
      rules: wishes.flatMap(({ meaning }) => byMeaning.get(meaning) ?? []),
      added: this.#added,
      removed: this.#removed,
      kept: plan.kept,
      uncovered: this.#uncovered
    }
    return synced
  })
}

const additionOf = ({ rule, tag, value }: Retagging): Addition => ({
  value,
  ...(tag === undefined ? {} : { tag }),
  instead: rule
})
