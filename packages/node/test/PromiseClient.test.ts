import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import type * as Core from "@postwire/core/client/Client"
import * as RawRequest from "@postwire/core/client/RawRequest"
import * as Errors from "@postwire/core/errors/Errors"
import { getPost } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { Effect, Stream } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import * as Http from "node:http"
import type * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Dispatcher } from "undici"
import { vi } from "vitest"
import * as Node from "../src/EffectClient.ts"
import { createClient, type PostwireClient } from "../src/EffectClient.ts"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import * as NodeClient from "../src/NodeClient.ts"

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
  readonly body: string
  readonly headers: Http.IncomingHttpHeaders
}

let server: Http.Server
let baseUrl: string
let requests: Array<Request> = []
let aborted: Promise<void>
let connections = 0
const sockets = new Set<Net.Socket>()

/** Pages of two for ever, a post by id, and by their query: no answer, a spent budget, a status, a body. */
const answer = (request: Request, response: Http.ServerResponse): void => {
  const { pathname, searchParams } = request.url
  const query = searchParams.get("query") ?? ""
  if (pathname === "/2/users/me" && request.headers["authorization"] === "Bearer hang") return
  const json = (body: unknown) => void response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  if (query === "hang" || request.body.includes("hang")) return
  if (query === "limit" || request.body.includes("limit")) {
    response.writeHead(429, {
      "x-rate-limit-limit": "1",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": String(Math.floor(Date.now() / 1000) + 600)
    })
    return void response.end("{}")
  }
  if (query.startsWith("status ")) {
    return void response.writeHead(Number(query.slice(7)), { location: "http://other.test/" }).end("<html>")
  }
  if (query.startsWith("body ")) return void response.end(query.slice(5))
  if (query === "break") {
    response.writeHead(200, { "content-length": "100" })
    return void response.write(`{"data":`, () => response.destroy())
  }
  if (pathname === "/2/posts/search/recent") {
    const page = Number(searchParams.get("next_token") ?? 0)
    const post = (id: number) => ({ id: String(id), text: "a", edit_history_post_ids: [String(id)] })
    return json({ data: [post(2 * page), post(2 * page + 1)], meta: { result_count: 2, next_token: String(page + 1) } })
  }
  if (request.method === "POST") return json({ data: { id: "1", text: JSON.parse(request.body).text } })
  json({ data: { id: pathname.split("/").at(-1), text: "a", edit_history_post_ids: [] } })
}

