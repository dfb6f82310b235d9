/** What goes wrong, on command: what networks and services do to clients, per request or seeded at random. */
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Schema from "effect/Schema"
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http"
import { type RequestName, requestNames } from "../http/Names.ts"
import * as Problem from "../http/Problem.ts"
import { Time } from "../http/Time.ts"
import { make as random } from "../text/random.ts"
import { StreamFault } from "./StreamFaults.ts"

/** What a server can send: with another header a request would be left without any answer. */
const isHeader = (name: string, value: string | null): boolean => {
  try {
    validateHeaderName(name)
    if (value !== null) validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

const behaviour = {
  /** Answers with this status, and the work is not done. */
  status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  /** With a status: the work is done before that. */
  after: Schema.optional(Schema.Boolean),
  /** What the body is instead: a page of HTML, JSON that ends too early, nothing, or 256 MiB. */
  body: Schema.optional(Schema.Literals(["html", "broken-json", "empty", "huge"])),
  /** Headers to set, or to leave out (null). */
  headers: Schema.optional(
    Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(
      Schema.makeFilter((headers) =>
        Object.entries(headers).every(([name, value]) => isHeader(name, value)) ||
        "cannot be sent: names are tokens, values one line of Latin-1"
      )
    )
  ),
  /** No rate-limit headers, or ones that no client should believe. */
  rateLimitHeaders: Schema.optional(Schema.Literals(["missing", "absurd"])),
  /** How long the answer is held back. */
  delay: Schema.optional(Time),
  /** The body comes in sixteen parts with a pause of this length before each. */
  pause: Schema.optional(Time),
  /** The connection breaks after half of the body. */
  truncate: Schema.optional(Schema.Boolean),
  /** The connection breaks before the work is done, in the middle of the request's body, or after it without an answer. */
  reset: Schema.optional(Schema.Literals(["before", "during", "after"])),
  /**
   * What is told of the processing of media: that it failed, from this request on; nothing; or nothing of when to ask
   * again, or that it is no time from now.
   */
  processing: Schema.optional(Schema.Literals(["failed", "absent", "no-wait", "zero-wait"])),
  /**
   * A page without items whose token leads to the items, one with a third of the items, or one whose token leads to
   * itself (from the second page on). Nothing is lost by the first two.
   */
  page: Schema.optional(Schema.Literals(["empty", "short", "repeated-token"])),
  /** What goes wrong on the line of a stream. */
  stream: Schema.optional(StreamFault)
}

/** What happens to an answer. */
export const Behaviour = Schema.Struct(behaviour)

/** What happens to an answer. */
export type Behaviour = typeof Behaviour.Type

const Name = Schema.Literals(requestNames)

/** Which requests meet which fault. */
export const Rule = Schema.Struct({
  ...behaviour,
  /** The operations, and endpoints of the authorization server; all when left out. */
  operation: Schema.optional(Schema.Union([Name, Schema.Array(Name)])),
  /** Counted from now among the requests to these operations: the first is 1, the default. */
  nth: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** How many requests meet it. Default 1; with a probability, all that it hits. */
  times: Schema.optional(
    Schema.Union([Schema.Literal("always"), Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))])
  ),
  /** From 0 to 1: which of the requests meet it is drawn from the seed. */
  probability: Schema.optional(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** One of these is drawn from the seed each time. */
  oneOf: Schema.optional(Schema.NonEmptyArray(Behaviour))
}).check(
  Schema.makeFilter(({ nth: _nth, operation: _operation, times: _times, ...what }) =>
    Object.values(what).some((value) => value !== undefined) || "does nothing: it names no fault"
  )
)

/** Which requests meet which fault. */
export type Rule = typeof Rule.Type

const checked = Schema.decodeUnknownSync(Rule, { onExcessProperty: "error" })

/** A rule in force. */
export interface Active {
  readonly id: number
  readonly rule: Rule
  /** How many requests met it. */
  readonly met: number
}

/** The faults of one service. */
export interface Faults {
  /**
   * Returns the id of the rule; throws when it is none. The rule that was added first goes first; a request meets one at
   * most.
   */
  readonly add: (rule: Rule) => number
  readonly list: () => ReadonlyArray<Active>
  readonly remove: (id: number) => boolean
  readonly clear: () => void
  /** What happens to the next request of an operation. */
  readonly next: (operation: RequestName) => Behaviour | undefined
}

/** One of each kind: what `probability` alone draws from. */
export const kinds: readonly [Behaviour, ...Array<Behaviour>] = [
  { status: 500 },
  { status: 502, body: "html" },
  { status: 503, headers: { "retry-after": "1" } },
  { status: 429 },
  { delay: 250 },
  { pause: 10 },
  { truncate: true },
  { reset: "before" },
  { reset: "after" },
  { body: "broken-json" },
  { body: "empty" },
  { rateLimitHeaders: "missing" },
  { rateLimitHeaders: "absurd" },
  { page: "empty" },
  { page: "short" }
]

/** No faults yet; `seed` decides all that is drawn. */
export const make = (seed: number): Faults => {
  interface Kept {
    readonly id: number
    readonly rule: Rule
    seen: number
    met: number
  }
  let draw = random(seed, "faults")
  let rules: Array<Kept> = []
  let ids = 0
  const meets = (kept: Kept, operation: RequestName): boolean => {
    const { nth = 1, operation: of, probability, times = probability === undefined ? 1 : "always" } = kept.rule
    if (of !== undefined && (typeof of === "string" ? of !== operation : !of.includes(operation))) return false
    kept.seen++
    if (kept.seen < nth || (times !== "always" && kept.met >= times)) return false
    return probability === undefined || draw.chance(probability)
  }
  return {
    add: (rule) => {
      checked(rule)
      rules.push({ id: ++ids, rule, seen: 0, met: 0 })
      return ids
    },
    list: () => rules.map(({ id, met, rule }) => ({ id, rule, met })),
    remove: (id) => {
      const count = rules.length
      rules = rules.filter((kept) => kept.id !== id)
      return rules.length < count
    },
    clear: () => {
      rules = []
      draw = random(seed, "faults")
    },
    next: (operation) => {
      let found: Kept | undefined
      // All of them count the request.
      for (const kept of rules) if (meets(kept, operation)) found ??= kept
      if (found === undefined) return undefined
      found.met++
      const { nth: _nth, oneOf, operation: _operation, probability, times: _times, ...own } = found.rule
      if (oneOf !== undefined) return { ...own, ...draw.pick(oneOf) }
      return probability !== undefined && Object.keys(own).length === 0 ? draw.pick(kinds) : own
    }
  }
}

/** The header that asks for a fault of one request: a `Behaviour` as JSON. */
export const header = "x-sandbox-fault"

const fromText = Schema.decodeUnknownEffect(Schema.fromJsonString(Behaviour), { onExcessProperty: "error" })

/** The fault that a request asks for itself. */
export const asked = (
  headers: Headers.Headers
): Effect.Effect<Behaviour | undefined, Problem.Problem> => {
  const text = headers[header]
  return text === undefined ? Effect.undefined : Effect.mapError(
    fromText(text),
    ({ message }) => Problem.invalidRequest(`The ${header} header is no fault: ${message}`)
  )
}

/** The answer of a fault that does no work. */
export const refusal = (status: number): Problem.Problem => {
  const title = STATUS_CODES[status] ?? "Unknown"
  return new Problem.Problem({ status, title, detail: title, type: "about:blank" })
}
