/**
 * What the journal knows of the members of a list that are being changed: the plan, which is written once, and how far it is done,
 * which is written with every change.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Entries } from "../Journal.ts"
import { JournalFailure } from "../UploadErrors.ts"

const User = /*#__PURE__*/ Schema.Struct({
  id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  username: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

/** Why a change was refused. */
export const reasons = ["blocked", "unknown", "suspended", "protected", "full", "failed", "refused"] as const

const Refusal = /*#__PURE__*/ Schema.Struct({
  reason: /*#__PURE__*/ Schema.Literals(reasons),
  detail: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const Users = /*#__PURE__*/ Schema.Array(User)

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
  unknown: /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({ user: User, refusal: Refusal }))
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

const decodePlan = /*#__PURE__*/ Schema.decodeUnknownEffect(PlanRecord)
const decodeDone = /*#__PURE__*/ Schema.decodeUnknownEffect(DoneRecord)

const read = Effect.fnUntraced(function*<A>(
  journal: Entries,
  name: string,
  decode: (json: unknown) => Effect.Effect<A, Schema.SchemaError>
): Effect.fn.Return<A | undefined, JournalFailure> {
  const held = yield* journal.read(name)
  if (held === undefined) return undefined
  const failure = (fault: JournalFailure["fault"]) =>
    new JournalFailure({ journal: journal.describe(name), fault, action: "read" })
  const json = yield* Effect.try({ try: (): unknown => JSON.parse(held), catch: () => failure("damaged") })
  return yield* Effect.mapError(
    decode(json),
    () => failure(Predicate.hasProperty(json, "version") && Number(json.version) > 1 ? "newer" : "damaged")
  )
})

/** The plan of a list; `undefined` where there is none. */
export const readPlan = (journal: Entries, list: string): Effect.Effect<PlanRecord | undefined, JournalFailure> =>
  read(journal, nameOf(list), decodePlan)

/** How far a plan is done. */
export const readDone = (journal: Entries, list: string, { madeAt }: PlanRecord) =>
  Effect.map(
    read(journal, doneNameOf(list), decodeDone),
    (done): DoneRecord => done?.madeAt === madeAt ? done : { version: 1, madeAt, tried: 0, refused: [], again: [] }
  )

/** Keeps a plan of which nothing is done. */
export const writePlan = (journal: Entries, list: string, plan: PlanRecord): Effect.Effect<void, JournalFailure> =>
  journal.write(nameOf(list), JSON.stringify(plan))

/** Keeps how far a plan is done. When it ends, that is durable. */
export const writeDone = (journal: Entries, list: string, done: DoneRecord): Effect.Effect<void, JournalFailure> =>
  journal.write(doneNameOf(list), JSON.stringify(done))

/** Forgets a plan that is done. */
export const forget = (journal: Entries, list: string): Effect.Effect<void, JournalFailure> =>
  Effect.andThen(journal.write(nameOf(list), undefined), journal.write(doneNameOf(list), undefined))

/** What tells one wish from another. */
export const wishOf = (wish: unknown): string => bytesToHex(sha256(utf8ToBytes(JSON.stringify(wish)))).slice(0, 32)
