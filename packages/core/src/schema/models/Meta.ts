import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { Ciphertext } from "./Chat.ts"

/** Counts and page tokens of a response. */
export const Meta = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    result_count: Schema.optionalKey(Schema.Int),
    /** Leads to the next page; opaque, passed back unmodified. */
    next_token: Schema.optionalKey(Schema.String),
    /** Leads to the previous page; opaque, passed back unmodified. */
    previous_token: Schema.optionalKey(Schema.String),
    newest_id: Schema.optionalKey(Schema.String),
    oldest_id: Schema.optionalKey(Schema.String),
    /** For count operations: posts in all buckets of the page. */
    total_post_count: Schema.optionalKey(Schema.Int),
    /** For encrypted chat: the changes of the conversation's key that the events of the page need, encoded. */
    conversation_key_events: Schema.optionalKey(Schema.Array(Ciphertext)),
    /** For encrypted chat: whether there are conversations that the user has not accepted. No operation lists them. */
    has_message_requests: Schema.optionalKey(Schema.Boolean),
    /** For encrypted chat: whether there is another page. */
    has_more: Schema.optionalKey(Schema.Boolean),
    /** For rules of the filtered stream: when the service responded. */
    sent: Schema.optionalKey(Schema.String),
    /** For a change of the rules of the filtered stream: its outcome. */
    summary: Schema.optionalKey(Schema.Struct({
      created: Schema.optionalKey(Schema.Int),
      not_created: Schema.optionalKey(Schema.Int),
      valid: Schema.optionalKey(Schema.Int),
      invalid: Schema.optionalKey(Schema.Int),
      deleted: Schema.optionalKey(Schema.Int),
      not_deleted: Schema.optionalKey(Schema.Int)
    }))
  }),
  "next_token",
  "previous_token"
)
/** Counts and page tokens of a response. */
export interface Meta extends Schema.Schema.Type<typeof Meta> {}
