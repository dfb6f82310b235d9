/**
 * What the journal knows of a thread: which one it is, and what became of each part. Of the posts it has ids, and texts as the
 * service has them; of the credential a fingerprint.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { JournalFailure } from "../../errors/UploadErrors.ts"
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

/** A part that is to be sent: never was, or was in vain. */
const Waiting = /*#__PURE__*/ Schema.TaggedStruct("waiting", {
  /** When it was sent first, in milliseconds. */
  firstAt: /*#__PURE__*/ Schema.optionalKey(Schema.Finite)
})

const Sent = /*#__PURE__*/ Schema.TaggedStruct("sent", {
  firstAt: Schema.Finite,
  /** When it is known last that it was to be sent: whoever waits for a rate limit notes it now and then. */
  lastAt: Schema.Finite,
  media: /*#__PURE__*/ Schema.Array(UploadedMedia),
  /** The service says that it has it, and no more. */
  isAccepted: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean),
  /** A call has failed because it could not be decided. */
  isUndecided: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
})

/** A part that was sent, or is about to be, and of which nothing was heard. */
export type Sent = typeof Sent.Type

/** A part that was posted. */
const Posted = /*#__PURE__*/ Schema.TaggedStruct("posted", {
  id: Schema.String,
  text: Schema.String,
  media: /*#__PURE__*/ Schema.Array(UploadedMedia)
})

const Part = /*#__PURE__*/ Schema.Union([Waiting, Sent, Posted])
/** What became of a part. */
export type Part = typeof Part.Type

const ThreadRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** A hash of its posts. */
  contents: Schema.String,
  authorId: Schema.String,
  /** Of the credential that it was published with last. */
  credential: Schema.String,
  /** A post of the author that is older than all of them. */
  after: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  /** Whether it was decided that nothing more is sent. */
  isAbandoned: Schema.Boolean,
  parts: /*#__PURE__*/ Schema.Array(Part)
})
/** What the journal knows of a thread. */
export type ThreadRecord = typeof ThreadRecord.Type

const records = /*#__PURE__*/ VersionedRecord.make(ThreadRecord)

/** Where a thread is in the journal. */
export const nameOf = (key: string): string => `thread.${key}`

/** The key of the upload of a file. Parts and files count from 1. */
export const uploadKeyOf = (key: string, part: number, file: number): string => `${part}.${file}.thread.${key}`

/** The record of a thread; `undefined` where there is none. */
export const read = (journal: Entries, key: string): Effect.Effect<ThreadRecord | undefined, JournalFailure> =>
  records.read(journal, nameOf(key))

/** Keeps the record of a thread. When it ends, that is durable. */
export const write = (journal: Entries, key: string, record: ThreadRecord): Effect.Effect<void, JournalFailure> =>
  records.write(journal, nameOf(key), record)

/** The record of a thread that is being published: what changes in it is durable before it is there. */
export interface Log {
  readonly current: () => ThreadRecord
  readonly partOf: (index: number) => Part
  readonly keep: (index: number, part: Part) => Effect.Effect<void, JournalFailure>
  /** Notes that a part that was to be sent may still be so. */
  readonly keepAlive: (index: number) => Effect.Effect<void, JournalFailure>
  /** Decides that nothing more is sent. */
  readonly abandon: Effect.Effect<void, JournalFailure>
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

/** What tells the posts of one thread from those of another. Files are known by their names. */
export const contentsOf = (posts: ReadonlyArray<Post>): string =>
  VersionedRecord.digestOf(JSON.stringify(posts.map(outlineOf), plain))

const outlineOf = ({ media = [], ...post }: Post) => ({ ...post, media: media.map(fileOf) })

const fileOf = (given: Source.Input | Media): unknown => {
  if (!Predicate.hasProperty(given, "file")) return nameOfInput(given)
  const { alt, category, file, subtitles, type } = given
  const tracks = subtitles?.map(({ file, language, name }) => [nameOfInput(file), language, name])
  return { file: nameOfInput(file), alt, category, type, subtitles: tracks }
}

/** The bytes are not read: a thread that is finished may have outlived its files. */
const nameOfInput = (input: Source.Input): unknown =>
  "name" in input && input.name !== undefined
    ? input.name
    : "size" in input
    ? input.size
    : "byteLength" in input
    ? input.byteLength
    : null

/** In one order, and with one way to write an id. */
const plain = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return String(value)
  if (!Predicate.isObject(value) || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
