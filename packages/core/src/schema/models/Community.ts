import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A community, whose members post for each other. */
export const Community = /*#__PURE__*/ Model.make({
  kind: "community",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "name"],
  fields: {
    id: Schema.String,
    name: Schema.String,
    access: Schema.optionalKey(Model.known("Public", "Closed")),
    created_at: Schema.optionalKey(Schema.String),
    description: Schema.optionalKey(Schema.String),
    join_policy: Schema.optionalKey(Model.known(
      "Open",
      "RestrictedJoinRequestsDisabled",
      "RestrictedJoinRequestsRequireAdminApproval",
      "RestrictedJoinRequestsRequireModeratorApproval",
      "SuperFollowRequired"
    )),
    member_count: Schema.optionalKey(Schema.Int)
  }
})
/** A community with every field selected. */
export interface Community extends Model.Type<typeof Community> {}
