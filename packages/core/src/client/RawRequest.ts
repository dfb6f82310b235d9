/**
 * A request to any path of the service, for what this version has no operation for. It is sent as every call is: with the
 * credential, the limits of time and rate, the retries, the errors, the spans and the hooks of the client. Names are those
 * of the service, in what is sent and in what comes back: nothing is renamed.
 */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { closestMatch } from "leven"
import type { Redact } from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import type { Definition, Form } from "../schema/Definition.ts"
import * as Parameters from "../schema/Parameters.ts"
import type { Dictionary, Response } from "../schema/Response.ts"
import * as ExtraParameters from "../wire/ExtraParameters.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"
import type * as CallErrors from "./CallErrors.ts"
import type { RequestOptions } from "./CallOptions.ts"
import { Client } from "./Client.ts"
import * as RawBody from "./internal/rawBody.ts"
import * as RequestPath from "./internal/requestPath.ts"

export type { Json, Query } from "../wire/ExtraParameters.ts"

/** The methods that a request may have. */
export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** A method of HTTP. */
export type Method = typeof methods[number]

/** A schema of Effect or of any library that speaks Standard Schema v1. It must not be asynchronous. */
export type ResultSchema<A> = Schema.ConstraintDecoder<A> | StandardSchemaV1<unknown, A>

/** What is asked of the service. */
export interface Request<out A = unknown> {
  readonly method: Method
  /**
   * From the root of the service, as `/2/widgets/123`; what is filled in is percent-encoded by `encodeURIComponent`. It
   * begins with one slash and has no empty segment, `.` or `..`, no backslash, query, fragment or encoded slash.
   */
  readonly path: string
  /** Members of the query by the service's names. Lists travel with commas. */
  readonly query?: ExtraParameters.Query | undefined
  /** The body, sent as JSON. A GET has none. */
  readonly body?: ExtraParameters.Json | undefined
  /**
   * Reads `data`, or the whole body where that has no `data`, `includes`, `errors` or `meta`. Without one `data` is
   * `unknown`. What it does not accept is `UndecodableResponse`, in the raw form nothing.
   */
  readonly schema?: ResultSchema<A> | undefined
  /** Signs with OAuth 1.0a instead of sending the bearer token. Default false. */
  readonly user_auth?: boolean | undefined
  /**
   * What sending it twice does: nothing (`read`), the same state (`toggle`), a second thing (`create`). A `create` is never
   * repeated once it may have left, and then fails with `OutcomeUnknown`. Default: `read` of a GET, `create` of the others.
   */
  readonly effect?: Definition["effect"] | undefined
  /**
   * What errors, hooks and metrics call it, and whose rate limit it counts towards: up to 64 letters, digits and `_`, such
   * as the name of an operation. Default: the method and the path, with `:id` in place of what is no word of lower-case
   * letters.
   */
  readonly name?: string | undefined
}

/** Related objects by bucket, as the service names them. */
export interface Included {
  readonly [bucket: string]: ReadonlyArray<{ readonly [member: string]: unknown }>
}

/** What requests can fail with. */
export type RequestError = Errors.OperationError | Errors.OutcomeUnknown

/** The result of a request in a form. A body that has none of the members of a response is `data` as a whole. */
export type ResultOf<F extends Form, A, Raw> = F extends "response" ? Response<A, Included>
  : F extends "raw" ? Raw
  : Dictionary<A, Included>

/** A request as an Effect, returning its result in a form. */
export interface Sending<F extends Form = "response"> {
  <A = unknown>(
    request: Request<A>,
    options?: RequestOptions
  ): Effect.Effect<ResultOf<F, A, HttpClientResponse>, RequestError, Client>
  /** The same, returning its result in another form. */
  readonly as: <F extends Form>(form: F) => Sending<F>
}

function inForm<F extends Form>(form: F): Sending<F>
// The declaration above is the only source of the types.
function inForm(form: Form): object {
  const call = (request: Request, options?: RequestOptions) =>
    Effect.flatMap(Client, (client): Effect.Effect<unknown, Errors.AnyError> => {
      const checked = check(request)
      const sent = send(client, request, checked, options)
      if (form === "raw") return sent
      return Effect.map(
        Effect.flatMap(sent, (raw) => client.read(toldOf(checked), raw)),
        (response) => form === "response" ? response : response.body
      )
    })
  return Object.assign(call, { as: inForm })
}

