import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Errors from "../src/errors/Errors.ts"
import type { Opened, Source } from "../src/media/Source.ts"
import { type Progress, upload, type UploadOptions } from "../src/media/Upload.ts"
import * as MediaBytes from "./support/MediaBytes.ts"
import * as MediaService from "./support/MediaService.ts"
import { test } from "./support/Test.ts"

const { noise, passing } = MediaService

const MiB = 1_048_576

/** Of no type that anything could tell, so that nothing is known of it but what is said here. */
const video = { type: "video/mp4", chunkBytes: 100 } as const

/** A source of so many bytes that are not there. */
const empty = (size: number): Source => {
  const zeros = new Uint8Array(8 * MiB)
  const opened: Opened = {
    size,
    isSeekable: true,
    version: undefined,
    read: (offset, length) => Effect.succeed(zeros.subarray(0, Math.max(Math.min(length, size - offset), 0)))
  }
  return { name: "empty", open: Effect.succeed(opened) }
}

describe("an upload", () => {
  test("sends a file in segments and gives what is made of it")(function*() {
    const service = MediaService.make()
    const bytes = noise(450)
    const told: Array<Progress> = []
    const media = yield* passing(
      upload(bytes, { ...video, additional_owners: ["7", 8n], shared: true, onProgress: (step) => told.push(step) })
    ).pipe(Effect.provide(service.layer()))
    const { expiresAt, ...rest } = media
    assert.deepStrictEqual(rest, { id: "1", media_key: "3_1", type: "video/mp4", category: "tweet_video", size: 450 })
    assert.closeTo(expiresAt!.getTime(), 86_400_000, 60_000)
    assert.deepStrictEqual(service.bytes("1"), Buffer.from(bytes))
    assert.deepStrictEqual(service.uploads.get("1")?.terms, {
      total_bytes: 450,
      media_type: "video/mp4",
      media_category: "tweet_video",
      additional_owners: ["7", "8"],
      shared: true
    })
    assert.deepStrictEqual(service.operations(), ["initialize", ...Array(5).fill("append"), "finalize"])
    assert.deepStrictEqual(
      told,
      [0, 100, 200, 300, 400, 450].map((sentBytes) => ({
        phase: "upload",
        sentBytes,
        totalBytes: 450,
        fraction: sentBytes / 450
      }))
    )
  })

  test.each(
    [
      { bytes: MediaBytes.png(), type: "image/png", category: "tweet_image" },
      { bytes: MediaBytes.png(), purpose: "directMessage", type: "image/png", category: "dm_image" },
      { bytes: MediaBytes.gif({ frames: 2 }), type: "image/gif", category: "tweet_gif" },
      { bytes: MediaBytes.gif({ frames: 1 }), type: "image/gif", category: "tweet_image" },
      { bytes: MediaBytes.srt, type: "text/srt", category: "subtitles" }
    ] as const
  )("knows $type, and that it is $category")(function*({ bytes, category, type, ...options }) {
    const service = MediaService.make()
    const media = yield* passing(upload(bytes, options)).pipe(Effect.provide(service.layer()))
    assert.deepInclude(media, { category, type, size: bytes.length })
    assert.deepInclude(service.uploads.get("1")?.terms, { media_category: category, media_type: type })
  })

  test.each([[1, 1], [MiB, 1], [MiB + 1, 2], [100 * MiB, 100], [100 * MiB + 1, 51], [512 * MiB, 128]] as const)(
    "of %i bytes has %i segments"
  )(function*([size, segments]) {
    const service = MediaService.make({ copies: false })
    const media = yield* passing(upload(empty(size), { type: "video/mp4" })).pipe(Effect.provide(service.layer()))
    assert.strictEqual(media.size, size)
    const indices = service.calls.flatMap(({ index, operation }) => operation === "append" ? [index] : [])
    assert.deepStrictEqual(indices, Array.from({ length: segments }, (_, index) => index))
  })

  test("describes what it has sent, and adds its subtitles")(function*() {
    const service = MediaService.make()
    const media = yield* passing(
      upload(noise(150), {
        ...video,
        alt: "A lighthouse at dusk",
        subtitles: [{ file: MediaBytes.srt, language: "EN", name: "English" }, {
          file: MediaBytes.vtt,
          language: "DE",
          name: "Deutsch"
        }],
        user_auth: true
      })
    ).pipe(Effect.provide(service.layer()))
    const described = service.calls.flatMap(({ body, operation }) =>
      operation === "metadata" || operation === "subtitles" ? [body] : []
    )
    assert.deepStrictEqual(described, [{ id: media.id, metadata: { alt_text: { text: "A lighthouse at dusk" } } }, {
      id: media.id,
      media_category: "TweetVideo",
      subtitles: { id: "2", language_code: "EN", display_name: "English" }
    }, {
      id: media.id,
      media_category: "TweetVideo",
      subtitles: { id: "3", language_code: "DE", display_name: "Deutsch" }
    }])
    assert.deepInclude(service.uploads.get("3")?.terms, { media_category: "subtitles", media_type: "text/vtt" })
  })

  test("is a Stream of its steps, and is cancelled by who stops reading")(function*() {
    const service = MediaService.make({
      processing: [{ state: "pending", check_after_secs: 1 }, { state: "succeeded", progress_percent: 100 }]
    })
    const steps = yield* passing(Stream.runCollect(upload.events(noise(250), video))).pipe(
      Effect.provide(service.layer())
    )
    assert.deepStrictEqual(
      steps.map((step) => step.phase === "ready" ? `ready ${step.media.id}` : `${step.phase} ${step.fraction}`),
      ["upload 0", "upload 0.4", "upload 0.8", "upload 1", "processing 0", "processing 1", "ready 1"]
    )
    const slow = MediaService.make({ fault: () => Effect.as(Effect.sleep(1000), undefined) })
    const some = yield* passing(Stream.runCollect(Stream.take(upload.events(noise(2500), video), 3))).pipe(
      Effect.provide(slow.layer())
    )
    assert.lengthOf(some, 3)
    assert.deepStrictEqual([...slow.uploads.get("1")?.segments.keys() ?? []], [0, 1])
    const failed = yield* passing(Effect.flip(Stream.runDrain(upload.events(noise(0), video)))).pipe(
      Effect.provide(service.layer())
    )
    assert.instanceOf(failed, Errors.InvalidParameters)
  })

  test("is not harmed by who is told of it")(function*() {
    const service = MediaService.make({ processing: [{ state: "pending" }, undefined] })
    const media = yield* passing(upload(noise(250), {
      ...video,
      onProgress: () => {
        throw new Error("no")
      }
    })).pipe(Effect.provide(service.layer()))
    assert.strictEqual(media.id, "1")
  })
})

