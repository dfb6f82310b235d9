/** Schemas of the errors, which carry them across threads. */
import * as Errors from "@postwire/core/errors/Errors"
import { Problem } from "@postwire/core/schema/models/Problem"
import { scopes } from "@postwire/core/schema/Scopes"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** The fields of failures of the token store and the journal. */
const ofStore = {
  fault: Schema.Literals(["locked", "unavailable", "forbidden", "exposed", "full", "damaged", "newer"]),
  action: Schema.Literals(["read", "write", "lock"]),
  detail: Schema.optional(Schema.String)
}

/** The Schema of an error class: instances are encoded as their fields. */
const schemaOf = <Fields extends { readonly _tag: string }, Encoded, E extends Fields>(
  errorClass: new(fields: Omit<Fields, "_tag">) => E,
  fields: Schema.Codec<Fields, Encoded>
) =>
  fields.pipe(
    Schema.decodeTo(
      Schema.instanceOf(errorClass),
      SchemaTransformation.transform({
        decode: ({ _tag: _, ...fields }) => new errorClass(fields),
        encode: (error): Fields => error
      })
    )
  )

const CredentialKind = Schema.Literals(["bearer", "oauth1", "app"])

const RateLimit = Schema.Struct({ limit: Schema.Finite, remaining: Schema.Finite, resetAt: Schema.Date })

const refusal = {
  operation: Schema.String,
  status: Schema.Int,
  credential: CredentialKind,
  accepts: Schema.Array(CredentialKind),
  type: Schema.optional(Schema.String),
  title: Schema.optional(Schema.String),
  detail: Schema.optional(Schema.String),
  problems: Schema.Array(Schema.StructWithRest(Problem, [Schema.Record(Schema.String, Schema.Any)])),
  requestId: Schema.optional(Schema.String),
  rateLimit: Schema.optional(RateLimit),
  excerpt: Schema.optional(Schema.String)
}

