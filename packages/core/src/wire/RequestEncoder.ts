/**
 * From parameters to a request: rules, route, encoding, names of the wire. Pure: nothing is sent and no credential is
 * needed.
 */
import { closestMatch } from "leven"
import type { Call } from "../auth/Credentials.ts"
import * as OAuth1 from "../auth/OAuth1.ts"
import type { Redact } from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import * as BodyLayout from "../schema/BodyLayout.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Multipart from "../schema/Multipart.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import type { Priced } from "../schema/Price.ts"
import { type Encoded, type Input, inWords, type Plan, planOf, type SettledBody } from "./internal/encodingPlan.ts"
import type { Wire } from "./Wire.ts"
import type { Said } from "./WireNames.ts"

/** A request that obeys every rule, short of base address, identity and authorization. Plain data: it crosses threads. */
export interface Prepared extends Call {
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
  /** JSON, or parts of which some are bytes. */
  readonly body: string | Multipart.Body | undefined
  /** What is asked for: JSON, or any file. */
  readonly accept: "application/json" | "*/*"
  /** As in the declaration. */
  readonly pace: Definition["pace"]
  /** What it may be charged. */
  readonly priced: Priced
}

/** Which of the declared bounds the client enforces: those of the specification, or of the service where it has none. */
export interface Checks {
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

const encodedBy = (
  input: Input,
  value: Parameters.EncodedValue
): Encoded | Exclude<ReturnType<typeof inWords>, Said> => {
  if (input.last?.value === value) return input.last
  const text = Parameters.toText(value)
  if (input.words === undefined) return remember(input, { value, text: OAuth1.percentEncode(text), expansions: none })
  const said = inWords(input, text)
  return "names" in said
    ? remember(input, { value, text: OAuth1.percentEncode(said.names.join(",")), expansions: said.expansions })
    : said
}

const none: ReadonlyArray<never> = []

const remember = (input: Input, encoded: Encoded): Encoded => {
  input.last = encoded.text.length <= maxRememberedCharacters ? encoded : undefined
  return encoded
}

const extended = (query: string, { key }: Input, text: string): string =>
  `${query}${query === "" ? "" : "&"}${key}=${text}`

/** The parameters of a call, each read once: what is inherited is not given, and what throws when it is read is refused. */
export const ownProperties = (
  definition: Pick<Definition, "name">,
  parameters: unknown,
  redact?: Redact
): Readonly<Record<string, unknown>> | Errors.InvalidParameters => {
  const rule = "must be one object of named parameters"
  return Parameters.ownProperties(parameters) ??
    Errors.invalidParameter(definition.name, "parameters", rule, parameters, redact)
}

/** Rules, route, encoding and wire names: a request, or the rule that the parameters break, shown as `redact` leaves it. */
export const encode = (
  definition: Definition,
  parameters: unknown,
  wire: Wire,
  { accessLevel, checks = "spec" }: Checks = {},
  redact?: Redact
): Prepared | Errors.InvalidParameters | Errors.ConflictingIdentifiers => {
  const operation = definition.name
  const invalid = (parameter: string, rule: string, value: unknown) =>
    Errors.invalidParameter(operation, parameter, rule, value, redact)
  const given = ownProperties(definition, parameters, redact)
  if (given instanceof Errors.InvalidParameters) return given
  const plan = planOf(definition, wire)
  const isGiven = (name: string) => Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null

  const encoded = new Map<string, Parameters.EncodedValue>()
  let userAuth = definition.userAuth ?? false
  let isChosen = false
  let query = plan.query
  // Fields may be said as expansions, so these are sent together.
  let expansions: Set<string> | undefined
  let body: Record<string, unknown> | undefined = definition.constants && { ...definition.constants }
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (name === "user_auth" && definition.userAuth !== undefined) {
      if (value === undefined || value === null) continue
      if (typeof value !== "boolean") return invalid(name, Parameters.boolean.rule, value)
      userAuth = value
      isChosen = true
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
      if (!("text" in encoded)) return invalid(name, ...refusal(encoded, input, wire))
      // What is said as expansions alone, or not at all, leaves nothing to send.
      if (encoded.text !== "" || input.words === undefined) query = extended(query, input, encoded.text)
      // Going through an empty list is 140 bytes, of every call.
      if (encoded.expansions.length > 0) {
        for (const expansion of encoded.expansions) (expansions ??= new Set()).add(expansion)
      }
    } else {
      const said = input.words === undefined ? undefined : inWords(input, Parameters.toText(wired))
      if (said !== undefined && !("names" in said)) return invalid(name, ...refusal(said, input, wire))
      const value = said === undefined ? wired : said.names.join(",")
      if (input.place === "body") BodyLayout.insert(body ??= {}, plan.positions, name, value)
      else encoded.set(name, value)
    }
  }