test("limits are those that are given, where the service takes more than its documentation says")(function*() {
  const service = MediaService.make()
  const bytes = MediaBytes.mp4({ millis: 600_000, width: 1920, height: 1080 })
  const limits = { video: { longestMillis: 600_000, largest: [1920, 1200] } } as const
  const { size } = yield* passing(upload(bytes, { limits })).pipe(Effect.provide(service.layer()))
  assert.strictEqual(size, bytes.length)
})

describe("what is refused before anything is sent", () => {
  const big = (size: number, type: UploadOptions["type"]) => [empty(size), { type }] as const

  test.each(
    [
      ["file must not be empty. Got 0 bytes", new Uint8Array(), {}],
      [
        "file must be an image, a GIF or a video that the service accepts. Got a PDF document",
        MediaBytes.concat("%PDF-1.7 and more"),
        {}
      ],
      ["file must be MP4", MediaBytes.png(), { category: "tweet_video" }],
      ["file must be at most 5 MiB as tweet_image. Got 5,242,881 bytes", ...big(5 * MiB + 1, "image/png")],
      ["file must be at most 512 MiB as tweet_video. Got 536,870,913 bytes", ...big(512 * MiB + 1, "video/mp4")],
      ["file must last 0.5 to 140 s", MediaBytes.mp4({ millis: 141_000 }), {}],
      [
        "file must be a Uint8Array, an ArrayBuffer, a Blob, a stream with its size in bytes, or on Node a path",
        "a.png",
        {}
      ],
      ["file must be a Uint8Array", { stream: new Blob(["a"]).stream() }, {}],
      ["file must be a Uint8Array", { stream: new Blob(["a"]).stream(), size: -1 }, {}],
      ["chunkBytes must be at least 1049, because an upload has at most 1000 segments. Got 1000", empty(MiB), {
        type: "video/mp4",
        chunkBytes: 1000
      }],
      ["chunkBytes must be a whole number of bytes above 0. Got 0", MediaBytes.png(), { chunkBytes: 0 }],
      ["maxWait must be a number of milliseconds from 0", MediaBytes.png(), { maxWait: Number.NaN }],
      ["type must be a text, as image/png", MediaBytes.png(), { type: 5 }],
      ["purpose must be post or directMessage. Got \"dm\"", MediaBytes.png(), { purpose: "dm" }],
      ["category must be a category of the service", MediaBytes.png(), { category: "photo" }],
      ["alt must have at most 1,000 characters. Got 1,001 characters", MediaBytes.png(), { alt: "😀".repeat(1001) }],
      ["alt must be a text that is not empty", MediaBytes.png(), { alt: "" }],
      ["altText is not an option of an upload", MediaBytes.png(), { altText: "A" }],
      ["limits must be an object", MediaBytes.png(), { limits: 140 }],
      ["alt must have at most 5 characters", MediaBytes.png(), { alt: "A house", limits: { altText: 5 } }],
      ["file must be JPEG", MediaBytes.concat("%PDF-1.7"), { category: "tweet_image", limits: { image: null } }],
      ["onProgress must be a function", MediaBytes.png(), { onProgress: true }],
      ["options must be an object", MediaBytes.png(), "alt"],
      ["subtitles is allowed for videos of posts only. Got tweet_image", MediaBytes.png(), {
        subtitles: [{ file: MediaBytes.srt, language: "EN", name: "English" }]
      }],
      ["subtitles[0].language must be two capital letters, as EN. Got \"en\"", noise(9), {
        ...video,
        subtitles: [{ file: MediaBytes.srt, language: "en", name: "English" }]
      }],
      ["subtitles[1].language can be given once", noise(9), {
        ...video,
        subtitles: [{ file: MediaBytes.srt, language: "EN", name: "English" }, {
          file: MediaBytes.vtt,
          language: "EN",
          name: "English"
        }]
      }],
      ["subtitles[0].name must be a text", noise(9), {
        ...video,
        subtitles: [{ file: MediaBytes.srt, language: "EN" }]
      }],
      ["subtitles[0].file must be SubRip or WebVTT as subtitles. Got image/png", noise(9), {
        ...video,
        subtitles: [{ file: MediaBytes.png(), language: "EN", name: "English" }]
      }],
      ["subtitles must be a list", noise(9), { ...video, subtitles: "EN" }]
    ] as const
  )("%s")(function*([message, file, options]) {
    const service = MediaService.make()
    const error = yield* Effect.flip(upload(file as Uint8Array, options as UploadOptions)).pipe(
      Effect.provide(service.layer())
    )
    assert.instanceOf(error, Errors.InvalidParameters)
    assert.include(error.message, `upload: ${message}`)
    assert.lengthOf(service.calls, 0)
  })

  test("owners that are none")(function*() {
    const service = MediaService.make()
    const error = yield* Effect.flip(upload(MediaBytes.png(), { additional_owners: 7 } as unknown as UploadOptions))
      .pipe(Effect.provide(service.layer()))
    assert.instanceOf(error, Errors.InvalidParameters)
    assert.strictEqual(error.parameter, "additional_owners")
    assert.lengthOf(service.calls, 0)
  })

  test("a stream that is not as long as was said fails, and is never ended as media")(function*() {
    for (const [size, fault] of [[249, "long"], [251, "short"]] as const) {
      const service = MediaService.make()
      const stream = Stream.fromIterable([noise(250)])
      const error = yield* passing(Effect.flip(upload({ stream, size }, video))).pipe(Effect.provide(service.layer()))
      assert.instanceOf(error, Errors.SourceFailure)
      assert.strictEqual(error.fault, fault)
      assert.notInclude(service.operations(), "finalize")
    }
  })
})
