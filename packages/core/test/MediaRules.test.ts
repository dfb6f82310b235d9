import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { InvalidParameters } from "../src/errors/Errors.ts"
import * as MediaFile from "../src/media/MediaFile.ts"
import * as MediaRules from "../src/media/MediaRules.ts"
import { bmp, concat, gif, jpeg, mp4, png, samples, srt, webm, webp, zip } from "./support/MediaBytes.ts"

const inspect = (bytes: Uint8Array): MediaFile.Facts =>
  Effect.runSync(
    MediaFile.inspect({
      size: bytes.length,
      read: (offset, length) => Effect.sync(() => bytes.subarray(offset, offset + length))
    })
  )

/** What is said of a fault of a parameter. */
const messageOf = (parameter: string, fault: MediaRules.Fault | undefined): string =>
  fault === undefined ? "" : new InvalidParameters({ operation: "upload", parameter, ...fault }).message

const said = (bytes: Uint8Array, category?: MediaRules.MediaCategory, more: Partial<MediaFile.Facts> = {}): string => {
  const facts = { ...inspect(bytes), ...more }
  return messageOf("file", MediaRules.faultOf(facts, category ?? MediaRules.categoryFor(facts) ?? "tweet_image"))
}

describe("the category of a file", () => {
  it("follows from its type and its purpose", () => {
    const categories = Object.entries(samples).map(([type, bytes]) => {
      const facts = inspect(bytes)
      return [type, MediaRules.categoryFor(facts), MediaRules.categoryFor(facts, "directMessage")]
    })
    assert.deepStrictEqual(categories, [
      ["image/jpeg", "tweet_image", "dm_image"],
      ["image/png", "tweet_image", "dm_image"],
      ["image/gif", "tweet_gif", "dm_gif"],
      ["image/webp", "tweet_image", "dm_image"],
      ["image/bmp", "tweet_image", "dm_image"],
      ["image/tiff", "tweet_image", "dm_image"],
      ["video/mp4", "tweet_video", "dm_video"],
      ["video/quicktime", "tweet_video", "dm_video"],
      ["video/webm", "tweet_video", "dm_video"],
      ["video/mp2t", "tweet_video", "dm_video"],
      ["text/srt", "subtitles", "subtitles"],
      ["text/vtt", "subtitles", "subtitles"],
      ["model/gltf-binary", undefined, undefined],
      ["model/vnd.usdz+zip", undefined, undefined]
    ])
    assert.strictEqual(MediaRules.categoryFor(inspect(gif({ frames: 1 }))), "tweet_image")
    assert.strictEqual(MediaRules.categoryFor(inspect(concat("%PDF-1.7"))), undefined)
  })
})

describe("a file that keeps the rules", () => {
  it.each(Object.entries(samples).filter(([type]) => !type.startsWith("model/")))("has no fault: %s", (_, bytes) => {
    const facts = inspect(bytes)
    for (const purpose of ["post", "directMessage"] as const) {
      assert.isUndefined(MediaRules.faultOf(facts, MediaRules.categoryFor(facts, purpose) ?? "subtitles"))
    }
  })

  it("may be at any limit", () => {
    for (
      const bytes of [
        gif({ width: 1280, height: 669, frames: 350 }),
        gif({ width: 1080, height: 1280, frames: 2 }),
        mp4({ width: 1280, height: 1024, millis: 140_000 }),
        mp4({ width: 1024, height: 1280 }),
        mp4({ width: 32, height: 96, millis: 500 })
      ]
    ) assert.strictEqual(said(bytes), "")
    const MiB = 1_048_576
    assert.strictEqual(said(png(), "tweet_image", { size: 5 * MiB }), "")
    assert.strictEqual(said(gif(), "tweet_gif", { size: 15 * MiB }), "")
    assert.strictEqual(said(mp4(), "amplify_video", { size: 512 * MiB }), "")
    assert.strictEqual(said(srt, "subtitles", { size: 512 * MiB }), "")
  })

  it("breaks none by what is not known of it", () => {
    const facts: MediaFile.Facts = { size: 1, type: "video/mp4", isAnimated: false }
    assert.isUndefined(MediaRules.faultOf(facts, "tweet_video"))
  })
})

