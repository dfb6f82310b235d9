/**
 * From failures to the errors that a call fails with. What the service or the transport says passes `redact` here, before
 * anything else sees it.
 */
import * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Redact } from "../auth/Redaction.ts"
import * as Redaction from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import type { Definition } from "../schema/Definition.ts"
import { Problem } from "../schema/models/Problem.ts"
import * as RateLimitHeaders from "../schema/RateLimitHeaders.ts"
import * as Response from "../schema/Response.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"
import * as ResponseDecoder from "../wire/ResponseDecoder.ts"
import type { Wire } from "../wire/Wire.ts"
import * as AttemptFailure from "./AttemptFailure.ts"
import * as Authorization from "./internal/authorization.ts"

/** What telling of a call and reading its answer takes. */
export type CallInfo = Pick<Definition, "name" | "effect" | "confirmWith" | "paging"> & {
  readonly result: Definition["result"] | Response.Received
}

/** What errors tell of a call. */
export type Call = Pick<Prepared, "operation" | "effect" | "confirmWith" | "accepts">

/** What sending can fail with. */
export type SendError = Exclude<Errors.AnyError, Errors.ConflictingIdentifiers | Errors.PaginationStuck>

/** What an exchange with the service can fail with. */
export type ExchangeError =
  | Errors.Refusal
  | Errors.UndecodableResponse
  | Errors.OutcomeUnknown
  | Errors.TransportFailure

/** What errors tell of a client. */
export interface About {
  readonly wire: Wire
  /** Whether it waits for rate limits. */
  readonly waits: boolean
  readonly redact: Redact
}

/** The error of a failure. It may be that of another request than the call's own: the user is looked up for any. */
export const of = (failure: AttemptFailure.Failure, call: Call, about: About): SendError =>
  failure._tag === "Withheld" ? failure.error : ofExchange(failure, call, about)

/** The error of an exchange that failed. */
export const ofExchange = (failure: AttemptFailure.Exchanged, call: Call, about: About): ExchangeError => {
  switch (failure._tag) {
    case "Refused": {
      const error = refusal(failure, call, about)
      return failure.prepared.effect === "create" && AttemptFailure.mayHaveApplied(failure)
        ? open(error, failure.prepared.confirmWith)
        : error
    }
    case "Unreadable":
      return undecodable({ ...failure.prepared, operation: call.operation }, failure.response, failure, about.redact)
    case "Unanswered": {
      const { accepted, cause, phase, prepared, said, sent, timeout } = failure
      return lost({ ...prepared, operation: call.operation }, {
        phase,
        sent,
        accepted: accepted && knownOf(accepted, about.redact),
        timeout,
        reason: about.redact(said),
        cause: Redaction.within(cause, about.redact)
      })
    }
  }
}