beforeAll(async () => {
  server = Http.createServer(async (incoming, response) => {
    let body = ""
    for await (const chunk of incoming) body += chunk
    const url = new URL(incoming.url ?? "/", "http://service.test")
    const request = { method: incoming.method ?? "", url, body, headers: incoming.headers }
    requests.push(request)
    answer(request, response)
  })
  server.on("connection", (socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
  })
  server.on("request", (_, response) => {
    aborted = new Promise((resolve) => response.on("close", () => response.writableFinished || resolve()))
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
  requests = []
  client = createClient({ baseUrl, retries: 0, ...secrets })
})

afterEach(() => client.close())

const rejection = async (promise: Promise<unknown>): Promise<Error> => {
  const outcome = await promise.then((value) => ({ value }), (error: unknown) => ({ error }))
  if (!("error" in outcome)) throw new Error(`resolved with ${inspect(outcome.value)}`)
  assert.instanceOf(outcome.error, Error)
  for (const text of [outcome.error.message, outcome.error.stack, inspect(outcome.error, { depth: Infinity })]) {
    assert.notInclude(text, "canary")
  }
  assert.notInclude(JSON.stringify(outcome.error), "canary")
  return outcome.error
}

const collect = async <A extends { readonly id: string }>(iterable: AsyncIterable<A>, count = Infinity) => {
  const ids: Array<string> = []
  for await (const { id } of iterable) {
    ids.push(id)
    if (ids.length === count) break
  }
  return ids
}

const received = async (count: number) => {
  while (requests.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Time enough for a request that should not be made to arrive. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 30))

describe("a call", () => {
  it("resolves with the response", async () => {
    const { data } = await client.getPost({ id: 20n, post_fields: ["created_at"] })
    assert.strictEqual(data?.id, "20")
    const [request] = requests
    assert.strictEqual(request?.url.href, "http://service.test/2/posts/20?post.fields=created_at")
    assert.strictEqual(request?.headers["authorization"], `Bearer ${secrets.bearerToken}`)
  })

  it("sends a body as JSON", async () => {
    const { data } = await client.createPost({ text: "héllo 😀" })
    assert.deepStrictEqual(data, { id: "1", text: "héllo 😀" })
    assert.strictEqual(requests[0]?.headers["content-type"], "application/json")
    assert.strictEqual(requests[0]?.body, `{"text":"héllo 😀"}`)
    assert.match(requests[0]?.headers["authorization"] ?? "", /^OAuth oauth_consumer_key=/)
  })

  it("is there for every operation, with pages where it pages", () => {
    const methods = client as unknown as Readonly<Record<string, object>>
    const own = [
      "as",
      "effect",
      "request",
      "session",
      "upload",
      "publish",
      "publishThread",
      "createArticle",
      "planListMembers",
      "syncListMembers",
      "compliance",
      "getConversation",
      "planRules",
      "syncRules",
      "planWebhook",
      "keepWebhook",
      "hydrate",
      "close"
    ]
    assert.sameMembers(Object.keys(client), [...Object.keys(catalogue), ...own])
    for (const [name, { definition }] of Object.entries(catalogue)) {
      assert.isFunction(methods[name])
      assert.strictEqual("pages" in methods[name]!, "paging" in definition)
      assert.strictEqual("items" in methods[name]!, "paging" in definition)
    }
  })

  it("rejects mistakes with a TypeError, and sends nothing", async () => {
    const bare = createClient({ baseUrl })
    const mistakes: ReadonlyArray<readonly [Promise<unknown>, string]> = [
      [client.getPost({ id: "../me" }), "InvalidParameters"],
      [client.getPost({} as never), "InvalidParameters"],
      [client.getPost(null as never), "InvalidParameters"],
      // @ts-expect-error -- a post needs an id
      [client.getPost(), "InvalidParameters"],
      [client.getUser({} as never), "ConflictingIdentifiers"],
      [client.getUser({ id: 1, username: "ada" } as never), "ConflictingIdentifiers"],
      [bare.getPost({ id: 1 }), "MissingAccessToken"],
      [bare.createPost({ text: "a" }), "MissingAccessToken"]
    ]
    for (const [promise, tag] of mistakes) {
      const error = await rejection(promise)
      assert.instanceOf(error, TypeError)
      assert.strictEqual(error.name, tag)
    }
    await bare.close()
    assert.lengthOf(requests, 0)
  })

  it("rejects what the service refuses with the error of its status", async () => {
    const statuses = [[400, "BadRequest"], [401, "Unauthorized"], [403, "Forbidden"], [404, "NotFound"], [
      503,
      "ServerFailure"
    ]]
    for (const [status, tag] of [...statuses, [302, "UnexpectedStatus"], [418, "UnexpectedStatus"]]) {
      const error = await rejection(client.searchRecentPosts({ query: `status ${status}` }))
      assert.strictEqual(error.name, tag)
      assert.notInstanceOf(error, TypeError)
    }
    assert.lengthOf(requests, 7)
    assert.instanceOf(await rejection(client.searchRecentPosts({ query: "limit" })), Errors.RateLimited)
  })

  it("rejects bodies that are no answer", async () => {
    for (const body of ["", "<html>", "null", "[]", "{}", `{"data":[{"id":1}]}`]) {
      assert.instanceOf(
        await rejection(client.searchRecentPosts({ query: `body ${body}` })),
        Errors.UndecodableResponse
      )
    }
    const error = await rejection(client.searchRecentPosts({ query: "break" }))
    assert.instanceOf(error, Errors.TransportFailure)
    assert.strictEqual(error.phase, "body")
  })

  it("rejects when nobody listens, before anything was sent", async () => {
    const idle = Http.createServer().listen(0, "127.0.0.1")
    await once(idle, "listening")
    const { port } = idle.address() as Net.AddressInfo
    idle.close()
    await once(idle, "close")
    await using nobody = createClient({ baseUrl: `http://127.0.0.1:${port}`, retries: 0, ...secrets })
    for (const promise of [nobody.getPost({ id: 1 }), nobody.createPost({ text: "a" })]) {
      const error = await rejection(promise)
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.phase, "connect")
    }
  })

  it("waits for a budget when it is told to, and says when that is too long", async () => {
    await using waiting = createClient({ baseUrl, ...secrets, waitOnRateLimit: true, maxWait: 1000 })
    assert.instanceOf(await rejection(waiting.searchRecentPosts({ query: "limit" })), Errors.RateLimitWaitTooLong)
    assert.lengthOf(requests, 1)
  })

  it("gives no secret away", async () => {
    const printed = inspect(client, { depth: Infinity, showHidden: true })
    assert.notInclude(printed, "canary")
    const { data } = await client.getPost({ id: 1 })
    assert.notInclude(inspect([client, data], { depth: Infinity, showHidden: true }), "canary")
    assert.notInclude(JSON.stringify(client), "canary")
  })
})

describe("the limits of a call", () => {
  for (const [limit, timeout] of [["total", 50], ["firstByte", { firstByte: 50 }]] as const) {
    it(`hold for the lookup of the user's id: ${limit}`, async () => {
      await using hanging = createClient({ baseUrl, bearerToken: "hang" })
      const error = await rejection(hanging.bookmark({ post_id: 1 }, { timeout, retries: 0 }))
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.timeout, limit)
      assert.match(error.message, /within 50 ms/)
      if (requests.length > 0) await aborted
      assert.notInclude(requests.map(({ method }) => method), "POST")
    })
  }
})

