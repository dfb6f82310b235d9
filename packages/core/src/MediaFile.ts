/**
 * What a file is, told by its bytes: its type, and what its headers say of its dimensions, frames and duration. Reads a
 * few pages of it, wherever they are, and takes nothing on trust: what a header claims beyond the file is damage.
 */
import * as Effect from "effect/Effect"
import * as FileWindow from "./internal/FileWindow.ts"
import * as ImageFile from "./internal/ImageFile.ts"
import * as VideoFile from "./internal/VideoFile.ts"
import * as WebmFile from "./internal/WebmFile.ts"
import type { fileTypes } from "./models/Media.ts"

export type { Reader } from "./internal/FileWindow.ts"

/** A type that the service knows. Bytes tell all of them but `image/pjpeg`, an old name of JPEG. */
export type MediaType = typeof fileTypes[number]

/** What is known of a file. */
export interface Facts extends ImageFile.Picture, VideoFile.Film {
  /** Bytes. */
  readonly size: number
  /** `undefined` where the service knows no such files. */
  readonly type?: MediaType | undefined
  /** What it is instead, in words, where it is of no type that the service knows. */
  readonly otherwise?: string | undefined
  /** What is wrong with the file as such, in words: it is cut off, or its headers contradict themselves. */
  readonly damage?: string | undefined
  /** Whether there are several frames. Of an image only. */
  readonly isAnimated: boolean
}

/** What a file is. Fails where reading fails; a file that is damaged, or of no known type, is told as such. */
export const inspect = <E>(reader: FileWindow.Reader<E>): Effect.Effect<Facts, E> => {
  const facts: Found = { size: reader.size, isAnimated: false }
  const tell = Effect.gen(function*() {
    const window = FileWindow.open(reader)
    const found = signatureOf(yield* window.head(headBytes))
    if (found === undefined || !isType(found)) {
      facts.otherwise = found
      return
    }
    facts.type = found
    const read = readers[found]
    if (read !== undefined) yield* read(window, facts)
  })
  return Effect.map(
    Effect.catchIf(tell, (error) => error instanceof FileWindow.Stopped, ({ why }) => {
      if (why !== "unreached") facts.damage = damages[why]
      return Effect.void
    }),
    () => {
      if (facts.width === 0 || facts.height === 0) facts.damage ??= damages.unseen
      facts.isAnimated = facts.frames !== undefined && facts.frames > 1
      return facts
    }
  )
}

type Found = { -readonly [Fact in keyof Facts]: Facts[Fact] }

const damages = { cut: "ends too early", broken: "contradicts itself", unseen: "shows nothing" }

const readers: {
  readonly [Type in MediaType]?: <E>(
    window: FileWindow.FileWindow<E>,
    found: Found
  ) => Effect.Effect<void, E | FileWindow.Stopped>
} = {
  "image/jpeg": ImageFile.readJpeg,
  "image/png": ImageFile.readPng,
  "image/gif": ImageFile.readGif,
  "image/webp": ImageFile.readWebp,
  "image/bmp": ImageFile.readBmp,
  "image/tiff": ImageFile.readTiff,
  "video/mp4": VideoFile.readVideo,
  "video/quicktime": VideoFile.readVideo,
  "video/webm": WebmFile.readWebm
}

const signatureOf = (head: string) => signatures.find(([signature]) => signature.test(head))?.[1]

const isType = (found: MediaType | `a${string}`): found is MediaType => found.includes("/")

/** Enough for any signature: three packets of a transport stream are the longest. */
const headBytes = 1024

/** How files begin, each byte a character: the first that fits decides. */
const signatures: ReadonlyArray<readonly [RegExp, MediaType | `a${string}`]> = [
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^BM[^]{4}\0{4}/, "image/bmp"],
  [/^(?:II\*\0|MM\0\*)/, "image/tiff"],
  [/^[^]{4}ftyp(?:hei[cmsx]|hev[cmsx]|mif1|msf1)/, "a HEIC image"],
  [/^[^]{4}ftypavi[fs]/, "an AVIF image"],
  [/^[^]{4}ftypM4[ABP] /, "an M4A sound file"],
  [/^[^]{4}ftypqt {2}/, "video/quicktime"],
  [/^[^]{4}ftyp/, "video/mp4"],
  // From before there was `ftyp`.
  [/^[^]{4}(?:moov|mdat|wide|free|skip|pnot)/, "video/quicktime"],
  [/^\x1aE\xdf\xa3[^]{0,64}?\x42\x82[^]{1,8}?webm/, "video/webm"],
  [/^\x1aE\xdf\xa3/, "a Matroska video"],
  [/^G[^]{187}(?:$|G[^]{187}(?:$|G))/, "video/mp2t"],
  [/^(?:\xef\xbb\xbf)?WEBVTT(?![^ \t\r\n])/, "text/vtt"],
  [/^(?:\xef\xbb\xbf)?\s*\d+[ \t]*\r?\n\d+:\d\d:\d\d[,.]\d{3}[ \t]*-->/, "text/srt"],
  [/^glTF/, "model/gltf-binary"],
  // A ZIP of which the first file is a scene, not compressed.
  [/^PK\x03\x04[^]{4}\0\0[^]{20}[^\0-\x1f]+?\.usd[ac]?/, "model/vnd.usdz+zip"],
  [/^PK\x03\x04/, "a ZIP archive"],
  [/^RIFF[^]{4}AVI /, "an AVI video"],
  [/^RIFF[^]{4}WAVE/, "a WAV sound file"],
  [/^(?:ID3|\xff[\xfb\xf3\xf2])/, "an MP3 sound file"],
  [/^%PDF-/, "a PDF document"],
  [/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*<svg[\s>]/, "an SVG image"],
  [/^\s*<(?:!doctype html|html)/i, "an HTML page"],
  [/^[\t\n\r -~]+$/, "a text"]
]
