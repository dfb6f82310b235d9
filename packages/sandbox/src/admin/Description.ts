/** Describes the operations as plain data for generated forms, and builds requests from filled-in forms. */
import { aliases, areas, catalogue, type Name } from "@postwire/core/Catalogue"
import { type Definition, parametersOf, partsOf, routesOf } from "@postwire/core/schema/Definition"
import * as ParameterRule from "@postwire/core/schema/ParameterRule"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Quota from "@postwire/core/schema/Quota"
import type { WireName } from "@postwire/core/schema/WireName"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Authentication from "../auth/Authentication.ts"
import * as Problem from "../http/Problem.ts"

/** A name or a route on each wire. */
export type OnWires = { readonly [W in WireName]: string }

const describe = (name: Name) => {
  const definition: Definition = catalogue[name].definition
  const { alternatives, paging, rules = [] } = definition
  return {
    name,
    /** The module of Effect's interface. */
    area: Object.entries(areas).find(([, operations]) => name in operations)?.[0] ?? "",
    summary: definition.summary,
    effect: definition.effect,
    /** Method and path; each of several routes names the parameter that selects it. */
    routes: routesOf(definition).map(([selectedBy, route]) => {
      const [method, path] = partsOf(route)
      return { selectedBy, ...onWires((wire) => `${method} ${wire.path(path)}`) }
    }),
    parameters: (["path", "query", "body"] as const).flatMap((place) =>
      Object.entries(definition[place] ?? {}).map(([name, parameter]) => ({
        name,
        place,
        kind: parameter.kind,
        required: parameter.required,
        /** The rule for its text, including bounds, in words. */
        rule: ruleOf(parameter),
        bounds: parameter.bounds,
        values: parameter.values,
        /** True if unknown values are accepted. */
        open: parameter.open ?? false,
        default: parameter.default,
        /** True if it selects fields or expansions. */
        selector: Parameters.isSelector(name),
        /** Its query key, or its position in the body. */
        key: keyOf(definition, place, name)
      }))
    ),
    /** Rules across parameters, in words. */
    rules: [...(alternatives === undefined ? [] : [alternatives]), ...rules].map(ParameterRule.format),
    credentials: Authentication.formsOf(definition),
    /** True if the client signs with OAuth 1.0a unless `user_auth` is false. */
    signs: definition.userAuth === true,
    /** True if it sends results until the connection ends. */
    streams: definition.live !== undefined,
    /** The parameter for page tokens. */
    pageToken: paging?.token,
    /** The scopes required of a user's OAuth 2.0 token. */
    scopes: definition.scopes,
    /** The rate limits, in words. */
    limits: Quota.format(definition.limits)
  }
}

export type Operation = ReturnType<typeof describe>

export type Parameter = Operation["parameters"][number]

/** The rule without the alternatives that only programs have. */
const ruleOf = (parameter: Parameters.AnyParameter): string =>
  Parameters.describe(parameter)
    .replace("a Date, a DateTime or an RFC 3339 string such as", "a time such as")
    .replace(", as a string, a bigint or a safe integer", "")
    .replace(", as a list or as one string with commas", ", with commas")
    .replace("a list of names, or one string of names separated by commas", "names separated by commas")

const keyOf = (definition: Definition, place: "path" | "query" | "body", name: string): OnWires => {
  if (place === "query") return onWires((wire) => wire.queryKey(definition, Parameters.queryKey(name)))
  return onWires((wire) => place === "body" ? Wire.positionOf(wire, definition, name) : wire.bodyKey(name))
}

const onWires = (say: (wire: Wire.Wire) => string): OnWires => ({
  neutral: say(Wire.named.neutral),
  x: say(Wire.named.x),
  "x-2026-02": say(Wire.named["x-2026-02"])
})

/** All operations, without aliases. */
export const operations = (): ReadonlyArray<Operation> =>
  (Object.keys(catalogue) as Array<keyof typeof catalogue>)
    .filter((name): name is Name => !(name in aliases))
    .map(describe)

/** A request without its authorization. */
export interface Request {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body: string | undefined
  /** The parts of a multipart body, in order. `file` is the name of the parameter that holds the file. */
  readonly parts?: ReadonlyArray<{ readonly name: string } & ({ readonly text: string } | { readonly file: string })>
}

/** Builds a request from parameters typed as text. Bounds are checked by the service. */
export const requestOf = (
  name: Name,
  texts: Readonly<Record<string, string>>,
  wire: WireName,
  identity: string
): Effect.Effect<Request, Problem.Problem> => {
  const definition: Definition = catalogue[name].definition
  const known = new Map(Object.entries(parametersOf(definition)))
  /** Placeholders of the files, which are not available here. */
  const files = new Map<unknown, string>()
  const parameters = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const parameter = known.get(name)
      if (parameter === undefined) return [name, text]
      if (parameter.kind === "bytes") {
        const bytes = new Uint8Array(1)
        files.set(bytes, name)
        return [name, bytes]
      }
      if (parameter.kind === "json") return [name, jsonOf(text)]
      // Lists in a body are arrays; everything else may be text.
      const isArray = parameter.kind === "list" && definition.body?.[name] !== undefined
      if (isArray) return [name, linesOf(text)]
      return [name, parameter.open === true ? namesOf(parameter, text) : Parameters.fromText(parameter, text)]
    })
  )
  const prepared = RequestEncoder.encode(definition, parameters, Wire.named[wire], { checks: "identifiers" })
  if ("_tag" in prepared) {
    const at = prepared._tag === "InvalidParameters" ? [prepared.parameter] : prepared.parameters
    return Effect.fail(
      Problem.invalidRequest(prepared.message, Object.fromEntries(at.map((name) => [name, texts[name] ?? ""])))
    )
  }
  const { body, identityAt, method, path, query } = prepared
  const whole = identityAt === undefined ? path : path.slice(0, identityAt) + identity + path.slice(identityAt)
  const request = { method, path: query === "" ? whole : `${whole}?${query}` }
  return Effect.succeed(
    typeof body !== "object" ? { ...request, body } : {
      ...request,
      body: undefined,
      parts: body.parts.map((part) =>
        "text" in part ? part : { name: part.name, file: files.get(part.bytes) ?? part.name }
      )
    }
  )
}

/** Parses objects typed as JSON. Other text is kept, and rejected by the rule of the parameter. */
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The values of an open parameter. Values that the form does not offer are sent verbatim. */
const namesOf = ({ kind, values = [] }: Parameters.AnyParameter, text: string) => {
  const nameOf = (name: string) => values.includes(name) ? name : { unlisted: name }
  return kind === "list" ? text.split(",").map((name) => nameOf(name.trim())) : nameOf(text)
}

/** One item per line, or comma-separated if there is only one line. */
const linesOf = (text: string): ReadonlyArray<string> =>
  text.trim().split(text.trim().includes("\n") ? "\n" : ",").map((item) => item.trim())
