/** Sources of uploads: bytes of known size that are read piece by piece. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SourceFailure } from "../errors/UploadErrors.ts"
import type { Reader } from "./MediaFile.ts"

/** An open source. */
export interface Opened extends Reader<SourceFailure> {
  /** Reads `length` bytes, or all that are left. It may read into `into`, which has room for them, to save memory. */
  readonly read: (offset: number, length: number, into?: Uint8Array) => Effect.Effect<Uint8Array, SourceFailure>
  /** Any part can be read at any time. Otherwise only the bytes read last can be read again. */
  readonly isSeekable: boolean
  /** Changes with the bytes; `undefined` if changes cannot be detected. */
  readonly version: string | undefined
}

/** A source of bytes. Nothing is read before it is opened. */
export interface Source {
  /** Its name in messages and for the service: the name of a file without folders. */
  readonly name: string
  readonly open: Effect.Effect<Opened, SourceFailure, Scope.Scope>
}

/** A stream of bytes: an Effect Stream, a web stream, or an async iterable such as a Node stream. */
export type Bytes =
  | Stream.Stream<Uint8Array, unknown>
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

/** A stream of known size. */
export interface SizedStream {
  readonly stream: Bytes
  /** In bytes. */
  readonly size: number
  /** For messages. Default: `the stream`. */
  readonly name?: string | undefined
}

/** Accepted inputs. `@postwire/node` adds files by their paths. */
export type Input = Uint8Array | ArrayBuffer | Blob | SizedStream | Source

/** The source of an input; `undefined` if it is not an accepted one. */
export const from = (input: Input): Source | undefined => {
  if (isSource(input)) return input
  if (input instanceof ArrayBuffer) return fromBytes(new Uint8Array(input))
  if (ArrayBuffer.isView(input)) return fromBytes(new Uint8Array(input.buffer, input.byteOffset, input.byteLength))
  if (input instanceof Blob) return fromBlob(input)
  if (!Predicate.hasProperty(input, "stream") || !isBytes(input.stream)) return undefined
  return Number.isSafeInteger(input.size) && input.size >= 0 ? fromStream(input.stream, input) : undefined
}

/** The rule for inputs, in words. */
export const rule =
  "must be a Uint8Array, an ArrayBuffer, a Blob, a stream with its size in bytes, or on Node a path (in Effects FileSource.file(path))"

/** Bytes in memory. They must not be changed before the upload has ended. */
export const fromBytes = (bytes: Uint8Array, name = "the bytes"): Source => ({
  name,
  open: Effect.succeed({
    size: bytes.length,
    read: (offset, length) => Effect.sync(() => bytes.subarray(offset, offset + length)),
    isSeekable: true,
    version: undefined
  })
})

/** A Blob or a File, never in memory as a whole. */
export const fromBlob = (blob: Blob, name = nameOf(blob)): Source => ({
  name,
  open: Effect.succeed({
    size: blob.size,
    read: (offset, length) =>
      Effect.tryPromise({
        try: async () => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
        catch: unreadable(name)
      }),
    isSeekable: true,
    version: undefined
  })
})

/** A stream of known size. It is read once, from its beginning. */
export const fromStream = (stream: Bytes, { name = "the stream", size }: Omit<SizedStream, "stream">): Source => {
  const pieces = toStream(stream, unreadable(name))
  const isRepeatable = Stream.isStream(stream)
  let isUsed = false
  return {
    name,
    open: Effect.suspend(() => {
      if (isUsed && !isRepeatable) {
        return Effect.fail(unreadable(name)("a stream can be read once only"))
      }
      isUsed = true
      return Effect.map(Stream.toPull(pieces), (pull) => ({
        size,
        reach: Math.min(size, headBytes),
        read: sequential(name, size, pull),
        isSeekable: false,
        version: undefined
      }))
    })
  }
}

/** Bytes at the beginning of a stream that can be read in any order, to inspect it. */
const headBytes = 1_048_576

