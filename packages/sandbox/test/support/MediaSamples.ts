/** Small files of each kind, whole and with the headers that they need. */
import { crc32, deflateSync } from "node:zlib"

/** A PNG in one colour; longer by `padding` bytes of a text that nobody shows. */
export const png = (width = 40, height = 30, padding = 0): Uint8Array<ArrayBuffer> => {
  const chunk = (name: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data])
    return Buffer.concat([uint32(data.length), body, uint32(crc32(body))])
  }
  return bytes(
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])])),
    ...(padding === 0 ? [] : [chunk("tEXt", Buffer.alloc(padding, "x"))]),
    chunk("IDAT", deflateSync(Buffer.alloc((width + 1) * height))),
    chunk("IEND", Buffer.alloc(0))
  )
}

/** A GIF of so many frames. */
export const gif = (width = 20, height = 10, frames = 3): Uint8Array<ArrayBuffer> =>
  bytes(
    Buffer.from("GIF89a", "latin1"),
    uint16le(width),
    uint16le(height),
    Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    ...Array.from({ length: frames }, () =>
      Buffer.concat([
        Buffer.from([0x21, 0xf9, 4, 4, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0]),
        uint16le(width),
        uint16le(height),
        Buffer.from([0, 2, 2, 0x4c, 1, 0])
      ])),
    Buffer.from([0x3b])
  )

/** A JPEG of which only the headers are there. */
export const jpeg = (width = 64, height = 48): Uint8Array<ArrayBuffer> =>
  bytes(
    Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 11, 8]),
    uint16(height),
    uint16(width),
    Buffer.from([1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x7f, 0xff, 0xd9])
  )

/** An MP4 of so many seconds, and of so many bytes of samples that nobody can play. */
export const mp4 = (
  { height = 360, samples = 1_000, seconds = 2, width = 640 }: {
    readonly width?: number
    readonly height?: number
    readonly seconds?: number
    readonly samples?: number
  } = {}
): Uint8Array<ArrayBuffer> => {
  const box = (name: string, ...content: ReadonlyArray<Uint8Array>): Buffer => {
    const body = Buffer.concat(content)
    return Buffer.concat([uint32(8 + body.length), Buffer.from(name, "latin1"), body])
  }
  const times = (length: number) =>
    Buffer.concat([Buffer.alloc(12), uint32(1_000), uint32(seconds * 1_000), Buffer.alloc(length - 20)])
  const track = Buffer.alloc(84)
  track.writeUInt32BE(0x10000, 40)
  track.writeUInt32BE(width << 16, 76)
  track.writeUInt32BE(height << 16, 80)
  const handler = Buffer.concat([Buffer.alloc(8), Buffer.from("vide", "latin1"), Buffer.alloc(12)])
  const moov = box(
    "moov",
    box("mvhd", times(100)),
    box("trak", box("tkhd", track), box("mdia", box("mdhd", times(24)), box("hdlr", handler)))
  )
  return bytes(
    box("ftyp", Buffer.from("isom\x00\x00\x02\x00isommp42", "latin1")),
    moov,
    box("mdat", Buffer.alloc(samples, 7))
  )
}

/** Subtitles of one line. */
export const vtt = (): Uint8Array<ArrayBuffer> => new TextEncoder().encode("WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")

const uint32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32BE(value)
  return buffer
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

const uint16le = (value: number): Buffer => Buffer.from([value & 255, value >> 8])

const bytes = (...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(parts))
