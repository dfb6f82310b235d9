/** Finalizes uploads: detects the type, compares it with the declared one, and creates the media. */
import * as MediaFile from "@postwire/core/media/MediaFile"
import * as MediaRules from "@postwire/core/media/MediaRules"
import * as Effect from "effect/Effect"
import type { Behaviour } from "../faults/Faults.ts"
import * as Problem from "../http/Problem.ts"
import type { MediaFacts } from "../store/Attachments.ts"
import type { Failure, Finished } from "../store/Uploads.ts"
import * as MediaCategories from "./MediaCategories.ts"
import * as MediaFiles from "./MediaFiles.ts"
import * as Processing from "./Processing.ts"

/** The declared properties of an upload. */
export interface Announced {
  readonly category?: string | undefined
  readonly media_type?: string | undefined
}

export const categoryOf = (name: string): Effect.Effect<MediaCategories.Category, Problem.Problem> => {
  const category = MediaCategories.named(name)
  return category === undefined
    ? Effect.fail(Problem.invalidRequest("The media category is not recognized.", { media_category: name }))
    : Effect.succeed(category)
}

/** The default category of a type, for posts. */
export const implied = (type: string, isAnimated = type === "image/gif"): MediaCategories.Category | undefined => {
  const known = types.find((known) => known === type)
  return MediaCategories.named(MediaRules.categoryFor({ type: known, isAnimated, size: 1 }) ?? "")
}

const { image, subtitles, video } = MediaRules.limits

const types = [image, video, subtitles].flatMap(({ types }) => types)

/** Fails if the size exceeds the category's limit. */
export const checkSize = (size: number, maximum = Infinity): Effect.Effect<void, Problem.Problem> =>
  size <= maximum
    ? Effect.void
    : Effect.fail(Problem.invalidRequest(`File size exceeds ${maximum} bytes.`, { total_bytes: String(size) }))

/** Fails if the category does not accept the type. */
export const checkType = (type: string, category?: MediaCategories.Category): Effect.Effect<void, Problem.Problem> =>
  category?.limits.types.some((known) => known === type) === false
    ? Effect.fail(unrecognized(`${type} is no ${category.name}.`, type))
    : Effect.void

const unrecognized = (reason: string, type = "unknown") =>
  Problem.invalidRequest(`The media type is not recognized: ${reason}`, { media_type: type }, {
    onX: "media type unrecognized."
  })

/** Inspects complete content. */
export const examine = Effect.fnUntraced(function*(reader: MediaFile.Reader, announced: Announced) {
  const facts = yield* MediaFile.inspect(reader)
  const { isAnimated, size, type } = facts
  if (type === undefined) return yield* unrecognized(`the bytes are ${facts.otherwise ?? "of no known kind"}.`)
  if (announced.media_type !== undefined && !MediaCategories.isAlike(announced.media_type, type)) {
    return yield* unrecognized(`the bytes are ${type}, which is not ${announced.media_type}.`, type)
  }
  const category = announced.category === undefined ? implied(type, isAnimated) : yield* categoryOf(announced.category)
  if (category === undefined) return yield* unrecognized(`nothing shows ${type}.`, type)
  yield* checkType(type, category)
  yield* checkSize(size, category.limits.bytes)
  const fault = MediaRules.faultOf(facts, category.name)
  const rule = fault && `${fault.rule}${fault.value === undefined ? "" : ` (${fault.value})`}`
  const processed = Processing.millisOf(type, category.name, size)
  // Media without processing are refused immediately.
  if (rule !== undefined && processed === 0) return yield* Problem.invalidRequest(`The media ${rule}.`)
  return { category, facts, type, processed, failure: rule === undefined ? undefined : failureOf(rule) }
})

export type Examined = Effect.Success<ReturnType<typeof examine>>

/** The failure of processing. */
export const failureOf = (reason?: string): Failure => ({
  code: 1,
  name: "InvalidMedia",
  message: `file is invalid${reason === undefined ? "" : `: ${reason}`}`
})

/** The result of an upload that was finalized at `now`. */
export const finished = (
  id: string,
  { category, facts, failure, processed, type }: Examined,
  now: number,
  fault: Behaviour["processing"]
): Finished => {
  const key = MediaCategories.keyOf(category, id)
  const isFailing = fault === "failed"
  return {
    category: category.name,
    mediaType: type,
    finalizedAt: now,
    expiresAt: now + Processing.validitySeconds * 1_000,
    readyAt: now + (isFailing ? Math.max(processed, 1_000) : processed),
    failure: isFailing ? failureOf() : failure,
    media: key === undefined || category.shown === undefined
      ? undefined
      : { key, type: category.shown.as, facts: factsOf(facts, category.shown.as, MediaFiles.pathOf(key, type)) }
  }
}

const factsOf = (
  { durationMillis = 0, height = 0, size, type: content_type = "video/mp4", width = 0 }: MediaFile.Facts,
  as: NonNullable<MediaCategories.Category["shown"]>["as"],
  url: string
): MediaFacts => {
  if (as === "photo") return { width, height, url }
  if (as === "animated_gif") {
    return { width, height, preview_image_url: url, variants: [{ bit_rate: 0, content_type, url }] }
  }
  const bit_rate = durationMillis === 0 ? 0 : Math.round(size * 8_000 / durationMillis)
  return {
    width,
    height,
    duration_ms: durationMillis,
    variants: [{ bit_rate, content_type, url }],
    public_metrics: { view_count: 0 }
  }
}