/** Reads a stream by offset. It keeps the head until a read goes beyond it, and from then on the last read. */
const sequential = (
  source: string,
  size: number,
  pull: Pull.Pull<ReadonlyArray<unknown>, SourceFailure>
): Opened["read"] => {
  const failure = (fault: SourceFailure["fault"], detail?: string) =>
    Effect.fail(new SourceFailure({ source, fault, detail }))
  let kept: Uint8Array = new Uint8Array()
  /** The offset of `kept`. */
  let start = 0
  /** Received bytes that follow `kept`. */
  let surplus: ReadonlyArray<Uint8Array> = []
  /** The number of bytes received. */
  let end = 0
  let isOver = false

  /** Fills memory from an offset on with kept bytes, then with received ones. */
  const fill = (from: number, target: Uint8Array): Effect.Effect<void, SourceFailure> => {
    let skipped = from - start
    let filled = 0
    // Pieces are copied immediately: if held for a while, they would survive as garbage for much longer.
    const put = (piece: Uint8Array) => {
      const left = piece.subarray(skipped)
      skipped -= Math.min(skipped, piece.length)
      const fits = left.subarray(0, target.length - filled)
      target.set(fits, filled)
      filled += fits.length
      if (fits.length < left.length) surplus = [...surplus, left.subarray(fits.length)]
    }
    const known = [kept, ...surplus]
    surplus = []
    for (const piece of known) put(piece)
    kept = target
    start = from
    const isLast = from + target.length === size
    const next: Effect.Effect<void, SourceFailure> = Effect.suspend(() =>
      // Reads past the declared size too: a longer stream would be cut off unnoticed.
      isOver || (filled === target.length && !isLast) ? Effect.void : Pull.matchEffect(pull, {
        onSuccess: (given) => {
          for (const piece of given) {
            if (!(piece instanceof Uint8Array)) return failure("unreadable", "it emits something other than bytes")
            end += piece.length
            put(piece)
          }
          return end > size ? failure("long") : next
        },
        onFailure: Effect.failCause,
        onDone: () => {
          isOver = true
          return filled < target.length ? failure("short", `after ${end} of ${size} bytes`) : Effect.void
        }
      })
    )
    return next
  }

  return (offset, length, into) =>
    Effect.suspend(() => {
      if (offset < start) return failure("unreadable", "a stream cannot be read again")
      const until = Math.min(offset + length, size)
      const wanted = Effect.sync(() => kept.subarray(offset - start, until - start))
      if (until <= start + kept.length && (until < size || isOver)) return wanted
      return Effect.andThen(
        until > headBytes
          ? fill(offset, into?.subarray(0, until - offset) ?? new Uint8Array(until - offset))
          : fill(start, new Uint8Array(until - start)),
        wanted
      )
    })
}

const toStream = (stream: Bytes, onError: (cause: unknown) => SourceFailure): Stream.Stream<unknown, SourceFailure> =>
  Stream.isStream(stream)
    ? Stream.mapError(stream, onError)
    : stream instanceof ReadableStream
    ? Stream.suspend(() =>
      stream.locked
        ? Stream.fail(onError("the stream is locked: something else reads it"))
        : Stream.fromReadableStream({ evaluate: () => stream, onError })
    )
    : Stream.fromAsyncIterable(stream, onError)

const isBytes = (value: unknown): value is Bytes =>
  Stream.isStream(value) || value instanceof ReadableStream || Predicate.hasProperty(value, Symbol.asyncIterator)

const isSource = (input: Input): input is Source => Predicate.hasProperty(input, "open") && Effect.isEffect(input.open)

const nameOf = (blob: Blob): string => blob instanceof File && blob.name !== "" ? blob.name : "the Blob"

const unreadable = (source: string) => (cause: unknown): SourceFailure =>
  new SourceFailure({ source, fault: "unreadable", detail: cause instanceof Error ? cause.message : String(cause) })
