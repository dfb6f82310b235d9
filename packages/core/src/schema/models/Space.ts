import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { Topic } from "./Topic.ts"

/** An audio room. */
export const Space = /*#__PURE__*/ Model.make({
  kind: "space",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "state"],
  unselectable: ["topics"],
  fields: {
    id: Schema.String,
    state: Model.known("live", "scheduled", "ended"),
    created_at: Schema.String,
    creator_id: Schema.String,
    ended_at: Schema.optionalKey(Schema.String),
    host_ids: Schema.optionalKey(Schema.Array(Schema.String)),
    invited_user_ids: Schema.optionalKey(Schema.Array(Schema.String)),
    is_ticketed: Schema.Boolean,
    lang: Schema.optionalKey(Schema.String),
    participant_count: Schema.Int,
    scheduled_start: Schema.optionalKey(Schema.String),
    speaker_ids: Schema.optionalKey(Schema.Array(Schema.String)),
    started_at: Schema.optionalKey(Schema.String),
    subscriber_count: Schema.optionalKey(Schema.Int),
    title: Schema.optionalKey(Schema.String),
    topic_ids: Schema.optionalKey(Schema.Array(Schema.String)),
    topics: Schema.optionalKey(Schema.Array(Schema.Struct(Topic.fields))),
    updated_at: Schema.optionalKey(Schema.String)
  },
  expansions: {
    creator_id: "user",
    host_ids: "user",
    invited_user_ids: "user",
    speaker_ids: "user",
    topic_ids: "topic"
  }
})
/** An audio room with every field selected. */
export interface Space extends Model.Type<typeof Space> {}
