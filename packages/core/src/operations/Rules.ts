/** Rules: which posts the filtered stream brings. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { StreamRule, StreamRuleCounts } from "../schema/models/StreamRule.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"

const rules = /*#__PURE__*/ Schema.Array(StreamRule)

/**
 * Lists the rules of the filtered stream, or those of them with these ids. Credential: the app's bearer token. `max_results` is
 * 1 to 1000 (default 1000).
 *
 * ```ts
 * const rules = getStreamRules.items()
 * ```
 */
export const getStreamRules = /*#__PURE__*/ Operation.makePaged({
  name: "getStreamRules",
  summary: "Lists the rules of the filtered stream.",
  route: "GET /2/posts/search/stream/rules",
  query: {
    ids: /*#__PURE__*/ Parameters.ids(1000),
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 1000, default: 1000 }),
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.value(rules),
  limits: { perWindow: 450 },
  paging: { token: "pagination_token", directions: "forward" },
  bearer: "app",
  scopes: [],
  price: "free",
  effect: "read"
})

/**
 * Adds rules to the filtered stream, or deletes some or all of them. Credential: the app's bearer token.
 *
 * Pass exactly one of `add`, `delete_all` and the rules to delete, as `delete_ids`, `delete_values` or both. With `dry_run`
 * nothing changes, and the response shows the outcome. Rules that are invalid, or exist already, are listed in `errors`; the
 * others are added all the same, and `meta.summary` counts them. A connected stream follows within some 20 seconds. A rule
 * cannot be changed: delete it and add the new one.
 *
 * ```ts
 * const added = yield* updateStreamRules({ add: [{ value: "cat has:images", tag: "cats with images" }] })
 * ```
 */
export const updateStreamRules = /*#__PURE__*/ app({
  name: "updateStreamRules",
  summary: "Adds or deletes rules of the filtered stream.",
  route: "POST /2/posts/search/stream/rules",
  query: { dry_run: Parameters.boolean, delete_all: Parameters.boolean },
  body: {
    add: Parameters.streamRules,
    delete_ids: /*#__PURE__*/ Parameters.idArray(),
    delete_values: /*#__PURE__*/ Parameters.textArray()
  },
  at: { delete_ids: "delete.ids", delete_values: "delete.values" },
  rules: [
    /*#__PURE__*/ ParameterRule.atLeastOne("add", "delete_ids", "delete_values", "delete_all"),
    /*#__PURE__*/ ParameterRule.excludes("delete_ids", "add"),
    /*#__PURE__*/ ParameterRule.excludes("delete_values", "add"),
    /*#__PURE__*/ ParameterRule.excludes("delete_all", "add"),
    /*#__PURE__*/ ParameterRule.excludes("delete_all", "delete_ids"),
    /*#__PURE__*/ ParameterRule.excludes("delete_all", "delete_values")
  ],
  result: /*#__PURE__*/ Response.value(rules),
  limits: { perWindow: 100 },
  effect: "toggle"
})

/**
 * Returns the numbers of rules of the app and its project, and their limits. Credential: the app's bearer token.
 *
 * ```ts
 * const counts = yield* getStreamRuleCounts()
 * ```
 */
export const getStreamRuleCounts = /*#__PURE__*/ app({
  name: "getStreamRuleCounts",
  summary: "Counts the rules of the filtered stream.",
  route: "GET /2/posts/search/stream/rules/counts",
  query: { rules_count_fields: /*#__PURE__*/ Parameters.text() },
  result: /*#__PURE__*/ Response.value(StreamRuleCounts),
  limits: {},
  effect: "read"
})
