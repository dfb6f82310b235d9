/**
 * Everything that can go wrong, one tagged class per fact. An operation's error type holds exactly those it can produce.
 *
 * `MissingAccessToken`, `ConflictingIdentifiers`, `InvalidParameters` and `InvalidSettings` are mistakes of the program
 * and also instances of `TypeError`. No error ever holds a credential: where a service quotes one, or a parameter is one,
 * it says `<redacted>`.
 *
 * `instanceof` and `_tag` tell them apart, across copies of this module too.
 */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import { brand } from "../internal/errorBrand.ts"
import type { Problem } from "../schema/models/Problem.ts"
import { show } from "../schema/Show.ts"
import { LoginRequired, MissingScope, TokenStoreFailure } from "./AccountErrors.ts"

export type { Problem } from "../schema/models/Problem.ts"
export {
  type LoginReason,
  LoginRequired,
  MissingScope,
  TokenStoreFailure,
  type TokenStoreFault
} from "./AccountErrors.ts"
export {
  ComplianceExpired,
  ComplianceFailed,
  ComplianceNotComplete,
  ComplianceRefused,
  ComplianceUnreadable
} from "./ComplianceErrors.ts"
export { AuthorizationDenied, InvalidRedirect } from "./SignInErrors.ts"
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
export {
  JournalFailure,
  type JournalFault,
  MediaNotReady,
  MediaProcessingFailed,
  SourceFailure,
  type SourceFault,
  UploadExpired
} from "./UploadErrors.ts"
import type { RateLimitInfo } from "../schema/RateLimitHeaders.ts"

/** `bearer`: an OAuth 2.0 token. `oauth1`: an OAuth 1.0a signature. `app`: id and secret of an app, with which one signs in. */
export type CredentialKind = "bearer" | "oauth1" | "app"

/** The credential that the chosen `user_auth` needs is absent or empty. Raised before any traffic. */
export class MissingAccessToken extends Data.TaggedError("MissingAccessToken")<{
  readonly operation: string
  readonly credential: CredentialKind
  /** The settings that are missing, such as `accessToken`. */
  readonly missing: ReadonlyArray<string>
}> {
  override get message(): string {
    const form = this.credential === "bearer"
      ? "a bearer token (user_auth is false)"
      : "OAuth 1.0a user context (user_auth is true)"
    const variables = this.missing.map(environmentVariable).join(", ")
    return `${this.operation} needs ${form}, but ${this.missing.join(", ")} ${
      this.missing.length === 1 ? "is" : "are"
    } not set. Pass ${this.missing.length === 1 ? "it" : "them"} to the client, or set ${variables}.`
  }
}

/** Neither or both of two alternative parameters were given. Raised before any traffic. */
export class ConflictingIdentifiers extends Data.TaggedError("ConflictingIdentifiers")<{
  readonly operation: string
  readonly parameters: ReadonlyArray<string>
  /** Those of them that were given. */
  readonly given: ReadonlyArray<string>
  readonly rule: string
}> {
  override get message(): string {
    const given = this.given.length === 0 ? "neither was given" : `${this.given.join(" and ")} were given`
    return `${this.operation} takes ${this.rule}, but ${given}.`
  }
}

/** A parameter breaks a rule of the operation. Raised before any traffic. */
export class InvalidParameters extends Data.TaggedError("InvalidParameters")<{
  readonly operation: string
  readonly parameter: string
  readonly rule: string
  /** The value in short, as text; left out when none was given. */
  readonly value?: string | undefined
}> {
  override get message(): string {
    const parameter = /^[\w.[\]]+$/.test(this.parameter) ? this.parameter : show(this.parameter)
    const got = this.value === undefined ? "" : ` Got ${this.value}.`
    return `${this.operation}: ${parameter} ${this.rule}.${got}`
  }
}

/** The error of a parameter. Its value is shown as `redact` leaves it, and `undefined` not at all. */
export const invalidParameter = (
  operation: string,
  parameter: string,
  rule: string,
  value: unknown,
  redact?: (text: string) => string
): InvalidParameters =>
  new InvalidParameters({ operation, parameter, rule, value: value === undefined ? undefined : show(value, redact) })