/**
 * Requests any path of the service.
 *
 * ```ts
 * const widget = request({ method: "GET", path: "/2/widgets/123", query: { "widget.fields": ["color", "size"] } })
 * ```
 */
export const request = /*#__PURE__*/ inForm("response")

/** A request that was checked: what telling and reading it takes, and what is sent. */
export interface Checked extends CallErrors.CallInfo {
  readonly prepared: Prepared
}

/** What is told of a request: of one that breaks a rule, nothing comes that could be read. */
export const toldOf = (checked: Checked | Errors.InvalidParameters): CallErrors.CallInfo =>
  checked instanceof Errors.InvalidParameters
    ? { name: unchecked, effect: "read", result: { _tag: "Received", read: () => ({}) } }
    : checked

const unchecked = "request"

/** Sends a request that was checked, or fails with the rule that it breaks. */
export const send = (
  client: Client["Service"],
  request: unknown,
  checked: Checked | Errors.InvalidParameters,
  options: RequestOptions | undefined
): Effect.Effect<HttpClientResponse, Errors.AnyError> =>
  client.sendChecked((redact) => {
    const told = redact === undefined ? checked : check(request, redact)
    return told instanceof Errors.InvalidParameters ? told : told.prepared
  }, options)

const members = ["method", "path", "query", "body", "schema", "user_auth", "effect", "name"]

/** Checks a request, which may come from anywhere. */
export const check = (request: unknown, redact?: Redact): Checked | Errors.InvalidParameters => {
  const refuse = (slot: string, fault: ExtraParameters.Fault) => ExtraParameters.refusal(unchecked, slot, fault, redact)
  const invalid = (member: string, rule: string) => refuse(member, new ExtraParameters.Fault(undefined, rule))
  const given = Parameters.ownProperties(request)
  if (given === undefined) return invalid("request", "must be one object")
  const stranger = Object.keys(given).find((member) => !members.includes(member))
  if (stranger !== undefined) {
    const meant = closestMatch(stranger, members, { maxDistance: 3 })
    return invalid(stranger, `is not part of a request${meant === undefined ? "" : ` (did you mean ${meant}?)`}`)
  }
  const { body, name, path, query, schema, user_auth: userAuth = false } = given
  const method = methods.find((method) => method === given["method"])
  if (method === undefined) return invalid("method", `must be one of ${methods.join(", ")}`)
  const rule = RequestPath.ruleOf(path)
  if (rule !== undefined || typeof path !== "string") return invalid("path", rule ?? "must be a text")
  const encoded = query === undefined ? "" : ExtraParameters.queryOf(query)
  if (encoded instanceof ExtraParameters.Fault) return refuse("query", encoded)
  if (body !== undefined && method === "GET") return invalid("body", "has no place to go: a GET has no body")
  const json = body === undefined ? undefined : ExtraParameters.jsonOf(body)
  if (json instanceof ExtraParameters.Fault) return refuse("body", json)
  if (typeof userAuth !== "boolean") return invalid("user_auth", Parameters.boolean.rule)
  const effect = given["effect"] ?? (method === "GET" ? "read" : "create")
  if (effect !== "read" && effect !== "toggle" && effect !== "create") {
    return invalid("effect", "must be read, toggle or create")
  }
  if (name !== undefined && !(typeof name === "string" && namePattern.test(name))) {
    return invalid("name", "must be 1 to 64 letters, digits or underscores, a letter first")
  }
  const decode = RawBody.decoderOf(schema)
  if (decode === undefined) return invalid("schema", "must be a schema of Effect or of Standard Schema v1")
  const template = RequestPath.templateOf(path)
  const operation = name ?? `${method} ${template}`
  return {
    name: operation,
    effect,
    result: { _tag: "Received", read: (text) => RawBody.read(text, decode) },
    prepared: {
      operation,
      effect,
      confirmWith: undefined,
      settled: undefined,
      method,
      template,
      path,
      identityAt: undefined,
      query: encoded,
      body: json,
      userAuth,
      isChosen: given["user_auth"] !== undefined,
      scopes: [],
      accept: "application/json",
      pace: undefined,
      // Nobody knows what it is charged.
      priced: { price: "free", items: 0 },
      accepts: ["oauth1", "bearer"]
    }
  }
}

const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
