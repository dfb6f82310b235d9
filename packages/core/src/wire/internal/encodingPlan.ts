/**
 * The parts of an operation's requests that do not depend on parameters, computed once per wire: names, places, encoders, routes.
 */
import * as Schema from "effect/Schema"
import type * as BodyLayout from "../../schema/BodyLayout.ts"
import { unlistedMark } from "../../schema/Codecs.ts"
import { bearerOf, type Definition, pageSizeOf, partsOf, routesOf, type Settled } from "../../schema/Definition.ts"
import * as Parameters from "../../schema/Parameters.ts"
import type { Priced } from "../../schema/Price.ts"
import { envelope } from "../ResponseDecoder.ts"
import { positionOf, type Wire } from "../Wire.ts"
import type * as WireNames from "../WireNames.ts"

/** For a toggle that is already set: the body of success, and the refusal that means it. */
export interface SettledBody {
  readonly body: string
  readonly by: Settled
}

/** A route. */
export interface Template {
  readonly method: string
  readonly path: string
  /** The text before the first variable part; `parts` has each variable part with the text after it. */
  readonly head: string
  readonly parts: ReadonlyArray<{ readonly name: string; readonly text: string }>
}

/** A parameter and its encoding. */
export interface Input {
  readonly place: "path" | "query" | "body"
  readonly key: string
  readonly parameter: Parameters.AnyParameter
  readonly encode: (value: unknown) => Parameters.EncodedValue | undefined
  /** The listed values and their names on the wire, if the parameter is open or the names differ. */
  readonly words: ReadonlyMap<string, WireNames.Translation> | undefined
  /** True for `expansions`, which are merged with the expansions of other parameters. */
  readonly isExpansion: boolean
  /** The query value that was encoded last: fields are usually the same from call to call. */
  last: Encoded | undefined
}

/** An encoded value of the query. */
export interface Encoded {
  readonly value: Parameters.EncodedValue
  readonly text: string
  /** Names that are requested as `expansions` instead. */
  readonly expansions: ReadonlyArray<string>
}

/** The requests of an operation on a wire, before parameters are known. */
export interface Plan {
  readonly inputs: ReadonlyMap<string, Input>
  readonly required: ReadonlyArray<string>
  readonly routes: ReadonlyMap<string, Template>
  readonly positions: BodyLayout.Positions
  /** The constant start of every query. */
  readonly query: string
  readonly settled: SettledBody | undefined
  readonly priced: Priced
  readonly bearer: ReturnType<typeof bearerOf>
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
      const selector = place === "query" && Parameters.isSelector(name) ? wire.selector(definition, name) : undefined
      const words = wordsOf(parameter, selector, wire)
      const key = place === "query" ? Parameters.queryKey(name) : name
      if (place === "body") {
        positions[name] = positionOf(wire, definition, name)
      }
      inputs.set(name, {
        place,
        key: place === "query" ? wire.queryKey(definition, key) : key,
        parameter,
        last: undefined,
        words,
        isExpansion: name === "expansions" && selector !== undefined,
        encode: encoderOf(parameter, words)
      })
    }
  }
  const plan: Plan = {
    inputs,
    positions,
    bearer: bearerOf(definition),
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

const wordsOf = ({ open, values }: Parameters.AnyParameter, selector: WireNames.Selector | undefined, wire: Wire) =>
  values !== undefined && (open === true || values.some((value) => wire.value(value) !== value))
    ? new Map(values.map((value) => [value, selector?.(value) ?? translation(wire.value(value))]))
    : undefined

const translation = (name: string): WireNames.Translation => ({ names: [name], expansions: none, isUnavailable: false })

const none: ReadonlyArray<never> = []

/** A name that cannot be translated: it is not listed, or has no name on this wire. */
export type Untranslatable = { readonly unlisted: string } | { readonly unavailable: string }

/** Translates the names in an encoded value of an open parameter. */
export const translate = (
  { isExpansion, words }: Pick<Input, "isExpansion" | "words">,
  value: string
): WireNames.Translation | Untranslatable => {
  const all = { names: Array<string>(), expansions: Array<string>(), isUnavailable: false }
  for (const name of value.split(",")) {
    if (name.startsWith(unlistedMark)) {
      all[isExpansion ? "expansions" : "names"].push(name.slice(unlistedMark.length))
      continue
    }
    const word = words?.get(name)
    if (word === undefined) return { unlisted: name }
    if (word.isUnavailable) return { unavailable: name }
    all.names.push(...word.names)
    all.expansions.push(...word.expansions)
  }
  return all
}

const encoderOf = (
  parameter: Parameters.AnyParameter,
  words: ReadonlyMap<string, WireNames.Translation> | undefined
) => {
  const { isExact, schema } = parameter
  const encode = Schema.encodeUnknownResult(schema, isExact === true ? { onExcessProperty: "error" } : undefined)
  const isKnown = (name: unknown): boolean => typeof name === "string" && words?.has(name) === true
  return (value: unknown): Parameters.EncodedValue | undefined => {
    // The values of nearly every call are their own encoding; the schema encodes all others.
    if (parameter.kind === "id" && typeof value === "string" && plainId.test(value)) return value
    if (Array.isArray(value) && value.length > 0 && value.every(isKnown)) return value.join(",")
    const result = encode(value)
    return result._tag === "Success" ? result.success : undefined
  }
}

/** An id as services write it. */
const plainId = /^\d{1,19}$/
