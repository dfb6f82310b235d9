import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A subject of many posts in a place. */
export const Trend = /*#__PURE__*/ Model.make({
  kind: "trend",
  identifier: "trend_name",
  includes: undefined,
  defaults: ["trend_name"],
  fields: {
    trend_name: Schema.optionalKey(Schema.String),
    post_count: Schema.optionalKey(Model.called("tweet_count", Schema.Int))
  }
})
/** A trend with every field selected. */
export interface Trend extends Model.Type<typeof Trend> {}
