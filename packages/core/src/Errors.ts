/**
 * Everything that can go wrong, one tagged class per fact. An operation's error type holds exactly those it can produce.
 *
 * `MissingAccessToken`, `ConflictingIdentifiers`, `InvalidParameters` and `InvalidSettings` are mistakes of the program
 * and also instances of `TypeError`. No error ever holds a credential: where a service quotes one, or a parameter is one,
 * it says `<redacted>`.
 */
import { identity } from "effect/Function"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** The two kinds of authorization that a request can carry. */
export const CredentialKind = /*#__PURE__*/ Schema.Literals(["bearer", "oauth1"])

/** `bearer`: an OAuth 2.0 token. `oauth1`: an OAuth 1.0a signature for a user. */
export type CredentialKind = typeof CredentialKind.Type

/**
 * One problem as the service describes it (a member of `errors`, or the document itself). All members may be missing;
 * others, such as `parameters`, `reason` or `period`, are kept.
 */
export const Problem = /*#__PURE__*/ Schema.StructWithRest(
  /*#__PURE__*/ Schema.Struct({
    type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    title: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    detail: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    status: /*#__PURE__*/ Schema.optionalKey(Schema.Finite),
    message: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    parameter: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    value: /*#__PURE__*/ Schema.optionalKey(Schema.Any),
    resource_type: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    resource_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    section: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    field: /*#__PURE__*/ Schema.optionalKey(Schema.String)
  }),
  [/*#__PURE__*/ Schema.Record(Schema.String, Schema.Any)]
)

/** One problem as the service describes it. */
export interface Problem extends Schema.Struct.Type<typeof Problem.schema.fields> {
  readonly [member: string]: unknown
}

/** The budget that the service announced for one operation and credential. */
export const Budget = /*#__PURE__*/ Schema.Struct({
  /** Requests allowed per window. */
  limit: Schema.Finite,
  /** Requests left in this window. */
  remaining: Schema.Finite,
  /** When the window ends, by the service's clock. */
  resetAt: Schema.Date
})

/** The budget that the service announced for one operation and credential. */
export interface Budget extends Schema.Struct.Type<typeof Budget.fields> {}

/** The credential that the chosen `user_auth` needs is absent or empty. Raised before any traffic. */
export class MissingAccessToken extends Schema.TaggedError<MissingAccessToken>()("MissingAccessToken", {
  operation: Schema.String,
  credential: CredentialKind,
  /** The settings that are missing, such as `accessToken`. */
  missing: Schema.Array(Schema.String)
}) {
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
export class ConflictingIdentifiers extends Schema.TaggedError<ConflictingIdentifiers>()("ConflictingIdentifiers", {
  operation: Schema.String,
  parameters: Schema.Array(Schema.String),
  /** Those of them that were given. */
  given: Schema.Array(Schema.String),
  rule: Schema.String
}) {
  override get message(): string {
    const given = this.given.length === 0 ? "neither was given" : `${this.given.join(" and ")} were given`
    return `${this.operation} takes ${this.rule}, but ${given}.`
  }
}

/** A parameter breaks a rule of the operation. Raised before any traffic. */
export class InvalidParameters extends Schema.TaggedError<InvalidParameters>()("InvalidParameters", {
  operation: Schema.String,
  parameter: Schema.String,
  rule: Schema.String,
  /** The value in short, as text; left out when none was given. */
  value: Schema.optional(Schema.String)
}) {
  override get message(): string {
    const parameter = /^\w+$/.test(this.parameter) ? this.parameter : show(this.parameter)
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
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  setting: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return `${this.setting} ${this.rule}.`
  }
}

const refusal = {
  operation: Schema.String,
  status: Schema.Int,
  /** The kind of authorization that the refused request carried. */
  credential: CredentialKind,
  /** The kinds that the operation takes. */
  accepts: /*#__PURE__*/ Schema.Array(CredentialKind),
  /** Type, title and detail of the problem document, where there is one. */
  type: /*#__PURE__*/ Schema.optional(Schema.String),
  title: /*#__PURE__*/ Schema.optional(Schema.String),
  detail: /*#__PURE__*/ Schema.optional(Schema.String),
  /** The single problems, each with the parameter at fault where there is one. */
  problems: /*#__PURE__*/ Schema.Array(Problem),
  /** The service's id of the request, for its support. */
  requestId: /*#__PURE__*/ Schema.optional(Schema.String),
  rateLimit: /*#__PURE__*/ Schema.optional(Budget),
  /** The first 2,000 characters of a body that is no problem document. */
  excerpt: /*#__PURE__*/ Schema.optional(Schema.String)
}

/** 400: the service found a parameter wrong; `problems` says which. */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", refusal) {
  override get message(): string {
    return refused(this, "The service refused a parameter")
  }
}