describe("the stack of an error", () => {
  // Node shows the line of the first frame of an error that nobody catches.
  const caller =
    /^\w+: .*\n(?: +at (?:process\.processTicksAndRejections|async Promise\.all) \(.*\n)* +at (?:async )?callerOf\w+ \(.*PromiseClient\.test\.ts:\d+:\d+\)/

  it("leads to whoever awaits the call, however it fails", async () => {
    const failing = [
      () => client.searchRecentPosts({ query: "status 404" }),
      () => client.searchRecentPosts({ query: "status 404" }).withResponse(),
      () => client.searchRecentPosts({ query: "body <html>" }),
      () => client.getPost({ id: "../me" }),
      () => client.getConversation("../me"),
      () => client.as("raw").searchRecentPosts({ query: "status 404" }),
      () => Promise.all([client.searchRecentPosts({ query: "limit" }), client.getPost({ id: 1 })])
    ]
    const callerOfCall = async (call: () => Promise<unknown>) => {
      await call()
    }
    for (const call of failing) {
      const error = await rejection(callerOfCall(call))
      assert.match(error.stack ?? "", caller)
      assert.isTrue(error.stack?.startsWith(`${error.name}: ${error.message}`))
    }
  })

  it("leads to the loop", async () => {
    const callerOfLoop = async (query: string, options: object) => {
      for await (const _ of client.searchRecentPosts.items({ query }, options)) assert.fail()
    }
    for (const options of [{}, { prefetch: 1 }]) {
      for (const query of ["status 404", ""]) {
        assert.match((await rejection(callerOfLoop(query, options))).stack ?? "", caller)
      }
    }
  })

  it("leads to whoever makes a client with a bad setting", () => {
    const callerOfCreate = () => createClient({ baseUrl: "a" })
    try {
      callerOfCreate()
      assert.fail()
    } catch (error) {
      assert.instanceOf(error, Errors.InvalidSettings)
      assert.match(error.stack ?? "", caller)
    }
  })
})

describe("options that are none", () => {
  it("are refused, and nothing is sent", async () => {
    for (const options of [null, 1, "", "a", false, []] as ReadonlyArray<unknown> as ReadonlyArray<object>) {
      for (
        const promise of [
          client.getPost({ id: 1 }, options),
          collect(client.searchRecentPosts.items({ query: "a" }, options)),
          client.effect.runPromise(getPost({ id: 1 }, options)),
          client.effect.runPromise(Stream.runDrain(searchRecentPosts.items({ query: "a" }, options)))
        ]
      ) assert.instanceOf(await rejection(promise), Errors.InvalidParameters)
    }
    for (
      const signal of [null, 1, "", {}, new AbortController()] as ReadonlyArray<unknown> as ReadonlyArray<AbortSignal>
    ) {
      for (
        const promise of [
          client.getPost({ id: 1 }, { signal }),
          collect(client.searchRecentPosts.items({ query: "a" }, { signal }))
        ]
      ) assert.propertyVal(await rejection(promise), "parameter", "signal")
    }
    assert.lengthOf(requests, 0)
  })
})

describe("a signal", () => {
  const reason = new Error("enough")

  it("that is aborted already keeps a call from being sent", async () => {
    await client.getPost({ id: 1 })
    for (const signal of [AbortSignal.abort(reason), AbortSignal.abort("text"), AbortSignal.abort()]) {
      const outcome = await client.createPost({ text: "a" }, { signal }).then(
        () => "resolved",
        (error: unknown) => error
      )
      assert.strictEqual(outcome, signal.reason)
      const items = client.searchRecentPosts.items({ query: "a" }, { signal })
      assert.strictEqual(await collect(items).then(() => "resolved", (error: unknown) => error), signal.reason)
    }
    await quiet()
    assert.lengthOf(requests, 1)
  })

  it("that is aborted already keeps a call from the dispatcher", async () => {
    let dispatched = 0
    // Of a dispatcher, the client uses this alone.
    const dispatcher = { dispatch: () => (dispatched++, true) } as unknown as Dispatcher
    const own = createClient({ baseUrl, ...secrets, dispatcher })
    await rejection(own.createPost({ text: "a" }, { signal: AbortSignal.abort(reason) }))
    assert.strictEqual(dispatched, 0)
    const call = rejection(own.createPost({ text: "a" }))
    assert.strictEqual(dispatched, 1)
    await own.close()
    await call
  })

  it("ends a call under way, which the service sees", async () => {
    const controller = new AbortController()
    const call = client.searchRecentPosts({ query: "hang" }, { signal: controller.signal })
    await received(1)
    controller.abort(reason)
    assert.strictEqual(await rejection(call), reason)
    await aborted
  })

  it("ends a call with the reason of a timeout", async () => {
    const controller = new AbortController()
    const call = client.searchRecentPosts({ query: "hang" }, { signal: controller.signal })
    await received(1)
    const timeout = AbortSignal.timeout(1)
    timeout.addEventListener("abort", () => controller.abort(timeout.reason))
    assert.strictEqual((await rejection(call)).name, "TimeoutError")
    await aborted
  })

  it("ends a create under way, and it is not sent again", async () => {
    const controller = new AbortController()
    const call = client.createPost({ text: "hang" }, { signal: controller.signal })
    await received(1)
    controller.abort(reason)
    assert.strictEqual(await rejection(call), reason)
    await aborted
    await quiet()
    assert.lengthOf(requests, 1)
  })

  it("ends a wait for a budget", async () => {
    await using waiting = createClient({ baseUrl, ...secrets, waitOnRateLimit: true })
    const controller = new AbortController()
    const call = waiting.searchRecentPosts({ query: "limit" }, { signal: controller.signal })
    await received(1)
    await quiet()
    controller.abort(reason)
    assert.strictEqual(await rejection(call), reason)
  })

  it("changes nothing when it is aborted later, and no other call", async () => {
    const controller = new AbortController()
    assert.isDefined((await client.getPost({ id: 1 }, { signal: controller.signal })).data)
    const other = client.getPost({ id: 2 })
    controller.abort(reason)
    assert.isDefined((await other).data)
  })

  it("does not hide the error of a call", async () => {
    const { signal } = new AbortController()
    assert.strictEqual(
      (await rejection(client.searchRecentPosts({ query: "status 404" }, { signal }))).name,
      "NotFound"
    )
    const items = client.searchRecentPosts.items({ query: "status 404" }, { signal })
    assert.strictEqual((await rejection(collect(items))).name, "NotFound")
  })

  it("can serve a thousand calls", async () => {
    const warnings: Array<Error> = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on("warning", warn)
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 1000 }, (_, id) => client.getPost({ id }, { signal })))
    await quiet()
    process.off("warning", warn)
    assert.deepStrictEqual(warnings, [])
    assert.isAtMost(sockets.size, 64)
  })
})

