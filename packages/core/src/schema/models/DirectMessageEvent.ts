import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { TextEntities } from "./Entities.ts"

/** An event in a direct message conversation: a message, or a participant joining or leaving. */
export const DirectMessageEvent = /*#__PURE__*/ Model.make({
  kind: "dm_event",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "event_type", "text"],
  gathered: { entities: /*#__PURE__*/ Object.keys(TextEntities.fields) },
  fields: {
    id: Schema.String,
    event_type: Model.known("MessageCreate", "ParticipantsJoin", "ParticipantsLeave"),
    text: Schema.optionalKey(Schema.String),
    attachments: Schema.optionalKey(Schema.Struct({
      card_ids: Schema.optionalKey(Schema.Array(Schema.String)),
      media_keys: Schema.optionalKey(Schema.Array(Schema.String))
    })),
    created_at: Schema.String,
    dm_conversation_id: Schema.String,
    entities: Schema.optionalKey(TextEntities),
    participant_ids: Schema.optionalKey(Schema.Array(Schema.String)),
    referenced_posts: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String }))),
    sender_id: Schema.optionalKey(Schema.String)
  },
  expansions: {
    "attachments.media_keys": "media",
    participant_ids: "user",
    "referenced_posts.id": "post",
    sender_id: "user"
  }
})
/** An event of a direct message conversation with every field selected. */
export interface DirectMessageEvent extends Model.Type<typeof DirectMessageEvent> {}
