import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** The names of streams in connections. */
export const endpoints = [
  "filtered_stream",
  "sample_stream",
  "sample10_stream",
  "firehose_stream",
  "firehose_stream_lang_en",
  "firehose_stream_lang_ja",
  "firehose_stream_lang_ko",
  "firehose_stream_lang_pt",
  "likes_firehose_stream",
  "likes_sample10_stream",
  "posts_compliance_stream",
  "users_compliance_stream",
  "likes_compliance_stream",
  "post_label_stream",
  "activity_stream"
] as const

/** The name of a stream in connections. */
export type Endpoint = (typeof endpoints)[number]

/** A connection of the app to a stream. */
export const Connection = /*#__PURE__*/ Model.make({
  kind: "connection",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "endpoint_name", "connected_at", "disconnected_at", "disconnect_reason", "client_ip"],
  fields: {
    /** Missing on `x-2026-02`. */
    id: Schema.optionalKey(Schema.String),
    endpoint_name: Model.known(...endpoints),
    connected_at: Schema.String,
    /** Present if the connection has ended. */
    disconnected_at: Schema.optionalKey(Schema.String),
    /** Present if the connection has ended. */
    disconnect_reason: Schema.optionalKey(Schema.String),
    client_ip: Schema.optionalKey(Schema.String)
  }
})
/** A connection of the app to a stream with every field selected. */
export interface Connection extends Model.Type<typeof Connection> {}