describe("options of pages", () => {
  it("limit the items", async () => {
    for (const limit of [0, 1, 2, 3, 5]) {
      requests = []
      const items = client.searchRecentPosts.items({ query: "a" }, { limit })
      assert.deepStrictEqual(await collect(items), Array.from({ length: limit }, (_, i) => String(i)))
      assert.lengthOf(requests, Math.ceil(limit / 2))
    }
  })

  it("fetch one page ahead, and no more when the loop ends", async () => {
    const items = client.searchRecentPosts.items({ query: "a" }, { prefetch: 1 })
    assert.lengthOf(await collect(items, 3), 3)
    await quiet()
    assert.lengthOf(requests, 3)
  })

  it("tell the place of each", async () => {
    const places: Array<unknown> = []
    for await (const { page } of client.searchRecentPosts.pages({ query: "a" }, { limit: 4 })) places.push(page)
    assert.deepStrictEqual(places, [{ token: undefined, next: "1" }, { token: "1", next: "2" }])
  })

  it("are refused when they are none, at the first step", async () => {
    const mistakes: ReadonlyArray<object> = [{ limit: -1 }, { prefetch: 2 }, { direction: "backward" }, { limmit: 1 }]
    for (const options of mistakes) {
      const error = await rejection(collect(client.searchRecentPosts.items({ query: "a" }, options)))
      assert.instanceOf(error, Errors.InvalidParameters)
      assert.instanceOf(error, TypeError)
    }
    assert.lengthOf(requests, 0)
  })
})

