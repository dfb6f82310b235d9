/**
 * The documented limits of the service for media: the category that a file belongs to, and the limit that it breaks. They are
 * checked before anything is sent; the service has the last word.
 */
import type { categories } from "../schema/models/Media.ts"
import type * as MediaFile from "./MediaFile.ts"

/** A category of the service, which decides how it processes media. */
export type MediaCategory = typeof categories[number]

/** The use of media. */
export type Purpose = "post" | "directMessage"

/** A broken rule and the value that breaks it: the end of a sentence that begins with the name of a parameter. */
export interface Fault {
  readonly rule: string
  readonly value?: string | undefined
}

/** The limits of one kind of media; without a value there is no limit. */
export interface Limits {
  readonly types: ReadonlyArray<MediaFile.MediaType>
  readonly bytes?: number
  /** Pixels of the longer and of the shorter side. */
  readonly largest?: readonly [longer: number, shorter: number]
  /** Pixels of either side. */
  readonly smallest?: number
  readonly frames?: number
  /** Pixels of all frames together. */
  readonly pixels?: number
  readonly shortestMillis?: number
  readonly longestMillis?: number
  /** The ratio of the longer side to the shorter one. */
  readonly aspect?: number
}

/** The limits of all kinds of media. */
export interface Table {
  /** The month of the service's documentation. */
  readonly asOf: string
  readonly image: Limits
  readonly gif: Limits
  readonly video: Limits
  readonly subtitles: Limits
  /** Characters of an alternative text. */
  readonly altText: number
  /** Media in one post, which must all be of one kind. */
  readonly perPost: { readonly image: number; readonly gif: number; readonly video: number }
}

const MiB = 1_048_576

/** The documented limits. */
export const limits: Table = {
  asOf: "2026-08",
  image: {
    types: ["image/jpeg", "image/pjpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff"],
    bytes: 5 * MiB
  },
  gif: { types: ["image/gif"], bytes: 15 * MiB, largest: [1280, 1080], frames: 350, pixels: 300_000_000 },
  video: {
    types: ["video/mp4", "video/quicktime", "video/webm", "video/mp2t"],
    bytes: 512 * MiB,
    largest: [1280, 1024],
    smallest: 32,
    shortestMillis: 500,
    longestMillis: 140_000,
    aspect: 3
  },
  subtitles: { types: ["text/srt", "text/vtt"] },
  altText: 1000,
  perPost: { image: 4, gif: 1, video: 1 }
}

/** Limits that replace those of the table; `Infinity` removes one. */
export interface Changes {
  readonly image?: Partial<Omit<Limits, "types">>
  readonly gif?: Partial<Omit<Limits, "types">>
  readonly video?: Partial<Omit<Limits, "types">>
  readonly subtitles?: Partial<Omit<Limits, "types">>
  readonly altText?: number
}

/** The table with changes. */
export const changed = ({ altText = limits.altText, ...changes }: Changes): Table => ({
  ...limits,
  image: { ...limits.image, ...changes.image, types: limits.image.types },
  gif: { ...limits.gif, ...changes.gif, types: limits.gif.types },
  video: { ...limits.video, ...changes.video, types: limits.video.types },
  subtitles: { ...limits.subtitles, ...changes.subtitles, types: limits.subtitles.types },
  altText
})

type Kind = keyof Table["perPost"] | "subtitles"

const kinds: { readonly [Category in MediaCategory]: Kind } = {
  tweet_image: "image",
  tweet_gif: "gif",
  tweet_video: "video",
  amplify_video: "video",
  dm_image: "image",
  dm_gif: "gif",
  dm_video: "video",
  subtitles: "subtitles"
}

/** Checks that the service has a category. */
export const isCategory = (value: unknown): value is MediaCategory =>
  typeof value === "string" && Object.hasOwn(kinds, value)

/** The category of a file; `undefined` if the service has none for its type: 3D models, and files that are not media. */
export const categoryFor = (
  { isAnimated, type }: MediaFile.Facts,
  purpose: Purpose = "post"
): MediaCategory | undefined => {
  if (type === undefined || type.startsWith("model/")) return undefined
  if (type.startsWith("text/")) return "subtitles"
  const kind = type.startsWith("video/") ? "video" : type === "image/gif" && isAnimated ? "gif" : "image"
  return purpose === "post" ? `tweet_${kind}` : `dm_${kind}`
}

