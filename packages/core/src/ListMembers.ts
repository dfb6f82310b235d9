/**
 * The members of a list become those that are wished for: one request for each difference, paced by the rate limits, which takes
 * hours for thousands. A journal notes what is done, so that the same call goes on where another one was interrupted.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { CallOptions } from "./CallOptions.ts"
import type { Client } from "./Client.ts"
import {
  BadRequest,
  Forbidden,
  invalidParameter,
  type InvalidParameters,
  NotFound,
  type OperationError,
  type PaginationStuck
} from "./Errors.ts"
import * as Hook from "./Hook.ts"
import { hydrate } from "./Hydrate.ts"
import { idPattern, usernamePattern } from "./internal/Encodings.ts"
import { digestOf } from "./internal/JournalRecord.ts"
import * as MembersRecord from "./internal/MembersRecord.ts"
import { Journal } from "./Journal.ts"
import * as Limits from "./Limits.ts"
import type { Problem } from "./models/Problem.ts"
import { addListMember, getList, getListMembers, removeListMember } from "./operations/Lists.ts"
import { getMe } from "./operations/Users.ts"
import type { JournalFailure } from "./UploadErrors.ts"

/** A user: an id, or a username with or without `@`. A text of digits is an id; `@123` is a username. */
export type Wanted = string | number | bigint

/** What is planned of a list, or done to it, may be told. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Members who are not wished for stay. Default false: they are removed. */
  readonly keep?: boolean | undefined
  /** As `addListMember` has it; it holds for the reads too. */
  readonly user_auth?: boolean | undefined
}

