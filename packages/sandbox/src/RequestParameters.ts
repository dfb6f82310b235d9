/** The parameters of a request, read from its path, its query and its body. */
import * as Body from "@postwire/core/Body"
import { parametersOf } from "@postwire/core/Definition"
import * as Parameters from "@postwire/core/Parameters"
import * as Rule from "@postwire/core/Rule"
import type { Wire } from "@postwire/core/Wire"
import * as WireNames from "@postwire/core/WireNames"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as PageToken from "./PageToken.ts"
import * as Problem from "./Problem.ts"
import type * as Projection from "./Projection.ts"
import { type Route, wrongConstant } from "./Router.ts"
import * as UnknownNames from "./UnknownNames.ts"

/** What a request asks for. */
export interface Received {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly selection: Projection.Selection
  readonly token: Token | undefined
  /** How many items a page has at most. */
  readonly limit: number
  /** What all pages of one listing share. */
  readonly listing: PageToken.Listing["parameters"]
}

/** The token of a page, and the name that it came with. */
export interface Token {
  readonly key: string
  readonly value: string
}

/** What the parts of a request hold. */
export interface Sources {
  readonly path: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly body: object | undefined
}

/** Reads the parameters with the schemas that the client writes them with, and checks every rule again. */
export const receive = (
  route: Route,
  wire: Wire,
  sources: Sources,
  access: Parameters.AccessLevel
): Result.Result<Received, Problem.Problem> =>
  Result.flatMap(collect(route, wire, sources), (given) => decode(route, wire, given, access))

/** A value as it was sent, and the name that it came with. */
interface Given {
  readonly key: string
  readonly value: unknown
}

/** What was sent, by the names of the parameters. */
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
    // Whatever words it has: strangers mix them.
    Object.keys(definition.query ?? {}).flatMap((name) =>
      route.wires.map((wire) => [wire.queryKey(Parameters.queryKey(name)), name] as const)
    )
  )
  // Where both are taken they are one.
  if (definition.paging?.token === "next_token") names.set("pagination_token", "next_token")
  // What the live service takes besides, and its own clients send.
  const lenient = route.wires.some(({ name }) => name !== "neutral")
  for (const [key, value] of query) {
    const name = names.get(key)
    if (name === undefined) {
      return refuseName(`The query parameter [${key}] is not one of [${[...names.keys()].join(",")}]`, key, value)
    }
    if (given.has(name)) return refuseName(`The query parameter [${key}] is there more than once`, key, value)
    given.set(name, {
      key,
      value: lenient && Parameters.isSelector(name) ? WireNames.neutralNames(name, value) : value
    })
  }
  const constant = body && wrongConstant(definition, body)
  if (constant !== undefined) return refuse(`The \`${constant}\` must be ${definition.constants?.[constant]}`)
  const positions = [
    ...Object.keys(definition.body ?? {}).map((name) => wire.bodyKey(definition.at?.[name] ?? name)),
    ...Object.keys(definition.constants ?? {})
  ]
  const unknown = body && UnknownNames.memberOf(body, positions)
  if (unknown !== undefined) {
    return refuseName(
      `${unknown.path}: is not defined in the schema and the schema does not allow additional properties. It is not one of [${
        positions.map((position) => `$.${position}`).join(",")
      }]`,
      unknown.path,
      typeof unknown.value === "string" ? unknown.value : JSON.stringify(unknown.value)
    )
  }
  for (const name of Object.keys(definition.body ?? {})) {
    const position = definition.at?.[name] ?? name
    const array = position.includes(".0.")
      ? Body.lookup(body, {}, position.slice(0, position.indexOf(".0.")))
      : undefined
    if (Array.isArray(array) && array.length > 1) {
      return refuse(`There is more than one \`${name}\`; only one is allowed`)
    }
    const value = Body.lookup(body, {}, wire.bodyKey(position))
    if (value !== undefined) given.set(name, { key: name, value })
  }
  return Result.succeed(given)
}

/** The values as handlers see them, and what the service itself makes of some. */
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
      // The route of an alternative is nothing without it: GET /2/users needs ids.
      if (parameter.required || name === selectedBy) return refuse(`The \`${name}\` parameter can not be empty`)
      continue
    }
    const { value } = sent
    const inBody = definition.body?.[name] !== undefined
    const foreign = typeof value === "string" ? UnknownNames.valuesOf(parameter, value) : []
    if (foreign.length > 0 && parameter.values !== undefined) {
      const say = Parameters.isSelector(name) ? wire.selector(definition, name) : undefined
      const spelled = (names: ReadonlyArray<string>) =>
        names.flatMap((listed) => {
          const said = say?.(listed)
          const words = [...said?.names ?? [], ...said?.expansions ?? []]
          return words.length === 0 ? [listed] : words
        }).join(",")
      const key = inBody ? name : Parameters.queryKey(name)
      return refuse(
        `The \`${wire.queryKey(key)}\` query parameter value [${spelled(foreign)}] is not one of [${
          spelled(parameter.values)
        }]`,
        { [key]: spelled(foreign) }
      )
    }
    const wired = inBody || typeof value !== "string" ? value : Parameters.fromText(parameter, value)
    const decoded = Schema.decodeUnknownResult(parameter.schema)(wired)
    if (Result.isFailure(decoded) || !Parameters.isWithinBounds(parameter, wired as Parameters.Wire, access)) {
      const shown = typeof value === "string" ? value : JSON.stringify(value)
      return refuse(`The \`${name}\` parameter value [${shown}] ${Parameters.describe(parameter, access)}`, {
        [name]: shown
      })
    }
    if (Parameters.isSelector(name)) selection[name] = String(value).split(",")
    else if (name === definition.paging?.token) token = { key: sent.key, value: String(value) }
    else {
      parameters[name] = valueOf(parameter, decoded.success)
      if (name !== "max_results") listing[name] = String(value)
    }
  }
  for (const rule of definition.rules ?? []) {
    const parameter = Rule.broken(rule, (name) => given.has(name))
    if (parameter !== undefined) return refuse(`${parameter}: ${Rule.format(rule)}`)
  }
  const limit = Number(parameters["max_results"] ?? definition.query?.["max_results"]?.default ?? 100)
  return Result.succeed({ parameters, selection, token, limit, listing: { ...listing, route: selectedBy } })
}

const refuse = (
  message: string,
  parameters?: Readonly<Record<string, string>>
): Result.Result<never, Problem.Problem> => Result.fail(Problem.invalidRequest(message, parameters))

/** Of a name that does not belong where it is, what is said is not a wire's to say otherwise. */
const refuseName = (message: string, key: string, value: string): Result.Result<never, Problem.Problem> =>
  Result.fail(Problem.invalidRequest(message, { [key]: value }, true))

/** A decoded value in the form that handlers see. */
const valueOf = (parameter: Parameters.AnyParameter, value: unknown): unknown => {
  if (parameter.kind === "timestamp") return Date.parse(String(value))
  if (parameter.kind === "list" && typeof value === "string") return value.split(",")
  return value
}
