import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** The service sends these numbers as text, its documentation as numbers: `Number(count)` reads both. */
const count = /*#__PURE__*/ Schema.Union([Schema.Int, Schema.String])

const days = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({
  /** The beginning of a day (UTC). */
  date: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  usage: /*#__PURE__*/ Schema.optionalKey(count)
})))

/** The number of posts that a project has read. */
export const Usage = /*#__PURE__*/ Model.make({
  kind: "usage",
  identifier: "project_id",
  includes: undefined,
  defaults: ["cap_reset_day", "project_cap", "project_id", "project_usage"],
  fields: {
    cap_reset_day: Schema.optionalKey(Schema.Int),
    daily_client_app_usage: Schema.optionalKey(Schema.Array(Schema.Struct({
      client_app_id: Schema.optionalKey(Schema.String),
      usage: days,
      usage_result_count: Schema.optionalKey(Schema.Int)
    }))),
    daily_project_usage: Schema.optionalKey(Schema.Struct({
      project_id: Schema.optionalKey(count),
      usage: days
    })),
    project_cap: Schema.optionalKey(count),
    project_id: Schema.optionalKey(Schema.String),
    project_usage: Schema.optionalKey(count)
  }
})
/** The number of posts that a project has read, with every field selected. */
export interface Usage extends Model.Type<typeof Usage> {}
