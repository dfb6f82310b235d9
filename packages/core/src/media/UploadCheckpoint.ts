/** The state of an upload in a journal, from which another process can continue. */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import type { SourceFailure } from "../errors/UploadErrors.ts"
import { nodeCrypto } from "../internal/nodeCrypto.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Entries } from "../storage/Journal.ts"
import type * as Source from "./Source.ts"

const Text = /*#__PURE__*/ Schema.fromJsonString(/*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  /** The parameters and the account. An upload that differs starts from the beginning. */
  asked: Schema.String,
  /** The `version` of the source. */
  content: /*#__PURE__*/ Schema.optional(Schema.String),
  mediaId: Schema.String,
  mediaKey: /*#__PURE__*/ Schema.optional(Schema.String),
  /** Bytes per segment; the last one may be shorter. */
  chunk: Schema.Int,
  /** Bytes that the service has accepted. */
  sent: Schema.Int,
  /** Their SHA-256, in hexadecimal digits. */
  hash: Schema.String,
  /** The service has accepted the end of the upload. */
  isEnded: Schema.Boolean,
  /** Milliseconds since 1970. */
  expiresAt: /*#__PURE__*/ Schema.optional(Schema.Int),
  /** The accepted alternative text. */
  alt: /*#__PURE__*/ Schema.optional(Schema.String),
  /** The accepted subtitles. */
  subtitles: /*#__PURE__*/ Schema.Array(Schema.String)
}))

/** The state of an upload. */
export type Checkpoint = typeof Text.Type

const decode = /*#__PURE__*/ Schema.decodeUnknownOption(Text)
const encode = /*#__PURE__*/ Schema.encodeSync(Text)

/** The log of an upload. Without a key it records nothing. */
export interface Log<out E> {
  readonly saved: Checkpoint | undefined
  /** Writes a checkpoint: immediately if it is `urgent`, else within a second or when the upload ends. */
  readonly keep: (checkpoint: Checkpoint | undefined, urgency?: "urgent") => Effect.Effect<void, E>
  /** A new digest of the bytes sent; it computes nothing without a key. */
  readonly digest: () => Digest
}

/** A hash of bytes that are added piece by piece. */
export interface Digest {
  readonly add: (bytes: Uint8Array) => void
  /** The hash of the bytes added so far, in hexadecimal digits. */
  readonly value: () => string
}

/** The log that records nothing. */
export const none: Log<never> = {
  saved: undefined,
  keep: () => Effect.void,
  digest: () => ({ add: () => {}, value: () => "" })
}

/** Milliseconds between checkpoints. Segments sent after the last one are repeated on resumption. */
const betweenWritesMillis = 1000

/** Uses the log of a key exclusively. A checkpoint that cannot be decoded is replaced. */
export const withLog = <A, E, R>(
  { lock, read, write }: Entries,
  key: string,
  use: (log: Log<StorageFailure>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | StorageFailure, R> =>
  Effect.scoped(Effect.gen(function*() {
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
    const log: Log<StorageFailure> = {
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
      // The error of the upload takes precedence over one of the journal.
      pending === undefined || Exit.isSuccess(exit) ? Effect.void : Effect.ignore(put(pending)))
  }))

/** Node's SHA-256 is ten times as fast as this one in JavaScript; Web Crypto cannot hash piece by piece. */
const makeDigest = (): Digest => {
  const node = nodeCrypto()?.createHash("sha256")
  if (node !== undefined) return { add: (bytes) => void node.update(bytes), value: () => node.copy().digest("hex") }
  const own = sha256.create()
  return { add: (bytes) => void own.update(bytes), value: () => bytesToHex(own.clone().digest()) }
}

/** The journal's key for an upload. */
export const nameOf = (key: string): string => `upload.${key}`

/** Bytes per read for a digest. */
const pieceBytes = 1_048_576

/** The digest of the first bytes of a source. */
export const digestOf = Effect.fnUntraced(
  function*(source: Source.Opened, length: number, digest: Digest): Effect.fn.Return<string, SourceFailure> {
    for (let offset = 0; offset < length; offset += pieceBytes) {
      digest.add(yield* source.read(offset, Math.min(pieceBytes, length - offset)))
    }
    return digest.value()
  }
)
