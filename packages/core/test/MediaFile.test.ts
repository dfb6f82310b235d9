import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Struct } from "effect"
import * as MediaFile from "../src/media/MediaFile.ts"
import * as MediaRules from "../src/media/MediaRules.ts"
import * as MediaBytes from "./support/MediaBytes.ts"
import { test } from "./support/Test.ts"

const { concat, gif, jpeg, mp4, png } = MediaBytes

const within = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** A reader of bytes that counts what is read of them. */
const counting = (bytes: Uint8Array, reach?: number) => {
  const read = { times: 0, bytes: 0 }
  const reader: MediaFile.Reader = {
    size: bytes.length,
    reach,
    read: (offset, length) =>
      Effect.sync(() => {
        assert.isAtMost(offset + length, reach ?? bytes.length)
        read.times += 1
        read.bytes += length
        return bytes.subarray(offset, offset + length)
      })
  }
  return { reader, read }
}

/** What is known of bytes, of what is known at all. */
const factsOf = (bytes: Uint8Array, reach?: number): Partial<MediaFile.Facts> => {
  const { isAnimated, size, ...facts } = Effect.runSync(MediaFile.inspect(counting(bytes, reach).reader))
  assert.strictEqual(size, bytes.length)
  return JSON.parse(JSON.stringify(isAnimated ? { ...facts, isAnimated } : facts))
}

const faultOf = (bytes: Uint8Array): MediaRules.Fault | undefined => {
  const facts = Effect.runSync(MediaFile.inspect(counting(bytes).reader))
  return MediaRules.faultOf(facts, MediaRules.categoryFor(facts) ?? "tweet_image")
}

describe("the type of a file", () => {
  it.each(Object.entries(MediaBytes.samples))("is told by its bytes: %s", (type, bytes) => {
    const { damage, type: found } = factsOf(bytes)
    assert.deepStrictEqual([found, damage], [type, undefined])
  })

  it.each([
    ["a HEIC image", concat([0, 0, 0, 24], "ftypheic", [0, 0, 0, 0], "mif1heic")],
    ["an AVIF image", concat([0, 0, 0, 24], "ftypavif", [0, 0, 0, 0], "mif1avif")],
    ["an M4A sound file", concat([0, 0, 0, 24], "ftypM4A ", [0, 0, 0, 0], "M4A isom")],
    ["a Matroska video", concat([0x1a, 0x45, 0xdf, 0xa3, 0x8b, 0x42, 0x82, 0x88], "matroska")],
    ["an AVI video", concat("RIFF", [0, 1, 0, 0], "AVI LIST")],
    ["a WAV sound file", concat("RIFF", [0, 1, 0, 0], "WAVEfmt ")],
    ["an MP3 sound file", concat("ID3", [4, 0, 0, 0, 0, 0, 0])],
    ["a ZIP archive", MediaBytes.zip("word/document.xml")],
    ["a PDF document", concat("%PDF-1.7\n")],
    ["an SVG image", concat("<?xml version=\"1.0\"?>\n<!-- made -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>")],
    ["an HTML page", concat("\n<!DOCTYPE html><title>GIF89a</title>")],
    ["a text", concat("GIF89 would be a picture")],
    [undefined, concat([0, 1, 2, 3])],
    [undefined, concat("")]
  ])("that the service does not know is called what it is: %s", (otherwise, bytes) => {
    assert.deepStrictEqual(factsOf(bytes), otherwise === undefined ? {} : { otherwise })
  })

  it("is found in a moment, however often a beginning repeats", () => {
    const pieces = [
      "<!---->",
      "<!-- -->",
      "-->",
      "<!--",
      "<?xml>",
      "<svg",
      " ",
      "\n",
      "\0",
      "G",
      "webm",
      "\x42\x82",
      ".usd",
      "0"
    ]
    for (
      const start of ["", "<?xml ?>", "<!--", "\x1aE\xdf\xa3", "PK\x03\x04", "RIFF", "1\n", "WEBVTT", "\xef\xbb\xbf"]
    ) {
      for (const one of pieces) {
        for (const other of pieces) {
          const bytes = Uint8Array.from(start + `${one}${other}`.repeat(400), (character) => character.charCodeAt(0))
          assert.isUndefined(factsOf(bytes).damage)
        }
      }
    }
  })

  it("is that of its beginning, whatever comes behind", () => {
    const page = concat("<html><script>alert(1)</script></html>")
    const archive = MediaBytes.zip("word/document.xml")
    assert.deepStrictEqual(factsOf(concat(gif(), page)), { type: "image/gif", width: 4, height: 4, frames: 1 })
    assert.deepStrictEqual(factsOf(concat(png(), archive)), { type: "image/png", width: 4, height: 4 })
    // As phones write a picture that moves.
    assert.deepStrictEqual(factsOf(concat(jpeg(), mp4())), { type: "image/jpeg", width: 4, height: 4 })
  })

  it("is no picture's where only the first bytes are one's", () => {
    assert.deepStrictEqual(factsOf(concat("GIF89a/*<html>*/=1;<script>alert(1)</script>")), {
      type: "image/gif",
      width: 10_799,
      height: 26_684,
      frames: 0,
      damage: "contradicts itself"
    })
  })
})

