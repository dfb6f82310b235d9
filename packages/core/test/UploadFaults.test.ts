import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { inspect } from "node:util"
import * as Errors from "../src/errors/Errors.ts"
import type { Source } from "../src/media/Source.ts"
import { type Progress, upload } from "../src/media/Upload.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as MediaService from "./support/MediaService.ts"
import * as Service from "./support/Service.ts"
import { fails } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { noise, passing } = MediaService

const video = { type: "video/mp4", chunkBytes: 100 } as const

const answer = (status: number): MediaService.Fault => ({ status, body: { title: "T", detail: "D" } })

/** The faults of the calls of one operation, in their order. */
const faults = (operation: MediaService.Operation, list: ReadonlyArray<MediaService.Fault>): MediaService.Options => ({
  fault: (call) => call.operation === operation ? list[call.nth] : undefined
})

const sending = (service: ReturnType<typeof MediaService.make>, bytes = noise(250), options: object = {}) =>
  passing(upload(bytes, { ...video, ...options })).pipe(Effect.provide(service.layer()))

describe("a segment", () => {
  test.each(
    [["lost before", [undefined, "lost before"]], ["lost after", [undefined, "lost after"]], ["503", [
      undefined,
      answer(503),
      answer(500),
      "lost before"
    ]], ["often", Array(6).fill(answer(502))]] as ReadonlyArray<[string, ReadonlyArray<MediaService.Fault>]>
  )("is sent again when it was lost: %s")(function*([, list]) {
    const service = MediaService.make(faults("append", list))
    yield* sending(service)
    assert.deepStrictEqual(service.bytes("1"), Buffer.from(noise(250)))
    assert.strictEqual(
      service.calls.filter(({ operation }) => operation === "append").length,
      3 + list.filter(Boolean).length
    )
    assert.lengthOf([...service.uploads], 1)
  })

  test("fails in the end, after pauses that grow to 20 seconds")(function*() {
    const service = MediaService.make(faults("append", Array(99).fill(answer(503))))
    yield* fails(sending(service), Errors.ServerFailure)
    const times = service.calls.flatMap(({ at, operation }) => operation === "append" ? [at] : [])
    const pauses = times.slice(1).map((at, i) => at - times[i]!)
    assert.lengthOf(pauses, 6)
    for (const [i, most] of [2000, 4000, 8000, 16_000, 20_000, 20_000].entries()) {
      assert.isAtLeast(pauses[i]!, most / 2)
      assert.isAtMost(pauses[i]!, most + 2000)
    }
  })

  test.each([400, 401, 403, 422])("that is refused with %i is not sent again")(function*(status) {
    const service = MediaService.make(faults("append", [answer(status)]))
    yield* Effect.flip(sending(service))
    assert.deepStrictEqual(service.operations(), ["initialize", "append"])
  })

  test.each([413, 431])("is halved while it is the first and too large (%i)")(function*(status) {
    const service = MediaService.make({
      fault: ({ operation, nth }) => operation === "append" && nth < 2 ? answer(status) : undefined
    })
    const told: Array<Progress> = []
    yield* sending(service, noise(250), { onProgress: (step: Progress) => told.push(step) })
    assert.deepStrictEqual(service.bytes("1"), Buffer.from(noise(250)))
    assert.deepStrictEqual(
      [...service.uploads.get("1")?.segments.values() ?? []].map(({ length }) => length),
      Array(10).fill(25)
    )
    // The bytes of a stream are not read twice for it.
    const streaming = MediaService.make({
      fault: ({ operation, nth }) => operation === "append" && nth < 2 ? answer(status) : undefined
    })
    yield* passing(upload({ stream: Stream.fromIterable([noise(250)]), size: 250 }, video)).pipe(
      Effect.provide(streaming.layer())
    )
    assert.deepStrictEqual(streaming.bytes("1"), Buffer.from(noise(250)))
  })

  test("is not halved later, nor so often that there are too many")(function*() {
    const later = MediaService.make(faults("append", [undefined, answer(413)]))
    yield* fails(sending(later), Errors.UnexpectedStatus)
    const always = MediaService.make({ fault: ({ operation }) => operation === "append" ? answer(413) : undefined })
    yield* fails(sending(always, noise(10_000)), Errors.UnexpectedStatus)
    // 100, 50, 25, 13: of 7 bytes there would be more than 1,000.
    assert.deepStrictEqual(always.operations(), ["initialize", "append", "append", "append", "append"])
  })
})

