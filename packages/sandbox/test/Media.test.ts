import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import { random } from "./support/Fuzz.ts"
import { type Answer, type Bench, day, make, now, second } from "./support/Requests.ts"
import * as Uploads from "./support/Uploads.ts"

const messageOf = ({ body }: Answer): string => body.errors?.[0]?.message ?? body.errors?.[0]?.detail

/** The bytes at an address of the sandbox. */
const fetched = ({ http }: Bench, url: string, headers: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const response = yield* http.execute(HttpClientRequest.get(url, { headers }))
    return { response, bytes: new Uint8Array(yield* response.arrayBuffer) }
  })

describe("an upload in segments", () => {
  it.effect("becomes a photo that a post shows, whose address serves the bytes", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, finalize, initialize, status } = Uploads.of(bench)
      const file = MediaBytes.concat(MediaBytes.png({ width: 400, height: 300 }), new Uint8Array(5_000))
      const begun = yield* initialize({
        media_type: "image/png",
        media_category: "tweet_image",
        total_bytes: file.length
      })
      const { id } = begun.body.data
      assert.deepStrictEqual([begun.status, begun.body.data], [200, {
        id,
        media_key: `3_${id}`,
        expires_after_secs: 1_295_999
      }])
      assert.deepStrictEqual((yield* status(id)).body.data, { id, media_key: `3_${id}`, expires_after_secs: 1_295_999 })

      // In no order, and one of them again with other bytes before.
      const half = file.length >> 1
      yield* append(id, 7, file.slice(half))
      yield* append(id, 0, new Uint8Array(9).fill(1))
      const appended = yield* append(id, 0, file.slice(0, half))
      assert.deepStrictEqual(appended.body, { data: { expires_at: now / 1_000 + 1_295_999 } })

      const ended = yield* finalize(id)
      const data = {
        id,
        media_key: `3_${id}`,
        size: file.length,
        expires_after_secs: 86_400,
        image: { image_type: "image/png", w: 400, h: 300 }
      }
      assert.deepStrictEqual([ended.status, ended.body], [200, { data }])
      // Its answer may have been lost.
      assert.deepStrictEqual((yield* finalize(id)).body, { data })

      const posted = yield* bench.request("POST", "/2/posts", { body: { media: { media_ids: [id] } } })
      const post = yield* bench.request(
        "GET",
        `/2/posts/${posted.body.data.id}?expansions=attachments.media_keys&media.fields=url,width,height,type`
      )
      const [media] = post.body.includes.media
      assert.deepStrictEqual(media, {
        media_key: `3_${id}`,
        type: "photo",
        height: 300,
        url: `${bench.baseUrl}/media/3_${id}.png`,
        width: 400
      })
      const { bytes, response } = yield* fetched(bench, media.url)
      assert.deepStrictEqual(bytes, file)
      assert.include(response.headers, {
        "content-type": "image/png",
        "content-length": String(file.length),
        "content-disposition": `inline; filename="3_${id}.png"`,
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff"
      })
    }))

  it.effect("ends with its session, by the clock of the service", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, finalize, initialize, status, whole } = Uploads.of(bench)
      const { body: { data: { id } } } = yield* initialize({ total_bytes: 10 })
      const photo = (yield* whole(MediaBytes.png(), "tweet_image")).body.data.id
      bench.clock.advance("86399 seconds")
      assert.strictEqual((yield* status(photo)).body.data.expires_after_secs, 1)
      bench.clock.advance("1 second")
      const expired = yield* bench.request("POST", "/2/posts", { body: { media: { media_ids: [photo] } } })
      assert.strictEqual(expired.status, 400)
      assert.match(messageOf(expired), /^Your media IDs are invalid. .* has expired/)
      assert.strictEqual((yield* status(photo)).status, 404)

      bench.clock.advance(1_295_998 * second - day)
      assert.strictEqual((yield* append(id, 0, new Uint8Array(5))).status, 200)
      bench.clock.advance("1 second")
      for (const answer of [yield* append(id, 0, new Uint8Array(5)), yield* finalize(id), yield* status(id)]) {
        assert.strictEqual(answer.status, 404)
        assert.deepInclude(answer.body.errors[0], { resource_type: "media", resource_id: id })
      }
      // The bytes of both are let go of when another upload begins.
      yield* initialize({})
      assert.deepStrictEqual([id, photo].map((id) => bench.store.uploads.size(id)), [0, 0])
    }))

  it.effect("whose bytes are not what was announced is refused", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, finalize, initialize, inSegments } = Uploads.of(bench)
      const begun = yield* initialize({ total_bytes: 100, media_category: "tweet_image" })
      const { id } = begun.body.data
      yield* append(id, 0, new Uint8Array(99))
      const short = yield* finalize(id)
      assert.strictEqual(short.status, 400)
      assert.match(messageOf(short), /^Segments do not add up to provided total file size/)
      // It can still be mended.
      yield* append(id, 1, new Uint8Array(1))
      assert.match(messageOf(yield* finalize(id)), /not recognized: the bytes are of no known kind/)

      const png = MediaBytes.png()
      for (
        const [media, told, message] of [
          [png, { media_category: "tweet_video" }, /image\/png is no tweet_video/],
          [png, { media_type: "image/jpeg" }, /the bytes are image\/png, which is not image\/jpeg/],
          [MediaBytes.gif({ frames: 2 }), { media_type: "image/png" }, /the bytes are image\/gif/],
          [MediaBytes.vtt, { media_category: "tweet_image" }, /text\/vtt is no tweet_image/],
          [png.slice(0, 40), { media_category: "tweet_image" }, /must be a whole file/],
          [new TextEncoder().encode("<svg onload=\"alert(1)\">"), {}, /the bytes are an SVG image/]
        ] as const
      ) {
        const answer = yield* inSegments(media, told, 50)
        assert.strictEqual(answer.status, 400)
        assert.match(messageOf(answer), message)
      }
      // On the wire of X in its words, at the length that it has there.
      const onX = yield* make({ posts: 0, wire: "x" })
      assert.strictEqual(
        messageOf(yield* Uploads.of(onX).inSegments(png, { media_type: "image/gif" }, 50)),
        "media type unrecognized."
      )
    }))

  it.effect("is within the limits of its category from the beginning, and its segments within theirs", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, initialize } = Uploads.of(bench)
      for (
        const [told, message] of [
          [{ media_category: "tweet_image", total_bytes: 5_242_881 }, /File size exceeds 5242880 bytes/],
          [{ media_type: "image/png", total_bytes: 5_242_881 }, /File size exceeds 5242880 bytes/],
          [{ media_category: "dm_gif", total_bytes: 15_728_641 }, /File size exceeds 15728640 bytes/],
          [{ media_category: "amplify_video", total_bytes: 536_870_913 }, /File size exceeds 536870912 bytes/],
          [{ total_bytes: 536_870_913 }, /File size exceeds 536870912 bytes/],
          [{ media_category: "tweet_video", media_type: "image/png" }, /image\/png is no tweet_video/],
          [{ media_category: "tweet_song" }, /\[tweet_song\] is not one of/]
        ] as const
      ) {
        const answer = yield* initialize(told)
        assert.strictEqual(answer.status, 400)
        assert.match(messageOf(answer), message)
      }
      const { body: { data: { id } } } = yield* initialize({ media_category: "tweet_image", total_bytes: 5_242_880 })
      assert.strictEqual((yield* append(id, 1_000, new Uint8Array(1))).status, 400)
      assert.strictEqual((yield* append(id, -1, new Uint8Array(1))).status, 400)
      assert.strictEqual((yield* append(id, 999, new Uint8Array(1))).status, 200)
      assert.strictEqual((yield* append(id, 0, new Uint8Array(5_242_881))).status, 413)
      const over = yield* append(id, 0, new Uint8Array(5_242_880))
      assert.match(messageOf(over), /File size exceeds 5242880 bytes/)
      // In place of the one byte there is room.
      assert.strictEqual((yield* append(id, 999, new Uint8Array(5_242_880))).status, 200)
      assert.strictEqual((yield* append(id, 0, new Uint8Array(0))).status, 400)
    }))

  it.effect("comes as JSON, too", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { finalize, initialize, whole } = Uploads.of(bench)
      const file = MediaBytes.png()
      const { body: { data: { id } } } = yield* initialize({ total_bytes: file.length })
      const append = (media: unknown, segment_index: unknown = 0) =>
        bench.request("POST", `/2/media/upload/${id}/append`, { body: { segment_index, media } })
      assert.strictEqual((yield* append(Buffer.from(file).toString("base64"))).status, 200)
      assert.strictEqual((yield* finalize(id)).body.data.size, file.length)
      // As a client sends a buffer that it takes for any other object.
      for (const media of [{ 0: 104, 1: 105 }, "no base64!", "", undefined]) {
        const answer = yield* append(media)
        assert.deepStrictEqual([answer.status, messageOf(answer).length < 200], [400, true])
      }
      const one = yield* bench.request("POST", "/2/media/upload", {
        body: { media: Buffer.from(file).toString("base64"), media_category: "tweet_image" }
      })
      assert.strictEqual(one.body.data.size, file.length)
      assert.strictEqual((yield* whole(file, "tweet_image")).body.data.size, file.length)
    }))

  it.effect("leaves a description of itself in the journal, and no bytes", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, initialize } = Uploads.of(bench)
      const { body: { data: { id } } } = yield* initialize({ total_bytes: 3_000_000 })
      yield* append(id, 0, new Uint8Array(3_000_000).fill(65))
      const entry = bench.journal.entries().at(-1)
      assert.strictEqual(entry?.operation, "appendMediaUpload")
      assert.deepStrictEqual(entry?.body, { segment_index: 0, media: "<3000000 bytes>" })
      assert.isBelow(JSON.stringify(entry).length, 2_000)
    }))

  it.effect("of somebody else is not there, unless it is for the caller, too", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const [grace, eve] = ["grace", "eve"].map((username) => bench.user({ username }).id)
      const file = MediaBytes.png()
      const mine = Uploads.of(bench)
      const { body: { data: { id } } } = yield* mine.initialize({
        total_bytes: file.length,
        additional_owners: [grace]
      })
      yield* mine.append(id, 0, file)
      yield* mine.finalize(id)
      const [asGrace, asEve] = [grace, eve].map((userId) => bench.newcomer({ userId }))
      assert.strictEqual((yield* Uploads.of(bench, asEve).status(id)).status, 404)
      assert.strictEqual((yield* Uploads.of(bench, asGrace).status(id)).status, 200)
      const post = (as: { readonly header: string } | undefined) =>
        bench.request("POST", "/2/posts", { ...(as && { as }), body: { media: { media_ids: [id] } } })
      const refused = yield* post(asEve)
      assert.deepStrictEqual([refused.status, /none of yours/.test(messageOf(refused))], [400, true])
      assert.strictEqual((yield* post(asGrace)).status, 201)
      // Without a user there is nobody whose upload it is.
      assert.strictEqual((yield* Uploads.of(bench, "app").initialize({})).status, 403)
    }))
})

