// Bodies with bytes over real connections: on Undici, on `fetch`, and on a client that knows nothing of them.
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as CoreClient from "@postwire/core/client/Client"
import { appendMediaUpload, uploadMedia } from "@postwire/core/operations/Media"
import { Arbitrary, Deferred, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { once } from "node:events"
import { appendFileSync, mkdtempSync, openAsBlob, rmSync, writeFileSync } from "node:fs"
import * as Http from "node:http"
import type * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Timers from "node:timers/promises"
import { inspect } from "node:util"
import * as Recorder from "../../core/test/support/Recorder.ts"
import * as WebClient from "../../web/src/WebClient.ts"
import * as NodeClient from "../src/NodeClient.ts"

const bearerToken = "canary-bearer-token-0001"

interface Upload {
  readonly headers: Http.IncomingHttpHeaders
  readonly raw: Buffer
  readonly parts: FormData
}

const uploaded = { data: { id: "1" } }

/** Answers with what `listener` does. */
const serve = Effect.fnUntraced(function*(listener: Http.RequestListener) {
  const server = Http.createServer(listener)
  yield* Effect.addFinalizer(() => Effect.sync(() => (server.close(), server.closeAllConnections())))
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  return `http://127.0.0.1:${(server.address() as Net.AddressInfo).port}`
})

/** Keeps what arrives, which a reader of the platform takes apart. */
const record = Effect.fnUntraced(function*(status: (index: number) => number = () => 200) {
  const uploads: Array<Upload> = []
  const baseUrl = yield* serve(async (request, response) => {
    const pieces: Array<Buffer> = []
    try {
      for await (const piece of request) pieces.push(piece)
    } catch {
      // The client has gone away.
      return
    }
    const raw = Buffer.concat(pieces)
    const headers = { "content-type": request.headers["content-type"]! }
    const index = uploads.push({
      headers: request.headers,
      raw,
      parts: await new Response(raw, { headers }).formData()
    })
    response.writeHead(status(index - 1), { "content-type": "application/json" }).end(JSON.stringify(uploaded))
  })
  return { baseUrl, uploads }
})

const bytesOf = async ({ parts }: Upload, name = "media") => {
  const file = parts.get(name)
  assert.instanceOf(file, Blob)
  return new Uint8Array(await file.arrayBuffer())
}

type Settings = Pick<NodeClient.Settings, "baseUrl" | "retries" | "timeout" | "recordContent" | "onRequest">

const layers = {
  Undici: (settings: Settings) => NodeClient.layer({ bearerToken, ...settings }),
  fetch: (settings: Settings) => WebClient.layer({ bearerToken, ...settings }),
  "any other client": (settings: Settings) =>
    Layer.provide(CoreClient.layer(settings), [Credentials.layer({ bearerToken }), FetchHttpClient.layer])
}

const post = (media: Uint8Array | ArrayBuffer | Blob) =>
  uploadMedia({ media, media_category: "tweet_image", user_auth: false })

const content = (length: number) => {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index++) bytes[index] = index * 31 + (index >> 8)
  return bytes
}

/** What readers take for the end of a part, of a line, or of a body. */
const bytes = Arbitrary.map(
  Arbitrary.schema(
    Schema.Array(
      Schema.Union([
        Schema.Literals(["\r\n", "--", "\r\n--", "\n", "\0", "--postwire-", "\r\n\r\n", "é", "content-disposition: "]),
        Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
      ])
    ).check(Schema.isMaxLength(8))
  ),
  (pieces) => new Uint8Array(Buffer.concat([...pieces.map((piece) => Buffer.from(piece as string)), Buffer.from([0])]))
)

/** A file that is gone with the test. */
const fileOf = (content: Uint8Array) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "upload-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    ),
    (folder) => {
      const path = join(folder, "photo.jpg")
      writeFileSync(path, content)
      return path
    }
  )