/** What changing the members of a list may be told. */
export interface SyncOptions extends PlanOptions {
  /**
   * How many members may be removed; more are refused before any is. Default: half of them. A wish for nobody is refused unless
   * this says how many that may cost.
   */
  readonly maxRemovals?: number | undefined
  /** Called with every change. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** How it goes on. */
export interface Progress {
  /** How many changes were tried, of how many. */
  readonly done: number
  readonly of: number
  /** What became of the last one. */
  readonly last: Outcome
}

/** A user as far as known: whoever is on the list with both, whoever was wished for as wished for. */
export interface Member {
  readonly id?: string
  readonly username?: string
}

/** Why a change was refused. */
export type RefusalReason =
  /** The user blocks the owner of the list. */
  | "blocked"
  /** There is no such user. */
  | "unknown"
  | "suspended"
  | "protected"
  /** The list has as many members as it may have. */
  | "full"
  /** The service failed twice. */
  | "failed"
  /** The service says something else; `detail` has it. */
  | "refused"

/** A change that was refused. */
export interface Refusal {
  readonly reason: RefusalReason
  /** In the words of the service. */
  readonly detail?: string
}

/** What became of a user: added, removed, on the list already, kept although not wished for, or not changed. */
export interface Outcome extends Member {
  readonly became: "added" | "removed" | "there" | "kept" | "refused"
  /** Why not. */
  readonly refusal?: Refusal
}

/** What it takes to make the members of a list those that are wished for. */
export interface MembersPlan {
  readonly list: string
  /** How many members it has. */
  readonly members: number
  readonly remove: ReadonlyArray<Member>
  readonly add: ReadonlyArray<Member>
  /** Members who are wished for. */
  readonly there: ReadonlyArray<Member>
  /** Members who are not, and stay. */
  readonly kept: ReadonlyArray<Member>
  /** Usernames that the service does not know. */
  readonly unknown: ReadonlyArray<Outcome>
  /** How many of the changes an earlier call has made. */
  readonly done: number
  /** Requests that are left: one for each change. */
  readonly requests: number
  /** At least, in milliseconds. */
  readonly duration: number
}

/** What has become of a list. */
export interface SyncedMembers {
  readonly list: string
  readonly added: number
  readonly removed: number
  readonly there: number
  readonly kept: number
  readonly refused: number
  /** Of every user. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** Whether some of it was done by an earlier call. */
  readonly resumed: boolean
}

/** What it can fail with. Whatever it is, the same call goes on. */
export type MembersError = OperationError | PaginationStuck | JournalFailure

const operation = "syncListMembers"

/** A list has no more members than these. */
export const mostMembers = 5_000

/** So long a plan holds of which nothing is done, and one that is begun, in milliseconds. What others change meanwhile is not seen. */
const planHolds = { untouched: 15 * 60_000, begun: 24 * 3_600_000 }

/** A user who is wished for. */
type Wish = { readonly id: string } | { readonly username: string }

const wishOf = (wanted: Wanted, at: number): Wish | InvalidParameters => {
  const text = String(wanted).trim()
  if (idPattern.test(text)) return { id: String(BigInt(text)) }
  const username = text.replace(/^@/, "")
  const rule = "must be an id, or a username of 1 to 15 letters, digits and _"
  return usernamePattern.test(username) ? { username } : invalidParameter(operation, `desired[${at}]`, rule, text)
}

/** The wish, each user once. */
const wishesOf = Effect.fnUntraced(function*(desired: Iterable<Wanted>) {
  const wishes = new Map<string, Wish>()
  let at = 0
  for (const wanted of desired) {
    const wish = wishOf(wanted, at++)
    if ("_tag" in wish) return yield* wish
    wishes.set("id" in wish ? wish.id : `@${wish.username.toLowerCase()}`, wish)
  }
  return wishes
})

const listOf = (list: string | number | bigint): Effect.Effect<string, InvalidParameters> =>
  idPattern.test(String(list))
    ? Effect.succeed(String(BigInt(list)))
    : Effect.fail(invalidParameter(operation, "list", "must be an id: 1 to 19 digits", list))

const checkOptions = ({ keep, maxRemovals, onProgress }: SyncOptions): InvalidParameters | undefined => {
  if (keep !== undefined && typeof keep !== "boolean") {
    return invalidParameter(operation, "keep", "must be true or false", keep)
  }
  if (maxRemovals !== undefined && !(Number.isSafeInteger(maxRemovals) && maxRemovals >= 0)) {
    return invalidParameter(operation, "maxRemovals", "must be a whole number from 0", maxRemovals)
  }
  return onProgress === undefined || typeof onProgress === "function"
    ? undefined
    : invalidParameter(operation, "onProgress", "must be a function", onProgress)
}

/** A wish for a list, checked. */
interface Asked {
  readonly list: string
  readonly wishes: ReadonlyMap<string, Wish>
  readonly wish: string
  readonly keep: boolean
}

const check = Effect.fnUntraced(
  function*(list: string | number | bigint, desired: Iterable<Wanted>, options: SyncOptions) {
    const invalid = checkOptions(options)
    if (invalid !== undefined) return yield* invalid
    const { keep = false } = options
    const wishes = yield* wishesOf(desired)
    const asked: Asked = {
      list: yield* listOf(list),
      wishes,
      keep,
      wish: digestOf(JSON.stringify([keep, [...wishes.keys()].sort()]))
    }
    return asked
  }
)

/** The plan in the journal, if it is of this wish and still holds. */
const heldPlan = Effect.fnUntraced(function*({ list, wish }: Asked) {
  const journal = yield* Journal
  const plan = yield* MembersRecord.readPlan(journal, list)
  if (plan === undefined || plan.wish !== wish) return undefined
  const done = yield* MembersRecord.readDone(journal, list, plan)
  const age = (yield* Clock.currentTimeMillis) - plan.madeAt
  const holds = done.tried > 0 ? planHolds.begun : planHolds.untouched
  return age >= 0 && age < holds ? { plan, done } : undefined
})

/** Reads the members of a list, looks up who is not among them by name, and keeps what is to be done. */
const makePlan = Effect.fnUntraced(function*({ keep, list, wish, wishes }: Asked, options: PlanOptions) {
  const { retries, timeout, user_auth = true } = options
  const call = { retries, timeout }
  const there: Array<Member> = []
  const others: Array<Member> = []
  const left = new Map(wishes)
  yield* Stream.runForEach(
    getListMembers.pages({ id: list, max_results: 100, user_auth }, call),
    Effect.fnUntraced(function*({ data, errors }) {
      if (data === undefined && errors.length > 0) {
        const rule = `must be one that the service shows${
          saidIn(errors).map((said) => `: ${said.replace(/\.$/, "")}`).join("")
        }`
        return yield* invalidParameter(operation, "list", rule, undefined)
      }
      for (const { id, username } of data ?? []) {
        const keys = [id, `@${username.toLowerCase()}`]
        const isWanted = keys.some((key) => wishes.has(key))
        ;(isWanted ? there : others).push({ id, username })
        for (const key of keys) left.delete(key)
      }
    })
  )
  const members = there.length + others.length
  const add: Array<Member> = []
  const unknown: Array<MembersRecord.PlanRecord["unknown"][number]> = []
  const names: Array<string> = []
  const known = new Set<string>()
  for (const wanted of left.values()) {
    if ("id" in wanted) {
      add.push({ id: wanted.id })
      known.add(wanted.id)
    } else names.push(wanted.username)
  }
  yield* Stream.runForEach(
    hydrate.usernames(names, { user_auth }, { ...call, concurrency: 1 }),
    ({ data: user, id: username, problem }) =>
      Effect.sync(() => {
        if (user === undefined) {
          unknown.push({ user: { username }, refusal: refusalOf("unknown", problem === undefined ? [] : [problem]) })
        } else if (!known.has(user.id)) {
          known.add(user.id)
          add.push({ id: user.id, username: user.username })
        }
      })
  )
  const plan: MembersRecord.PlanRecord = {
    version: 1,
    wish,
    madeAt: yield* Clock.currentTimeMillis,
    members,
    remove: keep ? [] : others,
    add,
    there,
    kept: keep ? others : [],
    unknown
  }
  const journal = yield* Journal
  yield* MembersRecord.writePlan(journal, list, plan)
  return { plan, done: yield* MembersRecord.readDone(journal, list, plan) }
})

const planOf = Effect.fnUntraced(function*(asked: Asked, options: PlanOptions) {
  return (yield* heldPlan(asked)) ?? (yield* makePlan(asked, options))
})

type Held = Effect.Success<ReturnType<typeof planOf>>

const shown = (list: string, { done, plan }: Held): MembersPlan => {
  const { add, kept, members, remove, there, unknown } = plan
  const [toRemove, toAdd] = [remove.length - done.tried, add.length - Math.max(0, done.tried - remove.length)]
  const requests = Math.max(0, toRemove) + toAdd + done.again.length
  return {
    list,
    members,
    remove,
    add,
    there,
    kept,
    unknown: unknown.map(({ refusal, user }) => ({ ...user, became: "refused", refusal })),
    done: done.tried - done.again.length,
    requests,
    duration: durationOf(Math.max(0, toRemove)) + durationOf(toAdd)
  }
}

/** Requests that fit into one window take no time worth telling. */
const durationOf = (requests: number): number => {
  const { perWindow = 300 } = Limits.of(addListMember.definition.limits, "user")
  return requests <= perWindow ? 0 : Math.round(requests * Limits.windowMillis / perWindow)
}

/** The plan of an earlier call for the same wish, where there is one that holds: to plan again reads nothing. */
export const knownPlan = Effect.fnUntraced(function*(
  list: string | number | bigint,
  desired: Iterable<Wanted>,
  options: PlanOptions = {}
): Effect.fn.Return<MembersPlan | undefined, InvalidParameters | JournalFailure, Journal> {
  const asked = yield* check(list, desired, options)
  const held = yield* heldPlan(asked)
  return held && shown(asked.list, held)
})

/**
 * Tells what it takes to make the members of a list those that are wished for, and changes nothing. Reads the members, and looks
 * up usernames that are not among them. `syncListMembers` within a quarter of an hour goes by this plan.
 *
 * ```ts
 * const { add, remove, requests, duration } = yield* planListMembers("1441162269824405510", ["2244994945", "ada"])
 * ```
 */
export const planListMembers = (
  list: string | number | bigint,
  desired: Iterable<Wanted>,
  options: PlanOptions = {}
): Effect.Effect<MembersPlan, MembersError, Client | Journal> =>
  Effect.scoped(Effect.gen(function*() {
    const asked = yield* check(list, desired, options)
    yield* (yield* Journal).lock(MembersRecord.nameOf(asked.list))
    return shown(asked.list, yield* planOf(asked, options))
  }))

/**
 * Makes the members of a list those that are wished for: removes who is not, adds who is missing, and tells what became of each.
 * A user whom the service refuses does not stop the others. Called again after it was interrupted, it goes on, for a day without
 * reading the list anew; a change whose answer did not come is asked for once more, which changes nothing.
 *
 * ```ts
 * const { added, removed, refused } = yield* syncListMembers("1441162269824405510", ["2244994945", "ada"])
 * ```
 */
export const syncListMembers = (
  list: string | number | bigint,
  desired: Iterable<Wanted>,
  options: SyncOptions = {}
): Effect.Effect<SyncedMembers, MembersError, Client | Journal> =>
  Effect.scoped(Effect.gen(function*() {
    const asked = yield* check(list, desired, options)
    const journal = yield* Journal
    yield* journal.lock(MembersRecord.nameOf(asked.list))
    const held = yield* planOf(asked, options)
    const refused = guard(shown(asked.list, held), options)
    if (refused !== undefined) return yield* refused
    const done = yield* apply(asked.list, held, options)
    yield* MembersRecord.forget(journal, asked.list)
    return synced(asked.list, held, done)
  }))

/** How many members may be removed unless `maxRemovals` says otherwise: half of them, and none for a wish for nobody. */
export const allowedRemovals = ({ add, members, there, unknown }: MembersPlan): number =>
  add.length + there.length + unknown.length === 0 ? 0 : Math.max(1, Math.floor(members / 2))

const guard = (plan: MembersPlan, { maxRemovals }: SyncOptions): InvalidParameters | undefined => {
  const { members, remove } = plan
  const most = maxRemovals ?? allowedRemovals(plan)
  if (remove.length <= most) return undefined
  const rule = `must be ${remove.length} or more: of ${members} members, so many would be removed`
  return invalidParameter(operation, "maxRemovals", rule, most)
}

/** What was asked of the service came to this, or is to be tried once more later. */
type Change = { readonly _tag: "Changed" } | (Refusal & { readonly _tag: "Refused" }) | {
  readonly _tag: "Failed"
  readonly error: OperationError
}

/** So many failures in a row are no longer about single users. */
const mostFailures = 3

/** Makes the changes that are left, one after another. */
const apply = Effect.fnUntraced(function*(list: string, { done: begun, plan }: Held, options: SyncOptions) {
  const journal = yield* Journal
  const { onProgress } = options
  const changes = [
    ...plan.remove.map((user) => ({ user, is: "removed" as const })),
    ...plan.add.map((user) => ({ user, is: "added" as const }))
  ]
  const refusedBefore = (is: "added" | "removed", until: number) =>
    done.refused.filter(([at]) => at < until && changes[at]?.is === is).length
  let done = begun
  let isOurs: boolean | undefined
  let failures = 0

  const sizeAt = (at: number): number => {
    const removed = Math.min(at, plan.remove.length)
    return plan.members - removed + refusedBefore("removed", at) + (at - removed) - refusedBefore("added", at)
  }

  const isOwner = Effect.fnUntraced(function*() {
    const { retries, timeout, user_auth = true } = options
    const call = { retries, timeout }
    const { data: found } = yield* getList(
      { id: list, expansions: ["owner_id"], list_fields: ["owner_id"], user_auth },
      call
    )
    const { data: me } = yield* getMe({ user_auth }, call)
    return found === undefined || me === undefined || found.owner_id === undefined || found.owner_id === me.id
  })

  const change = Effect.fnUntraced(function*(at: number): Effect.fn.Return<Change, OperationError, Client> {
    const step = changes[at]
    const user_id = step?.user.id
    if (step === undefined || user_id === undefined) return { _tag: "Changed" }
    const isFull = done.refused.some(([, { reason }]) => reason === "full")
    if (step.is === "added" && isFull) return { _tag: "Refused", reason: "full" }
    const sent = yield* Effect.result(send(step.is, { id: list, user_id, user_auth: options.user_auth }, options))
    if (Result.isSuccess(sent)) {
      failures = 0
      const { data, errors } = sent.success
      return data === undefined && errors.length > 0
        ? { _tag: "Refused", ...refusalOf("refused", errors) }
        : { _tag: "Changed" }
    }
    const { failure } = sent
    if (failure instanceof BadRequest || failure instanceof Forbidden || failure instanceof NotFound) {
      failures = 0
      if (isAboutList(failure)) return yield* failure
      if (!(failure instanceof NotFound)) {
        isOurs ??= yield* isOwner()
        if (!isOurs) return yield* failure
      }
      if (step.is === "added" && sizeAt(at) >= mostMembers) {
        return { _tag: "Refused", ...refusalOf("full", saidBy(failure)), reason: "full" }
      }
      return { _tag: "Refused", ...refusalOf(failure instanceof NotFound ? "unknown" : "refused", saidBy(failure)) }
    }
    if (isPassing(failure)) {
      if (++failures >= mostFailures) return yield* failure
      return { _tag: "Failed", error: failure }
    }
    return yield* failure
  })

  const outcomeAt = (at: number): Outcome => outcomeOf(changes[at], done.refused.find(([i]) => i === at)?.[1])

  const keep = (next: MembersRecord.DoneRecord, at: number) =>
    Effect.andThen(
      MembersRecord.writeDone(journal, list, next),
      Effect.sync(() => {
        done = next
        if (onProgress !== undefined) {
          Hook.tell(onProgress, { done: done.tried - done.again.length, of: changes.length, last: outcomeAt(at) })
        }
      })
    )

  /** What has happened is noted, whatever ends meanwhile. */
  const make = (at: number, note: (change: Change) => MembersRecord.DoneRecord) =>
    Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(change(at)), (changed) => keep(note(changed), at)))