describe("a video", () => {
  it.effect("is processed for as long as its size says, and can be used then", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, finalize, initialize, status } = Uploads.of(bench)
      const file = MediaBytes.mp4({ media: new Uint8Array(10_000), millis: 20_000 })
      const { body: { data: { id } } } = yield* initialize({
        media_type: "video/mp4",
        media_category: "tweet_video",
        total_bytes: file.length
      })
      for (let i = 0; i * 5_000 < file.length; i++) {
        yield* append(id, i, file.slice(i * 5_000, (i + 1) * 5_000))
      }
      const { body } = yield* finalize(id)
      assert.deepStrictEqual(body.data, {
        id,
        media_key: `7_${id}`,
        size: file.length,
        expires_after_secs: 86_400,
        processing_info: { state: "pending", check_after_secs: 1 },
        video: { video_type: "video/mp4" }
      })
      const post = () => bench.request("POST", "/2/posts", { body: { text: "a film", media: { media_ids: [id] } } })
      assert.match(messageOf(yield* post()), /is not ready/)
      const info = Effect.map(status(id), ({ body }) => body.data.processing_info)
      bench.clock.advance("370 millis")
      assert.deepStrictEqual(yield* info, { state: "in_progress", check_after_secs: 1, progress_percent: 37 })
      bench.clock.advance("630 millis")
      assert.deepStrictEqual(yield* info, { state: "succeeded", progress_percent: 100 })

      const { body: { data: { id: postId } } } = yield* post()
      const url = `${bench.baseUrl}/media/7_${id}.mp4`
      const shown = yield* bench.request(
        "GET",
        `/2/posts/${postId}?expansions=attachments.media_keys&media.fields=duration_ms,variants,height,width`
      )
      assert.deepStrictEqual(shown.body.includes.media, [{
        media_key: `7_${id}`,
        type: "video",
        duration_ms: 20_000,
        height: 360,
        variants: [{ bit_rate: Math.round(file.length * 8 / 20), content_type: "video/mp4", url }],
        width: 640
      }])
      // Parts of it, across the ends of segments.
      for (
        const [range, start, end] of [
          ["bytes=0-9", 0, 10],
          ["bytes=4990-5009", 4_990, 5_010],
          ["bytes=-7", file.length - 7, file.length],
          [`bytes=${file.length - 3}-`, file.length - 3, file.length]
        ] as const
      ) {
        const { bytes, response } = yield* fetched(bench, url, { range })
        assert.strictEqual(response.status, 206)
        assert.strictEqual(response.headers["content-range"], `bytes ${start}-${end - 1}/${file.length}`)
        assert.deepStrictEqual(bytes, file.slice(start, end))
      }
      assert.strictEqual((yield* fetched(bench, url, { range: `bytes=${file.length}-` })).response.status, 416)
      assert.strictEqual((yield* fetched(bench, url, { range: "bytes=9-1" })).bytes.length, file.length)
    }))

  it.effect("that breaks a rule fails in the end", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { inSegments, status } = Uploads.of(bench)
      const { body: { data: { id, processing_info } } } = yield* inSegments(
        MediaBytes.mp4({ millis: 141_000 }),
        { media_category: "tweet_video" },
        600
      )
      assert.strictEqual(processing_info.state, "pending")
      bench.clock.advance("1 second")
      const failed = yield* status(id)
      assert.deepStrictEqual(failed.body.data.processing_info, {
        state: "failed",
        progress_percent: 100,
        error: {
          code: 1,
          name: "InvalidMedia",
          message: "file is invalid: must last 0.5 to 140 s as tweet_video (141 s)"
        }
      })
      const post = yield* bench.request("POST", "/2/posts", { body: { media: { media_ids: [id] } } })
      assert.match(messageOf(post), /has failed/)
    }))

  it.effect("fails on command, and is told of in ways that no client should trust", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { inSegments, status } = Uploads.of(bench)
      const upload = inSegments(MediaBytes.mp4(), { media_category: "tweet_video" }, 5_000)
      bench.faults.add({ operation: "finalizeMediaUpload", processing: "failed" })
      const { body: { data: { id } } } = yield* upload
      bench.clock.advance("1 second")
      assert.deepStrictEqual((yield* status(id)).body.data.processing_info, {
        state: "failed",
        progress_percent: 100,
        error: { code: 1, name: "InvalidMedia", message: "file is invalid" }
      })
      for (
        const [processing, expected] of [
          ["absent", undefined],
          ["no-wait", { state: "pending" }],
          ["zero-wait", { state: "pending", check_after_secs: 0 }]
        ] as const
      ) {
        bench.faults.add({ operation: ["finalizeMediaUpload", "getMediaUploadStatus"], processing, times: 2 })
        const { body } = yield* upload
        assert.deepStrictEqual(body.data.processing_info, expected)
        assert.deepStrictEqual((yield* status(body.data.id)).body.data.processing_info, expected)
        assert.strictEqual((yield* status(body.data.id)).body.data.processing_info.state, "pending")
      }
      // Of what nobody processes there is nothing to tell, but a failure is one of a photo, too.
      bench.faults.add({ operation: "uploadMedia", processing: "failed" })
      const photo = (yield* Uploads.of(bench).whole(MediaBytes.png(), "tweet_image")).body.data
      bench.clock.advance("1 second")
      assert.strictEqual((yield* status(photo.id)).body.data.processing_info.state, "failed")
    }))

  it.effect.each(["neutral", "x-2026-02"] as const)(
    "has subtitles, which are an upload of their own: %s",
    (wire) =>
      Effect.gen(function*() {
        const bench = yield* make({ posts: 0, wire })
        const { inSegments, photo, whole } = Uploads.of(bench)
        const { body: { data: { id } } } = yield* inSegments(MediaBytes.mp4(), { media_category: "tweet_video" }, 5_000)
        const file = (yield* whole(MediaBytes.vtt, "subtitles")).body.data
        assert.deepStrictEqual(Object.keys(file), ["id", "size", "expires_after_secs"])
        const attach = (body: object) => bench.request("POST", "/2/media/subtitles", { body })
        const subtitles = { id: file.id, language_code: "EN", display_name: "English" }
        const attached = yield* attach({ id, media_category: "TweetVideo", subtitles })
        assert.deepStrictEqual(attached.body.data, {
          id,
          media_category: "TweetVideo",
          associated_subtitles: wire === "neutral" ? subtitles : [subtitles]
        })
        const other = yield* photo
        for (
          const body of [
            { id, media_category: "AmplifyVideo", subtitles },
            { id: other, media_category: "TweetVideo", subtitles },
            { id, media_category: "TweetVideo", subtitles: { ...subtitles, id: other } },
            { id, media_category: "TweetVideo", subtitles: { ...subtitles, language_code: "en" } },
            { id }
          ]
        ) assert.strictEqual((yield* attach(body)).status, 400)
        assert.deepStrictEqual(bench.store.uploads.subtitlesOf(id), [subtitles])
        // The file stays with the video, and is in no post.
        bench.clock.advance("2 days")
        yield* Uploads.of(bench).initialize({})
        assert.strictEqual(bench.store.uploads.size(file.id), MediaBytes.vtt.length)

        const remove = bench.request("DELETE", "/2/media/subtitles", {
          body: { id, media_category: "TweetVideo", language_code: "EN" }
        })
        assert.strictEqual((yield* remove).status, 404)
      })
  )

  it.effect("loses its subtitles by language, and is told so each time", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const id = bench.ada.media("video").id
      const file = (yield* Uploads.of(bench).whole(MediaBytes.vtt, "subtitles")).body.data.id
      for (const language_code of ["EN", "DE"]) {
        yield* bench.request("POST", "/2/media/subtitles", {
          body: { id, media_category: "TweetVideo", subtitles: { id: file, language_code, display_name: "" } }
        })
      }
      const remove = bench.request("DELETE", "/2/media/subtitles", {
        body: { id, media_category: "TweetVideo", language_code: "EN" }
      })
      assert.deepStrictEqual((yield* remove).body, { data: { deleted: true } })
      assert.deepStrictEqual((yield* remove).body, { data: { deleted: true } })
      assert.deepStrictEqual(
        bench.store.uploads.subtitlesOf(id).map(({ language_code }) => language_code),
        ["DE"]
      )
    }))
})

