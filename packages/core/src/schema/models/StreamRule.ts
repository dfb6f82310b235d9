import * as Schema from "effect/Schema"

/** A rule of the filtered stream: a query that selects posts, and a label. */
export const StreamRule = /*#__PURE__*/ Schema.Struct({
  id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  value: Schema.String,
  tag: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})
/** A rule of the filtered stream. After a dry run it may have no `id`. */
export interface StreamRule extends Schema.Schema.Type<typeof StreamRule> {}

/** A number of rules; the service writes some as text: `Number(count)` reads both. */
const count = /*#__PURE__*/ Schema.Union([Schema.Int, Schema.String])

const ofApp = /*#__PURE__*/ Schema.Struct({
  client_app_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  rule_count: Schema.Int
})

/** The number of rules and its limits. */
export const StreamRuleCounts = /*#__PURE__*/ Schema.Struct({
  /** The rules of each app of the project. */
  all_project_client_apps: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(ofApp)),
  /** The maximum number of rules of an app. */
  cap_per_client_app: count,
  /** The maximum number of rules of all apps of the project together. */
  cap_per_project: count,
  /** The rules of the app. */
  client_app_rules_count: ofApp,
  /** The rules of all apps of the project. */
  project_rules_count: count
})
/** The number of rules and its limits. */
export interface StreamRuleCounts extends Schema.Schema.Type<typeof StreamRuleCounts> {}
