/** Where the bytes of an upload come from: something of known size that is read a piece at a time. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SourceFailure } from "../errors/UploadErrors.ts"
import type { Reader } from "./MediaFile.ts"

/** A source while it is read. */
export interface Opened extends Reader<SourceFailure> {
  /**
   * Reads as much as is asked for, or all that is left. Into memory that is given, where that saves some; it has room for as
   * much as is asked for.
   */
  readonly read: (offset: number, length: number, into?: Uint8Array) => Effect.Effect<Uint8Array, SourceFailure>
  /** Whether any part of it can be read at any time. Otherwise what was passed by is gone, but for what was read last. */
  readonly isSeekable: boolean
  /** Is another one once the bytes are others; `undefined` where nothing tells. */
  readonly version: string | undefined
}

/** Where bytes come from. Nothing is read before it is opened. */
export interface Source {
  /** For messages and the service: of a file its name without folders. */
  readonly name: string
  readonly open: Effect.Effect<Opened, SourceFailure, Scope.Scope>
}

/** Bytes that come by themselves: an Effect Stream, a web stream, or anything that gives bytes asynchronously, as streams of Node do. */
export type Bytes =
  | Stream.Stream<Uint8Array, unknown>
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

/** A stream that knows how long it is. */
export interface SizedStream {
  readonly stream: Bytes
  /** In bytes. */
  readonly size: number
  /** For messages. Default: `the stream`. */
  readonly name?: string | undefined
}

/** What can be uploaded. `@postwire/node` adds files by their paths. */
export type Input = Uint8Array | ArrayBuffer | Blob | SizedStream | Source

/** The source of an input; `undefined` where it is none. */
export const from = (input: Input): Source | undefined => {
  if (isSource(input)) return input
  if (input instanceof ArrayBuffer) return fromBytes(new Uint8Array(input))
  if (ArrayBuffer.isView(input)) return fromBytes(new Uint8Array(input.buffer, input.byteOffset, input.byteLength))
  if (input instanceof Blob) return fromBlob(input)
  if (!Predicate.hasProperty(input, "stream") || !isBytes(input.stream)) return undefined
  return Number.isSafeInteger(input.size) && input.size >= 0 ? fromStream(input.stream, input) : undefined
}

/** What an input must be, in words. */
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

/** A Blob or a File. It is never in memory as a whole. */
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
export const fromStream = (
  stream: Bytes,
  { name = "the stream", size }: Omit<SizedStream, "stream">
): Source => {
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

/** Of a stream, who wants to know what it is can read so much of its beginning, in any order. */
const headBytes = 1_048_576

/** Reads a stream by offset. It keeps its head until a read goes beyond that, and then what was read last. */
const sequential = (
  source: string,
  size: number,
  pull: Pull.Pull<ReadonlyArray<unknown>, SourceFailure>
): Opened["read"] => {
  const failure = (fault: SourceFailure["fault"], detail?: string) =>
    Effect.fail(new SourceFailure({ source, fault, detail }))
  let kept: Uint8Array = new Uint8Array()
  /** Where what is kept begins. */
  let start = 0
  /** What has come besides. */
  let surplus: ReadonlyArray<Uint8Array> = []
  /** How much has come. */
  let end = 0
  let isOver = false

  /** Fills memory with what is kept from an offset on, and with what comes. */
  const fill = (from: number, target: Uint8Array): Effect.Effect<void, SourceFailure> => {
    let skipped = from - start
    let filled = 0
    // Each is copied as it comes: pieces that are held for a while are garbage for much longer.
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
      // Beyond its end is looked as well: what is longer than was said would be cut off.
      isOver || (filled === target.length && !isLast) ? Effect.void : Pull.matchEffect(pull, {
        onSuccess: (given) => {
          for (const piece of given) {
            if (!(piece instanceof Uint8Array)) return failure("unreadable", "it gives something else than bytes")
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

const toStream = (
  stream: Bytes,
  onError: (cause: unknown) => SourceFailure
): Stream.Stream<unknown, SourceFailure> =>
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
