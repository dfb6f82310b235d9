/** Whether the client asks only for what a document knows: random valid calls, prepared and held against its facts. */
import { isSelector } from "../../packages/core/src/schema/Parameters.ts"
import * as RequestEncoder from "../../packages/core/src/wire/RequestEncoder.ts"
import type { Wire } from "../../packages/core/src/wire/Wire.ts"
import * as Random from "../../packages/sandbox/src/text/random.ts"
import type { Endpoint } from "../drift/Endpoint.ts"
import type { Bounds, Fact, Facts, RouteFacts } from "../drift/ServiceFacts.ts"
import { callOf } from "./Calls.ts"

/** What was found of one route. */
export interface Asking {
  readonly operation: string
  readonly route: string
  readonly calls: number
  /** Calls that the client refuses, because the words of the wire have no name for something; they are made without it. */
  readonly refused: number
  /** Calls that violate the document. */
  readonly violating: number
  /** What violates it, most frequent first, and then what is refused. */
  readonly violations: ReadonlyArray<readonly [violation: string, calls: number]>
}

/** Prepares calls of a route on a wire. */
export const measure = (
  { definition, method, path, selectedBy }: Endpoint,
  document: RouteFacts | undefined,
  wire: Wire,
  options: { readonly calls: number; readonly seed: number }
): Asking => {
  const violations = new Map<string, number>()
  let refused = 0
  let violating = 0
  for (let i = 0; i < options.calls; i++) {
    const call = callOf(definition, selectedBy, Random.make(options.seed, `${definition.name} ${selectedBy} ${i}`))
    let prepared = RequestEncoder.encode(definition, call, wire)
    if ("_tag" in prepared) {
      refused++
      const refusal = `refused here: ${prepared.message.replace(/^\w+: | Got .*/g, "")}`
      violations.set(refusal, (violations.get(refusal) ?? 0) + 1)
      prepared = RequestEncoder.encode(definition, sayable(call, definition, wire), wire)
      if ("_tag" in prepared) continue
    }
    const found = document === undefined ? ["the route"] : [
      ...[...new URLSearchParams(prepared.query)].flatMap(([name, text]) =>
        violationsOf("query", name, valueOf(text, document.query[name]), document.query)
      ),
      ...missingOf("query", [...new URLSearchParams(prepared.query).keys()], document.query),
      ...bodyViolations(membersOf(prepared.body), "", document.body)
    ]
    if (found.length > 0) violating++
    for (const violation of new Set(found)) violations.set(violation, (violations.get(violation) ?? 0) + 1)
  }
  return {
    operation: definition.name,
    route: `${method} ${path}`,
    calls: options.calls,
    refused,
    violating,
    violations: [...violations].sort(([a, timesA], [b, timesB]) =>
      Number(a.startsWith("refused")) - Number(b.startsWith("refused")) || timesB - timesA
    )
  }
}

/** A call without the names that a wire cannot say. */
const sayable = (call: Readonly<Record<string, unknown>>, definition: Endpoint["definition"], wire: Wire) =>
  Object.fromEntries(
    Object.entries(call).map(([name, value]) => {
      const say = isSelector(name) ? wire.selector(definition, name) : undefined
      return [
        name,
        Array.isArray(value) && say !== undefined ? value.filter((item) => !say(item).isUnavailable) : value
      ]
    })
  )

/** What a text of a query stands for. */
const valueOf = (text: string, fact: Fact | undefined): unknown =>
  fact?.type.startsWith("array of ") ? text.split(",") : fact?.type === "integer" ? Number(text) : text

const bodyViolations = (body: object, place: string, facts: Facts): ReadonlyArray<string> => [
  ...Object.entries(body).flatMap(([name, value]) => {
    const at = `${place}${name}`
    const own = violationsOf("body", at, value, facts)
    if (!(at in facts)) return own
    const [inside, end] = Array.isArray(value) ? [value[0], "[]."] : [value, "."]
    return typeof inside === "object" && inside !== null
      ? [...own, ...bodyViolations(inside, `${at}${end}`, facts)]
      : own
  }),
  // An empty object stands for one whose contents are left to the service.
  ...place !== "" && Object.keys(body).length === 0
    ? []
    : missingOf("body", Object.keys(body).map((name) => `${place}${name}`), facts, place)
]

/** The members of a body; of bytes, nothing but that they are there. */
const membersOf = (body: RequestEncoder.Prepared["body"]): Readonly<Record<string, unknown>> =>
  body === undefined
    ? {}
    : typeof body === "string"
    ? JSON.parse(body)
    : Object.fromEntries(body.parts.map((part) => [part.name, "text" in part ? part.text : "bytes"]))

/** What is required beside what is there. */
const missingOf = (where: string, given: ReadonlyArray<string>, facts: Facts, place = ""): ReadonlyArray<string> =>
  Object.entries(facts).filter(([name, { required }]) =>
    required === true && !given.includes(name) && name.startsWith(place) &&
    (where === "query" || !name.slice(place.length).includes("."))
  ).map(([name]) => `${where} ${name} is missing`)

const violationsOf = (where: string, name: string, value: unknown, facts: Facts): ReadonlyArray<string> => {
  const fact = facts[name]
  if (fact === undefined) return [`${where} ${name}`]
  const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const { bounds = {}, values } = fact
  return [
    ...items.filter((item) => values !== undefined && !values.includes(String(item)))
      .map((item) => `${where} ${name}=${String(item)}`),
    ...broken(bounds, value, items).map((bound) => `${where} ${name} ${bound}`)
  ]
}

const broken = (bounds: Bounds, value: unknown, items: ReadonlyArray<unknown>): ReadonlyArray<keyof Bounds> => {
  const texts = items.filter((item) => typeof item === "string")
  const isOutside = (sizes: ReadonlyArray<number>, minimum = -Infinity, maximum = Infinity) =>
    [
      sizes.some((size) => size < minimum),
      sizes.some((size) => size > maximum)
    ] as const
  const [isLow, isHigh] = isOutside(typeof value === "number" ? [value] : [], bounds.minimum, bounds.maximum)
  const [isShort, isLong] = isOutside(texts.map((text) => text.length), bounds.minLength, bounds.maxLength)
  const [isFew, isMany] = isOutside(Array.isArray(value) ? [value.length] : [], bounds.minItems, bounds.maxItems)
  const { minItems = 0, minLength = 0, pattern } = bounds
  return [
    ...isLow ? ["minimum" as const] : [],
    ...isHigh ? ["maximum" as const] : [],
    // A minimum of one is not compared by `pnpm drift` either.
    ...isShort && minLength > 1 ? ["minLength" as const] : [],
    ...isLong ? ["maxLength" as const] : [],
    ...isFew && minItems > 1 ? ["minItems" as const] : [],
    ...isMany ? ["maxItems" as const] : [],
    ...pattern !== undefined && texts.some((text) => !RegExp(pattern, "u").test(text)) ? ["pattern" as const] : []
  ]
}
