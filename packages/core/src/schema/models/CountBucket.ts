import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** The number of posts that matched a query between `start` (inclusive) and `end` (exclusive). */
export const CountBucket = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({ start: Schema.String, end: Schema.String, post_count: Schema.Int }),
  "start",
  "end",
  "post_count"
)
/** The number of posts that matched a query between `start` (inclusive) and `end` (exclusive). */
export interface CountBucket extends Schema.Schema.Type<typeof CountBucket> {}
