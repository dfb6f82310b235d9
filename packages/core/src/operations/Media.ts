/** Media. What is uploaded is deleted after a day unless a post or a direct message names its id. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { categories, fileTypes, Media } from "../schema/models/Media.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { type Own, path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const integer = /*#__PURE__*/ Schema.optionalKey(Schema.Int)
const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)
const json = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Record(Schema.String, Model.Json))

/** Subtitles of a video; a list of them on `x-2026-02`. */
const subtitles = /*#__PURE__*/ Schema.optionalKey(
  /*#__PURE__*/ Schema.Union([
    /*#__PURE__*/ Schema.Record(Schema.String, Model.Json),
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Record(Schema.String, Model.Json))
  ])
)

const uploaded = /*#__PURE__*/ Response.value(
  /*#__PURE__*/ Model.essential(
    /*#__PURE__*/ Schema.Struct({
      id: Schema.String,
      media_key: text,
      size: integer,
      expires_after_secs: integer,
      processing_info: /*#__PURE__*/ Schema.optionalKey(
        /*#__PURE__*/ Schema.Struct({
          state: /*#__PURE__*/ Schema.optionalKey(
            /*#__PURE__*/ Model.known("pending", "in_progress", "succeeded", "failed")
          ),
          check_after_secs: integer,
          progress_percent: integer,
          error: /*#__PURE__*/ Schema.optionalKey(
            /*#__PURE__*/ Schema.Struct({ code: integer, name: text, message: text })
          )
        })
      ),
      image: /*#__PURE__*/ Schema.optionalKey(
        /*#__PURE__*/ Schema.Struct({ h: integer, w: integer, image_type: text })
      ),
      video: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Struct({ video_type: text }))
    }),
    "id"
  )
)

const captioned = /*#__PURE__*/ Parameters.openChoice(["AmplifyVideo", "TweetVideo"])

const change = <const D extends Own<"userAuth" | "scopes" | "effect">>(own: D) =>
  Operation.make({ ...own, userAuth: true, scopes: ["media.write"], effect: "toggle" })

const segment = <const D extends Own<"userAuth" | "scopes" | "limits" | "price" | "effect">>(own: D) =>
  change({ ...own, limits: { app: { perDay: 180_000 }, user: { perWindow: 1875 } }, price: "free" })

/**
 * Uploads a small file in one request. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * `media` is a `Uint8Array`, an `ArrayBuffer` or a `Blob`, which is read while it is sent; the sync client accepts no `Blob`.
 * A video, and any file larger than a few megabytes, is uploaded in segments: see `initializeMediaUpload`, or `upload`, which
 * performs all steps. While the response has `processing_info`, the service is not done yet: see `getMediaUploadStatus`. It
 * is retried after a lost connection, since media without a post are deleted.
 *
 * ```ts
 * const uploaded = yield* uploadMedia({ media: Uint8Array.of(0xff, 0xd8, 0xff), media_category: "tweet_image" })
 * ```
 */
export const uploadMedia = /*#__PURE__*/ change({
  name: "uploadMedia",
  summary: "Uploads a small file in one request.",
  route: "POST /2/media/upload",
  encoding: "multipart",
  body: {
    media: /*#__PURE__*/ Parameters.required(Parameters.bytes),
    media_category: /*#__PURE__*/ Parameters.required(
      /*#__PURE__*/ Parameters.openChoice([
        "tweet_image",
        "tweet_video",
        "tweet_gif",
        "dm_image",
        "dm_video",
        "dm_gif",
        "subtitles"
      ])
    ),
    additional_owners: /*#__PURE__*/ Parameters.ids()
  },
  result: uploaded,
  limits: { app: { perDay: 50_000 }, user: { perWindow: 500 } },
  price: "free"
})

/**
 * Begins an upload in segments, which has an id and some days to be finished. Credential: OAuth 1.0a, or a user's bearer
 * token with `user_auth: false`. Needs write permission.
 *
 * `appendMediaUpload` sends the segments, `finalizeMediaUpload` ends it. Repeating it does no harm: an unfinished upload
 * is deleted.
 *
 * ```ts
 * const begun = yield* initializeMediaUpload({ total_bytes: 3, media_type: "image/jpeg", media_category: "tweet_image" })
 * ```
 */
