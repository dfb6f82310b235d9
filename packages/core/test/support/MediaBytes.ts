/** Small files of every type of media, made of what their headers say. Images of a colour are whole: a browser shows them. */
import { crc32, deflateSync } from "node:zlib"

type Bytes = Uint8Array<ArrayBuffer>

type Part = string | number | ReadonlyArray<number> | Uint8Array

/** Parts one after the other: a character is a byte, and so is a number. */
export const concat = (...parts: ReadonlyArray<Part>): Bytes =>
  new Uint8Array(
    Buffer.concat(parts.map((part) =>
      typeof part === "string"
        ? Buffer.from(part, "latin1")
        : typeof part === "number"
        ? Buffer.of(part)
        : Buffer.from(part)
    ))
  )

const numbers = (isLittle: boolean) => (bytes: 2 | 4 | 8) => (...values: ReadonlyArray<number>): Bytes => {
  const view = new DataView(new ArrayBuffer(bytes * values.length))
  for (const [index, value] of values.entries()) {
    if (bytes === 2) view.setUint16(2 * index, value, isLittle)
    else if (bytes === 4) view.setUint32(4 * index, value, isLittle)
    else view.setBigUint64(8 * index, BigInt(value), isLittle)
  }
  return new Uint8Array(view.buffer)
}

const [u16, u32, u64] = [numbers(false)(2), numbers(false)(4), numbers(false)(8)]
const [little16, little32] = [numbers(true)(2), numbers(true)(4)]

export interface Size {
  readonly width?: number
  readonly height?: number
  readonly frames?: number
}

/** A PNG in one colour; an animated one where there are frames. */
export const png = ({ frames, height = 4, width = 4 }: Size = {}): Bytes => {
  const chunk = (name: string, ...parts: ReadonlyArray<Part>) => {
    const data = concat(name, ...parts)
    return concat(u32(data.length - 4), data, u32(crc32(data)))
  }
  const rows = deflateSync(Buffer.alloc(height * (1 + 3 * width), 0))
  const control = (sequence: number) => chunk("fcTL", u32(sequence, width, height, 0, 0), u16(1, 10), [0, 0])
  const animation = frames === undefined ? [] : [chunk("acTL", u32(frames, 0)), control(0)]
  const more = Array.from(
    { length: (frames ?? 1) - 1 },
    (_, index) => concat(control(2 * index + 1), chunk("fdAT", u32(2 * index + 2), rows))
  )
  return concat(
    "\x89PNG\r\n\x1a\n",
    chunk("IHDR", u32(width, height), [8, 2, 0, 0, 0]),
    ...animation,
    chunk("IDAT", rows),
    ...more,
    chunk("IEND")
  )
}

