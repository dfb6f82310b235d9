import * as Schema from "effect/Schema"

/** A rule of the filtered stream: what posts it lets through, and what their receiver calls it. */
export const StreamRule = /*#__PURE__*/ Schema.Struct({
  id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  value: Schema.String,
  tag: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})
/** A rule of the filtered stream. A rule that was only tried may have no `id`. */
export interface StreamRule extends Schema.Schema.Type<typeof StreamRule> {}

/** A number of rules; the service writes some as text: `Number(count)` reads both. */
const count = /*#__PURE__*/ Schema.Union([Schema.Int, Schema.String])

const ofApp = /*#__PURE__*/ Schema.Struct({
  client_app_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  rule_count: Schema.Int
})

/** How many rules there are and may be. */
export const StreamRuleCounts = /*#__PURE__*/ Schema.Struct({
  /** The rules of each app of the project. */
  all_project_client_apps: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(ofApp)),
  /** The most rules that an app may have. */
  cap_per_client_app: count,
  /** The most rules that the apps of the project may have together. */
  cap_per_project: count,
  /** The rules of the app. */
  client_app_rules_count: ofApp,
  /** The rules of all apps of the project. */
  project_rules_count: count
})
/** How many rules there are and may be. */
export interface StreamRuleCounts extends Schema.Schema.Type<typeof StreamRuleCounts> {}
