/** Posts with files against the sandbox: checked, uploaded, posted, in that order. */
import { assert, describe, it } from "@effect/vitest"
import * as Errors from "@postwire/core/errors/Errors"
import * as Source from "@postwire/core/media/Source"
import type { Post, Progress, PublishOptions } from "@postwire/core/publishing/Publish"
import type { ThreadOptions } from "@postwire/core/publishing/Thread"
import * as Journal from "@postwire/core/storage/Journal"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import * as Requests from "./support/Requests.ts"
import * as Threads from "./support/Threads.ts"

const scene = Effect.fnUntraced(function*() {
  const line = yield* Threads.make()
  const journal = Journal.makeMemory()
  const publisher = yield* Threads.start(line, journal)
  const publish = (post: Post, options?: PublishOptions) => Threads.toEnd(publisher.publishPost(post, options))
  const publishThread = (posts: ReadonlyArray<Post>, options: Partial<ThreadOptions> = {}) =>
    Threads.toEnd(publisher.publish(posts, { key: "a", ...options }))
  /** What a request was for, one letter each: initialize, append, finalize, status, metadata, subtitles, post. */
  const kinds = () =>
    line.state.requests.flatMap((request) =>
      Object.entries({ initialize: "i", append: "a", finalize: "f", metadata: "m", subtitles: "s", posts: "P" })
        .filter(([end]) => request.startsWith("POST") && request.endsWith(`/${end}`)).map(([, letter]) => letter)
    ).join("")
  const shown = Effect.map(
    line.request(
      "GET",
      `/2/users/${line.userId}/posts?max_results=100&expansions=attachments.media_keys,attachments.poll_ids&media.fields=alt_text`
    ),
    ({ body }) => body
  )
  return { ...line, line, journal, publish, publishThread, kinds, shown }
})

const photo = (padding: number) => MediaBytes.concat(MediaBytes.png(), new Uint8Array(padding))

