import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import * as Signature from "@postwire/core/events/Signature"
import { Redacted } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import * as Http from "node:http"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { type Options, webhook } from "../src/Webhook.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-webhook-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const secrets = "a secret of the app"

const sign = (body: string | Uint8Array) => Signature.sign(Redacted.make(secrets), body)

const event = (uuid: string, user = "42") =>
  JSON.stringify({
    data: { event_uuid: uuid, filter: { user_id: user }, event_type: "dm.read", payload: { users: {} } }
  })

/** A server with a webhook, and the uuids of the events that were handled. */
const serve = async (
  options: Partial<Options> = {},
  wrap: (listener: Http.RequestListener) => Http.RequestListener = (listener) => listener
) => {
  const handled: Array<string> = []
  const hook = webhook({ secrets, onEvent: ({ event_uuid }) => void handled.push(event_uuid), ...options })
  const server = Http.createServer(wrap(hook.listener)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  assert(typeof address === "object" && address !== null)
  return {
    hook,
    handled,
    port: address.port,
    url: `http://127.0.0.1:${address.port}/hook`,
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections()
      await hook.close()
    }
  }
}

const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", [Signature.header]: sign(body), ...headers }
  })
  await response.text()
  return response.status
}

/** Sends the bytes of a request, and returns the status of the answer; `undefined` if there is none. */
const raw = async (port: number, head: ReadonlyArray<string>, body: string | Uint8Array, ends = false) => {
  const socket = Net.connect(port, "127.0.0.1")
  socket.write(`${["POST /hook HTTP/1.1", "host: localhost", ...head].join("\r\n")}\r\n\r\n`)
  if (ends) socket.end(body)
  else socket.write(body)
  let answer = ""
  socket.on("error", () => {}).on("data", (piece: Buffer) => {
    answer += piece.toString()
    socket.destroy()
  })
  await once(socket, "close")
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]
  return status === undefined ? undefined : Number(status)
}

