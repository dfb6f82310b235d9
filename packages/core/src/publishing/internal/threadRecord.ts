/**
 * The record of a thread in the journal: a hash of its posts, and the state of each part. It holds the ids of the posts, their
 * texts as the service has them, and a fingerprint of the credential.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { StorageFailure } from "../../errors/StorageErrors.ts"
import type * as Source from "../../media/Source.ts"
import { categories, fileTypes } from "../../schema/models/Media.ts"
import type { Entries } from "../../storage/Journal.ts"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"
import type { Media, Post } from "../PublishOptions.ts"

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
  let record = begun
  const turn = Semaphore.makeUnsafe(1)
  const change = (next: () => ThreadRecord | undefined) =>
    turn.withPermit(Effect.suspend(() => {
      const changed = next()
      return changed === undefined
        ? Effect.void
        : Effect.tap(write(journal, key, changed), () => Effect.sync(() => record = changed))
    }))
  const partOf = (index: number): Part => record.parts[index] ?? { _tag: "waiting" }
  const changed = (index: number, part: Part): ThreadRecord => ({
    ...record,
    parts: record.parts.map((other, i) => i === index ? part : other)
  })
  return {
    current: () => record,
    partOf,
    keep: (index, part) => change(() => changed(index, part)),
    keepAlive: (index) =>
      Effect.flatMap(Clock.currentTimeMillis, (lastAt) =>
        change(() => {
          const part = partOf(index)
          return part._tag === "sent" ? changed(index, { ...part, lastAt }) : undefined
        })),
    abandon: change(() => ({ ...record, isAbandoned: true }))
  }
}

/** A hash that identifies the posts of a thread. Files are identified by name. */
export const contentsOf = (posts: ReadonlyArray<Post>): string =>
  VersionedRecord.digestOf(JSON.stringify(posts.map(outlineOf), plain))

const outlineOf = ({ media = [], ...post }: Post) => ({ ...post, media: media.map(fileOf) })

const fileOf = (given: Source.Input | Media): unknown => {
  if (!Predicate.hasProperty(given, "file")) return nameOfInput(given)
  const { alt, category, file, subtitles, type } = given
  const tracks = subtitles?.map(({ file, language, name }) => [nameOfInput(file), language, name])
  return { file: nameOfInput(file), alt, category, type, subtitles: tracks }
}

/** The name of a file. Its bytes are not read: the files of a finished thread may be gone. */
const nameOfInput = (input: Source.Input): unknown =>
  "name" in input && input.name !== undefined
    ? input.name
    : "size" in input
    ? input.size
    : "byteLength" in input
    ? input.byteLength
    : null

/** Normalizes the order of properties and the form of ids. */
const plain = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return String(value)
  if (!Predicate.isObject(value) || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
