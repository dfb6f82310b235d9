/**
 * All errors, one tagged class per kind of failure. An operation's error type holds exactly those that it can fail with.
 *
 * `MissingAccessToken`, `ConflictingIdentifiers`, `InvalidParameters` and `InvalidSettings` are mistakes of the program
 * and also instances of `TypeError`. No error ever holds a credential: where a service quotes one, or a parameter is one,
 * it is replaced by `<redacted>`.
 *
 * `instanceof` and `_tag` distinguish them, even across copies of this module.
 *
 * A `message` ends with the error's `advice`, if it has one, which speaks to programs: another audience gets the rest, which is
 * `statementOf(error)`, and its own.
 */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import { brand } from "../internal/errorBrand.ts"
import type { Problem } from "../schema/models/Problem.ts"
import { show } from "../schema/Show.ts"
import { LoginRequired, MissingScope } from "./AccountErrors.ts"

export type { Problem } from "../schema/models/Problem.ts"
export { type LoginReason, LoginRequired, MissingScope } from "./AccountErrors.ts"
export { ArticleUndecided } from "./ArticleErrors.ts"
export {
  ComplianceExpired,
  ComplianceFailed,
  ComplianceNotComplete,
  ComplianceRefused,
  ComplianceUnreadable
} from "./ComplianceErrors.ts"
export { AuthorizationDenied, InvalidRedirect } from "./SignInErrors.ts"
export { StorageFailure, type StorageFault } from "./StorageErrors.ts"
export {
  type HeldConnection,
  NoRules,
  SpillFailed,
  type StreamError,
  StreamOverflow,
  TooManyConnections
} from "./StreamErrors.ts"
export { InvalidRules, type RefusedRule, RuleCapReached, type RuleError } from "./StreamRuleErrors.ts"
export { ThreadBroken, ThreadUndecided, type UndecidedReason } from "./ThreadErrors.ts"
export { MediaNotReady, MediaProcessingFailed, SourceFailure, type SourceFault, UploadExpired } from "./UploadErrors.ts"
export {
  type RefusedSubscription,
  SubscriptionsRefused,
  type WebhookError,
  type WebhookRefusal,
  WebhookRefused
} from "./WebhookErrors.ts"
import type { Bearer } from "../schema/Quota.ts"
import type { RateLimitInfo } from "../schema/RateLimitHeaders.ts"
import { StorageFailure } from "./StorageErrors.ts"

/** The message of an error without its advice. */
export const statementOf = (error: { readonly message: string; readonly advice?: unknown }): string => {
  const { advice, message } = error
  return typeof advice === "string" && message.endsWith(` ${advice}`) ? message.slice(0, -advice.length - 1) : message
}

/** `bearer`: an OAuth 2.0 token. `oauth1`: an OAuth 1.0a signature. `app`: id and secret of an app, used for signing in. */
export type CredentialKind = "bearer" | "oauth1" | "app"

/** The credential for the chosen `user_auth` is absent or empty. Raised before anything is sent. */
export class MissingAccessToken extends Data.TaggedError("MissingAccessToken")<{
  readonly operation: string
  readonly credential: CredentialKind
  /** The settings that are missing, such as `accessToken`. */
  readonly missing: ReadonlyArray<string>
}> {
  override get message(): string {
    const form = this.credential === "oauth1"
      ? "OAuth 1.0a user context (user_auth is true)"
      : this.missing.includes("appBearerToken")
      ? "the bearer token of an app"
      : "a bearer token (user_auth is false)"
    return `${this.operation} needs ${form}, but ${this.missing.join(", ")} ${
      this.missing.length === 1 ? "is" : "are"
    } not set. ${this.advice}`
  }
  get advice(): string {
    const variables = this.missing.map(environmentVariable).join(", ")
    const [them, are] = this.missing.length === 1 ? ["it", "is"] : ["them", "are"]
    return `Pass ${them} to the client, or set ${variables}, which ${are} read if no other credential is passed.${
      this.credential === "oauth1" ? " For a user's bearer token, pass user_auth: false." : ""
    }`
  }
}

/** Neither or both of two alternative parameters were given. Raised before anything is sent. */
export class ConflictingIdentifiers extends Data.TaggedError("ConflictingIdentifiers")<{
  readonly operation: string
  readonly parameters: ReadonlyArray<string>
  /** The parameters among them that were given. */
  readonly given: ReadonlyArray<string>
  readonly rule: string
}> {
  override get message(): string {
    const given = this.given.length === 0 ? "neither was given" : `${this.given.join(" and ")} were given`
    return `${this.operation} accepts ${this.rule}, but ${given}.`
  }
}

