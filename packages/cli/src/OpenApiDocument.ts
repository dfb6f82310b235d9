/** Reads the OpenAPI document of a service (3.0 or 3.1): its operations, and what its schemas say when refs are followed. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The part of JSON Schema that documents of services use. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly pattern?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly nullable?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
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

const JsonSchema: Schema.Codec<JsonSchema> = Schema.Struct({
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

const Parameter = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  in: Schema.optionalKey(Schema.String),
  required: Schema.optionalKey(Schema.Boolean),
  schema: Schema.optionalKey(JsonSchema)
})

const Content = Schema.optionalKey(
  Schema.Record(Schema.String, Schema.Struct({ schema: Schema.optionalKey(JsonSchema) }))
)

const Operation = Schema.Struct({
  operationId: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
  responses: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ content: Content }))),
  security: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))))
})

const PathItem = Schema.Struct({
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  get: Schema.optionalKey(Operation),
  post: Schema.optionalKey(Operation),
  put: Schema.optionalKey(Operation),
  delete: Schema.optionalKey(Operation)
})

const Document = Schema.Struct({
  openapi: Schema.String,
  info: Schema.optionalKey(Schema.Struct({ version: Schema.optionalKey(Schema.String) })),
  paths: Schema.Record(Schema.String, PathItem),
  components: Schema.optionalKey(Schema.Struct({
    schemas: Schema.optionalKey(Schema.Record(Schema.String, JsonSchema)),
    parameters: Schema.optionalKey(Schema.Record(Schema.String, Parameter)),
    securitySchemes: Schema.optionalKey(Schema.Record(
      Schema.String,
      Schema.Struct({ type: Schema.String, scheme: Schema.optionalKey(Schema.String) })
    ))
  }))
})

/** One operation of a document. */
export interface DocumentOperation {
  /** As in the document, or the method and path where it gives none. */
  readonly id: string
  readonly method: string
  /** With its variable parts in braces. */
  readonly path: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: JsonSchema
  }>
  /** The JSON that it takes. */
  readonly body: JsonSchema | undefined
  /** The JSON of its success. */
  readonly success: JsonSchema | undefined
  /** Any one of these credentials, with the scopes that it needs. */
  readonly security: ReadonlyArray<{ readonly scheme: string; readonly scopes: ReadonlyArray<string> }>
}

/** A document that was read. */
export interface OpenApiDocument {
  readonly version: string | undefined
  readonly operations: ReadonlyArray<DocumentOperation>
  /** The schema that a reference names; a schema that is no reference is itself. */
  readonly resolve: (schema: JsonSchema) => JsonSchema
  /** What a schema says when its references are followed and its parts put together. */
  readonly view: (schema: JsonSchema) => View
  /** The kind of a security scheme, as `oauth2` or `http bearer`. */
  readonly schemeKind: (scheme: string) => string | undefined
}

/** What a schema says, its parts put together; where parts are alternatives, what any of them says. */
export interface View {
  /** Every type that a value may have, `null` apart. */
  readonly types: ReadonlySet<string>
  /** The only values of a string; `undefined` where any is allowed. */
  readonly values: ReadonlyArray<string> | undefined
  readonly properties: ReadonlyMap<string, JsonSchema>
  /** The members of every alternative. */
  readonly required: ReadonlySet<string>
  readonly items: JsonSchema | undefined
  readonly constraints: Constraints
}

/** What a schema says of a value besides its type. */
export type Constraints = Pick<
  JsonSchema,
  "format" | "maximum" | "maxItems" | "maxLength" | "minimum" | "minItems" | "minLength" | "pattern"
>

const constraintNames = [
  "format",
  "maximum",
  "maxItems",
  "maxLength",
  "minimum",
  "minItems",
  "minLength",
  "pattern"
] as const satisfies ReadonlyArray<keyof Constraints>

const decode = Schema.decodeUnknownResult(Document)

/** Reads a parsed document. Fails with what is wrong with it, in words. */
export const read = (json: unknown): Result.Result<OpenApiDocument, string> => {
  if (!Predicate.hasProperty(json, "openapi")) return Result.fail("it is no OpenAPI document: it has no member openapi")
  return Result.match(decode(json), {
    onFailure: (error) => Result.fail(`it is no OpenAPI document that can be read: ${error.message}`),
    onSuccess: (document) => Result.succeed(make(document))
  })
}