  for (let at = done.tried; at < changes.length; at++) {
    yield* make(at, (changed) => ({
      ...done,
      tried: at + 1,
      refused: changed._tag === "Refused" ? [...done.refused, [at, plain(changed)]] : done.refused,
      again: changed._tag === "Failed" ? [...done.again, at] : done.again
    }))
  }
  for (const at of done.again) {
    yield* make(at, (changed) => ({
      ...done,
      refused: changed._tag === "Changed" ? done.refused : [
        ...done.refused,
        [at, changed._tag === "Refused" ? plain(changed) : { reason: "failed", detail: changed.error.message }]
      ],
      again: done.again.filter((other) => other !== at)
    }))
  }
  return done
})

const send = (
  is: "added" | "removed",
  parameters: { readonly id: string; readonly user_id: string; readonly user_auth: boolean | undefined },
  { retries, timeout }: PlanOptions
) => waitedFor((is === "added" ? addListMember : removeListMember)(parameters, { retries, timeout }))

/** Budgets are renewed within this time, in milliseconds; what takes longer is a usage cap. */
const longestWait = 16 * 60_000

/** Waits where the client itself does not. */
const waitedFor = <A, R>(call: Effect.Effect<A, OperationError, R>): Effect.Effect<A, OperationError, R> =>
  Effect.catchTag(call, "RateLimited", (error) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const wait = error.retryAfter ?? (error.resetAt === undefined ? undefined : error.resetAt.getTime() - now)
      if (error.waits === true || wait === undefined || wait > longestWait) return yield* error
      yield* Effect.sleep(Math.max(wait, 1_000))
      return yield* waitedFor(call)
    }))

