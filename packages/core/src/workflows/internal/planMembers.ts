/** Plans the changes to the members of a list, and keeps the plan in the journal so that another call can continue. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as OptionRules from "../../client/OptionRules.ts"
import { invalidParameter, type InvalidParameters } from "../../errors/Errors.ts"
import { addListMember, getListMembers } from "../../operations/Lists.ts"
import { idPattern, usernamePattern } from "../../schema/Codecs.ts"
import * as Quota from "../../schema/Quota.ts"
import { Journal } from "../../storage/Journal.ts"
import { digestOf } from "../../storage/VersionedRecord.ts"
import { hydrate } from "../Hydrate.ts"
import type { MembersPlan, PlanOptions, SyncOptions, Wanted } from "../ListMembersOptions.ts"
import * as MembersRecord from "./membersRecord.ts"

/** The operation in errors. */
export const operation = "syncListMembers"

/** Milliseconds for which a plan is valid before and after its first change. Changes by others in that time go unnoticed. */
const planLife = { untouched: 15 * 60_000, begun: 24 * 3_600_000 }

/** A wanted user. */
type WantedUser = { readonly id: string } | { readonly username: string }

const userOf = (wanted: Wanted, at: number): WantedUser | InvalidParameters => {
  const text = String(wanted).trim()
  if (idPattern.test(text)) return { id: String(BigInt(text)) }
  const username = text.replace(/^@/, "")
  const rule = "must be an id, or a username of 1 to 15 letters, digits and _"
  return usernamePattern.test(username) ? { username } : invalidParameter(operation, `desired[${at}]`, rule, text)
}

/** The wanted users, each once. */
const usersOf = Effect.fnUntraced(function*(desired: Iterable<Wanted>) {
  if (!Predicate.isIterable(desired)) {
    return yield* invalidParameter(operation, "desired", "must be an iterable of ids and usernames", desired)
  }
  const users = new Map<string, WantedUser>()
  let at = 0
  for (const wanted of desired) {
    const user = userOf(wanted, at++)
    if ("_tag" in user) return yield* user
    users.set("id" in user ? user.id : `@${user.username.toLowerCase()}`, user)
  }
  return users
})

const listOf = (list: string | number | bigint): Effect.Effect<string, InvalidParameters> =>
  ["string", "number", "bigint"].includes(typeof list) && idPattern.test(String(list))
    ? Effect.succeed(String(BigInt(list)))
    : Effect.fail(invalidParameter(operation, "list", "must be an id: 1 to 19 digits", list))

const optionRules = {
  keep: OptionRules.flag,
  maxRemovals: /*#__PURE__*/ OptionRules.whole(0),
  onProgress: OptionRules.callback
}

/** The checked parameters. */
export interface Checked {
  readonly list: string
  readonly wanted: ReadonlyMap<string, WantedUser>
  readonly digest: string
  readonly keep: boolean
}

/** Checks the parameters. */
export const check = Effect.fnUntraced(
  function*(list: string | number | bigint, desired: Iterable<Wanted>, options: SyncOptions) {
    const invalid = OptionRules.check<SyncOptions>(operation, options, optionRules)
    if (invalid !== undefined) return yield* invalid
    const { keep = false } = options
    const wanted = yield* usersOf(desired)
    const checked: Checked = {
      list: yield* listOf(list),
      wanted,
      keep,
      digest: digestOf(JSON.stringify([keep, [...wanted.keys()].sort()]))
    }
    return checked
  }
)

/** The plan in the journal, if it is for the same members and still valid. */
export const heldPlan = Effect.fnUntraced(function*({ list, digest }: Checked) {
  const journal = yield* Journal
  const plan = yield* MembersRecord.readPlan(journal, list)
  if (plan === undefined || plan.digest !== digest) return undefined
  const done = yield* MembersRecord.readDone(journal, list, plan)
  const age = (yield* Clock.currentTimeMillis) - plan.madeAt
  const holds = done.tried > 0 ? planLife.begun : planLife.untouched
  return age >= 0 && age < holds ? { plan, done } : undefined
})

