import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** What many posts of a place are about. */
export const Trend = /*#__PURE__*/ Model.make({
  kind: "trend",
  identifier: "trend_name",
  selector: "trend_fields",
  includes: undefined,
  defaults: ["trend_name"],
  fields: {
    trend_name: Schema.optionalKey(Schema.String),
    post_count: Schema.optionalKey(Model.called("tweet_count", Schema.Int))
  }
})
/** A trend of which everything was asked for. */
export interface Trend extends Model.Type<typeof Trend> {}
