/**
 * Encodes parameters into a request: rules, route, encoding, names. Pure: nothing is sent and no credential is needed.
 */
import { closestMatch } from "leven"
import type { Call } from "../auth/Credentials.ts"
import * as OAuth1 from "../auth/OAuth1.ts"
import type { Redact } from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import * as BodyLayout from "../schema/BodyLayout.ts"
import { type Definition, planRuleOf } from "../schema/Definition.ts"
import * as ForeignNames from "../schema/ForeignNames.ts"
import * as Multipart from "../schema/Multipart.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import type { Priced } from "../schema/Price.ts"
import {
  type Encoded,
  type Input,
  type Plan,
  planOf,
  type SettledBody,
  type Template,
  translate,
  type Untranslatable
} from "./internal/encodingPlan.ts"
import type { Wire } from "./Wire.ts"

/** A valid request without base URL, user id and authorization. It is plain data, which can cross threads. */
export interface Prepared extends Call {
  readonly effect: Definition["effect"]
  /** True for a create that may be repeated, since the service knows it by its key. */
  readonly isKeyed: boolean
  /** The operation that shows whether a create happened. */
  readonly confirmWith: string | undefined
  /** For a toggle that an earlier attempt may have set: the body of success, and the refusal that means that it did. */
  readonly settled: SettledBody | undefined
  readonly method: string
  /** The path with the names of its variable parts. */
  readonly template: string
  readonly path: string
  /** The offset in `path` at which the authenticated user's id is inserted. */
  readonly identityAt: number | undefined
  /** Encoded, without the question mark. */
  readonly query: string
  /** JSON, or multipart. */
  readonly body: string | Multipart.Body | undefined
  /** The accepted response: JSON, or any file. */
  readonly accept: "application/json" | "*/*"
  /** The rule of self-serve plans that may be the reason of a refusal. */
  readonly planRule: string | undefined
  /** From the declaration. */
  readonly pace: Definition["pace"]
  /** Its possible cost. */
  readonly priced: Priced
}

/** A request that no declaration describes: members that are not given are absent. */
export const plainRequest = (
  own: Pick<Prepared, "operation" | "effect" | "method" | "template" | "path"> & Partial<Prepared>
): Prepared => ({
  isKeyed: false,
  confirmWith: undefined,
  settled: undefined,
  identityAt: undefined,
  query: "",
  body: undefined,
  userAuth: false,
  isChosen: true,
  scopes: [],
  accept: "application/json",
  planRule: undefined,
  pace: undefined,
  priced: { price: "free", items: 0 },
  accepts: [],
  bearer: undefined,
  ...own
})

/** The declared bounds that the client enforces: those of the specification, or of the service where it has none. */
export interface Checks {
  /** `spec`: all of them. `identifiers`: none, but tokens and identifiers are still checked. Default `spec`. */
  readonly checks?: "spec" | "identifiers" | undefined
  /** The project's access level: recent queries have 512 characters with `standard`, 1,024 with `research`, the default. */
  readonly accessLevel?: Parameters.AccessLevel | undefined
}

/** An empty list of names is the same as none; an empty list of ids is a mistake. */
const isNames = ({ parameter }: Input): boolean => parameter.kind === "list" && parameter.open === true

const isEmpty = (value: unknown): boolean => value === "" || (Array.isArray(value) && value.length === 0)

/** Longer query values are not cached. */
const maxCachedCharacters = 1_000

const encodeQueryValue = (input: Input, value: Parameters.EncodedValue): Encoded | Untranslatable => {
  if (input.last?.value === value) return input.last
  const text = Parameters.toText(value)
  if (input.words === undefined) return cache(input, { value, text: OAuth1.percentEncode(text), expansions: none })
  const names = translate(input, text)
  return "names" in names
    ? cache(input, { value, text: OAuth1.percentEncode(names.names.join(",")), expansions: names.expansions })
    : names
}

const none: ReadonlyArray<never> = []

const cache = (input: Input, encoded: Encoded): Encoded => {
  input.last = encoded.text.length <= maxCachedCharacters ? encoded : undefined
  return encoded
}

/** The own properties of a call's parameters; inherited ones do not count. */
export const ownProperties = (
  definition: Pick<Definition, "name">,
  parameters: unknown,
  redact?: Redact
): Readonly<Record<string, unknown>> | Errors.InvalidParameters => {
  const rule = "must be one object of named parameters"
  return Parameters.ownProperties(parameters) ??
    Errors.invalidParameter(definition.name, "parameters", rule, parameters, redact)
}

/** Why a parameter is refused. */
type Fault = readonly [parameter: string, rule: string, value: unknown]

