import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A like, as delivered by streams of likes. */
export const Like = /*#__PURE__*/ Model.make({
  kind: "like_with_post_author",
  identifier: "id",
  includes: undefined,
  defaults: ["id", "created_at", "liked_post_id", "liked_post_author_id", "timestamp_ms"],
  fields: {
    id: Schema.String,
    /** Keys of the photos, videos and animated GIFs of the post. */
    attachments_media_keys: Schema.optionalKey(Schema.Array(Schema.String)),
    created_at: Schema.optionalKey(Schema.String),
    liked_post_author_id: Schema.optionalKey(Schema.String),
    liked_post_id: Schema.optionalKey(Schema.String),
    timestamp_ms: Schema.optionalKey(Schema.Int)
  },
  expansions: { "attachments.media_keys": "media", liked_post_author_id: "user", liked_post_id: "post" }
})
/** A like with every field selected. */
export interface Like extends Model.Type<typeof Like> {}
