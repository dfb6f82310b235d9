/** Describes the admin API as an OpenAPI document, derived from its endpoints. */
import { partsOf } from "@postwire/core/schema/Definition"
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import type { Endpoint, Endpoints } from "./AdminEndpoint.ts"

/** The OpenAPI 3.1 document of endpoints below `root`. */
export const of = (root: string, endpoints: Endpoints): JsonSchema.JsonSchema => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [declared, endpoint] of Object.entries(endpoints)) {
    const [route = "", query] = declared.split("?")
    const [method, path] = partsOf(route)
    const operations = paths[root + path.replace(/:(\w+)/g, "{$1}")] ??= {}
    operations[method.toLowerCase()] = operationOf(path, query?.split("&") ?? [], endpoint)
  }
  return {
    openapi: "3.1.0",
    info: { title: "Control of the sandbox", version: "1", description: "Durations: 900000, \"15 minutes\", \"15m\"." },
    security: [{ adminToken: [] }],
    paths,
    components: { securitySchemes: { adminToken: { type: "http", scheme: "bearer" } } }
  }
}

const operationOf = (path: string, query: ReadonlyArray<string>, { payload, summary }: Endpoint) => ({
  summary,
  parameters: [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: text })),
    ...query.map((name) => ({ name, in: "query", required: false, schema: text }))
  ],
  ...payload && {
    requestBody: { content: { "application/json": { schema: withoutAbsence(schemaOf(payload)) } } }
  },
  responses: {
    200: { description: "Done." },
    ...payload && { 400: { description: "The payload is invalid; the message says where." } },
    401: { description: "The admin token is missing." }
  }
})

const text = { type: "string" }

/** The schema of a payload, whose definitions are inlined: none of them is shared. */
const schemaOf = (payload: Schema.Constraint): JsonSchema.JsonSchema => Schema.toJsonSchemaDocument(payload).schema

/** Removes what only programs can pass: `undefined`, which is shown as null, and numbers that JSON lacks. */
const withoutAbsence = (schema: unknown, isOptional = false): unknown => {
  if (Array.isArray(schema)) return schema.map((inner) => withoutAbsence(inner))
  if (!isSchema(schema)) return schema
  const { anyOf, properties, required, ...rest } = schema
  const kept = Array.isArray(anyOf)
    ? anyOf.filter((one) =>
      !isSchema(one) || !(isOptional && one["type"] === "null" || `${one["enum"]}` === unwritable)
    )
    : []
  const others = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, withoutAbsence(inner)]))
  if (kept.length === 1) return withoutAbsence(isSchema(kept[0]) ? { ...others, ...kept[0] } : kept[0])
  const needed = Array.isArray(required) ? required : []
  return {
    ...others,
    ...kept.length > 0 && { anyOf: kept.map((one) => withoutAbsence(one)) },
    ...needed.length > 0 && { required: needed },
    ...isSchema(properties) && {
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, withoutAbsence(inner, !needed.includes(name))])
      )
    }
  }
}

const unwritable = "Infinity,-Infinity,NaN"

const isSchema = (value: unknown): value is JsonSchema.JsonSchema => typeof value === "object" && value !== null
