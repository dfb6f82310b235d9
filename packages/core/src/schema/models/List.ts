import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A list of users. */
export const List = /*#__PURE__*/ Model.make({
  kind: "list",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "name"],
  fields: {
    id: Schema.String,
    name: Schema.String,
    created_at: Schema.String,
    description: Schema.String,
    follower_count: Schema.Int,
    member_count: Schema.Int,
    owner_id: Schema.String,
    private: Schema.Boolean
  },
  expansions: { owner_id: "user" }
})
/** A list of users with every field selected. */
export interface List extends Model.Type<typeof List> {}
