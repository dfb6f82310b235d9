import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A subject of many posts that may interest a user. The service writes figures and times in words. */
export const PersonalizedTrend = /*#__PURE__*/ Model.make({
  kind: "personalized_trend",
  identifier: "trend_name",
  includes: undefined,
  defaults: ["category", "post_count", "trend_name", "trending_since"],
  fields: {
    category: Schema.optionalKey(Schema.String),
    /** Such as `1.2K posts`. */
    post_count: Schema.optionalKey(Model.called("post_count", Schema.Union([Schema.String, Schema.Int]))),
    /** Absent for users without Premium. */
    trend_name: Schema.optionalKey(Schema.String),
    /** Such as `5 hours ago`. */
    trending_since: Schema.optionalKey(Schema.String)
  }
})
/** A personalized trend with every field selected. */
export interface PersonalizedTrend extends Model.Type<typeof PersonalizedTrend> {}
