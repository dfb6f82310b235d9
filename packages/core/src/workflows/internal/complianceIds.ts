/** Checks the ids of a compliance job and encodes them as text with one id per line. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { invalidParameter, type InvalidParameters } from "../../errors/Errors.ts"
import { SourceFailure } from "../../errors/UploadErrors.ts"
import { Lines } from "../../internal/lineSplitter.ts"
import * as Source from "../../media/Source.ts"
import { idPattern } from "../../schema/Codecs.ts"
import * as Parameters from "../../schema/Parameters.ts"

/** Ids, or a text with one id per line. */
export type Ids =
  | Iterable<Parameters.Id>
  | AsyncIterable<Parameters.Id>
  | Stream.Stream<Parameters.Id, unknown>
  | Source.Input

/** Encoded ids. */
export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly count: number
}

/** The errors of reading ids. */
export type IdsError = InvalidParameters | SourceFailure

/** Most ids in a piece. */
export const pieceIds = 10_000

/** Encodes ids in pieces. */
export const pieces = (operation: string, ids: Ids, most = pieceIds): Stream.Stream<Piece, IdsError> => {
  let place = 0
  const invalid = (rule: string, value: unknown) => invalidParameter(operation, "ids", rule, value)
  const given = streamOf(ids)
  if (given === undefined) return Stream.fail(invalid(rule, ids))
  return given.pipe(
    Stream.mapArrayEffect((values) => {
      const texts = Arr.map(values, textOf)
      const wrong = texts.indexOf(undefined)
      place += values.length
      return wrong < 0
        ? Effect.succeed(Arr.map(texts, (text) => text ?? ""))
        : Effect.fail(invalid(`${ruleOfOne} (number ${place - values.length + wrong + 1} is not one)`, values[wrong]))
    }),
    Stream.grouped(most),
    Stream.map((ids) => ({ bytes: new Uint8Array(encoder.encode(`${ids.join("\n")}\n`)), count: ids.length }))
  )
}

/** The error for no ids. */
export const none = (operation: string): InvalidParameters =>
  invalidParameter(operation, "ids", "must not be empty", undefined)

const rule = "must be ids in an iterable, an async iterable or a Stream, or a text with one id per line: " +
  "a Uint8Array, an ArrayBuffer, a Blob, a stream with its size in bytes, or on Node a path"

const ruleOfOne = "must be ids of 1 to 19 digits"

const encoder = /*#__PURE__*/ new TextEncoder()

const encode = /*#__PURE__*/ Schema.encodeUnknownOption(Parameters.id.schema)

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && idPattern.test(value) ?
    value :
    Option.match(encode(value), { onNone: () => undefined, onSome: String })

const streamOf = (ids: Ids): Stream.Stream<unknown, SourceFailure> | undefined => {
  if (typeof ids === "string") return undefined
  if (Stream.isStream(ids)) return Stream.mapError(ids, unreadable)
  if (isText(ids)) {
    const source = Source.from(ids)
    return source && linesOf(source)
  }
  if (isAsync(ids)) return Stream.fromAsyncIterable(ids, unreadable)
  return Predicate.isIterable(ids) ? Stream.fromIterable(ids) : undefined
}

const isText = (ids: Exclude<Ids, Stream.Stream<Parameters.Id, unknown>>): ids is Source.Input =>
  ids instanceof ArrayBuffer || ArrayBuffer.isView(ids) || ids instanceof Blob ||
  Predicate.hasProperty(ids, "stream") || Predicate.hasProperty(ids, "open")

const isAsync = (ids: Ids): ids is AsyncIterable<Parameters.Id> => Predicate.hasProperty(ids, Symbol.asyncIterator)

const unreadable = (cause: unknown): SourceFailure =>
  cause instanceof SourceFailure
    ? cause
    : new SourceFailure({
      source: "the ids",
      fault: "unreadable",
      detail: cause instanceof Error ? cause.message : String(cause)
    })

/** Bytes per read of a text. */
const readBytes = 65_536

/** Longest line of a text in characters: an id with blanks around it. */
const longestLine = 256

const linesOf = (source: Source.Source): Stream.Stream<string, SourceFailure> =>
  Stream.unwrap(Effect.map(source.open, ({ read, size }) => {
    const lines = new Lines(longestLine)
    return Stream.paginate(0, (offset) =>
      Effect.gen(function*() {
        if (offset >= size) return [idsIn([lines.end()]), Option.none<number>()] as const
        const bytes = yield* read(offset, Math.min(readBytes, size - offset))
        const found = lines.push(bytes)
        if (lines.isTooLong) {
          return yield* new SourceFailure({
            source: source.name,
            fault: "unreadable",
            detail: `a line is longer than ${longestLine} characters; each line must have one id`
          })
        }
        return [idsIn(found), Option.some(offset + bytes.length)] as const
      }))
  }))

const idsIn = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => line.trim()).filter((line) => line !== "")
