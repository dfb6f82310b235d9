/** The facts of the catalogue on a wire. */
import * as SchemaAST from "effect/SchemaAST"
import { bearerOf, type Definition, routesOf, successStatus } from "../../packages/core/src/schema/Definition.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import * as Scopes from "../../packages/core/src/schema/Scopes.ts"
import * as RequestEncoder from "../../packages/core/src/wire/RequestEncoder.ts"
import { answerOf } from "../../packages/core/src/wire/ResponseDecoder.ts"
import { positionOf, type Wire } from "../../packages/core/src/wire/Wire.ts"
import { type Endpoint, endpoints } from "./Endpoint.ts"
import * as ParameterSchema from "./ParameterSchema.ts"
import { resourceFacts, schemaFacts } from "./SchemaFacts.ts"
import {
  type Bounds,
  type Credential,
  type Fact,
  fact,
  type Facts,
  keyOf,
  type RouteFacts,
  type ServiceFacts
} from "./ServiceFacts.ts"

/** All declarations of the catalogue, with the names of a wire. */
export const catalogueFacts = (wire: Wire): ServiceFacts => ({
  routes: endpoints(wire).map((endpoint) => routeFacts(endpoint, wire)),
  resources: resourceFacts(wire)
})

const routeFacts = (endpoint: Endpoint, wire: Wire): RouteFacts => {
  const { definition, selectedBy } = endpoint
  const { alternatives, identity, path = {}, query = {} } = definition
  const isHere = (name: string) => name === selectedBy || !(alternatives?.of.includes(name) ?? false)
  const template = new Map(routesOf(definition)).get(selectedBy) ?? ""
  const result = isBare(definition.result) ? {} : schemaFacts(answerOf(definition).ast, wire)
  return {
    key: keyOf(endpoint),
    name: definition.name,
    path: Array.from(template.matchAll(/:(\w+)/g), ([, name = ""]) => {
      const parameter = name === identity ? Parameters.id : path[name]
      return parameter === undefined
        ? fact({ type: "string", required: true })
        : ofParameter(parameter, { required: true, values: valuesOn(parameter, wire) })
    }),
    query: Object.fromEntries([
      ...Object.entries(definition.queryConstants ?? {}).map(([key, value]) =>
        [key, fact({ type: "string", required: true, values: [value] })] as const
      ),
      ...Object.entries(query).filter(([name, parameter]) => isHere(name) && !isSelector(name, parameter)).map((
        [name, parameter]
      ) => [
        wire.queryKey(definition, Parameters.queryKey(name)),
        ofParameter(parameter, {
          required: parameter.required || name === selectedBy,
          values: valuesOn(parameter, wire),
          style: parameter.kind === "list" ? "commas" : undefined
        })
      ]).concat(selectorFacts(definition, wire))
    ]),
    headers: {},
    body: bodyFacts(definition, wire),
    bodyTypes: definition.body === undefined && definition.constants === undefined
      ? []
      : [definition.encoding === "multipart" ? "multipart/form-data" : "application/json"],
    result,
    resultTypes: definition.result._tag === "Bytes" ? undefined : ["application/json"],
    promised: promisedBy(definition, result),
    statuses: [String(successStatus(definition))],
    servers: wire.baseUrl === undefined ? undefined : [wire.baseUrl],
    credentials: credentialsOf(definition),
    scopes: bearerOf(definition) === "app" || bearerOf(definition) === "none"
      ? undefined
      : definition.scopes.map((scope) => Scopes.onWire(wire.name, scope)).sort()
  }
}

/** Tests whether a result has no envelope. */
const isBare = ({ _tag }: Definition["result"]): boolean => _tag === "Bytes" || _tag === "Document"

/** The members of the envelope that an operation needs: without them results, included objects, or pages are lost. */
const promisedBy = ({ live, paging, result }: Definition, facts: Facts): ReadonlyArray<string> => {
  const kinds = "model" in result ? Object.values(result.model.expansions) : []
  const buckets = Object.entries(facts).filter(([name, { type }]) =>
    name.startsWith("includes.") && kinds.some((kind) => type === `array of ${kind}`)
  )
  return [
    ...(isBare(result) ? [] : ["data"]),
    ...(buckets.length === 0 ? [] : ["includes", ...buckets.map(([name]) => name)]),
    ...(paging === undefined ? [] : ["meta", "meta.next_token"]),
    ...(paging?.directions === "both" ? ["meta.previous_token"] : []),
    ...(live?.rules === true ? Object.keys(facts).filter((name) => name.startsWith("matching_rules")) : [])
  ]
}

/** Checks whether a parameter has known fields or expansions. */
const isSelector = (name: string, { values }: Parameters.AnyParameter): boolean =>
  Parameters.isSelector(name) && values !== undefined

/** The fields and expansions that are sent. Each is encoded alone, since a wire may replace one by another. */
const selectorFacts = (
  { effect, limits, live, name, price, query = {}, result, scopes, summary }: Definition,
  wire: Wire
): Array<[key: string, fact: Fact]> => {
  const selectors = Object.fromEntries(Object.entries(query).filter(([name, parameter]) => isSelector(name, parameter)))
  const read: Definition = {
    effect,
    limits,
    ...(live === undefined ? {} : { live }),
    name,
    price,
    query: selectors,
    result,
    route: "GET /2/",
    scopes,
    summary
  }
  const sent = Object.entries(selectors).flatMap(([name, { values = [] }]) =>
    values.flatMap((value) => {
      const prepared = RequestEncoder.encode(read, { [name]: [value] }, wire)
      // Encoding fails for names that the wire does not have.
      return "_tag" in prepared ? [] : [...new URLSearchParams(prepared.query)]
    })
  )
  return [...Map.groupBy(sent, ([key]) => key)].map(([key, entries]) => [
    key,
    fact({ type: "array of string", values: entries.flatMap(([, value]) => value.split(",")), style: "commas" })
  ])
}

