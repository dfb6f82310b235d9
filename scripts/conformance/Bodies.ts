/** Random values that a schema of an OpenAPI document allows. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Random } from "../../packages/sandbox/src/text/random.ts"
import type { JsonSchema } from "../drift/JsonSchema.ts"
import type { OpenApiDocument } from "../drift/OpenApiDocument.ts"

/** How members that may be absent are chosen. */
export interface Choices {
  /** The chance that a member that is not required is there, from 0 to 1. */
  readonly presence: number
  /** The chance that it is null although the schema does not say so, from 0 to 1. Services do that. */
  readonly nulls?: number
  /** Whether a member is there in any case, by its place: `data[].id`. */
  readonly always: (place: string) => boolean
}

/** A random value that a schema allows. */
export const valueOf = (
  document: OpenApiDocument,
  schema: JsonSchema,
  { below, chance, next, pick }: Random,
  { always, nulls = 0, presence }: Choices
): unknown => {
  /** `kindOf` is the schema that named this one as one of its kinds, which is then a part of it and not a choice again. */
  const value = (given: JsonSchema, place: string, depth: number, kindOf?: JsonSchema): unknown => {
    const schema = document.resolve(given)
    // An enumeration says itself whether null is among its values; without a type, the member means nothing.
    if (
      schema.nullable === true && (schema.oneOf ?? schema.anyOf) === undefined &&
      (schema.enum?.includes(null) ?? true) && chance(0.2)
    ) return null
    const { discriminator, oneOf: alternatives = schema.anyOf?.filter(isWhole) ?? [] } = schema
    if (alternatives.length > 0) {
      const chosen = pick(alternatives)
      return join([own(schema, place, depth), value(chosen, place, depth)])
    }
    if (discriminator?.mapping !== undefined && schema !== kindOf) {
      const [name, $ref] = pick(Object.entries(discriminator.mapping))
      return join([value({ $ref }, place, depth, schema), { [discriminator.propertyName]: name }])
    }
    return join([
      own(schema, place, depth),
      ...(schema.allOf ?? []).map((part) => value(part, place, depth, kindOf))
    ])
  }

  const own = (schema: JsonSchema, place: string, depth: number): unknown => {
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return pick(allowed(schema))
    const types = typeof schema.type === "string" ? [schema.type] : schema.type ?? []
    const type = types.length > 0 ? pick(types) : schema.properties === undefined ? undefined : "object"
    switch (type) {
      case "object":
        return object(schema, place, depth)
      case "array":
        return array(schema, place, depth)
      case "string":
        return string(schema)
      case "integer":
        return Math.floor(number(schema, schema.format === "int32" ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER))
      case "number":
        return number(schema, 1e9)
      case "boolean":
        return chance(0.5)
      case "null":
        return null
      default:
        return isPart(schema) ? undefined : anything(2)
    }
  }

  const object = (schema: JsonSchema, place: string, depth: number): Readonly<Record<string, unknown>> => {
    const { additionalProperties = true, properties = {}, required = [] } = schema
    const entries: Array<readonly [string, unknown]> = []
    for (const [name, member] of Object.entries(properties)) {
      const at = place === "" ? name : `${place}.${name}`
      const mustBe = required.includes(name) || always(at)
      if (!mustBe && (depth >= 12 || !chance(presence))) continue
      const isNull = !mustBe && nulls > 0 && chance(nulls)
      entries.push([name, isNull ? null : value(member, at, depth + 1)])
    }
    // A document may require what it does not describe.
    for (const name of required) if (!(name in properties)) entries.push([name, {}])
    const isFree = Object.keys(properties).length === 0
    if (additionalProperties !== false && (isFree ? depth < 12 : chance(0.05))) {
      for (let i = below(isFree ? 4 : 2) + (isFree ? 0 : 1); i > 0; i--) {
        const name = `${pick(words)}_${below(1000)}`
        if (name in properties) continue
        entries.push([
          name,
          additionalProperties === true ? anything(2) : value(additionalProperties, `${place}.*`, depth + 1)
        ])
      }
    }
    return Object.fromEntries(entries)
  }

  const array = (schema: JsonSchema, place: string, depth: number): ReadonlyArray<unknown> => {
    const { items = {}, maxItems = Number.POSITIVE_INFINITY, minItems = 0, uniqueItems = false } = schema
    const length = Math.min(maxItems, Math.max(minItems, depth > 10 ? 0 : below(4)))
    const made = Array.from({ length }, () => value(items, `${place}[]`, depth + 1))
    return uniqueItems
      ? [...new Map(made.map((item) => [JSON.stringify(item), item])).values()]
      : made
  }

  const string = (schema: JsonSchema): string => {
    if (schema.format === "date-time") {
      const instant = new Date(below(2 ** 31) * 1000).toISOString()
      return chance(0.5) ? instant : instant.replace(".000", "")
    }
    if (schema.format === "uri") return `https://example.com/${below(1e6)}`
    if (schema.pattern !== undefined) return pick(matching(schema.pattern))
    const { maxLength = Number.POSITIVE_INFINITY, minLength = 0 } = schema
    let text: string = pick(texts)
    while ([...text].length < minLength) text += pick(words)
    return [...text].slice(0, maxLength).join("")
  }

  const number = (schema: JsonSchema, most: number): number => {
    const { maximum = most, minimum = chance(0.1) ? -most : 0 } = schema
    return pick([
      minimum,
      maximum,
      Math.min(maximum, Math.max(minimum, below(1000))),
      minimum + next() * (maximum - minimum)
    ])
  }

  const anything = (depth: number): unknown => {
    switch (below(depth > 0 ? 7 : 5)) {
      case 0:
        return null
      case 1:
        return chance(0.5)
      case 2:
        return below(1e6)
      case 3:
        return next() * 1000
      case 4:
        return pick(texts)
      case 5:
        return Array.from({ length: below(3) }, () => anything(depth - 1))
      default:
        return Object.fromEntries(Array.from({ length: below(3) }, () => [pick(words), anything(depth - 1)]))
    }
  }

  return value(schema, "", 0)
}

