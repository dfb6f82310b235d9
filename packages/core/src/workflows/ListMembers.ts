/**
 * Synchronizes the members of a list with desired users. Each change is one request, so thousands of changes take hours under the
 * rate limit. A journal records each change, so that the same call continues an interrupted one.
 */
import * as Effect from "effect/Effect"
import type { Client } from "../client/Client.ts"
import { invalidParameter, type InvalidParameters } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import { Journal } from "../storage/Journal.ts"
import * as ApplyMembers from "./internal/applyMembers.ts"
import * as MembersRecord from "./internal/membersRecord.ts"
import * as PlanMembers from "./internal/planMembers.ts"
import { waitForLimits } from "./internal/waitForLimits.ts"
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
  const request = yield* PlanMembers.check(list, desired, options)
  const stored = yield* PlanMembers.heldPlan(request)
  return stored && PlanMembers.shown(request.list, stored)
})

/**
 * Plans the additions and removals that bring the members of a list in line with `desired`, and changes nothing. Reads the members,
 * and looks up usernames that are not among them. `syncListMembers` uses this plan for a quarter of an hour.
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
  Effect.scoped(waitForLimits(Effect.gen(function*() {
    const request = yield* PlanMembers.check(list, desired, options)
    yield* (yield* Journal).lock(MembersRecord.nameOf(request.list))
    return PlanMembers.shown(request.list, yield* PlanMembers.planOf(request, options))
  })))

/**
 * Brings the members of a list in line with `desired`: removes others, adds missing ones, and returns the outcome of each. A user
 * whom the service refuses does not stop the others. If interrupted, call it again to continue; within a day it does not read the
 * list again. A change whose response was lost is repeated, which is harmless.
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
  Effect.scoped(waitForLimits(Effect.gen(function*() {
    const request = yield* PlanMembers.check(list, desired, options)
    const journal = yield* Journal
    yield* journal.lock(MembersRecord.nameOf(request.list))
    const stored = yield* PlanMembers.planOf(request, options)
    const refused = guard(PlanMembers.shown(request.list, stored), options)
    if (refused !== undefined) return yield* refused
    const done = yield* ApplyMembers.apply(request.list, stored, options)
    yield* MembersRecord.forget(journal, request.list)
    return ApplyMembers.resultOf(request.list, stored, done)
  })))

/** Default of `maxRemovals`: half of the members but at least one; none if `desired` is empty. */
export const allowedRemovals = ({ add, members, present, unknown }: MembersPlan): number =>
  add.length + present.length + unknown.length === 0 ? 0 : Math.max(1, Math.floor(members / 2))

const guard = (plan: MembersPlan, { maxRemovals }: SyncOptions): InvalidParameters | undefined => {
  const { members, remove } = plan
  const most = maxRemovals ?? allowedRemovals(plan)
  if (remove.length <= most) return undefined
  const rule = `must be at least ${remove.length}: the plan removes ${remove.length} of ${members} members`
  return invalidParameter(PlanMembers.operation, "maxRemovals", rule, most)
}
