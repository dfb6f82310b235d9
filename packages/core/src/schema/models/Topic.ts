import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A topic of a space. */
export const Topic = /*#__PURE__*/ Model.make({
  kind: "topic",
  identifier: "id",
  includes: "topics",
  defaults: ["id", "name"],
  fields: { id: Schema.String, name: Schema.String, description: Schema.optionalKey(Schema.String) }
})
/** A topic of a space. */
export interface Topic extends Model.Type<typeof Topic> {}
