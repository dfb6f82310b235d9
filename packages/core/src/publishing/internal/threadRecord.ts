/**
 * The record of a thread in the journal: a hash of its posts, and the state of each part. It holds the ids of the posts, their
 * texts as the service has them, and a fingerprint of the credential.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StorageFailure } from "../../errors/StorageErrors.ts"
import { categories, fileTypes } from "../../schema/models/Media.ts"
import type { Entries } from "../../storage/Journal.ts"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"
import * as RecordLog from "./recordLog.ts"

const UploadedMedia = /*#__PURE__*/ Schema.Struct({
  id: Schema.String,
  media_key: /*#__PURE__*/ Schema.UndefinedOr(Schema.String),
  type: /*#__PURE__*/ Schema.Literals(fileTypes),
  category: /*#__PURE__*/ Schema.Literals(categories),
  size: Schema.Finite,
  expiresAt: /*#__PURE__*/ Schema.UndefinedOr(Schema.Date)
})

/** A part that has to be sent, for the first time or not. */
const Waiting = /*#__PURE__*/ Schema.TaggedStruct("waiting", {
  /** The time at which it was first sent, in milliseconds. */
  firstAt: /*#__PURE__*/ Schema.optionalKey(Schema.Finite)
})

const Sent = /*#__PURE__*/ Schema.TaggedStruct("sent", {
  firstAt: Schema.Finite,
  /** The last time at which it was known to be unsent; renewed regularly while it waits for a rate limit. */
  lastAt: Schema.Finite,
  media: /*#__PURE__*/ Schema.Array(UploadedMedia),
  /** The service has accepted it without returning the post. */
  isAccepted: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean),
  /** A call has failed with `ThreadUndecided`. */
  isUndecided: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
})

/** A part that was sent or is about to be, without a response so far. */
export type Sent = typeof Sent.Type

/** A part that was posted. */
const Posted = /*#__PURE__*/ Schema.TaggedStruct("posted", {
  id: Schema.String,
  text: Schema.String,
  media: /*#__PURE__*/ Schema.Array(UploadedMedia)
})

const Part = /*#__PURE__*/ Schema.Union([Waiting, Sent, Posted])
/** The state of a part. */
export type Part = typeof Part.Type

const ThreadRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** A hash of its posts. */
  contents: Schema.String,
  authorId: Schema.String,
  /** The fingerprint of the credential that last published it. */
  credential: Schema.String,
  /** The id of a post of the author that is older than all parts. */
  after: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  /** The caller has decided to send no more. */
  isAbandoned: Schema.Boolean,
  parts: /*#__PURE__*/ Schema.Array(Part)
})
/** The record of a thread. */
export type ThreadRecord = typeof ThreadRecord.Type

const records = /*#__PURE__*/ VersionedRecord.make(ThreadRecord)

/** The journal's key for a thread. */
export const nameOf = (key: string): string => `thread.${key}`

/** The key for the upload of a file. Parts and files count from 1. */
export const uploadKeyOf = (key: string, part: number, file: number): string => `${part}.${file}.thread.${key}`

/** Reads the record of a thread, if there is one. */
export const read = (journal: Entries, key: string): Effect.Effect<ThreadRecord | undefined, StorageFailure> =>
  records.read(journal, nameOf(key))

/** Writes the record of a thread durably. */
export const write = (journal: Entries, key: string, record: ThreadRecord): Effect.Effect<void, StorageFailure> =>
  records.write(journal, nameOf(key), record)

/** The record of a thread that is being published. Changes are durable before they are visible. */
export interface Log {
  readonly current: () => ThreadRecord
  readonly partOf: (index: number) => Part
  readonly keep: (index: number, part: Part) => Effect.Effect<void, StorageFailure>
  /** Notes that a part is still unsent. */
  readonly keepAlive: (index: number) => Effect.Effect<void, StorageFailure>
  /** Notes that no more is sent. */
  readonly abandon: Effect.Effect<void, StorageFailure>
}

/** Makes the log of a thread. */
export const makeLog = (journal: Entries, key: string, begun: ThreadRecord): Log => {
  const { change, current } = RecordLog.make((record: ThreadRecord) => write(journal, key, record), begun)
  const partOf = (index: number): Part => current().parts[index] ?? { _tag: "waiting" }
  const changed = (record: ThreadRecord, index: number, part: Part): ThreadRecord => ({
    ...record,
    parts: record.parts.map((other, i) => i === index ? part : other)
  })
  return {
    current,
    partOf,
    keep: (index, part) => change((record) => changed(record, index, part)),
    keepAlive: (index) =>
      Effect.flatMap(Clock.currentTimeMillis, (lastAt) =>
        change((record) => {
          const part = partOf(index)
          return part._tag === "sent" ? changed(record, index, { ...part, lastAt }) : undefined
        })),
    abandon: change((record) => ({ ...record, isAbandoned: true }))
  }
}