export const initializeMediaUpload = /*#__PURE__*/ segment({
  name: "initializeMediaUpload",
  summary: "Begins an upload in segments.",
  route: "POST /2/media/upload/initialize",
  body: {
    total_bytes: /*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 17_179_869_184 }),
    media_type: /*#__PURE__*/ Parameters.openChoice(fileTypes),
    media_category: /*#__PURE__*/ Parameters.openChoice(categories),
    additional_owners: /*#__PURE__*/ Parameters.idArray(),
    shared: Parameters.boolean
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Model.essential(
      /*#__PURE__*/ Schema.Struct({ id: Schema.String, media_key: text, expires_after_secs: integer }),
      "id"
    )
  )
})

/**
 * Sends one segment of an upload. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * `segment_index` counts from 0 to 999, so that a segment has at least a thousandth of the file. Repeating a segment replaces
 * it. `expires_at` of the response is in seconds since 1970.
 *
 * ```ts
 * yield* appendMediaUpload({ id: "1880028106020515840", segment_index: 0, media: Uint8Array.of(0xff, 0xd8, 0xff) })
 * ```
 */
export const appendMediaUpload = /*#__PURE__*/ segment({
  name: "appendMediaUpload",
  summary: "Sends one segment of an upload.",
  route: "POST /2/media/upload/:id/append",
  encoding: "multipart",
  path,
  body: {
    media: /*#__PURE__*/ Parameters.required(Parameters.bytes),
    segment_index: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.integer({ minimum: 0, maximum: 999 }))
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ expires_at: integer }))
})

/**
 * Ends an upload whose segments have all been sent. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * Where `processing_info` comes with the answer, the service is not done yet: see `getMediaUploadStatus`.
 *
 * ```ts
 * const uploaded = yield* finalizeMediaUpload({ id: "1880028106020515840" })
 * ```
 */
export const finalizeMediaUpload = /*#__PURE__*/ segment({
  name: "finalizeMediaUpload",
  summary: "Ends an upload whose segments have all been sent.",
  route: "POST /2/media/upload/:id/finalize",
  path,
  result: uploaded
})

/**
 * Returns the processing state of an upload. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`.
 *
 * `processing_info.state` is `pending`, `in_progress`, `succeeded` or `failed`; query it again after
 * `check_after_secs`. Without `processing_info` the media is ready.
 *
 * ```ts
 * const status = yield* getMediaUploadStatus({ media_id: "1880028106020515840" })
 * ```
 */
export const getMediaUploadStatus = /*#__PURE__*/ Operation.make({
  name: "getMediaUploadStatus",
  summary: "Returns the processing state of an upload.",
  route: "GET /2/media/upload",
  query: { media_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  queryConstants: { command: "STATUS" },
  result: uploaded,
  userAuth: true,
  scopes: ["media.write"],
  limits: { app: { perDay: 100_000 }, user: { perWindow: 1000 } },
  price: "free",
  effect: "read"
})

/**
 * Sets the metadata of an uploaded file, above all its alternative text. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * `alt_text` has up to 1,000 characters. Later values replace earlier ones.
 *
 * ```ts
 * yield* createMediaMetadata({ id: "1880028106020515840", alt_text: "A lighthouse at dusk" })
 * ```
 */
export const createMediaMetadata = /*#__PURE__*/ change({
  name: "createMediaMetadata",
  summary: "Describes an uploaded file, such as by its alternative text.",
  route: "POST /2/media/metadata",
  body: {
    id: /*#__PURE__*/ Parameters.required(Parameters.id),
    alt_text: /*#__PURE__*/ Parameters.text(1000),
    allow_download: Parameters.boolean,
    audience_policy: Parameters.object,
    content_expiration_timestamp_sec: /*#__PURE__*/ Parameters.integer(),
    domain_whitelist: /*#__PURE__*/ Parameters.textArray(),
    found_media_origin_id: /*#__PURE__*/ Parameters.text(),
    found_media_origin_provider: /*#__PURE__*/ Parameters.text(),
    geo_restrictions: Parameters.object,
    managed: Parameters.boolean,
    preview_image_media_key: Parameters.object,
    sensitive_media_warning: Parameters.object,
    shared: Parameters.boolean,
    stickers: Parameters.objectArray,
    upload_source: /*#__PURE__*/ Parameters.text()
  },
  at: {
    alt_text: "metadata.alt_text.text",
    allow_download: "metadata.allow_download_status.allow_download",
    audience_policy: "metadata.audience_policy",
    content_expiration_timestamp_sec: "metadata.content_expiration.timestamp_sec",
    domain_whitelist: "metadata.domain_restrictions.whitelist",
    found_media_origin_id: "metadata.found_media_origin.id",
    found_media_origin_provider: "metadata.found_media_origin.provider",
    geo_restrictions: "metadata.geo_restrictions",
    managed: "metadata.management_info.managed",
    preview_image_media_key: "metadata.preview_image.media_key",
    sensitive_media_warning: "metadata.sensitive_media_warning",
    shared: "metadata.shared_info.shared",
    stickers: "metadata.sticker_info.stickers",
    upload_source: "metadata.upload_source.upload_source"
  },
  rules: [
    /*#__PURE__*/ ParameterRule.requires("found_media_origin_id", "found_media_origin_provider"),
    /*#__PURE__*/ ParameterRule.requires("found_media_origin_provider", "found_media_origin_id")
  ],
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ id: Schema.String, associated_metadata: json })),
  limits: { app: { perDay: 50_000 }, user: { perWindow: 500 } },
  price: { request: "mediaMetadata" }
})

