/**
 * Finds the type, dimensions and duration of a file in its bytes. It reads a few pages, wherever the headers are. A header that
 * claims more than the file has counts as damage.
 */
import * as Effect from "effect/Effect"
import type { fileTypes } from "../schema/models/Media.ts"
import * as FileWindow from "./internal/fileWindow.ts"
import * as Image from "./internal/image.ts"
import { readMp4 } from "./internal/mp4.ts"
import { readWebm } from "./internal/webm.ts"

export type { Reader } from "./internal/fileWindow.ts"

/** A type that the service accepts. All can be recognised but `image/pjpeg`, an old name of JPEG. */
export type MediaType = typeof fileTypes[number]

/** The properties of a file. */
export interface Facts extends Readonly<FileWindow.Measures> {
  /** Bytes. */
  readonly size: number
  /** `undefined` for a type that the service does not accept. */
  readonly type?: MediaType | undefined
  /** A description of any other recognised type. */
  readonly otherwise?: string | undefined
  /** A description of damage: the file is truncated, or its headers contradict themselves. */
  readonly damage?: string | undefined
  /** A GIF with more than one frame. */
  readonly isAnimated: boolean
}

/** Inspects a file. Fails only if reading fails: damage and unknown types are part of the result. */
export const inspect = <E>(reader: FileWindow.Reader<E>): Effect.Effect<Facts, E> => {
  const facts: { -readonly [Fact in keyof Facts]: Facts[Fact] } = { size: reader.size, isAnimated: false }
  const read = Effect.gen(function*() {
    const window = FileWindow.open(reader)
    const found = signatureOf(yield* window.head(headBytes))
    if (found === undefined || !isType(found)) {
      facts.otherwise = found
      return
    }
    facts.type = found
    yield* readers[found]?.(window, facts) ?? Effect.void
  })
  return Effect.map(
    Effect.catchIf(read, (error) => error instanceof FileWindow.Stopped, ({ why }) => {
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

const damages = { cut: "ends too early", broken: "contradicts itself", unseen: "shows nothing" }

const readers: {
  readonly [Type in MediaType]?: <E>(
    window: FileWindow.FileWindow<E>,
    found: FileWindow.Measures
  ) => FileWindow.Reading<E>
} = {
  "image/jpeg": Image.readJpeg,
  "image/png": Image.readPng,
  "image/gif": Image.readGif,
  "image/webp": Image.readWebp,
  "image/bmp": Image.readBmp,
  "image/tiff": Image.readTiff,
  "video/mp4": readMp4,
  "video/quicktime": readMp4,
  "video/webm": readWebm
}

const signatureOf = (head: string) => signatures.find(([fits]) => fits(head))?.[1]

const isType = (found: MediaType | `a${string}`): found is MediaType => found.includes("/")

/** Long enough for every signature; the longest is three packets of a transport stream. */
const headBytes = 1024

type Fits = (head: string) => boolean

const at = (offset: number, ...texts: ReadonlyArray<string>): Fits => (head) =>
  texts.some((text) => head.startsWith(text, offset))

const both = (one: Fits, other: Fits): Fits => (head) => one(head) && other(head)

const branded = (...brands: ReadonlyArray<string>): Fits => at(4, ...brands.map((brand) => `ftyp${brand}`))

const isWebm: Fits = (head) => {
  const type = head.slice(0, 82).indexOf("webm")
  // The length is between the element's name and its value.
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

/** A ZIP archive whose first file is an uncompressed scene. */
const isUsdz: Fits = (head) => {
  const name = 30
  const suffix = head.indexOf(".usd", name + 1)
  return head.startsWith("PK\x03\x04") && head.startsWith("\0\0", 8) && suffix !== -1 &&
    Array.from(head.slice(name, suffix)).every((character) => character >= " ")
}

/** The text after the end of a tag; empty if the tag does not end. */
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

/** Signatures in order of precedence, with bytes as characters. No regular expressions: crafted files could make them backtrack. */
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
  // Files older than `ftyp`.
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
