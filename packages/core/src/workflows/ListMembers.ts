/**
 * Synchronizes the members of a list with wanted users: one request for each difference, at the pace of the rate limits, which takes
 * hours for thousands. A journal records each change, so that the same call continues an interrupted one.
 */
import * as Effect from "effect/Effect"
import type { Client } from "../client/Client.ts"
import { invalidParameter, type InvalidParameters } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import { Journal } from "../storage/Journal.ts"
import * as ApplyMembers from "./internal/applyMembers.ts"
import * as MembersRecord from "./internal/membersRecord.ts"
import * as PlanMembers from "./internal/planMembers.ts"
import type {
  MembersError,
  MembersPlan,
  PlanOptions,
  SyncedMembers,
  SyncOptions,
  Wanted
} from "./ListMembersOptions.ts"

export type * from "./ListMembersOptions.ts"

/** The plan of an earlier call with the same users, if still valid; then `planListMembers` makes no requests. */
export const knownPlan = Effect.fnUntraced(function*(
  list: string | number | bigint,
  desired: Iterable<Wanted>,
  options: PlanOptions = {}
): Effect.fn.Return<MembersPlan | undefined, InvalidParameters | StorageFailure, Journal> {
  const asked = yield* PlanMembers.check(list, desired, options)
  const held = yield* PlanMembers.heldPlan(asked)
  return held && PlanMembers.shown(asked.list, held)
})

/**
 * Plans the changes that make the members of a list the wanted users, and changes nothing. Reads the members, and looks up usernames
 * that are not among them. `syncListMembers` uses this plan for a quarter of an hour.
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
    const asked = yield* PlanMembers.check(list, desired, options)
    yield* (yield* Journal).lock(MembersRecord.nameOf(asked.list))
    return PlanMembers.shown(asked.list, yield* PlanMembers.planOf(asked, options))
  }))

/**
 * Makes the members of a list the wanted users: removes others, adds missing ones, and returns the outcome of each. A user whom the
 * service refuses does not stop the others. After an interruption the same call continues, for a day without reading the list again; a
 * change whose response was lost is repeated, which is harmless.
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
    const asked = yield* PlanMembers.check(list, desired, options)
    const journal = yield* Journal
    yield* journal.lock(MembersRecord.nameOf(asked.list))
    const held = yield* PlanMembers.planOf(asked, options)
    const refused = guard(PlanMembers.shown(asked.list, held), options)
    if (refused !== undefined) return yield* refused
    const done = yield* ApplyMembers.apply(asked.list, held, options)
    yield* MembersRecord.forget(journal, asked.list)
    return ApplyMembers.synced(asked.list, held, done)
  }))

/** Default of `maxRemovals`: half of the members but at least one; none if no users are wanted. */
export const allowedRemovals = ({ add, members, there, unknown }: MembersPlan): number =>
  add.length + there.length + unknown.length === 0 ? 0 : Math.max(1, Math.floor(members / 2))

const guard = (plan: MembersPlan, { maxRemovals }: SyncOptions): InvalidParameters | undefined => {
  const { members, remove } = plan
  const most = maxRemovals ?? allowedRemovals(plan)
  if (remove.length <= most) return undefined
  const rule = `must be ${remove.length} or more: of ${members} members, so many would be removed`
  return invalidParameter(PlanMembers.operation, "maxRemovals", rule, most)
}