const make = (document: typeof Document.Type): OpenApiDocument => {
  const { parameters = {}, schemas = {}, securitySchemes = {} } = document.components ?? {}

  const resolve = (schema: JsonSchema): JsonSchema => {
    let found = schema
    // A ref to a ref is rare, and a circle of them means nothing.
    for (let i = 0; i < 8 && found.$ref !== undefined; i++) found = schemas[nameOf(found.$ref)] ?? {}
    return found
  }

  const view = (schema: JsonSchema, within: ReadonlySet<JsonSchema> = new Set()): View => {
    const resolved = resolve(schema)
    if (within.has(resolved)) return nothing
    const inside = new Set([...within, resolved])
    // A schema of which others are kinds names them in its discriminator, and each of them it as a part.
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

  const parameterOf = (parameter: typeof Parameter.Type): typeof Parameter.Type =>
    parameter.$ref === undefined ? parameter : parameters[nameOf(parameter.$ref)] ?? {}

  return {
    version: document.info?.version,
    resolve,
    view,
    schemeKind: (scheme) => {
      const found = securitySchemes[scheme]
      return found && [found.type, found.scheme].filter((part) => part !== undefined).join(" ").toLowerCase()
    },
    operations: Object.entries(document.paths).flatMap(([path, item]) =>
      (["get", "post", "put", "delete"] as const).flatMap((method) => {
        const operation = item[method]
        if (operation === undefined) return []
        const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1]
        return [{
          id: operation.operationId ?? `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          parameters: [...item.parameters ?? [], ...operation.parameters ?? []].map(parameterOf).map((parameter) => ({
            name: parameter.name ?? "",
            in: parameter.in ?? "",
            required: parameter.required ?? false,
            schema: parameter.schema ?? {}
          })),
          body: operation.requestBody?.content?.["application/json"]?.schema,
          success: success?.content?.["application/json"]?.schema,
          security: (operation.security ?? []).flatMap((credential) =>
            Object.entries(credential).map(([scheme, scopes]) => ({ scheme, scopes }))
          )
        }]
      })
    )
  }
}

/** The last part of a reference. */
export const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1)

const nothing: View = {
  types: new Set(),
  values: undefined,
  properties: new Map(),
  required: new Set(),
  items: undefined,
  constraints: {}
}

const itself = (schema: JsonSchema): View => {
  const types = new Set(
    typeof schema.type === "string" ? [schema.type] : schema.type ?? (schema.properties === undefined ? [] : ["object"])
  )
  types.delete("null")
  const values = schema.const === undefined ? schema.enum : [schema.const]
  return {
    types,
    values: values?.filter((value) => typeof value === "string"),
    properties: new Map(Object.entries(schema.properties ?? {})),
    required: new Set(schema.required),
    items: schema.items,
    constraints: pick(schema)
  }
}

const pick = (constraints: Constraints): Constraints =>
  Object.fromEntries(
    constraintNames.filter((name) => constraints[name] !== undefined).map((name) => [name, constraints[name]])
  )

/** What all of the parts say. */
const together = (parts: ReadonlyArray<View>): View =>
  parts.reduce((all, part) => ({
    types: new Set([...all.types, ...part.types]),
    values: all.values ?? part.values,
    properties: new Map([...all.properties, ...part.properties]),
    required: new Set([...all.required, ...part.required]),
    items: all.items ?? part.items,
    constraints: { ...all.constraints, ...part.constraints }
  }), nothing)

/** What any of the parts says. */
const any = (parts: ReadonlyArray<View>): View => {
  // A part that only requires something says nothing of the value.
  const values = parts.filter(({ types }) => types.size > 0).map((part) => part.values)
  return {
    ...together(parts),
    values: values.length > 0 && values.every((values) => values !== undefined)
      ? [...new Set(values.flat())]
      : undefined,
    required: new Set([...parts[0]?.required ?? []].filter((name) => parts.every(({ required }) => required.has(name))))
  }
}