const isPassing = ({ _tag }: OperationError): boolean =>
  _tag === "TransportFailure" || _tag === "ServerFailure" || _tag === "UndecodableResponse" ||
  _tag === "UnexpectedStatus"

const isAboutList = (error: BadRequest | Forbidden | NotFound): boolean =>
  saidBy(error).some(({ resource_type }) => resource_type === "list")

const saidBy = ({ detail, problems, title, type }: BadRequest | Forbidden | NotFound): ReadonlyArray<Problem> =>
  problems.length > 0 ? problems : [{
    ...(detail === undefined ? {} : { detail }),
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type })
  }]

const saidIn = (problems: ReadonlyArray<Problem>): ReadonlyArray<string> =>
  problems.flatMap(({ detail, message, title }) => message ?? detail ?? title ?? [])

/** What the service says of a user, in a word. */
const refusalOf = (
  otherwise: RefusalReason,
  problems: ReadonlyArray<Problem>
): MembersRecord.DoneRecord["refused"][number][1] => {
  const text = saidIn(problems).join("; ")
  const isUnknown = problems.some(({ type = "" }) => type.endsWith("/resource-not-found"))
  const reason = /\bsuspended\b/i.test(text)
    ? "suspended"
    : /\bblock/i.test(text)
    ? "blocked"
    : /\bprotected\b/i.test(text)
    ? "protected"
    : isUnknown || /\bfind specified user\b/i.test(text)
    ? "unknown"
    : otherwise
  return { reason, ...(text === "" ? {} : { detail: text.slice(0, 300) }) }
}

