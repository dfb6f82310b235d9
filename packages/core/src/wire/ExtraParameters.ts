/**
 * Members of a query or a body that no declaration contains yet, in the service's own names and sent unchanged. They can only
 * add to a request, not replace anything of the declaration, the credential or the URL.
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

/** A string, a finite number, a bigint or a boolean. */
export type Scalar = string | number | bigint | boolean

/** Members of a query by name. A list is sent as one value with commas; empty lists, `null` and `undefined` are not sent. */
export interface Query {
  readonly [name: string]: Scalar | ReadonlyArray<Scalar> | null | undefined
}

/** A JSON value. Members that are `undefined` are omitted. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | Members

/** Members of a JSON object by name. */
export interface Members {
  readonly [name: string]: Json | undefined
}

/** Additions to a call. */
export interface Extras {
  /**
   * Members of the query that the operation does not declare yet, by the service's names: `{ "widget.fields": ["color"] }`.
   * With pagination, every page has them. They replace no parameter.
   */
  readonly extraQuery?: Query | undefined
  /** Members of the body that the operation does not declare yet, by the service's names. They replace no parameter. */
  readonly extraBody?: Members | undefined
}

/** An invalid member (`undefined` for the value as a whole), and the rule that it breaks. */
export class Fault {
  readonly member: string | undefined
  readonly rule: string
  constructor(member: string | undefined, rule: string) {
    this.member = member
    this.rule = rule
  }
}

/** The error of a fault in the option or member `slot`. No value is shown. */
export const refusal = (
  operation: string,
  slot: string,
  { member, rule }: Fault,
  redact?: Redact
): Errors.InvalidParameters => {
  const parameter = member === undefined ? slot : `${slot}.${member}`
  return Errors.invalidParameter(operation, redact === undefined ? parameter : redact(parameter), rule, undefined)
}

/** A copy, which later changes by the caller do not affect; any other value unchanged. */
export const copied = <A extends object>(members: A): A => isPlain(members) ? { ...members } : members

/** The names under which services accept a credential in a query. */
const credential = /^(oauth_.*|(access|bearer|id|refresh)_token|authorization)$/i

/** The encoded members of a query, without the question mark. `refuse` returns the rule against a name, if any. */
export const queryOf = (query: unknown, refuse?: (name: string) => string | undefined): string | Fault => {
  if (!isPlain(query)) return new Fault(undefined, "must be an object of names and values")
  const parts: Array<string> = []
  for (const [name, value] of Object.entries(query)) {
    const rule = name === "" ? "must not have an empty name" : nameRule(name) ?? refuse?.(name)
    if (rule !== undefined) return new Fault(name === "" ? undefined : name, rule)
    if (value === undefined || value === null) continue
    // `Array.from` turns holes into `undefined`, which is refused.
    const scalars: ReadonlyArray<unknown> = Array.isArray(value) ? Array.from(value) : [value]
    if (!scalars.every(isScalar)) {
      return new Fault(name, "must be a string, a finite number, a boolean, or a list of these")
    }
    if (scalars.length > 0) parts.push(`${OAuth1.percentEncode(name)}=${OAuth1.percentEncode(scalars.join(","))}`)
  }
  return parts.join("&")
}

const unsendable = "is not a name that can be sent"

const nameRule = (name: string): string | undefined =>
  name === "__proto__"
    ? unsendable
    : credential.test(name.trim())
    ? "is the name of a credential; the client sends its own"
    : undefined

/** Tests whether a value is an object with members: a Map or URLSearchParams is not. */
const isPlain = (value: unknown): value is object => Object.prototype.toString.call(value) === "[object Object]"

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "number" ? Number.isFinite(value) : ["string", "bigint", "boolean"].includes(typeof value)

const notJson = "must be JSON: objects, lists, strings, finite numbers, booleans and null, not nested too deeply"