/** A GIF with frames of one colour. */
export const gif = ({ frames = 1, height = 4, width = 4 }: Size = {}): Bytes => {
  const frame = concat([0x21, 0xf9, 4, 0], little16(10), [0, 0, 0x2c], little16(0, 0, width, height), [
    0,
    2,
    2,
    0x4c,
    1,
    0
  ])
  return concat(
    "GIF89a",
    little16(width, height),
    [0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    ...Array.from({ length: frames }, () => frame),
    0x3b
  )
}

/** A JPEG that says how large it is, with a scan of nothing. */
export const jpeg = ({ height = 4, width = 4 }: Size = {}, ...segments: ReadonlyArray<Bytes>): Bytes => {
  const segment = (marker: number, ...parts: ReadonlyArray<Part>) => {
    const data = concat(...parts)
    return concat([0xff, marker], u16(data.length + 2), data)
  }
  return concat(
    [0xff, 0xd8],
    segment(0xe0, "JFIF\0", [1, 1, 0], u16(1, 1), [0, 0]),
    ...segments,
    segment(0xc0, 8, u16(height, width), [1, 1, 0x11, 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    [0x12, 0xff, 0, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xff, 0xd9]
  )
}

/** A WEBP: lossy, lossless, or an animated one where there are frames. */
export const webp = (
  { form = "VP8 ", frames, height = 4, width = 4 }: Size & { readonly form?: "VP8 " | "VP8L" } = {}
): Bytes => {
  const chunk = (name: string, ...parts: ReadonlyArray<Part>) => {
    const data = concat(...parts)
    return concat(name, little32(data.length), data, data.length % 2 === 0 ? "" : 0)
  }
  const three = (value: number) => little32(value).subarray(0, 3)
  const picture = form === "VP8 "
    ? chunk("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a], little16(width, height), [0, 0])
    : chunk("VP8L", 0x2f, little32(width - 1 | (height - 1) << 14), 0)
  const frame = chunk("ANMF", three(0), three(0), three(width - 1), three(height - 1), three(10), 0, picture)
  const body = frames === undefined
    ? picture
    : concat(
      chunk("VP8X", [2, 0, 0, 0], three(width - 1), three(height - 1)),
      chunk("ANIM", little32(0), little16(0)),
      ...Array.from({ length: frames }, () => frame)
    )
  return concat("RIFF", little32(4 + body.length), "WEBP", body)
}

/** A BMP with its pixels, with the first header there was or that of Windows. */
export const bmp = ({ height = 4, isOld = false, width = 4 }: Size & { readonly isOld?: boolean } = {}): Bytes => {
  const pixels = new Uint8Array(Math.abs(height) * 4 * Math.ceil(width * 24 / 32))
  const header = isOld
    ? concat(little32(12), little16(width, height, 1, 24))
    : concat(little32(40, width, height), little16(1, 24), little32(0, pixels.length, 1, 1, 0, 0))
  const offset = 14 + header.length
  return concat("BM", little32(offset + pixels.length, 0, offset), header, pixels)
}

/** The directory of a TIFF, in either order of bytes. */
export const tiff = (
  { height = 4, isLittle = true, width = 4 }: Size & { readonly isLittle?: boolean } = {}
): Bytes => {
  const [short, long] = [numbers(isLittle)(2), numbers(isLittle)(4)]
  return concat(
    isLittle ? "II" : "MM",
    short(42),
    long(8),
    short(2),
    short(256, 3),
    long(1),
    short(width, 0),
    short(257, 4),
    long(1, height),
    long(0)
  )
}

/** A box of MP4. */
export const box = (name: string, ...parts: ReadonlyArray<Part>): Bytes => {
  const data = concat(...parts)
  return concat(u32(8 + data.length), name, data)
}

export interface Film {
  readonly brand?: "isom" | "qt  "
  readonly width?: number
  readonly height?: number
  readonly millis?: number
  readonly isTurned?: boolean
  /** Whether headers have room for 64 bits. */
  readonly isLong?: boolean
  /** Whether the headers stand before what they describe. */
  readonly isFast?: boolean
  /** The bytes of the samples. */
  readonly media?: Uint8Array
}

/** The first box of an MP4 or QuickTime file. */
const ftyp = (brand: string) => box("ftyp", brand, u32(0), brand)

/** The headers of a film with sound, in `moov`. */
export const moov = (film: Film = {}): Bytes => {
  const { height = 360, isLong = false, isTurned = false, millis = 2000, width = 640 } = film
  const version = u32(isLong ? 0x01000000 : 0)
  const date = isLong ? u64(0) : u32(0)
  const length = isLong ? u64(millis) : u32(millis)
  const upright = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
  const turned = u32(0, 0x10000, 0, 0xffff0000, 0, 0, 0, 0, 0x40000000)
  const [across, down] = isTurned ? [height, width] : [width, height]
  const track = (id: number, handler: string, sides: Bytes) =>
    box(
      "trak",
      box("tkhd", concat(version, date, date, u32(id, 0), length, u32(0, 0, 0, 0), isTurned ? turned : upright), sides),
      box("mdia", box("hdlr", u32(0, 0), handler, u32(0, 0, 0), 0))
    )
  return box(
    "moov",
    box(
      "mvhd",
      version,
      date,
      date,
      u32(1000),
      length,
      u32(0x10000, 0x01000000, 0, 0),
      upright,
      new Uint8Array(24),
      u32(3)
    ),
    track(1, "soun", u32(0, 0)),
    track(2, "vide", u32(across * 65_536, down * 65_536))
  )
}

/** A film of headers and samples that mean nothing. */
export const mp4 = (film: Film = {}): Bytes => {
  const { brand = "isom", isFast = false, media = new Uint8Array(100) } = film
  const mdat = box("mdat", media)
  return isFast ? concat(ftyp(brand), moov(film), mdat) : concat(ftyp(brand), mdat, moov(film))
}

/** A film in fragments, which tells its duration in `mehd` where it does. */
export const fragmented = (millis?: number): Bytes => {
  const mvex = box("mvex", ...(millis === undefined ? [] : [box("mehd", u32(0, millis))]))
  const inner = moov({ millis: 0 }).subarray(8)
  return concat(ftyp("isom"), box("moov", inner, mvex), box("moof"), box("mdat", "samples"))
}

/** A WEBM as recorders write it: the size of the whole is open where there is no duration. */
export const webm = (
  { height = 360, millis, width = 640 }: {
    readonly width?: number
    readonly height?: number
    readonly millis?: number
  } = {}
): Bytes => {
  const element = (id: number, ...parts: ReadonlyArray<Part>) => {
    const data = concat(...parts)
    return concat(u32(id).filter((_, index) => id >= 256 ** (3 - index)), u32(0x10000000 + data.length), data)
  }
  const duration = new DataView(new ArrayBuffer(8))
  duration.setFloat64(0, millis ?? 0)
  const body = concat(
    element(
      0x1549a966,
      element(0x2ad7b1, u32(1_000_000)),
      ...(millis === undefined ? [] : [element(0x4489, new Uint8Array(duration.buffer))])
    ),
    element(
      0x1654ae6b,
      element(
        0xae,
        element(0x83, 1),
        element(0x86, "V_VP8"),
        element(0xe0, element(0xb0, u16(width)), element(0xba, u16(height)))
      )
    ),
    element(0x1f43b675, "samples")
  )
  const header = element(0x1a45dfa3, element(0x4282, "webm"))
  return millis === undefined
    ? concat(header, u32(0x18538067), [0x01, 255, 255, 255, 255, 255, 255, 255], body)
    : concat(header, element(0x18538067, body))
}

/** Packets of a transport stream. */
export const transportStream = (packets = 4): Bytes =>
  concat(...Array.from({ length: packets }, () => concat(0x47, new Uint8Array(187))))

export const srt = concat("1\r\n00:00:00,000 --> 00:00:01,000\r\nHello\r\n")

export const vtt = concat("\xef\xbb\xbfWEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")

export const gltf = concat("glTF", little32(2, 12))

/** A ZIP with one file, not compressed. */
export const zip = (name: string): Bytes =>
  concat("PK\x03\x04", little16(10, 0, 0, 0, 0), little32(0, 0, 0), little16(name.length, 0), name)

/** A file of every type, each as small as it can be. */
export const samples = {
  "image/jpeg": jpeg(),
  "image/png": png(),
  "image/gif": gif({ frames: 2 }),
  "image/webp": webp(),
  "image/bmp": bmp(),
  "image/tiff": tiff(),
  "video/mp4": mp4(),
  "video/quicktime": mp4({ brand: "qt  " }),
  "video/webm": webm({ millis: 2000 }),
  "video/mp2t": transportStream(),
  "text/srt": srt,
  "text/vtt": vtt,
  "model/gltf-binary": gltf,
  "model/vnd.usdz+zip": zip("scene.usdc")
} as const