/** Every error of an operation or of its pages. */
export const AnyError = Schema.Union([
  schemaOf(
    Errors.MissingAccessToken,
    Schema.TaggedStruct("MissingAccessToken", {
      operation: Schema.String,
      credential: CredentialKind,
      missing: Schema.Array(Schema.String)
    })
  ),
  schemaOf(
    Errors.MissingScope,
    Schema.TaggedStruct("MissingScope", {
      operation: Schema.String,
      account: Schema.String,
      missing: Schema.Array(Schema.Literals(scopes)),
      granted: Schema.Array(Schema.Literals(scopes))
    })
  ),
  schemaOf(
    Errors.LoginRequired,
    Schema.TaggedStruct("LoginRequired", {
      account: Schema.String,
      reason: Schema.Literals(["absent", "refused", "lost", "not renewable"]),
      detail: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.TokenStoreFailure,
    Schema.TaggedStruct("TokenStoreFailure", {
      store: Schema.String,
      ...ofStore
    })
  ),
  schemaOf(
    Errors.ConflictingIdentifiers,
    Schema.TaggedStruct("ConflictingIdentifiers", {
      operation: Schema.String,
      parameters: Schema.Array(Schema.String),
      given: Schema.Array(Schema.String),
      rule: Schema.String
    })
  ),
  schemaOf(
    Errors.InvalidParameters,
    Schema.TaggedStruct("InvalidParameters", {
      operation: Schema.String,
      parameter: Schema.String,
      rule: Schema.String,
      value: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.BadRequest,
    Schema.TaggedStruct("BadRequest", { ...refusal, otherWire: Schema.optional(Schema.String) })
  ),
  schemaOf(Errors.Unauthorized, Schema.TaggedStruct("Unauthorized", refusal)),
  schemaOf(
    Errors.PaymentRequired,
    Schema.TaggedStruct("PaymentRequired", {
      ...refusal,
      reason: Schema.Literals(["credits", "spend cap"]),
      resetAt: Schema.optional(Schema.Date)
    })
  ),
  schemaOf(Errors.Forbidden, Schema.TaggedStruct("Forbidden", { ...refusal, isRead: Schema.optional(Schema.Boolean) })),
  schemaOf(Errors.NotFound, Schema.TaggedStruct("NotFound", refusal)),
  schemaOf(
    Errors.RateLimited,
    Schema.TaggedStruct("RateLimited", {
      ...refusal,
      resetAt: Schema.optional(Schema.Date),
      retryAfter: Schema.optional(Schema.Finite),
      bucket: Schema.String,
      waits: Schema.optional(Schema.Boolean)
    })
  ),
  schemaOf(Errors.ServerFailure, Schema.TaggedStruct("ServerFailure", refusal)),
  schemaOf(Errors.UnexpectedStatus, Schema.TaggedStruct("UnexpectedStatus", refusal)),
  schemaOf(
    Errors.TransportFailure,
    Schema.TaggedStruct("TransportFailure", {
      operation: Schema.String,
      phase: Schema.Literals(["connect", "tls", "send", "headers", "body", "unknown"]),
      timeout: Schema.optional(Schema.Literals(["connect", "firstByte", "idle", "total"])),
      reason: Schema.String,
      cause: Schema.optional(Schema.Defect())
    })
  ),
  schemaOf(
    Errors.UndecodableResponse,
    Schema.TaggedStruct("UndecodableResponse", {
      operation: Schema.String,
      status: Schema.Int,
      reason: Schema.String,
      requestId: Schema.optional(Schema.String),
      excerpt: Schema.String
    })
  ),
  schemaOf(
    Errors.OutcomeUnknown,
    Schema.TaggedStruct("OutcomeUnknown", {
      operation: Schema.String,
      status: Schema.optional(Schema.Int),
      reason: Schema.String,
      confirmWith: Schema.optional(Schema.String),
      requestId: Schema.optional(Schema.String),
      rateLimit: Schema.optional(RateLimit),
      excerpt: Schema.optional(Schema.String),
      cause: Schema.optional(Schema.Defect())
    })
  ),
  schemaOf(
    Errors.PaginationStuck,
    Schema.TaggedStruct("PaginationStuck", { operation: Schema.String, token: Schema.String })
  ),
  schemaOf(
    Errors.RateLimitWaitTooLong,
    Schema.TaggedStruct("RateLimitWaitTooLong", {
      operation: Schema.String,
      bucket: Schema.String,
      resetAt: Schema.Date,
      maxWait: Schema.Finite
    })
  ),
  schemaOf(
    Errors.SpendLimitReached,
    Schema.TaggedStruct("SpendLimitReached", {
      operation: Schema.String,
      period: Schema.Literals(["day", "month", "total"]),
      spent: Schema.Finite,
      limit: Schema.Finite,
      needed: Schema.Finite,
      resetAt: Schema.optional(Schema.Date),
      unavailable: Schema.optional(Schema.String)
    })
  )
])

/** The other errors of uploads and threads. */
export const PublishingError = /*#__PURE__*/ Schema.Union([
  schemaOf(
    Errors.MediaProcessingFailed,
    Schema.TaggedStruct("MediaProcessingFailed", {
      mediaId: Schema.String,
      reason: Schema.optional(Schema.String),
      detail: Schema.optional(Schema.String),
      code: Schema.optional(Schema.Finite)
    })
  ),
  schemaOf(
    Errors.MediaNotReady,
    Schema.TaggedStruct("MediaNotReady", { mediaId: Schema.String, waited: Schema.Finite })
  ),
  schemaOf(Errors.UploadExpired, Schema.TaggedStruct("UploadExpired", { mediaId: Schema.String })),
  schemaOf(
    Errors.SourceFailure,
    Schema.TaggedStruct("SourceFailure", {
      source: Schema.String,
      fault: Schema.Literals(["absent", "forbidden", "changed", "short", "long", "unreadable"]),
      detail: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.JournalFailure,
    Schema.TaggedStruct("JournalFailure", {
      journal: Schema.String,
      ...ofStore
    })
  ),
  schemaOf(
    Errors.ThreadUndecided,
    Schema.TaggedStruct("ThreadUndecided", {
      key: Schema.String,
      part: Schema.Int,
      parts: Schema.Int,
      reason: Schema.Literals(["unreadable", "lagging", "crowded", "unlisted", "hidden"]),
      sentAt: Schema.Date,
      authorId: Schema.String,
      inReplyTo: Schema.optional(Schema.String),
      text: Schema.String,
      looks: Schema.Int,
      detail: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.ThreadBroken,
    Schema.TaggedStruct("ThreadBroken", {
      key: Schema.String,
      part: Schema.Int,
      parts: Schema.Int,
      id: Schema.String
    })
  )
])

/** The other errors of uploads and threads. */
export type PublishingError = typeof PublishingError.Type

const what = /*#__PURE__*/ Schema.Literals(["upload", "download"])

/** The other errors of compliance checks. */
export const ComplianceError = /*#__PURE__*/ Schema.Union([
  schemaOf(
    Errors.ComplianceExpired,
    Schema.TaggedStruct("ComplianceExpired", {
      jobId: Schema.String,
      what: Schema.Literals(["upload", "download", "job"])
    })
  ),
  schemaOf(
    Errors.ComplianceNotComplete,
    Schema.TaggedStruct("ComplianceNotComplete", {
      jobId: Schema.String,
      status: Schema.String,
      waited: Schema.optional(Schema.Finite)
    })
  ),
  schemaOf(Errors.ComplianceFailed, Schema.TaggedStruct("ComplianceFailed", { jobId: Schema.String })),
  schemaOf(
    Errors.ComplianceRefused,
    Schema.TaggedStruct("ComplianceRefused", {
      jobId: Schema.String,
      what,
      status: Schema.Int,
      excerpt: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.ComplianceUnreadable,
    Schema.TaggedStruct("ComplianceUnreadable", {
      jobId: Schema.String,
      line: Schema.optional(Schema.Int),
      reason: Schema.String
    })
  )
])

/** The other errors of compliance checks. */
export type ComplianceError = typeof ComplianceError.Type

/** The other errors of streams. */
export const StreamError = /*#__PURE__*/ Schema.Union([
  schemaOf(
    Errors.NoRules,
    Schema.TaggedStruct("NoRules", { operation: Schema.String, detail: Schema.optional(Schema.String) })
  ),
  schemaOf(
    Errors.TooManyConnections,
    Schema.TaggedStruct("TooManyConnections", {
      operation: Schema.String,
      connections: Schema.Array(Schema.Struct({
        id: Schema.optional(Schema.String),
        endpoint: Schema.String,
        since: Schema.Date,
        clientIp: Schema.optional(Schema.String)
      })),
      detail: Schema.optional(Schema.String)
    })
  ),
  schemaOf(
    Errors.StreamOverflow,
    Schema.TaggedStruct("StreamOverflow", { operation: Schema.String, bufferSize: Schema.Finite })
  ),
  schemaOf(
    Errors.SpillFailed,
    Schema.TaggedStruct("SpillFailed", {
      place: Schema.String,
      fault: Schema.Literals(["forbidden", "full", "damaged", "unavailable"]),
      detail: Schema.optional(Schema.String)
    })
  )
])

/** The other errors of streams. */
export type StreamError = typeof StreamError.Type

/** The other errors of changing stream rules. */
export const RuleError = /*#__PURE__*/ Schema.Union([
  schemaOf(
    Errors.InvalidRules,
    Schema.TaggedStruct("InvalidRules", {
      operation: Schema.String,
      rules: Schema.Array(Schema.Struct({
        index: Schema.Int,
        value: Schema.String,
        tag: Schema.optional(Schema.String),
        detail: Schema.String,
        position: Schema.optional(Schema.Int),
        end: Schema.optional(Schema.Int)
      }))
    })
  ),
  schemaOf(
    Errors.RuleCapReached,
    Schema.TaggedStruct("RuleCapReached", {
      operation: Schema.String,
      rules: Schema.Int,
      cap: Schema.optional(Schema.Finite)
    })
  )
])

/** The other errors of changing stream rules. */
export type RuleError = typeof RuleError.Type