/** Reads the members of a list, looks up wanted usernames that are not among them, and writes the plan. */
const makePlan = Effect.fnUntraced(function*({ keep, list, digest, wanted }: Checked, options: PlanOptions) {
  const { retries, timeout, user_auth = true } = options
  const call = { retries, timeout }
  const present: Array<MembersRecord.Known> = []
  const others: Array<MembersRecord.Known> = []
  const left = new Map(wanted)
  yield* Stream.runForEach(
    getListMembers.pages({ id: list, max_results: 100, user_auth }, call),
    Effect.fnUntraced(function*({ data, errors }) {
      if (data === undefined && errors.length > 0) {
        const rule = `must be visible to the caller${
          MembersRecord.saidIn(errors).map((said) => `: ${said.replace(/\.$/, "")}`).join("")
        }`
        return yield* invalidParameter(operation, "list", rule, undefined)
      }
      for (const { id, username } of data ?? []) {
        const keys = [id, `@${username.toLowerCase()}`]
        const isWanted = keys.some((key) => wanted.has(key))
        ;(isWanted ? present : others).push({ id, username })
        for (const key of keys) left.delete(key)
      }
    })
  )
  const members = present.length + others.length
  const add: Array<MembersRecord.Known> = []
  const unknown: Array<MembersRecord.PlanRecord["unknown"][number]> = []
  const names: Array<string> = []
  const known = new Set<string>()
  for (const user of left.values()) {
    if ("id" in user) {
      add.push({ id: user.id })
      known.add(user.id)
    } else names.push(user.username)
  }
  yield* Stream.runForEach(
    hydrate.usernames(names, { user_auth }, { ...call, concurrency: 1 }),
    ({ data: user, id: username, problem }) =>
      Effect.sync(() => {
        if (user === undefined) {
          unknown.push({
            user: { username },
            refusal: MembersRecord.refusalOf("unknown", problem === undefined ? [] : [problem])
          })
        } else if (!known.has(user.id)) {
          known.add(user.id)
          add.push({ id: user.id, username: user.username })
        }
      })
  )
  const plan: MembersRecord.PlanRecord = {
    version: 1,
    digest,
    madeAt: yield* Clock.currentTimeMillis,
    members,
    remove: keep ? [] : others,
    add,
    present,
    kept: keep ? others : [],
    unknown
  }
  const journal = yield* Journal
  yield* MembersRecord.writePlan(journal, list, plan)
  return { plan, done: yield* MembersRecord.readDone(journal, list, plan) }
})

/** The valid plan, or a new one. */
export const planOf = Effect.fnUntraced(function*(checked: Checked, options: PlanOptions) {
  return (yield* heldPlan(checked)) ?? (yield* makePlan(checked, options))
})

/** A plan and its progress. */
export type Held = Effect.Success<ReturnType<typeof planOf>>

/** The plan for callers. */
export const shown = (list: string, { done, plan }: Held): MembersPlan => {
  const { add, kept, members, remove, present, unknown } = plan
  const toRemove = Math.max(0, remove.length - done.tried)
  const toAdd = add.length - Math.max(0, done.tried - remove.length)
  return {
    list,
    members,
    remove,
    add,
    present,
    kept,
    unknown: unknown.map(({ refusal, user }) => ({ ...user, became: "refused", refusal })),
    done: done.tried - done.again.length,
    requests: toRemove + toAdd + done.again.length,
    duration: durationOf(toRemove) + durationOf(toAdd)
  }
}

/** Least duration in milliseconds. Requests within one rate limit window count as none. */
const durationOf = (requests: number): number => {
  const { perWindow = 300 } = Quota.of(addListMember.definition.limits, "user")
  return requests <= perWindow ? 0 : Math.round(requests * Quota.windowMillis / perWindow)
}
