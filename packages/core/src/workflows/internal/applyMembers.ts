/** Changes the members of a list one after another. Each change is noted in the journal before the next. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Client } from "../../client/Client.ts"
import { BadRequest, Forbidden, NotFound, type OperationError } from "../../errors/Errors.ts"
import { addListMember, getList, removeListMember } from "../../operations/Lists.ts"
import { getMe } from "../../operations/Users.ts"
import * as Callback from "../../runtime/Callback.ts"
import { type Entries, Journal } from "../../storage/Journal.ts"
import type { Outcome, Refusal, SyncedMembers, SyncOptions } from "../ListMembersOptions.ts"
import * as MembersRecord from "./membersRecord.ts"
import type { Held } from "./planMembers.ts"

/** The maximum size of a list. */
const maxMembers = 5_000

/** One change of a plan. */
interface Step {
  readonly index: number
  readonly action: "remove" | "add"
  readonly user: MembersRecord.Known
}

/** The changes of a plan in order. */
const stepsOf = ({ add, remove }: MembersRecord.PlanRecord): ReadonlyArray<Step> => [
  ...remove.map((user, index) => ({ index, action: "remove" as const, user })),
  ...add.map((user, i) => ({ index: remove.length + i, action: "add" as const, user }))
]

/** The result of one change. A failed one gets a second attempt after all others. */
type Change =
  | { readonly _tag: "Changed" }
  | { readonly _tag: "Refused"; readonly refusal: Refusal }
  | { readonly _tag: "Failed"; readonly error: OperationError }

/** This many consecutive failures are not about individual users: the sync fails. */
const maxFailures = 3

/** The progress after a change. */
const progressAfter = (done: MembersRecord.DoneRecord, { index }: Step, change: Change): MembersRecord.DoneRecord => {
  const isFirst = index === done.tried
  const refusal: Refusal | undefined = change._tag === "Refused"
    ? change.refusal
    : change._tag === "Failed" && !isFirst
    ? { reason: "failed", detail: change.error.message }
    : undefined
  return {
    ...done,
    tried: isFirst ? index + 1 : done.tried,
    refused: refusal === undefined ? done.refused : [...done.refused, [index, refusal]],
    again: isFirst && change._tag === "Failed" ? [...done.again, index] : done.again.filter((other) => other !== index)
  }
}

/** Makes the changes that are left, one after another, and returns the progress. */
export const apply = (list: string, { done, plan }: Held, options: SyncOptions) =>
  Effect.flatMap(Journal, (journal) => new Changes({ journal, list, plan, options }, done).run())

interface Sync {
  readonly journal: Entries
  readonly list: string
  readonly plan: MembersRecord.PlanRecord
  readonly options: SyncOptions
}

/** The changes of one call. */
class Changes {
  readonly #sync: Sync
  readonly #steps: ReadonlyArray<Step>
  #done: MembersRecord.DoneRecord
  #isOwner: boolean | undefined
  #failures = 0

  constructor(sync: Sync, done: MembersRecord.DoneRecord) {
    this.#sync = sync
    this.#steps = stepsOf(sync.plan)
    this.#done = done
  }

  run() {
    return Effect.gen({ self: this }, function*() {
      while (true) {
        const step = this.#steps[this.#done.tried] ?? this.#steps[this.#done.again[0] ?? -1]
        if (step === undefined) return this.#done
        // A change that was made is noted even if the fiber is interrupted.
        yield* Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(this.#change(step)), (change) => this.#note(step, change))
        )
      }
    })
  }

