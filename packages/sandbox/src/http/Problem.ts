/** The refusals of the service, as the problem documents that it answers with. */
import * as Wire from "@postwire/core/wire/Wire"
import * as Data from "effect/Data"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"

const types = "https://api.twitter.com/2/problems"

/** Where August has them. */
const newestTypes = "https://api.x.com/2/problems"

/** One entry of the `errors` of a document. */
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
  /** What documents of this type hold besides. */
  readonly members?: Readonly<Record<string, string | number>>
  /** Whether its words are those of the request, so that no wire says them otherwise. */
  readonly isVerbatim?: boolean
  /** How X says the detail, or the message of the only one of the errors, in words of its own. */
  readonly onX?: string
}> {
  /** The body of the answer. */
  get document(): object {
    const { detail, errors, members, status, title, type } = this
    return { ...(errors === undefined ? {} : { errors }), title, detail, type, status, ...members }
  }
}

/** A problem as an answer, by default in neutral words. */
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

/** Problems, or the `errors` of any body, with the types of a wire. */
export const typedFor = (wire: Wire.Wire, body: unknown): unknown => {
  if (wire.name !== "x" || !Predicate.isObject(body)) return body
  const { errors, type } = body
  return {
    ...body,
    ...(typeof type === "string" ? { type: type.replace(types, newestTypes) } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map((entry) => typedFor(wire, entry)) } : {})
  }
}

/** 400: parameters are wrong, told by their neutral names or, where `isVerbatim`, by those that the request has. */
export const invalidRequest = (
  message: string,
  parameters: Readonly<Record<string, string>> = {},
  more: { readonly isVerbatim?: boolean; readonly onX?: string } = {}
): Problem =>
  new Problem({
    ...more,
    status: 400,
    title: "Invalid Request",
    detail: "One or more parameters to your request was invalid.",
    type: `${types}/invalid-request`,
    errors: [{
      message,
      parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, [value]]))
    }]
  })

/** 401: no credential, or one that is not valid. */
export const unauthorized = (detail = "Unauthorized"): Problem =>
  new Problem({ status: 401, title: "Unauthorized", detail, type: "about:blank" })

/** 403: the credential may not do this. */
export const forbidden = (detail: string, more: { readonly onX?: string } = {}): Problem =>
  new Problem({ ...more, status: 403, title: "Forbidden", detail, type: "about:blank" })

/** 403: the operation takes another form of authorization. */
export const unsupportedAuthentication = (accepted: ReadonlyArray<string>, used: string): Problem =>
  new Problem({
    status: 403,
    title: "Unsupported Authentication",
    detail: `Authenticating with ${used} is forbidden for this endpoint. Supported authentication types are [${
      accepted.join(", ")
    }].`,
    type: `${types}/unsupported-authentication`
  })

/** 403: the project of the app is not enrolled for the operation, or for what it asks of it. */
export const notEnrolled = (access: "research" | "Enterprise" = "research"): Problem =>
  new Problem({
    status: 403,
    title: "Client Forbidden",
    detail: `This operation is for projects with ${access} access only.`,
    type: `${types}/client-forbidden`,
    members: {
      reason: "client-not-enrolled",
      registration_url: "https://developer.twitter.com/en/docs/projects/overview"
    }
  })

/** 403: the account has spent what its owner allows in a billing cycle; `resetDate` is the first day of the next one. */
export const spendCapReached = (accountId: string, resetDate: string): Problem =>
  new Problem({
    status: 403,
    title: "SpendCapReached",
    detail: `Your enrolled account [${accountId}] has reached its billing cycle spend cap. ` +
      `API requests will be blocked until the next cycle begins on ${resetDate}.`,
    type: `${types}/credits`,
    members: { account_id: Number(accountId), reset_date: resetDate }
  })

/** 409 or 429: the stream is not to be had now, whatever the windows say. */
export const streamRefused = (issue: "RuleConfigurationIssue" | "TooManyConnections"): Problem =>
  new Problem({
    status: issue === "TooManyConnections" ? 429 : 409,
    title: "ConnectionException",
    detail: issue === "TooManyConnections"
      ? "This stream is currently at the maximum allowed connection limit."
      : "This stream has no rules. Define rules before you connect to it.",
    type: `${types}/streaming-connection`,
    members: { connection_issue: issue }
  })

/** 404: no such route. */
export const noRoute = (): Problem =>
  new Problem({ status: 404, title: "Not Found", detail: "There is no such operation.", type: "about:blank" })

/** 404: the thing that the request names does not exist. */
export const missing = (entry: Entry): Problem =>
  new Problem({
    status: 404,
    title: "Not Found Error",
    detail: entry.detail ?? "Not Found",
    type: `${types}/resource-not-found`,
    errors: [entry]
  })

