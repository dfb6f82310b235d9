/** Live videos, their schedules and their chat. Times are in milliseconds since 1970. */
import * as Schema from "effect/Schema"
import * as Codecs from "../Codecs.ts"
import * as Model from "../Model.ts"

const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)
const flag = /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
const integer = /*#__PURE__*/ Schema.optionalKey(Schema.Int)
const digits = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.sentAsText(Schema.Int))

/** A live video. */
export const Broadcast = /*#__PURE__*/ Model.make({
  kind: "broadcast",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    id: Schema.String,
    available_for_replay: flag,
    broadcast_id: text,
    /** A number that stands for the users who may write in its chat. */
    chat_option: integer,
    created_at_ms: digits,
    end_ms: digits,
    height: integer,
    image_url: text,
    image_url_medium: text,
    image_url_small: text,
    is_high_latency: flag,
    language: text,
    media_key: text,
    /** The post that shows it. */
    post_id: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("tweet_id", Schema.String)),
    scheduled_end_ms: digits,
    scheduled_start_ms: digits,
    share_url: text,
    source_id: text,
    start_ms: digits,
    state: text,
    title: text,
    total_watched: digits,
    total_watching: digits,
    updated_at_ms: digits,
    user_id: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("twitter_user_id", Schema.String)),
    width: integer
  }
})
/** A live video with every field selected. */
export interface Broadcast extends Model.Type<typeof Broadcast> {}

/** A message in the chat of a broadcast. */
export const BroadcastChatMessage = /*#__PURE__*/ Model.make({
  kind: "broadcast_chat_message",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    id: Schema.String,
    author_id: text,
    author_name: text,
    author_username: text,
    broadcast_id: text,
    created_at_ms: digits,
    reply_to: text,
    text
  },
  expansions: { author_id: "user" }
})
/** A message in the chat of a broadcast with every field selected. */
export interface BroadcastChatMessage extends Model.Type<typeof BroadcastChatMessage> {}

/** A planned broadcast. */
export const ScheduledBroadcast = /*#__PURE__*/ Schema.Struct({
  available_for_replay: flag,
  /** The id for operations: letters and digits. */
  broadcast_id: text,
  chat_option: digits,
  description: text,
  locale: text,
  manual_publish: flag,
  recurring_schedule_id: text,
  /** The id of the schedule, which a replacement has to name. */
  scheduled_broadcast_id: text,
  scheduled_end_ms: digits,
  scheduled_start_ms: digits,
  source_id: text,
  state: text,
  telecast_id: text,
  thumbnail_media_id: text,
  title: text
})
/** A planned broadcast. */
export interface ScheduledBroadcast extends Schema.Schema.Type<typeof ScheduledBroadcast> {}

/** How often a broadcast is repeated. */
export const Recurrence = /*#__PURE__*/ Schema.Struct({
  frequency: /*#__PURE__*/ Schema.Literals(["Daily", "Weekly"]),
  repeats: Codecs.digits
})
/** How often a broadcast is repeated. */
export interface Recurrence extends Schema.Schema.Type<typeof Recurrence> {}
