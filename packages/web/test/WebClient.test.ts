// The client on the `fetch` of Node: what is the same as on Undici, and what `fetch` does otherwise.
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { getPost } from "@postwire/core/operations/Posts"
import { test } from "@postwire/sandbox/vitest"
import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { gzipSync } from "node:zlib"
import { expect, vi } from "vitest"
import * as Web from "../src/index.ts"
import { createClient, type PostwireClient, type Settings } from "../src/index.ts"
import { fromLayer } from "../src/PromiseClient.ts"
import * as WebClient from "../src/WebClient.ts"

const secrets = {
  bearerToken: "canary-bearer-token-0001",
  consumerKey: "canary-consumer-key-0002",
  consumerSecret: "canary-consumer-secret-0003",
  accessToken: "42-canary-access-token-0004",
  accessTokenSecret: "canary-access-token-secret-0005"
}

interface Request {
  readonly method: string
  readonly url: URL
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

let server: Http.Server
let baseUrl: string
let client: PostwireClient
let requests: Array<Request> = []
let aborted: Promise<void>

const megabyte = Buffer.alloc(2 ** 20, " ")

/** By the query or the text: no answer, a broken one, a bomb, a redirect; otherwise pages of two for ever, or a post. */
const answer = async ({ body, method, url }: Request, response: Http.ServerResponse) => {
  const asked = url.searchParams.get("query") ?? (body === "" ? "" : JSON.parse(body).text)
  const page = Number(url.searchParams.get("next_token") ?? 0)
  const post = (id: number | string) => ({ id: String(id), text: "a", edit_history_post_ids: [String(id)] })
  const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value))
  if (url.pathname === "/2/posts/search/stream") {
    return response.writeHead(200).write(`${JSON.stringify({ data: post(1), matching_rules: [{ id: "7" }] })}\r\n`)
  }
  switch (asked) {
    case "hang":
      return
    case "reset":
      return response.destroy()
    case "break":
      return response.writeHead(200, { "content-length": "100" }).write(`{"data":`, () => response.destroy())
    case "trickle":
      return response.writeHead(200).write(`{"data":`)
    case "fail":
      return response.writeHead(503).end("{}")
    case "fail once":
      if (requests.length === 1) return response.writeHead(503).end("{}")
      break
    case "bomb":
      response.writeHead(200, { "content-encoding": "gzip" })
      return response.end(gzipSync(Buffer.concat(Array.from({ length: 32 }, () => megabyte))))
    case "elsewhere":
      return response.writeHead(307, { location: baseUrl.replace("127.0.0.1", "localhost") }).end()
    case "here":
      return response.writeHead(307, { location: "/2/posts/search/recent?query=a" }).end()
    case "cookies":
      response.setHeader("set-cookie", ["a=1, 2", "b=3"])
      break
    case "broken part":
      return json({ data: [post(1), { ...post(2), lang: 7 }], meta: { result_count: 2 } })
  }
  if (url.pathname === "/2/posts/search/recent") {
    return json({ data: [post(2 * page), post(2 * page + 1)], meta: { result_count: 2, next_token: `${page + 1}` } })
  }
  json({ data: method === "POST" ? { id: "1", text: asked } : post(url.pathname.split("/").at(-1) ?? "") })
}

