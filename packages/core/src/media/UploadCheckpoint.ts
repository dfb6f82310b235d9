/** How far an upload is, as a journal has it: enough for another process to go on. */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { JournalFailure, SourceFailure } from "../errors/UploadErrors.ts"
import { nodeCrypto } from "../internal/nodeCrypto.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Entries } from "../storage/Journal.ts"
import type * as Source from "./Source.ts"

const Text = /*#__PURE__*/ Schema.fromJsonString(
  /*#__PURE__*/ Schema.Struct({
    version: /*#__PURE__*/ Schema.Literal(1),
    /** What was asked for, of which account: what differs begins anew. */
    asked: Schema.String,
    /** The `version` of the source. */
    content: /*#__PURE__*/ Schema.optional(Schema.String),
    mediaId: Schema.String,
    mediaKey: /*#__PURE__*/ Schema.optional(Schema.String),
    /** Bytes of a segment; the last one may be shorter. */
    chunk: Schema.Int,
    /** Bytes that the service has accepted. */
    sent: Schema.Int,
    /** Their SHA-256, in hexadecimal digits. */
    hash: Schema.String,
    /** Whether the service was told that these are all. */
    isEnded: Schema.Boolean,
    /** Milliseconds since 1970. */
    expiresAt: /*#__PURE__*/ Schema.optional(Schema.Int),
    /** The alternative text that the service has accepted. */
    alt: /*#__PURE__*/ Schema.optional(Schema.String),
    /** The subtitles that it has accepted. */
    subtitles: /*#__PURE__*/ Schema.Array(Schema.String)
  })
)

/** How far an upload is. */
export type Checkpoint = typeof Text.Type

const decode = /*#__PURE__*/ Schema.decodeUnknownOption(Text)
const encode = /*#__PURE__*/ Schema.encodeSync(Text)

/** Where an upload notes how far it is; nowhere unless it has a key. */
export interface Log<out E> {
  readonly saved: Checkpoint | undefined
  /** Keeps a checkpoint: at once when it is `urgent`, else within a second or when the upload ends. */
  readonly keep: (checkpoint: Checkpoint | undefined, urgency?: "urgent") => Effect.Effect<void, E>
  /** What has been sent, hashed where somebody will ask for it. */
  readonly digest: () => Digest
}

/** A hash of bytes, one piece after the other. */
export interface Digest {
  readonly add: (bytes: Uint8Array) => void
  /** Of what was added so far, in hexadecimal digits. */
  readonly value: () => string
}

/** The log of an upload that notes nothing. */
export const none: Log<never> = {
  saved: undefined,
  keep: () => Effect.void,
  digest: () => ({ add: () => {}, value: () => "" })
}

/** Segments that were sent after the last checkpoint are sent again by whoever goes on. */
const betweenWritesMillis = 1000

/** Uses the log of a key while nobody else does. A text in it that cannot be read is of no use to anybody, and is replaced. */
export const withLog = <A, E, R>(
  { lock, read, write }: Entries,
  key: string,
  use: (log: Log<JournalFailure>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | JournalFailure, R> =>
  Effect.scoped(
    Effect.gen(function*() {
      yield* lock(key)
      const text = yield* read(key)
      const saved = text === undefined ? undefined : decode(text)
      let pending: Checkpoint | undefined
      let writtenAt = -Infinity
      const put = (checkpoint: Checkpoint | undefined) =>
        Effect.andThen(Monotonic.millis, (now) => {
          pending = undefined
          writtenAt = now
          return write(key, checkpoint && encode(checkpoint))
        })
      const log: Log<JournalFailure> = {
        saved: saved?._tag === "Some" ? saved.value : undefined,
        keep: (checkpoint, urgency) =>
          Effect.flatMap(Monotonic.millis, (now) => {
            if (urgency !== undefined || now - writtenAt >= betweenWritesMillis) return put(checkpoint)
            pending = checkpoint
            return Effect.void
          }),
        digest: makeDigest
      }
      return yield* Effect.onExit(use(log), (exit) =>
        // What ended the upload is what there is to say.
        pending === undefined || Exit.isSuccess(exit) ? Effect.void : Effect.ignore(put(pending)))
    })
  )

/** Node's is ten times as fast; that of the Web takes nothing piece by piece. */
const makeDigest = (): Digest => {
  const node = nodeCrypto()?.createHash("sha256")
  if (node !== undefined) return { add: (bytes) => void node.update(bytes), value: () => node.copy().digest("hex") }
  const own = sha256.create()
  return { add: (bytes) => void own.update(bytes), value: () => bytesToHex(own.clone().digest()) }
}

/** Where the upload with a key is in the journal. */
export const nameOf = (key: string): string => `upload.${key}`

/** So much is read at a time for a digest. */
const pieceBytes = 1_048_576

/** The digest of the first bytes of a source. */
export const digestOf = Effect.fnUntraced(function*(
  source: Source.Opened,
  length: number,
  digest: Digest
): Effect.fn.Return<string, SourceFailure> {
  for (let offset = 0; offset < length; offset += pieceBytes) {
    digest.add(yield* source.read(offset, Math.min(pieceBytes, length - offset)))
  }
  return digest.value()
})
