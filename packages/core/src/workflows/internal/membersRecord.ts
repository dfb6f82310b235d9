/**
 * The journal's records of a list that is being changed: the plan, written once, and the progress, written with every change. It
 * holds the reasons why the service refuses changes.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { BadRequest, Forbidden, NotFound } from "../../errors/Errors.ts"
import type { StorageFailure } from "../../errors/StorageErrors.ts"
import type { Problem } from "../../schema/models/Problem.ts"
import type { Entries } from "../../storage/Journal.ts"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"
import { reasons, type RefusalReason } from "../ListMembersOptions.ts"

const Known = /*#__PURE__*/ Schema.Struct({
  id: Schema.String,
  username: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})
/** A user with a known id. */
export type Known = typeof Known.Type

const Refusal = /*#__PURE__*/ Schema.Struct({
  reason: /*#__PURE__*/ Schema.Literals(reasons),
  detail: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const Users = /*#__PURE__*/ Schema.Array(Known)

/** A username that the service does not know. */
const Unknown = /*#__PURE__*/ Schema.Struct({
  user: /*#__PURE__*/ Schema.Struct({ username: Schema.String }),
  refusal: Refusal
})

const PlanRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** A digest of the desired members and `keep`. */
  digest: Schema.String,
  /** The time at which it was made, in milliseconds; it identifies the plan. */
  madeAt: Schema.Finite,
  /** The number of members at that time. */
  members: Schema.Finite,
  remove: Users,
  add: Users,
  present: Users,
  kept: Users,
  unknown: /*#__PURE__*/ Schema.Array(Unknown)
})
/** A plan in the journal. */
export type PlanRecord = typeof PlanRecord.Type

const DoneRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** Identifies the plan. */
  madeAt: Schema.Finite,
  /** The number of changes tried so far; removals come first. */
  tried: Schema.Finite,
  /** Refusals by the index of the change. */
  refused: /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Tuple([Schema.Finite, Refusal])),
  /** Indexes of changes that failed and get a second attempt. */
  again: /*#__PURE__*/ Schema.Array(Schema.Finite)
})
/** The progress of a plan. */
export type DoneRecord = typeof DoneRecord.Type

/** The journal's key for the plan of a list. */
export const nameOf = (list: string): string => `members.${list}`

const doneNameOf = (list: string): string => `done.members.${list}`

const planRecords = /*#__PURE__*/ VersionedRecord.make(PlanRecord)
const doneRecords = /*#__PURE__*/ VersionedRecord.make(DoneRecord)

/** Reads the plan of a list, if there is one. */
export const readPlan = (journal: Entries, list: string): Effect.Effect<PlanRecord | undefined, StorageFailure> =>
  planRecords.read(journal, nameOf(list))

/** Reads the progress of a plan. */
export const readDone = (journal: Entries, list: string, { madeAt }: PlanRecord) =>
  Effect.map(
    doneRecords.read(journal, doneNameOf(list)),
    (done): DoneRecord => done?.madeAt === madeAt ? done : { version: 1, madeAt, tried: 0, refused: [], again: [] }
  )

/** Writes a new plan. */
export const writePlan = (journal: Entries, list: string, plan: PlanRecord): Effect.Effect<void, StorageFailure> =>
  planRecords.write(journal, nameOf(list), plan)

/** Writes the progress of a plan durably. */
export const writeDone = (journal: Entries, list: string, done: DoneRecord): Effect.Effect<void, StorageFailure> =>
  doneRecords.write(journal, doneNameOf(list), done)

/** Deletes a finished plan. */
export const forget = (journal: Entries, list: string): Effect.Effect<void, StorageFailure> =>
  Effect.andThen(journal.write(nameOf(list), undefined), journal.write(doneNameOf(list), undefined))

/** Checks for an error about the list, not about one user. */
export const isAboutList = (error: BadRequest | Forbidden | NotFound): boolean =>
  saidBy(error).some(({ resource_type }) => resource_type === "list")

/** The problems in an error. */
export const saidBy = ({ detail, problems, title, type }: BadRequest | Forbidden | NotFound): ReadonlyArray<Problem> =>
  problems.length > 0 ? problems : [{
    ...(detail === undefined ? {} : { detail }),
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type })
  }]

/** The texts of problems. */
export const saidIn = (problems: ReadonlyArray<Problem>): ReadonlyArray<string> =>
  problems.flatMap(({ detail, message, title }) => message ?? detail ?? title ?? [])

/** The refusal in problems about a user; its reason is `otherwise` unless the text names another. */
export const refusalOf = (otherwise: RefusalReason, problems: ReadonlyArray<Problem>): typeof Refusal.Type => {
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