describe.each(Object.entries(layers))("on %s", (name, layer) => {
  it.live.prop("what arrives is what was given, whatever it is", { bytes }, ({ bytes }) =>
    Effect.gen(function*() {
      const { baseUrl, uploads } = yield* record()
      const before = bytes.slice()
      const padded = new Uint8Array([1, 2, ...bytes, 3])
      const forms = [bytes, bytes.buffer, new Blob([bytes], { type: "image/png" }), padded.subarray(2, -1)]
      yield* Effect.forEach(forms, post).pipe(Effect.provide(layer({ baseUrl })))
      for (const upload of uploads) {
        assert.deepStrictEqual(yield* Effect.promise(() => bytesOf(upload)), before)
        assert.deepStrictEqual([...upload.parts.keys()], ["media_category", "media"])
        assert.strictEqual(upload.parts.get("media_category"), "tweet_image")
        assert.strictEqual(upload.headers["authorization"], `Bearer ${bearerToken}`)
        // That of Effect takes the length away, for browsers do not let a program say it.
        if (name === "any other client") continue
        assert.strictEqual(upload.headers["content-length"], String(upload.raw.length))
        assert.isUndefined(upload.headers["transfer-encoding"])
      }
      const types = uploads.map(({ parts }) => (parts.get("media") as File).type)
      assert.deepStrictEqual(types, ["application/octet-stream", "application/octet-stream", "image/png", types[0]!])
    }).pipe(Effect.scoped), { arbitrary: { runs: 10 } })

  it.live("sends the same bytes again, those of a file as well", () =>
    Effect.gen(function*() {
      const { baseUrl, uploads } = yield* record((index) => index < 2 ? 503 : 200)
      const file = yield* fileOf(content(300_000))
      const blob = yield* Effect.promise(() => openAsBlob(file))
      yield* Effect.forEach([content(300_000), blob], post, { concurrency: 2 }).pipe(Effect.provide(layer({ baseUrl })))
      assert.lengthOf(uploads, 4)
      for (const upload of uploads) {
        assert.deepStrictEqual(yield* Effect.promise(() => bytesOf(upload)), content(300_000))
        // Where the file comes from is nobody's business.
        assert.isFalse(upload.raw.includes("photo.jpg"))
      }
      const boundaries = new Set(uploads.map(({ headers }) => headers["content-type"]))
      assert.strictEqual(boundaries.size, 4)
    }).pipe(Effect.scoped))

  it.live("sends numbers beside bytes, and what is not declared yet", () =>
    Effect.gen(function*() {
      const { baseUrl, uploads } = yield* record()
      const extraBody = { widget: "blue", count: 2 }
      yield* appendMediaUpload({ id: "1", segment_index: 0, media: content(3), user_auth: false }, { extraBody }).pipe(
        Effect.provide(layer({ baseUrl }))
      )
      const { media: _, ...texts } = Object.fromEntries(uploads[0]!.parts)
      assert.deepStrictEqual(texts, { widget: "blue", count: "2", segment_index: "0" })
    }).pipe(Effect.scoped))

  it.live("fails with an error of the client where the file is not the same any more", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* record()
      const file = yield* fileOf(content(300_000))
      const blob = yield* Effect.promise(() => openAsBlob(file))
      appendFileSync(file, "more")
      const error = yield* Effect.flip(Effect.provide(post(blob), layer({ baseUrl, retries: 0 })))
      assert.strictEqual(error._tag, "TransportFailure")
      if (name === "Undici") assert.include(error.message, "(send): a Blob could not be read: its file is gone or has")
    }).pipe(Effect.scoped))

  it.live("a refusal that comes before the end of the bytes is what the call fails with", () =>
    Effect.gen(function*() {
      const baseUrl = yield* serve((request, response) => {
        request.once("data", () => {
          request.pause()
          response.writeHead(413, { "content-type": "application/json" }).end(JSON.stringify({ title: "Too Large" }))
        })
      })
      const error = yield* Effect.flip(Effect.provide(post(content(2 ** 24)), layer({ baseUrl, retries: 0 })))
      assert.strictEqual(error._tag, "UnexpectedStatus")
      assert.deepInclude({ ...error }, { status: 413, title: "Too Large" })
    }).pipe(Effect.scoped))

  it.live("a connection that is cut amid the bytes is a failure of the transport", () =>
    Effect.gen(function*() {
      const baseUrl = yield* serve((request) => request.once("data", () => request.socket.destroy()))
      const error = yield* Effect.flip(Effect.provide(post(content(2 ** 24)), layer({ baseUrl, retries: 0 })))
      assert.strictEqual(error._tag, "TransportFailure")
    }).pipe(Effect.scoped))

  it.live("an interrupted call sends no more", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<Http.IncomingMessage>()
      const baseUrl = yield* serve((request) => {
        request.once("data", () => {
          request.pause()
          Deferred.doneUnsafe(began, Exit.succeed(request))
        })
      })
      const fiber = yield* Effect.forkChild(Effect.provide(post(content(2 ** 24)), layer({ baseUrl })))
      const request = yield* Deferred.await(began)
      yield* Fiber.interrupt(fiber)
      let rest = 0
      request.on("data", ({ length }) => rest += length).on("error", () => {}).resume()
      yield* Effect.promise(() => new Promise((resolve) => request.socket.once("close", resolve)))
      assert.isBelow(rest, 2 ** 24 - 2 ** 20)
    }).pipe(Effect.scoped))

  it.live.each([true, false])(
    "spans tell how many bytes there were, and hold none: %s",
    (recordContent) =>
      Effect.gen(function*() {
        const { baseUrl } = yield* record()
        const { layer: tracer, spans } = Recorder.spans()
        const requests: Array<object> = []
        yield* post(Buffer.from("canary")).pipe(
          Effect.provide(layer({ baseUrl, recordContent, onRequest: (request) => requests.push(request) })),
          Effect.provide(tracer)
        )
        const recorded = spans.map(({ attributes }) => attributes.get("postwire.request.body"))
        const described = `{"media_category":"tweet_image","media":"6 bytes"}`
        assert.deepStrictEqual(recorded, [recordContent ? described : undefined])
        assert.notInclude(inspect(spans, { depth: null }), "canary\"")
        const [{ duration: _, ...told }] = requests as [Record<string, unknown>]
        const route = "/2/media/upload"
        assert.deepStrictEqual(told, {
          operation: "uploadMedia",
          method: "POST",
          route,
          attempt: 1,
          status: 200,
          requestId: undefined
        })
      }).pipe(Effect.scoped)
  )
})