describe("the end of an upload", () => {
  const last = ["append", "append", "append"]

  test.each(
    [
      ["comes", [], ["finalize"]],
      ["is lost before it took effect", ["lost before"], ["finalize", "status", "finalize"]],
      ["is lost after it took effect", ["lost after"], ["finalize", "status"]],
      ["fails with 500 before", [answer(500)], ["finalize", "status", "finalize"]],
      ["fails with 500 after", [{ after: answer(500)! as object }], ["finalize", "status"]],
      ["cannot be read", [{ after: { body: "<html>" } }], ["finalize", "status"]],
      ["is lost twice", ["lost before", "lost before"], ["finalize", "status", "finalize", "status", "finalize"]]
    ] as ReadonlyArray<[string, ReadonlyArray<MediaService.Fault>, ReadonlyArray<string>]>
  )("%s")(function*([, list, then]) {
    const service = MediaService.make(faults("finalize", list))
    assert.strictEqual((yield* sending(service)).id, "1")
    assert.deepStrictEqual(service.operations(), ["initialize", ...last, ...then])
  })

  test("is asked for when both the end and the question are lost")(function*() {
    const service = MediaService.make({
      fault: ({ nth, operation }) =>
        nth > 0
          ? undefined
          : operation === "finalize"
          ? "lost after"
          : operation === "status"
          ? "lost after"
          : undefined
    })
    yield* sending(service)
    assert.deepStrictEqual(service.operations(), ["initialize", ...last, "finalize", "status", "status"])
  })

  test("may be reached by an attempt that seemed to be lost, and be refused later")(function*() {
    // The status comes from a part of the service that does not know yet.
    const service = MediaService.make({
      fault: ({ nth, operation }) =>
        nth > 0 ? undefined : operation === "finalize" ? "lost after" : operation === "status" ? answer(404) : undefined
    })
    assert.strictEqual((yield* sending(service)).id, "1")
    assert.deepStrictEqual(service.operations(), ["initialize", ...last, "finalize", "status", "finalize", "status"])
  })

  test("that is refused is not asked for")(function*() {
    const service = MediaService.make(faults("finalize", [answer(400)]))
    yield* fails(sending(service), Errors.BadRequest)
    assert.deepStrictEqual(service.operations(), ["initialize", ...last, "finalize"])
  })
})

describe("processing", () => {
  const pausesOf = ({ calls }: ReturnType<typeof MediaService.make>) => {
    const times = calls.flatMap(({ at, operation }) => operation === "finalize" || operation === "status" ? [at] : [])
    return times.slice(1).map((at, i) => Math.floor((at - times[i]!) / 1000))
  }

  test("is waited for as the service asks, for 1 to 30 seconds at a time")(function*() {
    const service = MediaService.make({
      processing: [
        { state: "pending", check_after_secs: 5 },
        { state: "in_progress", check_after_secs: 0, progress_percent: 10 },
        { state: "in_progress", progress_percent: 50 },
        { state: "in_progress", check_after_secs: -3, progress_percent: 300 },
        { state: "in_progress", check_after_secs: 100 },
        { state: "thinking", check_after_secs: 2 },
        { state: "succeeded", progress_percent: 100 }
      ]
    })
    const told: Array<Progress> = []
    yield* sending(service, noise(100), { onProgress: (step: Progress) => told.push(step) })
    assert.deepStrictEqual(pausesOf(service), [5, 1, 1, 1, 30, 2])
    assert.deepStrictEqual(told.filter(({ phase }) => phase === "processing").map(({ fraction }) => fraction), [
      0,
      0.1,
      0.5,
      1,
      0,
      0,
      1
    ])
  })

  test("is over where nothing is said of it any more")(function*() {
    const service = MediaService.make({ processing: [{ state: "in_progress" }, undefined] })
    yield* sending(service)
    assert.deepStrictEqual(pausesOf(service), [1])
  })

  test("that fails is told in the service's words")(function*() {
    const service = MediaService.make({
      processing: [{ state: "pending" }, {
        state: "failed",
        error: { code: 1, name: "InvalidMedia", message: "file is invalid" }
      }]
    })
    const error = yield* fails(sending(service), Errors.MediaProcessingFailed, {
      mediaId: "1",
      code: 1,
      reason: "InvalidMedia",
      detail: "file is invalid"
    })
    assert.include(error.message, "The service cannot process media 1 (InvalidMedia: file is invalid).")
    const silent = yield* Effect.flip(sending(MediaService.make({ processing: [{ state: "failed" }] })))
    assert.strictEqual(
      silent.message,
      "The service cannot process media 1. The file may be damaged, or of a type that the service does not accept."
    )
  })

  test("is not waited for longer than maxWait, at the end of which it is asked for once more")(function*() {
    const service = MediaService.make({ processing: [{ state: "pending", check_after_secs: 20 }] })
    const error = yield* fails(sending(service, noise(100), { maxWait: 45_000 }), Errors.MediaNotReady, {
      mediaId: "1"
    })
    assert.isAtLeast(error.waited, 45_000)
    assert.deepStrictEqual(pausesOf(service), [20, 20, 5])
    const none = MediaService.make({ processing: [{ state: "pending" }] })
    yield* fails(sending(none, noise(100), { maxWait: 0 }), Errors.MediaNotReady)
    assert.notInclude(none.operations(), "status")
  })

  test("goes on while the status cannot be asked for")(function*() {
    const service = MediaService.make({
      processing: [{ state: "pending" }, { state: "succeeded" }],
      fault: ({ nth, operation }) => operation === "status" && nth < 3 ? "lost before" : undefined
    })
    assert.strictEqual((yield* sending(service)).id, "1")
  })
})

