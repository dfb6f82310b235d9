/** Usage. */
import { Usage } from "../schema/models/Usage.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Returns the number of posts that the app's project has read, in the current month and by day. Credential: the app's bearer
 * token. `days` is 1 to 90 (default 7). It counts posts, not money.
 *
 * ```ts
 * const usage = yield* getUsage({ days: 30, usage_fields: ["daily_project_usage"] })
 * ```
 */
export const getUsage = /*#__PURE__*/ app({
  name: "getUsage",
  summary: "Returns the number of posts that the project has read.",
  route: "GET /2/usage/posts",
  query: { days: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 90, default: 7 }), ...Selectors.usage },
  result: /*#__PURE__*/ Response.one(Usage),
  limits: { app: { perWindow: 50 } },
  effect: "read"
})
