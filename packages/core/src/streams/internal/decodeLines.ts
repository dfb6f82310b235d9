/** From the bytes of a stream to what they say: items, and what is no item. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Redaction from "../../auth/Redaction.ts"
import * as Anomaly from "../../schema/Anomaly.ts"
import type { Definition } from "../../schema/Definition.ts"
import { Problem } from "../../schema/models/Problem.ts"
import * as StreamItem from "../../schema/StreamItem.ts"
import * as Repair from "../../wire/Repair.ts"
import * as ResponseDecoder from "../../wire/ResponseDecoder.ts"
import type { Wire } from "../../wire/Wire.ts"
import { LineReader, longestLine } from "./lines.ts"

/** An empty line, which the service sends so that a quiet line is known to be alive. */
export interface KeepAlive {
  readonly _tag: "KeepAlive"
}

/** The service says what is wrong; as a rule it ends the connection after that. */
export interface Problems {
  readonly _tag: "Problems"
  readonly problems: ReadonlyArray<Problem>
  /** Why the service ends the connection, where it does: `UpstreamOperationalDisconnect`. */
  readonly disconnectType: string | undefined
}

/** A line that is no item, and why. */
export interface Unreadable {
  readonly _tag: "Unreadable"
  readonly reason: string
}

/** What a line is when it is no item. */
export type Notice = KeepAlive | Problems | Unreadable

/** What a line is. */
export type Entry = StreamItem.AnyItem | Notice

/** Whether a line is an item. */
export const isItem = (entry: Entry): entry is StreamItem.AnyItem => !("_tag" in entry)

/** Reads the bytes of one connection. */
export interface Decoder {
  /** What the lines are that pieces end. */
  readonly push: (...pieces: ReadonlyArray<Uint8Array>) => ReadonlyArray<Entry>
  /** What is left when no more comes: a part of a line. */
  readonly end: () => ReadonlyArray<Entry>
}

/** What reading needs to know of a client. */
export interface Reading {
  readonly wire: Wire
  readonly verify: Anomaly.Verify
  /** Keeps credentials out of what is told. */
  readonly redact: Redaction.Redact
  /** Is told what of a line was left out. */
  readonly onAnomalies?: ((anomalies: ReadonlyArray<Anomaly.Anomaly>) => void) | undefined
  /** The longest line in bytes; default 4 MiB. */
  readonly longest?: number | undefined
}

interface Reader {
  readonly schema: Schema.Codec<StreamItem.Body, unknown>
  readonly is: (body: unknown) => body is StreamItem.Body
  mend: ReturnType<typeof Repair.make> | undefined
}

const readers = new WeakMap<Definition["result"], Reader>()

// Compiled at once: a stream is read for long.
const readerOf = (result: Definition["result"]): Reader => {
  let reader = readers.get(result)
  if (reader === undefined) {
    const schema = ResponseDecoder.lineOf(result)
    readers.set(result, reader = { schema, is: ResponseDecoder.verifierOf(schema), mend: undefined })
  }
  return reader
}

const keepAlive: KeepAlive = { _tag: "KeepAlive" }

const unreadable = (reason: string): Unreadable => ({ _tag: "Unreadable", reason })

/** Makes what reads the bytes of one connection. */
export const make = (
  { result }: Pick<Definition, "result">,
  { longest = longestLine, onAnomalies, redact, verify, wire }: Reading
): Decoder => {
  const reader = readerOf(result)
  const isPost = StreamItem.isPost(result)
  const gathered = result._tag === "One" ? result.model.gathered : undefined
  const toNeutral = wire.toNeutral(reader.schema)
  const lines = new LineReader(longest)

  const read = (line: string): Entry => {
    if (line === "") return keepAlive
    let parsed: unknown
    try {
      parsed = JSON.parse(line)
    } catch {
      return unreadable("the line is not JSON")
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
      return unreadable("the line is not an object")
    }
    if (!("data" in parsed) || parsed.data === null) return problemsIn(parsed)
    if (gathered !== undefined) ResponseDecoder.gather(parsed.data, gathered)
    const body = wire.isForeign(line) ? wire.problemToNeutral(toNeutral(parsed)) : parsed
    return reader.is(body) && body.errors === undefined ? StreamItem.make(isPost, body) : mended(body)
  }

  const mended = (body: unknown): Entry => {
    const outcome = (reader.mend ??= Repair.make(reader.schema))(body)
    const { found, last } = outcome
    if (!isLeft(body, outcome) || (verify === "strict" && found.length > 0)) {
      const first = verify === "strict" ? found[0] : last
      return unreadable(first === undefined ? "of another form" : redact(`${first.path} is not ${first.expected}`))
    }
    const clean = body.errors === undefined ? body : { ...body, errors: told(body.errors) }
    const anomalies = found.map((anomaly) => Anomaly.told(anomaly, redact))
    if (anomalies.length > 0) onAnomalies?.(anomalies)
    return StreamItem.make(isPost, clean, anomalies)
  }

  /** Nothing to leave out means that it is as it should be, or that it cannot be mended. */
  const isLeft = (body: unknown, { found, isAnswer }: Repair.Mended): body is StreamItem.Body =>
    isAnswer && (found.length > 0 || reader.is(body))

  const problemsIn = (body: object): Entry => {
    const neutral = wire.problemToNeutral(body)
    const errors = Predicate.hasProperty(neutral, "errors") && Array.isArray(neutral.errors) ? neutral.errors : []
    const problems = told(errors)
    if (problems.length === 0) return unreadable("the line has neither data nor errors")
    const type = problems.map((problem) => problem["disconnect_type"]).find((type) => typeof type === "string")
    return { _tag: "Problems", problems, disconnectType: type }
  }

  const told = (problems: ReadonlyArray<unknown>): ReadonlyArray<Problem> =>
    problems.map((problem) => Redaction.within(problem, redact)).filter(isProblem)

  const tooLong = unreadable(`the line is longer than ${longest} bytes`)
  return {
    push(...pieces) {
      const entries: Array<Entry> = []
      for (const piece of pieces) {
        lines.push(piece, (line) => entries.push(read(line)), () => entries.push(tooLong))
      }
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