/** Collects the encoded parameters of one request. */
class Encoding {
  readonly #definition: Definition
  readonly #plan: Plan
  readonly #wire: Wire
  readonly #checks: Checks
  readonly #path: Record<string, Parameters.EncodedValue> = {}
  #query: string
  /** Fields may be requested as expansions, so that these are sent last. */
  #expansions: Set<string> | undefined
  #body: Record<string, unknown> | undefined
  userAuth: boolean
  /** True if the caller passed `user_auth`. */
  isChosen = false
  /** The offset in the path at which the authenticated user's id is inserted. */
  identityAt: number | undefined

  constructor(definition: Definition, plan: Plan, wire: Wire, checks: Checks) {
    this.#definition = definition
    this.#plan = plan
    this.#wire = wire
    this.#checks = checks
    this.#query = plan.query
    this.#body = definition.constants && { ...definition.constants }
    this.userAuth = definition.userAuth ?? false
  }

  add(name: string, value: unknown): Fault | undefined {
    const { accessLevel, checks = "spec" } = this.#checks
    if (name === "user_auth" && this.#definition.userAuth !== undefined) return this.#addUserAuth(value)
    const input = this.#plan.inputs.get(name)
    // The value is not shown: it may be a credential in the wrong place.
    if (input === undefined) {
      const operation = this.#definition.name
      return [name, `is not a parameter of ${operation}${suggestion(name, this.#definition, this.#plan)}`, undefined]
    }
    if (value === undefined || value === null || (isNames(input) && isEmpty(value))) return undefined
    const encoded = input.encode(value)
    if (
      encoded === undefined || (checks === "spec" && !Parameters.isWithinBounds(input.parameter, encoded, accessLevel))
    ) {
      return [name, Parameters.describe(input.parameter, accessLevel), value]
    }
    return input.place === "query" ? this.#addQuery(name, input, encoded) : this.#addOther(name, input, encoded)
  }

  #addUserAuth(value: unknown): Fault | undefined {
    if (value === undefined || value === null) return undefined
    if (typeof value !== "boolean") return ["user_auth", Parameters.boolean.rule, value]
    this.userAuth = value
    this.isChosen = true
    return undefined
  }

