import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { secretsOf } from "./support/Requests.ts"
import { multipart } from "./support/Uploads.ts"

/** A sandbox on a port, and an upload that has begun. */
const begun = Effect.gen(function*() {
  const sandbox = Context.get(yield* Layer.build(Sandbox.layerServer({ posts: 0 })), Sandbox.Sandbox)
  const headers = { authorization: `Bearer ${secretsOf(sandbox).bearerToken}` }
  const send = (path: string, body?: BodyInit, type?: string, more: Record<string, string> = {}) =>
    fetch(`${sandbox.baseUrl}/2/media/upload${path}`, {
      method: "POST",
      headers: { ...headers, ...(type === undefined ? {} : { "content-type": type }), ...more },
      ...(body === undefined ? {} : { body })
    })
  const { data: { id } } = yield* Effect.promise(async () =>
    (await send("/initialize", JSON.stringify({ media_category: "tweet_image" }), "application/json")).json()
  )
  const segment = yield* multipart({
    segment_index: "0",
    media: MediaBytes.concat(MediaBytes.png({ width: 90, height: 90 }), new Uint8Array(2_000_000))
  })
  const append = (more: Record<string, string> = {}) => send(`/${id}/append`, segment.body, segment.type, more)
  const size = () => sandbox.store.uploads.size(id)
  return { ...sandbox, sandbox, headers, id, segment, send, append, size }
})

describe("an upload over a connection", () => {
  it.live("breaks in the middle of a segment, of which nothing is kept", () =>
    Effect.gen(function*() {
      const { append, faults, sandbox, size } = yield* begun
      faults.add({ operation: "appendMediaUpload", reset: "during" })
      yield* Effect.promise(async () => {
        const error = await append().catch((error: unknown) => error)
        assert.instanceOf(error, TypeError)
        assert.strictEqual(size(), 0)
        const { body, fault, status } = sandbox.requests.at(-1)!
        assert.deepStrictEqual([body, fault, status], [undefined, { reset: "during" }, undefined])
        assert.strictEqual((await append()).status, 200)
      })
      assert.isAbove(size(), 2_000_000)
    }))

  it.live("loses answers to what was done, and does not do what is refused", () =>
    Effect.gen(function*() {
      const { append, faults, id, sandbox, send, size } = yield* begun
      yield* Effect.promise(async () => {
        for (const status of [503, 413, 431]) {
          assert.strictEqual((await append({ "x-sandbox-fault": JSON.stringify({ status }) })).status, status)
        }
        assert.strictEqual(size(), 0)
        faults.add({ operation: "appendMediaUpload", reset: "after" })
        faults.add({ operation: "appendMediaUpload", status: 500, after: true })
        faults.add({ operation: "appendMediaUpload", truncate: true })
        for (const expected of ["lost", 500, "lost"] as const) {
          sandbox.store.uploads.forget(Infinity)
          assert.strictEqual(size(), 0)
          const answer = await append().then(
            async (response) => {
              await response.text()
              return response.status
            }
          ).catch(() => "lost" as const)
          assert.strictEqual(answer, expected)
          assert.isAbove(size(), 2_000_000)
        }
        faults.add({ operation: "finalizeMediaUpload", reset: "after" })
        assert.instanceOf(await send(`/${id}/finalize`).catch((error: unknown) => error), TypeError)
        const again = await send(`/${id}/finalize`)
        assert.deepStrictEqual([again.status, (await again.json()).data.image.w], [200, 90])
      })
    }))

  it.live("is given up by its client, and is as it was", () =>
    Effect.gen(function*() {
      const { append, baseUrl, headers, id, segment, size } = yield* begun
      yield* Effect.promise(async () => {
        const { hostname, port } = new URL(baseUrl)
        const socket = connect(Number(port), hostname)
        socket.write(
          `POST /2/media/upload/${id}/append HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
            `authorization: ${headers.authorization}\r\ncontent-type: ${segment.type}\r\n` +
            `content-length: ${segment.body.length}\r\n\r\n`
        )
        socket.end(segment.body.subarray(0, 1_000_000))
        socket.resume()
        await once(socket, "close")
        assert.strictEqual(size(), 0)
        assert.strictEqual((await append()).status, 200)
      })
    }))

  it.live("that is larger than a request may be, or is no form, is refused", () =>
    Effect.gen(function*() {
      const { id, segment, send, size } = yield* begun
      yield* Effect.promise(async () => {
        const huge = new FormData()
        huge.append("segment_index", "0")
        huge.append("media", new Blob([new Uint8Array(17 * 1_048_576)]), "media")
        const status = await send(`/${id}/append`, huge).then((response) => response.status).catch(() => "closed")
        assert.include([413, "closed"], status)
        for (
          const [body, type] of [
            [segment.body, "multipart/form-data"],
            [segment.body.subarray(0, 5_000), segment.type],
            ["nonsense", "multipart/form-data; boundary=x"],
            ["{}", "text/plain"],
            [segment.body, "application/json"]
          ] as const
        ) assert.strictEqual((await send(`/${id}/append`, body, type)).status, 400)
        const twice = new FormData()
        twice.append("segment_index", "0")
        twice.append("segment_index", "1")
        twice.append("media", new Blob(["a"]), "media")
        const unknown = new FormData()
        unknown.append("segment_index", "0")
        unknown.append("media", new Blob(["a"]), "media")
        unknown.append("__proto__", "x")
        for (const form of [twice, unknown]) assert.strictEqual((await send(`/${id}/append`, form)).status, 400)
      })
      assert.strictEqual(size(), 0)
    }))

  it.live("is read by parts, and its head alone", () =>
    Effect.gen(function*() {
      const { append, baseUrl, id, send } = yield* begun
      yield* Effect.promise(async () => {
        await append()
        const { data: { media_key, size } } = await (await send(`/${id}/finalize`)).json()
        const url = `${baseUrl}/media/${media_key}.png`
        const head = await fetch(url, { method: "HEAD" })
        assert.deepStrictEqual([head.status, head.headers.get("content-length")], [200, String(size)])
        const part = await fetch(url, { headers: { range: "bytes=1-3" } })
        assert.deepStrictEqual([part.status, await part.text()], [206, "PNG"])
        assert.strictEqual((await fetch(url, { method: "POST" })).status, 404)
        // Whoever names another host reads nothing: no page of another site does.
        const { hostname, port } = new URL(baseUrl)
        const socket = connect(Number(port), hostname)
        socket.end(`GET ${new URL(url).pathname} HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n`)
        const chunks: Array<Buffer> = []
        for await (const chunk of socket) chunks.push(chunk)
        assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1.1 403/)
      })
    }))
})
