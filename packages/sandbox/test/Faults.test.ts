import { assert, describe, it } from "@effect/vitest"
import { getBookmarks } from "@postwire/core/operations/Bookmarks"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { createClient } from "@postwire/node"
import { Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import * as Faults from "../src/faults/Faults.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { type Bench, make } from "./support/Requests.ts"

/** The text of ada's own post, as the service sends it. */
const path = "/2/users/me?user.fields=created_at,description,public_metrics,entities,profile_image_url"

/** An answer as text, in process. */
const send = Effect.fnUntraced(function*({ http, sandbox, secrets }: Bench, fault?: object, target = path) {
  const response = yield* http.get(sandbox.baseUrl + target, {
    headers: {
      authorization: `Bearer ${secrets.bearerToken}`,
      ...(fault && { [Faults.header]: JSON.stringify(fault) })
    }
  })
  return { status: response.status, headers: response.headers, text: yield* response.text }
})

describe("a fault in process", () => {
  it.effect("answers with another status, and does no work", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const before = bench.store.counts()
      for (const status of [200, 400, 429, 500, 503, 599]) {
        bench.faults.add({ status, operation: "createPost" })
        const answer = yield* bench.request("POST", "/2/posts", { body: { text: "never" } })
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers["content-type"], "application/problem+json")
        assert.strictEqual(answer.body.status, status)
      }
      assert.deepStrictEqual(bench.store.counts(), before)
      // Nothing that was not done is counted.
      assert.deepStrictEqual(bench.budget.windows(), [])
      assert.strictEqual((yield* bench.request("POST", "/2/posts", { body: { text: "now" } })).status, 201)
    }))

  it.effect("is told from the answer by nothing else", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const plain = yield* send(bench)
      const { "x-transaction-id": _id, ...headers } = plain.headers
      for (const fault of [{ delay: 0 }, { pause: 0 }, { headers: {} }]) {
        const { "x-transaction-id": id, ...others } = (yield* send(bench, fault)).headers
        assert.match(id!, /^[0-9a-f-]{36}$/)
        const less = ({ "x-rate-limit-remaining": _, "transfer-encoding": __, ...rest }: typeof others) => rest
        assert.deepStrictEqual(less(others), less(headers), JSON.stringify(fault))
      }
    }))

  it.effect("spoils the body", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { text } = yield* send(bench)
      const html = yield* send(bench, { body: "html", status: 502 })
      assert.deepStrictEqual([html.status, html.headers["content-type"]], [502, "text/html"])
      assert.match(html.text, /^<!doctype html>/)
      const broken = yield* send(bench, { body: "broken-json" })
      assert.strictEqual(broken.text, text.slice(0, text.length >> 1))
      assert.throws(() => JSON.parse(broken.text))
      assert.match(broken.headers["content-type"]!, /^application\/json/)
      const empty = yield* send(bench, { body: "empty" })
      assert.deepStrictEqual([empty.status, empty.text, empty.headers["content-length"]], [200, "", "0"])
    }))

  it.effect("spoils the headers", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const missing = yield* send(bench, { rateLimitHeaders: "missing" })
      assert.deepStrictEqual(Object.keys(missing.headers).filter((name) => name.startsWith("x-rate")), [])
      assert.strictEqual(missing.status, 200)
      const absurd = yield* send(bench, { rateLimitHeaders: "absurd" })
      assert.strictEqual(absurd.headers["x-rate-limit-limit"], "-1")
      assert.strictEqual(absurd.headers["x-rate-limit-remaining"], "NaN")
      assert.strictEqual(absurd.headers["x-rate-limit-reset"], "99999999999999")
      const named = yield* send(bench, {
        headers: { "X-Rate-Limit-Remaining": "0", "X-Transaction-Id": null, "Retry-After": "7" }
      })
      assert.strictEqual(named.headers["x-rate-limit-remaining"], "0")
      assert.strictEqual(named.headers["retry-after"], "7")
      assert.notProperty(named.headers, "x-transaction-id")
    }))

  it.effect("holds the answer back by the clock of the service", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const fiber = yield* Effect.forkChild(send(bench, { delay: "30 seconds" }))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      assert.strictEqual(bench.journal.entries()[0]?.millis, 30_000)
    }))

  it.effect("sends the body in sixteen parts", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { text } = yield* send(bench)
      const response = yield* bench.http.get(bench.baseUrl + path, {
        headers: { authorization: `Bearer ${bench.secrets.bearerToken}`, [Faults.header]: `{"pause":"1 second"}` }
      })
      const parts: Array<string> = []
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(response.stream, (part) => Effect.sync(() => parts.push(new TextDecoder().decode(part))))
      )
      for (let i = 1; i <= 16; i++) {
        assert.lengthOf(parts, i - 1)
        yield* TestClock.adjust("1 second")
      }
      yield* Fiber.join(fiber)
      assert.strictEqual(parts.join(""), text)
    }))

  it.effect("breaks the connection before or after the work, and in the middle of the body", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const count = () => bench.store.counts().posts
      const create = (fault: Faults.Rule) => {
        bench.faults.add(fault)
        return Effect.exit(bench.request("POST", "/2/posts", { body: { text: JSON.stringify(fault) } }))
      }
      const posts = count()
      assert.isTrue(Exit.isFailure(yield* create({ reset: "before" })))
      assert.strictEqual(count(), posts)
      assert.isTrue(Exit.isFailure(yield* create({ reset: "after" })))
      assert.strictEqual(count(), posts + 1)
      assert.isTrue(Exit.isFailure(yield* create({ truncate: true })))
      assert.strictEqual(count(), posts + 2)
      assert.deepStrictEqual(bench.journal.entries().map(({ status }) => status), [undefined, undefined, 201])
      const error = yield* Effect.flip(send(bench, { reset: "after" }))
      assert.strictEqual("reason" in error && error.reason._tag, "TransportError")
    }))

  it.effect("is refused where it is none", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      for (
        const [rule, field] of [
          [{ status: 99 }, "status"],
          [{ status: 600 }, "status"],
          [{ status: "503" }, "status"],
          [{ stauts: 503 }, "stauts"],
          [{ body: "xml" }, "body"],
          [{ delay: "a while" }, "delay"],
          [{ delay: -1 }, "delay"],
          [{ pause: "Infinity" }, "pause"],
          [{ reset: "midway" }, "reset"],
          [{ processing: "slow" }, "processing"],
          [{ page: "long" }, "page"],
          [{ headers: { a: 1 } }, "headers"],
          // Nothing could send these, and a request that met them would wait for ever.
          [{ headers: { "a b": "c" } }, "headers"],
          [{ headers: { "": "c" } }, "headers"],
          [{ headers: { a: "b\r\nc: d" } }, "headers"],
          [{ headers: { a: "\u20ac" } }, "headers"],
          [{ headers: { "a b": null } }, "headers"]
        ] as const
      ) {
        const { status, text } = yield* send(bench, rule)
        assert.strictEqual(status, 400)
        assert.include(text, field)
        assert.include(text, Faults.header)
        // What JavaScript without types would pass.
        assert.throws(() => bench.faults.add(rule as never), RegExp(field))
      }
      for (
        const [rule, field] of [
          [{ status: 500, operation: "searchPosts" }, "operation"],
          [{ status: 500, nth: 0 }, "nth"],
          [{ status: 500, times: "often" }, "times"],
          [{ probability: 1.5 }, "probability"],
          [{ oneOf: [] }, "oneOf"],
          [{}, "must name a fault"],
          [{ operation: "getMe" }, "must name a fault"]
        ] as const
      ) assert.throws(() => bench.faults.add(rule as never), RegExp(field))
      const { status, text } = yield* bench.http.get(bench.baseUrl + path, {
        headers: { authorization: `Bearer ${bench.secrets.bearerToken}`, [Faults.header]: "nonsense" }
      }).pipe(Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))))
      assert.strictEqual(status, 400)
      assert.include(text, Faults.header)
      assert.deepStrictEqual(bench.faults.list(), [])
    }))
})