  #note(step: Step, change: Change) {
    const { journal, list, options: { onProgress } } = this.#sync
    const done = progressAfter(this.#done, step, change)
    return Effect.map(MembersRecord.writeDone(journal, list, done), () => {
      this.#done = done
      // A failed change is reported after its second attempt.
      if (onProgress === undefined || done.again.includes(step.index)) return
      const last = outcomeOf(step, done.refused.find(([index]) => index === step.index)?.[1])
      Callback.call(onProgress, { done: done.tried - done.again.length, of: this.#steps.length, last })
    })
  }

  #change(step: Step): Effect.Effect<Change, OperationError, Client> {
    const { action, user } = step
    const { list, options: { retries, timeout, user_auth } } = this.#sync
    return Effect.gen({ self: this }, function*() {
      if (action === "add" && this.#done.refused.some(([, { reason }]) => reason === "full")) {
        return { _tag: "Refused", refusal: { reason: "full" } }
      }
      const parameters = { id: list, user_id: user.id, user_auth }
      const request = action === "add" ? addListMember : removeListMember
      const sent = yield* Effect.result(request(parameters, { retries, timeout }))
      if (Result.isFailure(sent)) return yield* this.#failed(step, sent.failure)
      this.#failures = 0
      const { data, errors } = sent.success
      const isRefused = data === undefined ? errors.length > 0 : data.is_member === (action === "remove")
      return isRefused
        ? { _tag: "Refused", refusal: MembersRecord.refusalOf("refused", errors) }
        : { _tag: "Changed" }
    })
  }

  /** Fails if the error concerns the list; otherwise it is the result of the change. */
  #failed({ action, index }: Step, error: OperationError): Effect.Effect<Change, OperationError, Client> {
    return Effect.gen({ self: this }, function*() {
      if (isTemporary(error)) {
        // Second attempts follow each other, however far apart the first ones were.
        return index === this.#done.tried && ++this.#failures >= maxFailures ? yield* error : { _tag: "Failed", error }
      }
      if (!(error instanceof BadRequest || error instanceof Forbidden || error instanceof NotFound)) return yield* error
      this.#failures = 0
      if (MembersRecord.isAboutList(error)) return yield* error
      if (!(error instanceof NotFound)) {
        this.#isOwner ??= yield* isOwner(this.#sync.list, this.#sync.options)
        if (!this.#isOwner) return yield* error
      }
      const said = MembersRecord.saidBy(error)
      const isFull = action === "add" && this.#size >= maxMembers
      const otherwise = error instanceof NotFound ? "unknown" : isFull ? "full" : "refused"
      return { _tag: "Refused", refusal: MembersRecord.refusalOf(otherwise, said) }
    })
  }

  /** The number of members after the changes that were made. */
  get #size(): number {
    const { again, refused, tried } = this.#done
    const notMade = new Set([...again, ...refused.map(([index]) => index)])
    const made = this.#steps.slice(0, tried).filter(({ index }) => !notMade.has(index))
    return made.reduce((size, { action }) => size + (action === "add" ? 1 : -1), this.#sync.plan.members)
  }
}

/** Checks that the caller owns the list, as far as the service shows that. */
const isOwner = Effect.fnUntraced(function*(list: string, { retries, timeout, user_auth = true }: SyncOptions) {
  const call = { retries, timeout }
  const { data: found } = yield* getList(
    { id: list, expansions: ["owner_id"], list_fields: ["owner_id"], user_auth },
    call
  )
  const { data: me } = yield* getMe({ user_auth }, call)
  return found === undefined || me === undefined || found.owner_id === undefined || found.owner_id === me.id
})

const isTemporary = ({ _tag }: OperationError): boolean =>
  _tag === "TransportFailure" || _tag === "ServerFailure" || _tag === "UndecodableResponse" ||
  _tag === "UnexpectedStatus"

const outcomeOf = ({ action, user }: Step, refusal: Refusal | undefined): Outcome =>
  refusal === undefined
    ? { ...user, became: action === "add" ? "added" : "removed" }
    : { ...user, became: "refused", refusal }

/** The result of a sync. */
export const resultOf = (
  list: string,
  { done: initial, plan }: Held,
  done: MembersRecord.DoneRecord
): SyncedMembers => {
  const refusals = new Map(done.refused)
  const outcomes: ReadonlyArray<Outcome> = [
    ...stepsOf(plan).map((step) => outcomeOf(step, refusals.get(step.index))),
    ...plan.unknown.map(({ refusal, user }): Outcome => ({ ...user, became: "refused", refusal })),
    ...plan.present.map((user): Outcome => ({ ...user, became: "present" })),
    ...plan.kept.map((user): Outcome => ({ ...user, became: "kept" }))
  ]
  const count = (became: Outcome["became"]) => outcomes.filter((outcome) => outcome.became === became).length
  return {
    list,
    added: count("added"),
    removed: count("removed"),
    present: count("present"),
    kept: count("kept"),
    refused: count("refused"),
    outcomes,
    resumed: initial.tried > 0
  }
}
