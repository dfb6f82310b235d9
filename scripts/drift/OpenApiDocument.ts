/** Reads the OpenAPI document of a service (3.0 or 3.1): its operations, and its schemas. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { JsonSchema, nameOf, type View, viewOf } from "./JsonSchema.ts"

const Parameter = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  in: Schema.optionalKey(Schema.String),
  required: Schema.optionalKey(Schema.Boolean),
  style: Schema.optionalKey(Schema.String),
  explode: Schema.optionalKey(Schema.Boolean),
  schema: Schema.optionalKey(JsonSchema)
})

const Servers = Schema.optionalKey(Schema.Array(Schema.Struct({ url: Schema.String })))

const Security = Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))))

const Content = Schema.optionalKey(
  Schema.Record(Schema.String, Schema.Struct({ schema: Schema.optionalKey(JsonSchema) }))
)

const Operation = Schema.Struct({
  operationId: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
  responses: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ content: Content }))),
  security: Security,
  servers: Servers
})

const PathItem = Schema.Struct({
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  get: Schema.optionalKey(Operation),
  post: Schema.optionalKey(Operation),
  put: Schema.optionalKey(Operation),
  patch: Schema.optionalKey(Operation),
  delete: Schema.optionalKey(Operation),
  servers: Servers
})

const methods = ["get", "post", "put", "patch", "delete"] as const

const Document = Schema.Struct({
  openapi: Schema.String,
  info: Schema.optionalKey(Schema.Struct({ version: Schema.optionalKey(Schema.String) })),
  paths: Schema.Record(Schema.String, PathItem),
  security: Security,
  servers: Servers,
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
  /** As in the document; the method and path if it has none. */
  readonly id: string
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly style: string | undefined
    readonly explode: boolean | undefined
    readonly schema: JsonSchema
  }>
  /** The request body: multipart if the operation accepts it, else JSON. */
  readonly body: JsonSchema | undefined
  /** The media types of the request body. */
  readonly bodyTypes: ReadonlyArray<string>
  /** The JSON body of a success. */
  readonly success: JsonSchema | undefined
  readonly successTypes: ReadonlyArray<string>
  readonly successStatuses: ReadonlyArray<string>
  /** Base addresses without a trailing slash. */
  readonly servers: ReadonlyArray<string>
  /** Alternative credentials, with their scopes. */
  readonly security: ReadonlyArray<{ readonly scheme: string; readonly scopes: ReadonlyArray<string> }>
}

/** A parsed document. */
export interface OpenApiDocument {
  readonly version: string | undefined
  readonly operations: ReadonlyArray<DocumentOperation>
  /** The schema that a reference names; other schemas are returned unchanged. */
  readonly resolve: (schema: JsonSchema) => JsonSchema
  /** The view of a schema, with references resolved and parts combined. */
  readonly view: (schema: JsonSchema) => View
  /** The kind of a security scheme, such as `oauth2` or `http bearer`. */
  readonly schemeKind: (scheme: string) => string | undefined
}

const decode = Schema.decodeUnknownResult(Document)

/** Reads a parsed document. Fails with the reason as text. */
export const read = (json: unknown): Result.Result<OpenApiDocument, string> => {
  if (!Predicate.hasProperty(json, "openapi")) {
    return Result.fail("it is not an OpenAPI document: it has no member openapi")
  }
  return Result.match(decode(json), {
    onFailure: (error) => Result.fail(`the OpenAPI document cannot be read: ${error.message}`),
    onSuccess: (document) => Result.succeed(make(document))
  })
}

const make = (document: typeof Document.Type): OpenApiDocument => {
  const { parameters = {}, schemas = {}, securitySchemes = {} } = document.components ?? {}

  const resolve = (schema: JsonSchema): JsonSchema => {
    let found = schema
    // Chains of references are rare, and circular ones have no meaning.
    for (let i = 0; i < 8 && found.$ref !== undefined; i++) found = schemas[nameOf(found.$ref)] ?? {}
    return found
  }

  const parameterOf = (parameter: typeof Parameter.Type): typeof Parameter.Type =>
    parameter.$ref === undefined ? parameter : parameters[nameOf(parameter.$ref)] ?? {}

  return {
    version: document.info?.version,
    resolve,
    view: viewOf(resolve),
    schemeKind: (scheme) => {
      const found = securitySchemes[scheme]
      return found && [found.type, found.scheme].filter((part) => part !== undefined).join(" ").toLowerCase()
    },
    operations: Object.entries(document.paths).flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const operation = item[method]
        if (operation === undefined) return []
        const body = operation.requestBody?.content ?? {}
        const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith("2"))
        const success = successes[0]?.[1].content ?? {}
        return [{
          id: operation.operationId ?? `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          parameters: [...item.parameters ?? [], ...operation.parameters ?? []].map(parameterOf).map((parameter) => ({
            name: parameter.name ?? "",
            in: parameter.in ?? "",
            required: parameter.required ?? false,
            style: parameter.style,
            explode: parameter.explode,
            schema: parameter.schema ?? {}
          })),
          body: (body["multipart/form-data"] ?? body["application/json"])?.schema,
          bodyTypes: Object.keys(body),
          success: success["application/json"]?.schema,
          successTypes: Object.keys(success),
          successStatuses: successes.map(([status]) => status),
          servers: (operation.servers ?? item.servers ?? document.servers ?? []).map(({ url }) =>
            url.replace(/\/$/, "")
          ),
          security: (operation.security ?? document.security ?? []).flatMap((credential) =>
            Object.entries(credential).map(([scheme, scopes]) => ({ scheme, scopes }))
          )
        }]
      })
    )
  }
}