describe("a post", () => {
  it.effect("has its files, in their order and with what they show", () =>
    Effect.gen(function*() {
      const { kinds, publish, shown } = yield* scene()
      const { id, media, text } = yield* publish({
        text: "Four",
        media: [
          { file: photo(10), alt: "first" },
          new Blob([photo(20)]),
          { file: Source.fromBytes(photo(30), "third.png"), alt: "third" },
          { stream: new Blob([photo(40)]).stream(), size: photo(40).length }
        ]
      })
      const { data: [post], includes } = yield* shown
      assert.deepStrictEqual([post.id, post.text, text], [id, "Four", "Four"])
      assert.deepStrictEqual(post.attachments.media_keys, media.map(({ media_key }) => media_key))
      const alts = new Map(
        includes.media.map(({ alt_text, media_key }: Record<string, string>) => [media_key, alt_text])
      )
      assert.deepStrictEqual(media.map(({ media_key }) => alts.get(media_key)), [
        "first",
        undefined,
        "third",
        undefined
      ])
      assert.deepStrictEqual(media.map(({ size }) => size), [10, 20, 30, 40].map((padding) => photo(padding).length))
      assert.match(kinds(), /^[iafm]+P$/)
      assert.strictEqual([...kinds()].filter((kind) => kind === "i").length, 4)
    }))

  it.effect("may have a video with subtitles, a poll, or media that were uploaded before", () =>
    Effect.gen(function*() {
      const { publish, shown } = yield* scene()
      const subtitles = [{ file: MediaBytes.vtt, language: "EN", name: "English" }]
      const film = yield* publish({ text: "A film", media: [{ file: MediaBytes.mp4(), subtitles }] })
      assert.strictEqual(film.media[0]?.category, "tweet_video")
      yield* publish({ text: "A poll", poll: { options: ["yes", "no"], duration_minutes: 60 } })
      const [first] = (yield* publish({ media: [photo(1)] })).media
      const { media } = yield* publish({ text: "Both", media_ids: [first?.id ?? ""], media: [photo(2)] })
      const { data } = yield* shown
      assert.deepStrictEqual(data[0].attachments.media_keys, [first?.media_key, media[0]?.media_key])
      assert.lengthOf(data[2].attachments.poll_ids, 1)
    }))

  const broken: ReadonlyArray<readonly [why: string, post: unknown, parameter: string, rule: RegExp]> = [
    ["a text that is too long", { text: "x".repeat(281), media: [photo(1)] }, "text", /280 at most, and has 281/],
    [
      "a name that a post does not have",
      { text: "a", medias: [] },
      "medias",
      /not part of a post \(did you mean media\?\)/
    ],
    ["no text and no media", { text: " " }, "text", /must not be empty/],
    ["media and a poll", { media: [photo(1)], poll: { options: ["a", "b"], duration_minutes: 5 } }, "poll", /media/],
    ["media and what it quotes", { text: "a", media: [photo(1)], quote_post_id: "1" }, "quote_post_id", /media/],
    ["five photos", { media: [1, 2, 3, 4, 5].map(photo) }, "media", /at most 4/],
    [
      "a photo and a GIF",
      { media: [photo(1), MediaBytes.gif({ frames: 2 })] },
      "media",
      /4 images, or 1 GIF, or 1 video/
    ],
    ["two videos", { media: [MediaBytes.mp4(), MediaBytes.mp4()] }, "media", /4 images, or 1 GIF, or 1 video/],
    [
      "a GIF beside media",
      { media_ids: ["1"], media: [MediaBytes.gif({ frames: 2 })] },
      "media",
      /4 images, or 1 GIF, or 1 video/
    ],
    [
      "a file of another kind",
      { media: [photo(1), new TextEncoder().encode("%PDF-1.7")] },
      "media[1].file",
      /an image, a GIF or a video/
    ],
    ["a photo that is too large", { media: [photo(1), photo(5_300_000)] }, "media[1].file", /at most 5 MiB/],
    ["a video that is too long", { media: [MediaBytes.mp4({ millis: 141_000 })] }, "media[0].file", /0.5 to 140 s/],
    ["a long alternative text", { media: [{ file: photo(1), alt: "x".repeat(1001) }] }, "media[0].alt", /1,000/],
    ["a path", { media: [{ file: "a.png" }] }, "media[0].file", /Uint8Array/],
    ["an option that there is not", { media: [{ file: photo(1), altText: "x" }] }, "media[0].altText", /not an option/]
  ]
  it.effect("is refused before anything is sent, by what breaks a rule", () =>
    Effect.gen(function*() {
      const { publish, state } = yield* scene()
      for (const [why, post, parameter, rule] of broken) {
        const error = yield* Effect.flip(publish(post as Post))
        assert.instanceOf(error, Errors.InvalidParameters, why)
        assert.deepStrictEqual([error.operation, error.parameter], ["publish", parameter], why)
        assert.match(error.rule, rule, why)
      }
      assert.deepStrictEqual(state.requests, [])
    }))

  it.effect("is not posted when a file of it cannot be uploaded", () =>
    Effect.gen(function*() {
      const { faults, kinds, line, publish } = yield* scene()
      faults.add({ operation: "finalizeMediaUpload", processing: "failed" })
      const error = yield* Effect.flip(publish({ text: "A film", media: [MediaBytes.mp4()] }))
      assert.instanceOf(error, Errors.MediaProcessingFailed)
      faults.clear()
      const source = Source.fromStream(new Blob([photo(1)]).stream(), { size: photo(1).length + 1, name: "b.png" })
      const short = yield* Effect.flip(publish({ text: "A photo", media: [photo(2), source] }))
      assert.deepInclude(short, { _tag: "SourceFailure", source: "b.png" })
      assert.notInclude(kinds(), "P")
      assert.lengthOf(yield* line.posts(), 0)
    }))

  it.effect("of which nothing is heard is the only thing that is unknown", () =>
    Effect.gen(function*() {
      const { line, publish, state } = yield* scene()
      state.fates = ["lost"]
      const error = yield* Effect.flip(publish({ text: "One", media: [photo(1)] }))
      assert.deepInclude(error, { _tag: "OutcomeUnknown", operation: "createPost", confirmWith: "getUsersPosts" })
      assert.lengthOf(yield* line.posts(), 1)
      assert.lengthOf(state.requests.filter((request) => request === "POST /2/posts"), 1)
    }))

  it.effect("tells of its steps", () =>
    Effect.gen(function*() {
      const { publish } = yield* scene()
      const told: Array<Progress> = []
      const { id } = yield* publish({ media: [photo(1)] }, { onProgress: (progress) => told.push(progress) })
      const one = { part: 1, parts: 1 }
      assert.deepInclude(told, {
        ...one,
        phase: "upload",
        file: 1,
        sentBytes: 0,
        totalBytes: photo(1).length,
        fraction: 0
      })
      assert.deepStrictEqual(told.slice(-2), [{ ...one, phase: "sending" }, { ...one, phase: "posted", id }])
    }))
})

