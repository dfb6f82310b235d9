/** The best file of a photo, video or GIF, and what its bytes must be. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** A file to fetch. */
export interface Variant {
  readonly url: string
  /** The first part of its media type. */
  readonly kind: "image" | "video"
}

const Variants = Schema.fromJsonString(Schema.Array(Schema.Struct({
  bit_rate: Schema.optionalKey(Schema.Finite),
  content_type: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String)
})))

/** The best variant of a row of `media`: a photo in its original size, or the MP4 of the highest bit rate; none if it has no file. */
export const best = (
  { type, url, variants }: {
    readonly type: string | null
    readonly url: string | null
    readonly variants: string | null
  }
): Variant | undefined => {
  if (type === "photo") return url === null ? undefined : { url: original(url), kind: "image" }
  const [first] = Option.getOrElse(Schema.decodeUnknownOption(Variants)(variants), () => [])
    .filter(({ content_type, url }) => content_type === "video/mp4" && url !== undefined)
    .sort((a, b) => (b.bit_rate ?? 0) - (a.bit_rate ?? 0))
  return first?.url === undefined ? undefined : { url: first.url, kind: "video" }
}

/** The service shows photos at most 1200 pixels wide unless their original size is named. */
const original = (url: string): string => {
  const parsed = URL.parse(url)
  if (parsed?.hostname !== "pbs.twimg.com") return url
  parsed.searchParams.set("name", "orig")
  return String(parsed)
}

/** A format of files. */
export interface Format {
  readonly type: string
  readonly extension: string
}

const formats: ReadonlyArray<Format & { readonly isIn: (head: string) => boolean }> = [
  { type: "image/jpeg", extension: "jpg", isIn: (head) => head.startsWith("\xff\xd8\xff") },
  { type: "image/png", extension: "png", isIn: (head) => head.startsWith("\x89PNG\r\n\x1a\n") },
  { type: "image/gif", extension: "gif", isIn: (head) => /^GIF8[79]a/.test(head) },
  { type: "image/webp", extension: "webp", isIn: (head) => /^RIFF[^]{4}WEBP/.test(head) },
  { type: "video/quicktime", extension: "mov", isIn: (head) => head.startsWith("ftypqt", 4) },
  { type: "video/mp4", extension: "mp4", isIn: (head) => head.startsWith("ftyp", 4) },
  { type: "video/webm", extension: "webm", isIn: (head) => head.startsWith("\x1a\x45\xdf\xa3") }
]

/** The number of first bytes by which a format is recognized. */
export const headBytes = 12

/** The format of a file by its first bytes. */
export const formatOf = (head: Buffer): Format | undefined => {
  const text = head.toString("latin1")
  return formats.find(({ isIn }) => isIn(text))
}