/** 413: the body is longer than the service reads. */
export const tooLarge = (): Problem =>
  new Problem({ status: 413, title: "Content Too Large", detail: "The body is too long.", type: "about:blank" })

/** 429: the window is spent. */
export const tooManyRequests = (): Problem =>
  new Problem({ status: 429, title: "Too Many Requests", detail: "Too Many Requests", type: "about:blank" })

/** 429: the project has read as many posts as it may in a month. */
export const usageCapped = (): Problem =>
  new Problem({
    status: 429,
    title: "UsageCapExceeded",
    detail: "Usage cap exceeded: Monthly product cap",
    type: `${types}/usage-capped`,
    members: { period: "Monthly", scope: "Product" }
  })

/** 500: the sandbox itself failed. */
export const internal = (): Problem =>
  new Problem({ status: 500, title: "Internal Server Error", detail: "Something went wrong.", type: "about:blank" })

/** What a failure of the sandbox is answered with: where it is the disk that fails, that, and else `otherwise`. */
export const ofFailure = (failure: unknown, otherwise = internal()): Problem => {
  const { code, errcode, message } = failureOf(failure)
  // The primary codes of SQLite, and those of the system.
  if (errcode === 13 || code === "ENOSPC" || code === "EDQUOT") {
    return new Problem({
      status: 507,
      title: "Insufficient Storage",
      detail: "The disk of the sandbox is full; nothing was changed. Free some space and send the request again.",
      type: "about:blank"
    })
  }
  if (errcode === 5) {
    return new Problem({
      status: 503,
      title: "Service Unavailable",
      detail: "Another program holds the file of the sandbox; nothing was changed. Send the request again.",
      type: "about:blank"
    })
  }
  if (errcode === 8 || errcode === 10 || errcode === 14 || code === "EROFS" || code === "EIO" || code === "EACCES") {
    return new Problem({
      status: 500,
      title: "Internal Server Error",
      detail: `The sandbox cannot write its state (${message}); nothing was changed. Look at its disk and its file.`,
      type: "about:blank"
    })
  }
  return otherwise
}

/** Whether it is the disk that fails, or who else holds the file: what failed can be done later. */
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

/** The partial failure for a rule that cannot be read. */
export const invalidRule = (value: string, why: string): Entry => ({
  title: "Invalid Rule",
  type: `${types}/invalid-rules`,
  value,
  details: [why]
})

/** The partial failure for a rule that is there already. */
export const duplicateRule = ({ id, value }: { readonly id: string; readonly value: string }): Entry => ({
  title: "DuplicateRule",
  type: `${types}/duplicate-rules`,
  value,
  id
})

/** The partial failure for a rule that is one too many. */
export const ruleCap = (value: string, maximum: number): Entry => ({
  title: "RuleCap",
  detail: `The app may have ${maximum} rules, and has them.`,
  type: `${types}/rule-cap`,
  value
})

/** A thing that a request names. */
export interface Named {
  readonly kind: string
  readonly id: string
  /** Where it is named. */
  readonly parameter: string
  readonly section?: "data" | "includes"
}

/** The partial failure for something that does not exist. */
export const notFound = (options: Named): Entry => ({
  title: "Not Found Error",
  detail: `Could not find ${options.kind} with ${options.parameter}: [${options.id}].`,
  type: `${types}/resource-not-found`,
  ...naming(options)
})

/** The partial failure for something that the caller may not see. */
export const notAuthorized = (options: Named): Entry => ({
  title: "Authorization Error",
  detail: `Sorry, you are not authorized to see the ${options.kind} with ${options.parameter}: [${options.id}].`,
  type: `${types}/not-authorized-for-resource`,
  ...naming(options)
})

/** The partial failure for a user who was suspended. */
export const suspended = (options: Named): Entry => ({
  title: "Forbidden",
  detail: `User has been suspended: [${options.id}].`,
  type: `${types}/resource-not-found`,
  ...naming(options)
})

/** The partial failure for a field that is for the owner of the thing alone. */
export const notAuthorizedForField = (field: string, options: Named): Entry => ({
  title: "Field Authorization Error",
  detail:
    `Sorry, you are not authorized to access '${field}' on the ${options.kind} with ${options.parameter} : [${options.id}].`,
  type: `${types}/not-authorized-for-field`,
  field,
  ...naming(options)
})

const naming = (options: Named): Entry => ({
  resource_type: options.kind,
  resource_id: options.id,
  parameter: options.parameter,
  value: options.id,
  ...(options.section === undefined ? {} : { section: options.section })
})
