/**
 * A request to any path of the service, for features without an operation in this version. It is sent like every call: with the
 * credential, timeouts, rate limits, retries, errors, spans and hooks of the client. Request and response have the names of the
 * service: nothing is translated.
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
import { plainRequest, type Prepared } from "../wire/RequestEncoder.ts"
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

/** A schema of Effect or of any library that implements Standard Schema v1. It must not be asynchronous. */
export type ResultSchema<A> = Schema.ConstraintDecoder<A> | StandardSchemaV1<unknown, A>

/** A request to the service. */
export interface Request<out A = unknown> {
  readonly method: Method
  /**
   * The path from the root of the service, such as `/2/widgets/123`; encode variable parts with `encodeURIComponent`. It begins
   * with one slash and has no empty segment, `.` or `..`, no backslash, query, fragment or encoded slash.
   */
  readonly path: string
  /** Members of the query by the service's names. Lists are sent with commas. */
  readonly query?: ExtraParameters.Query | undefined
  /** The body, sent as JSON. A GET has none. */
  readonly body?: ExtraParameters.Json | undefined
  /**
   * Decodes `data`, or the whole body if that has no `data`, `includes`, `errors` or `meta`. Without a schema, `data` is
   * `unknown`. Data that it refuses is an `UndecodableResponse`; the raw return type ignores the schema.
   */
  readonly schema?: ResultSchema<A> | undefined
  /** Signs with OAuth 1.0a instead of sending the bearer token. Default false. */
  readonly user_auth?: boolean | undefined
  /**
   * The effect of sending it twice: none (`read`), the same state (`toggle`), a second thing (`create`). A `create` is never
   * retried once it may have been sent; it then fails with `OutcomeUnknown`. Default: `read` for a GET, `create` for others.
   */
  readonly effect?: Definition["effect"] | undefined
  /**
   * Its name in errors, hooks and metrics, and the rate limit that it counts towards: up to 64 letters, digits and `_`, such as
   * the name of an operation. Default: the method and the path, with `:id` for segments other than lower-case words.
   */
  readonly name?: string | undefined
}

/** Related objects by bucket, as the service names them. */
export interface Included {
  readonly [bucket: string]: ReadonlyArray<{ readonly [member: string]: unknown }>
}

/** The errors of requests. */
export type RequestError = Errors.OperationError | Errors.OutcomeUnknown

/** The result of a request in a return type. A body without members of a response is `data` as a whole. */
export type ResultOf<F extends Form, A, Raw> = F extends "response" ? Response<A, Included>
  : F extends "raw" ? Raw
  : Dictionary<A, Included>

/** A request as an Effect with a return type. */
export interface Sending<F extends Form = "response"> {
  <A = unknown>(
    request: Request<A>,
    options?: RequestOptions
  ): Effect.Effect<ResultOf<F, A, HttpClientResponse>, RequestError, Client>
  /** The same with another return type. */
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
        Effect.flatMap(sent, (raw) => client.read(infoOf(checked), raw)),
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

/** A checked request: the parts that errors and decoding need, and the prepared request. */
export interface Checked extends CallErrors.CallInfo {
  readonly prepared: Prepared
}

/** The parts of a request that errors and decoding need; an invalid request has no response to decode. */
export const infoOf = (checked: Checked | Errors.InvalidParameters): CallErrors.CallInfo =>
  checked instanceof Errors.InvalidParameters
    ? { name: unchecked, effect: "read", result: { _tag: "Received", read: () => ({}) } }
    : checked

const unchecked = "request"

/** Sends a checked request, or fails with the rule that it breaks. */
export const send = (
  client: Client["Service"],
  request: unknown,
  checked: Checked | Errors.InvalidParameters,
  options: RequestOptions | undefined
): Effect.Effect<HttpClientResponse, Errors.AnyError> =>
  client.sendChecked((redact) => {
    const clean = redact === undefined ? checked : check(request, redact)
    return clean instanceof Errors.InvalidParameters ? clean : clean.prepared
  }, options)

const members = ["method", "path", "query", "body", "schema", "user_auth", "effect", "name"]

/** Checks a request of any type. */
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
  if (rule !== undefined || typeof path !== "string") return invalid("path", rule ?? "must be a string")
  const encoded = query === undefined ? "" : ExtraParameters.queryOf(query)
  if (encoded instanceof ExtraParameters.Fault) return refuse("query", encoded)
  if (body !== undefined && method === "GET") return invalid("body", "cannot be sent: a GET has no body")
  const json = body === undefined ? undefined : ExtraParameters.jsonOf(body)
  if (json instanceof ExtraParameters.Fault) return refuse("body", json)
  if (typeof userAuth !== "boolean") return invalid("user_auth", Parameters.boolean.rule)
  const effect = given["effect"] ?? (method === "GET" ? "read" : "create")
  if (effect !== "read" && effect !== "toggle" && effect !== "create") {
    return invalid("effect", "must be read, toggle or create")
  }
  if (name !== undefined && !(typeof name === "string" && namePattern.test(name))) {
    return invalid("name", "must be 1 to 64 letters, digits or underscores, the first a letter")
  }
  const decode = RawBody.decoderOf(schema)
  if (decode === undefined) return invalid("schema", "must be a schema of Effect or Standard Schema v1")
  const template = RequestPath.templateOf(path)
  const operation = name ?? `${method} ${template}`
  return {
    name: operation,
    effect,
    result: { _tag: "Received", read: (text) => RawBody.read(text, decode) },
    prepared: plainRequest({
      operation,
      effect,
      method,
      template,
      path,
      query: encoded,
      body: json,
      userAuth,
      isChosen: given["user_auth"] !== undefined,
      priced: { price: "unknown", items: 0 },
      accepts: ["oauth1", "bearer"]
    })
  }
}

const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
