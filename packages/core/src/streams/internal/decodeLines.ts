/** Decodes the bytes of a stream into items and notices. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Redaction from "../../auth/Redaction.ts"
import * as Anomaly from "../../schema/Anomaly.ts"
import type { Definition } from "../../schema/Definition.ts"
import { Problem } from "../../schema/models/Problem.ts"
import * as StreamItem from "../../schema/StreamItem.ts"
import * as Json from "../../wire/Json.ts"
import * as Repair from "../../wire/Repair.ts"
import * as ResponseDecoder from "../../wire/ResponseDecoder.ts"
import type { Wire } from "../../wire/Wire.ts"

/** An empty line, which the service sends while it has no items. */
export interface KeepAlive {
  readonly _tag: "KeepAlive"
}

/** Problems that the service reports. Usually it ends the connection after that. */
export interface Problems {
  readonly _tag: "Problems"
  readonly problems: ReadonlyArray<Problem>
  /** Why the service ends the connection, if it does, such as `UpstreamOperationalDisconnect`. */
  readonly disconnectType: string | undefined
}

/** A line that is not an item. */
export interface Unreadable {
  readonly _tag: "Unreadable"
  readonly reason: string
}

/** A decoded line that is not an item. */
export type Notice = KeepAlive | Problems | Unreadable

/** A decoded line. */
export type Entry = StreamItem.AnyItem | Notice

export const isItem = (entry: Entry): entry is StreamItem.AnyItem => !("_tag" in entry)

/** Decodes the bytes of one connection. */
export interface Decoder {
  /** Decodes the lines that are complete with a piece, and adds them to `entries`. */
  readonly push: (piece: Uint8Array, entries?: Array<Entry>) => ReadonlyArray<Entry>
  /** Decodes the rest, which has no line end. */
  readonly end: () => ReadonlyArray<Entry>
}

/** Settings of a decoder. */
export interface Settings {
  readonly wire: Wire
  readonly verify: Anomaly.Verify
  /** Removes credentials from messages. */
  readonly redact: Redaction.Redact
  /** Called with the parts of a line that were omitted. */
  readonly onAnomalies?: ((anomalies: ReadonlyArray<Anomaly.Anomaly>) => void) | undefined
  /** The longest line, in bytes; default 4 MiB. */
  readonly longest?: number | undefined
}

interface Reader {
  readonly schema: Schema.Codec<StreamItem.Body, unknown>
  readonly is: (body: unknown) => body is StreamItem.Body
  repair: ReturnType<typeof Repair.make> | undefined
}

const readers = new WeakMap<Definition["result"], Reader>()

const readerOf = (result: Definition["result"]): Reader => {
  let reader = readers.get(result)
  if (reader === undefined) {
    const schema = ResponseDecoder.lineOf(result)
    readers.set(result, reader = { schema, is: ResponseDecoder.verifierOf(schema), repair: undefined })
  }
  return reader
}

const keepAlive: KeepAlive = { _tag: "KeepAlive" }

const unreadable = (reason: string): Unreadable => ({ _tag: "Unreadable", reason })

/** Makes a decoder. */
export const make = (
  { result }: Pick<Definition, "result">,
  { longest = longestLine, onAnomalies, redact, verify, wire }: Settings
): Decoder => {
  const reader = readerOf(result)
  const isPost = StreamItem.isPost(result)
  const normalise = result._tag === "Value" ? result.normalise : undefined
  const gathered = result._tag === "One" ? result.model.gathered : undefined
  const toNeutral = wire.toNeutral(reader.schema)
  const lines = new LineReader(longest)

  const read = (line: string): Entry => {
    if (line === "") return keepAlive
    let parsed: unknown
    try {
      parsed = Json.parse(line)
    } catch (error) {
      return unreadable(Json.reasonOf("line", error))
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
      return unreadable("the line is not an object")
    }
    if (!("data" in parsed) || parsed.data === null) return problemsIn(parsed)
    if (gathered !== undefined) ResponseDecoder.gather(parsed.data, gathered)
    normalise?.(parsed)
    const body = wire.isForeign(line) ? wire.problemToNeutral(toNeutral(parsed)) : parsed
    return reader.is(body) && body.errors === undefined ? StreamItem.make(isPost, body) : repaired(body)
  }

  const repaired = (body: unknown): Entry => {
    const outcome = (reader.repair ??= Repair.make(reader.schema))(body)
    const { found, last } = outcome
    if (!isLeft(body, outcome) || (verify === "strict" && found.length > 0)) {
      const first = verify === "strict" ? found[0] : last
      return unreadable(
        first === undefined ? "not of the expected type" : redact(`${first.path} is not ${first.expected}`)
      )
    }
    const clean = body.errors === undefined ? body : { ...body, errors: redacted(body.errors) }
    const anomalies = found.map((anomaly) => Anomaly.redacted(anomaly, redact))
    if (anomalies.length > 0) onAnomalies?.(anomalies)
    return StreamItem.make(isPost, clean, anomalies)
  }

  /** True if the rest of a repaired line is an item. If nothing was omitted, it is either valid or beyond repair. */
  const isLeft = (body: unknown, { found, isAnswer }: Repair.Repaired): body is StreamItem.Body =>
    isAnswer && (found.length > 0 || reader.is(body))

  const problemsIn = (body: object): Entry => {
    const neutral = wire.problemToNeutral(body)
    const errors = Predicate.hasProperty(neutral, "errors") && Array.isArray(neutral.errors) ? neutral.errors : []
    const problems = redacted(errors)
    if (problems.length === 0) return unreadable("the line has neither data nor errors")
    const type = problems.map((problem) => problem["disconnect_type"]).find((type) => typeof type === "string")
    return { _tag: "Problems", problems, disconnectType: type }
  }

  const redacted = (problems: ReadonlyArray<unknown>): ReadonlyArray<Problem> =>
    problems.map((problem) => Redaction.within(problem, redact)).filter(isProblem)

  const tooLong = unreadable(`the line is longer than ${longest} bytes`)
  return {
    push(piece, entries = []) {
      lines.push(piece, (line) => entries.push(read(line)), () => entries.push(tooLong))
      return entries
    },
    end() {
      const rest = lines.end()
      return rest === "" ? [] : [read(rest)]
    }
  }
}