/** 401: the service does not accept the credential. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", refusal) {
  override get message(): string {
    return refused(
      this,
      `The service does not accept the ${credentialName[this.credential]}`,
      `Check it; the operation takes ${accepted(this.accepts)}.`
    )
  }
}

/** 403: the credential is valid but may not do this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  ...refusal,
  /** Whether the operation only reads. */
  isRead: Schema.optional(Schema.Boolean)
}) {
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
        : "If the app was given write permission after the credential was made, generate a new credential and use that."
    )
  }
}

/** 404: there is no such thing. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", refusal) {
  override get message(): string {
    return refused(this, "The service knows no such thing")
  }
}

/** 429: the budget of this operation and credential is spent. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...refusal,
  /** When the window ends, where the service said so. */
  resetAt: Schema.optional(Schema.Date),
  /** Milliseconds to wait, where the service said so. */
  retryAfter: Schema.optional(Schema.Finite),
  /** Operation and kind of credential whose budget is spent. */
  bucket: Schema.String,
  /** Whether the client waits for rate limits. It does not wait for a usage cap, nor for a service that goes on refusing. */
  waits: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    const until = this.resetAt === undefined ? "" : ` until ${this.resetAt.toISOString()}`
    const advice = this.waits === true
      ? "Waiting is not enough: this is a usage cap, or the service goes on refusing."
      : "Set waitOnRateLimit to wait for it."
    return refused(this, `The budget of ${this.bucket} is spent${until}`, advice)
  }
}

/** 5xx: the service failed. */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", refusal) {
  override get message(): string {
    return refused(this, "The service failed")
  }
}

/** A status that the interface does not know. A redirect is one, unless a read can follow it within the origin. */
export class UnexpectedStatus extends Schema.TaggedError<UnexpectedStatus>()("UnexpectedStatus", refusal) {
  override get message(): string {
    return refused(this, "The service answered in a way that the interface does not know")
  }
}

/** The answer did not come: connection, TLS, timeout, or a body that broke off. */
export class TransportFailure extends Schema.TaggedError<TransportFailure>()("TransportFailure", {
  operation: Schema.String,
  /** How far the exchange got, where the transport tells. */
  phase: Schema.Literals(["connect", "tls", "send", "headers", "body", "unknown"]),
  /** The limit that was reached, when it was one. */
  timeout: Schema.optional(Schema.Literals(["connect", "firstByte", "idle", "total"])),
  reason: Schema.String,
  cause: Schema.optional(Schema.Defect())
}) {
  override get message(): string {
    return `${this.operation}: no answer (${this.phase}): ${this.reason}`
  }
}

/** The answer is not JSON, or not of the form that the interface has. */
export class UndecodableResponse extends Schema.TaggedError<UndecodableResponse>()("UndecodableResponse", {
  operation: Schema.String,
  status: Schema.Int,
  reason: Schema.String,
  requestId: Schema.optional(Schema.String),
  /** The first 2,000 characters of the body. */
  excerpt: Schema.String
}) {
  override get message(): string {
    return `${this.operation}: cannot read the answer (${this.status}): ${this.reason}`
  }
}

/** A create whose request left and whose answer did not come: it may have happened, and is never sent again. */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  operation: Schema.String,
  reason: Schema.String,
  /** The operation that shows whether it happened. */
  confirmWith: Schema.optional(Schema.String),
  cause: Schema.optional(Schema.Defect())
}) {
  override get message(): string {
    const look = this.confirmWith === undefined ? "look" : `look with ${this.confirmWith}`
    return `${this.operation}: the request left but no answer came (${this.reason}). It may have happened: ${look} ` +
      "before sending it again."
  }
}