describe("a thread with files", () => {
  const posts: ReadonlyArray<Post> = [
    { text: "One", media: [photo(1), photo(2)] },
    { text: "Two" },
    { text: "Three", media: [{ file: photo(3), alt: "three" }] }
  ]

  it.effect("has them all uploaded before its first part is posted", () =>
    Effect.gen(function*() {
      const { kinds, publishThread, shown } = yield* scene()
      const { posts: published } = yield* publishThread(posts)
      assert.match(kinds(), /^[iafm]+PPP$/)
      const { data } = yield* shown
      assert.deepStrictEqual(
        data.map((post: { attachments?: { media_keys: ReadonlyArray<string> } }) => post.attachments?.media_keys ?? []),
        published.map(({ media }) => media.map(({ media_key }) => media_key)).toReversed()
      )
    }))

  it.effect("is not begun when one of them fails", () =>
    Effect.gen(function*() {
      const { faults, kinds, line, publishThread } = yield* scene()
      faults.add({ operation: "createMediaMetadata", status: 403, times: "always" })
      assert.instanceOf(yield* Effect.flip(publishThread(posts)), Errors.Forbidden)
      assert.notInclude(kinds(), "P")
      faults.clear()
      // What was uploaded is not uploaded again.
      const uploaded = [...kinds()].filter((kind) => kind === "f").length
      yield* publishThread(posts)
      assert.isAtLeast(uploaded, 1)
      assert.lengthOf([...kinds()].filter((kind) => kind === "f"), 3)
      assert.lengthOf(yield* line.posts(), 3)
    }))

  it.effect("goes on with what was uploaded, and uploads again what has expired", () =>
    Effect.gen(function*() {
      for (const isExpired of [false, true]) {
        const { journal, kinds, line, publishThread, shown, state } = yield* scene()
        state.fates = ["answered", "limited"]
        assert.instanceOf(yield* Effect.flip(publishThread(posts)), Errors.RateLimited)
        assert.lengthOf(yield* line.posts(), 1)
        yield* TestClock.adjust(isExpired ? "25 hours" : "1 hour")
        const { posts: published, resumed } = yield* publishThread(posts)
        assert.isTrue(resumed)
        assert.lengthOf([...kinds()].filter((kind) => kind === "f"), isExpired ? 4 : 3)
        assert.lengthOf(published[0]?.media ?? [], 2)
        const { data } = yield* shown
        assert.deepStrictEqual(data[0].attachments.media_keys, [published[2]?.media[0]?.media_key])
        // Nothing is left in the journal but the thread.
        assert.isUndefined(yield* journal.read("upload.3.1.thread.a"))
      }
    }))

  it.effect.each([1, 2])(
    "uploads again what the service does not take, once: send %s",
    (nth) =>
      Effect.gen(function*() {
        const { journal, kinds, line, publishThread, state, store } = yield* scene()
        const context = yield* Effect.context()
        const spoiled: Array<string> = []
        state.fates = nth === 1 ? [] : ["answered", "answered", "vanished"]
        let sends = 0
        const published = yield* publishThread(posts, {
          onProgress: ({ part, phase }) => {
            if (part !== 3 || phase !== "sending" || ++sends !== nth) return
            const text = Effect.runSyncWith(context)(journal.read("upload.3.1.thread.a")) ?? ""
            const { mediaId }: { readonly mediaId: string } = JSON.parse(text)
            store.uploads.fail(mediaId, { code: 1, name: "InvalidMedia", message: "gone" }, Requests.now)
            spoiled.push(mediaId)
          }
        })
        assert.lengthOf(spoiled, 1)
        assert.notInclude(spoiled, published.posts[2]?.media[0]?.id)
        assert.lengthOf([...kinds()].filter((kind) => kind === "f"), 4)
        assert.lengthOf(yield* line.posts(), 3)
        // What is not ours stays so.
        const foreign = yield* Effect.flip(publishThread([{ text: "One", media_ids: ["77"] }], { key: "b" }))
        assert.instanceOf(foreign, Errors.BadRequest)
      })
  )

  it.effect("is found by its files where it has no text", () =>
    Effect.gen(function*() {
      const { line, publishThread, state } = yield* scene()
      state.fates = ["lost", "lost"]
      const { posts: published } = yield* publishThread([{ media: [photo(1)] }, { media: [photo(2)] }])
      const stands = yield* line.posts()
      assert.deepStrictEqual(stands.map(({ id }) => id), published.map(({ id }) => id))
      assert.deepStrictEqual(published.map(({ media }) => media.length), [1, 1])
    }))
})
