/**
 * What a file is, told by its bytes: its type, and what its headers say of its dimensions, frames and duration. Reads a
 * few pages of it, wherever they are, and takes nothing on trust: what a header claims beyond the file is damage.
 */
import * as Effect from "effect/Effect"
import type { fileTypes } from "../schema/models/Media.ts"
import * as FileWindow from "./internal/fileWindow.ts"
import * as ImageFile from "./internal/image.ts"
import * as Mp4File from "./internal/mp4.ts"
import * as WebmFile from "./internal/webm.ts"

export type { Reader } from "./internal/fileWindow.ts"

/** A type that the service knows. Bytes tell all of them but `image/pjpeg`, an old name of JPEG. */
export type MediaType = typeof fileTypes[number]

/** What is known of a file. */
export interface Facts extends ImageFile.Picture, Mp4File.Film {
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
  "video/mp4": Mp4File.readVideo,
  "video/quicktime": Mp4File.readVideo,
  "video/webm": WebmFile.readWebm
}

const signatureOf = (head: string) => signatures.find(([fits]) => fits(head))?.[1]

const isType = (found: MediaType | `a${string}`): found is MediaType => found.includes("/")

/** Enough for any signature: three packets of a transport stream are the longest. */
const headBytes = 1024

type Fits = (head: string) => boolean

const at = (offset: number, ...texts: ReadonlyArray<string>): Fits => (head) =>
  texts.some((text) => head.startsWith(text, offset))

const both = (one: Fits, other: Fits): Fits => (head) => one(head) && other(head)

const branded = (...brands: ReadonlyArray<string>): Fits => at(4, ...brands.map((brand) => `ftyp${brand}`))

const isWebm: Fits = (head) => {
  const type = head.slice(0, 82).indexOf("webm")
  // Its length is between the name of the element and its value.
  return head.startsWith("\x1aE\xdf\xa3") &&
    head.slice(Math.max(4, type - 10), Math.max(4, type - 1)).includes("\x42\x82")
}

const packetBytes = 188

const isTransportStream: Fits = (head) => {
  const { length } = head
  return head.startsWith("G") && (length === packetBytes || (
    head[packetBytes] === "G" && (length === 2 * packetBytes || head[2 * packetBytes] === "G")
  ))
}

const withoutMark = (head: string): string => head.startsWith("\xef\xbb\xbf") ? head.slice(3) : head

const isWebVtt: Fits = (head) => {
  const text = withoutMark(head)
  return text.startsWith("WEBVTT") && " \t\r\n".includes(text.charAt(6))
}

const isNumber = (text: string, digits = text.length): boolean =>
  text !== "" && text.length === digits && Array.from(text).every((digit) => digit >= "0" && digit <= "9")

const isSubRip: Fits = (head) => {
  const [number = "", times = ""] = withoutMark(head).trimStart().split("\n", 2)
  const [from = "", to] = times.split("-->", 2)
  const [hours = "", minutes = "", seconds = "", more] = from.trimEnd().replace(",", ".").split(":")
  const [whole = "", millis = ""] = seconds.split(".")
  return to !== undefined && more === undefined && isNumber(number.trimEnd()) && isNumber(hours) &&
    isNumber(minutes, 2) && isNumber(whole, 2) && isNumber(millis, 3)
}

/** A ZIP of which the first file is a scene, not compressed. */
const isUsdz: Fits = (head) => {
  const name = 30
  const suffix = head.indexOf(".usd", name + 1)
  return head.startsWith("PK\x03\x04") && head.startsWith("\0\0", 8) && suffix !== -1 &&
    Array.from(head.slice(name, suffix)).every((character) => character >= " ")
}

/** The text after a tag, which has to end; empty where it does not. */
const after = (text: string, end: string): string => {
  const found = text.indexOf(end)
  return found === -1 ? "" : text.slice(found + end.length).trimStart()
}

const isSvg: Fits = (head) => {
  let text = head.trimStart()
  if (text.startsWith("<?xml")) text = after(text, ">")
  while (text.startsWith("<!--")) text = after(text, "-->")
  return text.startsWith("<svg") && (text[4] === ">" || text.slice(4, 5).trim() !== text.slice(4, 5))
}

const isHtml: Fits = (head) => {
  const text = head.trimStart().toLowerCase()
  return text.startsWith("<!doctype html") || text.startsWith("<html")
}

const isText: Fits = (head) =>
  head !== "" &&
  Array.from(head).every((character) => (character >= " " && character <= "~") || "\t\n\r".includes(character))

/** How files begin, each byte a character: the first that fits decides. Regular expressions could be made to backtrack. */
const signatures: ReadonlyArray<readonly [Fits, MediaType | `a${string}`]> = [
  [at(0, "\xff\xd8\xff"), "image/jpeg"],
  [at(0, "\x89PNG\r\n\x1a\n"), "image/png"],
  [at(0, "GIF87a", "GIF89a"), "image/gif"],
  [both(at(0, "RIFF"), at(8, "WEBP")), "image/webp"],
  [both(at(0, "BM"), at(6, "\0\0\0\0")), "image/bmp"],
  [at(0, "II*\0", "MM\0*"), "image/tiff"],
  [branded("heic", "heim", "heis", "heix", "hevc", "hevm", "hevs", "hevx", "mif1", "msf1"), "a HEIC image"],
  [branded("avif", "avis"), "an AVIF image"],
  [branded("M4A ", "M4B ", "M4P "), "an M4A sound file"],
  [branded("qt  "), "video/quicktime"],
  [branded(""), "video/mp4"],
  // From before there was `ftyp`.
  [at(4, "moov", "mdat", "wide", "free", "skip", "pnot"), "video/quicktime"],
  [isWebm, "video/webm"],
  [at(0, "\x1aE\xdf\xa3"), "a Matroska video"],
  [isTransportStream, "video/mp2t"],
  [isWebVtt, "text/vtt"],
  [isSubRip, "text/srt"],
  [at(0, "glTF"), "model/gltf-binary"],
  [isUsdz, "model/vnd.usdz+zip"],
  [at(0, "PK\x03\x04"), "a ZIP archive"],
  [both(at(0, "RIFF"), at(8, "AVI ")), "an AVI video"],
  [both(at(0, "RIFF"), at(8, "WAVE")), "a WAV sound file"],
  [at(0, "ID3", "\xff\xfb", "\xff\xf3", "\xff\xf2"), "an MP3 sound file"],
  [at(0, "%PDF-"), "a PDF document"],
  [isSvg, "an SVG image"],
  [isHtml, "an HTML page"],
  [isText, "a text"]
]
