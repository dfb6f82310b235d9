/** Fault injection: failures of networks and services, per request or randomly by seed. */
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as Schema from "effect/Schema"
import { validateHeaderName, validateHeaderValue } from "node:http"
import { delivery, type RequestName, requestNames } from "../http/Names.ts"
import * as Problem from "../http/Problem.ts"
import { Time } from "../http/Time.ts"
import { make as random } from "../text/random.ts"
import { StreamFault } from "./StreamFaults.ts"

/** True if Node can send the header; otherwise the request would get no response. */
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
  /** Responds with this status without performing the request. */
  status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  /** Performs the request before responding with `status`. */
  after: Schema.optional(Schema.Boolean),
  /** Replaces the body by an HTML page, truncated JSON, nothing, or 256 MiB. */
  body: Schema.optional(Schema.Literals(["html", "broken-json", "empty", "huge"])),
  /** Headers to set, or to remove (null). */
  headers: Schema.optional(
    Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(
      Schema.makeFilter((headers) =>
        Object.entries(headers).every(([name, value]) => isHeader(name, value)) ||
        "must have tokens as names and single lines of Latin-1 as values"
      )
    )
  ),
  /** Removes the rate-limit headers, or makes them absurd. */
  rateLimitHeaders: Schema.optional(Schema.Literals(["missing", "absurd"])),
  /** Delays the response. */
  delay: Schema.optional(Time),
  /** Sends the body in sixteen parts with this pause before each. */
  pause: Schema.optional(Time),
  /** Breaks the connection after half of the body. */
  truncate: Schema.optional(Schema.Boolean),
  /**
   * Breaks the connection before performing the request, in the middle of the request's body, or after performing it
   * without a response.
   */
  reset: Schema.optional(Schema.Literals(["before", "during", "after"])),
  /**
   * Changes the processing state of media: failed (permanently, from this request on), absent, or without or with a zero
   * `check_after_secs`.
   */
  processing: Schema.optional(Schema.Literals(["failed", "absent", "no-wait", "zero-wait"])),
  /**
   * An empty page whose token leads to the items, a page with a third of the items, or one whose token leads to itself
   * (from the second page on). The first two lose no items. `ends-early` omits the token of the next page: for bookmarks only
   * from pages of more than 90, as users reported it of the live service.
   */
  page: Schema.optional(Schema.Literals(["empty", "short", "repeated-token", "ends-early"])),
  stream: Schema.optional(StreamFault),
  /**
   * Disturbs the delivery of an event to a webhook:
   * - `duplicate`: sends it twice.
   * - `out-of-order`: sends it after the next one.
   * - `bad-signature`: signs it with another secret.
   * - `lost`: never sends it.
   */
  delivery: Schema.optional(Schema.Literals(["duplicate", "out-of-order", "bad-signature", "lost"]))
}

/** The effect of a fault. */
export const Behaviour = Schema.Struct(behaviour)

/** The effect of a fault. */
export type Behaviour = typeof Behaviour.Type

const Name = Schema.Literals([...requestNames, delivery])

/** A fault and the requests that it affects. */
export const Rule = Schema.Struct({
  ...behaviour,
  /**
   * The affected operations and authorization endpoints, or `deliverEvent` for deliveries to webhooks, which know `delivery`,
   * `delay` and `pause`. Default: all requests, or deliveries if there is a `delivery`.
   */
  operation: Schema.optional(Schema.Union([Name, Schema.Array(Name)])),
  /** The first affected request, counted from now among the requests to these operations. Default 1. */
  nth: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** The number of affected requests. Default 1; with a probability, unlimited. */
  times: Schema.optional(
    Schema.Union([Schema.Literal("always"), Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))])
  ),
  /** The probability, from 0 to 1, that a request is affected, drawn by seed. */
  probability: Schema.optional(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** One of these is drawn by seed each time. */
  oneOf: Schema.optional(Schema.NonEmptyArray(Behaviour))
}).check(
  Schema.makeFilter(({ nth: _nth, operation: _operation, times: _times, ...what }) =>
    Object.values(what).some((value) => value !== undefined) || "must name a fault"
  ),
  Schema.makeFilter((rule) =>
    rule.delivery === undefined || rule.operation === undefined || rule.operation === delivery ||
    "has a `delivery`, so the operation must be deliverEvent"
  )
)

/** A fault and the requests that it affects. */
export type Rule = typeof Rule.Type

const checked = Schema.decodeUnknownSync(Rule, { onExcessProperty: "error" })

/** An active rule. */
export interface Active {
  readonly id: number
  readonly rule: Rule
  /** The number of requests that it has affected. */
  readonly met: number
}

/** The faults of a service. */
export type Faults = ReturnType<typeof make>

/** The faults that a rule with nothing but `probability` draws from. */
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

/** Starts without faults; `seed` determines all draws. */
export const make = (seed: number) => {
  interface Kept {
    readonly id: number
    readonly rule: Rule
    seen: number
    met: number
  }
  let draw = random(seed, "faults")
  let rules: Array<Kept> = []
  let ids = 0
  const meets = (kept: Kept, operation: RequestName | typeof delivery): boolean => {
    const { nth = 1, operation: of, probability, times = probability === undefined ? 1 : "always" } = kept.rule
    const isMeant = of === undefined
      ? (kept.rule.delivery !== undefined) === (operation === delivery)
      : typeof of === "string"
      ? of === operation
      : of.includes(operation)
    if (!isMeant) return false
    kept.seen++
    if (kept.seen < nth || (times !== "always" && kept.met >= times)) return false
    return probability === undefined || draw.chance(probability)
  }
  return {
    /**
     * Returns the id of the rule; throws if it is invalid. The oldest matching rule applies; a request has at most one fault.
     */
    add: (rule: Rule): number => {
      checked(rule)
      rules.push({ id: ++ids, rule, seen: 0, met: 0 })
      return ids
    },
    list: (): ReadonlyArray<Active> => rules.map(({ id, met, rule }) => ({ id, rule, met })),
    remove: (id: number): boolean => {
      const count = rules.length
      rules = rules.filter((kept) => kept.id !== id)
      return rules.length < count
    },
    clear: (): void => {
      rules = []
      draw = random(seed, "faults")
    },
    /** The fault of the next request to an operation, or of the next delivery. */
    next: (operation: RequestName | typeof delivery): Behaviour | undefined => {
      let found: Kept | undefined
      // All rules count the request, also after a match.
      for (const kept of rules) if (meets(kept, operation)) found ??= kept
      if (found === undefined) return undefined
      found.met++
      const { nth: _nth, oneOf, operation: _operation, probability, times: _times, ...own } = found.rule
      if (oneOf !== undefined) return { ...own, ...draw.pick(oneOf) }
      return probability !== undefined && Object.keys(own).length === 0 ? draw.pick(kinds) : own
    }
  }
}

/** The header that injects a fault into its own request: a `Behaviour` as JSON. */
export const header = "x-sandbox-fault"

const fromText = Schema.decodeUnknownEffect(Schema.fromJsonString(Behaviour), { onExcessProperty: "error" })

/** The fault in the header of a request. */
export const fromHeader = (
  headers: Headers.Headers
): Effect.Effect<Behaviour | undefined, Problem.Problem> => {
  const text = headers[header]
  return text === undefined ? Effect.undefined : Effect.mapError(
    fromText(text),
    ({ message }) => Problem.invalidRequest(`The ${header} header is not a valid fault: ${message}`)
  )
}