describe("a file that breaks a rule", () => {
  it.each([
    [said(concat()), "file must not be empty. Got 0 bytes."],
    [
      said(concat([0, 0, 0, 24], "ftypheic")),
      "file must be JPEG, PNG, GIF, WEBP, BMP or TIFF as tweet_image. Got a HEIC image."
    ],
    [said(concat([0, 1])), "file must be JPEG, PNG, GIF, WEBP, BMP or TIFF as tweet_image."],
    [
      said(zip("scene.usdc"), "tweet_video"),
      "file must be MP4, QuickTime, WEBM or MPEG-TS as tweet_video. Got model/vnd.usdz+zip."
    ],
    [said(png(), "tweet_gif"), "file must be GIF as tweet_gif. Got image/png."],
    [said(mp4(), "subtitles"), "file must be SubRip or WebVTT as subtitles. Got video/mp4."],
    [said(png().subarray(0, 50)), "file must be a whole file. Got one that ends too early."],
    [said(jpeg(), "dm_image", { size: 5_242_881 }), "file must be at most 5 MiB as dm_image. Got 5,242,881 bytes."],
    [
      said(gif({ frames: 2 }), "tweet_gif", { size: 2e7 }),
      "file must be at most 15 MiB as tweet_gif. Got 20,000,000 bytes."
    ],
    [said(gif({ frames: 351 })), "file must have at most 350 frames as tweet_gif. Got 351."],
    [said(gif({ width: 1281, frames: 2 })), "file must have at most 1280x1080 pixels as tweet_gif. Got 1281x4."],
    [
      said(gif({ width: 1100, height: 1100, frames: 2 })),
      "file must have at most 1280x1080 pixels as tweet_gif. Got 1100x1100."
    ],
    [
      said(gif({ width: 1280, height: 1000, frames: 300 })),
      "file must have at most 300,000,000 pixels in all frames as tweet_gif. Got 384,000,000."
    ],
    [said(mp4({ millis: 150_000 })), "file must last 0.5 to 140 s as tweet_video. Got 150 s."],
    [said(mp4({ millis: 499 })), "file must last 0.5 to 140 s as tweet_video. Got 0.499 s."],
    [said(webm({ millis: 140_001 })), "file must last 0.5 to 140 s as tweet_video. Got 140.001 s."],
    [
      said(mp4({ width: 1920, height: 1080 })),
      "file must have 32x32 to 1280x1024 pixels as tweet_video. Got 1920x1080."
    ],
    [said(mp4({ width: 30, height: 40 })), "file must have 32x32 to 1280x1024 pixels as tweet_video. Got 30x40."],
    [said(mp4({ width: 100, height: 301 })), "file must have sides of 1:3 to 3:1 as tweet_video. Got 100x301."]
  ])("%s", (message, expected) => {
    assert.strictEqual(message, `upload: ${expected}`)
  })

  it("breaks it by the table that is given", () => {
    const table = MediaRules.changed({ video: { longestMillis: 600_000, bytes: Infinity }, altText: 5 })
    assert.isUndefined(
      MediaRules.faultOf({ ...inspect(mp4({ millis: 150_000 })), size: 2 ** 40 }, "tweet_video", table)
    )
    assert.isDefined(MediaRules.faultOf(inspect(mp4({ millis: 600_001 })), "tweet_video", table))
    assert.isDefined(MediaRules.faultOf(inspect(mp4({ width: 1920 })), "tweet_video", table))
    assert.isDefined(MediaRules.faultOfAltText("A house", table))
    assert.deepStrictEqual(MediaRules.changed({}), MediaRules.limits)
  })

  it("is not held to limits of other kinds", () => {
    assert.strictEqual(said(bmp({ width: 1, height: 3000 })), "")
    assert.strictEqual(said(webp({ width: 16_000, height: 16_000 })), "")
  })
})

it("an alternative text has 1,000 characters at most, however they are coded", () => {
  assert.isUndefined(MediaRules.faultOfAltText("😀".repeat(1000)))
  assert.strictEqual(
    messageOf("alt", MediaRules.faultOfAltText("a".repeat(1001))),
    "upload: alt must have at most 1,000 characters. Got 1,001 characters."
  )
})

describe("the media of a post", () => {
  it.each<ReadonlyArray<MediaRules.MediaCategory>>([
    [],
    ["tweet_image"],
    ["tweet_image", "tweet_image", "tweet_image", "tweet_image"],
    ["tweet_gif"],
    ["tweet_video"],
    ["amplify_video"]
  ])("may be %s %s %s %s", (...categories) => {
    assert.isUndefined(MediaRules.faultOfPost(categories))
  })

  it.each<ReadonlyArray<MediaRules.MediaCategory>>([
    ["tweet_image", "tweet_image", "tweet_image", "tweet_image", "tweet_image"],
    ["tweet_gif", "tweet_gif"],
    ["tweet_video", "amplify_video"],
    ["tweet_image", "tweet_gif"],
    ["tweet_video", "tweet_image"],
    ["dm_image"],
    ["subtitles"]
  ])("may not be %s %s %s %s %s", (...categories) => {
    assert.strictEqual(
      messageOf("media", MediaRules.faultOfPost(categories)),
      `upload: media must be at most 4 images, or 1 GIF, or 1 video. Got ${categories.join(", ")}.`
    )
  })
})
