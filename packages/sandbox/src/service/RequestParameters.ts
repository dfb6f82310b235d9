/** Reads the parameters of a request from its path, query and body. */
import * as BodyLayout from "@postwire/core/schema/BodyLayout"
import { parametersOf } from "@postwire/core/schema/Definition"
import * as ParameterRule from "@postwire/core/schema/ParameterRule"
import * as Parameters from "@postwire/core/schema/Parameters"
import { positionOf, type Wire } from "@postwire/core/wire/Wire"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Problem from "../http/Problem.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import type * as PageToken from "../projection/PageToken.ts"
import type * as Projection from "../projection/Projection.ts"
import * as RequestWire from "./RequestWire.ts"
import { type Route, wrongConstant } from "./Router.ts"
import * as UnknownNames from "./UnknownNames.ts"

/** The decoded parameters of a request. */
export interface Received {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly selection: Projection.Selection
  readonly token: Token | undefined
  /** The maximum number of items on a page. */
  readonly limit: number
  /** The parameters that all pages of a listing share. */
  readonly listing: PageToken.Listing["parameters"]
}

/** A page token and the parameter name it was sent with. */
export interface Token {
  readonly key: string
  readonly value: string
}

/** The raw parameters of a request. */
export interface Sources {
  readonly path: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly body: object | undefined
}

/** Decodes the parameters with the schemas that the client encodes them with, and checks every rule. */
export const receive = (
  route: Route,
  wire: Wire,
  sources: Sources,
  access: Parameters.AccessLevel
): Result.Result<Received, Problem.Problem> =>
  Result.flatMap(collect(route, wire, sources), (given) => decode(route, wire, given, access))

/** A raw value and the name it was sent with. */
interface Given {
  readonly key: string
  readonly value: unknown
}

/** The raw values by parameter name. */
const collect = (
  route: Route,
  wire: Wire,
  { body, path, query }: Sources
): Result.Result<ReadonlyMap<string, Given>, Problem.Problem> => {
  const { definition } = route
  const given = new Map<string, Given>()
  for (const name of Object.keys(definition.path ?? {})) {
    const value = path[name] ?? path[wire.bodyKey(name)]
    if (value !== undefined) given.set(name, { key: name, value })
  }
  const names = new Map(
    Object.keys(definition.query ?? {})
      // An operation has no selectors for objects that it never returns.
      .filter((name) => RequestWire.namesOf(wire, definition, name)?.size !== 0)
      .map((name) => [wire.queryKey(definition, Parameters.queryKey(name)), name] as const)
  )
  // Operations that accept `next_token` also accept `pagination_token`.
  if (definition.paging?.token === "next_token") names.set("pagination_token", "next_token")
  const constants = definition.queryConstants ?? {}
  for (const [key, value] of query) {
    if (Object.hasOwn(constants, key)) {
      if (value !== constants[key]) return refuse(`The \`${key}\` must be ${constants[key]}`, { [key]: value })
      continue
    }
    const name = names.get(key)
    if (name === undefined) {
      return refuseName(`The query parameter [${key}] is not one of [${[...names.keys()].join(",")}]`, key, value)
    }
    if (given.has(name)) return refuseName(`The query parameter [${key}] is there more than once`, key, value)
    given.set(name, { key, value })
  }
  const constant = body && wrongConstant(definition, body)
  if (constant !== undefined) return refuse(`The \`${constant}\` must be ${definition.constants?.[constant]}`)
  const positions = [
    ...Object.keys(definition.body ?? {}).map((name) => positionOf(wire, definition, name)),
    ...Object.keys(definition.constants ?? {})
  ]
  const unknown = body && UnknownNames.memberOf(body, positions)
  if (unknown !== undefined) {
    return refuseName(
      `${unknown.path}: is not defined in the schema and the schema does not allow additional properties. It is not one of [${
        positions.map((position) => `$.${position}`).join(",")
      }]`,
      unknown.path,
      typeof unknown.value === "string" ? unknown.value : JSON.stringify(RequestBody.shown(unknown.value))
    )
  }
  for (const name of Object.keys(definition.body ?? {})) {
    const position = definition.at?.[name] ?? name
    const array = position.includes(".0.")
      ? BodyLayout.lookup(body, {}, position.slice(0, position.indexOf(".0.")))
      : undefined
    if (Array.isArray(array) && array.length > 1) {
      return refuse(`There is more than one \`${name}\`; only one is allowed`)
    }
    const value = BodyLayout.lookup(body, {}, positionOf(wire, definition, name))
    if (value !== undefined) given.set(name, { key: name, value })
  }
  return Result.succeed(given)
}