describe("iteration", () => {
  const { signal } = new AbortController()

  for (const [title, options] of [["without a signal", undefined], ["with a signal", { signal }]] as const) {
    describe(title, () => {
      it("fetches a page when it is needed, and none after a break", async () => {
        for (const [count, pages] of [[1, 1], [2, 1], [3, 2], [5, 3]] as const) {
          requests = []
          const items = client.searchRecentPosts.items({ query: "a" }, options)
          assert.deepStrictEqual(await collect(items, count), Array.from({ length: count }, (_, i) => String(i)))
          await quiet()
          assert.lengthOf(requests, pages, `${count} items`)
        }
      })

      it("does not run ahead of a slow loop", async () => {
        const iterator = client.searchRecentPosts.items({ query: "a" }, options)[Symbol.asyncIterator]()
        for (let i = 0; i < 4; i++) {
          assert.strictEqual((await iterator.next()).value?.id, String(i))
          await quiet()
          assert.lengthOf(requests, Math.floor(i / 2) + 1)
        }
        assert.isTrue((await iterator.return?.())?.done)
        assert.isTrue((await iterator.next()).done)
      })

      it("starts anew with every loop", async () => {
        const items = client.searchRecentPosts.items({ query: "a" }, options)
        assert.deepStrictEqual(await collect(items, 3), await collect(items, 3))
        assert.lengthOf(requests, 4)
      })

      it("brings pages", async () => {
        for await (const page of client.searchRecentPosts.pages({ query: "a" }, options)) {
          assert.strictEqual(page.meta.next_token, "1")
          assert.lengthOf(page.data ?? [], 2)
          break
        }
        await quiet()
        assert.lengthOf(requests, 1)
      })

      it("rejects where a page fails, and is over then", async () => {
        const iterator = client.searchRecentPosts.items({ query: "status 500" }, options)[Symbol.asyncIterator]()
        assert.instanceOf(await rejection(iterator.next()), Errors.ServerFailure)
        assert.isTrue((await iterator.next()).done)
        assert.lengthOf(requests, 1)
      })

      it("rejects mistakes at the first step", async () => {
        const items = client.searchRecentPosts.items({ query: "" }, options)
        assert.instanceOf(await rejection(collect(items)), TypeError)
        assert.lengthOf(requests, 0)
      })
    })
  }

  it("ends with the reason of a signal, wherever it is, and fetches nothing more", async () => {
    const reason = new Error("enough")
    for (const query of ["hang", "a"]) {
      for (const taken of query === "hang" ? [0] : [0, 1, 2, 3]) {
        requests = []
        const controller = new AbortController()
        const items = client.searchRecentPosts.items({ query }, { signal: controller.signal })
        const iterator = items[Symbol.asyncIterator]()
        for (let i = 0; i < taken; i++) await iterator.next()
        const pages = requests.length
        if (query === "hang") {
          const next = iterator.next()
          await received(1)
          controller.abort(reason)
          assert.strictEqual(await rejection(next), reason)
          await aborted
        } else {
          controller.abort(reason)
          // Abandoned for a while: a loop that went on by itself would be seen here.
          await quiet()
          assert.lengthOf(requests, pages)
          assert.strictEqual(await rejection(iterator.next()), reason)
        }
        assert.isTrue((await iterator.next()).done)
        await quiet()
        assert.lengthOf(requests, Math.max(pages, query === "hang" ? 1 : 0))
      }
    }
  })
})