describe("over HTTP", () => {
  it("answers challenges and takes events", async () => {
    await using server = await serve()
    const { handled, url } = server
    const response = await fetch(`${url}?crc_token=abcdefgh%2B0123456789`)
    assert.deepStrictEqual(await response.json(), { response_token: sign("abcdefgh+0123456789") })
    assert.strictEqual(await post(url, event("-1")), 200)
    assert.strictEqual(await post(url, event("-1")), 200)
    assert.strictEqual(await post(url, event("-2"), { [Signature.header]: sign(event("-1")) }), 401)
    assert.deepStrictEqual(handled, ["-1"])
  })

  it("withstands what the service does not send", async () => {
    await using server = await serve()
    const { handled, port } = server
    const body = event("1")
    const signed = `${Signature.header}: ${sign(body)}`
    const length = `content-length: ${Buffer.byteLength(body)}`
    const zipped = gzipSync(body)
    assert.strictEqual(await raw(port, [signed, signed, length], body), 401)
    assert.strictEqual(await raw(port, [signed, length, length], body), 400)
    assert.strictEqual(await raw(port, [signed, `content-length: ${body.length}x`], body), 400)
    // The rest of the body would be the next request.
    assert.include([400, 401], await raw(port, [signed, `content-length: ${body.length - 1}`], body))
    assert.include([undefined, 400], await raw(port, [signed, `content-length: ${body.length + 1}`], body, true))
    assert.strictEqual(await raw(port, [signed, length, "transfer-encoding: chunked"], body), 400)
    assert.strictEqual(
      await raw(
        port,
        [`${Signature.header}: ${sign(zipped)}`, "content-encoding: gzip", `content-length: ${zipped.length}`],
        zipped
      ),
      415
    )
    assert.strictEqual(await raw(port, [signed, "content-length: 2000000"], body), 413)
    assert.strictEqual(
      await raw(port, [signed, "transfer-encoding: chunked"], `200000\r\n${"x".repeat(0x200000)}\r\n0\r\n\r\n`),
      413
    )
    assert.deepStrictEqual(handled, [])
    const half = Math.floor(body.length / 2)
    const chunks = [body.slice(0, half), body.slice(half), ""].map((chunk) =>
      `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    )
    assert.strictEqual(await raw(port, [signed, "transfer-encoding: chunked"], chunks.join("")), 200)
    assert.deepStrictEqual(handled, ["1"])
  })

  it("takes bodies of 1 MiB and no byte more", async () => {
    await using server = await serve()
    const body = event("1").padEnd(1024 * 1024)
    const longer = `${body} `
    assert.strictEqual(await post(server.url, longer), 413)
    const signed = `${Signature.header}: ${sign(longer)}`
    const chunk = `${longer.length.toString(16)}\r\n${longer}\r\n0\r\n\r\n`
    assert.strictEqual(await raw(server.port, [signed, "transfer-encoding: chunked"], chunk), 413)
    assert.deepStrictEqual(server.handled, [])
    assert.strictEqual(await post(server.url, body), 200)
    assert.deepStrictEqual(server.handled, ["1"])
  })

  it("handles no captured delivery again, a day later or, if it says when it happened, four days later", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 2, 9) })
    try {
      await using server = await serve({ store: join(folder, "captured.db") })
      const mention = JSON.stringify({
        data: {
          event_uuid: "2",
          filter: { user_id: "42" },
          event_type: "post.mention.create",
          payload: { id: "1900000000000000001", text: "open?", author_id: "77", created_at: new Date().toISOString() }
        }
      })
      const captured = [event("1"), mention]
      const again = async (bodies: ReadonlyArray<string>) => {
        for (const body of bodies) assert.strictEqual(await post(server.url, body), 200)
      }
      await again(captured)
      vi.advanceTimersByTime(86_400_000)
      await again(captured)
      vi.advanceTimersByTime(3 * 86_400_000)
      await again([mention])
      vi.advanceTimersByTime(30 * 86_400_000)
      await again([mention])
      assert.deepStrictEqual(server.handled, ["1", "2"])
    } finally {
      vi.useRealTimers()
    }
  })

  it("answers 10,000 challenges, signs no JSON, and keeps nothing of them", async () => {
    await using server = await serve()
    setFlagsFromString("--expose-gc")
    const collect: unknown = runInNewContext("gc")
    const used = () => {
      if (typeof collect === "function") collect()
      return process.memoryUsage().heapUsed
    }
    const forged = encodeURIComponent(event("1"))
    /** Sends requests without waiting for the answers, and returns how many there were of each kind. */
    const flood = async (count: number) => {
      const socket = Net.connect(server.port, "127.0.0.1")
      const answers = { signed: 0, refused: 0, other: 0 }
      const lines = createInterface({ input: socket })
      const { promise: done, resolve } = Promise.withResolvers<void>()
      let signatures = 0
      // The body has no line end, so that the next status follows it.
      lines.on("line", (line) => {
        signatures += line.split("sha256=").length - 1
        const status = /HTTP\/1\.1 (\d+)/.exec(line)?.[1]
        if (status === undefined) return
        answers[status === "200" ? "signed" : status === "400" ? "refused" : "other"]++
        if (answers.signed + answers.refused + answers.other === count) resolve()
      })
      for (let i = 0; i < count; i++) {
        const token = i % 10 === 9 ? forged : `challenge_${10_000_000 + i}`
        socket.write(`GET /hook?crc_token=${token} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      }
      await done
      socket.destroy()
      return { ...answers, signatures }
    }
    await flood(1_000)
    const before = used()
    for (let round = 0; round < 10; round++) {
      const { signatures, ...answers } = await flood(1_000)
      assert.deepStrictEqual(answers, { signed: 900, refused: 100, other: 0 })
      // The last answer is a refusal.
      assert.strictEqual(signatures, 900)
    }
    assert.isBelow(used() - before, 4 * 1024 * 1024)
    assert.deepStrictEqual(server.handled, [])
  })

  it("gives no one the signature of a delivery", async () => {
    await using server = await serve()
    const body = event("1")
    const signature = sign(body)
    const requests: ReadonlyArray<readonly [path: string, init?: RequestInit]> = [
      [`?crc_token=${encodeURIComponent(body)}`],
      [`?crc_token=${encodeURIComponent(encodeURIComponent(body))}`],
      [`?crc_token=${Buffer.from(body).toString("base64")}`],
      ["", { method: "POST", body }],
      ["", { method: "POST", body, headers: { [Signature.header]: "sha256=" } }],
      [`?crc_token=${encodeURIComponent(body)}`, { method: "POST", body: "{}" }],
      [`?crc_token=${encodeURIComponent(body)}`, { method: "HEAD" }],
      [`?crc_token=${encodeURIComponent(body)}`, { method: "OPTIONS" }]
    ]
    for (const [path, init] of requests) {
      const response = await fetch(server.url + path, init)
      const told = JSON.stringify([...response.headers]) + await response.text()
      assert.notInclude(told, signature.slice(7))
      assert.notInclude(told, secrets)
    }
    assert.deepStrictEqual(server.handled, [])
  })

  it.runIf(process.env["POSTWIRE_LONG"] === "1")("waits five seconds for a body", async () => {
    await using server = await serve()
    const body = event("1")
    const head = [`${Signature.header}: ${sign(body)}`, `content-length: ${body.length}`]
    assert.strictEqual(await raw(server.port, head, body.slice(0, 10)), 408)
    assert.deepStrictEqual(server.handled, [])
  }, 15_000)

  it("says so when a body parser was first, and takes the bytes that one kept", async () => {
    const lines: Array<unknown> = []
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: (line: unknown) => void lines.push(line) }
    /** As Express's parsers do. */
    const parsing =
      (parse: (body: Buffer) => unknown, name: string) =>
      (listener: Http.RequestListener): Http.RequestListener =>
      async (request, response) => {
        const pieces: Array<Buffer> = []
        for await (const piece of request) pieces.push(piece)
        listener(Object.assign(request, { [name]: parse(Buffer.concat(pieces)) }), response)
      }
    {
      await using server = await serve({ logger }, parsing((body) => JSON.parse(body.toString()), "body"))
      assert.strictEqual(await post(server.url, event("1")), 500)
      assert.match(String(lines[0]), /put the webhook before the body parser/)
    }
    for (const name of ["body", "rawBody"]) {
      await using server = await serve({}, parsing((body) => body, name))
      assert.strictEqual(await post(server.url, event("1")), 200)
      assert.deepStrictEqual(server.handled, ["1"])
    }
  })

  it("answers a web request", async () => {
    await using server = await serve()
    const response = await server.hook(new Request("http://localhost/?crc_token=abcdefgh0123456789"))
    assert.strictEqual(response.status, 200)
  })
})