/** The first rule that a file breaks as media of a category. Unknown properties break none. */
export const faultOf = (file: MediaFile.Facts, category: MediaCategory, table: Table = limits): Fault | undefined => {
  if (file.size === 0) return { rule: "must not be empty", value: "0 bytes" }
  const limit = table[kinds[category]]
  const as = `as ${category}`
  if (file.type === undefined || !limit.types.includes(file.type)) {
    return { rule: `must be ${typesOf(limit.types)} ${as}`, value: file.type ?? file.otherwise }
  }
  const { bytes = Infinity } = limit
  if (file.size > bytes) {
    return { rule: `must be at most ${bytes / MiB} MiB ${as}`, value: `${grouped(file.size)} bytes` }
  }
  if (file.damage !== undefined) return { rule: "must be a whole file", value: `one that ${file.damage}` }
  return faultOfSides(file, limit, as) ?? faultOfLength(file, limit, as)
}

const faultOfSides = (
  { frames = 0, height, width }: MediaFile.Facts,
  { aspect, largest: [longest, widest] = [Infinity, Infinity], pixels = Infinity, smallest = 0 }: Limits,
  as: string
): Fault | undefined => {
  if (width === undefined || height === undefined) return undefined
  const [longer, shorter] = [Math.max(width, height), Math.min(width, height)]
  const value = `${width}x${height}`
  if (shorter < smallest || longer > longest || shorter > widest) {
    const least = smallest === 0 ? "at most" : `${smallest}x${smallest} to`
    return { rule: `must have ${least} ${longest}x${widest} pixels ${as}`, value }
  }
  if (aspect !== undefined && longer > aspect * shorter) {
    return { rule: `must have sides of 1:${aspect} to ${aspect}:1 ${as}`, value }
  }
  const all = width * height * frames
  return all > pixels
    ? { rule: `must have at most ${grouped(pixels)} pixels in all frames ${as}`, value: grouped(all) }
    : undefined
}

const faultOfLength = (
  { durationMillis, frames = 0 }: MediaFile.Facts,
  { frames: mostFrames = Infinity, longestMillis = Infinity, shortestMillis = 0 }: Limits,
  as: string
): Fault | undefined => {
  if (frames > mostFrames) return { rule: `must have at most ${mostFrames} frames ${as}`, value: grouped(frames) }
  if (durationMillis === undefined || durationMillis >= shortestMillis && durationMillis <= longestMillis) {
    return undefined
  }
  return {
    rule: `must last ${shortestMillis / 1000} to ${longestMillis / 1000} s ${as}`,
    value: `${durationMillis / 1000} s`
  }
}

/** The rule that an alternative text breaks. */
export const faultOfAltText = (text: string, table: Table = limits): Fault | undefined => {
  const length = Array.from(text).length
  return length > table.altText
    ? { rule: `must have at most ${grouped(table.altText)} characters`, value: `${grouped(length)} characters` }
    : undefined
}

/** The rule that the media of one post break: too many, mixed, or of a category that posts cannot have. */
export const faultOfPost = (
  categories: ReadonlyArray<MediaCategory>,
  { perPost }: Table = limits
): Fault | undefined => {
  const [first, ...others] = categories.map((category) => kinds[category])
  if (first === undefined) return undefined
  const mixed = others.some((kind) => kind !== first)
  if (!mixed && first !== "subtitles" && categories.length <= perPost[first] && !categories.some(isOfMessages)) {
    return undefined
  }
  return {
    rule: `must be at most ${perPost.image} images, or ${perPost.gif} GIF, or ${perPost.video} video`,
    value: categories.join(", ")
  }
}

const isOfMessages = (category: MediaCategory): boolean => category.startsWith("dm_")

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",")

/** Types as an enumeration in words. */
export const typesOf = (types: Limits["types"]): string => {
  const known = Array.from(new Set(types.map((type) => names[type])))
  return [...(known.length > 1 ? [known.slice(0, -1).join(", ")] : []), ...known.slice(-1)].join(" or ")
}

const names: { readonly [Type in MediaFile.MediaType]: string } = {
  "image/jpeg": "JPEG",
  "image/pjpeg": "JPEG",
  "image/png": "PNG",
  "image/gif": "GIF",
  "image/webp": "WEBP",
  "image/bmp": "BMP",
  "image/tiff": "TIFF",
  "video/mp4": "MP4",
  "video/quicktime": "QuickTime",
  "video/webm": "WEBM",
  "video/mp2t": "MPEG-TS",
  "text/srt": "SubRip",
  "text/vtt": "WebVTT",
  "model/gltf-binary": "glTF",
  "model/vnd.usdz+zip": "USDZ"
}