describe("an iterator that is abandoned", () => {
  setFlagsFromString("--expose-gc")
  const collectGarbage: () => void = runInNewContext("gc")
  const { signal } = new AbortController()

  for (
    const [title, options] of [["", {}], [" with a signal", { signal }], [" with prefetch", { prefetch: 1 }]] as const
  ) {
    it(`is let go of, with its page, while the client lives${title}`, async () => {
      const abandon = async () => {
        const iterator = client.searchRecentPosts.items({ query: "a" }, options)[Symbol.asyncIterator]()
        return new WeakRef((await iterator.next()).value)
      }
      const items = await Promise.all(Array.from({ length: 20 }, abandon))
      const alive = () => items.filter((item) => item.deref() !== undefined).length
      for (let turn = 0; turn < 100 && alive() > 0; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        collectGarbage()
      }
      assert.strictEqual(alive(), 0)
    })
  }
})

describe("close", () => {
  it("ends what is under way: calls, waits and loops", async () => {
    const closing = createClient({ baseUrl, ...secrets, waitOnRateLimit: true })
    const iterator = closing.searchRecentPosts.items({ query: "a" })[Symbol.asyncIterator]()
    await iterator.next()
    const under = [
      closing.searchRecentPosts({ query: "hang" }),
      closing.createPost({ text: "hang" }),
      closing.searchRecentPosts({ query: "limit" }),
      closing.createDirectMessage({ participant_id: 1, text: "limit" }),
      collect(closing.searchRecentPosts.items({ query: "hang" }))
    ]
    await received(6)
    await quiet()
    const outcomes = under.map(rejection)
    await closing.close()
    for (const [i, outcome] of (await Promise.all(outcomes)).entries()) {
      // Of what was refused for its rate limit, and waits, nothing has happened.
      assert.propertyVal(outcome, "_tag", i === 1 ? "OutcomeUnknown" : "TransportFailure")
      assert.propertyVal(outcome, "reason", "the client is closed")
    }
    assert.propertyVal(await rejection(iterator.next()), "reason", "the client is closed")
    await quiet()
    assert.lengthOf(requests, 6)
  })

  it("ends an Effect that runs with the client, whose creates may have happened", async () => {
    const closing = createClient({ baseUrl, ...secrets, waitOnRateLimit: true })
    // Each has a rate limit of its own.
    const create = (name: string, text: string) =>
      RawRequest.request({ method: "POST", path: "/2/widgets", body: { text }, name })
    const programs: Readonly<Record<string, Effect.Effect<unknown, unknown, Core.Client>>> = {
      waits: Effect.never,
      reads: searchRecentPosts({ query: "hang" }),
      creates: create("a", "hang"),
      "has created": Effect.andThen(create("b", "c"), Effect.never),
      "would have created": create("d", "limit"),
      "creates and would have created": Effect.all([create("e", "hang"), create("f", "limit")], { concurrency: 2 })
    }
    const outcomes = Object.values(programs).map((program) => rejection(closing.effect.runPromise(program)))
    await received(6)
    await quiet()
    await closing.close()
    const late = Object.values(programs).map((program) => rejection(closing.effect.runPromise(program)))
    for (const [i, name] of Object.keys(programs).entries()) {
      const error = await outcomes[i]
      assert.propertyVal(error, "_tag", /creates|has created/.test(name) ? "OutcomeUnknown" : "TransportFailure", name)
      assert.propertyVal(error, "reason", "the client is closed", name)
      const refused = await late[i]
      assert.instanceOf(refused, Errors.TransportFailure)
      assert.strictEqual(refused.phase, "connect")
    }
    await quiet()
    assert.lengthOf(requests, 6)
  })

  it("can be called again, and lets no call through after it", async () => {
    await client.getPost({ id: 1 })
    await Promise.all([client.close(), client.close()])
    await client.close()
    for (
      const promise of [
        client.getPost({ id: 1 }),
        client.createPost({ text: "a" }),
        client.as("raw").getPost({ id: "../me" }),
        client.request({ method: "POST", path: "/2/widgets" }),
        collect(client.searchRecentPosts.items({ query: "a" })),
        client.effect.runPromise(getPost({ id: 1 })),
        client.effect.runPromise(Stream.runDrain(searchRecentPosts.items({ query: "a" }))),
        Effect.runPromise(Effect.provide(getPost({ id: 1 }), client.effect.layer))
      ]
    ) {
      const error = await rejection(promise)
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.phase, "connect")
      assert.strictEqual(error.reason, "the client is closed")
    }
    assert.lengthOf(requests, 1)
  })

  it("closes the client, not the dispatcher that it was given", async () => {
    const borrower = createClient({ baseUrl, ...secrets, dispatcher: client.session })
    await borrower.getPost({ id: 1 })
    await borrower.close()
    const error = await rejection(
      Effect.runPromise(Effect.provide(getPost({ id: 1 }), borrower.effect.layer))
    )
    assert.propertyVal(error, "reason", "the client is closed")
    await client.getPost({ id: 1 })
    assert.lengthOf(requests, 2)
  })

  it("happens at the end of a block", async () => {
    let kept: PostwireClient
    {
      await using inner = createClient({ baseUrl, ...secrets })
      await inner.getPost({ id: 1 })
      kept = inner
    }
    assert.propertyVal(await rejection(kept.getPost({ id: 1 })), "reason", "the client is closed")
  })

  it("leaves no connection behind, of a thousand clients", async () => {
    await client.close()
    for (let i = 0; i < 20; i++) {
      await Promise.all(Array.from({ length: 50 }, async () => {
        await using one = createClient({ baseUrl, ...secrets })
        await one.getPost({ id: 1 })
      }))
    }
    assert.lengthOf(requests, 1000)
    await quiet()
    assert.strictEqual(sockets.size, 0)
  })
})