/** A value as JSON. */
export const jsonOf = (value: unknown): string | Fault => {
  let fault: Fault | undefined
  function check(this: unknown, name: string, member: unknown): unknown {
    // JSON.stringify turns an invalid date into null.
    const isInvalid = !isJson(member) || (member === null && Reflect.get(Object(this), name) instanceof Date)
    const rule = name === "__proto__" ? unsendable : isInvalid ? notJson : undefined
    if (rule !== undefined) fault ??= new Fault(name === "" ? undefined : name, rule)
    return fault === undefined ? member : null
  }
  let text: string | undefined
  try {
    text = JSON.stringify(value, check)
  } catch {
    // A circular value, or one that is nested too deeply.
  }
  return fault ?? text ?? new Fault(undefined, notJson)
}

const isJson = (value: unknown): boolean =>
  // A Map would be sent as an empty object.
  value === undefined || value === null || Array.isArray(value) || isPlain(value) ||
  (typeof value !== "bigint" && isScalar(value))

/** A prepared call with the additions of its options. */
export const add = <E>(
  prepared: Prepared | E,
  definition: Definition,
  wire: Wire,
  { extraBody, extraQuery }: Extras = {},
  redact?: Redact
): Prepared | E | Errors.InvalidParameters => {
  if ((extraBody === undefined && extraQuery === undefined) || !isPrepared(prepared)) return prepared
  const { name, userAuth } = definition
  const { inputs, positions } = planOf(definition, wire)
  const rule = `is a parameter of ${name}: pass it among the parameters`
  const ruleOf = (key: string) => inputs.has(key) || (key === "user_auth" && userAuth !== undefined) ? rule : undefined
  const queryKeys = new Set(
    [...inputs].flatMap(([name, { key, place }]) => place === "query" ? [key, Parameters.queryKey(name)] : [])
  )
  const query = extraQuery === undefined ? "" : queryOf(extraQuery, (key) => queryKeys.has(key) ? rule : ruleOf(key))
  if (query instanceof Fault) return refusal(name, "extraQuery", query, redact)
  const body = extraBody === undefined
    ? prepared.body
    : bodyOf(prepared, extraBody, ruleOf, [...Object.values(positions), ...Object.keys(definition.constants ?? {})])
  if (body instanceof Fault) return refusal(name, "extraBody", body, redact)
  return { ...prepared, body, query: [prepared.query, query].filter((part) => part !== "").join("&") }
}

const isPrepared = <E>(prepared: Prepared | E): prepared is Prepared => !(prepared instanceof Error)

const bodyOf = (
  { body = "{}", method }: Prepared,
  extra: unknown,
  ruleOf: (name: string) => string | undefined,
  positions: ReadonlyArray<string>
): string | Multipart.Body | Fault => {
  if (method === "GET") return new Fault(undefined, "cannot be sent: a GET has no body")
  const json = jsonOf(extra)
  if (json instanceof Fault) return json
  const members: unknown = JSON.parse(json)
  if (!Predicate.isObject(members)) return new Fault(undefined, "must be an object of names and JSON values")
  for (const [name, value] of Object.entries(members)) {
    const rule = ruleOf(name) ??
      (typeof body === "string" || isScalar(value)
        ? undefined
        : "must be a string, a finite number or a boolean: it is sent beside bytes")
    if (rule !== undefined) return new Fault(name, rule)
  }
  if (typeof body !== "string") return { parts: [...Multipart.make(members).parts, ...body.parts] }
  const whole: Record<string, unknown> = JSON.parse(body)
  // A declared list is sent as a whole: nothing can be added to its items.
  return merge(whole, members, "", positions.map((position) => position.replace(/\.\d+(\..*)?$/, ""))) ??
    JSON.stringify(whole)
}

/** Adds members wherever the declaration has none. */
const merge = (
  into: Record<string, unknown>,
  members: Record<string, unknown>,
  above: string,
  positions: ReadonlyArray<string>
): Fault | undefined => {
  for (const [name, value] of Object.entries(members)) {
    const at = `${above}${name}`
    if (positions.includes(at)) return new Fault(at, "is sent by a parameter of the call")
    if (!positions.some((position) => position.startsWith(`${at}.`))) {
      into[name] = value
      continue
    }
    if (!Predicate.isObject(value)) return new Fault(at, "contains parameters of the call: pass an object to add to it")
    const inner = into[name] ??= {}
    const fault = Predicate.isObject(inner) ? merge(inner, value, `${at}.`, positions) : undefined
    if (fault !== undefined) return fault
  }
  return undefined
}
