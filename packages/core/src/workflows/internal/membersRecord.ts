/**
 * What the journal knows of the members of a list that are being changed: the plan, which is written once, and how far it is done,
 * which is written with every change.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { JournalFailure } from "../../errors/UploadErrors.ts"
import type { Entries } from "../../storage/Journal.ts"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"
import { reasons } from "../ListMembersOptions.ts"

const Known = /*#__PURE__*/ Schema.Struct({
  id: Schema.String,
  username: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})
/** A user whose id is known. */
export type Known = typeof Known.Type

const Refusal = /*#__PURE__*/ Schema.Struct({
  reason: /*#__PURE__*/ Schema.Literals(reasons),
  detail: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const Users = /*#__PURE__*/ Schema.Array(Known)

/** A user whom the service does not know by that name. */
const Unknown = /*#__PURE__*/ Schema.Struct({
  user: /*#__PURE__*/ Schema.Struct({ username: Schema.String }),
  refusal: Refusal
})

const PlanRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** A hash of what is wished for. */
  wish: Schema.String,
  /** When it was made, in milliseconds; its name, too. */
  madeAt: Schema.Finite,
  /** How many members the list had. */
  members: Schema.Finite,
  remove: Users,
  add: Users,
  there: Users,
  kept: Users,
  unknown: /*#__PURE__*/ Schema.Array(Unknown)
})
/** A plan as it is kept. */
export type PlanRecord = typeof PlanRecord.Type

const DoneRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** Of which plan. */
  madeAt: Schema.Finite,
  /** How many changes were tried: removals come first. */
  tried: Schema.Finite,
  /** By the number of the change, from 0. */
  refused: /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Tuple([Schema.Finite, Refusal])),
  /** Changes that are to be tried once more. */
  again: /*#__PURE__*/ Schema.Array(Schema.Finite)
})
/** How far a plan is done. */
export type DoneRecord = typeof DoneRecord.Type

/** Where the plan of a list is in the journal. */
export const nameOf = (list: string): string => `members.${list}`

const doneNameOf = (list: string): string => `done.members.${list}`

const planRecords = /*#__PURE__*/ VersionedRecord.make(PlanRecord)
const doneRecords = /*#__PURE__*/ VersionedRecord.make(DoneRecord)

/** The plan of a list; `undefined` where there is none. */
export const readPlan = (journal: Entries, list: string): Effect.Effect<PlanRecord | undefined, JournalFailure> =>
  planRecords.read(journal, nameOf(list))

/** How far a plan is done. */
export const readDone = (journal: Entries, list: string, { madeAt }: PlanRecord) =>
  Effect.map(
    doneRecords.read(journal, doneNameOf(list)),
    (done): DoneRecord => done?.madeAt === madeAt ? done : { version: 1, madeAt, tried: 0, refused: [], again: [] }
  )

/** Keeps a plan of which nothing is done. */
export const writePlan = (journal: Entries, list: string, plan: PlanRecord): Effect.Effect<void, JournalFailure> =>
  planRecords.write(journal, nameOf(list), plan)

/** Keeps how far a plan is done. When it ends, that is durable. */
export const writeDone = (journal: Entries, list: string, done: DoneRecord): Effect.Effect<void, JournalFailure> =>
  doneRecords.write(journal, doneNameOf(list), done)

/** Forgets a plan that is done. */
export const forget = (journal: Entries, list: string): Effect.Effect<void, JournalFailure> =>
  Effect.andThen(journal.write(nameOf(list), undefined), journal.write(doneNameOf(list), undefined))