/** The service returned a page token that it had returned before; going on would never end. */
export class PaginationStuck extends Schema.TaggedError<PaginationStuck>()("PaginationStuck", {
  operation: Schema.String,
  token: Schema.String
}) {
  override get message(): string {
    return `${this.operation}: the service repeats the page token ${this.token}.`
  }
}

/** Waiting for the budget would take longer than `maxWait` allows. */
export class RateLimitWaitTooLong extends Schema.TaggedError<RateLimitWaitTooLong>()("RateLimitWaitTooLong", {
  operation: Schema.String,
  bucket: Schema.String,
  resetAt: Schema.Date,
  /** The allowed wait in milliseconds. */
  maxWait: Schema.Finite
}) {
  override get message(): string {
    return `${this.operation}: the budget of ${this.bucket} is spent until ${this.resetAt.toISOString()}, longer than ` +
      `maxWait (${this.maxWait} ms) allows.`
  }
}

/** What a status other than success becomes. */
export type Refusal =
  | BadRequest
  | Unauthorized
  | Forbidden
  | NotFound
  | RateLimited
  | ServerFailure
  | UnexpectedStatus

/** What every operation can fail with. */
export type OperationError =
  | MissingAccessToken
  | InvalidParameters
  | Refusal
  | TransportFailure
  | UndecodableResponse
  | RateLimitWaitTooLong

/** Every error of an operation or of its pages. */
export type AnyError = OperationError | ConflictingIdentifiers | OutcomeUnknown | PaginationStuck

/** Every error class, for carrying errors across threads and for `isPostwireError`. */
export const AnyError = /*#__PURE__*/ Schema.Union([
  MissingAccessToken,
  ConflictingIdentifiers,
  InvalidParameters,
  BadRequest,
  Unauthorized,
  Forbidden,
  NotFound,
  RateLimited,
  ServerFailure,
  UnexpectedStatus,
  TransportFailure,
  UndecodableResponse,
  OutcomeUnknown,
  PaginationStuck,
  RateLimitWaitTooLong
])

/** The environment variable that holds a setting: `accessToken` is `POSTWIRE_ACCESS_TOKEN`. */
export const environmentVariable = (setting: string): string =>
  `POSTWIRE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** A value in short, as an error may show it: quoted, escaped, at most 60 characters, without what `redact` takes out. */
export const show = (value: unknown, redact: (text: string) => string = identity): string => {
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "function") return "a function"
  if (typeof value === "symbol") return "a symbol"
  if (typeof value === "number" || value === undefined) return String(value)
  let text: string | undefined
  try {
    text = JSON.stringify(value, (_, member) => typeof member === "bigint" ? `${member}n` : member)
  } catch {
    text = undefined
  }
  if (text === undefined) return "a value that cannot be shown"
  // Before it is cut: of half a secret nobody knows that it is one.
  text = redact(text)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

const credentialName = { bearer: "bearer token", oauth1: "OAuth 1.0a credential" } as const

const accepted = (kinds: ReadonlyArray<CredentialKind>): string =>
  kinds.length === 1
    ? `a ${credentialName.bearer} only`
    : "OAuth 1.0a (user_auth: true) and a bearer token (user_auth: false)"

const refused = (
  error: {
    readonly operation: string
    readonly status: number
    readonly detail?: string | undefined
    readonly title?: string | undefined
    readonly problems: ReadonlyArray<Problem>
  },
  meaning: string,
  advice = ""
): string => {
  const single = error.problems
    .map(({ detail, message, title }) => message ?? detail ?? title)
    .filter(Predicate.isNotUndefined)
  const said = [...new Set(single.length > 0 ? single : [error.detail ?? error.title].filter(Predicate.isNotUndefined))]
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

type Inspect = (value: unknown, options: object) => string

// Effect shows errors as plain objects; people who print one expect the message and the stack first.
const inspectAsError = function(this: object, _depth: number, options: object, inspect: Inspect): string {
  return inspect(this, { ...options, customInspect: false })
}

for (const errorClass of [...AnyError.members, InvalidSettings]) {
  Object.defineProperty(errorClass.prototype, NodeInspectSymbol, { value: inspectAsError })
}