  #addQuery(name: string, input: Input, value: Parameters.EncodedValue): Fault | undefined {
    const encoded = encodeQueryValue(input, value)
    if (!("text" in encoded)) return [name, ...refusal(encoded, input, this.#wire)]
    // An empty text, or names that are requested as expansions only, leave nothing to send.
    if (encoded.text !== "") this.#append(input, encoded.text)
    // Iterating an empty list would cost 140 bytes in every call.
    if (encoded.expansions.length > 0) {
      for (const expansion of encoded.expansions) (this.#expansions ??= new Set()).add(expansion)
    }
    return undefined
  }

  #addOther(name: string, input: Input, encoded: Parameters.EncodedValue): Fault | undefined {
    const names = input.words === undefined ? undefined : translate(input, Parameters.toText(encoded))
    if (names !== undefined && !("names" in names)) return [name, ...refusal(names, input, this.#wire)]
    const value = names === undefined ? encoded : names.names.join(",")
    if (input.place === "body") BodyLayout.insert(this.#body ??= {}, this.#plan.positions, name, value)
    else this.#path[name] = value
    return undefined
  }

  #append({ key }: Input, text: string): void {
    this.#query += `${this.#query === "" ? "" : "&"}${key}=${text}`
  }

  /** The encoded query; called once, after the last parameter. */
  query(): string {
    const input = this.#plan.inputs.get("expansions")
    if (this.#expansions !== undefined && input !== undefined) {
      this.#append(input, OAuth1.percentEncode([...this.#expansions].join(",")))
    }
    return this.#query
  }

  /** The body; an operation with a body sends one even if every member is absent. */
  body(): Prepared["body"] {
    const { body, encoding } = this.#definition
    if (body === undefined && this.#body === undefined) return undefined
    return encoding === "multipart" ? Multipart.make(this.#body ?? {}) : JSON.stringify(this.#body ?? {})
  }

  /** The path; sets `identityAt`. */
  path({ head, parts }: Template): string {
    let path = head
    for (const { name, text } of parts) {
      if (name === this.#definition.identity) this.identityAt = path.length
      else path += OAuth1.percentEncode(Parameters.toText(this.#path[name] ?? ""))
      path += text
    }
    return path
  }
}

/** Encodes parameters into a request, or returns the rule that they break, redacted by `redact`. */
export const encode = (
  definition: Definition,
  parameters: unknown,
  wire: Wire,
  checks: Checks = {},
  redact?: Redact
): Prepared | Errors.InvalidParameters | Errors.ConflictingIdentifiers => {
  const given = ownProperties(definition, parameters, redact)
  if (given instanceof Errors.InvalidParameters) return given
  const plan = planOf(definition, wire)
  const encoding = new Encoding(definition, plan, wire, checks)
  for (const name of Object.keys(given)) {
    const fault = encoding.add(name, given[name])
    if (fault !== undefined) return invalid(definition, fault, redact)
  }

  const chosen = definition.alternatives?.of.filter((name) => isGiven(given, name))
  if (chosen !== undefined && (chosen.length > 1 || (chosen.length === 0 && !definition.alternatives!.none))) {
    const { of } = definition.alternatives!
    const rule = ParameterRule.format(definition.alternatives!)
    return new Errors.ConflictingIdentifiers({ operation: definition.name, parameters: of, given: chosen, rule })
  }
  const fault = incomplete(definition, plan, given)
  if (fault !== undefined) return invalid(definition, fault, redact)

  // Every alternative has its route.
  const template = plan.routes.get(typeof definition.route === "string" ? "" : chosen?.[0] ?? "none")!
  const path = encoding.path(template)
  // One literal: members that are spread into it would make it a slower and larger object.
  return {
    operation: definition.name,
    effect: definition.effect,
    isKeyed: definition.key !== undefined,
    confirmWith: definition.confirmWith,
    settled: plan.settled,
    method: template.method,
    template: template.path,
    path,
    identityAt: encoding.identityAt,
    query: encoding.query(),
    body: encoding.body(),
    userAuth: encoding.userAuth,
    isChosen: encoding.isChosen,
    scopes: definition.scopes,
    accept: definition.result._tag === "Bytes" ? "*/*" : "application/json",
    planRule: definition.selfServe && planRuleOf(definition, (name) => isGiven(given, name)),
    pace: definition.pace,
    priced: plan.priced,
    accepts: definition.userAuth === undefined ? ofApp : ofUser,
    bearer: plan.bearer
  }
}

const ofApp = ["bearer"] as const
const ofUser = ["oauth1", "bearer"] as const

const invalid = (
  { name: operation }: Definition,
  [parameter, rule, value]: Fault,
  redact: Redact | undefined
): Errors.InvalidParameters => Errors.invalidParameter(operation, parameter, rule, value, redact)

const isGiven = (given: Readonly<Record<string, unknown>>, name: string): boolean =>
  Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null

/** The first parameter that is missing, or given beside one that excludes it. */
const incomplete = (
  { rules = [] }: Definition,
  { required }: Plan,
  given: Readonly<Record<string, unknown>>
): Fault | undefined => {
  for (const name of required) {
    if (!isGiven(given, name) || given[name] === "") return [name, "is required", undefined]
  }
  for (const rule of rules) {
    const parameter = ParameterRule.broken(rule, (name) => isGiven(given, name))
    if (parameter === undefined) continue
    const message = rule._tag === "Excludes" ? ParameterRule.excess(rule) : `is missing: ${ParameterRule.format(rule)}`
    return [parameter, message, undefined]
  }
  return undefined
}

// A name such as `constructor` finds a function, which has no `find`.
const foreign: Readonly<Record<string, { readonly find?: ReadonlyArray<string>["find"] }>> = ForeignNames.foreignNames

/** Suggests the parameter that a misspelt or foreign one may stand for. */
const suggestion = (name: string, definition: Definition, { inputs }: Plan): string => {
  const names = [...inputs.keys(), ...(definition.userAuth === undefined ? [] : ["user_auth"])]
  const meant = nearest(name, names) ??
    foreign[ForeignNames.plainOf(name)]?.find?.((other) => names.includes(other))
  return meant === undefined ? "" : ` (did you mean ${meant}?)`
}

/** The rule that a name breaks, and the name. */
const refusal = (
  why: Untranslatable,
  input: Input,
  wire: Wire
): [rule: string, name: string] =>
  "unlisted" in why ? [unlisted(why.unlisted, input), why.unlisted] : [unavailable(wire), why.unavailable]

/** The rule against a name that an open parameter does not list. */
const unlisted = (name: string, { parameter: { values = [] }, words }: Input): string => {
  // The syntax of the command line.
  if (name.startsWith("unlisted:")) return onPurpose
  const translated = values.find((value) => {
    const names = words?.get(value)
    return names?.names[0] === name || names?.expansions[0] === name
  })
  const meant = translated ?? nearest(name, values)
  return meant !== undefined
    ? `has no such name (did you mean ${meant}?)`
    : values.length <= maxListed
    ? `has no such name, only ${values.join(", ")}`
    : onPurpose
}

const onPurpose = `has no such name; pass one that only the service knows as { unlisted: "name" }`

/** The rule against a name that a name set does not have in this place. */
const unavailable = ({ elsewhere, name }: Wire): string =>
  `cannot be requested with wire: "${name}"${elsewhere === undefined ? "" : `, only with wire: "${elsewhere.name}"`}`

/** Longer lists are not shown in a message. */
const maxListed = 5

/** The known name that a name may stand for, which is misspelt, the service's own, or in another case. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const plain = ForeignNames.plainOf(name)
  const match = closestMatch(plain, known.map(ForeignNames.plainOf), { maxDistance: Math.min(3, plain.length >> 1) })
  return known.find((other) =>
    ForeignNames.plainOf(other) === match || (match === undefined && other.startsWith(`${name}.`))
  )
}
