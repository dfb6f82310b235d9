/** Compliance jobs: which of the posts or users that an app has stored are gone, hidden or changed since. */
import { ComplianceJob } from "../schema/models/ComplianceJob.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app, path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const type = /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.choice(["posts", "users"]))

/**
 * Creates a compliance job, which checks ids of posts or of users. Credential: an app's bearer token.
 *
 * Its ids are sent to `upload_url` until `upload_expires_at`, which is some 15 minutes away, and its results are fetched from
 * `download_url`: `Compliance.check` does all of it. An app has one unfinished job of a type at a time. `name` has 1 to 64
 * characters. A create is never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const job = yield* createComplianceJob({ type: "posts", name: "archive" })
 * ```
 */
export const createComplianceJob = /*#__PURE__*/ app({
  name: "createComplianceJob",
  summary: "Creates a compliance job, which checks ids of posts or of users.",
  route: "POST /2/compliance/jobs",
  query: Selectors.complianceJob,
  body: { type, name: /*#__PURE__*/ Parameters.text(64), resumable: Parameters.boolean },
  result: /*#__PURE__*/ Response.one(ComplianceJob),
  limits: { perWindow: 150 },
  effect: "create",
  status: 200,
  confirmWith: "getComplianceJobs"
})

/**
 * Looks a compliance job up. Credential: an app's bearer token.
 *
 * `status` is `created` until the service has its ids, then `in_progress`, and `complete`, `failed` or `expired` in the end.
 *
 * ```ts
 * const job = yield* getComplianceJob({ id: "1372966999991541762" })
 * ```
 */
export const getComplianceJob = /*#__PURE__*/ app({
  name: "getComplianceJob",
  summary: "Looks a compliance job up.",
  route: "GET /2/compliance/jobs/:id",
  path,
  query: Selectors.complianceJob,
  result: /*#__PURE__*/ Response.one(ComplianceJob),
  limits: { perWindow: 150 },
  effect: "read"
})

/**
 * Lists the compliance jobs of the app of a type, or those of them with a status. Credential: an app's bearer token.
 *
 * ```ts
 * const jobs = yield* getComplianceJobs({ type: "posts", status: "complete" })
 * ```
 */
export const getComplianceJobs = /*#__PURE__*/ app({
  name: "getComplianceJobs",
  summary: "Lists the compliance jobs of the app.",
  route: "GET /2/compliance/jobs",
  query: {
    type,
    status: /*#__PURE__*/ Parameters.choice(["created", "in_progress", "failed", "complete"]),
    ...Selectors.complianceJob
  },
  result: /*#__PURE__*/ Response.many(ComplianceJob),
  limits: { perWindow: 150 },
  effect: "read"
})