/**
 * Adds subtitles to an uploaded video. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission.
 *
 * The subtitles are an upload of their own, of the category `subtitles`; `subtitles_id` is its id.
 *
 * ```ts
 * yield* createMediaSubtitles({ id: "1880028106020515840", media_category: "TweetVideo", subtitles_id: "1880028106020515841", language_code: "EN" })
 * ```
 */
export const createMediaSubtitles = /*#__PURE__*/ change({
  name: "createMediaSubtitles",
  summary: "Adds subtitles to an uploaded video.",
  route: "POST /2/media/subtitles",
  body: {
    id: Parameters.id,
    media_category: captioned,
    subtitles_id: Parameters.id,
    language_code: Parameters.language,
    display_name: /*#__PURE__*/ Parameters.text()
  },
  at: {
    subtitles_id: "subtitles.id",
    language_code: "subtitles.language_code",
    display_name: "subtitles.display_name"
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ id: text, media_category: text, associated_subtitles: subtitles })
  ),
  limits: { app: { perDay: 10_000 }, user: { perWindow: 100 } },
  price: { request: "mediaMetadata" }
})

/**
 * Removes the subtitles in a language from a video. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * ```ts
 * yield* deleteMediaSubtitles({ id: "1880028106020515840", media_category: "TweetVideo", language_code: "EN" })
 * ```
 */
export const deleteMediaSubtitles = /*#__PURE__*/ change({
  name: "deleteMediaSubtitles",
  summary: "Removes the subtitles in a language from a video.",
  route: "DELETE /2/media/subtitles",
  body: {
    id: /*#__PURE__*/ Parameters.required(Parameters.id),
    media_category: /*#__PURE__*/ Parameters.required(captioned),
    language_code: /*#__PURE__*/ Parameters.required(Parameters.language)
  },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  limits: { app: { perDay: 10_000 }, user: { perWindow: 100 } },
  price: { request: "mediaMetadata" }
})

/**
 * Looks up to 100 photos, videos and animated GIFs up. Credential: bearer token, or OAuth 1.0a with `user_auth: true`.
 *
 * Those that do not exist are listed in `errors`; the others are in `data`.
 *
 * ```ts
 * const media = yield* getMediaByKeys({ media_keys: ["3_1460323737035677698"], media_fields: ["url", "alt_text"] })
 * ```
 */
export const getMediaByKeys = /*#__PURE__*/ Operation.make({
  name: "getMediaByKeys",
  summary: "Looks up to 100 photos, videos and animated GIFs up.",
  route: "GET /2/media",
  query: { media_keys: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.mediaKeys(100)), ...Selectors.media },
  result: /*#__PURE__*/ Response.many(Media),
  userAuth: false,
  scopes: ["post.read"],
  limits: {},
  price: "free",
  effect: "read"
})

/**
 * Looks one photo, video or animated GIF up. Credential: bearer token, or OAuth 1.0a with `user_auth: true`.
 *
 * One that does not exist is no failure: `data` is `undefined` and `errors` says why.
 *
 * ```ts
 * const media = yield* getMediaByKey({ media_key: "3_1460323737035677698", media_fields: ["url", "alt_text"] })
 * ```
 */
export const getMediaByKey = /*#__PURE__*/ Operation.make({
  name: "getMediaByKey",
  summary: "Looks one photo, video or animated GIF up.",
  route: "GET /2/media/:media_key",
  path: { media_key: /*#__PURE__*/ Parameters.required(Parameters.mediaKey) },
  query: Selectors.media,
  result: /*#__PURE__*/ Response.one(Media),
  userAuth: false,
  scopes: ["post.read"],
  limits: {},
  price: "free",
  effect: "read"
})
