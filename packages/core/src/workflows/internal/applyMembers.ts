/** The members of a list as they are changed: one after another, each noted in the journal before the next. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Client } from "../../client/Client.ts"
import { BadRequest, Forbidden, NotFound, type OperationError } from "../../errors/Errors.ts"
import { addListMember, getList, removeListMember } from "../../operations/Lists.ts"
import { getMe } from "../../operations/Users.ts"
import * as Callback from "../../runtime/Callback.ts"
import { Journal } from "../../storage/Journal.ts"
import type { Outcome, PlanOptions, Refusal, SyncedMembers, SyncOptions } from "../ListMembersOptions.ts"
import * as MembersRecord from "./membersRecord.ts"
import { isAboutList, refusalOf, saidBy } from "./membersRefusal.ts"
import type { Held } from "./planMembers.ts"

/** A list has no more members than these. */
const mostMembers = 5_000

/** One change of a plan. */
interface Step {
  readonly at: number
  readonly is: "removed" | "added"
  readonly user: MembersRecord.Known
}

/** The changes of a plan in their order. */
const stepsOf = ({ add, remove }: MembersRecord.PlanRecord): ReadonlyArray<Step> => [
  ...remove.map((user, at) => ({ at, is: "removed" as const, user })),
  ...add.map((user, i) => ({ at: remove.length + i, is: "added" as const, user }))
]

/** What was asked of the service came to this, or is to be tried once more later. */
type Change =
  | { readonly _tag: "Changed" }
  | { readonly _tag: "Refused"; readonly refusal: Refusal }
  | { readonly _tag: "Failed"; readonly error: OperationError }

/** So many failures in a row are no longer about single users. */
const mostFailures = 3

/** Makes the changes that are left, one after another. */
export const apply = Effect.fnUntraced(function*(list: string, { done: begun, plan }: Held, options: SyncOptions) {
  const journal = yield* Journal
  const { onProgress } = options
  const steps = stepsOf(plan)
  const refusedBefore = (is: Step["is"], until: number) =>
    done.refused.filter(([at]) => at < until && steps[at]?.is === is).length
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

  const change = Effect.fnUntraced(function*({ at, is, user }: Step): Effect.fn.Return<Change, OperationError, Client> {
    const isFull = done.refused.some(([, { reason }]) => reason === "full")
    if (is === "added" && isFull) return { _tag: "Refused", refusal: { reason: "full" } }
    const sent = yield* Effect.result(send(is, { id: list, user_id: user.id, user_auth: options.user_auth }, options))
    if (Result.isSuccess(sent)) {
      failures = 0
      const { data, errors } = sent.success
      return data === undefined && errors.length > 0
        ? { _tag: "Refused", refusal: refusalOf("refused", errors) }
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
      const said = saidBy(failure)
      if (is === "added" && sizeAt(at) >= mostMembers) {
        return { _tag: "Refused", refusal: { ...refusalOf("full", said), reason: "full" } }
      }
      return { _tag: "Refused", refusal: refusalOf(failure instanceof NotFound ? "unknown" : "refused", said) }
    }
    if (isPassing(failure)) {
      if (++failures >= mostFailures) return yield* failure
      return { _tag: "Failed", error: failure }
    }
    return yield* failure
  })

  const keep = (next: MembersRecord.DoneRecord, step: Step) =>
    Effect.andThen(
      MembersRecord.writeDone(journal, list, next),
      Effect.sync(() => {
        done = next
        // What failed is told when it was tried again.
        if (onProgress !== undefined && !done.again.includes(step.at)) {
          const last = outcomeOf(step, done.refused.find(([at]) => at === step.at)?.[1])
          Callback.call(onProgress, { done: done.tried - done.again.length, of: steps.length, last })
        }
      })
    )

  /** What has happened is noted, whatever ends meanwhile. */
  const make = (step: Step, note: (change: Change) => MembersRecord.DoneRecord) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(change(step)), (changed) => keep(note(changed), step))
    )

  const withRefusal = (at: number, refusal: Refusal): MembersRecord.DoneRecord["refused"] => [
    ...done.refused,
    [at, refusal]
  ]

  for (const step of steps.slice(done.tried)) {
    const { at } = step
    yield* make(step, (changed) => ({
      ...done,
      tried: at + 1,
      refused: changed._tag === "Refused" ? withRefusal(at, changed.refusal) : done.refused,
      again: changed._tag === "Failed" ? [...done.again, at] : done.again
    }))
  }
  for (const step of done.again.flatMap((at) => steps[at] ?? [])) {
    const { at } = step
    yield* make(step, (changed) => ({
      ...done,
      refused: changed._tag === "Changed"
        ? done.refused
        : withRefusal(
          at,
          changed._tag === "Refused" ? changed.refusal : { reason: "failed", detail: changed.error.message }
        ),
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

const outcomeOf = ({ is, user }: Step, refusal: Refusal | undefined): Outcome =>
  refusal === undefined ? { ...user, became: is } : { ...user, became: "refused", refusal }

/** What has become of a list. */
export const synced = (list: string, { done: begun, plan }: Held, done: MembersRecord.DoneRecord): SyncedMembers => {
  const refusals = new Map(done.refused)
  const outcomes: ReadonlyArray<Outcome> = [
    ...stepsOf(plan).map((step) => outcomeOf(step, refusals.get(step.at))),
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
