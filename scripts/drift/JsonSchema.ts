/** The part of JSON Schema that documents of services use, and the combined view of a schema's parts. */
import * as Schema from "effect/Schema"
import { boundNames, type Bounds } from "./ServiceFacts.ts"

/** A JSON Schema, or a part of one. */
export interface JsonSchema extends Bounds {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly nullable?: boolean
  readonly uniqueItems?: boolean
  readonly items?: JsonSchema
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly discriminator?: Discriminator
}

interface Discriminator {
  readonly propertyName: string
  readonly mapping?: { readonly [value: string]: string }
}

const schemas: Schema.Codec<ReadonlyArray<JsonSchema>> = Schema.Array(Schema.suspend(() => JsonSchema))

/** A decoded schema; other keywords are ignored. */
export const JsonSchema: Schema.Codec<JsonSchema> = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  format: Schema.optionalKey(Schema.String),
  pattern: Schema.optionalKey(Schema.String),
  enum: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  const: Schema.optionalKey(Schema.Unknown),
  nullable: Schema.optionalKey(Schema.Boolean),
  minimum: Schema.optionalKey(Schema.Finite),
  maximum: Schema.optionalKey(Schema.Finite),
  minLength: Schema.optionalKey(Schema.Int),
  maxLength: Schema.optionalKey(Schema.Int),
  minItems: Schema.optionalKey(Schema.Int),
  maxItems: Schema.optionalKey(Schema.Int),
  uniqueItems: Schema.optionalKey(Schema.Boolean),
  items: Schema.optionalKey(Schema.suspend(() => JsonSchema)),
  properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.suspend(() => JsonSchema))),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
  additionalProperties: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.suspend(() => JsonSchema)])),
  allOf: Schema.optionalKey(schemas),
  anyOf: Schema.optionalKey(schemas),
  oneOf: Schema.optionalKey(schemas),
  discriminator: Schema.optionalKey(Schema.Struct({
    propertyName: Schema.String,
    mapping: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  }))
})

/** A combined view of a schema's parts; of alternatives, it has what any of them has. */
export interface View {
  /** Every type that a value may have, `null` apart. */
  readonly types: ReadonlySet<string>
  /** The values of a string that are listed; others may be allowed as well. */
  readonly values: ReadonlyArray<string> | undefined
  readonly properties: ReadonlyMap<string, JsonSchema>
  /** The members of every alternative. */
  readonly required: ReadonlySet<string>
  readonly items: JsonSchema | undefined
  readonly bounds: Bounds
}

/** The view of a schema, given a function that resolves references. */
export const viewOf = (resolve: (schema: JsonSchema) => JsonSchema) => {
  const view = (schema: JsonSchema, within: ReadonlySet<JsonSchema>): View => {
    const resolved = resolve(schema)
    if (within.has(resolved)) return nothing
    const inside = new Set([...within, resolved])
    // A base schema lists its subtypes in the discriminator, and each subtype has the base schema as a part.
    const kinds = resolved.oneOf === undefined && resolved.anyOf === undefined
      ? [...new Set(Object.values(resolved.discriminator?.mapping ?? {}))].map(($ref): JsonSchema => ({ $ref }))
      : []
    const alternatives = [...resolved.oneOf ?? [], ...resolved.anyOf ?? [], ...kinds].map((part) => view(part, inside))
    return together([
      itself(resolved),
      ...(resolved.allOf ?? []).map((part) => view(part, inside)),
      ...(alternatives.length === 0 ? [] : [any(alternatives)])
    ])
  }
  return (schema: JsonSchema): View => view(schema, new Set())
}

/** The last part of a reference. */
export const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1)

const nothing: View = {
  types: new Set(),
  values: undefined,
  properties: new Map(),
  required: new Set(),
  items: undefined,
  bounds: {}
}

const itself = (schema: JsonSchema): View => {
  const types = new Set(
    typeof schema.type === "string" ? [schema.type] : schema.type ?? (schema.properties === undefined ? [] : ["object"])
  )
  types.delete("null")
  const values = (schema.const === undefined ? schema.enum ?? [] : [schema.const])
    .filter((value) => typeof value === "string")
  return {
    types,
    values: values.length === 0 ? undefined : values,
    properties: new Map(Object.entries(schema.properties ?? {})),
    required: new Set(schema.required),
    items: schema.items,
    bounds: boundsOf(schema)
  }
}

const boundsOf = (schema: JsonSchema): Bounds =>
  Object.fromEntries(boundNames.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]))

/** The view of parts that all apply. */
const together = (parts: ReadonlyArray<View>): View =>
  parts.reduce((all, part) => ({
    types: new Set([...all.types, ...part.types]),
    values: all.values ?? part.values,
    // The first part declares a member; later ones only refine it.
    properties: new Map([...part.properties, ...all.properties]),
    required: new Set([...all.required, ...part.required]),
    items: all.items ?? part.items,
    bounds: { ...all.bounds, ...part.bounds }
  }), nothing)

/** The view of alternatives. */
const any = (parts: ReadonlyArray<View>): View => {
  const values = parts.flatMap((part) => part.values ?? [])
  return {
    ...together(parts),
    values: values.length === 0 ? undefined : [...new Set(values)],
    required: new Set([...parts[0]?.required ?? []].filter((name) => parts.every(({ required }) => required.has(name))))
  }
}