describe("closing", () => {
  it("answers what waits, with ack after", async () => {
    const started = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    await using server = await serve({
      ack: "after",
      onEvent: () => {
        started.resolve()
        return gate.promise
      }
    })
    const first = post(server.url, event("1"))
    await started.promise
    const closed = server.hook.close()
    gate.resolve()
    await closed
    assert.strictEqual(await first, 200)
  })
})

describe("settings", () => {
  it("are checked", () => {
    const onEvent = () => {}
    assert.throws(() => webhook({ secrets: "", onEvent }), "secrets must have the consumer secret of the app.")
    assert.throws(() => webhook({ secrets, onEvent, store: "redis.internal:6379" }), "store may be a file or a host")
    assert.throws(
      () => webhook({ secrets, onEvent, store: "/proc/no/such/file.db" }),
      "store is a file that cannot be used"
    )
  })
})

describe("a file", () => {
  it("keeps events that fail until the next process", async () => {
    const store = join(folder, "failing.db")
    {
      await using first = await serve({
        store,
        onEvent: () => {
          throw new Error(`not with ${secrets}`)
        }
      })
      await post(first.url, event("1"))
    }
    const { promise, resolve } = Promise.withResolvers<string>()
    await using second = await serve({ store, onEvent: ({ event_uuid }) => resolve(event_uuid) })
    assert.strictEqual(await promise, "1")
    assert.deepStrictEqual(await second.hook.deadLetters.list(), [])
  })
})