const plain = ({ detail, reason }: Refusal) => ({ reason, ...(detail === undefined ? {} : { detail }) })

const outcomeOf = (
  change: { readonly user: Member; readonly is: "added" | "removed" } | undefined,
  refusal: Refusal | undefined
): Outcome => ({
  ...change?.user,
  ...(refusal === undefined ? { became: change?.is ?? "there" } : { became: "refused", refusal })
})

const synced = (list: string, { done: begun, plan }: Held, done: MembersRecord.DoneRecord): SyncedMembers => {
  const refusals = new Map(done.refused)
  const outcomes: ReadonlyArray<Outcome> = [
    ...plan.remove.map((user, at) => outcomeOf({ user, is: "removed" }, refusals.get(at))),
    ...plan.add.map((user, at) => outcomeOf({ user, is: "added" }, refusals.get(plan.remove.length + at))),
    ...plan.unknown.map(({ refusal, user }): Outcome => ({ ...user, became: "refused", refusal })),
    ...plan.there.map((user): Outcome => ({ ...user, became: "there" })),
    ...plan.kept.map((user): Outcome => ({ ...user, became: "kept" }))
  ]
  const count = (became: Outcome["became"]) => outcomes.filter((outcome) => outcome.became === became).length
  return {
    list,
    added: count("added"),
    removed: count("removed"),
    there: count("there"),
    kept: count("kept"),
    refused: count("refused"),
    outcomes,
    resumed: begun.tried > 0
  }
}
