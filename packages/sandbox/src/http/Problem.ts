/** The problem documents of the service. */
import * as Wire from "@postwire/core/wire/Wire"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { STATUS_CODES } from "node:http"

const types = "https://api.twitter.com/2/problems"

/** The types of the 2026-08 field names. */
const newestTypes = "https://api.x.com/2/problems"

/** An entry of `errors`. */
export interface Entry {
  readonly title?: string
  readonly detail?: string
  readonly type?: string
  readonly message?: string
  readonly field?: string
  readonly parameter?: string
  readonly value?: string
  readonly resource_type?: string
  readonly resource_id?: string
  readonly section?: "data" | "includes"
  readonly id?: string
  readonly subscription_id?: string
  readonly reason?: string
  readonly details?: ReadonlyArray<string>
  readonly parameters?: Readonly<Record<string, ReadonlyArray<string>>>
}

/** A refusal: the status and the document. */
export class Problem extends Data.TaggedError("Problem")<{
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly type: string
  readonly errors?: ReadonlyArray<Entry>
  /** Further members of documents of this type. */
  readonly members?: Readonly<Record<string, string | number>>
  /** True if it quotes names of the request, which are not translated. */
  readonly isVerbatim?: boolean
  /** X's wording of the detail, or of the message of the only error. */
  readonly onX?: string
}> {
  /** The body of the response. */
  get document(): object {
    const { detail, errors, members, status, title, type } = this
    return { ...(errors === undefined ? {} : { errors }), title, detail, type, status, ...members }
  }
}

/** The response of a problem, by default with neutral names. */
export const response = (
  { document, errors, isVerbatim = false, onX, status }: Problem,
  wire: Wire.Wire = Wire.neutral
): HttpServerResponse.HttpServerResponse => {
  const own = onX === undefined || wire.name === "neutral"
    ? {}
    : errors === undefined
    ? { detail: onX }
    : { errors: errors.map((entry) => ({ ...entry, message: onX })) }
  const told = { ...document, ...own }
  return HttpServerResponse.jsonUnsafe(typedFor(wire, isVerbatim ? told : wire.problemFromNeutral(told)), {
    status,
    contentType: "application/problem+json"
  })
}

/** Replaces the problem types in a body by those of a wire. */
export const typedFor = (wire: Wire.Wire, body: unknown): unknown => {
  if (wire.name !== "x" || !Predicate.isObject(body)) return body
  const { errors, type } = body
  return {
    ...body,
    ...(typeof type === "string" ? { type: type.replace(types, newestTypes) } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map((entry) => typedFor(wire, entry)) } : {})
  }
}

/** A problem of one of the types of the service. */
const typed = (
  status: number,
  title: string,
  type: string,
  detail: string,
  more: Partial<Pick<Problem, "errors" | "members" | "isVerbatim" | "onX">> = {}
): Problem => new Problem({ status, title, detail, type: `${types}/${type}`, ...more })

/** 400: invalid parameters, by their neutral names or, if `isVerbatim`, by those of the request. */
export const invalidRequest = (
  message: string,
  parameters: Readonly<Record<string, string>> = {},
  more: { readonly isVerbatim?: boolean; readonly onX?: string } = {}
): Problem =>
  typed(400, "Invalid Request", "invalid-request", "One or more parameters to your request was invalid.", {
    ...more,
    errors: [{ message, parameters: Record.map(parameters, (value) => [value]) }]
  })

/** A problem without a type of its own. */
export const plain = (status: number, title = "Unknown", detail = title, onX?: string): Problem =>
  new Problem({ status, title, detail, type: "about:blank", ...(onX !== undefined && { onX }) })

/** 401: missing or invalid credential. */
export const unauthorized = (detail = "Unauthorized"): Problem => plain(401, "Unauthorized", detail)

/** 403: the credential does not permit this. */
export const forbidden = (detail: string, more: { readonly onX?: string } = {}): Problem =>
  plain(403, "Forbidden", detail, more.onX)

/** 403: the operation requires another form of authorization. */
export const unsupportedAuthentication = (accepted: ReadonlyArray<string>, used: string): Problem =>
  typed(
    403,
    "Unsupported Authentication",
    "unsupported-authentication",
    `Authenticating with ${used} is forbidden for this endpoint. Supported authentication types are [${
      accepted.join(", ")
    }].`
  )

/** 403: the project of the app is not enrolled for the operation or for one of its options. */
export const notEnrolled = (access: "research" | "Enterprise" = "research"): Problem =>
  typed(403, "Client Forbidden", "client-forbidden", `This operation is for projects with ${access} access only.`, {
    members: {
      reason: "client-not-enrolled",
      registration_url: "https://developer.twitter.com/en/docs/projects/overview"
    }
  })

/** 403: the account has reached its cap for the billing cycle; `resetDate` is the first day of the next one. */
export const spendCapReached = (accountId: string, resetDate: string): Problem =>
  typed(
    403,
    "SpendCapReached",
    "credits",
    `Your enrolled account [${accountId}] has reached its billing cycle spend cap. ` +
      `API requests will be blocked until the next cycle begins on ${resetDate}.`,
    { members: { account_id: Number(accountId), reset_date: resetDate } }
  )

/** 409 or 429: the stream is unavailable, independent of rate limits. */
export const streamRefused = (issue: "RuleConfigurationIssue" | "TooManyConnections"): Problem => {
  const [status, detail] = issue === "TooManyConnections"
    ? [429, "This stream is currently at the maximum allowed connection limit."] as const
    : [409, "This stream has no rules. Define rules before you connect to it."] as const
  return typed(status, "ConnectionException", "streaming-connection", detail, { members: { connection_issue: issue } })
}