const isDescribed = Schema.is(Problem)

const isProblem = (value: unknown): value is Problem => isDescribed(value)

const lineFeed = 10
const carriageReturn = 13

/** The default length of the longest line, in bytes. */
const longestLine = 4 * 1024 * 1024

/** Splits bytes into lines. Pieces may end anywhere: inside a character, inside `\r\n`. Lines that are too long are not stored. */
export class LineReader {
  readonly #longest: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  /** The start of an incomplete line. Its array may have spare room. */
  #kept = nothing
  #size = 0

  constructor(longest: number = longestLine) {
    this.#longest = longest
  }

  /** Passes on the lines that are complete with a piece, without their line ends, and reports each line that gets too long. */
  push(piece: Uint8Array, onLine: (line: string) => void, onTooLong: () => void): void {
    const end = piece.lastIndexOf(lineFeed) + 1
    if (end === 0) return this.#keep(piece, onTooLong)
    let from = 0
    if (this.#size > 0) {
      from = piece.indexOf(lineFeed) + 1
      this.#keep(piece.subarray(0, from), onTooLong)
      const isWhole = this.#size <= this.#longest
      const line = this.#taken()
      if (isWhole) onLine(withoutEnd(line))
    }
    if (end - from > this.#longest) this.#each(piece.subarray(from, end), onLine, onTooLong)
    else if (from < end) {
      // Creating a view costs more than it saves if it covers the whole piece.
      const text = this.#decoder.decode(from === 0 && end === piece.length ? piece : piece.subarray(from, end))
      let at = 0
      for (let next = text.indexOf("\n"); next >= 0; next = text.indexOf("\n", at)) {
        onLine(text.slice(at, next > at && text.charCodeAt(next - 1) === carriageReturn ? next - 1 : next))
        at = next + 1
      }
    }
    if (end < piece.length) this.#keep(piece.subarray(end), onTooLong)
  }

  /** The text after the last line end. */
  end(): string {
    const rest = this.#taken()
    return rest.endsWith("\r") ? rest.slice(0, -1) : rest
  }

  #taken(): string {
    const text = this.#decoder.decode(this.#kept.subarray(0, this.#size))
    // Every piece cuts a line: usually the next one fits, too.
    if (this.#kept.length > reusedBytes) this.#kept = nothing
    this.#size = 0
    return text
  }

  /** Passes on lines of which one may be too long. */
  #each(lines: Uint8Array, onLine: (line: string) => void, onTooLong: () => void): void {
    let at = 0
    for (let next = lines.indexOf(lineFeed); next >= 0; next = lines.indexOf(lineFeed, at)) {
      if (next + 1 - at > this.#longest) onTooLong()
      else onLine(withoutEnd(this.#decoder.decode(lines.subarray(at, next + 1))))
      at = next + 1
    }
  }

  /** Copies a part of a piece, whose memory may be larger and may be reused. */
  #keep(part: Uint8Array, onTooLong: () => void): void {
    const before = this.#size
    this.#size += part.length
    if (this.#size > this.#longest) {
      this.#kept = nothing
      if (before <= this.#longest) onTooLong()
      return
    }
    if (this.#size > this.#kept.length) {
      // Doubled, as a line may arrive byte by byte.
      const larger = new Uint8Array(Math.max(this.#size, 2 * this.#kept.length))
      larger.set(this.#kept)
      this.#kept = larger
    }
    this.#kept.set(part, before)
  }
}

const nothing = new Uint8Array(0)

/** The largest array that is used for the next incomplete line again. */
const reusedBytes = 16_384

const withoutEnd = (line: string): string =>
  line.slice(0, line.charCodeAt(line.length - 2) === carriageReturn ? -2 : -1)
