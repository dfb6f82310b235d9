/** An error of every class, and of every kind of message. */
import type * as ErrorCodec from "../../../sync/src/internal/errorCodec.ts"
import * as Errors from "../../src/errors/Errors.ts"

export const refusal = {
  operation: "getPost",
  status: 400,
  credential: "bearer" as const,
  accepts: ["oauth1", "bearer"] as const,
  type: "about:blank",
  title: "t",
  detail: "d",
  problems: [{ title: "t", detail: "d", parameters: { id: ["x"] } }],
  requestId: "r",
  rateLimit: { limit: 1, remaining: 0, resetAt: new Date(0) }
}

export const publishing = [
  new Errors.MediaProcessingFailed({ mediaId: "1", reason: "InvalidMedia", detail: "file is invalid", code: 1 }),
  new Errors.MediaNotReady({ mediaId: "1", waited: 600_000 }),
  new Errors.UploadExpired({ mediaId: "1" }),
  new Errors.SourceFailure({ source: "a.mp4", fault: "changed", detail: "d" }),
  new Errors.ThreadUndecided({
    key: "k",
    part: 1,
    parts: 2,
    reason: "lagging",
    sentAt: new Date(0),
    authorId: "2",
    inReplyTo: "3",
    text: "t",
    looks: 1,
    detail: "d"
  }),
  new Errors.ArticleUndecided({
    key: "k",
    title: "Tea",
    step: "publication",
    article_id: "1",
    sentAt: new Date(0),
    authorId: "2",
    detail: "closed"
  }),
  new Errors.ThreadBroken({ key: "k", part: 1, parts: 2, id: "3" })
]

export const compliance = [
  new Errors.ComplianceExpired({ jobId: "1", what: "job" }),
  new Errors.ComplianceNotComplete({ jobId: "1", status: "in_progress", waited: 600_000 }),
  new Errors.ComplianceFailed({ jobId: "1" }),
  new Errors.ComplianceRefused({ jobId: "1", what: "download", status: 404, excerpt: "<Error>" }),
  new Errors.ComplianceUnreadable({ jobId: "1", line: 2, reason: "it was cut" })
]

export const streams = [
  new Errors.NoRules({ operation: "streamPosts", detail: "none" }),
  new Errors.TooManyConnections({
    operation: "streamPosts",
    connections: [{ id: "1", endpoint: "filtered_stream", since: new Date(0), clientIp: "127.0.0.1" }],
    detail: "d"
  }),
  new Errors.StreamOverflow({ operation: "streamPosts", bufferSize: 10 }),
  new Errors.SpillFailed({ place: "/tmp", fault: "full", detail: "ENOSPC" })
]

export const rules = [
  new Errors.InvalidRules({
    operation: "syncRules",
    rules: [{
      index: 0,
      value: "form:ada",
      tag: "a",
      detail: "form: is not an operator (did you mean from:?)",
      position: 0,
      end: 5
    }]
  }),
  new Errors.RuleCapReached({ operation: "syncRules", rules: 1_001, cap: 1_000 })
]

export const webhooks = [
  new Errors.WebhookRefused({
    operation: "keepWebhook",
    url: "https://example.com/hook",
    reason: "CrcValidationFailed",
    detail: "CrcValidationFailed: 404"
  }),
  new Errors.SubscriptionsRefused({
    operation: "keepWebhook",
    subscriptions: [
      { index: 0, event_type: "dm.received", user_id: "1", detail: "private", scope: "dm.read" },
      { index: 2, event_type: "news.new", detail: "not permitted" }
    ]
  })
]

export const samples: ReadonlyArray<ErrorCodec.Encodable> = [
  new Errors.MissingAccessToken({ operation: "like", credential: "oauth1", missing: ["accessToken", "consumerKey"] }),
  new Errors.MissingScope({
    operation: "getBookmarks",
    account: "ada",
    missing: ["bookmark.read"],
    granted: ["post.read"]
  }),
  new Errors.LoginRequired({ account: "ada", reason: "refused", detail: "d" }),
  new Errors.StorageFailure({ kind: "token store", place: "/a", fault: "full", action: "write", detail: "ENOSPC" }),
  new Errors.ConflictingIdentifiers({ operation: "getUser", parameters: ["id", "username"], given: [], rule: "one" }),
  new Errors.InvalidParameters({ operation: "getPost", parameter: "id", rule: "must be", value: "1" }),
  new Errors.InvalidSettings({ setting: "baseUrl", rule: "is missing" }),
  new Errors.AuthorizationDenied({ error: "access_denied", detail: "d" }),
  new Errors.InvalidRedirect({ fault: "other" }),
  new Errors.BadRequest(refusal),
  new Errors.Unauthorized(refusal),
  new Errors.PaymentRequired({ ...refusal, reason: "spend cap", resetAt: new Date(0) }),
  new Errors.Forbidden(refusal),
  new Errors.NotFound(refusal),
  new Errors.RateLimited({ ...refusal, bucket: "getPost", resetAt: new Date(0), retryAfter: 1 }),
  new Errors.ServerFailure({ ...refusal, excerpt: "<html>" }),
  new Errors.UnexpectedStatus(refusal),
  new Errors.TransportFailure({ operation: "getPost", phase: "connect", reason: "refused", cause: new Error("inner") }),
  new Errors.UndecodableResponse({ operation: "getPost", status: 200, reason: "not JSON", excerpt: "<html>" }),
  new Errors.OutcomeUnknown({ operation: "createPost", reason: "reset" }),
  new Errors.OutcomeUnknown({ operation: "createPost", status: 201, reason: "not JSON", excerpt: "<html>" }),
  new Errors.OutcomeUnknown({
    operation: "createPost",
    status: 201,
    reason: "the response was truncated",
    requestId: "r1",
    rateLimit: { limit: 1, remaining: 0, resetAt: new Date(0) }
  }),
  new Errors.PaginationStuck({ operation: "getUsersPosts", token: "t" }),
  new Errors.RateLimitWaitTooLong({ operation: "getPost", bucket: "getPost", resetAt: new Date(0), maxWait: 1 }),
  new Errors.SpendLimitReached({
    operation: "getPost",
    period: "day",
    spent: 9.5,
    limit: 10,
    needed: 1,
    resetAt: new Date(0)
  }),
  ...publishing,
  ...compliance,
  ...streams,
  ...rules,
  ...webhooks
]