describe("times", () => {
  /** Takes a piece, then nothing for a while, as long as `pauses` says; then the rest. */
  const slowly = (pauses: ReadonlyArray<number>, after: Http.RequestListener) =>
    serve(async (request, response) => {
      const gone = new AbortController()
      response.once("close", () => gone.abort())
      let taken = 0
      try {
        for await (const _ of request) {
          const pause = pauses[taken++]
          if (pause !== undefined) await Timers.setTimeout(pause, undefined, gone)
        }
      } catch {
        // The client has gone away.
        return
      }
      after(request, response)
    })

  const answer: Http.RequestListener = (_, response) =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(uploaded))

  // More than the buffers on the way take.
  const large = content(2 ** 24)

  it.live("begin to run when the bytes have left", () =>
    Effect.gen(function*() {
      const baseUrl = yield* slowly([150, 150, 150], answer)
      const response = yield* Effect.provide(
        post(large),
        layers.Undici({ baseUrl, retries: 0, timeout: { firstByte: 300, idle: 2000 } })
      )
      assert.strictEqual(response.data?.id, "1")
    }).pipe(Effect.scoped))

  it.live("run for each piece that leaves", () =>
    Effect.gen(function*() {
      const baseUrl = yield* slowly([60_000], answer)
      const error = yield* Effect.flip(
        Effect.provide(post(large), layers.Undici({ baseUrl, retries: 0, timeout: { idle: 100 } }))
      )
      assert.deepInclude({ ...error }, { _tag: "TransportFailure", phase: "send", timeout: "idle" })
      assert.include(error.message, "no more of the request was accepted within 100 ms")
    }).pipe(Effect.scoped))

  it.live("run for the answer", () =>
    Effect.gen(function*() {
      const baseUrl = yield* slowly([], () => {})
      const error = yield* Effect.flip(
        Effect.provide(post(large), layers.Undici({ baseUrl, retries: 0, timeout: { firstByte: 100 } }))
      )
      assert.deepInclude({ ...error }, { _tag: "TransportFailure", phase: "headers", timeout: "firstByte" })
    }).pipe(Effect.scoped))

  it.live("are longer for more bytes where nobody tells how far they are", () =>
    Effect.gen(function*() {
      const baseUrl = yield* slowly([], () => {})
      const error = yield* Effect.flip(
        Effect.provide(post(content(10_000)), layers.fetch({ baseUrl, retries: 0, timeout: { firstByte: 10 } }))
      )
      assert.deepInclude({ ...error }, { _tag: "TransportFailure", phase: "headers", timeout: "firstByte" })
      // Ten, and a sixth of a second for the bytes.
      assert.match(error.message, /within 16[0-9] ms/)
    }).pipe(Effect.scoped))
})
