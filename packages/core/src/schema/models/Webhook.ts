import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** An address of the app that gets events. */
export const Webhook = /*#__PURE__*/ Model.make({
  kind: "webhook_config",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "url", "valid", "created_at"],
  fields: {
    id: Schema.String,
    url: Schema.String,
    /** False after a failed check: nothing is delivered until one passes. */
    valid: Schema.Boolean,
    created_at: Schema.String
  }
})
/** An address of the app that gets events. */
export interface Webhook extends Model.Type<typeof Webhook> {}

/** A job that delivers past events again. Its end is delivered to the webhook as `replay_job_status`. */
export const WebhookReplay = /*#__PURE__*/ Schema.Struct({ job_id: Schema.String, created_at: Schema.String })
/** A job that delivers past events again. */
export interface WebhookReplay extends Schema.Schema.Type<typeof WebhookReplay> {}

/** A webhook that gets the posts of the filtered stream. */
export const StreamWebhook = /*#__PURE__*/ Schema.Struct({
  webhook_id: Schema.String,
  application_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  business_user_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  created_at: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  /** The selected fields of posts. */
  fields: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(Schema.String)),
  instance_id: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})
/** A webhook that gets the posts of the filtered stream. */
export interface StreamWebhook extends Schema.Schema.Type<typeof StreamWebhook> {}