  const expanding = plan.inputs.get("expansions")
  if (expansions !== undefined && expanding !== undefined) {
    query = extended(query, expanding, OAuth1.percentEncode([...expansions].join(",")))
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
        rule: ParameterRule.format(alternatives)
      })
    }
    if (typeof definition.route !== "string") selectedBy = chosen[0] ?? "none"
  }
  for (const name of plan.required) {
    if (!isGiven(name) || given[name] === "") return invalid(name, "is required", undefined)
  }
  for (const rule of definition.rules ?? []) {
    const parameter = ParameterRule.broken(rule, isGiven)
    if (parameter !== undefined) {
      const isExcess = rule._tag === "Excludes"
      return invalid(
        parameter,
        isExcess ? ParameterRule.excess(rule) : `is missing: ${ParameterRule.format(rule)}`,
        undefined
      )
    }
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
    // What has a body has it also when everything in it is left out.
    body: definition.body === undefined && body === undefined
      ? undefined
      : definition.encoding === "multipart"
      ? Multipart.make(body ?? {})
      : JSON.stringify(body ?? {}),
    userAuth,
    isChosen,
    scopes: definition.scopes,
    accept: definition.result._tag === "Bytes" ? "*/*" : "application/json",
    pace: definition.pace,
    priced: plan.priced,
    accepts: definition.userAuth === undefined ? ["bearer"] : ["oauth1", "bearer"]
  }
}

/** Names the parameter that a misspelt one may stand for. */
const suggestion = (name: string, definition: Definition, { inputs, positions }: Plan): string => {
  const names = [...inputs.keys(), ...(definition.userAuth === undefined ? [] : ["user_auth"])]
  const meant = nearest(name.replaceAll(".", "_"), names) ??
    Object.keys(positions).find((at) => positions[at]?.startsWith(`${name}.`))
  return meant === undefined ? "" : ` (did you mean ${meant}?)`
}

/** The rule that names break, and the name at fault. */
const refusal = (
  why: Exclude<ReturnType<typeof inWords>, Said>,
  input: Input,
  wire: Wire
): [rule: string, name: string] =>
  "unlisted" in why ? [unlisted(why.unlisted, input), why.unlisted] : [unsaid(wire), why.unsaid]

/** Why a name is refused that an open parameter does not list. */
const unlisted = (name: string, { parameter: { values = [] }, words }: Input): string => {
  // As a command line has it.
  if (name.startsWith("unlisted:")) return onPurpose
  const wired = values.find((value) => {
    const said = words?.get(value)
    return said?.names[0] === name || said?.expansions[0] === name
  })
  const meant = wired ?? nearest(name, values)
  return meant !== undefined
    ? `has no such name (did you mean ${meant}?)`
    : values.length <= maxListed
    ? `has no such name, only ${values.join(", ")}`
    : onPurpose
}

const onPurpose = `has no such name; pass one that only the service knows as { unlisted: "name" }`

/** Why a name is refused that the words of a wire do not have where it stands. */
const unsaid = ({ elsewhere, name }: Wire): string =>
  `cannot be requested with wire: "${name}"${elsewhere === undefined ? "" : `, only with wire: "${elsewhere.name}"`}`

/** Longer lists are not shown in a message. */
const maxListed = 5

/** The known name that another one may stand for: a misspelt one, the service's own, or one in other letters. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const plain = plainOf(name)
  const match = closestMatch(plain, known.map(plainOf), { maxDistance: Math.min(3, plain.length >> 1) })
  return known.find((other) =>
    plainOf(other) === match || (match === undefined && plainOf(other).startsWith(`${plain}.`))
  )
}

/** Without what others spell in another way. */
const plainOf = (name: string): string => name.replace(/tweet/gi, "post").replaceAll("_", "").toLowerCase()