/** A setting of the client breaks a rule. Raised when the client is made. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly setting: string
  readonly rule: string
}> {
  override get message(): string {
    return `${this.setting} ${this.rule}.`
  }
}

/** What every refusal tells. */
interface RefusalFields {
  readonly operation: string
  readonly status: number
  /** The kind of authorization that the refused request carried. */
  readonly credential: CredentialKind
  /** The kinds that the operation takes. */
  readonly accepts: ReadonlyArray<CredentialKind>
  /** Type, title and detail of the problem document, where there is one. */
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly detail?: string | undefined
  /** The single problems, each with the parameter at fault where there is one. */
  readonly problems: ReadonlyArray<Problem>
  /** The service's id of the request, for its support. */
  readonly requestId?: string | undefined
  readonly rateLimit?: RateLimitInfo | undefined
  /** The first 2,000 characters of a body that is no problem document. */
  readonly excerpt?: string | undefined
}

/** 400: the service found a parameter wrong; `problems` says which. */
export class BadRequest extends Data.TaggedError("BadRequest")<
  RefusalFields & {
    /** The wire that has another word for one that the service does not know. */
    readonly otherWire?: string | undefined
  }
> {
  override get message(): string {
    return refused(
      this,
      "The service refused a parameter",
      this.otherWire === undefined
        ? undefined
        : `The service seems to use other names: try wire: "${this.otherWire}", or set ${environmentVariable("wire")}.`
    )
  }
}

/** 401: the service does not accept the credential. */
export class Unauthorized extends Data.TaggedError("Unauthorized")<RefusalFields> {
  override get message(): string {
    return refused(
      this,
      `The service does not accept the ${credentialName[this.credential]}`,
      this.credential === "app"
        ? "Check them; a public app has no secret, a confidential one needs it."
        : `Check it; the operation takes ${accepted(this.accepts)}.`
    )
  }
}

/** 402 or 403: the developer account has no credits left, or has reached its spend cap. Retrying does not help. */
export class PaymentRequired extends Data.TaggedError("PaymentRequired")<
  RefusalFields & {
    /** What is at its end. */
    readonly reason: "credits" | "spend cap"
    /** When the next billing cycle begins, where the service says it: a day, UTC. */
    readonly resetAt?: Date | undefined
  }
> {
  override get message(): string {
    const until = this.resetAt === undefined ? "" : `, or wait for ${this.resetAt.toISOString().slice(0, 10)}`
    return this.reason === "credits"
      ? refused(this, "The developer account has no credits left", "Buy credits in the service's console.")
      : refused(
        this,
        "The developer account has reached its spend cap",
        `Raise the cap in the service's console${until}.`
      )
  }
}

/** 403: the credential is valid but may not do this. */
export class Forbidden extends Data.TaggedError("Forbidden")<
  RefusalFields & {
    /** Whether the operation only reads. */
    readonly isRead?: boolean | undefined
  }
> {
  override get message(): string {
    const isOfWrongKind = [this.type, ...this.problems.map(({ type }) => type)]
      .some((type) => type?.endsWith("/unsupported-authentication"))
    return refused(
      this,
      `The ${credentialName[this.credential]} may not do this`,
      isOfWrongKind
        ? `The operation takes ${accepted(this.accepts)}.`
        : this.isRead === true
        ? "The app's access or the user's permissions may not include it."
        : isAboutPermission(saidIn(this))
        ? "If the app was given write permission after the credential was made, generate a new credential and use that."
        : undefined
    )
  }
}

/** 404: there is no such thing. */
export class NotFound extends Data.TaggedError("NotFound")<RefusalFields> {
  override get message(): string {
    return refused(this, "The service knows no such thing")
  }
}

/** 429: the budget of this operation and credential is spent. */
export class RateLimited extends Data.TaggedError("RateLimited")<
  RefusalFields & {
    /** When the window ends, where the service said so. */
    readonly resetAt?: Date | undefined
    /** Milliseconds to wait, where the service said so. */
    readonly retryAfter?: number | undefined
    /** Operation and kind of credential whose budget is spent. */
    readonly bucket: string
    /** Whether the client waits for rate limits. It does not wait for a usage cap, nor for a service that goes on refusing. */
    readonly waits?: boolean | undefined
  }