/** A parameter breaks a rule of the operation. Raised before anything is sent. */
export class InvalidParameters extends Data.TaggedError("InvalidParameters")<{
  readonly operation: string
  readonly parameter: string
  readonly rule: string
  /** The value in short, as text; absent if none was given. */
  readonly value?: string | undefined
}> {
  override get message(): string {
    const parameter = /^[\w.[\]]+$/.test(this.parameter) ? this.parameter : show(this.parameter)
    const got = this.value === undefined ? "" : ` Got ${this.value}.`
    return `${this.operation}: ${parameter} ${this.rule}.${got}`
  }
}

/** The error of a parameter. The value is shown redacted, and not at all if it is `undefined`. */
export const invalidParameter = (
  operation: string,
  parameter: string,
  rule: string,
  value: unknown,
  redact?: (text: string) => string
): InvalidParameters =>
  new InvalidParameters({ operation, parameter, rule, value: value === undefined ? undefined : show(value, redact) })

/** A setting of the client breaks a rule. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly setting: string
  readonly rule: string
  readonly advice?: string | undefined
}> {
  override get message(): string {
    return `${this.setting} ${this.rule}.${this.advice === undefined ? "" : ` ${this.advice}`}`
  }
}

/** The fields of every refusal. */
interface RefusalFields {
  readonly operation: string
  readonly status: number
  /** The kind of authorization that the refused request carried. */
  readonly credential: CredentialKind
  /** The kinds that the operation accepts. */
  readonly accepts: ReadonlyArray<CredentialKind>
  /** Whose bearer tokens the operation accepts; absent for a raw request, of which that is not known. */
  readonly bearer?: Bearer | undefined
  /** Type, title and detail of the problem document, if there is one. */
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly detail?: string | undefined
  /** The individual problems, each with its parameter if it has one. */
  readonly problems: ReadonlyArray<Problem>
  /** The service's id of the request, for its support. */
  readonly requestId?: string | undefined
  readonly rateLimit?: RateLimitInfo | undefined
  /** The first 2,000 characters of a body that is not a problem document. */
  readonly excerpt?: string | undefined
}

/** 400: the service refused a parameter; `problems` names it. */
export class BadRequest extends Data.TaggedError("BadRequest")<
  RefusalFields & {
    /** The `wire` setting that has another name for one that the service does not know. */
    readonly otherWire?: string | undefined
  }
> {
  override get message(): string {
    return refused(
      this,
      "the service refused a parameter",
      this.otherWire === undefined
        ? undefined
        : `The service may use other names: try wire: "${this.otherWire}", or set ${environmentVariable("wire")}.`
    )
  }
}

/** 401: the service does not accept the credential. */
export class Unauthorized extends Data.TaggedError("Unauthorized")<RefusalFields> {
  override get message(): string {
    return refused(
      this,
      `the service does not accept the ${credentialName[this.credential]}`,
      this.credential === "app"
        ? "Check them; a public app has no secret, a confidential one needs it."
        : `Check it; the operation accepts ${accepted(this)}.`
    )
  }
}

/** 402 or 403: the developer account has no credits left, or has reached its spend cap. Retrying does not help. */
export class PaymentRequired extends Data.TaggedError("PaymentRequired")<
  RefusalFields & {
    /** Which of the two is exhausted. */
    readonly reason: "credits" | "spend cap"
    /** When the next billing cycle begins, if the service reports it: a day, UTC. */
    readonly resetAt?: Date | undefined
  }
> {
  override get message(): string {
    const meaning = this.reason === "credits" ? "has no credits left" : "has reached its spend cap"
    return refused(this, `the developer account ${meaning}`, this.advice)
  }
  get advice(): string {
    const until = this.resetAt === undefined ? "" : `, or wait until ${this.resetAt.toISOString().slice(0, 10)}`
    return this.reason === "credits"
      ? "Buy credits in the service's console."
      : `Raise the cap in the service's console${until}.`
  }
}

/** 403: the credential is valid but not permitted to do this. */
export class Forbidden extends Data.TaggedError("Forbidden")<
  RefusalFields & {
    /** True if the operation only reads. */
    readonly isRead?: boolean | undefined
    /** The rule of the service's self-serve plans that the request may have broken: who may be replied to, for example. */
    readonly planRule?: string | undefined
  }