beforeAll(async () => {
  server = Http.createServer(async (incoming, response) => {
    aborted = new Promise((resolve) => response.on("close", () => response.writableFinished || resolve()))
    let body = ""
    for await (const chunk of incoming) body += chunk
    const url = new URL(incoming.url ?? "/", "http://service.test")
    const request = { method: incoming.method ?? "", url, headers: incoming.headers, body }
    requests.push(request)
    await answer(request, response)
  })
  server.on("connection", (socket) => socket.on("error", () => {}))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const make = (settings: Partial<Settings> = {}) => createClient({ baseUrl, retries: 0, ...secrets, ...settings })

beforeEach(() => {
  requests = []
  client = make()
})

afterEach(() => client.close())

const rejection = async (promise: Promise<unknown>): Promise<Web.AnyError> => {
  const error = await promise.then(() => assert.fail("resolved"), (error: unknown) => error)
  assert.isTrue(Web.isAnyError(error), inspect(error))
  for (const text of [inspect(error, { depth: Infinity }), JSON.stringify(error)]) assert.notInclude(text, "canary")
  return error as Web.AnyError
}

const search = (query: string, own: PostwireClient = client, options?: Web.CallOptions) =>
  own.searchRecentPosts({ query }, options)

const collect = async <A>(iterable: AsyncIterable<A>, count: number) => {
  const found: Array<A> = []
  for await (const item of iterable) if (found.push(item) === count) break
  return found
}

const recorded: Array<readonly [string, Web.FetchInit]> = []
const record: Web.Fetch = (url, init) => {
  recorded.push([url, init])
  return fetch(url, init)
}

describe("a client on fetch", () => {
  it("has every operation, with the parameters and the credential on the wire", async () => {
    for (const name of Object.keys(catalogue)) assert.property(client, name)
    const { data } = await client.getPost({ id: 20n, post_fields: ["created_at"] })
    assert.strictEqual(data?.id, "20")
    await client.createPost({ text: "ä" })
    const [read, created] = requests
    assert.strictEqual(read?.url.href, "http://service.test/2/posts/20?post.fields=created_at")
    assert.strictEqual(read?.headers.authorization, `Bearer ${secrets.bearerToken}`)
    assert.match(created?.headers.authorization ?? "", /^OAuth /)
    assert.deepInclude(created, { method: "POST", body: `{"text":"ä"}` })
  })

  it("returns every form, and the response beside it", async () => {
    assert.deepInclude(await client.as("dictionary").getPost({ id: "1" }), {
      data: { id: "1", text: "a", edit_history_post_ids: ["1"] }
    })
    const raw = await client.as("raw").searchRecentPosts({ query: "cookies" })
    assert.deepStrictEqual(raw.headers.getSetCookie(), ["a=1, 2", "b=3"])
    const { data, response } = await client.getPost({ id: "1" }).withResponse()
    assert.deepStrictEqual((await response.json()).data.id, data.data?.id)
    assert.strictEqual(response.status, 200)
  })

  it("pages, one ahead with prefetch", async () => {
    const posts = await collect(client.searchRecentPosts.items({ query: "a" }), 5)
    assert.deepStrictEqual(posts.map(({ id }) => id), ["0", "1", "2", "3", "4"])
    assert.lengthOf(requests, 3)
    const own = make({ fetch: record })
    recorded.length = 0
    await collect(own.searchRecentPosts.pages({ query: "a" }, { prefetch: 1 }), 1)
    assert.lengthOf(recorded, 2)
    for await (const page of client.as("raw").searchRecentPosts.pages({ query: "a" }, { limit: 2 })) {
      assert.strictEqual(page.status, 200)
    }
  })

  it("follows a stream, whose connection ends with the loop", async () => {
    for await (const { matchingRules, post } of client.streamPosts({}, { recover: "none" })) {
      assert.deepStrictEqual([post.id, matchingRules], ["1", [{ id: "7" }]])
      break
    }
    await aborted
  })

  it("requests any path, and hands its services to Effect", async () => {
    assert.deepInclude(await client.request({ method: "GET", path: "/2/things/9" }), {
      body: { data: { id: "9", text: "a", edit_history_post_ids: ["9"] } }
    })
    assert.strictEqual((await client.effect.runPromise(getPost({ id: "3" }))).data?.id, "3")
    const own = await fromLayer(WebClient.layer({ baseUrl, ...secrets }))
    assert.strictEqual((await own.getPost({ id: "4" })).data?.id, "4")
    await own.close()
  })

  it("retries reads, and reports each attempt", async () => {
    const sent: Array<number | undefined> = []
    const own = make({ retries: 1, onRequest: ({ status }) => sent.push(status) })
    await search("fail once", own)
    assert.deepStrictEqual(sent, [503, 200])
    assert.instanceOf(await rejection(search("fail")), Web.ServerFailure)
  })

  it("omits a malformed part of a response, and warns on the console", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const { anomalies, data } = await search("broken part")
    assert.lengthOf(data ?? [], 2)
    assert.lengthOf(anomalies, 1)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("searchRecentPosts"))
    warn.mockRestore()
    assert.strictEqual((await rejection(search("broken part", make({ verify: "strict" }))))._tag, "UndecodableResponse")
  })

  it("follows a redirect of a read within the origin, and takes no credential anywhere else", async () => {
    assert.lengthOf((await search("here")).data ?? [], 2)
    const error = await rejection(search("elsewhere"))
    assert.propertyVal(error, "_tag", "UnexpectedStatus")
    assert.lengthOf(requests, 3)
    assert.isTrue(requests.every(({ headers }) => headers.host?.startsWith("127.0.0.1")))
  })
})

describe("a limit", () => {
  it.each(
    [
      ["hang", { firstByte: 30 }, "firstByte"],
      ["trickle", { idle: 30 }, "idle"],
      ["trickle", { total: 30 }, "total"]
    ] as const
  )("of time ends '%s' (%o), and the connection", async (query, timeout, limit) => {
    const error = await rejection(search(query, make({ timeout })))
    assert.instanceOf(error, Web.TransportFailure)
    assert.strictEqual(error.timeout, limit)
    await aborted
  })

  it("of size ends a body of any length, also when it was compressed to little", async () => {
    const memory = process.memoryUsage().rss
    const error = await rejection(search("bomb", make({ maxBodySize: 2 ** 20 })))
    assert.propertyVal(error, "_tag", "UndecodableResponse")
    assert.include(error.message, `longer than ${2 ** 20} bytes`)
    assert.isBelow(process.memoryUsage().rss - memory, 2 ** 28)
  })
})

