/**
 * From parameters to a request: rules, route, encoding, names of the wire. Pure: nothing is sent and no credential is
 * needed.
 */
import { closestMatch } from "leven"
import * as Body from "./Body.ts"
import type { Definition } from "./Definition.ts"
import * as Errors from "./Errors.ts"
import { type Input, type Plan, planOf, type SettledBody } from "./internal/Plan.ts"
import * as OAuth1 from "./OAuth1.ts"
import * as Parameters from "./Parameters.ts"
import type { Redact } from "./Redaction.ts"
import * as Rule from "./Rule.ts"
import type { Wire } from "./Wire.ts"

/** A request that obeys every rule, short of base address, identity and authorization. Plain data: it crosses threads. */
export interface Prepared {
  readonly operation: string
  readonly effect: Definition["effect"]
  /** The operation that shows whether a create happened. */
  readonly confirmWith: string | undefined
  /** For a toggle whose state was reached by a try that had no answer: the body of success, and the refusal of the next. */
  readonly settled: SettledBody | undefined
  readonly method: string
  /** The path with the names of its variable parts. */
  readonly template: string
  readonly path: string
  /** Where in `path` the authenticated user's id goes. */
  readonly identityAt: number | undefined
  /** Encoded, without the question mark. */
  readonly query: string
  readonly body: string | undefined
  readonly userAuth: boolean
  /** As in the declaration. */
  readonly pace: Definition["pace"]
  /** The kinds of credential that the operation takes. */
  readonly accepts: ReadonlyArray<Errors.CredentialKind>
}

/** Which of the specification's bounds the client enforces. */
export interface Limits {
  /** `spec`: all of them. `identifiers`: none; tokens and identifiers are checked all the same. Default `spec`. */
  readonly checks?: "spec" | "identifiers" | undefined
  /** What the project may use: recent queries have 512 characters with `standard`, 1,024 with `research`, the default. */
  readonly accessLevel?: Parameters.AccessLevel | undefined
}

/** An empty list of names asks for nothing, like leaving it out; an empty list of ids is a mistake. */
const isNames = ({ parameter }: Input): boolean => parameter.kind === "list" && parameter.open === true

const isEmpty = (value: unknown): boolean => {
  try {
    return value === "" || (Array.isArray(value) && value.length === 0)
  } catch {
    // Its encoder refuses it.
    return false
  }
}

/** Longer texts of a query are not remembered. */
const maxRememberedCharacters = 1_000

const encodedBy = (input: Input, text: string): string => {
  if (input.last?.text === text) return input.last.encoded
  const encoded = OAuth1.percentEncode(text)
  input.last = text.length <= maxRememberedCharacters ? { text, encoded } : undefined
  return encoded
}

/** The parameters of a call, each read once: what is inherited is not given, and what throws when it is read is refused. */
export const own = (
  definition: Pick<Definition, "name">,
  parameters: unknown,
  redact?: Redact
): Readonly<Record<string, unknown>> | Errors.InvalidParameters => {
  try {
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) return { ...parameters }
  } catch {
    // A getter or a proxy; refused like anything else that is no object of parameters.
  }
  return Errors.invalidParameter(
    definition.name,
    "parameters",
    "must be one object of named parameters",
    parameters,
    redact
  )
}

/** Rules, route, encoding and wire names: a request, or the rule that the parameters break, shown as `redact` leaves it. */
export const prepare = (
  definition: Definition,
  parameters: unknown,
  wire: Wire,
  { accessLevel, checks = "spec" }: Limits = {},
  redact?: Redact
): Prepared | Errors.InvalidParameters | Errors.ConflictingIdentifiers => {
  const operation = definition.name
  const invalid = (parameter: string, rule: string, value: unknown) =>
    Errors.invalidParameter(operation, parameter, rule, value, redact)
  const given = own(definition, parameters, redact)
  if (given instanceof Errors.InvalidParameters) return given
  const plan = planOf(definition, wire)
  const isGiven = (name: string) => Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null

  const encoded = new Map<string, Parameters.Wire>()
  let userAuth = definition.userAuth ?? false
  let query = ""
  let body: Record<string, unknown> | undefined = definition.constants && { ...definition.constants }
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (name === "user_auth" && definition.userAuth !== undefined) {
      if (value === undefined || value === null) continue
      if (typeof value !== "boolean") return invalid(name, Parameters.boolean.rule, value)
      userAuth = value
      continue
    }
    const input = plan.inputs.get(name)
    // Its value is not shown: it may be a credential in the wrong place.
    if (input === undefined) {
      return invalid(name, `is not a parameter of ${operation}${suggestion(name, plan)}`, undefined)
    }
    if (value === undefined || value === null || (isNames(input) && isEmpty(value))) continue
    const wired = input.encode(value)
    if (
      wired === undefined || (checks === "spec" && !Parameters.isWithinBounds(input.parameter, wired, accessLevel))
    ) {
      return invalid(name, Parameters.describe(input.parameter, accessLevel), value)
    }
    if (input.place === "query") {
      query += `${query === "" ? "" : "&"}${input.key}=${encodedBy(input, Parameters.toText(wired))}`
    } else if (input.place === "body") {
      Body.insert(body ??= {}, plan.positions, name, wired)
    } else {
      encoded.set(name, wired)
    }
  }

  let selectedBy = ""
  const { alternatives } = definition
  if (alternatives !== undefined) {
    const chosen = alternatives.of.filter(isGiven)
    if (chosen.length > 1 || (chosen.length === 0 && !alternatives.none)) {
      return new Errors.ConflictingIdentifiers({
        operation,
        parameters: alternatives.of,
        given: chosen,
        rule: Rule.format(alternatives)
      })
    }
    if (typeof definition.route !== "string") selectedBy = chosen[0] ?? "none"
  }
  for (const name of plan.required) {
    if (!isGiven(name) || given[name] === "") return invalid(name, "is required", undefined)
  }
  for (const rule of definition.rules ?? []) {
    const parameter = Rule.broken(rule, isGiven)
    if (parameter !== undefined) return invalid(parameter, `is missing: ${Rule.format(rule)}`, undefined)
  }

  // Every alternative has its route.
  const template = plan.routes.get(selectedBy)!
  let path = template.head
  let identityAt: number | undefined
  for (const { name, text } of template.parts) {
    if (name === definition.identity) identityAt = path.length
    else path += OAuth1.percentEncode(Parameters.toText(encoded.get(name) ?? ""))
    path += text
  }
  return {
    operation,
    effect: definition.effect,
    confirmWith: definition.confirmWith,
    settled: plan.settled,
    method: template.method,
    template: template.path,
    path,
    identityAt,
    query,
    body: body === undefined ? undefined : JSON.stringify(body),
    userAuth,
    pace: definition.pace,
    accepts: definition.userAuth === undefined ? ["bearer"] : ["oauth1", "bearer"]
  }
}

/** Names the nearest parameter of a misspelt one, when it is near. */
const suggestion = (name: string, plan: Plan): string => {
  const meant = closestMatch(name, [...plan.inputs.keys()], { maxDistance: 3 })
  return meant === undefined ? "" : `; did you mean ${meant}`
}