describe("rules", () => {
  const statuses = (rules: ReadonlyArray<Faults.Rule>, operations: string, seed = 1) => {
    const faults = Faults.make(seed)
    for (const rule of rules) faults.add(rule)
    const names = { m: "getMe", s: "searchRecentPosts", p: "getPost" } as const
    return [...operations].map((letter) => faults.next(names[letter as keyof typeof names])?.status ?? 0)
  }

  it("hit the first request, the nth, several or all", () => {
    assert.deepStrictEqual(statuses([{ status: 500 }], "mmm"), [500, 0, 0])
    assert.deepStrictEqual(statuses([{ status: 500, nth: 3 }], "mmmm"), [0, 0, 500, 0])
    assert.deepStrictEqual(statuses([{ status: 500, nth: 2, times: 2 }], "mmmm"), [0, 500, 500, 0])
    assert.deepStrictEqual(statuses([{ status: 500, nth: 2, times: "always" }], "mmmm"), [0, 500, 500, 500])
    assert.deepStrictEqual(statuses([{ status: 500, times: 2 }], "mmm"), [500, 500, 0])
  })

  it("count and hit the operations that they name", () => {
    assert.deepStrictEqual(statuses([{ status: 500, operation: "getMe", nth: 2 }], "msmm"), [0, 0, 500, 0])
    assert.deepStrictEqual(
      statuses([{ status: 500, operation: ["getMe", "getPost"], times: "always" }], "smsp"),
      [0, 500, 0, 500]
    )
    const both: ReadonlyArray<Faults.Rule> = [{ status: 500, times: 2 }, { status: 503, operation: "getMe", nth: 3 }]
    // A request meets the first of its rules, and all of them count it.
    assert.deepStrictEqual(statuses(both, "mmmm"), [500, 500, 503, 0])
    assert.deepStrictEqual(statuses([{ status: 500 }, { status: 503, times: 2 }], "mmm"), [500, 503, 503])
  })

  it("draw from the seed", () => {
    const many = "m".repeat(2_000)
    const drawn = statuses([{ status: 500, probability: 0.25 }], many)
    assert.deepStrictEqual(statuses([{ status: 500, probability: 0.25 }], many), drawn)
    assert.notDeepEqual(statuses([{ status: 500, probability: 0.25 }], many, 2), drawn)
    const hits = drawn.filter((status) => status === 500).length
    assert.isAbove(hits, 430)
    assert.isBelow(hits, 570)
    assert.lengthOf(
      statuses([{ status: 500, probability: 0.25, times: 3 }], many).filter((status) => status === 500),
      3
    )
    assert.deepStrictEqual(statuses([{ status: 500, probability: 0 }], "mm"), [0, 0])
    assert.deepStrictEqual(statuses([{ status: 500, probability: 1 }], "mm"), [500, 500])
    const oneOf: Faults.Rule = { oneOf: [{ status: 500 }, { status: 502 }, { status: 503 }], times: "always" }
    const picked = statuses([oneOf], many)
    assert.deepStrictEqual(statuses([oneOf], many), picked)
    assert.sameMembers([...new Set(picked)], [500, 502, 503])
  })

  it("with a probability alone meet every kind", () => {
    const faults = Faults.make(1)
    faults.add({ probability: 1 })
    const met = new Set(Array.from({ length: 1_000 }, () => JSON.stringify(faults.next("getMe"))))
    assert.sameMembers([...met], Faults.kinds.map((kind) => JSON.stringify(kind)))
  })

  it("are listed with what they met, removed, and drawn again after they were cleared", () => {
    const faults = Faults.make(1)
    const first = faults.add({ status: 500, times: 2 })
    const second = faults.add({ status: 503, operation: "getMe" })
    faults.next("getPost")
    assert.deepStrictEqual(faults.list(), [
      { id: first, rule: { status: 500, times: 2 }, met: 1 },
      { id: second, rule: { status: 503, operation: "getMe" }, met: 0 }
    ])
    assert.isTrue(faults.remove(first))
    assert.isFalse(faults.remove(first))
    assert.deepStrictEqual(faults.next("getMe"), { status: 503 })
    const draw = () => {
      faults.clear()
      assert.deepStrictEqual(faults.list(), [])
      faults.add({ probability: 0.5 })
      return Array.from({ length: 50 }, () => faults.next("getMe"))
    }
    assert.deepStrictEqual(draw(), draw())
  })
})

