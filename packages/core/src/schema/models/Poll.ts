import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** The poll of a post. */
export const Poll = /*#__PURE__*/ Model.make({
  kind: "poll",
  identifier: "id",
  includes: "polls",
  defaults: ["id", "options"],
  fields: {
    id: Schema.String,
    options: Schema.Array(Schema.Struct({ position: Schema.Int, label: Schema.String, votes: Schema.Int })),
    duration_minutes: Schema.Int,
    end_datetime: Schema.String,
    voting_status: Model.known("open", "closed")
  }
})
/** The poll of a post with every field selected. */
export interface Poll extends Model.Type<typeof Poll> {}
