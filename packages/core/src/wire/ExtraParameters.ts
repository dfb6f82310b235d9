/**
 * What no declaration knows yet: members of a query or of a body, in the service's own names and sent as they are. They add
 * to a request. Nothing of the declaration, of the credential or of the address can be replaced with them.
 */
import * as Predicate from "effect/Predicate"
import * as OAuth1 from "../auth/OAuth1.ts"
import type { Redact } from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Multipart from "../schema/Multipart.ts"
import * as Parameters from "../schema/Parameters.ts"
import { planOf } from "./internal/encodingPlan.ts"
import type { Prepared } from "./RequestEncoder.ts"
import type { Wire } from "./Wire.ts"

/** A text, a finite number or a boolean. */
export type Scalar = string | number | bigint | boolean

/** Members of a query by name. A list travels as one value with commas; what is empty, `null` or `undefined` is not sent. */
export interface Query {
  readonly [name: string]: Scalar | ReadonlyArray<Scalar> | null | undefined
}

/** What JSON can say. Members that are `undefined` are left out. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | Members

/** Members of an object of JSON by name. */
export interface Members {
  readonly [name: string]: Json | undefined
}

/** What is added to a call. */
export interface Extras {
  /**
   * Members of the query that the operation does not declare yet, by the service's names: `{ "widget.fields": ["color"] }`.
   * Of a run of pages, each has them. They replace no parameter.
   */
  readonly extraQuery?: Query | undefined
  /** Members of the body that the operation does not declare yet, by the service's names. They replace no parameter. */
  readonly extraBody?: Members | undefined
}

/** The member at fault, none for the whole, and the rule that it breaks. */
export class Fault {
  readonly member: string | undefined
  readonly rule: string
  constructor(member: string | undefined, rule: string) {
    this.member = member
    this.rule = rule
  }
}

/** The error of a fault in what was passed as `slot`. No value is shown. */
export const refusal = (
  operation: string,
  slot: string,
  { member, rule }: Fault,
  redact?: Redact
): Errors.InvalidParameters => {
  const parameter = member === undefined ? slot : `${slot}.${member}`
  return Errors.invalidParameter(operation, redact === undefined ? parameter : redact(parameter), rule, undefined)
}

/** A copy, which keeps what the caller changes later out; of what is no such object, nothing else. */
export const copied = <A extends object>(members: A): A => {
  try {
    return isPlain(members) ? { ...members } : members
  } catch {
    return members
  }
}

/** A credential as services take it from a query. */
const credential = /^(oauth_.*|(access|bearer|id|refresh)_token|authorization)$/i

/** The encoded members of a query, without the question mark. `taken` gives the rule against a name, if there is one. */
export const queryOf = (
  query: unknown,
  taken: (name: string) => string | undefined = () => undefined
): string | Fault => {
  const members = isPlain(query) ? Parameters.ownProperties(query) : undefined
  if (members === undefined) return new Fault(undefined, "must be an object of names and values")
  let text = ""
  for (const [name, value] of Object.entries(members)) {
    if (name === "") return new Fault(undefined, "must not have an empty name")
    if (name === "__proto__") return new Fault(name, "is not a name that can be sent")
    if (credential.test(name.trim())) return new Fault(name, "is the name of a credential; the client sends its own")
    const rule = taken(name)
    if (rule !== undefined) return new Fault(name, rule)
    if (value === undefined || value === null) continue
    const scalars = scalarsOf(value)
    if (scalars === undefined) {
      return new Fault(name, "must be a text, a finite number, a boolean, or a list of these")
    }
    if (scalars.length === 0) continue
    text += `${text === "" ? "" : "&"}${OAuth1.percentEncode(name)}=${OAuth1.percentEncode(scalars.join(","))}`
  }
  return text
}

/** Whether it is an object of members: those of a Map or of URLSearchParams are not. */
const isPlain = (value: unknown): boolean => {
  try {
    return Object.prototype.toString.call(value) === "[object Object]"
  } catch {
    return false
  }
}

const scalarsOf = (value: unknown): ReadonlyArray<Scalar> | undefined => {
  try {
    // A hole is no value either.
    const scalars: ReadonlyArray<unknown> = Array.isArray(value) ? Array.from(value) : [value]
    return scalars.every(isScalar) ? scalars : undefined
  } catch {
    // A proxy.
    return undefined
  }
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "number" ? Number.isFinite(value) : ["string", "bigint", "boolean"].includes(typeof value)

const notJson = "must be JSON: objects, lists, texts, finite numbers, booleans and null"

/** A value as JSON. */
export const jsonOf = (value: unknown): string | Fault => {
  let fault: Fault | undefined
  function check(this: unknown, name: string, member: unknown): unknown {
    const at = name === "" ? undefined : name
    if (name === "__proto__") fault ??= new Fault(at, "is not a name that can be sent")
    // An invalid date becomes null in JSON.
    else if (!isJson(member) || (member === null && given(this, name) instanceof Date)) fault ??= new Fault(at, notJson)
    // Nothing below what is refused needs a look.
    return fault === undefined ? member : null
  }
  let text: string | undefined
  try {
    text = JSON.stringify(value, check)
  } catch (error) {
    if (error instanceof RangeError) fault ??= new Fault(undefined, "must not be nested so deeply")
    // A circle, or what throws when it is read.
  }
  return fault ?? text ?? new Fault(undefined, notJson)
}

const given = (holder: unknown, name: string): unknown => Predicate.hasProperty(holder, name) ? holder[name] : undefined

const isJson = (value: unknown): boolean => {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value)
    case "object":
      // A Map, for one, would travel as an empty object.
      return value === null || ["[object Object]", "[object Array]"].includes(Object.prototype.toString.call(value))
    case "string":
    case "boolean":
    case "undefined":
      return true
    default:
      return false
  }
}