/** 404: no such route. */
export const noRoute = (): Problem => plain(404, "Not Found", "There is no such operation.")

/** 404: the object in the request does not exist. */
export const missing = (entry: Entry): Problem =>
  typed(404, "Not Found Error", "resource-not-found", entry.detail ?? "Not Found", { errors: [entry] })

/** 413: the body is too large. */
export const tooLarge = (): Problem => plain(413, "Content Too Large", "The body is too long.")

/** 429: rate limit exceeded. */
export const tooManyRequests = (): Problem => plain(429, "Too Many Requests")

/** 429: the project has reached its monthly post cap. */
export const usageCapped = (): Problem =>
  typed(429, "UsageCapExceeded", "usage-capped", "Usage cap exceeded: Monthly product cap", {
    members: { period: "Monthly", scope: "Product" }
  })

/** The response of a fault with a status. */
export const ofStatus = (status: number): Problem => plain(status, STATUS_CODES[status])

/** 500: the sandbox itself failed. */
export const internal = (): Problem => plain(500, "Internal Server Error", "Something went wrong.")

/** The problem for a failure of the sandbox: specific for disk errors, else `otherwise`. */
export const ofFailure = (failure: unknown, otherwise = internal()): Problem => {
  const { code, errcode, message } = failureOf(failure)
  // Primary SQLite result codes and system error codes.
  if (errcode === 13 || code === "ENOSPC" || code === "EDQUOT") {
    return plain(
      507,
      "Insufficient Storage",
      "The disk of the sandbox is full; nothing was changed. Free some space and retry."
    )
  }
  if (errcode === 5) {
    const detail = "Another program has locked the sandbox's file; nothing was changed. Retry later."
    return plain(503, "Service Unavailable", detail)
  }
  if (errcode === 8 || errcode === 10 || errcode === 14 || code === "EROFS" || code === "EIO" || code === "EACCES") {
    const detail = `The sandbox cannot write its state (${message}); nothing was changed. Check its disk and its file.`
    return plain(500, "Internal Server Error", detail)
  }
  return otherwise
}

/** Answers a defect with a problem, and logs it. */
export const answerDefects = <E>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E>,
  refuse: (problem: Problem) => HttpServerResponse.HttpServerResponse = response
): Effect.Effect<HttpServerResponse.HttpServerResponse, E> =>
  Effect.catchDefect(
    answer,
    (defect) => Effect.as(Effect.logError("The sandbox failed", defect), refuse(ofFailure(defect)))
  )

/** True for a failure of the disk or a locked file, which may succeed later. */
export const isOfDisk = (failure: unknown): boolean => {
  const otherwise = internal()
  return ofFailure(failure, otherwise) !== otherwise
}

const failureOf = (failure: unknown) => {
  if (!(failure instanceof Error)) return { message: "" }
  const { message } = failure
  return {
    message,
    code: "code" in failure ? failure.code : undefined,
    errcode: "errcode" in failure && typeof failure.errcode === "number" ? failure.errcode & 0xff : undefined
  }
}

/** The partial error for an invalid rule. */
export const invalidRule = (value: string, why: string): Entry => ({
  title: "Invalid Rule",
  type: `${types}/invalid-rules`,
  value,
  details: [why]
})

/** The partial error for a rule that already exists. */
export const duplicateRule = ({ id, value }: { readonly id: string; readonly value: string }): Entry => ({
  title: "DuplicateRule",
  type: `${types}/duplicate-rules`,
  value,
  id
})

/** The partial error for a rule beyond the limit. */
export const ruleCap = (value: string, maximum: number): Entry => ({
  title: "RuleCap",
  detail: `The app may have ${maximum} rules, and has them.`,
  type: `${types}/rule-cap`,
  value
})

/** An object that a request names. */
export interface Named {
  readonly kind: string
  readonly id: string
  /** The parameter that names it. */
  readonly parameter: string
  readonly section?: "data" | "includes"
}

const partial =
  (title: string, type: string, detail: (named: Named) => string, more: Entry = {}) => (named: Named): Entry => ({
    title,
    detail: detail(named),
    type: `${types}/${type}`,
    ...more,
    resource_type: named.kind,
    resource_id: named.id,
    parameter: named.parameter,
    value: named.id,
    ...(named.section && { section: named.section })
  })

/** The partial error for an object that does not exist. */
export const notFound = partial(
  "Not Found Error",
  "resource-not-found",
  ({ id, kind, parameter }) => `Could not find ${kind} with ${parameter}: [${id}].`
)

/** The partial error for an object that the caller may not see. */
export const notAuthorized = partial(
  "Authorization Error",
  "not-authorized-for-resource",
  ({ id, kind, parameter }) => `Sorry, you are not authorized to see the ${kind} with ${parameter}: [${id}].`
)

/** The partial error for a suspended user. */
export const suspended = partial("Forbidden", "resource-not-found", ({ id }) => `User has been suspended: [${id}].`)

/** The partial error for a field that only the owner may see. */
export const notAuthorizedForField = (field: string, named: Named): Entry =>
  partial(
    "Field Authorization Error",
    "not-authorized-for-field",
    ({ id, kind, parameter }) =>
      `Sorry, you are not authorized to access '${field}' on the ${kind} with ${parameter} : [${id}].`,
    { field }
  )(named)
