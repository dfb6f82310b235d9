/**
 * The book of writes that wait for consent: one text in the journal of this user, so that `postwire approve` finds them. A handle
 * is the HMAC of what it stands for, under a key that is in the book: contents that were changed do not keep the handle.
 */
import { Journal } from "@postwire/core/storage/Journal"
import * as VersionedRecord from "@postwire/core/storage/VersionedRecord"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { Refused } from "../money/Refused.ts"

/** A file of a post. */
const Medium = Schema.Struct({
  path: Schema.String,
  alt: Schema.optionalKey(Schema.String),
  /** The SHA-256 of its bytes. */
  digest: Schema.String
})

/** A file of a post. */
export type Medium = typeof Medium.Type

/** A post. */
const Post = Schema.TaggedStruct("post", {
  text: Schema.optionalKey(Schema.String),
  in_reply_to_post_id: Schema.optionalKey(Schema.String),
  quote_post_id: Schema.optionalKey(Schema.String),
  poll: Schema.optionalKey(
    Schema.Struct({ options: Schema.Array(Schema.String), duration_minutes: Schema.Finite })
  ),
  media: Schema.Array(Medium)
})

/** A post. */
export type Post = typeof Post.Type

/** One operation, called with each of several parameters. */
const Calls = Schema.TaggedStruct("calls", {
  operation: Schema.String,
  /** Values of JSON. */
  parameters: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  /** The parameter in which several calls differ. */
  id: Schema.optionalKey(Schema.String)
})

/** One operation, called with each of several parameters. */
export type Calls = typeof Calls.Type

/** A prepared write. */
const Action = Schema.Union([Post, Calls])

/** A prepared write. */
export type Action = typeof Action.Type

const Contents = Schema.Struct({
  /** A hash of the credentials. */
  account: Schema.String,
  /** The name of the account. */
  as: Schema.optionalKey(Schema.String),
  kind: Schema.Literals(["cost", "write"]),
  of: Schema.String,
  micros: Schema.Finite,
  lines: Schema.Array(Schema.String),
  /** What `publish` does. Without one, the same call is made again. */
  action: Schema.optionalKey(Action),
  /** Makes the handle of a prepared write unique. */
  nonce: Schema.optionalKey(Schema.String),
  until: Schema.optionalKey(Schema.Finite)
})

/** The write or the cost of a handle. */
export type Contents = typeof Contents.Type

const states = ["waiting", "approved", "sent", "done"] as const

/** The state of an entry. `sent` is kept if the outcome is unknown. */
export type State = typeof states[number]

const Record = Schema.Struct({
  version: Schema.Literal(1),
  key: Schema.String,
  entries: Schema.Record(
    Schema.String,
    Schema.Struct({ contents: Schema.String, until: Schema.Finite, state: Schema.Literals(states) })
  )
})

type Record = typeof Record.Type

/** An entry of the book. */
export interface Entry {
  readonly handle: string
  readonly contents: Contents
  readonly state: State
  readonly isExpired: boolean
}

const records = VersionedRecord.make(Record)

const name = "mcp"

/** The time for which a handle is valid, in milliseconds. */
export const validMillis = 600_000

/** Sent entries are kept for a day, so that their handles are refused with the reason. */
const keptMillis = 86_400_000

const contentsText = Schema.fromJsonString(Contents)
const encode = Schema.encodeSync(contentsText)
const decode = Schema.decodeUnknownOption(contentsText)

const begin = (): Record => ({ version: 1, key: randomBytes(32).toString("hex"), entries: {} })

/** A MAC of a text, shortened to 128 bits. */
const macOf = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("hex").slice(0, 32)

/** Compares two texts in constant time. */
const isSame = (a: string, b: string): boolean => {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** Reads the book, and writes what `change` returns as its next state. */
const use = <A>(
  change: (record: Record, now: number) => readonly [result: A, next?: Record]
): Effect.Effect<A, Refused, Journal> =>
  Effect.scoped(Effect.gen(function*() {
    const journal = yield* Journal
    yield* journal.lock(name)
    const found = yield* records.read(journal, name)
    const record = found ?? begin()
    const now = yield* Clock.currentTimeMillis
    const [result, next = found === undefined ? record : undefined] = change(record, now)
    if (next !== undefined) yield* records.write(journal, name, { ...next, entries: kept(next.entries, now) })
    return result
  })).pipe(
    Effect.catchTag("StorageFailure", ({ message }) =>
      new Refused({ reason: message, advice: "Nothing was sent. Tell the user to mend the state folder." }))
  )

/** The most entries that wait for consent: an agent may prepare without end, and its user reads them all. */
const mostWaiting = 100

const kept = (entries: Record["entries"], now: number): Record["entries"] => {
  const valid = Object.entries(entries).filter(([, { state, until }]) =>
    now < (state === "sent" || state === "done" ? until + keptMillis : until)
  )
  const oldest = new Set(valid.filter(([, { state }]) => state === "waiting").slice(0, -mostWaiting))
  return Object.fromEntries(valid.filter((entry) => !oldest.has(entry)))
}

/** An entry, if its contents are those of its handle. */
const entryOf = ({ entries, key }: Record, handle: string, now: number): Entry | undefined => {
  const entry = Object.hasOwn(entries, handle) ? entries[handle] : undefined
  if (entry === undefined || !isSame(macOf(key, entry.contents), handle)) return undefined
  const { contents: text, state, until } = entry
  return Option.getOrUndefined(
    Option.map(decode(text), (contents) => ({ handle, contents, state, isExpired: now >= (contents.until ?? until) }))
  )
}

/** The handle of a question that is not prepared: the same call has the same one. */
export const handleOf = (contents: Contents): Effect.Effect<string, Refused, Journal> =>
  use(({ key }) => [macOf(key, encode(contents))])

/** Enters contents, and returns their handle. Prepared writes get a handle of their own each time. */
export const enter = (given: Contents): Effect.Effect<string, Refused, Journal> =>
  use((record, now) => {
    const until = now + validMillis
    const contents = encode(
      given.action === undefined ? given : { ...given, nonce: randomBytes(8).toString("hex"), until }
    )
    const handle = macOf(record.key, contents)
    return [handle, { ...record, entries: { ...record.entries, [handle]: { contents, until, state: "waiting" } } }]
  })

/** Finds an entry that is not forged. */
export const find = (handle: string): Effect.Effect<Entry | undefined, Refused, Journal> =>
  use((record, now) => [entryOf(record, handle, now)])

/** Everything that waits for consent, oldest first. */
export const waiting: Effect.Effect<ReadonlyArray<Entry>, Refused, Journal> = use((record, now) => [
  Object.keys(record.entries).flatMap((handle) => {
    const entry = entryOf(record, handle, now)
    return entry?.state === "waiting" && !entry.isExpired ? [entry] : []
  })
])

/** Moves an entry from one of some states into another, or removes it; false if it is in none of them, or has expired. */
export const move = (
  handle: string,
  from: ReadonlyArray<State>,
  to: State | undefined
): Effect.Effect<boolean, Refused, Journal> =>
  use((record, now) => {
    const entry = entryOf(record, handle, now)
    const { [handle]: old, ...rest } = record.entries
    if (entry === undefined || old === undefined || !from.includes(entry.state)) return [false]
    if (entry.isExpired && entry.state !== "sent") return [false]
    return [true, { ...record, entries: to === undefined ? rest : { ...rest, [handle]: { ...old, state: to } } }]
  })