/** The error of a create that the service neither accepted nor ruled out. */
const open = (refusal: Errors.Refusal, confirmWith: string | undefined): Errors.OutcomeUnknown => {
  const { detail, excerpt, operation, rateLimit, requestId, status, title } = refusal
  const reason = detail ?? title ?? "it gives no reason"
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

/** The error of a request whose answer did not come, or not the whole of it. */
export const lost = (
  { confirmWith, effect, operation }: Pick<Call, "operation" | "effect" | "confirmWith">,
  { accepted, cause, phase, reason, sent, timeout }: Pick<Errors.TransportFailure, "phase" | "reason" | "cause"> & {
    /** Whether any of the request may have reached the service. */
    readonly sent: boolean
    readonly accepted?: Known | undefined
    readonly timeout?: Errors.TransportFailure["timeout"]
  }
): Errors.TransportFailure | Errors.OutcomeUnknown =>
  effect === "create" && sent
    ? new Errors.OutcomeUnknown({ operation, ...accepted, reason, confirmWith, cause })
    : new Errors.TransportFailure({ operation, phase, timeout, reason, cause })

/** What is known of an answer of which only the head can be read. */
type Known = Pick<Errors.OutcomeUnknown, "status" | "requestId" | "rateLimit">

const knownOf = ({ headers, status }: Answer, redact: Redact): Known => ({
  status,
  requestId: requestIdOf(headers, redact),
  rateLimit: RateLimitHeaders.budgetOf(headers)
})

/** Why a call to a client that is closed fails, which no other try changes. */
export const closedReason = "the client is closed"

/** The error of a call to a client that is closed. */
export const closed = (
  { confirmWith, effect, name }: Omit<CallInfo, "result">
): Errors.TransportFailure | Errors.OutcomeUnknown =>
  lost({ operation: name, effect, confirmWith }, { phase: "connect", sent: false, reason: closedReason })

/** The body as text, of a response that has arrived. */
export const textOf = (call: Omit<CallInfo, "result">, response: HttpClientResponse) =>
  arrived(call, response, response.text)

/** The body as bytes, of a response that has arrived. */
export const bytesOf = (call: Omit<CallInfo, "result">, response: HttpClientResponse) =>
  Effect.map(arrived(call, response, response.arrayBuffer), (bytes) => new Uint8Array(bytes))

const arrived = <A>(
  { confirmWith, effect, name }: Omit<CallInfo, "result">,
  response: HttpClientResponse,
  body: Effect.Effect<A, HttpClientError>
): Effect.Effect<A, Errors.TransportFailure | Errors.OutcomeUnknown> =>
  Effect.mapError(
    body,
    // The error of the transport holds the request, so it is no cause to show.
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

/** Whether there is nothing in what was read that has to be told without credentials. */
export const isClean = (
  decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable
): decoded is Response.Response<unknown, unknown> =>
  !(decoded instanceof ResponseDecoder.Undecodable) && decoded.errors.length === 0 && decoded.anomalies.length === 0

/** What was read, without credentials that the answer quotes: in what it says of failures, or in why it cannot be read. */
export const reread = (
  { confirmWith, effect, name }: Omit<CallInfo, "result">,
  decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable,
  answer: Answer,
  text: string,
  redact: Redact
): Response.Response<unknown, unknown> | Errors.UndecodableResponse | Errors.OutcomeUnknown => {
  if (decoded instanceof ResponseDecoder.Undecodable) {
    return undecodable({ operation: name, effect, confirmWith }, answer, { reason: decoded.reason, text }, redact)
  }
  // The lists are ours, and the body tells the same.
  for (const [index, problem] of decoded.errors.entries()) {
    Reflect.set(decoded.errors, index, Redaction.within(problem, redact))
  }
  for (const [index, anomaly] of decoded.anomalies.entries()) {
    Reflect.set(decoded.anomalies, index, Anomaly.told(anomaly, redact))
  }
  return decoded
}

/** The service's id of a request. */
export const requestIdOf = (headers: Response.Headers, redact: Redact): string | undefined => {
  const id = Response.requestIdOf(headers)
  return id === undefined ? undefined : redact(id)
}

/** A success of which no more can be made. A create is not failed by that. */
const undecodable = (
  { confirmWith, effect, operation }: Pick<Call, "operation" | "effect" | "confirmWith">,
  answer: Answer,
  { reason, text }: { readonly reason: string; readonly text: string },
  redact: Redact
): Errors.UndecodableResponse | Errors.OutcomeUnknown => {
  const told = { operation, reason: excerptOf(redact(reason)), excerpt: excerptOf(redact(text)) }
  return effect === "create"
    ? new Errors.OutcomeUnknown({ ...told, ...knownOf(answer, redact), confirmWith })
    : new Errors.UndecodableResponse({ ...told, status: answer.status, requestId: requestIdOf(answer.headers, redact) })
}

/** The beginning of a text from which credentials are gone, so that none is cut in two. */
const excerptOf = (text: string): string => text.slice(0, 2000)

const refusal = (
  { prepared, response: { headers, status }, text }: AttemptFailure.Refused,
  { accepts, effect, operation }: Call,
  { redact, waits, wire }: About
): Errors.Refusal => {
  const told = redact(text)
  const described = describe(told, wire)
  const rateLimit = RateLimitHeaders.budgetOf(headers)
  const credential: Errors.CredentialKind = accepts.includes("app") ? "app" : Authorization.kindOf(prepared)
  const common = {
    operation,
    status,
    credential,
    accepts,
    ...described,
    requestId: requestIdOf(headers, redact),
    rateLimit,
    excerpt: described.problems.length === 0 && told !== "" ? excerptOf(told) : undefined
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
      return new Errors.BadRequest({ ...common, otherWire: otherWireOf(told, wire) })
    case 401:
      return new Errors.Unauthorized(common)
    case 403:
      return new Errors.Forbidden({ ...common, isRead: effect === "read" })
    case 404:
      return new Errors.NotFound(common)
    case 429:
      return new Errors.RateLimited({
        ...common,
        bucket: prepared.operation,
        waits,
        resetAt: rateLimit?.resetAt,
        retryAfter: RateLimitHeaders.retryAfterOf(headers)
      })
    default:
      return status >= 500 ? new Errors.ServerFailure(common) : new Errors.UnexpectedStatus(common)
  }
}

/** Whether it is for want of money: a spend cap is refused with the status of what is not permitted. */
const isOfMoney = (status: number, { title, type }: Described): boolean =>
  status === 402 || (status === 403 && (title === "SpendCapReached" || type?.endsWith("/problems/credits") === true))

/** The day on which a spend cap begins anew. */
const resetOf = ({ problems: [problem] }: Described): Date | undefined => {
  const day = problem !== undefined && "reset_date" in problem ? new Date(String(problem["reset_date"])) : undefined
  return day === undefined || Number.isNaN(day.getTime()) ? undefined : day
}

/** The wire that says otherwise what a refusal does not know: a key, or a field or expansion. */
const otherWireOf = (text: string, { elsewhere }: Wire): string | undefined =>
  elsewhere && Array.from(text.matchAll(unknownWords), ([, words = ""]) => words.split(",")).flat()
      .some(elsewhere.isSaidOtherwise)
    ? elsewhere.name
    : undefined

/** As the service tells of what it does not know: `[post.fields] is not one of [id,ids]`. */
const unknownWords = /\[([\w.,]+)\] is not one of/g

const isProblem = /*#__PURE__*/ Schema.is(Problem)

type Described = Pick<Errors.BadRequest, "type" | "title" | "detail" | "problems">

/** As OAuth has it: a code, with or without a description. */
const ofCode = (error: string, body: object): object =>
  Predicate.hasProperty(body, "error_description") && typeof body.error_description === "string"
    ? { title: error, detail: body.error_description }
    : { message: error }

/** What a refusal says of itself: the document and the members of its `errors`. Never fails. */
export const describe = (text: string, wire: Wire): Described => {
  let body: unknown
  try {
    body = wire.problemToNeutral(JSON.parse(text))
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