> {
  override get message(): string {
    const until = this.resetAt === undefined ? "" : ` until ${this.resetAt.toISOString()}`
    const advice = this.waits === true
      ? "Waiting is not enough: this is a usage cap, or the service goes on refusing."
      : "Set waitOnRateLimit to wait for it."
    return refused(this, `The budget of ${this.bucket} is spent${until}`, advice)
  }
}

/** 5xx: the service failed. */
export class ServerFailure extends Data.TaggedError("ServerFailure")<RefusalFields> {
  override get message(): string {
    return refused(this, "The service failed")
  }
}

/** A status that the interface does not know. A redirect is one, unless a read can follow it within the origin. */
export class UnexpectedStatus extends Data.TaggedError("UnexpectedStatus")<RefusalFields> {
  override get message(): string {
    return refused(this, "The service answered in a way that the interface does not know")
  }
}

/** The answer did not come: connection, TLS, timeout, or a body that broke off. */
export class TransportFailure extends Data.TaggedError("TransportFailure")<{
  readonly operation: string
  /** How far the exchange got, where the transport tells. */
  readonly phase: "connect" | "tls" | "send" | "headers" | "body" | "unknown"
  /** The limit that was reached, when it was one. */
  readonly timeout?: "connect" | "firstByte" | "idle" | "total" | undefined
  readonly reason: string
  readonly cause?: unknown | undefined
}> {
  override get message(): string {
    const advice = refusedHere.test(this.reason) ? ". Is the sandbox running?" : ""
    return `${this.operation}: no answer (${this.phase}): ${this.reason}${advice}`
  }
}

/** Nothing listens on this machine. */
const refusedHere = /\bECONNREFUSED (127\.|::1)/

/** The answer is not JSON, or not of the form that the interface has. */
export class UndecodableResponse extends Data.TaggedError("UndecodableResponse")<{
  readonly operation: string
  readonly status: number
  readonly reason: string
  readonly requestId?: string | undefined
  /** The first 2,000 characters of the body. */
  readonly excerpt: string
}> {
  override get message(): string {
    return `${this.operation}: cannot read the answer (${this.status}): ${this.reason}`
  }
}

/**
 * A create that may have happened: its answer did not come, cannot be read, or has a status that leaves it open (5xx but 501,
 * 408, 302, 303). It is never sent again.
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  readonly operation: string
  /** The status of the answer, where one came. With one of success, the create has happened, as far as the service says. */
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
  /** Of a status other than success: the error that it is for what is no create. */
  readonly cause?: unknown | undefined
}> {
  override get message(): string {
    const look = this.confirmWith === undefined ? "look" : `look with ${this.confirmWith}`
    const what = this.status === undefined
      ? `the request left but no answer came (${this.reason}). It may have happened`
      : this.status >= 300
      ? `the service answered with ${this.status} (${this.reason}). It may have happened`
      : `the service accepted it (${this.status}), but its answer cannot be read (${this.reason}). It has probably happened`
    return `${this.operation}: ${what}: ${look} before sending it again.`
  }
}

/** The service returned a page token that it had returned before; going on would never end. */
export class PaginationStuck extends Data.TaggedError("PaginationStuck")<{
  readonly operation: string
  readonly token: string
}> {
  override get message(): string {
    return `${this.operation}: the service repeats the page token ${this.token}.`
  }
}

/** Waiting for the budget would take longer than `maxWait` allows. */
export class RateLimitWaitTooLong extends Data.TaggedError("RateLimitWaitTooLong")<{
  readonly operation: string
  readonly bucket: string
  readonly resetAt: Date
  /** The allowed wait in milliseconds. */
  readonly maxWait: number
}> {
  override get message(): string {
    return `${this.operation}: the budget of ${this.bucket} is spent until ${this.resetAt.toISOString()}, longer than ` +
      `maxWait (${this.maxWait} ms) allows.`
  }
}