> {
  override get message(): string {
    const hint = isOfWrongKind(this)
      ? this.bearer && `The operation accepts ${accepted(this)}.`
      : this.isRead === true
      ? "The app's access or the user's permissions may not include it."
      : isAboutPermission(reasonsOf(this))
      ? "If the app was given write permission after the credential was made, generate a new credential and use that."
      : undefined
    return refused(
      this,
      `this is not permitted with the ${credentialName[this.credential]}`,
      [hint, this.advice].filter(Predicate.isNotUndefined).join(" ")
    )
  }
  get advice(): string | undefined {
    if (isOfWrongKind(this)) {
      return this.bearer === "app"
        ? "Pass it to the client as appBearerToken, or set POSTWIRE_APP_BEARER_TOKEN."
        : undefined
    }
    return reasonsOf(this).some((text) => otherReason.test(text)) ? undefined : this.planRule
  }
}

/** Reasons that have nothing to do with a plan. */
const otherReason = /duplicate|permissions/i

/** 404: the resource does not exist or is not visible. */
export class NotFound extends Data.TaggedError("NotFound")<RefusalFields> {
  override get message(): string {
    return refused(this, "not found")
  }
}

/** 429: the rate limit of this operation and credential is exceeded. */
export class RateLimited extends Data.TaggedError("RateLimited")<
  RefusalFields & {
    /** When the rate limit resets, if the service reported it. */
    readonly resetAt?: Date | undefined
    /** Milliseconds to wait, if the service reported it or its response states a time with which to compare `resetAt`. */
    readonly retryAfter?: number | undefined
    /** The operation whose rate limit is exceeded. */
    readonly bucket: string
    /** True if the client waits for rate limits. It does not wait for a usage cap, nor for a service that keeps refusing. */
    readonly waits?: boolean | undefined
  }
> {
  override get message(): string {
    const resets = this.resetAt === undefined ? "" : `; resets at ${this.resetAt.toISOString()}`
    const final = "Waiting does not help: this is a usage cap, or the service keeps refusing."
    return refused(this, exceeded(this) + resets, this.advice ?? final)
  }
  get advice(): string | undefined {
    return this.waits === true
      ? undefined
      : "Set waitOnRateLimit to wait for it, or in Effect provide RateLimit.layerWait()."
  }
}

/** 5xx: the service failed. */
export class ServerFailure extends Data.TaggedError("ServerFailure")<RefusalFields> {
  override get message(): string {
    return refused(this, "the service failed")
  }
}

/** A status that the interface does not define. This includes redirects, unless a read can follow them within the origin. */
export class UnexpectedStatus extends Data.TaggedError("UnexpectedStatus")<RefusalFields> {
  override get message(): string {
    return refused(this, "unexpected status")
  }
}

/** No complete response arrived: connection, TLS, timeout, or a truncated body. */
export class TransportFailure extends Data.TaggedError("TransportFailure")<{
  readonly operation: string
  /** The phase that the exchange reached, if the transport reports it. */
  readonly phase: "connect" | "tls" | "send" | "headers" | "body" | "unknown"
  /** The timeout that was reached, if any. */
  readonly timeout?: "connect" | "firstByte" | "idle" | "total" | undefined
  readonly reason: string
  readonly cause?: unknown | undefined
}> {
  override get message(): string {
    return `${this.operation}: no response (${this.phase}): ${this.reason}${
      this.advice === undefined ? "" : `. ${this.advice}`
    }`
  }
  get advice(): string | undefined {
    return refusedHere.test(this.reason)
      ? "Is the sandbox running?"
      : /ENOTFOUND|wrong version number/.test(this.reason)
      ? "Check baseUrl and the network."
      : undefined
  }
}

/** No process listens on that port of this machine. */
const refusedHere = /\bECONNREFUSED (127\.|::1)/

/** The response is not JSON, or does not match the schema. */
export class UndecodableResponse extends Data.TaggedError("UndecodableResponse")<{
  readonly operation: string
  readonly status: number
  readonly reason: string
  readonly requestId?: string | undefined
  /** The first 2,000 characters of the body. */
  readonly excerpt: string
}> {
  override get message(): string {
    return `${this.operation}: cannot decode the response (${this.status}): ${this.reason}`
  }
}

