/**
 * Turns failures into the errors of calls. Every text of the service or the transport is redacted here, before anything else
 * sees it.
 */
import * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Redact } from "../auth/Redaction.ts"
import * as Redaction from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import * as SecretMembers from "../internal/secretMembers.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import type { Definition } from "../schema/Definition.ts"
import { Problem } from "../schema/models/Problem.ts"
import * as RateLimitHeaders from "../schema/RateLimitHeaders.ts"
import * as Response from "../schema/Response.ts"
import * as Json from "../wire/Json.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"
import * as ResponseDecoder from "../wire/ResponseDecoder.ts"
import type { Wire } from "../wire/Wire.ts"
import * as AttemptFailure from "./AttemptFailure.ts"
import * as Authorization from "./internal/authorization.ts"

/** The parts of a declaration that errors and decoding need. */
export type CallInfo = Pick<Definition, "name" | "effect" | "confirmWith" | "paging"> & {
  readonly result: Definition["result"] | Response.Received
}

/** The parts of a call that errors show. */
export type Call = Pick<Prepared, "operation" | "effect" | "confirmWith" | "accepts" | "bearer" | "planRule">

/** The errors of sending. */
export type SendError = Exclude<Errors.AnyError, Errors.ConflictingIdentifiers | Errors.PaginationStuck>

/** The errors of an exchange with the service. */
export type ExchangeError =
  | Errors.Refusal
  | Errors.UndecodableResponse
  | Errors.OutcomeUnknown
  | Errors.TransportFailure

/** The parts of a client that errors need. */
export interface ClientInfo {
  readonly wire: Wire
  /** True if it waits for rate limits. */
  readonly waits: boolean
  readonly redact: Redact
}

/** The error of a failure, which may be that of the user's lookup instead of the call's own request. */
export const of = (failure: AttemptFailure.Failure, call: Call, client: ClientInfo): SendError =>
  failure._tag === "Withheld" ? failure.error : ofExchange(failure, call, client)

/** The error of an exchange that failed. */
export const ofExchange = (failure: AttemptFailure.Exchanged, call: Call, client: ClientInfo): ExchangeError => {
  switch (failure._tag) {
    case "Refused": {
      const error = refusal(failure, call, client)
      return failure.prepared.effect === "create" && AttemptFailure.mayHaveApplied(failure)
        ? open(error, failure.prepared.confirmWith)
        : error
    }
    case "Unreadable":
      return undecodable({ ...failure.prepared, operation: call.operation }, failure.response, failure, client.redact)
    case "Unanswered": {
      const { accepted, cause, message, phase, prepared, sent, timeout } = failure
      return lost({ ...prepared, operation: call.operation }, {
        phase,
        sent,
        accepted: accepted && knownOf(accepted, client.redact),
        timeout,
        reason: client.redact(message),
        cause: Redaction.within(cause, client.redact)
      })
    }
  }
}

/** The error of a create of which an earlier attempt may have taken effect. */
export const openSince = (error: SendError, { confirmWith, operation }: Call): Errors.OutcomeUnknown =>
  error._tag === "OutcomeUnknown" ? error : new Errors.OutcomeUnknown({
    operation,
    reason: `an earlier attempt may have taken effect, and the last one failed: ${error.message}`,
    confirmWith,
    cause: error
  })

/** The error of a create that the service neither accepted nor clearly refused. */
const open = (refusal: Errors.Refusal, confirmWith: string | undefined): Errors.OutcomeUnknown => {
  const { detail, excerpt, operation, rateLimit, requestId, status, title } = refusal
  const reason = detail ?? title ?? "no reason given"
  return new Errors.OutcomeUnknown({
    operation,
    status,
    reason,
    confirmWith,
    requestId,
    rateLimit,
    excerpt,
    cause: refusal
  })
}

/** The error of a request without a complete response. */
export const lost = (
  { confirmWith, effect, operation }: Pick<Call, "operation" | "effect" | "confirmWith">,
  { accepted, cause, phase, reason, sent, timeout }: Pick<Errors.TransportFailure, "phase" | "reason" | "cause"> & {
    /** True if any of the request may have reached the service. */
    readonly sent: boolean
    readonly accepted?: Known | undefined
    readonly timeout?: Errors.TransportFailure["timeout"]
  }
): Errors.TransportFailure | Errors.OutcomeUnknown =>
  effect === "create" && sent
    ? new Errors.OutcomeUnknown({ operation, ...accepted, reason, confirmWith, cause })
    : new Errors.TransportFailure({ operation, phase, timeout, reason, cause })

