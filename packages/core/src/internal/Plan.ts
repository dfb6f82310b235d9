/** What a declaration says of requests on a wire, worked out once: names, places, encoders, routes. */
import * as Schema from "effect/Schema"
import type * as Body from "../Body.ts"
import { type Definition, partsOf, routesOf, type Settled } from "../Definition.ts"
import * as Parameters from "../Parameters.ts"
import type { Wire } from "../Wire.ts"
import { unlistedMark } from "./Encodings.ts"

/** For a toggle whose state was reached: the body of success, and the refusal that says so. */
export interface SettledBody {
  readonly body: string
  readonly by: Settled
}

interface Template {
  readonly method: string
  readonly path: string
  /** The text before the first variable part, then each with the text after it. */
  readonly head: string
  readonly parts: ReadonlyArray<{ readonly name: string; readonly text: string }>
}

/** A parameter and how it travels. */
export interface Input {
  readonly place: "path" | "query" | "body"
  readonly key: string
  readonly parameter: Parameters.AnyParameter
  readonly encode: (value: unknown) => Parameters.Wire | undefined
  /** Of an open parameter: what it lists, by the words of the wire. */
  readonly words: ReadonlyMap<string, string> | undefined
  /** The value of the query that was encoded last: fields are the same from call to call. */
  last: { readonly value: Parameters.Wire; readonly encoded: string } | undefined
}

/** What there is to know of an operation on a wire before its parameters are. */
export interface Plan {
  readonly inputs: ReadonlyMap<string, Input>
  readonly required: ReadonlyArray<string>
  readonly routes: ReadonlyMap<string, Template>
  readonly positions: Body.Positions
  readonly settled: SettledBody | undefined
}

const plans = new WeakMap<Wire, WeakMap<Definition, Plan>>()

/** The plan of an operation on a wire. */
export const planOf = (definition: Definition, wire: Wire): Plan => {
  let ofWire = plans.get(wire)
  if (ofWire === undefined) plans.set(wire, ofWire = new WeakMap())
  const known = ofWire.get(definition)
  if (known !== undefined) return known
  const inputs = new Map<string, Input>()
  const positions: Record<string, string> = {}
  for (const place of ["path", "query", "body"] as const) {
    for (const [name, parameter] of Object.entries(definition[place] ?? {})) {
      const words = wordsOf(name, parameter, wire)
      const key = place === "query" ? Parameters.queryKey(name) : name
      if (place === "body") {
        positions[name] = wire.bodyKey(definition.at?.[name] ?? name)
      }
      inputs.set(name, {
        place,
        key: place === "query" ? wire.queryKey(key) : key,
        parameter,
        last: undefined,
        words,
        encode: encoderOf(parameter, words)
      })
    }
  }
  const plan: Plan = {
    inputs,
    positions,
    required: [...inputs].filter(([, input]) => input.parameter.required).map(([name]) => name),
    settled: definition.settled && {
      body: JSON.stringify({
        data: Object.fromEntries(
          Object.entries(definition.settled.data).map(([key, value]) => [wire.bodyKey(key), value])
        )
      }),
      by: definition.settled.by
    },
    routes: new Map(
      routesOf(definition).map(([selectedBy, route]) => {
        const [method, template] = partsOf(route)
        const path = wire.path(template)
        const [head = "", ...texts] = path.split(/:\w+/)
        const names = Array.from(template.matchAll(/:(\w+)/g), ([, name = ""]) => name)
        return [selectedBy, { method, path, head, parts: texts.map((text, i) => ({ name: names[i] ?? "", text })) }]
      })
    )
  }
  ofWire.set(definition, plan)
  return plan
}

const wordsOf = (name: string, { open, values }: Parameters.AnyParameter, wire: Wire) =>
  open === true && values !== undefined
    ? new Map(values.map((value) => [value, Parameters.isSelector(name) ? wire.selectorValue(value) : value]))
    : undefined

/** The names of an encoded value of an open parameter in the words of the wire, or the first that it does not list. */
export const inWords = (words: ReadonlyMap<string, string>, value: string): string | { readonly unlisted: string } => {
  const names: Array<string> = []
  for (const name of value.split(",")) {
    const word = name.startsWith(unlistedMark) ? name.slice(unlistedMark.length) : words.get(name)
    if (word === undefined || word === "") return { unlisted: name }
    names.push(word)
  }
  return names.join(",")
}

const encoderOf = (parameter: Parameters.AnyParameter, words: ReadonlyMap<string, string> | undefined) => {
  const encode = Schema.encodeUnknownResult(parameter.schema)
  const isKnown = (name: unknown): boolean => typeof name === "string" && words?.has(name) === true
  return (value: unknown): Parameters.Wire | undefined => {
    try {
      // What nearly every call has is its own encoding, and the schema is asked about all else.
      if (parameter.kind === "id" && typeof value === "string" && plainId.test(value)) return value
      if (Array.isArray(value) && value.length > 0 && value.every(isKnown)) return value.join(",")
      const result = encode(value)
      return result._tag === "Success" ? result.success : undefined
    } catch {
      // The value itself threw: a proxy, a getter, an object that only looks like a Date.
      return undefined
    }
  }
}

/** An id as services write it. */
const plainId = /^\d{1,19}$/
