/** The texts of the errors page that come from the classes: when each is raised, its message and its members. */
import * as Errors from "../../packages/core/src/errors/Errors.ts"
import type { Encodable } from "../../packages/sync/src/internal/errorCodec.ts"
import { exportedErrors } from "./ExportedErrors.ts"
import { type Member, membersAfter, membersOf, membersTable } from "./Members.ts"
import * as PackageErrors from "./PackageErrors.ts"
import {
  conditional,
  errorDocstrings,
  errorModules,
  isConditional,
  ofCompliance,
  ofPublishing,
  ofRules,
  ofSignIns,
  ofStreams,
  ofWebhooks
} from "./Reference.ts"
import { documented, notice, text } from "./Source.ts"

const errorsOfCalls = "packages/core/src/errors/Errors.ts"

const resetAt = new Date(Date.UTC(2026, 10, 20, 12, 15))

const refusal = { credential: "bearer", accepts: ["bearer", "oauth1"], problems: [], requestId: "9f2c" } as const

/** One of each, as programs meet it. */
const samples: { readonly [T in Encodable["_tag"]]: Error & { readonly _tag: T } } = {
  MissingAccessToken: new Errors.MissingAccessToken({
    operation: "createPost",
    credential: "oauth1",
    missing: ["accessToken", "accessTokenSecret"]
  }),
  MissingScope: new Errors.MissingScope({
    operation: "getBookmarks",
    account: "ada",
    missing: ["bookmark.read"],
    granted: ["post.read", "users.read", "offline.access"]
  }),
  LoginRequired: new Errors.LoginRequired({
    account: "ada",
    reason: "refused",
    detail: "Value passed for the token was invalid."
  }),
  StorageFailure: new Errors.StorageFailure({
    kind: "token store",
    place: "~/.config/postwire/accounts/ada.json",
    fault: "full",
    action: "write",
    detail: "ENOSPC"
  }),
  AuthorizationDenied: new Errors.AuthorizationDenied({ error: "access_denied" }),
  InvalidRedirect: new Errors.InvalidRedirect({ fault: "other" }),
  ConflictingIdentifiers: new Errors.ConflictingIdentifiers({
    operation: "getUser",
    parameters: ["id", "username"],
    given: ["id", "username"],
    rule: "either id or username"
  }),
  InvalidParameters: new Errors.InvalidParameters({
    operation: "searchRecentPosts",
    parameter: "max_results",
    rule: "must be a whole number from 10 to 100",
    value: "500"
  }),
  InvalidSettings: new Errors.InvalidSettings({ setting: "retires", rule: "is not a setting (did you mean retries?)" }),
  BadRequest: new Errors.BadRequest({
    ...refusal,
    operation: "searchRecentPosts",
    status: 400,
    problems: [{ message: "no viable alternative at input 'from:'" }]
  }),
  Unauthorized: new Errors.Unauthorized({ ...refusal, operation: "getMe", status: 401, title: "Unauthorized" }),
  PaymentRequired: new Errors.PaymentRequired({
    ...refusal,
    operation: "searchRecentPosts",
    status: 403,
    reason: "spend cap",
    resetAt: new Date(Date.UTC(2026, 11, 1)),
    title: "SpendCapReached",
    detail: "Your enrolled account [2244994945] has reached its billing cycle spend cap."
  }),
  Forbidden: new Errors.Forbidden({
    ...refusal,
    operation: "createPost",
    status: 403,
    credential: "oauth1",
    detail: "Your client app is not configured with the appropriate permissions"
  }),
  NotFound: new Errors.NotFound({ ...refusal, operation: "getPost", status: 404 }),
  RateLimited: new Errors.RateLimited({
    ...refusal,
    operation: "searchRecentPosts",
    status: 429,
    bucket: "searchRecentPosts (bearer)",
    title: "Too Many Requests",
    resetAt
  }),
  ServerFailure: new Errors.ServerFailure({
    ...refusal,
    operation: "getUser",
    status: 503,
    title: "Service Unavailable"
  }),
  UnexpectedStatus: new Errors.UnexpectedStatus({ ...refusal, operation: "getUser", status: 302 }),
  TransportFailure: new Errors.TransportFailure({
    operation: "getUser",
    phase: "connect",
    timeout: "connect",
    reason: "there was no connection within 10000 ms"
  }),
  UndecodableResponse: new Errors.UndecodableResponse({
    operation: "getUser",
    status: 200,
    reason: "it is not JSON",
    excerpt: "<!doctype html>"
  }),
  OutcomeUnknown: new Errors.OutcomeUnknown({
    operation: "createPost",
    reason: "the connection was reset",
    confirmWith: "getUsersPosts"
  }),
  MediaProcessingFailed: new Errors.MediaProcessingFailed({
    mediaId: "1880028106020515840",
    reason: "InvalidMedia",
    detail: "file is invalid",
    code: 1
  }),
  MediaNotReady: new Errors.MediaNotReady({ mediaId: "1880028106020515840", waited: 600_000 }),
  UploadExpired: new Errors.UploadExpired({ mediaId: "1880028106020515840" }),
  SourceFailure: new Errors.SourceFailure({ source: "harbour.mp4", fault: "changed" }),
  ThreadUndecided: new Errors.ThreadUndecided({
    key: "launch",
    part: 2,
    parts: 3,
    reason: "lagging",
    sentAt: resetAt,
    authorId: "2244994945",
    inReplyTo: "1880028106020515840",
    text: "What is new",
    looks: 4
  }),
  ThreadBroken: new Errors.ThreadBroken({ key: "launch", part: 1, parts: 3, id: "1880028106020515840" }),
  ArticleUndecided: new Errors.ArticleUndecided({
    key: "lighthouses",
    title: "On lighthouses",
    step: "draft",
    sentAt: resetAt,
    authorId: "2244994945",
    detail: "socket closed"
  }),
  ComplianceExpired: new Errors.ComplianceExpired({ jobId: "1372966999991541762", what: "upload" }),
  ComplianceNotComplete: new Errors.ComplianceNotComplete({
    jobId: "1372966999991541762",
    status: "in_progress",
    waited: 600_000
  }),
  ComplianceFailed: new Errors.ComplianceFailed({ jobId: "1372966999991541762" }),
  ComplianceRefused: new Errors.ComplianceRefused({ jobId: "1372966999991541762", what: "upload", status: 403 }),
  ComplianceUnreadable: new Errors.ComplianceUnreadable({
    jobId: "1372966999991541762",
    line: 42,
    reason: "it was cut"
  }),
  NoRules: new Errors.NoRules({ operation: "streamPosts" }),
  TooManyConnections: new Errors.TooManyConnections({
    operation: "streamPosts",
    connections: [{ id: "1789", endpoint: "filtered_stream", since: resetAt, clientIp: "192.0.2.7" }]
  }),
  StreamOverflow: new Errors.StreamOverflow({ operation: "streamPosts", bufferSize: 10_000 }),
  SpillFailed: new Errors.SpillFailed({ place: "./waiting", fault: "full", detail: "ENOSPC" }),
  InvalidRules: new Errors.InvalidRules({
    operation: "syncRules",
    rules: [{
      index: 0,
      value: "cat form:ada",
      tag: "cats",
      detail: "form: is not an operator (did you mean from:?)",
      position: 4,
      end: 9
    }]
  }),
  RuleCapReached: new Errors.RuleCapReached({ operation: "syncRules", rules: 1_002, cap: 1_000 }),
  WebhookRefused: new Errors.WebhookRefused({
    operation: "keepWebhook",
    url: "https://example.com/hook",
    reason: "CrcValidationFailed",
    detail: "CrcValidationFailed: the address answered 404"
  }),
  SubscriptionsRefused: new Errors.SubscriptionsRefused({
    operation: "keepWebhook",
    subscriptions: [{
      index: 1,
      event_type: "dm.received",
      user_id: "2244994945",
      detail: "Events of dm.received are private",
      scope: "dm.read"
    }]
  }),
  PaginationStuck: new Errors.PaginationStuck({ operation: "searchRecentPosts", token: "b26v89c19zqg8o3f" }),
  RateLimitWaitTooLong: new Errors.RateLimitWaitTooLong({
    operation: "searchRecentPosts",
    bucket: "searchRecentPosts (bearer)",
    resetAt,
    maxWait: 60_000
  }),
  SpendLimitReached: new Errors.SpendLimitReached({
    operation: "searchRecentPosts",
    period: "day",
    spent: 9.87,
    limit: 10,
    needed: 0.5,
    resetAt: new Date(Date.UTC(2026, 10, 21))
  })
}