describe("pages", () => {
  const ids = (bench: Bench) =>
    searchRecentPosts.items({ query: "effect", max_results: 10 }).pipe(
      Stream.map(({ id }) => id),
      Stream.runCollect,
      Effect.provide(bench.client())
    )

  it.effect("that are empty or short lose nothing", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 120 })
      const all = yield* ids(bench)
      assert.isAbove(all.length, 60)
      const pages = bench.journal.entries().length
      for (
        const rule of [
          { page: "empty", nth: 2, times: 3 },
          { page: "empty", probability: 0.5 },
          { page: "short", times: "always" },
          { oneOf: [{ page: "short" }, { page: "empty" }], probability: 0.6 }
        ] satisfies Array<Faults.Rule>
      ) {
        bench.sandbox.faults.clear()
        bench.sandbox.journal.clear()
        bench.sandbox.budget.clear()
        bench.sandbox.faults.add(rule)
        assert.deepStrictEqual(yield* ids(bench), all, JSON.stringify(rule))
        assert.isAbove(bench.sandbox.requests.length, pages, JSON.stringify(rule))
      }
    }))

  it.effect("of counts stay counts", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const fault = { headers: { [Faults.header]: `{"page":"empty"}` } }
      const { body } = yield* bench.request("GET", "/2/posts/counts/all?query=effect", fault)
      assert.deepStrictEqual(Object.keys(body.meta).toSorted(), ["next_token", "total_post_count"])
      const next = yield* bench.request(
        "GET",
        `/2/posts/counts/all?query=effect&next_token=${body.meta.next_token}`,
        { as: "app" }
      )
      assert.isAbove(next.body.meta.total_post_count, 0)
    }))

  it.effect("of bookmarks that end early have a next one up to 90 items, as every list of the client has", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, faults } = bench
      ada.bookmarks(...Array.from({ length: 250 }, (_, index) => ada.post(`bookmark ${index}`)))
      faults.add({ operation: "getBookmarks", page: "ends-early", times: "always" })
      const read = (parameters: object, options?: object) =>
        getBookmarks.items(parameters, options).pipe(Stream.runCount, Effect.provide(bench.client()))
      assert.strictEqual(yield* read({}), 250)
      assert.strictEqual(yield* read({}, { limit: 120 }), 120)
      assert.strictEqual(yield* read({ max_results: 90 }), 250)
      assert.strictEqual(yield* read({ max_results: 100 }), 100)
      assert.strictEqual(yield* read({ max_results: 91 }), 91)
    }))

  it.effect("of any other list that end early have no next one", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 120 })
      bench.faults.add({ page: "ends-early", nth: 3, times: "always" })
      assert.lengthOf(yield* ids(bench), 30)
    }))

  it.effect("whose token leads to itself stop the client", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 120 })
      bench.faults.add({ page: "repeated-token", nth: 2, times: "always" })
      const error = yield* Effect.flip(ids(bench))
      assert.strictEqual(error._tag, "PaginationStuck")
      assert.lengthOf(bench.journal.entries(), 2)
    }))
})