/** A request might spend more than the setting `spendLimit` allows. Raised before it is sent. */
export class SpendLimitReached extends Data.TaggedError("SpendLimitReached")<{
  readonly operation: string
  /** Whose limit it is: that of a day or of a month, both in UTC, or that of this client. */
  readonly period: "day" | "month" | "total"
  /** In dollars, with what is in doubt and what requests in flight may cost. */
  readonly spent: number
  /** In dollars. */
  readonly limit: number
  /** The most that the request may cost, in dollars. */
  readonly needed: number
  /** When the limit begins anew; never, where it is that of this client. */
  readonly resetAt?: Date | undefined
  /** Why the spend store did not answer, where that is the reason; then `spent` is unknown, and 0. */
  readonly unavailable?: string | undefined
}> {
  override get message(): string {
    const of = this.period === "total" ? "this client" : `the ${this.period}`
    const may = `${this.operation}: it may cost ${dollars(this.needed)}`
    if (this.unavailable !== undefined) {
      return `${may}, and the spend store does not answer (${this.unavailable}), so the limit of ${of}, ` +
        `${dollars(this.limit)}, cannot be kept. Nothing was sent. Try again later, or set spendLimit.withoutStore.`
    }
    if (this.needed > this.limit) {
      return `${may}, and the whole limit of ${of} is ${dollars(this.limit)}. Ask for less, or raise spendLimit.`
    }
    const until = this.resetAt === undefined ? "" : ` It begins anew at ${this.resetAt.toISOString()}.`
    return `${may}, and ${dollars(this.spent)} of the ${dollars(this.limit)} of ${of} are spent or reserved.${until}`
  }
}

/** As much of it as it takes to see a difference. */
const dollars = (amount: number): string => {
  const micros = Math.round(amount * 1_000_000)
  return `$${amount.toFixed(micros % 10_000 === 0 ? 2 : micros % 1_000 === 0 ? 3 : 6)}`
}

/** What a status other than success becomes. */
export type Refusal =
  | BadRequest
  | Unauthorized
  | PaymentRequired
  | Forbidden
  | NotFound
  | RateLimited
  | ServerFailure
  | UnexpectedStatus

/** What credentials of an account can fail with while they are read or renewed. */
export type CredentialsError = LoginRequired | TokenStoreFailure | TransportFailure | Refusal

/** What every operation can fail with. */
export type OperationError =
  | MissingAccessToken
  | MissingScope
  | LoginRequired
  | TokenStoreFailure
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

/** Whether something is one of these errors: what `error instanceof NotFound` and so on say of each alone. */
export const isAnyError = (error: unknown): error is AnyError =>
  [...classes, MissingScope, LoginRequired, TokenStoreFailure].some((errorClass) => error instanceof errorClass)

/** The environment variable that holds a setting: `accessToken` is `POSTWIRE_ACCESS_TOKEN`. */
export const environmentVariable = (setting: string): string =>
  `POSTWIRE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

const credentialName = {
  bearer: "bearer token",
  oauth1: "OAuth 1.0a credential",
  app: "id and secret of the app"
} as const

const accepted = (kinds: ReadonlyArray<CredentialKind>): string =>
  kinds.length === 1
    ? `${kinds[0] === "oauth1" ? "OAuth 1.0a" : "a bearer token"} only`
    : "OAuth 1.0a (user_auth: true) and a bearer token (user_auth: false)"

/** What the service said: the single problems, or else the whole. */
const saidIn = ({ detail, problems, title }: Pick<RefusalFields, "detail" | "problems" | "title">): Array<string> => {
  const single = problems
    .map(({ detail, message, title }) => message ?? detail ?? title)
    .filter(Predicate.isNotUndefined)
  return [...new Set(single.length > 0 ? single : [detail ?? title].filter(Predicate.isNotUndefined))]
}

/** Whether a 403 may be one of permissions: it says so, or it says nothing else. */
const isAboutPermission = (said: ReadonlyArray<string>): boolean =>
  said.every((text) => /permission|^Forbidden\.?$/i.test(text))

const refused = (
  error: Pick<RefusalFields, "operation" | "status" | "detail" | "problems" | "title">,
  meaning: string,
  advice = ""
): string => {
  const said = saidIn(error)
  const reason = said.length === 0 ? "" : `: ${said.join("; ").replace(/\.$/, "")}`
  return `${error.operation}: ${meaning} (${error.status})${reason}.${advice === "" ? "" : ` ${advice}`}`
}

/**
 * Mistakes of the program are TypeErrors by the spec. A class can have one base only, so the shared part of the
 * prototype chain is copied once onto TypeError.prototype and put under these four.
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