describe("media", () => {
  it.effect("of other kinds, together, too many, or for messages, are not shown by a post", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { photo, whole } = Uploads.of(bench)
      const photos: Array<string> = []
      for (let i = 0; i < 5; i++) photos.push(yield* photo)
      const gifs = [
        (yield* whole(MediaBytes.gif({ frames: 2 }), "tweet_gif")).body.data.id,
        (yield* whole(MediaBytes.gif({ frames: 2 }), "tweet_gif")).body.data.id
      ]
      const video = (yield* whole(MediaBytes.mp4(), "tweet_video")).body.data.id
      const message = (yield* whole(MediaBytes.png(), "dm_image")).body.data.id
      const subtitles = (yield* whole(MediaBytes.vtt, "subtitles")).body.data.id
      bench.clock.advance("2 seconds")
      const post = (...media_ids: ReadonlyArray<string>) =>
        bench.request("POST", "/2/posts", { body: { media: { media_ids } } })
      const alone = /shown alone/
      for (
        const [ids, reason] of [
          [[photos[0], video], alone],
          [[photos[0], gifs[0]], alone],
          [gifs, alone],
          [photos, /1 to 4 items/],
          [[message], /is dm_image, which is not for this/],
          [[subtitles], /There are none of yours/],
          [["1"], /There are none of yours/]
        ] as const
      ) {
        const answer = yield* post(...ids as ReadonlyArray<string>)
        assert.strictEqual(answer.status, 400)
        assert.match(messageOf(answer), reason)
      }
      for (const ids of [photos.slice(0, 4), [gifs[0]], [video]]) {
        assert.strictEqual((yield* post(...ids as ReadonlyArray<string>)).status, 201)
      }
      const grace = bench.user({ username: "grace" }).id
      const send = (media_id: unknown) =>
        bench.request("POST", `/2/dm_conversations/with/${grace}/messages`, { body: { attachments: [{ media_id }] } })
      assert.match(messageOf(yield* send(photos[0])), /is tweet_image, which is not for this/)
      assert.strictEqual((yield* send(message)).status, 201)
      // On the wire of X in its words.
      const onX = yield* make({ posts: 0, wire: "x" })
      const refused = yield* onX.request("POST", "/2/tweets", { body: { text: "a", media: { media_ids: ["1"] } } })
      assert.strictEqual(messageOf(refused), "Your media IDs are invalid.")
    }))

  it.effect("are looked up by their owners, and by others once a post shows them", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const id = yield* Uploads.of(bench).photo
      const other = bench.newcomer({ userId: bench.user().id })
      const one = (as: { readonly header: string } | "user") =>
        bench.request("GET", `/2/media/3_${id}?media.fields=alt_text,width`, { as })
      assert.deepStrictEqual((yield* one("user")).body, { data: { media_key: `3_${id}`, type: "photo", width: 4 } })
      assert.strictEqual((yield* one(other)).body.errors[0].title, "Not Found Error")

      const said = yield* bench.request("POST", "/2/media/metadata", {
        body: {
          id,
          metadata: { alt_text: { text: "A grey box" }, upload_source: { upload_source: "test" } }
        }
      })
      assert.deepStrictEqual(said.body.data, {
        id,
        associated_metadata: { alt_text: { text: "A grey box" }, upload_source: { upload_source: "test" } }
      })
      const tooLong = yield* bench.request("POST", "/2/media/metadata", {
        body: { id, metadata: { alt_text: { text: "x".repeat(1_001) } } }
      })
      assert.strictEqual(tooLong.status, 400)
      const foreign = yield* bench.request("POST", "/2/media/metadata", { as: other, body: { id, metadata: {} } })
      assert.strictEqual(foreign.status, 404)

      const posted = yield* bench.request("POST", "/2/posts", { body: { media: { media_ids: [id] } } })
      const shown = yield* bench.request("GET", `/2/posts/${posted.body.data.id}?post.fields=media_metadata`)
      assert.deepStrictEqual(shown.body.data.media_metadata, [{ media_key: `3_${id}`, alt_text: "A grey box" }])
      // What a post shows does not expire.
      bench.clock.advance("30 days")
      yield* Uploads.of(bench).initialize({})
      const many = yield* bench.request("GET", `/2/media?media_keys=3_${id},7_1&media.fields=alt_text`, { as: other })
      assert.deepStrictEqual(many.body.data, [{ media_key: `3_${id}`, type: "photo", alt_text: "A grey box" }])
      assert.deepInclude(many.body.errors[0], { resource_type: "media", parameter: "media_keys", value: "7_1" })
      assert.strictEqual((yield* fetched(bench, `${bench.baseUrl}/media/3_${id}.png`)).response.status, 200)
    }))

  it.effect("have an address only once they are ready, and only the one", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { whole } = Uploads.of(bench)
      const gif = (yield* whole(MediaBytes.gif({ frames: 2 }), "tweet_gif")).body.data.id
      const subtitles = (yield* whole(MediaBytes.vtt, "subtitles")).body.data.id
      const at = (path: string) =>
        Effect.map(fetched(bench, `${bench.baseUrl}${path}`), ({ response }) => response.status)
      assert.strictEqual(yield* at(`/media/16_${gif}.gif`), 404)
      bench.clock.advance("1 second")
      assert.strictEqual(yield* at(`/media/16_${gif}.gif`), 200)
      for (const path of [`16_${gif}.png`, `16_${gif}`, `3_${gif}.gif`, `3_${subtitles}.bin`, "", "3_1.png", "..%2f"]) {
        assert.strictEqual(yield* at(`/media/${path}`), 404, path)
      }
      const bmp = new Uint8Array(62)
      bmp.set([0x42, 0x4d, 62, 0, 0, 0, 0, 0, 0, 0, 58, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0])
      const { body: { data } } = yield* whole(bmp, "tweet_image")
      const { response } = yield* fetched(bench, `${bench.baseUrl}/media/3_${data.id}.bin`)
      assert.include(response.headers, {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="3_${data.id}.bin"`
      })
    }))

  it.effect("are part of snapshots, in memory and in a file", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { append, finalize, initialize } = Uploads.of(bench)
      const file = MediaBytes.concat(MediaBytes.png(), new Uint8Array(3_000))
      const { body: { data: { id } } } = yield* initialize({ total_bytes: file.length })
      yield* append(id, 0, file.slice(0, 2_000))
      const half = bench.snapshot()
      yield* append(id, 1, file.slice(2_000))
      yield* finalize(id)
      const whole = bench.snapshot()
      bench.restore(half)
      assert.strictEqual((yield* finalize(id)).status, 400)
      yield* append(id, 1, file.slice(2_000))
      assert.strictEqual((yield* finalize(id)).status, 200)
      bench.restore(whole)
      bench.restore(bench.snapshot())
      assert.deepStrictEqual((yield* fetched(bench, `${bench.baseUrl}/media/3_${id}.png`)).bytes, file)
      bench.reset()
      assert.strictEqual((yield* fetched(bench, `${bench.baseUrl}/media/3_${id}.png`)).response.status, 404)
    }))

  it.effect("of any bytes, in a body of any bytes, are taken or refused, and end nothing", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { initialize, whole } = Uploads.of(bench)
      const { body: { data: { id } } } = yield* initialize({})
      const { next, below, pick } = random(7)
      /** Some bytes others, some twice, some gone. */
      const changed = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
        const copy = Uint8Array.from(bytes)
        for (let i = below(4); i >= 0; i--) copy[below(copy.length)] = below(256)
        const [from, to] = [below(copy.length), below(copy.length)]
        return next() < 0.5 ? copy : new Uint8Array([...copy.subarray(0, from), ...copy.subarray(to)])
      }
      const files = [
        [MediaBytes.png(), "tweet_image"],
        [MediaBytes.jpeg(), "dm_image"],
        [MediaBytes.gif({ frames: 2 }), "tweet_gif"],
        [MediaBytes.mp4(), "tweet_video"],
        [MediaBytes.vtt, "subtitles"]
      ] as const
      const form = yield* Uploads.multipart({ segment_index: "0", media: MediaBytes.gif({ frames: 2 }) })
      const seen = new Set<number>()
      for (let i = 0; i < 150; i++) {
        const [file, category] = pick(files)
        const bytes = changed(file)
        if (bytes.length > 0) seen.add((yield* whole(bytes, category)).status)
        const { status } = yield* bench.request("POST", `/2/media/upload/${id}/append`, {
          type: form.type,
          body: changed(form.body)
        })
        seen.add(status)
        // Windows of requests are not what this is about.
        if (i % 100 === 0) bench.budget.clear()
      }
      assert.sameMembers([...seen], [200, 400])
    }))

  it.effect("are asked for by the commands that there are", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const id = yield* Uploads.of(bench).photo
      const ask = (query: string) => bench.request("GET", `/2/media/upload?media_id=${id}${query}`)
      assert.deepStrictEqual([(yield* ask("")).status, (yield* ask("&command=STATUS")).status], [200, 200])
      assert.match(messageOf(yield* ask("&command=FINALIZE")), /must be STATUS/)
    }))
})