describe("an image", () => {
  const size = { width: 300, height: 200 }

  it.each([
    ["JPEG", jpeg(size)],
    ["JPEG behind 60 kB of EXIF", jpeg(size, concat([0xff, 0xe1, 0xea, 0x60], new Uint8Array(59_998)))],
    ["PNG", png(size)],
    ["GIF", gif(size)],
    ["lossy WEBP", MediaBytes.webp(size)],
    ["lossless WEBP", MediaBytes.webp({ ...size, form: "VP8L" })],
    ["animated WEBP", MediaBytes.webp({ ...size, frames: 3 })],
    ["BMP", MediaBytes.bmp(size)],
    ["BMP that stands on its head", MediaBytes.bmp({ ...size, height: -200 })],
    ["old BMP", MediaBytes.bmp({ ...size, isOld: true })],
    ["TIFF", MediaBytes.tiff(size)],
    ["TIFF with the larger bytes first", MediaBytes.tiff({ ...size, isLittle: false })]
  ])("tells its size: %s", (_, bytes) => {
    const { damage, height, width } = factsOf(bytes)
    assert.deepStrictEqual({ width, height, damage }, { ...size, damage: undefined })
  })

  it.each([["GIF", gif({ frames: 3 }), 3, true], ["GIF with one", gif(), 1, false], [
    "GIF without its last byte",
    gif({ frames: 3 }).subarray(0, -1),
    3,
    true
  ], ["animated PNG", png({ frames: 3 }), undefined, false]])(
    "has its frames counted if it is a GIF: %s",
    (_, bytes, frames, isAnimated) => {
      const facts = factsOf(bytes)
      assert.deepStrictEqual([facts.frames, facts.isAnimated ?? false, facts.damage], [frames, isAnimated, undefined])
    }
  )
})

describe("a video", () => {
  const whole = { durationMillis: 2000, width: 640, height: 360 }

  it("has its duration and dimensions read, wherever its headers are", () => {
    assert.deepStrictEqual(factsOf(mp4()), { ...whole, type: "video/mp4" })
    assert.deepStrictEqual(factsOf(mp4({ isFast: true })), { ...whole, type: "video/mp4" })
    assert.deepStrictEqual(factsOf(mp4({ isLong: true })), { ...whole, type: "video/mp4" })
    assert.deepStrictEqual(factsOf(mp4({ brand: "qt  " })), { ...whole, type: "video/quicktime" })
  })

  it("has the size at which it is shown", () => {
    const { height, width } = factsOf(mp4({ isTurned: true }))
    assert.deepStrictEqual([width, height], [640, 360])
  })

  it("in fragments tells its duration if at all, and has no length of its own", () => {
    assert.strictEqual(factsOf(MediaBytes.fragmented(2000)).durationMillis, 2000)
    const { damage, durationMillis, width } = factsOf(MediaBytes.fragmented())
    assert.deepStrictEqual([durationMillis, width, damage], [undefined, 640, undefined])
  })

  it("in WEBM tells its size, and its duration where it was known", () => {
    const type = "video/webm"
    assert.deepStrictEqual(factsOf(MediaBytes.webm({ millis: 2000 })), {
      type,
      width: 640,
      height: 360,
      durationMillis: 2000
    })
    assert.deepStrictEqual(factsOf(MediaBytes.webm()), { type, width: 640, height: 360 })
  })

  it("of 512 MiB is read in a few small pieces, wherever its headers stand", () => {
    for (const isFast of [false, true]) {
      const headers = mp4({ isFast, media: new Uint8Array() })
      const at = isFast ? headers.length : headers.length - MediaBytes.moov().length
      const size = 512 * 1_048_576
      const hole = size - headers.length
      const mdat = new DataView(headers.buffer, at - 8)
      mdat.setUint32(0, 8 + hole)
      let [times, total] = [0, 0]
      const facts = Effect.runSync(MediaFile.inspect({
        size,
        read: (offset, length) =>
          Effect.sync(() => {
            times += 1
            total += length
            return Uint8Array.from({ length }, (_, index) => {
              const place = offset + index
              return (place < at ? headers[place] : headers[place - hole]) ?? 0
            }).fill(0, Math.max(0, at - offset), Math.max(0, Math.min(length, at + hole - offset)))
          })
      }))
      assert.deepStrictEqual([facts.durationMillis, facts.damage], [2000, undefined])
      assert.isAtMost(times, 3)
      assert.isAtMost(total, 200_000)
    }
  })
})