/** The known parts of a response whose body cannot be read. */
type Known = Pick<Errors.OutcomeUnknown, "status" | "requestId" | "rateLimit">

const knownOf = ({ headers, status }: Answer, redact: Redact): Known => ({
  status,
  requestId: requestIdOf(headers, redact),
  rateLimit: RateLimitHeaders.rateLimitOf(headers)
})

/** The reason for failing calls of a closed client, which are not retried. */
export const closedReason = "the client is closed"

/** The error of a call of a closed client. */
export const closed = (
  { confirmWith, effect, name }: Omit<CallInfo, "result">
): Errors.TransportFailure | Errors.OutcomeUnknown =>
  lost({ operation: name, effect, confirmWith }, { phase: "connect", sent: false, reason: closedReason })

/** The body of a response as text. */
export const textOf = (call: Omit<CallInfo, "result">, response: HttpClientResponse) =>
  arrived(call, response, response.text)

/** The body of a response as bytes. */
export const bytesOf = (call: Omit<CallInfo, "result">, response: HttpClientResponse) =>
  Effect.map(arrived(call, response, response.arrayBuffer), (bytes) => new Uint8Array(bytes))

const arrived = <A>(
  { confirmWith, effect, name }: Omit<CallInfo, "result">,
  response: HttpClientResponse,
  body: Effect.Effect<A, HttpClientError>
): Effect.Effect<A, Errors.TransportFailure | Errors.OutcomeUnknown> =>
  Effect.mapError(
    body,
    // The transport's error holds the request, which must not be exposed as a cause.
    ({ reason }) =>
      lost({ operation: name, effect, confirmWith }, {
        phase: "body",
        sent: true,
        accepted: { status: response.status },
        reason: reason._tag
      })
  )

interface Answer {
  readonly status: number
  readonly headers: Response.Headers
}

/** Tests whether a decoded response needs no redaction. */
export const isClean = (
  decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable
): decoded is Response.Response<unknown, unknown> =>
  !(decoded instanceof ResponseDecoder.Undecodable) && decoded.errors.length === 0 && decoded.anomalies.length === 0

/** Redacts the errors and anomalies of a decoded response, or the error of an undecodable one. */
export const redactResponse = (
  { confirmWith, effect, name }: Omit<CallInfo, "result">,
  decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable,
  answer: Answer,
  text: string,
  redact: Redact
): Response.Response<unknown, unknown> | Errors.UndecodableResponse | Errors.OutcomeUnknown => {
  if (decoded instanceof ResponseDecoder.Undecodable) {
    return undecodable({ operation: name, effect, confirmWith }, answer, { reason: decoded.reason, text }, redact)
  }
  // The lists are shared with the body, so that both are redacted. Without a backslash, the JSON has all their texts as they are.
  const problems = JSON.stringify(decoded.errors)
  if (problems.includes("\\") || redact(problems) !== problems) {
    for (const [index, problem] of decoded.errors.entries()) {
      Reflect.set(decoded.errors, index, Redaction.within(problem, redact))
    }
  }
  for (const [index, anomaly] of decoded.anomalies.entries()) {
    Reflect.set(decoded.anomalies, index, Anomaly.redacted(anomaly, redact))
  }
  return decoded
}

/** The service's id of a request. */
export const requestIdOf = (headers: Response.Headers, redact: Redact): string | undefined => {
  const id = Response.requestIdOf(headers)
  return id === undefined ? undefined : redact(id)
}

/** The error of a 2xx whose body cannot be decoded. A create has probably happened all the same. */
const undecodable = (
  { confirmWith, effect, operation }: Pick<Call, "operation" | "effect" | "confirmWith">,
  answer: Answer,
  { reason, text }: { readonly reason: string; readonly text: string },
  redact: Redact
): Errors.UndecodableResponse | Errors.OutcomeUnknown => {
  const common = {
    operation,
    reason: excerptOf(redact(reason)),
    excerpt: excerptOf(SecretMembers.before(redact(text)))
  }
  return effect === "create"
    ? new Errors.OutcomeUnknown({ ...common, ...knownOf(answer, redact), confirmWith })
    : new Errors.UndecodableResponse({
      ...common,
      status: answer.status,
      requestId: requestIdOf(answer.headers, redact)
    })
}