/**
 * A create that may have happened: its response did not arrive, cannot be decoded, or has a status that leaves it open (5xx
 * but 501, 408, 302, 303). It is never retried; `sendChatMessage` alone is, and fails with this error when its retries are
 * exhausted.
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  readonly operation: string
  /** The status of the response, if one arrived. After a success status, the create has happened according to the service. */
  readonly status?: number | undefined
  readonly reason: string
  /** The operation that shows whether it happened. */
  readonly confirmWith?: string | undefined
  /** With a status: the service's id of the request. */
  readonly requestId?: string | undefined
  /** With a status: the rate limit as the service announced it. */
  readonly rateLimit?: RateLimitInfo | undefined
  /** The first 2,000 characters of a body that came as a whole. */
  readonly excerpt?: string | undefined
  /** With a status other than success: the error that an operation other than a create would fail with. */
  readonly cause?: unknown | undefined
}> {
  override get message(): string {
    const what = this.status === undefined
      ? `the request was sent but no response arrived (${this.reason}). It may have happened`
      : this.status >= 300
      ? `the service responded with ${this.status} (${this.reason}). It may have happened`
      : `the service accepted it (${this.status}), but the response cannot be decoded (${this.reason}). It has probably happened`
    return `${this.operation}: ${what}. ${this.advice}`
  }
  get advice(): string {
    return `Check${this.confirmWith === undefined ? "" : ` with ${this.confirmWith}`} before sending it again.`
  }
}

/** The service returned a page token for a second time; pagination would never end. */
export class PaginationStuck extends Data.TaggedError("PaginationStuck")<{
  readonly operation: string
  readonly token: string
}> {
  override get message(): string {
    return `${this.operation}: the service repeated the page token ${this.token}.`
  }
}

/** Waiting for the rate limit would take longer than `maxWait` allows. */
export class RateLimitWaitTooLong extends Data.TaggedError("RateLimitWaitTooLong")<{
  readonly operation: string
  readonly bucket: string
  readonly resetAt: Date
  /** The allowed wait in milliseconds. */
  readonly maxWait: number
}> {
  override get message(): string {
    return `${this.operation}: ${exceeded(this)}; resets at ${this.resetAt.toISOString()}, later than maxWait ` +
      `(${this.maxWait} ms) allows.`
  }
}

/** A request might exceed the setting `spendLimit`. Raised before it is sent. */
export class SpendLimitReached extends Data.TaggedError("SpendLimitReached")<{
  readonly operation: string
  /** The period of the limit: a day or a month, both in UTC, or the lifetime of this client. */
  readonly period: "day" | "month" | "total"
  /** In dollars, including uncertain costs and the possible costs of requests in flight; 0 if the price is unknown. */
  readonly spent: number
  /** In dollars. */
  readonly limit: number
  /** The most that the request may cost, in dollars; `Infinity` if its price is unknown. */
  readonly needed: number
  /** When the limit resets; absent for the limit of this client, which never does. */
  readonly resetAt?: Date | undefined
  /** Why the spend store did not respond, if that is the reason; then `spent` is unknown, and 0. */
  readonly unavailable?: string | undefined
}> {
  override get message(): string {
    const of = this.period === "total" ? "this client" : `the ${this.period}`
    if (this.needed === Infinity) {
      return `${this.operation}: its price is unknown, so the limit of ${of}, ${
        dollars(this.limit)
      }, cannot be enforced. ` +
        `Nothing was sent. ${this.advice}`
    }
    const may = `${this.operation}: it may cost ${dollars(this.needed)}`
    if (this.unavailable !== undefined) {
      return `${may}, and the spend store does not respond (${this.unavailable}), so the limit of ${of}, ` +
        `${dollars(this.limit)}, cannot be enforced. Nothing was sent. ${this.advice}`
    }
    if (this.needed > this.limit) {
      return `${may}, and the whole limit of ${of} is ${dollars(this.limit)}. ${this.advice}`
    }
    const until = this.resetAt === undefined ? "" : ` It resets at ${this.resetAt.toISOString()}.`
    return `${may}, and ${dollars(this.spent)} of the ${dollars(this.limit)} of ${of} are spent or reserved.${until}`
  }
  get advice(): string | undefined {
    return this.needed === Infinity
      ? "State the most that such a request may cost: the setting prices.unknown."
      : this.unavailable !== undefined
      ? "Try again later, or set spendLimit.withoutStore."
      : this.needed > this.limit
      ? "Request less, or raise spendLimit."
      : undefined
  }
}

/** With as many digits as it takes to see a difference. */
const dollars = (amount: number): string => {
  const micros = Math.round(amount * 1_000_000)
  return `$${amount.toFixed(micros % 10_000 === 0 ? 2 : micros % 1_000 === 0 ? 3 : 6)}`
}

/** The errors of a status other than success. */
export type Refusal =
  | BadRequest
  | Unauthorized
  | PaymentRequired
  | Forbidden
  | NotFound
  | RateLimited
  | ServerFailure
  | UnexpectedStatus

