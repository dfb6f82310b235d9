/** Prepared writes as data, which a handle is bound to. */
import * as Schema from "effect/Schema"

/** A file of a post. */
export const Medium = Schema.Struct({
  path: Schema.String,
  alt: Schema.optionalKey(Schema.String),
  /** The SHA-256 of its bytes. */
  digest: Schema.String
})

/** A file of a post. */
export type Medium = typeof Medium.Type

/** A post. */
export const Post = Schema.TaggedStruct("post", {
  text: Schema.optionalKey(Schema.String),
  in_reply_to_post_id: Schema.optionalKey(Schema.String),
  quote_post_id: Schema.optionalKey(Schema.String),
  poll: Schema.optionalKey(
    Schema.Struct({ options: Schema.Array(Schema.String), duration_minutes: Schema.Finite })
  ),
  media: Schema.Array(Medium)
})

/** A post. */
export type Post = typeof Post.Type

/** One operation, called with each of several parameters. */
export const Calls = Schema.TaggedStruct("calls", {
  operation: Schema.String,
  /** Values of JSON. */
  parameters: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  /** The parameter in which several calls differ. */
  id: Schema.optionalKey(Schema.String)
})

/** One operation, called with each of several parameters. */
export type Calls = typeof Calls.Type

/** A prepared write. */
export const Action = Schema.Union([Post, Calls])

/** A prepared write. */
export type Action = typeof Action.Type
