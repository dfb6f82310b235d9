/** The service as an OpenAPI document, in the names of one wire. */
import * as Selectors from "../../packages/core/src/operations/Selectors.ts"
import {
  bearerOf,
  type Definition,
  partsOf,
  routesOf,
  successStatus
} from "../../packages/core/src/schema/Definition.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import { onWire } from "../../packages/core/src/schema/Scopes.ts"
import type { WireName } from "../../packages/core/src/schema/WireName.ts"
import { answerOf } from "../../packages/core/src/wire/ResponseDecoder.ts"
import { named, positionOf as positionOn } from "../../packages/core/src/wire/Wire.ts"
import * as ParameterSchema from "../drift/ParameterSchema.ts"
import { components, type JsonSchema, jsonSchemaOf, nameOn, parameterSchema, valuesOn } from "./Schemas.ts"
import { areas, type Documented, documented, notice, text } from "./Source.ts"

/** The document of a wire. */
export const openApi = (wire: WireName) => ({
  "x-notice": notice,
  openapi: "3.1.1",
  info: {
    title: `Postwire, ${wire} wire`,
    summary: "X's (formerly Twitter's) API v2 as the clients of Postwire speak with it.",
    version: version(),
    license: { name: "MIT", identifier: "MIT" }
  },
  ...(named[wire].baseUrl === undefined ? {} : { servers: [{ url: named[wire].baseUrl }] }),
  tags: areas.map(({ name, title }) => ({ name, description: title })),
  paths: paths(wire),
  components: {
    securitySchemes,
    parameters: Object.fromEntries(
      [...selectors].flatMap(([parameter, { key, name }]) => {
        // Streams may say them in other words.
        const user = documented.find(({ definition }) =>
          definition.live === undefined && definition.query?.[name] === parameter &&
          isSent(definition, name, parameter, wire)
        )
        return user === undefined ? [] : [[key, queryParameter(user.definition, name, parameter, wire)]]
      })
    ),
    schemas: {
      ...components(wire),
      Refusal: {
        allOf: [{ $ref: "#/components/schemas/Problem" }],
        type: "object",
        properties: { errors: { type: "array", items: { $ref: "#/components/schemas/Problem" } } }
      }
    },
    responses: {
      Refusal: {
        description: "A refusal with its reason. After 429 the headers have the time of the reset.",
        headers: {
          "x-rate-limit-limit": header("Requests allowed per window."),
          "x-rate-limit-remaining": header("Requests left in this window."),
          "x-rate-limit-reset": header("When the window ends, in seconds since 1970.")
        },
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Refusal" } } }
      }
    }
  }
})

const version = (): unknown => JSON.parse(text("packages/core/package.json")).version

const header = (description: string) => ({ description, schema: { type: "integer" } })

const securitySchemes = {
  BearerToken: { type: "http", scheme: "bearer", description: "An OAuth 2.0 bearer token of an app." },
  UserToken: { type: "http", scheme: "bearer", description: "An OAuth 2.0 bearer token of a user." },
  OAuth1: {
    type: "http",
    scheme: "OAuth",
    description: "OAuth 1.0a (RFC 5849): the request signed for a user with HMAC-SHA1, in the header Authorization."
  }
}

const securityOf = (definition: Definition, wire: WireName): ReadonlyArray<JsonSchema> => {
  const bearer = bearerOf(definition)
  if (bearer === "none") return []
  return [
    ...(bearer === "user" ? [] : [{ BearerToken: [] }]),
    ...(bearer === "app" ? [] : [{ UserToken: definition.scopes.map((scope) => onWire(wire, scope)) }]),
    ...(definition.userAuth === undefined ? [] : [{ OAuth1: [] }])
  ]
}

/** The parameters that reads share, by their keys among the components. */
const selectors: ReadonlyMap<Parameters.AnyParameter, { readonly key: string; readonly name: string }> = new Map(
  // The order of a namespace is not the same everywhere.
  Object.entries(Selectors).sort(([a], [b]) => a < b ? -1 : 1).flatMap(([group, parameters]) =>
    Object.entries(parameters).map(([name, parameter]: readonly [string, Parameters.AnyParameter]) =>
      [parameter, { name, key: name === "expansions" ? `${group}_${name}` : name }] as const
    )
  )
)

