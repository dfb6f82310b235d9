import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { vi } from "vitest"
import type * as Credentials from "../src/auth/Credentials.ts"
import * as Errors from "../src/errors/Errors.ts"
import type * as Source from "../src/media/Source.ts"
import { upload, type UploadOptions } from "../src/media/Upload.ts"
import * as Journal from "../src/storage/Journal.ts"
import * as MediaBytes from "./support/MediaBytes.ts"
import * as MediaService from "./support/MediaService.ts"
import { fails } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { noise, passing } = MediaService

const video: UploadOptions = { type: "video/mp4", chunkBytes: 100 }

type Fake = ReturnType<typeof MediaService.make>

/** Runs an upload with a key; as one run after the other when it is asked for again. */
const using = (journal: Journal.Entries) =>
(
  service: Fake,
  input: Source.Input = noise(450),
  options: UploadOptions = video,
  credentials?: Credentials.Settings
) =>
  upload.resumable("k", input, options).pipe(
    Effect.provide([service.layer({}, Layer.empty, credentials), Layer.succeed(Journal.Journal, journal)])
  )

/** A service whose nth call does not come back, as one of a process that is killed. */
const hanging = (nth: number, options: MediaService.Options = {}): Fake => {
  const service: Fake = MediaService.make({
    ...options,
    fault: (call) => service.calls.length === nth + 1 ? Effect.never : options.fault?.(call)
  })
  return service
}

/** Runs an upload until so many calls were made, and then ends it. */
const killed = <A, E, R>(service: Fake, calls: number, run: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(run)
    while (service.calls.length < calls && fiber.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust(1000)
    }
    yield* Fiber.interrupt(fiber)
  })

const appends = ({ calls }: Fake) => calls.flatMap(({ index, operation }) => operation === "append" ? [index] : [])