describe("createClient", () => {
  it("throws for bad settings at once", () => {
    const bad = [
      {},
      { baseUrl: "nope" },
      { baseUrl: "http://service.test" },
      { baseUrl, bearerToken: "canary\r\ncanary" },
      { baseUrl, consumerKey: "canary canary" },
      { baseUrl, consumerSecret: "canary\ud800" },
      { baseUrl, wire: "other" as never }
    ]
    for (const settings of bad) {
      try {
        createClient(settings)
        assert.fail("it did not throw")
      } catch (error) {
        assert.instanceOf(error, Errors.InvalidSettings)
        assert.instanceOf(error, TypeError)
        assert.notInclude(inspect(error, { depth: Infinity }), "canary")
      }
    }
  })

  it("connects with the first call only", async () => {
    const before = connections
    for (let i = 0; i < 100; i++) await createClient({ baseUrl, ...secrets }).close()
    assert.strictEqual(connections, before)
  })
})

describe("fromEnvironment", () => {
  it("takes every setting that has a variable, and no empty one", () => {
    assert.deepStrictEqual(
      NodeClient.fromEnvironment({
        POSTWIRE_BASE_URL: "https://service.test",
        POSTWIRE_WIRE: "x",
        POSTWIRE_BEARER_TOKEN: "a",
        POSTWIRE_CONSUMER_KEY: "b",
        POSTWIRE_CONSUMER_SECRET: "c",
        POSTWIRE_ACCESS_TOKEN: "d",
        POSTWIRE_ACCESS_TOKEN_SECRET: "",
        POSTWIRE_JOURNAL: "./journal",
        POSTWIRE_REDIS_URL: "redis://service.test",
        HOME: "/"
      }),
      {
        baseUrl: "https://service.test",
        wire: "x",
        bearerToken: "a",
        consumerKey: "b",
        consumerSecret: "c",
        accessToken: "d",
        journal: "./journal",
        rateLimitStore: "redis://service.test"
      }
    )
  })
})

