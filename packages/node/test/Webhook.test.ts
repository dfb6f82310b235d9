import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Signature from "@postwire/core/events/Signature"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import * as Http from "node:http"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
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

  it("loses no event of processes that are killed", { timeout: 60_000 }, async () => {
    const store = join(folder, "kills.db")
    const start = async () => {
      const child = spawn(
        process.execPath,
        [new URL("support/receiver.ts", import.meta.url).pathname, secrets, store],
        {
          stdio: ["ignore", "pipe", "inherit"]
        }
      )
      const lines = createInterface({ input: child.stdout })
      const port = await new Promise<string>((resolve) =>
        lines.on("line", (line) => line.startsWith("port ") ? resolve(line.slice(5)) : record(line))
      )
      return { child, url: `http://127.0.0.1:${port}/` }
    }
    const times = new Map<string, number>()
    const order: Array<string> = []
    let added = () => {}
    const record = (uuid: string) => {
      times.set(uuid, (times.get(uuid) ?? 0) + 1)
      order.push(uuid)
      added()
    }
    const wanted = new Set<string>()
    let next = 0
    for (let kill = 0; kill < 4; kill++) {
      const { child, url } = await start()
      // Each of them is acknowledged, and many are not handled when the process is killed.
      for (let i = 0; i < 60; i++) {
        const uuid = String(++next)
        for (const _ of [1, 2]) assert.strictEqual(await post(url, event(uuid, String(next % 3))), 200)
        wanted.add(uuid)
      }
      child.kill("SIGKILL")
      await once(child, "exit")
    }
    const { child } = await start()
    await new Promise<void>((resolve) => (added = () => times.size === wanted.size && resolve())())
    child.kill("SIGKILL")
    await once(child, "exit")
    assert.deepStrictEqual([...times.keys()].sort(), [...wanted].sort())
    for (const user of [0, 1, 2]) {
      const first = [...new Set(order)].map(Number).filter((uuid) => uuid % 3 === user)
      assert.deepStrictEqual(first, first.toSorted((a, b) => a - b))
    }
    // A kill costs a second run of those that were running.
    assert.isAtMost(order.length - times.size, 4 * 3)
  })
})