describe("an upload with a key", () => {
  test("notes how far it is: at the beginning, once a second, and at the end")(function*() {
    const memory = Journal.makeMemory()
    const notes: Array<string> = []
    const journal: Journal.Entries = {
      ...memory,
      write: (key, text) => {
        const { isEnded, sent } = JSON.parse(text ?? "{}")
        notes.push(`${key} ${sent}${isEnded === true ? " ended" : ""}`)
        return memory.write(key, text)
      }
    }
    // Each segment takes 400 ms.
    const service = MediaService.make({
      fault: ({ operation }) => operation === "append" ? Effect.as(Effect.sleep(400), undefined) : undefined
    })
    yield* passing(using(journal)(service, noise(900)), 100)
    const [first, ...others] = notes
    assert.strictEqual(first, "upload.k 0")
    assert.deepStrictEqual(others.slice(-2), ["upload.k 900", "upload.k 900 ended"])
    assert.isAbove(others.length, 3)
    assert.isBelow(others.length, 7)
  })

  test.each(Array.from({ length: 9 }, (_, nth) => nth))("that is interrupted in call %i goes on from there")(
    function*(nth) {
      const journal = Journal.makeMemory()
      const options: UploadOptions = { ...video, alt: "A" }
      const service = hanging(nth, { processing: [{ state: "pending" }, { state: "succeeded" }] })
      const run = using(journal)
      yield* killed(service, nth + 1, run(service, noise(450), options))
      const before = appends(service).length
      const media = yield* passing(run(service, noise(450), options))
      assert.deepStrictEqual(service.bytes(media.id), Buffer.from(noise(450)))
      // Nothing is sent again but what was under way.
      assert.isAtMost(appends(service).length, 5 + (nth === 0 ? 0 : 1))
      assert.isAtLeast(appends(service).length, Math.max(before, 5))
      assert.lengthOf([...service.uploads], 1)
      assert.lengthOf(service.operations().filter((operation) => operation === "metadata"), nth === 8 ? 2 : 1)
    }
  )

  test("that failed goes on from there, with the segments that it had")(function*() {
    const run = using(Journal.makeMemory())
    let isDown = true
    const service = MediaService.make({
      fault: ({ index, operation }) => isDown && operation === "append" && index === 3 ? "lost before" : undefined
    })
    yield* fails(passing(run(service)), Errors.TransportFailure)
    isDown = false
    const before = appends(service).length
    const told: Array<number> = []
    yield* passing(
      run(service, noise(450), { ...video, chunkBytes: 7, onProgress: ({ sentBytes }) => told.push(sentBytes) })
    )
    assert.deepStrictEqual(appends(service).slice(before), [3, 4])
    assert.deepStrictEqual(told, [300, 400, 450])
  })

  test("gives what it made, once more, until that expires")(function*() {
    const run = using(Journal.makeMemory())
    const service = MediaService.make()
    const first = yield* passing(run(service))
    const calls = service.calls.length
    const again = yield* passing(run(service))
    assert.deepInclude(again, { id: first.id, media_key: first.media_key, size: 450 })
    assert.deepStrictEqual(service.operations().slice(calls), ["status"])
    yield* TestClock.adjust("2 days")
    assert.strictEqual((yield* passing(run(service))).id, "2")
  })

  test("describes anew what is described otherwise, and nothing else")(function*() {
    const run = using(Journal.makeMemory())
    const service = MediaService.make()
    const subtitles = [{ file: MediaBytes.srt, language: "EN", name: "English" }]
    yield* passing(run(service, noise(450), { ...video, alt: "A", subtitles }))
    const calls = service.calls.length
    yield* passing(run(service, noise(450), { ...video, alt: "A", subtitles }))
    assert.deepStrictEqual(service.operations().slice(calls), ["status"])
    yield* passing(
      run(service, noise(450), {
        ...video,
        alt: "B",
        subtitles: [...subtitles, { file: MediaBytes.vtt, language: "DE", name: "Deutsch" }]
      })
    )
    assert.deepStrictEqual(service.operations().slice(calls + 1), [
      "status",
      "metadata",
      "initialize",
      "append",
      "finalize",
      "subtitles"
    ])
    assert.strictEqual(service.calls.at(-1)?.body["id"], "1")
  })

  test.each(
    [
      ["another file", noise(450, 2), video, undefined],
      ["a longer file", noise(451), video, undefined],
      ["another category", noise(450), { ...video, category: "amplify_video" }, undefined],
      ["other owners", noise(450), { ...video, additional_owners: ["7"] }, undefined],
      ["another account", noise(450), video, {
        consumerKey: "a",
        consumerSecret: "b",
        accessToken: "43-c",
        accessTokenSecret: "d"
      }]
    ] as const
  )("begins anew with %s")(function*([, input, options, credentials]) {
    const run = using(Journal.makeMemory())
    const service = hanging(3)
    yield* killed(service, 4, run(service))
    const media = yield* passing(run(service, input, options, credentials))
    assert.strictEqual(media.id, "2")
    assert.deepStrictEqual(service.bytes("2"), Buffer.from(input))
  })

  test("begins anew when the service does not know the old one any more, or its note cannot be read")(function*() {
    const journal = Journal.makeMemory()
    const run = using(journal)
    const service = hanging(3)
    yield* killed(service, 4, run(service))
    service.uploads.delete("1")
    const other = MediaService.make()
    assert.strictEqual((yield* passing(run(other))).id, "1")
    assert.deepStrictEqual(appends(other), [2, 0, 1, 2, 3, 4])
    // What was finished and is gone, too.
    other.uploads.clear()
    yield* passing(run(other))
    assert.deepStrictEqual(other.bytes("1"), Buffer.from(noise(450)))
    for (const text of ["", "{", "[]", `{"version":2}`, "null"]) {
      yield* journal.write("upload.k", text)
      const fresh = MediaService.make()
      yield* passing(run(fresh))
      assert.deepStrictEqual(appends(fresh), [0, 1, 2, 3, 4])
    }
  })

  test("begins anew once more when what this run has begun is given up as well, and no more often")(function*() {
    const run = using(Journal.makeMemory())
    let given = 2
    const service = hanging(3, {
      fault: ({ index, mediaId, operation }) =>
        operation === "append" && index === 2 && Number(mediaId) <= given ? { status: 404, body: {} } : undefined
    })
    yield* killed(service, 4, run(service))
    assert.strictEqual((yield* passing(run(service))).id, "3")
    given = 99
    yield* TestClock.adjust("2 days")
    yield* fails(passing(run(service)), Errors.UploadExpired, { mediaId: "5" })
  })

  test("forgets what the service could not process")(function*() {
    const journal = Journal.makeMemory()
    const service = MediaService.make({ processing: [{ state: "failed" }] })
    yield* fails(passing(using(journal)(service)), Errors.MediaProcessingFailed)
    assert.isUndefined(yield* journal.read("upload.k"))
  })

  test("goes on waiting for what was not ready")(function*() {
    const run = using(Journal.makeMemory())
    const service = MediaService.make({
      processing: [...Array.from({ length: 5 }, () => ({ state: "pending" })), undefined]
    })
    const error = yield* fails(passing(run(service, noise(450), { ...video, maxWait: 2000 })), Errors.MediaNotReady)
    assert.strictEqual((yield* passing(run(service))).id, error.mediaId)
    assert.lengthOf(appends(service), 5)
  })

  test("reads a stream from its beginning, and sends what is new")(function*() {
    const journal = Journal.makeMemory()
    const run = using(journal)
    const service = hanging(3)
    const stream = (seed?: number) => ({ stream: Stream.fromIterable([noise(450, seed)]), size: 450 })
    yield* killed(service, 4, run(service, stream()))
    yield* fails(passing(run(service, stream(2))), Errors.SourceFailure, { fault: "changed" })
    // The next one begins anew.
    assert.strictEqual((yield* passing(run(service, stream(2)))).id, "2")
    assert.deepStrictEqual(service.bytes("2"), Buffer.from(noise(450, 2)))
  })

  test("hashes alike on servers and in browsers")(function*() {
    const journal = Journal.makeMemory()
    const run = using(journal)
    const service = hanging(4)
    const server = process.getBuiltinModule
    const isBrowser = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
    yield* Effect.addFinalizer(() => Effect.sync(() => isBrowser.mockRestore()))
    yield* killed(service, 5, run(service))
    const { hash, sent } = JSON.parse((yield* journal.read("upload.k")) ?? "{}")
    assert.strictEqual(sent, 300)
    assert.strictEqual(hash, createHash("sha256").update(noise(450).subarray(0, 300)).digest("hex"))
    isBrowser.mockImplementation(server)
    yield* passing(run(service))
    assert.deepStrictEqual(appends(service), [0, 1, 2, 3, 3, 4])
  })

  test("is worked on by one at a time")(function*() {
    const run = using(Journal.makeMemory())
    const service = MediaService.make({ fault: () => Effect.as(Effect.sleep(100), undefined) })
    const media = yield* passing(Effect.all([run(service), run(service)], { concurrency: 2 }))
    assert.deepStrictEqual(media.map(({ id }) => id), ["1", "1"])
    assert.deepStrictEqual(appends(service), [0, 1, 2, 3, 4])
  })

  test("fails with its journal, and sends nothing that it could not note")(function*() {
    const memory = Journal.makeMemory()
    const full = new Errors.StorageFailure({ kind: "journal", place: "in memory", fault: "full", action: "write" })
    const service = MediaService.make()
    const exit = yield* Effect.exit(passing(using({ ...memory, write: () => Effect.fail(full) })(service)))
    assert.deepStrictEqual(exit, Exit.fail(full))
    assert.deepStrictEqual(service.operations(), ["initialize"])
  })
})