describe("a fault on the wire", () => {
  const withSandbox = async (
    use: (sandbox: Sandbox.RunningSandbox) => Promise<void>,
    options: Sandbox.Options = {}
  ) => {
    await using sandbox = await Sandbox.start({ posts: 60, ...options })
    await use(sandbox)
  }

  /** What comes over a connection until it ends, and how it ends. */
  const raw = ({ baseUrl, settings }: Sandbox.RunningSandbox, method = "GET", target = path, body = "") =>
    new Promise<{ head: string; body: Buffer; error: string | undefined }>((resolve) => {
      const chunks: Array<Buffer> = []
      let error: string | undefined
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(baseUrl).port) })
      socket.on("data", (chunk) => chunks.push(chunk))
      socket.on("error", (cause: NodeJS.ErrnoException) => error = cause.code)
      socket.on("close", () => {
        const bytes = Buffer.concat(chunks)
        const end = bytes.indexOf("\r\n\r\n")
        resolve({ head: bytes.toString("latin1", 0, Math.max(end, 0)), body: bytes.subarray(end + 4), error })
      })
      socket.write([
        `${method} ${target} HTTP/1.1`,
        "Host: localhost",
        "Connection: close",
        `Authorization: Bearer ${settings.bearerToken}`,
        ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
        "",
        body
      ].join("\r\n"))
    })

  it.each([["before", 0], ["after", 1]] as const)(
    "resets the connection %s the work",
    (reset, posts) =>
      withSandbox(async (sandbox) => {
        const before = sandbox.store.counts().posts
        sandbox.faults.add({ reset, operation: "createPost" })
        const answer = await raw(sandbox, "POST", "/2/posts", `{"text":"half"}`)
        assert.deepStrictEqual([answer.head, answer.body.length, answer.error], ["", 0, "ECONNRESET"])
        assert.strictEqual(sandbox.store.counts().posts, before + posts)
        assert.deepStrictEqual(sandbox.requests.map(({ status }) => status), [undefined])
        // The same as the client sees it.
        sandbox.faults.add({ reset, operation: "createPost" })
        await using client = createClient(sandbox.settings)
        assert.strictEqual((await failure(client.createPost({ text: "half done" })))._tag, "OutcomeUnknown")
        assert.strictEqual(sandbox.store.counts().posts, before + 2 * posts)
      })
  )

  it("ends after half of the body, whose whole length was announced", () =>
    withSandbox(async (sandbox) => {
      const whole = await raw(sandbox)
      assert.match(whole.head, /^HTTP\/1\.1 200 OK\r\n/)
      sandbox.faults.add({ truncate: true })
      const half = await raw(sandbox)
      const length = Number(/content-length: (\d+)/i.exec(half.head)?.[1])
      assert.strictEqual(length, whole.body.length)
      assert.deepStrictEqual(half.body, whole.body.subarray(0, length >> 1))
      assert.notMatch(half.head, /transfer-encoding/i)
      sandbox.faults.add({ truncate: true, times: "always" })
      await using client = createClient(sandbox.settings)
      const error = await failure(client.getPost({ id: "1" }))
      assert.strictEqual(error._tag, "TransportFailure")
    }))

  it("streams a huge body in flat memory", () =>
    withSandbox(async (sandbox) => {
      sandbox.faults.add({ body: "huge" })
      const { port } = new URL(sandbox.baseUrl)
      const begin = process.memoryUsage().rss
      let [length, most] = [0, 0]
      await new Promise<void>((resolve, reject) => {
        httpRequest({
          host: "127.0.0.1",
          port,
          path,
          headers: { authorization: `Bearer ${sandbox.settings.bearerToken}` }
        })
          .on("error", reject)
          .on("response", (response) =>
            response.on("data", (chunk: Buffer) => {
              length += chunk.length
              most = Math.max(most, process.memoryUsage.rss())
            }).on("end", resolve))
          .end()
      })
      assert.isAbove(length, 2 ** 28)
      // A quarter of a gigabyte went through; what is collected late is less.
      assert.isBelow(most - begin, 3 * 2 ** 26)
    }))

  it("is seeded for a share of all requests", async () => {
    const draw = async (seed: number) => {
      await using sandbox = await Sandbox.start({ posts: 0, seed, faults: 0.5 })
      const { id } = sandbox.ada
      for (let i = 0; i < 12; i++) {
        await fetch(`${sandbox.baseUrl}/2/users/${id}`, {
          headers: { authorization: `Bearer ${sandbox.settings.bearerToken}` }
        }).catch(() => {})
      }
      return sandbox.requests.map(({ fault }) => fault)
    }
    const [one, two, other] = [await draw(1), await draw(1), await draw(2)]
    assert.lengthOf(one, 12)
    assert.isTrue(one.includes(undefined))
    assert.isTrue(one.some((fault) => fault !== undefined))
    assert.deepStrictEqual(two, one)
    assert.notDeepEqual(other, one)
  })
})

const failure = async (call: Promise<unknown>): Promise<{ readonly _tag: string }> => {
  try {
    await call
  } catch (error) {
    return error as { readonly _tag: string }
  }
  return assert.fail("it did not fail")
}