describe("a call that ends early", () => {
  it("is ended by its signal, with its reason, and the service sees it", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const call = search("hang", client, { signal: controller.signal })
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    controller.abort(reason)
    assert.strictEqual(await call.then(() => undefined, (error: unknown) => error), reason)
    await aborted
  })

  it("is ended by the end of its client, and none begins after it", async () => {
    const call = rejection(search("hang"))
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await client.close()
    assert.instanceOf(await call, Web.TransportFailure)
    await aborted
    assert.instanceOf(await rejection(client.getPost({ id: "1" })), Web.TransportFailure)
    assert.lengthOf(requests, 1)
  })
})

describe("a create whose answer does not come", () => {
  const create = (text: string, own: PostwireClient = client) => rejection(own.createPost({ text }))

  it.each(["reset", "break"])("may have taken effect, and is not retried (%s)", async (text) => {
    assert.instanceOf(await create(text, make({ retries: 2 })), Web.OutcomeUnknown)
    assert.lengthOf(requests, 1)
  })

  it("has not taken effect if the platform reports that there was no connection, as Node and Bun do", async () => {
    const free = Http.createServer().listen(0, "127.0.0.1")
    await once(free, "listening")
    const { port } = free.address() as AddressInfo
    free.close()
    const error = await create("a", make({ baseUrl: `http://127.0.0.1:${port}` }))
    assert.deepInclude(error, { _tag: "TransportFailure", phase: "connect" })
  })

  it("may have happened where it does not, as in browsers, Deno and Workers", async () => {
    const own = make({ fetch: () => Promise.reject(new TypeError("Failed to fetch")) })
    assert.instanceOf(await create("a", own), Web.OutcomeUnknown)
    const read = await rejection(search("a", own))
    assert.deepInclude(read, { _tag: "TransportFailure", phase: "unknown", reason: "Failed to fetch" })
  })
})

describe("the setting fetch", () => {
  it("is called with what every platform takes, and nothing else", async () => {
    recorded.length = 0
    await make({ fetch: record }).createPost({ text: "a" })
    const [[url, init] = ["", undefined]] = recorded
    assert.strictEqual(url, `${baseUrl}/2/posts`)
    assert.sameMembers(Object.keys(init ?? {}), ["method", "headers", "redirect", "signal", "body"])
    assert.strictEqual(await new Blob([init?.body ?? ""]).text(), `{"text":"a"}`)
  })

  it("may be what has it as a method, which is called as one", async () => {
    class Service {
      readonly #send = record
      fetch(url: string, init: Web.FetchInit) {
        return this.#send(url, init)
      }
    }
    assert.strictEqual((await make({ fetch: new Service() }).getPost({ id: "5" })).data?.id, "5")
  })

  it("defaults to the global fetch at the time of a call", async () => {
    const own = make()
    const replaced = vi.spyOn(globalThis, "fetch").mockResolvedValue(Response.json({ data: { id: "1", text: "b" } }))
    assert.strictEqual((await own.getPost({ id: "1" })).data?.text, "b")
    replaced.mockRestore()
  })
})

describe("settings", () => {
  it.each<readonly [object, string, RegExp]>([
    [{ fetch: "fetch" }, "fetch", /function/],
    [{ fetch: null }, "fetch", /function/],
    [{ proxy: "environment" }, "proxy", /is not a setting/],
    [{ rateLimitStore: "./limits.db" }, "rateLimitStore", /is not a setting/],
    [{ timeOut: 1 }, "timeOut", /did you mean timeout\?/],
    [{ logger: {} }, "logger", /methods/],
    [{ baseUrl: "http://service.example" }, "baseUrl", /https/]
  ])("%o are rejected immediately", (settings, setting, rule) => {
    try {
      make(settings)
      assert.fail()
    } catch (error) {
      assert.instanceOf(error, Web.InvalidSettings)
      assert.strictEqual(error.setting, setting)
      assert.match(error.rule, rule)
    }
  })
})

test("waits for a budget in the memory of the client", async ({ sandbox }) => {
  // Timers and dates move together; sockets are real.
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"], now: sandbox.clock.now() })
  const waits = Promise.withResolvers<number>()
  const own = createClient({
    ...sandbox.settings,
    waitOnRateLimit: true,
    onRateLimit: (change) => {
      if (change._tag === "Waiting") waits.resolve(change.millis)
    }
  })
  sandbox.budget.leave("getMe", 0)
  const me = own.getMe({ user_auth: false })
  await vi.advanceTimersByTimeAsync(await waits.promise)
  expect((await me).data?.username).toBe("ada")
  expect(sandbox.requests.map(({ status }) => status)).toEqual([429, 200])
})

test("fails with RateLimited where it is not to wait", async ({ sandbox }) => {
  const own = createClient(sandbox.settings)
  sandbox.budget.leave("getMe", 0)
  const error = await own.getMe().catch((error: unknown) => error)
  assert.instanceOf(error, Web.RateLimited)
  expect(error._tag).toBe("RateLimited")
})
