/** The ids of a compliance job as the text that is sent: one on a line, checked. */
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

/** Ids themselves, or a text of them with one on a line. */
export type Ids =
  | Iterable<Parameters.Id>
  | AsyncIterable<Parameters.Id>
  | Stream.Stream<Parameters.Id, unknown>
  | Source.Input

/** Some of the ids as they are sent. */
export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly count: number
}

/** Why there are no ids to send. */
export type IdsError = InvalidParameters | SourceFailure

/** How many ids are in a piece at most. */
export const pieceIds = 10_000

/** The ids in pieces. */
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
        : Effect.fail(invalid(`${ruleOfOne} (number ${place - values.length + wrong + 1} is none)`, values[wrong]))
    }),
    Stream.grouped(most),
    Stream.map((ids) => ({ bytes: new Uint8Array(encoder.encode(`${ids.join("\n")}\n`)), count: ids.length }))
  )
}

/** The error of no ids at all. */
export const none = (operation: string): InvalidParameters =>
  invalidParameter(operation, "ids", "must not be empty", undefined)

const rule = "must be ids in an iterable, an asynchronous one or a Stream, or a text of them with one on a line: " +
  "a Uint8Array, an ArrayBuffer, a Blob, a stream with its size in bytes, or on Node a path"

const ruleOfOne = "must be ids of 1 to 19 digits"

const encoder = /*#__PURE__*/ new TextEncoder()

const encode = /*#__PURE__*/ Schema.encodeUnknownOption(Parameters.id.schema)

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && idPattern.test(value) ? value : Option.match(encode(value), {
    onNone: () => undefined,
    onSome: String
  })

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

/** What is read of a text at a time, in bytes. */
const readBytes = 65_536

/** No id is longer, nor the blanks around it. */
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
            detail: `a line is longer than ${longestLine} characters; one id is on a line`
          })
        }
        return [idsIn(found), Option.some(offset + bytes.length)] as const
      }))
  }))

const idsIn = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => line.trim()).filter((line) => line !== "")