const words = ["alpha", "count", "item", "label", "metric", "name", "note", "value"]

const texts = [
  "",
  "0",
  "1234567890123456789",
  "Ada",
  "a\nb",
  "ünï",
  "👩‍👩‍👧",
  "null",
  "__proto__",
  "tweet",
  "x".repeat(300)
]

/** The values of an enumeration. A document may contradict itself and give a pattern that not all of them have. */
const allowed = ({ enum: values = [], pattern }: JsonSchema): ReadonlyArray<unknown> => {
  const known = values.filter((value) => value !== null)
  const possible = known.filter((value) => pattern === undefined || new RegExp(pattern).test(String(value)))
  return possible.length > 0 ? possible : known
}

/** A part that is no value by itself: it only requires something. */
const isWhole = (part: JsonSchema): boolean => Object.keys(part).some((keyword) => keyword !== "required")

/** A schema that says with parts or alternatives what it is. */
const isPart = ({ allOf, anyOf, oneOf }: JsonSchema): boolean => (allOf ?? anyOf ?? oneOf) !== undefined

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** One value of what several schemas have made of it. */
const join = (parts: ReadonlyArray<unknown>): unknown =>
  parts.reduce((all, part) => part === undefined ? all : isObject(all) && isObject(part) ? { ...all, ...part } : part)

const samples = new Map<string, ReadonlyArray<string>>()

const matching = (pattern: string): ReadonlyArray<string> => {
  let found = samples.get(pattern)
  if (found === undefined) {
    // Values of a pattern that looks ahead are not found by chance.
    const linked = texts.map((text) => `${text} https://example.com`).filter((text) => new RegExp(pattern).test(text))
    found = pattern.includes("(?=") && linked.length > 0 ? linked : Effect.runSync(Arbitrary.sampleEffect(
      Arbitrary.schema(Schema.String.check(Schema.isPattern(new RegExp(pattern)))),
      { count: 50, seed: pattern }
    ))
    samples.set(pattern, found)
  }
  return found
}
