import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as Errors from "@postwire/core/errors/Errors"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import { once } from "node:events"
import * as Http from "node:http"
import type * as Net from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { createClient, type PostwireClient } from "../src/EffectClient.ts"

/** Sends what a test says, when it says it. */
class Line {
  readonly closed: Promise<void>
  readonly #response: Http.ServerResponse

  constructor(response: Http.ServerResponse) {
    this.#response = response
    this.closed = new Promise((resolve) => response.on("close", () => resolve()))
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders()
  }

  send(...ids: ReadonlyArray<number>): void {
    this.#response.write(ids.map((id) => `${JSON.stringify(line(id))}\r\n`).join(""))
  }

  keepAlive(): void {
    this.#response.write("\r\n")
  }
}

const line = (id: number) => ({
  data: { id: String(id), text: `post ${id}`, author_id: "7", edit_history_post_ids: [String(id)] },
  includes: { users: [{ id: "7", name: "Ada", username: "ada" }] },
  matching_rules: [{ id: "1", tag: "all" }]
})

let server: Http.Server
let baseUrl: string
let lines: Array<Line> = []
let arrived: () => void
let queries: Array<string> = []

beforeAll(async () => {
  server = Http.createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://service.test")
    queries.push(url.search)
    if (request.headers.authorization !== "Bearer token") return void response.writeHead(401).end("{}")
    if (url.pathname !== "/2/posts/search/stream") return void response.writeHead(404).end("{}")
    lines.push(new Line(response))
    arrived()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  baseUrl = `http://127.0.0.1:${(server.address() as Net.AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

let client: PostwireClient

beforeEach(() => {
  lines = []
  queries = []
  arrived = () => {}
  client = createClient({ baseUrl, bearerToken: "token", retries: 0 })
})

afterEach(() => client.close())

/** The next connection, on which nothing was sent. */
const connection = async (index = 0): Promise<Line> => {
  while (lines[index] === undefined) await new Promise<void>((resolve) => arrived = resolve)
  return lines[index]
}

/** Whatever a stream asks besides itself has no part in these. */
const only = { recover: "none" } as const

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => assert.fail(`resolved with ${String(value)}`), (error: unknown) => error)

describe("a stream", () => {
  it("brings posts with what belongs to them, in their order", async () => {
    const posts = client.streamPosts({ post_fields: ["author_id"], expansions: ["author_id"] }, only)
    void connection().then((line) => line.send(1, 2, 3))
    const seen: Array<string> = []
    for await (const item of posts) {
      seen.push(item.post.text)
      assert.deepStrictEqual(item.matchingRules, [{ id: "1", tag: "all" }])
      assert.strictEqual(item.includes.users?.[0]?.username, "ada")
      assert.strictEqual(item.joined().author?.username, "ada")
      if (seen.length === 3) break
    }
    assert.deepStrictEqual(seen, ["post 1", "post 2", "post 3"])
    assert.include(queries[0], "expansions=author_id")
  })

  it("lets items wait in files for a loop that is slow", async () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => index)
    const seen: Array<string> = []
    void connection().then((line) => ids.forEach((id) => line.send(id)))
    for await (const { post } of client.streamPosts({}, { ...only, slowConsumer: "spill", bufferSize: 10 })) {
      if (seen.length % 100 === 0) await delay(1)
      if (seen.push(post.id) === ids.length) break
    }
    assert.deepStrictEqual(seen, ids.map(String))
  })

  it("ends its connection with the loop", async () => {
    void connection().then((line) => line.send(1, 2))
    for await (const _ of client.streamPosts({}, only)) break
    await (await connection()).closed
  })

  it("connects anew with each loop", async () => {
    const posts = client.streamPosts({}, only)
    for (const loop of [0, 1]) {
      void connection(loop).then((line) => line.send(loop))
      for await (const { post } of posts) {
        assert.strictEqual(post.id, String(loop))
        break
      }
    }
    assert.lengthOf(lines, 2)
  })

  it("can be ended while it waits", async () => {
    const iterator = client.streamPosts({}, only)[Symbol.asyncIterator]()
    const next = iterator.next()
    const line = await connection()
    const [ended] = await Promise.all([iterator.return?.(), line.closed])
    assert.deepStrictEqual(ended, { done: true, value: undefined })
    assert.deepStrictEqual(await next, { done: true, value: undefined })
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("answers those who ask at once in their order", async () => {
    const iterator = client.streamPosts({}, only)[Symbol.asyncIterator]()
    const asked = [iterator.next(), iterator.next(), iterator.next(), iterator.next()]
    const line = await connection()
    line.send(1, 2, 3)
    await asked[2]
    line.send(4, 5)
    const items = await Promise.all([...asked, iterator.next()])
    assert.deepStrictEqual(items.map(({ value }) => value.post.id), ["1", "2", "3", "4", "5"])
    await iterator.return?.()
  })

  it("is rejected with the reason of its signal, while it waits and while its items are worked on", async () => {
    for (const isWaiting of [true, false]) {
      const controller = new AbortController()
      const iterator = client.streamPosts({}, { ...only, signal: controller.signal })[Symbol.asyncIterator]()
      const first = iterator.next()
      const line = await connection(lines.length)
      line.send(1, 2)
      await first
      if (isWaiting) await iterator.next()
      const next = isWaiting ? iterator.next() : undefined
      const reason = new Error("enough")
      controller.abort(reason)
      assert.strictEqual(await rejection(next ?? iterator.next()), reason)
      assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
      await line.closed
    }
    const reason = new Error("before")
    const never = client.streamPosts({}, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]()
    assert.strictEqual(await rejection(never.next()), reason)
    assert.lengthOf(lines, 2)
  })

  it("ends when the client is closed, wherever its loop is", async () => {
    for (const isWaiting of [true, false]) {
      const closing = createClient({ baseUrl, bearerToken: "token" })
      const iterator = closing.streamPosts({}, only)[Symbol.asyncIterator]()
      const first = iterator.next()
      const line = await connection(lines.length)
      line.send(1)
      await first
      const next = isWaiting ? rejection(iterator.next()) : undefined
      await Promise.all([closing.close(), line.closed])
      const error = await (next ?? rejection(iterator.next()))
      assert.instanceOf(error, Errors.TransportFailure)
      assert.include(error.message, "the client is closed")
    }
  })

  it("fails where it was awaited", async () => {
    const unauthorized = createClient({ baseUrl, bearerToken: "other", retries: 0 })
    async function program() {
      for await (const _ of unauthorized.streamPosts({}, only)) assert.fail("there is none")
    }
    const error = await rejection(program())
    assert.instanceOf(error, Errors.Unauthorized)
    assert.match(error.stack ?? "", /at (async )?program/)
    // @ts-expect-error no such parameter
    const invalid = await rejection(client.streamPosts({ partition: 1 })[Symbol.asyncIterator]().next())
    assert.instanceOf(invalid, Errors.InvalidParameters)
    // @ts-expect-error no signal
    const unsignalled = await rejection(client.streamPosts({}, { signal: 1 })[Symbol.asyncIterator]().next())
    assert.instanceOf(unsignalled, Errors.InvalidParameters)
    await unauthorized.close()
    assert.lengthOf(lines, 0)
  })

  it("has lines in other forms", async () => {
    for (const form of ["dictionary", "raw"] as const) {
      const posts = client.as(form).streamPosts({ expansions: ["author_id"] }, only)
      void connection(lines.length).then((line) => line.send(1))
      for await (const item of posts) {
        assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(item)), line(1))
        assert.strictEqual(item.data.text, "post 1")
        break
      }
    }
  })
})

describe("events", () => {
  it("are everything that happens, in its order", async () => {
    const seen: Array<StreamEvent<unknown>> = []
    void connection().then((line) => {
      line.keepAlive()
      line.send(1)
    })
    for await (const event of client.as("dictionary").streamPosts.events({}, only)) {
      seen.push(event)
      if (event._tag !== "Delivered") continue
      assert.strictEqual(event.item.data.id, "1")
      break
    }
    const tags = seen.map(({ _tag }) => _tag)
    assert.includeMembers(tags, ["KeepAlive", "Delivered"])
    assert.isTrue(seen.every(({ at }) => at instanceof Date))
  })
})
