import type { Reader } from "@postwire/core/media/MediaFile"
import { limits } from "@postwire/core/media/MediaRules"
import * as BodyLayout from "@postwire/core/schema/BodyLayout"
import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as MediaCategories from "../media/MediaCategories.ts"
import * as MediaUpload from "../media/MediaUpload.ts"
import * as Processing from "../media/Processing.ts"
import type { Reply } from "../projection/Reply.ts"
import type { Media } from "../store/Attachments.ts"
import type { Content } from "../store/Uploads.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"

/** The maximum size of a segment, in bytes. */
const maxSegmentBytes = 5 * 1_048_576

/** Media uploads, metadata and lookup. */
export const handlers = {
  uploadMedia: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { now, parameters: { additional_owners = [], media, media_category }, processing, store } = call
    const examined = yield* MediaUpload.examine(inMemory(media), { category: media_category })
    store.uploads.forget(now)
    const id = store.transaction(() => {
      const id = store.uploads.begin({
        ownerId: userId,
        additionalOwners: additional_owners,
        category: media_category,
        mediaType: examined.type,
        totalBytes: media.length,
        createdAt: now,
        expiresAt: now
      })
      store.uploads.put(id, 0, media)
      store.uploads.finish(id, MediaUpload.finished(id, examined, now, processing))
      return id
    })
    return yield* status(call, id)
  }),

  initializeMediaUpload: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { now, parameters, store: { uploads } } = call
    const { additional_owners = [], media_category, total_bytes } = parameters
    const media_type = parameters.media_type === undefined ? undefined : MediaCategories.typeOf(parameters.media_type)
    const category = media_category === undefined
      ? media_type === undefined ? undefined : MediaUpload.implied(media_type)
      : yield* MediaUpload.categoryOf(media_category)
    if (media_type !== undefined) yield* MediaUpload.checkType(media_type, category)
    if (total_bytes !== undefined) yield* MediaUpload.checkSize(total_bytes, limitOf(category))
    uploads.forget(now)
    const id = uploads.begin({
      ownerId: userId,
      additionalOwners: additional_owners,
      category: category?.name,
      mediaType: media_type,
      totalBytes: total_bytes,
      createdAt: now,
      expiresAt: now + Processing.sessionSeconds * 1_000
    })
    return { data: { id, ...keyOf(category, id), expires_after_secs: Processing.sessionSeconds } }
  }),

  appendMediaUpload: Effect.fnUntraced(function*(call) {
    const { parameters: { id, media, segment_index }, store: { uploads } } = call
    const upload = yield* uploadOf(call, id, "id")
    if (upload.finalized_at !== undefined) {
      return yield* Problem.invalidRequest("The upload is finalized already.", { id })
    }
    if (media.length > maxSegmentBytes) return yield* Problem.tooLarge()
    const size = uploads.size(id, segment_index) + media.length
    yield* MediaUpload.checkSize(size, limitOf(MediaCategories.named(upload.category ?? "")))
    uploads.put(id, segment_index, media)
    return { data: { expires_at: Math.floor(upload.expires_at / 1_000) } }
  }),

  finalizeMediaUpload: Effect.fnUntraced(function*(call) {
    const { now, parameters: { id }, processing, store: { uploads } } = call
    const upload = yield* uploadOf(call, id, "id")
    // Idempotent, since clients repeat it when the response was lost.
    if (upload.finalized_at === undefined) {
      const content = uploads.content(id)
      if (content.size !== (upload.total_bytes ?? content.size)) {
        return yield* Problem.invalidRequest("Segments do not add up to provided total file size.", {
          total_bytes: String(upload.total_bytes)
        })
      }
      const examined = yield* MediaUpload.examine(inSegments(content), upload)
      uploads.finish(id, MediaUpload.finished(id, examined, now, processing))
    }
    return yield* status(call, id)
  }),

  getMediaUploadStatus: Effect.fnUntraced(function*(call) {
    const { now, parameters: { media_id }, processing, store: { uploads } } = call
    const { finalized_at } = yield* uploadOf(call, media_id, "media_id")
    if (processing === "failed" && finalized_at !== undefined) uploads.fail(media_id, MediaUpload.failureOf(), now)
    return yield* status(call, media_id)
  }),

  createMediaMetadata: Effect.fnUntraced(function*(call) {
    const { definition: { at = {} }, parameters: { id, ...said }, store: { attachments } } = call
    yield* ownMedia(call, id, "id")
    const metadata: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(said)) BodyLayout.insert({ metadata }, at, name, value)
    const { alt_text } = said
    attachments.updateMedia(id, { metadata, ...(alt_text === undefined ? {} : { alt_text }) })
    return { data: { id, associated_metadata: metadata } }
  }),

  createMediaSubtitles: Effect.fnUntraced(function*(call) {
    const { now, parameters, store: { uploads } } = call
    const { display_name = "", id, language_code, media_category, subtitles_id } = parameters
    if (id === undefined || subtitles_id === undefined || language_code === undefined) {
      return yield* Problem.invalidRequest("Subtitles have a video, a file and a language.")
    }
    yield* ownVideo(call, id, media_category)
    const file = yield* uploadOf(call, subtitles_id, "subtitles_id")
    if (file.category !== "subtitles" || Processing.stateOf(file, now) !== "succeeded") {
      return yield* Problem.invalidRequest("These are no subtitles.", { subtitles_id })
    }
    const subtitles = { id: subtitles_id, language_code, display_name }
    uploads.addSubtitles(id, subtitles)
    uploads.use([subtitles_id])
    return { data: { id, ...(media_category && { media_category }), associated_subtitles: subtitles } }
  }),

  deleteMediaSubtitles: Effect.fnUntraced(function*(call) {
    const { id, language_code, media_category } = call.parameters
    yield* ownVideo(call, id, media_category)
    call.store.uploads.deleteSubtitles(id, language_code)
    return { data: { deleted: true } }
  }),

  getMediaByKeys: (call) => {
    const { media_keys } = call.parameters
    const media = visible(call, media_keys)
    const found = new Set(media.map(({ media_key }) => media_key))
    return Effect.succeed({
      ...(media.length === 0 ? {} : { data: media }),
      errors: media_keys.filter((key) => !found.has(key)).map((key) => missing(key, "media_keys"))
    })
  },

  getMediaByKey: (call) => {
    const { media_key } = call.parameters
    const [media] = visible(call, [media_key])
    return Effect.succeed(media === undefined ? { errors: [missing(media_key, "media_key")] } : { data: media })
  }
} satisfies Partial<Handlers>

