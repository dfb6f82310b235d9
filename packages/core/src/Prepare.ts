/**
 * From parameters to a request: rules, route, encoding, names of the wire. Pure: nothing is sent and no credential is
 * needed.
 */
import * as Predicate from "effect/Predicate"
import { closestMatch } from "leven"
import * as Body from "./Body.ts"
import type { Definition } from "./Definition.ts"
import * as Errors from "./Errors.ts"
import { type Input, inWords, type Plan, planOf, type SettledBody } from "./internal/Plan.ts"
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

const encodedBy = (input: Input, value: Parameters.Wire): string | { readonly unlisted: string } => {
  if (input.last?.value === value) return input.last.encoded
  const text = Parameters.toText(value)
  const words = input.words === undefined ? text : inWords(input.words, text)
  if (typeof words !== "string") return words
  const encoded = OAuth1.percentEncode(words)
  input.last = text.length <= maxRememberedCharacters ? { value, encoded } : undefined
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
      return invalid(name, `is not a parameter of ${operation}${suggestion(name, definition, plan)}`, undefined)
    }
    if (value === undefined || value === null || (isNames(input) && isEmpty(value))) continue
    const wired = input.encode(value)
    if (
      wired === undefined || (checks === "spec" && !Parameters.isWithinBounds(input.parameter, wired, accessLevel))
    ) {
      return invalid(name, Parameters.describe(input.parameter, accessLevel), value)
    }
    if (input.place === "query") {
      const encoded = encodedBy(input, wired)
      if (typeof encoded !== "string") return invalid(name, unlisted(encoded.unlisted, input), encoded.unlisted)
      query += `${query === "" ? "" : "&"}${input.key}=${encoded}`
    } else if (input.place === "body") {
      const worded = input.words === undefined ? wired : inWords(input.words, Parameters.toText(wired))
      if (Predicate.hasProperty(worded, "unlisted")) {
        return invalid(name, unlisted(worded.unlisted, input), worded.unlisted)
      }
      Body.insert(body ??= {}, plan.positions, name, worded)
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

/** Names the parameter that a misspelt one may stand for. */
const suggestion = (name: string, definition: Definition, { inputs, positions }: Plan): string => {
  const names = [...inputs.keys(), ...(definition.userAuth === undefined ? [] : ["user_auth"])]
  const meant = nearest(name.replaceAll(".", "_"), names) ??
    Object.keys(positions).find((at) => positions[at]?.startsWith(`${name}.`))
  return meant === undefined ? "" : `; did you mean ${meant}`
}

/** Why a name is refused that an open parameter does not list. */
const unlisted = (name: string, { parameter: { values = [] }, words }: Input): string => {
  const wired = values.find((value) => words?.get(value) === name)
  const meant = wired ?? nearest(name, values)
  return meant !== undefined
    ? `lists no such name; did you mean ${meant}`
    : values.length <= maxListed
    ? `lists no such name, only ${values.join(", ")}`
    : `lists no such name; one that the service has all the same is passed as { unlisted: "name" }`
}

/** Longer lists are not shown in a message. */
const maxListed = 5

/** The known name that another one may stand for: a misspelt one, the service's own, or one in other letters. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const neutral = name.replace(/tweet/gi, "post").replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase()
  return closestMatch(neutral, known, { maxDistance: Math.min(3, neutral.length >> 1) }) ??
    known.find((other) => other.startsWith(`${neutral}.`))
}