describe("a stream, of which only the beginning can be read", () => {
  it("tells what stands there, and what does not is not held against it", () => {
    assert.deepStrictEqual(factsOf(mp4({ media: new Uint8Array(100_000) }), 65_536), { type: "video/mp4" })
    assert.strictEqual(factsOf(mp4({ media: new Uint8Array(100_000), isFast: true }), 65_536).durationMillis, 2000)
    assert.deepStrictEqual(factsOf(gif({ frames: 5000 }), 1000).damage, undefined)
    assert.deepStrictEqual(factsOf(gif(), 0), {})
  })
})

describe("a file that is not what it says", () => {
  it("and ends too early is refused, wherever it ends", () => {
    const { "text/srt": _srt, "text/vtt": _vtt, "video/mp2t": _ts, "video/quicktime": _mov, ...others } =
      MediaBytes.samples
    // A GIF without its last byte is shown all the same.
    const files = { ...others, "image/gif": gif().subarray(0, -1) }
    for (const [type, bytes] of Object.entries(files)) {
      for (let length = 0; length < bytes.length; length += bytes.length > 500 ? 7 : 1) {
        assert.isDefined(faultOf(bytes.subarray(0, length)), `${type} of ${length} bytes`)
      }
    }
  })

  it.prop("or was changed at any place is told as something, within bounds", {
    type: Schema.Literals(Struct.keys(MediaBytes.samples)),
    changes: Schema.Array(Schema.Struct({ at: within(1000), value: within(255) }))
  }, ({ changes, type }) => {
    const bytes = MediaBytes.samples[type].slice()
    for (const { at, value } of changes) bytes[at % bytes.length] = value
    const { read, reader } = counting(bytes)
    const facts = Effect.runSync(MediaFile.inspect(reader))
    for (const category of categories) {
      const { rule, value = "" } = MediaRules.faultOf(facts, category) ?? {}
      assert.match(`${rule} ${value}`, /^[ -~]+$/)
    }
    assert.isAtMost(read.times, 40)
  }, { arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 20_000 : 500 } })

  const u32 = (...values: ReadonlyArray<number>) =>
    concat(...values.map((value) => [24, 16, 8, 0].map((by) => value >>> by & 255)))
  const ftyp = MediaBytes.box("ftyp", "isom", u32(0))
  const webmHeader = MediaBytes.webm().subarray(0, 20)

  it.each([
    ["an MP4 with a box of 2^63 bytes", concat(ftyp, u32(1), "moov", u32(0x80000000, 0)), "ends too early"],
    [
      "an MP4 with a box of 2^64 - 1 bytes",
      concat(ftyp, u32(1), "free", u32(0xffffffff, 0xffffffff)),
      "ends too early"
    ],
    ["an MP4 with a box that is smaller than its header", concat(ftyp, u32(7), "moov", u32(0)), "contradicts itself"],
    ["an MP4 with a long box that is", concat(ftyp, u32(1), "moov", u32(0, 8)), "contradicts itself"],
    [
      "an MP4 with a box that is larger than the one around it",
      concat(ftyp, u32(16), "moov", u32(100), "trak", new Uint8Array(200)),
      "ends too early"
    ],
    ["an MP4 with nothing but a header", ftyp, "ends too early"],
    ["an MP4 of sound", concat(ftyp, MediaBytes.box("mdat"), MediaBytes.box("moov")), "shows nothing"],
    [
      "an MP4 with a header that is too short",
      concat(ftyp, MediaBytes.box("moov", MediaBytes.box("mvhd", u32(0)))),
      "contradicts itself"
    ],
    ["a PNG that begins otherwise", concat("\x89PNG\r\n\x1a\n", u32(0), "IDAT", u32(0, 0, 0)), "contradicts itself"],
    ["a PNG with a chunk of 4 GiB", concat(png().subarray(0, 33), u32(0xffffffff), "IDAT", u32(0)), "ends too early"],
    ["a PNG without pixels", png({ width: 0 }), "shows nothing"],
    [
      "a JPEG with a segment shorter than its length",
      concat([0xff, 0xd8, 0xff, 0xe0, 0, 1, 0, 0]),
      "contradicts itself"
    ],
    ["a JPEG that ends before it says its size", concat([0xff, 0xd8, 0xff, 0xd9]), "contradicts itself"],
    ["a WEBP in no known form", concat("RIFF", [30, 0, 0, 0], "WEBPnone", new Uint8Array(30)), "contradicts itself"],
    ["a TIFF with its directory elsewhere", concat("II*\0", [255, 255, 255, 255]), "ends too early"],
    ["a BMP with more pixels than bytes", MediaBytes.bmp({ width: 1000 }).subarray(0, 1000), "ends too early"],
    [
      "a WEBM of 2^56 bytes",
      concat(webmHeader, u32(0x18538067), [1, 127], new Uint8Array(6), "rest"),
      "ends too early"
    ],
    ["a WEBM with an element of no id", concat(webmHeader, new Uint8Array(20)), "contradicts itself"]
  ])("is damaged: %s", (_, bytes, damage) => {
    assert.strictEqual(factsOf(bytes).damage, damage)
    assert.deepStrictEqual(faultOf(bytes), { rule: "must be a whole file", value: `one that ${damage}` })
  })

  it.each([
    ["a GIF of parts", gif().subarray(0, 38), [1]],
    ["a GIF of frames", gif().subarray(0, 19), gif().subarray(19, -1)],
    ["a JPEG that fills up", concat([0xff, 0xd8, 0xff]), [0xff]],
    ["a JPEG of a scan", jpeg().subarray(0, -2), [0]],
    ["a JPEG of empty segments", jpeg().subarray(0, 20), [0xff, 0xe1, 0, 2]],
    ["a PNG of empty chunks", png().subarray(0, 33), concat(u32(0), "tEXt", u32(0))],
    [
      "an animated WEBP of empty chunks",
      concat("RIFF", u32(-1), MediaBytes.webp({ frames: 1 }).subarray(8, 30)),
      concat("ANMF", u32(0))
    ],
    ["an MP4 of empty boxes", ftyp, MediaBytes.box("free")],
    ["an MP4 of empty headers", concat(ftyp, u32(0), "moov"), MediaBytes.box("trak")],
    ["a WEBM of empty elements", webmHeader, [0xec, 0x80]],
    ["a WEBM of tracks in tracks", webmHeader, [0xae, 0xff]],
    ["a text", concat("1"), [0x31]]
  ])("and has no end is read to 32 MiB at most: %s", (_, head, tail) => {
    const page = Buffer.alloc(140_000, Uint8Array.from(tail))
    const read = { times: 0, bytes: 0 }
    const facts = Effect.runSync(MediaFile.inspect({
      size: 2 ** 50,
      read: (offset, length) =>
        Effect.sync(() => {
          read.times += 1
          read.bytes += length
          if (offset === 0) return concat(head, page).subarray(0, length)
          const start = (offset - head.length) % tail.length
          return page.subarray(start, start + length)
        })
    }))
    assert.isAtMost(read.bytes, 33_554_432 + 65_536)
    assert.isAtMost(read.times, 8192)
    assert.strictEqual(facts.damage, undefined)
    assert.match(
      MediaRules.faultOf(facts, MediaRules.categoryFor(facts) ?? "tweet_image")?.rule ?? "",
      /^must be (?:at most|JPEG)/
    )
  })

  it("is cut off where reading gives less than there is said to be", () => {
    const bytes = png()
    const facts = Effect.runSync(MediaFile.inspect({ size: 1000, read: () => Effect.succeed(bytes.subarray(0, 40)) }))
    assert.strictEqual(facts.damage, "ends too early")
    assert.deepStrictEqual(
      Effect.runSync(MediaFile.inspect({ size: 1000, read: () => Effect.succeed(new Uint8Array()) })),
      { size: 1000, isAnimated: false, damage: "ends too early" }
    )
  })

  test("and cannot be read fails as reading does, wherever it does")(function*() {
    const bytes = mp4({ media: new Uint8Array(100_000) })
    for (const good of [0, 1]) {
      let times = 0
      const error = yield* Effect.flip(
        MediaFile.inspect({
          size: bytes.length,
          read: (offset, length) =>
            times++ < good ? Effect.succeed(bytes.subarray(offset, offset + length)) : Effect.fail("unreadable")
        })
      )
      assert.strictEqual(error, "unreadable")
    }
  })
})

const categories: ReadonlyArray<MediaRules.MediaCategory> = [
  "tweet_image",
  "tweet_gif",
  "tweet_video",
  "amplify_video",
  "dm_image",
  "dm_gif",
  "dm_video",
  "subtitles"
]