const credentialsOf = (definition: Definition): ReadonlyArray<Credential> => {
  const bearer = bearerOf(definition)
  if (bearer === "none") return []
  return [
    ...(bearer === "user" ? [] : ["app" as const]),
    ...(definition.userAuth === undefined ? [] : ["oauth1" as const]),
    ...(bearer === "app" ? [] : ["user" as const])
  ]
}

const bodyFacts = (definition: Definition, wire: Wire): Facts => {
  const { body = {}, constants = {}, rules = [] } = definition
  /** The names of the objects around a member, and its own; an item of an array counts as one. */
  const placeOf = (name: string): ReadonlyArray<string> => positionOf(wire, definition, name).split(".")
  const needs = (name: string, other: string): boolean =>
    rules.some((rule) => rule._tag === "Requires" && rule.parameter === name && rule.needs === other)
  /** Checks whether a member is always in its object. */
  const isAlways = (name: string): boolean => {
    const place = placeOf(name)
    const inside = place.slice(0, -1).join(".")
    const others = Object.keys(body).filter((other) =>
      other !== name && placeOf(other).join(".").startsWith(`${inside}.`)
    )
    return inside !== "" && others.every((other) => needs(other, name))
  }
  /** Checks whether a rule requires a member of an object. */
  const isNeeded = (inside: string): boolean =>
    rules.some((rule) =>
      rule._tag === "AtLeastOne" && rule.of.every((name) => placeOf(name).join(".").startsWith(inside))
    )
  const facts: Record<string, Fact> = {}
  for (const [name, parameter] of Object.entries(body)) {
    const place = placeOf(name)
    for (let i = 1; i < place.length; i++) {
      if (place[i - 1] === "0") continue
      const parent = pathOf(place.slice(0, i))
      facts[parent] = fact({
        type: place[i] === "0" ? "array of object" : "object",
        required: parameter.required || isNeeded(`${place.slice(0, i).join(".")}.`) || facts[parent]?.required === true
      })
    }
    facts[pathOf(place)] = ofParameter(ParameterSchema.inBody(parameter), {
      required: parameter.required || isAlways(name),
      values: valuesOn(parameter, wire)
    })
    for (const [member, fact] of Object.entries(jsonFacts(parameter, wire))) {
      facts[`${pathOf(place)}${member}`] = fact
    }
  }
  for (const [name, value] of Object.entries(constants)) {
    facts[pathOf(placeOf(name))] = fact({
      type: typeof value,
      required: true,
      values: typeof value === "string" ? [value] : undefined
    })
  }
  return facts
}

/** The members of an object, or of the items of a list of objects, if known. */
const jsonFacts = ({ kind, schema }: Parameters.AnyParameter, wire: Wire): Facts => {
  const ast = SchemaAST.toEncoded(schema.ast)
  const isList = SchemaAST.isArrays(ast)
  const item = isList ? ast.rest[0] : ast
  return kind === "json" && item !== undefined && SchemaAST.isObjects(item) && item.propertySignatures.length > 0
    ? Object.fromEntries(
      Object.entries(schemaFacts(item, wire)).map(([name, fact]) => [`${isList ? "[]" : ""}.${name}`, fact])
    )
    : {}
}

/** The known values, with the names of a wire. */
const valuesOn = ({ values }: Parameters.AnyParameter, wire: Wire) => values?.map(wire.value)

const pathOf = (place: ReadonlyArray<string>): string => place.join(".").replace(/\.0(?=\.|$)/g, "[]")

const ofParameter = (
  parameter: Parameters.AnyParameter,
  { required, style, values = parameter.values }: {
    readonly required: boolean
    readonly values?: ReadonlyArray<string> | undefined
    readonly style?: string | undefined
  }
): Fact =>
  fact({
    type: typeOf(parameter),
    required,
    values,
    style,
    bounds: {
      ...ParameterSchema.itemBoundsOf(parameter),
      ...ParameterSchema.boundsOf(parameter),
      ...(values === undefined ? patternOf(parameter) : {})
    }
  })

const typeOf = ({ kind, schema: { ast } }: Parameters.AnyParameter): string => {
  switch (kind) {
    case "list":
      return "array of string"
    case "json":
      return ast._tag === "Arrays" ? "array of object" : "object"
    case "integer":
      return isSentAsText({ ast }) ? "string" : kind
    case "boolean":
      return kind
    default:
      return "string"
  }
}

const isSentAsText = ({ ast }: { readonly ast: SchemaAST.AST }): boolean => SchemaAST.toEncoded(ast)._tag === "String"

const patternOf = (parameter: Parameters.AnyParameter): Bounds => {
  const pattern = ParameterSchema.patternOf(ParameterSchema.itemOf(parameter) ?? parameter.schema)
  return pattern === undefined ? {} : { pattern }
}