const missing = (id: string, parameter: string): Problem.Entry => Problem.notFound({ kind: "media", id, parameter })

/** An unexpired upload that the caller owns or may use. */
const uploadOf = Effect.fnUntraced(function*({ caller, now, store }: Call<unknown>, id: string, parameter: string) {
  const { userId } = yield* Caller.user(caller)
  const upload = store.uploads.byId(id)
  if (
    upload === undefined || ![upload.owner_id, ...upload.additional_owners].includes(userId) ||
    Processing.stateOf(upload, now) === "expired"
  ) return yield* Problem.missing(missing(id, parameter))
  return upload
})

/** Finalized media that the caller owns or may use. */
const ownMedia = Effect.fnUntraced(function*(call: Call<unknown>, id: string, parameter: string) {
  const { caller, store: { attachments, uploads } } = call
  const { userId } = yield* Caller.user(caller)
  if (uploads.byId(id) !== undefined) yield* uploadOf(call, id, parameter)
  const [media] = attachments.mediaByKeys(attachments.mediaKeys([id], userId))
  return media ?? (yield* Problem.missing(missing(id, parameter)))
})

const ownVideo = Effect.fnUntraced(function*(call: Call<unknown>, id: string, media_category: string | undefined) {
  const { type } = yield* ownMedia(call, id, "id")
  const { category = "tweet_video" } = call.store.uploads.byId(id) ?? {}
  const name = media_category === "AmplifyVideo" ? "amplify_video" : "tweet_video"
  if (type !== "video" || (media_category !== undefined && category !== name)) {
    return yield* Problem.invalidRequest(`This is no ${media_category ?? "video"}.`, { id })
  }
})

/** The maximum size in bytes; that of a video while the category is unknown. */
const limitOf = (category: MediaCategories.Category | undefined) => category?.limits.bytes ?? limits.video.bytes

const keyOf = (category: MediaCategories.Category | undefined, id: string) => {
  const media_key = category && MediaCategories.keyOf(category, id)
  return media_key === undefined ? {} : { media_key }
}

/** The response about an upload, modified by a fault. */
const status = Effect.fnUntraced(function*(call: Call<unknown>, id: string): Effect.fn.Return<Reply, Problem.Problem> {
  const { now, processing, store: { attachments, uploads } } = call
  const upload = yield* uploadOf(call, id, "id")
  const key = keyOf(MediaCategories.named(upload.category ?? ""), id)
  const { media_type: type = "" } = upload
  const [media] = attachments.mediaByKeys(Object.values(key))
  const info = Processing.infoOf(upload, now)
  const { check_after_secs, ...rest } = info ?? {}
  const told = processing === "no-wait"
    ? rest
    : processing === "zero-wait" && check_after_secs !== undefined
    ? { ...rest, check_after_secs: 0 }
    : info
  return {
    data: {
      id,
      ...key,
      // Unknown until the upload is finalized.
      ...(upload.finalized_at === undefined ? {} : { size: uploads.size(id) }),
      ...(upload.used ? {} : { expires_after_secs: Math.ceil((upload.expires_at - now) / 1_000) }),
      ...(info === undefined || processing === "absent" ? {} : { processing_info: told }),
      ...(media === undefined
        ? {}
        : type.startsWith("video/")
        ? { video: { video_type: type } }
        : { image: { image_type: type, w: media.width, h: media.height } })
    }
  }
})

/** Media by key, if posts or messages use them or they belong to the caller. */
const visible = (
  { caller: { userId }, now, store: { attachments, uploads } }: Call<unknown>,
  keys: ReadonlyArray<string>
) =>
  attachments.mediaByKeys(keys).filter((media) => {
    const upload = uploads.byId(idOf(media))
    return upload === undefined || (
      Processing.stateOf(upload, now) === "succeeded" &&
      (upload.used || [upload.owner_id, ...upload.additional_owners].includes(userId ?? ""))
    )
  })

const idOf = ({ media_key }: Media): string => media_key.slice(media_key.indexOf("_") + 1)

const inMemory = (bytes: Uint8Array): Reader => ({
  size: bytes.length,
  read: (offset, length) => Effect.succeed(bytes.subarray(offset, offset + length))
})

const inSegments = ({ read, size }: Content): Reader => ({
  size,
  read: (offset, length) =>
    Effect.sync(() => {
      const [first = new Uint8Array(), ...others] = read(offset, Math.min(offset + length, size))
      return others.length === 0 ? first : Buffer.concat([first, ...others])
    })
})