/** Decodes the values for handlers, and separates selectors and the page token. */
const decode = (
  { definition, selectedBy }: Route,
  wire: Wire,
  given: ReadonlyMap<string, Given>,
  access: Parameters.AccessLevel
): Result.Result<Received, Problem.Problem> => {
  const parameters: Record<string, unknown> = {}
  const selection: Record<string, ReadonlyArray<string>> = {}
  const listing: Record<string, string> = {}
  let token: Token | undefined
  for (const [name, parameter] of Object.entries(parametersOf(definition))) {
    const sent = given.get(name)
    if (sent === undefined) {
      // A route selected by a parameter requires it: GET /2/users needs ids.
      if (parameter.required || name === selectedBy) return refuse(`The \`${name}\` parameter can not be empty`)
      continue
    }
    const inBody = definition.body?.[name] !== undefined
    const names = RequestWire.namesOf(wire, definition, name)
    const words = names === undefined || typeof sent.value !== "string" ? [] : sent.value.split(",")
    const foreign = words.filter((word) => names?.has(word) === false)
    if (names !== undefined && foreign.length > 0) {
      return refuseName(
        `The \`${sent.key}\` query parameter value [${foreign.join(",")}] is not one of [${
          [...names.keys()].join(",")
        }]`,
        sent.key,
        foreign.join(",")
      )
    }
    const value = words.length === 0 ? sent.value : words.map((word) => names?.get(word)).join(",")
    const wired = inBody || typeof value !== "string" ? value : Parameters.fromText(parameter, value)
    const decoded = Schema.decodeUnknownResult(parameter.schema)(wired)
    if (Result.isFailure(decoded) || !Parameters.isWithinBounds(parameter, wired as Parameters.EncodedValue, access)) {
      const shown = typeof value === "string" ? value : JSON.stringify(RequestBody.shown(value))
      return refuse(`The \`${name}\` parameter value [${shown}] ${Parameters.describe(parameter, access)}`, {
        [name]: shown
      })
    }
    if (Parameters.isSelector(name)) selection[name] = String(value).split(",")
    else if (name === definition.paging?.token) token = { key: sent.key, value: String(value) }
    else {
      parameters[name] = valueOf(parameter, decoded.success)
      if (definition.paging !== undefined && name !== "max_results") listing[name] = String(value)
    }
  }
  for (const rule of definition.rules ?? []) {
    const parameter = ParameterRule.broken(rule, (name) => given.has(name))
    if (parameter !== undefined) return refuse(`${parameter}: ${ParameterRule.format(rule)}`)
  }
  const limit = Number(parameters["max_results"] ?? definition.query?.["max_results"]?.default ?? 100)
  return Result.succeed({ parameters, selection, token, limit, listing: { ...listing, route: selectedBy } })
}

const refuse = (
  message: string,
  parameters?: Readonly<Record<string, string>>
): Result.Result<never, Problem.Problem> => Result.fail(Problem.invalidRequest(message, parameters))

/** Refuses an unknown name. Messages that quote the request's names are not translated. */
const refuseName = (message: string, key: string, value: string): Result.Result<never, Problem.Problem> =>
  Result.fail(Problem.invalidRequest(message, { [key]: value }, { isVerbatim: true }))

/** The representation of a decoded value for handlers. */
const valueOf = (parameter: Parameters.AnyParameter, value: unknown): unknown => {
  if (parameter.kind === "timestamp") return Date.parse(String(value))
  if (parameter.kind === "list" && typeof value === "string") return value.split(",")
  return value
}