/** The tags of all errors. */
export const tags: ReadonlyArray<string> = Object.keys(samples)

const whose = (tag: string): string => {
  if (tag === "InvalidSettings") return "Thrown by `createClient`."
  if (ofSignIns.includes(tag)) return "Raised while a user signs in."
  if (ofPublishing.includes(tag)) {
    return tag.startsWith("Thread")
      ? "Threads can fail with it."
      : tag.startsWith("Article")
      ? "`createArticle` can fail with it."
      : "`upload`, `publish`, `publishThread` and `createArticle` can fail with it."
  }
  if (ofCompliance.includes(tag)) return "The functions of `Compliance` can fail with it."
  if (ofWebhooks.includes(tag)) return "`keepWebhook` can fail with it."
  if (ofRules.includes(tag)) return "`planRules` and `syncRules` can fail with it."
  if (ofStreams.includes(tag)) return "Streams can fail with it."
  if (tag === "PaginationStuck") return "`.pages`, `.items` and `.joined` can fail with it."
  if (!isConditional(tag)) return "Every operation can fail with it."
  const definitions = documented.map(({ definition }) => definition)
  return `These operations can fail with it: ${
    definitions.filter(conditional[tag]).map(({ name }) => `[\`${name}\`](reference/${name}.md)`).join(", ")
  }.`
}

const members = (tag: string): ReadonlyArray<Member> => {
  const place = RegExp(`class ${tag} extends Data\\.TaggedError\\("${tag}"\\)<\\s*(?:RefusalFields & )?\\{`)
  const file = errorModules.find((file) => place.test(text(file)))
  // Some have no members but those of every refusal.
  return file === undefined ? [] : membersAfter(file, place)
}

/** The generated block of one error. */
export const section = (tag: string): string => {
  const sample = samples[tag as keyof typeof samples]
  if (sample === undefined) throw new Error(`There is no error ${tag}`)
  const own = members(tag)
  const isRefusal = "problems" in sample
  return [
    `${errorDocstrings.get(tag)!.replace(/\s+/g, " ")} ${whose(tag)}${
      sample instanceof TypeError ? " It is also a `TypeError`." : ""
    }`,
    `\`\`\`text\n${sample.message}\n\`\`\``,
    own.length === 0 ? "" : membersTable(own),
    isRefusal ? "It also has [the members of HTTP errors](#members-of-http-errors)." : ""
  ].filter((part) => part !== "").join("\n\n")
}

