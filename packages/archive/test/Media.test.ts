import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Copy from "../src/copy/Copy.ts"
import * as Media from "../src/media/Media.ts"
import * as Gone from "../src/sync/Gone.ts"
import { copy, folder, rows } from "./support/Scene.ts"

type Respond = (request: IncomingMessage, response: ServerResponse) => void

/** A server on a loopback port that answers by path, and the requests that it got. */
const server = (paths: Readonly<Record<string, Respond>>) =>
  Effect.acquireRelease(
    Effect.callback<{ host: string; requests: Array<IncomingMessage>; close: () => void }>((resume) => {
      const requests: Array<IncomingMessage> = []
      const http = createServer((request, response) => {
        requests.push(request)
        const respond = paths[request.url ?? ""]
        if (respond === undefined) response.writeHead(404).end()
        else respond(request, response)
      })
      http.listen(0, "127.0.0.1", () => {
        const { port } = http.address() as AddressInfo
        const close = () => {
          http.closeAllConnections()
          http.close()
        }
        resume(Effect.succeed({ host: `127.0.0.1:${port}`, requests, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(2_000, 1)])
const mp4 = Buffer.concat([Buffer.from("\0\0\0\x18ftypisom\0\0\0\0", "latin1"), Buffer.alloc(2_000_000, 2)])

const file = (type: string, bytes: Buffer, etag = "\"1\""): Respond => (request, response) => {
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? []
  const start = request.headers["if-range"] === etag ? Number(from) : 0
  if (start >= bytes.length) return void response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end()
  const part = bytes.subarray(start)
  response.writeHead(start > 0 ? 206 : 200, {
    "content-type": type,
    "content-length": part.length,
    etag,
    ...start > 0 && { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }
  })
  response.end(part)
}

/** Writes media, each with a post that refers to it. */
const put = (media: ReadonlyArray<{ readonly media_key: string }>) =>
  Effect.flatMap(Copy.Current, (copy) =>
    Copy.write(copy, {
      objects: {
        media,
        posts: media.map(({ media_key }, index) => ({
          id: String(100 + index),
          text: media_key,
          attachments: { media_keys: [media_key] }
        }))
      }
    }))

const photo = (host: string, name: string) => ({ media_key: `3_${name}`, type: "photo", url: `http://${host}/${name}` })

const recorded = (path: string) => rows(path, "SELECT * FROM media_files ORDER BY media_key")

describe("media", () => {
  it.live("fetches the best variant of each once, by the hash of its content, and sends no credentials", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const { host, requests } = yield* server({
        "/a": file("image/jpeg", jpeg),
        "/same": file("image/jpeg", jpeg),
        "/high.mp4": file("video/mp4; codecs=avc1", mp4)
      })
      yield* Effect.gen(function*() {
        yield* put([photo(`me:secret@${host}`, "a"), photo(host, "same"), {
          media_key: "7_video",
          type: "video",
          variants: [
            { content_type: "application/x-mpegURL", url: `http://${host}/list.m3u8` },
            { bit_rate: 1, content_type: "video/mp4", url: `http://${host}/low.mp4` },
            { bit_rate: 2, content_type: "video/mp4", url: `http://${host}/high.mp4` }
          ]
        } as never])
        const run = Media.run({ hosts: [host] })
        assert.deepStrictEqual(yield* run, {
          status: "done",
          files: 3,
          bytes: 2 * jpeg.length + mp4.length,
          problems: {}
        })
        assert.deepStrictEqual(yield* run, { status: "done", files: 0, bytes: 0, problems: {} })
      }).pipe(Effect.provide(copy(path)))
      assert.sameMembers(requests.map(({ url }) => url), ["/a", "/same", "/high.mp4"])
      for (const { headers } of requests) {
        assert.notProperty(headers, "authorization")
        assert.notProperty(headers, "cookie")
      }
      const [a, same, video] = recorded(path)
      assert.strictEqual(a?.["file"], same?.["file"])
      assert.deepInclude(video, { bytes: mp4.length, content_type: "video/mp4", problem: null })
      assert.isTrue(readFileSync(join(`${path}.media`, String(video?.["file"]))).equals(mp4))
      assert.notInclude(readdirSync(`${path}.media`).join(), ".part")
    }).pipe(Effect.scoped))

  it.live("records why a file has not come, and gives up", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const other = yield* server({ "/else": file("image/jpeg", jpeg) })
      const { host, requests } = yield* server({
        "/page": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("no"),
        "/lie": file("image/jpeg", Buffer.from("<svg onload=alert(1)>")),
        "/large": file("image/jpeg", Buffer.concat([jpeg, Buffer.alloc(10_000)])),
        "/endless": (_, response) => {
          response.writeHead(200, { "content-type": "image/jpeg" })
          response.write(jpeg)
          response.end(Buffer.alloc(10_000))
        },
        "/away": (_, response) => response.writeHead(302, { location: `http://${other.host}/else` }).end(),
        "/loop": (_, response) => response.writeHead(302, { location: "/loop" }).end(),
        "/busy": (_, response) => response.writeHead(503).end()
      })
      const names = ["page", "lie", "large", "endless", "away", "loop", "busy", "none"]
      yield* Effect.gen(function*() {
        yield* put([
          ...names.map((name) => photo(host, name)),
          { media_key: "4_plain", type: "photo", url: "http://media.example/a.jpg" } as never
        ])
        const run = Media.run({ hosts: [host, "media.example"], maxBytes: 5_000 })
        const { problems } = yield* run
        assert.deepStrictEqual(problems, {
          "the server sent text/html for image": 1,
          "the server sent something else as image/jpeg": 1,
          "it is larger than 5000 bytes": 2,
          [`${other.host} is not among the hosts of media`]: 1,
          "it redirects too often": 1,
          "the server answered 503": 1,
          "the server answered 404": 1,
          "its address is not https": 1
        })
        for (let attempts = 1; attempts < 5; attempts++) {
          assert.deepStrictEqual((yield* run).problems, {
            "the server answered 503": 1,
            [`${other.host} is not among the hosts of media`]: 1
          })
        }
        assert.deepStrictEqual((yield* run).problems, {})
      }).pipe(Effect.provide(copy(path)))
      assert.lengthOf(other.requests, 0)
      assert.lengthOf(requests.filter(({ url }) => url === "/none"), 1)
      assert.lengthOf(requests.filter(({ url }) => url === "/busy"), 5)
      assert.deepInclude(recorded(path).find(({ media_key }) => media_key === "3_none"), {
        file: null,
        problem: "the server answered 404"
      })
    }).pipe(Effect.scoped))

  it.live("leaves a file that takes too long, or whose host is not permitted, to later runs", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const { host } = yield* server({
        "/slow": (_, response) => void response.writeHead(200, { "content-type": "image/jpeg" }).write(jpeg)
      })
      yield* Effect.gen(function*() {
        yield* put([photo(host, "slow")])
        assert.deepStrictEqual((yield* Media.run({})).problems, { [`${host} is not among the hosts of media`]: 1 })
        const { problems } = yield* Media.run({ hosts: [host], timeLimit: "200 millis" })
        assert.deepStrictEqual(problems, { "it took too long": 1 })
      }).pipe(Effect.provide(copy(path)))
      assert.deepInclude(recorded(path)[0], { attempts: 1, problem: "it took too long" })
    }).pipe(Effect.scoped))

  it.live.each([
    ["the same file", "\"1\""],
    ["another file from its beginning", "\"2\""]
  ])("continues %s after it was stopped or cut", ([, etag]) =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const half = mp4.length / 2
      const sent = yield* Deferred.make<void>()
      let way: Respond = (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4", "content-length": mp4.length, etag: "\"1\"" })
        response.write(mp4.subarray(0, half), () => Deferred.doneUnsafe(sent, Effect.void))
      }
      const { host, requests } = yield* server({ "/v": (request, response) => way(request, response) })
      const media = `${path}.media`
      const begun = () => readdirSync(media).some((name) => readFileSync(join(media, name)).length === half)
      yield* Effect.gen(function*() {
        yield* put([{
          media_key: "7_v",
          type: "video",
          variants: [{ content_type: "video/mp4", url: `http://${host}/v` }]
        } as never])
        const run = Media.run({ hosts: [host] })
        const killed = yield* Effect.forkChild(run)
        yield* Deferred.await(sent)
        while (!begun()) yield* Effect.yieldNow
        yield* Fiber.interrupt(killed)
        way = (request, response) => {
          assert.strictEqual(request.headers.range, `bytes=${half}-`)
          assert.strictEqual(request.headers["if-range"], "\"1\"")
          response.writeHead(206, {
            "content-type": "video/mp4",
            "content-length": half,
            "content-range": `bytes ${half}-${mp4.length - 1}/${mp4.length}`,
            etag: "\"1\""
          })
          response.write(mp4.subarray(half, half + 100_000), () => response.destroy())
        }
        assert.deepStrictEqual((yield* run).problems, { "the connection failed": 1 })
        way = file("video/mp4", mp4, etag)
        assert.strictEqual((yield* run).bytes, mp4.length)
      }).pipe(Effect.provide(copy(path)))
      const [, from] = /^bytes=(\d+)-$/.exec(requests.at(-1)?.headers.range ?? "") ?? []
      assert.isAtLeast(Number(from), half)
      assert.isTrue(readFileSync(join(media, String(recorded(path)[0]?.["file"]))).equals(mp4))
    }).pipe(Effect.scoped))

  it.live("removes files to which no post that is left refers", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(100)])
      const { host } = yield* server({
        "/a": file("image/jpeg", jpeg),
        "/b": file("image/jpeg", jpeg),
        "/c": file("image/gif", gif)
      })
      yield* Effect.gen(function*() {
        const copy = yield* Copy.Current
        yield* put([photo(host, "a"), photo(host, "b"), photo(host, "c")])
        yield* Media.run({ hosts: [host] })
        if (process.platform !== "win32") assert.strictEqual(statSync(`${path}.media`).mode & 0o777, 0o700)
        const [a, , c] = recorded(path).map(({ file }) => join(`${path}.media`, String(file)))
        yield* Gone.mark(copy, "posts", [{ id: "100", why: "deleted" }, { id: "102", why: "deleted" }])
        yield* Media.removeUnreferred(copy)
        // Another post has the same photo.
        assert.isTrue(existsSync(String(a)))
        assert.isFalse(existsSync(String(c)))
        assert.deepStrictEqual(recorded(path).map(({ media_key }) => media_key), ["3_b"])
        assert.strictEqual((yield* Media.run({ hosts: [host] })).files, 0)
      }).pipe(Effect.provide(copy(path)))
    }).pipe(Effect.scoped))
})