describe("complete", () => {
  const environment = {
    POSTWIRE_BASE_URL: "https://service.test",
    POSTWIRE_WIRE: "x",
    POSTWIRE_BEARER_TOKEN: "a",
    POSTWIRE_APP_BEARER_TOKEN: "b",
    POSTWIRE_CONSUMER_KEY: "c",
    POSTWIRE_CLIENT_ID: "d",
    POSTWIRE_CLIENT_SECRET: "e"
  }
  const completed = (settings: NodeClient.Settings, variables: Readonly<Record<string, string>> = environment) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const { baseUrl, clientId: _, clientSecret: __, wire, ...rest } = NodeClient.complete(settings)
    vi.unstubAllEnvs()
    return { baseUrl, wire, ...rest }
  }
  const service = { baseUrl: "https://service.test", wire: "x" as const }
  const all = { ...service, bearerToken: "a", appBearerToken: "b", consumerKey: "c" }

  it("reads settings that are not given from the environment", () => {
    assert.deepStrictEqual(completed({}), all)
    assert.deepStrictEqual(completed({ waitOnRateLimit: true }), { ...all, waitOnRateLimit: true })
    assert.deepStrictEqual(completed({ baseUrl: "https://own.test", wire: undefined }), {
      ...all,
      baseUrl: "https://own.test"
    })
  })

  it("mixes no credentials: one that is given, even as undefined, excludes those of the environment", () => {
    for (
      const given of [
        { bearerToken: "own" },
        { bearerToken: undefined },
        { accessToken: "1-own" },
        { account: "ada" },
        { oauth2: { refreshToken: "own" } }
      ]
    ) assert.deepStrictEqual(completed(given), { ...service, ...given })
    const named = { ...environment, POSTWIRE_ACCOUNT: "ada" }
    assert.deepStrictEqual(completed({}, named), { ...service, account: "ada" })
    assert.deepStrictEqual(completed({ bearerToken: "own" }, named), { ...service, bearerToken: "own" })
  })

  it("takes no secret of another app", () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const { clientId, clientSecret } = NodeClient.complete<NodeClient.Settings>({ clientId: "own" })
    vi.unstubAllEnvs()
    assert.deepStrictEqual([clientId, clientSecret], ["own", undefined])
  })

  it("reads the service of an account in a folder", async () => {
    const tokenStore = mkdtempSync(join(tmpdir(), "postwire-accounts-"))
    const of = async (baseUrl: string, settings: NodeClient.Settings = {}) => {
      await Effect.runPromise(FileTokenStore.make(tokenStore).write("ada", JSON.stringify({ baseUrl })))
      const { baseUrl: found, wire } = completed({ account: "ada", tokenStore, ...settings }, {})
      return [found, wire]
    }
    try {
      assert.deepStrictEqual(await of("http://127.0.0.1:8080"), ["http://127.0.0.1:8080", undefined])
      assert.deepStrictEqual(await of("https://api.x.com"), ["https://api.x.com", "x"])
      assert.deepStrictEqual(await of("https://api.x.com", { wire: "x-2026-02" }), ["https://api.x.com", "x-2026-02"])
      assert.deepStrictEqual(await of("https://a.test", { baseUrl: "https://b.test" }), ["https://b.test", undefined])
      assert.throws(
        () => Node.createClient({ account: "bea", tokenStore }),
        "account is in no folder that names its service. Sign in with postwire login bea, or pass baseUrl."
      )
    } finally {
      rmSync(tokenStore, { recursive: true })
    }
  })
})

describe("index", () => {
  it("has every error", () => {
    assert.includeMembers(Object.keys(Node), Object.keys(Errors))
  })
})
