import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

const playback = {
  playback_0_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int),
  playback_25_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int),
  playback_50_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int),
  playback_75_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int),
  playback_100_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int)
}

const views = { view_count: /*#__PURE__*/ Schema.optionalKey(Schema.Int) }

/** The types of files that can be uploaded. */
export const fileTypes = [
  "video/mp4",
  "video/webm",
  "video/mp2t",
  "video/quicktime",
  "text/srt",
  "text/vtt",
  "image/jpeg",
  "image/gif",
  "image/bmp",
  "image/png",
  "image/webp",
  "image/pjpeg",
  "image/tiff",
  "model/gltf-binary",
  "model/vnd.usdz+zip"
] as const

/** The purposes of uploads. */
export const categories = [
  "amplify_video",
  "tweet_gif",
  "tweet_image",
  "tweet_video",
  "dm_gif",
  "dm_image",
  "dm_video",
  "subtitles"
] as const

/** A photo, video or animated GIF. */
export const Media = /*#__PURE__*/ Model.make({
  kind: "media",
  identifier: "media_key",
  includes: "media",
  defaults: ["media_key", "type"],
  fields: {
    media_key: Schema.String,
    type: Model.known("photo", "video", "animated_gif"),
    alt_text: Schema.optionalKey(Schema.String),
    duration_ms: Schema.optionalKey(Schema.Int),
    height: Schema.Int,
    non_public_metrics: Schema.optionalKey(Schema.Struct(playback)),
    organic_metrics: Schema.optionalKey(Schema.Struct({ ...playback, ...views })),
    preview_image_url: Schema.optionalKey(Schema.String),
    promoted_metrics: Schema.optionalKey(Schema.Struct({ ...playback, ...views })),
    public_metrics: Schema.optionalKey(Schema.Struct(views)),
    url: Schema.optionalKey(Schema.String),
    variants: Schema.optionalKey(Schema.Array(Schema.Struct({
      bit_rate: Schema.optionalKey(Schema.Int),
      content_type: Schema.optionalKey(Schema.String),
      url: Schema.optionalKey(Schema.String)
    }))),
    width: Schema.Int
  }
})
/** A photo, video or animated GIF with every field selected. */
export interface Media extends Model.Type<typeof Media> {}