/** A page for each error that a package exports, by its file in `docs/errors`. The guide and the docstrings stay the sources. */
export const pages = (): Readonly<Record<string, string>> => {
  const sections = text("docs/errors.md").split(/^## /m)
  return Object.fromEntries(
    exportedErrors().map((error) => {
      const { tag } = error
      const section = sections.find((section) => section.startsWith(`${tag}\n`))
      if (tags.includes(tag) && section === undefined) throw new Error(`docs/errors.md does not describe ${tag}`)
      const own = section === undefined ? `${tag}\n\n${PackageErrors.page(error).join("\n\n")}` : ofGuide(section)
      const others = "[All errors](../errors.md), by status and by what happened."
      return [`${tag}.md`, `<!-- ${notice} -->\n\n# ${own}\n\n${PackageErrors.imports(error)}\n\n${others}\n`]
    })
  )
}

const ofGuide = (section: string): string =>
  section.replaceAll(/^<!-- (?:generated: .*|end) -->\n\n?/gm, "").trimEnd()
    .replaceAll("](#", "](../errors.md#")
    .replaceAll(/\]\((?!\w+:|\.\.\/errors\.md#)/g, "](../")

/** The errors that have pages alone. */
export const others = (): string => PackageErrors.list(PackageErrors.errorsBeside(tags))

/** The members that all refusals have. */
export const refusalFields = (): string => membersTable(membersAfter(errorsOfCalls, /interface RefusalFields \{/))

/** The members of a rate limit. */
export const rateLimitFields = (): string =>
  membersTable(membersOf("packages/core/src/schema/RateLimitHeaders.ts", "RateLimitInfo"))