/** A prepared call with what its options add. */
export const add = <E>(
  prepared: Prepared | E,
  definition: Definition,
  wire: Wire,
  { extraBody, extraQuery }: Extras = {},
  redact?: Redact
): Prepared | E | Errors.InvalidParameters =>
  (extraBody === undefined && extraQuery === undefined) || !isPrepared(prepared)
    ? prepared
    : extended(prepared, definition, wire, extraQuery, redact, extraBody)

const isPrepared = <E>(prepared: Prepared | E): prepared is Prepared => !(prepared instanceof Error)

const extended = (
  prepared: Prepared,
  definition: Definition,
  wire: Wire,
  extraQuery: unknown,
  redact: Redact | undefined,
  extraBody: unknown
): Prepared | Errors.InvalidParameters => {
  const { name } = definition
  const { inputs, positions } = planOf(definition, wire)
  const declared = (key: string): boolean =>
    inputs.has(key) || (key === "user_auth" && definition.userAuth !== undefined)
  const rule = `is a parameter of ${name}: pass it among the parameters`
  const keys = new Set(
    [...inputs].flatMap(([name, { key, place }]) => place === "query" ? [key, Parameters.queryKey(name)] : [])
  )
  const query = extraQuery === undefined
    ? ""
    : queryOf(extraQuery, (key) => declared(key) || keys.has(key) ? rule : undefined)
  if (query instanceof Fault) return refusal(name, "extraQuery", query, redact)
  const body = extraBody === undefined ? prepared.body : bodyOf(prepared, extraBody, {
    isParameter: (key) => declared(key) ? rule : undefined,
    positions: [...Object.values(positions), ...Object.keys(definition.constants ?? {})]
  })
  if (body instanceof Fault) return refusal(name, "extraBody", body, redact)
  return { ...prepared, body, query: [prepared.query, query].filter((part) => part !== "").join("&") }
}

interface Taken {
  readonly isParameter: (name: string) => string | undefined
  /** Of what the declaration puts into the body. */
  readonly positions: ReadonlyArray<string>
}

const bodyOf = (
  { body = "{}", method }: Prepared,
  extra: unknown,
  taken: Taken
): string | Multipart.Body | Fault => {
  if (method === "GET") return new Fault(undefined, "has no place to go: a GET has no body")
  const json = jsonOf(extra)
  if (json instanceof Fault) return json
  const members: unknown = JSON.parse(json)
  if (!Predicate.isObject(members)) return new Fault(undefined, "must be an object of names and JSON values")
  if (typeof body !== "string") return partsOf(body, members, taken)
  const whole: Record<string, unknown> = JSON.parse(body)
  const fault = merge(whole, members, "", {
    ...taken,
    // The items of a list are what the declaration says, all of them.
    positions: taken.positions.map((position) => position.replace(/\.\d+(\..*)?$/, ""))
  })
  return fault ?? JSON.stringify(whole)
}

/** Adds members to a body of parts, which have no members of their own. */
const partsOf = (body: Multipart.Body, members: Record<string, unknown>, taken: Taken): Multipart.Body | Fault => {
  for (const [name, value] of Object.entries(members)) {
    const rule = taken.isParameter(name)
    if (rule !== undefined) return new Fault(name, rule)
    if (!isScalar(value)) {
      return new Fault(name, "must be a text, a finite number or a boolean: it travels beside bytes")
    }
  }
  return { parts: [...Multipart.make(members).parts, ...body.parts] }
}

/** Adds members wherever the declaration has none. */
const merge = (
  into: Record<string, unknown>,
  members: Record<string, unknown>,
  above: string,
  taken: Taken
): Fault | undefined => {
  for (const [name, value] of Object.entries(members)) {
    const at = `${above}${name}`
    const rule = above === "" ? taken.isParameter(name) : undefined
    if (rule !== undefined) return new Fault(at, rule)
    if (taken.positions.includes(at)) return new Fault(at, "is what a parameter of the call sends")
    if (!taken.positions.some((position) => position.startsWith(`${at}.`))) {
      into[name] = value
      continue
    }
    if (!Predicate.isObject(value)) return new Fault(at, "holds parameters of the call: add to it with an object")
    const inner = into[name] ?? {}
    const fault = Predicate.isObject(inner)
      ? merge(inner, value, `${at}.`, taken)
      : new Fault(at, "is what a parameter of the call sends")
    if (fault !== undefined) return fault
    into[name] = inner
  }
  return undefined
}
