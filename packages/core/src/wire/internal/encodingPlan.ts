/** What a declaration says of requests on a wire, worked out once: names, places, encoders, routes. */
import * as Schema from "effect/Schema"
import type * as BodyLayout from "../../schema/BodyLayout.ts"
import { unlistedMark } from "../../schema/Codecs.ts"
import { type Definition, pageSizeOf, partsOf, routesOf, type Settled } from "../../schema/Definition.ts"
import * as Parameters from "../../schema/Parameters.ts"
import type { Priced } from "../../schema/Price.ts"
import { envelope } from "../ResponseDecoder.ts"
import type { Wire } from "../Wire.ts"
import type { Said, Selector } from "../WireNames.ts"

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
  readonly encode: (value: unknown) => Parameters.EncodedValue | undefined
  /** What a parameter lists that is open, or that the wire says otherwise, and how the wire says it. */
  readonly words: ReadonlyMap<string, Said> | undefined
  /** Whether what it names goes with the expansions that others say. */
  readonly isExpansion: boolean
  /** The value of the query that was encoded last: fields are the same from call to call. */
  last: Encoded | undefined
}

/** A value of the query as it travels. */
export interface Encoded {
  readonly value: Parameters.EncodedValue
  readonly text: string
  /** What it says besides, for `expansions`. */
  readonly expansions: ReadonlyArray<string>
}

/** What there is to know of an operation on a wire before its parameters are. */
export interface Plan {
  readonly inputs: ReadonlyMap<string, Input>
  readonly required: ReadonlyArray<string>
  readonly routes: ReadonlyMap<string, Template>
  readonly positions: BodyLayout.Positions
  /** What every query begins with. */
  readonly query: string
  readonly settled: SettledBody | undefined
  readonly priced: Priced
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
      const say = place === "query" && Parameters.isSelector(name) ? wire.selector(definition, name) : undefined
      const words = wordsOf(parameter, say, wire)
      const key = place === "query" ? Parameters.queryKey(name) : name
      if (place === "body") {
        positions[name] = wire.bodyKey(definition.at?.[name] ?? name)
      }
      inputs.set(name, {
        place,
        key: place === "query" ? wire.queryKey(definition, key) : key,
        parameter,
        last: undefined,
        words,
        isExpansion: name === "expansions" && say !== undefined,
        encode: encoderOf(parameter, words)
      })
    }
  }
  const plan: Plan = {
    inputs,
    positions,
    priced: { price: definition.price, items: pageSizeOf(definition) },
    query: Object.entries(definition.queryConstants ?? {}).map(([key, value]) => `${key}=${value}`).join("&"),
    required: [...inputs].filter(([, input]) => input.parameter.required).map(([name]) => name),
    settled: definition.settled && {
      body: JSON.stringify(wire.fromNeutral(envelope(definition.result))({ data: definition.settled.data })),
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

const wordsOf = ({ open, values }: Parameters.AnyParameter, say: Selector | undefined, wire: Wire) =>
  values !== undefined && (open === true || values.some((value) => wire.value(value) !== value))
    ? new Map(values.map((value) => [value, say?.(value) ?? saidAs(wire.value(value))]))
    : undefined

const saidAs = (name: string): Said => ({ names: [name], expansions: nothing, unsaid: false })

const nothing: ReadonlyArray<never> = []

/** How the names of an encoded value of an open parameter are said, or the first that cannot be. */
export const inWords = (
  { isExpansion, words }: Pick<Input, "isExpansion" | "words">,
  value: string
): Said | { readonly unlisted: string } | { readonly unsaid: string } => {
  const said = { names: Array<string>(), expansions: Array<string>(), unsaid: false }
  for (const name of value.split(",")) {
    if (name.startsWith(unlistedMark)) {
      said[isExpansion ? "expansions" : "names"].push(name.slice(unlistedMark.length))
      continue
    }
    const word = words?.get(name)
    if (word === undefined) return { unlisted: name }
    if (word.unsaid) return { unsaid: name }
    said.names.push(...word.names)
    said.expansions.push(...word.expansions)
  }
  return said
}

const encoderOf = (parameter: Parameters.AnyParameter, words: ReadonlyMap<string, Said> | undefined) => {
  const encode = Schema.encodeUnknownResult(parameter.schema)
  const isKnown = (name: unknown): boolean => typeof name === "string" && words?.has(name) === true
  return (value: unknown): Parameters.EncodedValue | undefined => {
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