/** The beginning of a text. It is redacted before, so that no credential is cut in two. */
const excerptOf = (text: string): string => text.slice(0, 2000)

const refusal = (
  { prepared, response: { headers, status }, text }: AttemptFailure.Refused,
  { accepts, bearer, effect, operation, planRule }: Call,
  { redact, waits, wire }: ClientInfo
): Errors.Refusal => {
  const redacted = redact(text)
  const described = describe(redacted, wire)
  const rateLimit = RateLimitHeaders.rateLimitOf(headers)
  const credential: Errors.CredentialKind = accepts.includes("app") ? "app" : Authorization.kindOf(prepared)
  const common = {
    operation,
    status,
    credential,
    accepts,
    bearer,
    ...described,
    requestId: requestIdOf(headers, redact),
    rateLimit,
    excerpt: described.problems.length === 0 && redacted !== "" ? excerptOf(SecretMembers.before(redacted)) : undefined
  }
  if (isOfMoney(status, described)) {
    const isCapped = described.title === "SpendCapReached"
    return new Errors.PaymentRequired({
      ...common,
      reason: isCapped ? "spend cap" : "credits",
      resetAt: isCapped ? resetOf(described) : undefined
    })
  }
  switch (status) {
    case 400:
      return new Errors.BadRequest({ ...common, otherWire: otherWireOf(redacted, wire) })
    case 401:
      return new Errors.Unauthorized(common)
    case 403:
      return new Errors.Forbidden({ ...common, isRead: effect === "read", planRule })
    case 404:
      return new Errors.NotFound(common)
    case 429:
      return new Errors.RateLimited({
        ...common,
        bucket: prepared.operation,
        waits,
        resetAt: rateLimit?.resetAt,
        retryAfter: RateLimitHeaders.waitOf({ headers })
      })
    default:
      return status >= 500 ? new Errors.ServerFailure(common) : new Errors.UnexpectedStatus(common)
  }
}

/** Tests whether money is the reason: a spend cap is refused with 403. */
const isOfMoney = (status: number, { title, type }: Described): boolean =>
  status === 402 || (status === 403 && (title === "SpendCapReached" || type?.endsWith("/problems/credits") === true))

/** The day on which a spend cap resets. */
const resetOf = ({ problems: [problem] }: Described): Date | undefined => {
  const day = problem !== undefined && "reset_date" in problem ? new Date(String(problem["reset_date"])) : undefined
  return day === undefined || Number.isNaN(day.getTime()) ? undefined : day
}

/** The wire that has another name for a key, field or expansion that the service does not know. */
const otherWireOf = (text: string, { elsewhere }: Wire): string | undefined =>
  elsewhere && Array.from(text.matchAll(unknownWords), ([, words = ""]) => words.split(",")).flat()
      .some(elsewhere.isNamedDifferently)
    ? elsewhere.name
    : undefined

/** The service's message about unknown names: `[post.fields] is not one of [id,ids]`. */
const unknownWords = /\[([\w.,]+)\] is not one of/g

const isProblem = /*#__PURE__*/ Schema.is(Problem)

type Described = Pick<Errors.BadRequest, "type" | "title" | "detail" | "problems">

/** A problem from an OAuth error: a code, with or without a description. */
const ofCode = (error: string, body: object): object =>
  Predicate.hasProperty(body, "error_description") && typeof body.error_description === "string"
    ? { title: error, detail: body.error_description }
    : { message: error }

/** The reasons in a refusal: the document and the members of its `errors`. Never fails. */
export const describe = (text: string, wire: Wire): Described => {
  let body: unknown
  try {
    body = wire.problemToNeutral(Json.parse(text))
  } catch {
    return { problems: [] }
  }
  if (!Predicate.isObject(body)) return { problems: [] }
  const problems = ("errors" in body && Array.isArray(body.errors) ? body.errors : [])
    .map((entry: unknown) => typeof entry === "string" ? { message: entry } : entry)
    .filter((entry): entry is Errors.Problem => Predicate.isObject(entry) && isProblem(entry))
  const document = "error" in body && typeof body.error === "string" ? ofCode(body.error, body) : body
  if (!isProblem(document)) return { problems }
  const { detail, message, title, type } = document
  const isDescribed = detail !== undefined || message !== undefined || title !== undefined
  return {
    type,
    title,
    detail: detail ?? message,
    problems: problems.length > 0 || !isDescribed ? problems : [document]
  }
}