test("what the service says holds no credentials, wherever it quotes them")(function*() {
  const { bearerToken, consumerSecret } = Service.secrets
  const quoting = MediaService.make({
    fault: () => ({
      body: { errors: [{ title: "No" }], meta: { note: `Who is ${bearerToken}?` } },
      headers: { "x-request-id": consumerSecret }
    })
  })
  const unread = yield* Effect.flip(sending(quoting))
  assert.instanceOf(unread, Errors.UndecodableResponse)
  assert.include(unread.excerpt, "Who is")
  const error = { name: bearerToken, message: `It was ${consumerSecret}` }
  const failed = yield* Effect.flip(sending(MediaService.make({ processing: [{ state: "failed", error }] })))
  assert.instanceOf(failed, Errors.MediaProcessingFailed)
  assert.include(failed.message, "It was")
  for (const secret of [bearerToken, consumerSecret]) {
    assert.notInclude(inspect([unread, failed], { depth: null }), secret)
  }
})

describe("an upload that the service has given up", () => {
  test("begins anew, once")(function*() {
    const service = MediaService.make({
      fault: ({ mediaId, operation, index }) =>
        operation === "append" && mediaId === "1" && index === 1 ? answer(404) : undefined
    })
    assert.strictEqual((yield* sending(service)).id, "2")
    assert.deepStrictEqual(service.bytes("2"), Buffer.from(noise(250)))
    const always = MediaService.make({ fault: ({ operation }) => operation === "finalize" ? answer(404) : undefined })
    yield* fails(sending(always), Errors.UploadExpired, { mediaId: "2" })
  })

  test("begins anew when it is refused after its time")(function*() {
    const { calls, ...service } = MediaService.make({
      fault: ({ index, mediaId, operation }) =>
        operation === "append" && mediaId === "1" && index === 1 ? answer(400) : undefined
    })
    const bytes = noise(250)
    const slow: Source = {
      name: "slow",
      open: Effect.succeed({
        size: 250,
        isSeekable: true,
        version: undefined,
        // The service keeps what was begun for two hours.
        read: (offset, length) =>
          Effect.as(
            Effect.sleep(offset === 100 && calls.length === 2 ? 7_200_000 : 0),
            bytes.subarray(offset, offset + length)
          )
      })
    }
    const media = yield* passing(upload(slow, video), 10_000).pipe(Effect.provide(service.layer()))
    assert.strictEqual(media.id, "2")
    assert.deepStrictEqual(service.bytes("2"), Buffer.from(bytes))
  })

  test("fails where the source is a stream")(function*() {
    const service = MediaService.make({
      fault: ({ index, operation }) => operation === "append" && index === 1 ? answer(404) : undefined
    })
    const error = yield* Effect.flip(passing(upload({ stream: Stream.fromIterable([noise(250)]), size: 250 }, video)))
      .pipe(Effect.provide(service.layer()))
    assert.instanceOf(error, Errors.UploadExpired)
    assert.lengthOf([...service.uploads], 1)
  })
})

describe("several uploads", () => {
  test("share the budget, for which they wait")(function*() {
    let left = 5
    let resetAt = 900_000
    const service = MediaService.make({
      fault: ({ at, operation }) => {
        if (operation !== "append") return undefined
        if (at >= resetAt) [left, resetAt] = [5, resetAt + 900_000]
        if (left === 0) return { status: 429, body: {}, headers: { "x-rate-limit-reset": String(resetAt / 1000) } }
        left--
        return undefined
      },
      headers: ({ operation }) =>
        operation === "append"
          ? {
            "x-rate-limit-limit": "5",
            "x-rate-limit-remaining": String(left),
            "x-rate-limit-reset": String(resetAt / 1000)
          }
          : {}
    })
    const media = yield* passing(
      Effect.all([upload(noise(700, 1), video), upload(noise(700, 2), video)], { concurrency: 2 }),
      10_000
    ).pipe(Effect.provide(service.layer({}, Layer.orDie(RateLimit.layerWait()))))
    assert.deepStrictEqual(media.map(({ id }) => Buffer.from(service.bytes(id))), [
      Buffer.from(noise(700, 1)),
      Buffer.from(noise(700, 2))
    ])
    // None was refused: 14 segments in three windows of 5.
    assert.lengthOf(service.calls.filter(({ operation }) => operation === "append"), 14)
  })
})