/** The errors of reading or renewing the credentials of an account. */
export type CredentialsError = LoginRequired | StorageFailure | TransportFailure | Refusal

/** The errors of every operation. */
export type OperationError =
  | MissingAccessToken
  | MissingScope
  | LoginRequired
  | StorageFailure
  | InvalidParameters
  | Refusal
  | TransportFailure
  | UndecodableResponse
  | RateLimitWaitTooLong
  | SpendLimitReached

/** Every error of an operation or of its pages. */
export type AnyError = OperationError | ConflictingIdentifiers | OutcomeUnknown | PaginationStuck

const classes = [
  MissingAccessToken,
  ConflictingIdentifiers,
  InvalidParameters,
  BadRequest,
  Unauthorized,
  PaymentRequired,
  Forbidden,
  NotFound,
  RateLimited,
  ServerFailure,
  UnexpectedStatus,
  TransportFailure,
  UndecodableResponse,
  OutcomeUnknown,
  PaginationStuck,
  RateLimitWaitTooLong,
  SpendLimitReached
] as const

/** Tests whether something is one of these errors. */
export const isAnyError = (error: unknown): error is AnyError =>
  [...classes, MissingScope, LoginRequired, StorageFailure].some((errorClass) => error instanceof errorClass)

/** The environment variable that holds a setting: `accessToken` is `POSTWIRE_ACCESS_TOKEN`. */
export const environmentVariable = (setting: string): string =>
  `POSTWIRE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

const isOfWrongKind = ({ problems, type }: Pick<RefusalFields, "problems" | "type">): boolean =>
  [type, ...problems.map(({ type }) => type)].some((type) => type?.endsWith("/unsupported-authentication"))

const credentialName = {
  bearer: "bearer token",
  oauth1: "OAuth 1.0a credential",
  app: "id and secret of the app"
} as const

/** Names the rate limit unless it is the operation's own. */
const exceeded = ({ bucket, operation }: { readonly bucket: string; readonly operation: string }): string =>
  `rate limit${bucket === operation ? "" : ` of ${bucket}`} exceeded`

const bearerName = {
  any: "a bearer token",
  none: "no credential",
  app: "the bearer token of an app",
  user: "a bearer token of a user"
} as const

const accepted = ({ accepts, bearer = "any" }: Pick<RefusalFields, "accepts" | "bearer">): string =>
  accepts.length > 1
    ? `OAuth 1.0a (user_auth: true) and ${bearerName[bearer]} (user_auth: false)`
    : accepts[0] === "oauth1"
    ? "OAuth 1.0a only"
    : `${bearerName[bearer]} only`

/** The reasons that the service gave: those of the individual problems, or else of the document. */
export const reasonsOf = (
  { detail, problems, title }: Pick<RefusalFields, "detail" | "problems" | "title">
): Array<string> => {
  const single = problems
    .map(({ detail, message, title }) => message ?? detail ?? title)
    .filter(Predicate.isNotUndefined)
  return [...new Set(single.length > 0 ? single : [detail ?? title].filter(Predicate.isNotUndefined))]
}

/** Tests whether a 403 may concern permissions: it mentions them, or gives no other reason. */
const isAboutPermission = (reasons: ReadonlyArray<string>): boolean =>
  reasons.every((text) => /permission|^Forbidden\.?$/i.test(text))

const refused = (
  error: Pick<RefusalFields, "operation" | "status" | "detail" | "problems" | "title">,
  meaning: string,
  advice = ""
): string => {
  const reasons = reasonsOf(error)
  const reason = reasons.length === 0 ? "" : `: ${reasons.join("; ").replace(/\.$/, "")}`
  return `${error.operation}: ${meaning} (${error.status})${reason}.${advice === "" ? "" : ` ${advice}`}`
}

/**
 * The specification requires TypeErrors for mistakes of the program. A class can have only one base, so the shared part of the
 * prototype chain is copied onto TypeError.prototype and put under these four.
 */
const extendTypeError = (prototype: object): void => {
  const shared: Array<object> = []
  for (let proto = Object.getPrototypeOf(prototype); proto !== Error.prototype; proto = Object.getPrototypeOf(proto)) {
    shared.unshift(proto)
  }
  let base: object = TypeError.prototype
  for (const proto of shared) base = Object.create(base, Object.getOwnPropertyDescriptors(proto))
  Object.setPrototypeOf(prototype, base)
}

for (const errorClass of [MissingAccessToken, ConflictingIdentifiers, InvalidParameters, InvalidSettings]) {
  extendTypeError(errorClass.prototype)
}

brand([...classes, InvalidSettings])