interface Endpoint {
  readonly operation: Documented
  readonly id: string
  /** The alternative that selects this route. */
  readonly selectedBy: string
  readonly method: string
  readonly path: string
}

const paths = (wire: WireName): JsonSchema => {
  const byPath: Record<string, Record<string, unknown>> = {}
  const endpoints = documented.flatMap((operation) => endpointsOf(operation, wire))
  for (const { method, path } of endpoints) {
    // Operations that differ only in what they send share a route.
    const sharing = endpoints.filter((other) => other.method === method && other.path === path)
    ;(byPath[path] ??= {})[method] = operationOf(sharing, wire)
  }
  return byPath
}

const endpointsOf = (operation: Documented, wire: WireName): ReadonlyArray<Endpoint> =>
  routesOf(operation.definition).map(([selectedBy, route]) => {
    const [method, template] = partsOf(route)
    const by = selectedBy === "" || selectedBy === "none" ? "" : `_by_${selectedBy}`
    return {
      operation,
      selectedBy,
      id: `${operation.definition.name}${by}`.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      method: method.toLowerCase(),
      path: named[wire].path(template).replace(/:(\w+)/g, "{$1}")
    }
  })

const operationOf = (endpoints: ReadonlyArray<Endpoint>, wire: WireName): JsonSchema => {
  const { operation: { area, definition }, path, selectedBy } = endpoints[0]!
  const operations = endpoints.map(({ operation }) => operation)
  const aliases = operations.flatMap((operation) => operation.aliases)
  const parameters = [...pathParameters(definition, path, wire), ...queryParameters(definition, selectedBy, wire)]
  const bodies = operations.flatMap(({ definition }) => bodyOf(definition, wire))
  return {
    operationId: endpoints.map(({ id }, i) => i === 0 ? id : `Or${id[0]!.toUpperCase()}${id.slice(1)}`).join(""),
    summary: operations.map(({ definition }) => definition.summary).join(" "),
    description: operations.map(({ prose }) => proseOn(wire, prose)).join("\n\n"),
    tags: [area],
    "x-operations": operations.map(({ definition }) => definition.name),
    ...(aliases.length === 0 ? {} : { "x-aliases": aliases }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(bodies.length === 0
      ? {}
      : {
        requestBody: {
          required: true,
          content: encoded(definition, bodies.length === 1 ? bodies[0]! : { oneOf: bodies })
        }
      }),
    responses: {
      [successStatus(definition)]: {
        description: definition.live === undefined
          ? "Success; `errors` lists parts that failed."
          : "A stream, with one of these in each line; an empty line is a heartbeat.",
        content: definition.result._tag === "Bytes"
          ? { "application/octet-stream": {} }
          : json(
            definition.result._tag === "Document" ? { type: "object" } : jsonSchemaOf(answerOf(definition).ast, wire)
          )
      },
      default: { $ref: "#/components/responses/Refusal" }
    },
    security: securityOf(definition, wire)
  }
}

/** A docstring with each paragraph on a line, and names as the wire spells them. */
const proseOn = (wire: WireName, prose: string): string =>
  prose.replace(/(?<!\n)\n(?!\n)/g, " ").replace(/`([\w.]+)`/g, (_, name: string) => `\`${nameOn(wire, name)}\``)

const json = (schema: JsonSchema) => ({ "application/json": { schema } })

const encoded = ({ encoding }: Definition, schema: JsonSchema) =>
  encoding === undefined ? json(schema) : { "multipart/form-data": { schema } }

const pathParameters = (definition: Definition, path: string, wire: WireName): ReadonlyArray<JsonSchema> => {
  const { identity = "" } = definition
  const declared = { ...(identity === "" ? {} : { [identity]: Parameters.id }), ...definition.path }
  return Object.entries(declared).filter(([name]) => path.includes(`{${nameOn(wire, name)}}`)).map((
    [name, parameter]
  ) => ({
    name: nameOn(wire, name),
    in: "path",
    required: true,
    ...(name === identity ? { description: "The id of the authenticated user." } : {}),
    schema: parameterSchema(parameter, valuesOn(definition, name, parameter, wire))
  }))
}

const isSent = (
  definition: Definition,
  name: string,
  parameter: Parameters.AnyParameter,
  wire: WireName
): boolean => parameter.values === undefined || valuesOn(definition, name, parameter, wire)?.length !== 0

const queryParameters = (
  definition: Definition,
  selectedBy: string,
  wire: WireName
): ReadonlyArray<JsonSchema> => [
  ...Object.entries(definition.queryConstants ?? {}).map(([name, value]) => ({
    name,
    in: "query",
    required: true,
    schema: { const: value }
  })),
  ...Object.entries(definition.query ?? {})
    .filter(([name]) => name === selectedBy || !(definition.alternatives?.of.includes(name) ?? false))
    .filter(([name, parameter]) => isSent(definition, name, parameter, wire))
    .map(([name, parameter]) => {
      const shared = selectors.get(parameter)
      return shared === undefined || definition.live !== undefined
        ? queryParameter(definition, name, name === selectedBy ? { ...parameter, required: true } : parameter, wire)
        : { $ref: `#/components/parameters/${shared.key}` }
    })
]

const queryParameter = (
  definition: Definition,
  name: string,
  parameter: Parameters.AnyParameter,
  wire: WireName
): JsonSchema => {
  const description = unsaid(parameter)
  return {
    name: named[wire].queryKey(definition, Parameters.queryKey(name)),
    in: "query",
    ...(description === undefined ? {} : { description }),
    ...(parameter.required ? { required: true } : {}),
    ...(parameter.kind === "list" ? { style: "form", explode: false } : {}),
    schema: parameterSchema(parameter, valuesOn(definition, name, parameter, wire))
  }
}

/** The bounds that JSON Schema cannot say. */
const unsaid = ({ bounds }: Parameters.AnyParameter): string | undefined =>
  bounds?.of === "time"
    ? `Not before ${bounds.earliest}.`
    : bounds?.standard === undefined
    ? undefined
    : `At most ${bounds.standard} ${bounds.of} at standard access.`

const bodyOf = (definition: Definition, wire: WireName): ReadonlyArray<JsonSchema> => {
  const { body = {}, constants = {}, name: title, rules = [] } = definition
  const members = [
    ...Object.entries(constants).map(([key, value]) => ({ at: [key], required: true, schema: { const: value } })),
    ...Object.entries(body).map(([name, parameter]) => ({
      at: positionOf(name),
      required: parameter.required,
      schema: parameterSchema(ParameterSchema.inBody(parameter), valuesOn(definition, name, parameter, wire))
    }))
  ]
  const conditions = rules.map((rule) => {
    switch (rule._tag) {
      case "AtLeastOne":
        return { anyOf: rule.of.map((name) => presence(positionOf(name))) }
      case "Requires":
        return { anyOf: [{ not: presence(positionOf(rule.parameter)) }, presence(positionOf(rule.needs))] }
      case "Excludes":
        return { not: { allOf: [presence(positionOf(rule.parameter)), presence(positionOf(rule.other))] } }
    }
  })
  return members.length === 0 ? [] : [{
    title,
    ...nested(members),
    ...(conditions.length === 0 ? {} : { allOf: conditions })
  }]

  function positionOf(name: string): ReadonlyArray<string> {
    return positionOn(named[wire], definition, name).split(".")
  }
}

interface Member {
  readonly at: ReadonlyArray<string>
  readonly required: boolean
  readonly schema: JsonSchema
}

/** The schema of the object or array that holds the members. */
const nested = (members: ReadonlyArray<Member>): JsonSchema => {
  const byKey = Object.groupBy(members, ({ at }) => at[0] ?? "")
  const schemas = Object.entries(byKey).map(([key, members = []]) => {
    const leaf = members.find(({ at }) => at.length === 1)
    const inner = members.map(({ at, ...member }) => ({ ...member, at: at.slice(1) }))
    return [key, leaf === undefined ? nested(inner) : leaf.schema] as const
  })
  if (byKey["0"] !== undefined) return { type: "array", items: schemas[0]![1], maxItems: 1 }
  const required = [...new Set(members.filter(({ required }) => required).map(({ at }) => at[0]))]
  return {
    type: "object",
    properties: Object.fromEntries(schemas),
    ...(required.length === 0 ? {} : { required })
  }
}

/** The schema of an object that has something at a position. */
const presence = ([key = "", ...rest]: ReadonlyArray<string>): JsonSchema => {
  if (key === "0") return { minItems: 1, items: presence(rest) }
  return { required: [key], ...(rest.length === 0 ? {} : { properties: { [key]: presence(rest) } }) }
}
