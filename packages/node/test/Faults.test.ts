// What goes wrong on the wire, over both transports: the faults are real sockets on loopback.
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Diagnostics from "node:diagnostics_channel"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { inspect } from "node:util"
import * as Zlib from "node:zlib"
import { Agent } from "undici"
import * as NodeClient from "../src/NodeClient.ts"
import * as PromiseClient from "../src/PromiseClient.ts"

const secrets = {
  bearerToken: "canary-bearer-token-0001",
  consumerKey: "canary-consumer-key-0002",
  consumerSecret: "canary-consumer-secret-0003",
  accessToken: "42-canary-access-token-0004",
  accessTokenSecret: "canary-access-token-secret-0005"
}

const port = (server: Net.Server) => (server.address() as Net.AddressInfo).port

/** A server of bytes that keeps the requests and connections that it saw. */
const raw = async (answer: (socket: Net.Socket, index: number, head: string) => void) => {
  const requests: Array<string> = []
  const sockets: Array<Net.Socket> = []
  const server = Net.createServer((socket) => {
    sockets.push(socket)
    socket.on("error", () => {})
    let text = ""
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      const end = text.indexOf("\r\n\r\n")
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      requests.push(text)
      const head = text
      text = ""
      answer(socket, requests.length - 1, head)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const closed = async (index = 0) => {
    const socket = sockets[index]!
    // `once` would reject when the client ends it by a reset.
    if (!socket.closed) await new Promise<void>((resolve) => void socket.once("close", () => resolve()))
  }
  return {
    baseUrl: `http://127.0.0.1:${port(server)}`,
    requests,
    sockets,
    closed,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** A server of responses. */
const http = async (
  listener: (request: Http.IncomingMessage, response: Http.ServerResponse, index: number) => void
) => {
  const sockets = new Set<Net.Socket>()
  let count = 0
  const server = Http.createServer((request, response) => {
    request.resume().on("end", () => listener(request, response, count++))
  })
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    server,
    sockets,
    baseUrl: `http://127.0.0.1:${port(server)}`,
    count: () => count,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

const bodyOf = (id: string) => JSON.stringify({ data: { id, text: "a", edit_history_post_ids: [id] } })
const response = (body: string, status = "200 OK") =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const ok = response(bodyOf("1"))

const transports = {
  undici: (settings: NodeClient.Settings) => NodeClient.layer({ ...secrets, ...settings }),
  fetch: ({ wire: _, ...settings }: NodeClient.Settings) =>
    Client.layer(settings).pipe(Layer.provide([
      Credentials.layer({ ...secrets, ...settings }),
      FetchHttpClient.layer,
      settings.waitOnRateLimit === true ? RateLimit.layerWait({ maxWait: settings.maxWait }) : RateLimit.layerFail
    ]))
}

const rejection = async (promise: Promise<unknown>): Promise<Error> => {
  const outcome = await promise.then((value) => ({ value }), (error: unknown) => ({ error }))
  if (!("error" in outcome)) throw new Error(`resolved with ${inspect(outcome.value)}`)
  assert.instanceOf(outcome.error, Error)
  for (
    const text of [outcome.error.stack, inspect(outcome.error, { depth: Infinity }), JSON.stringify(outcome.error)]
  ) {
    assert.notInclude(text, "canary")
  }
  return outcome.error
}

const failure = async (promise: Promise<unknown>): Promise<Errors.TransportFailure> => {
  const error = await rejection(promise)
  assert.instanceOf(error, Errors.TransportFailure)
  return error
}

const took = async (run: () => Promise<unknown>) => {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** Resolves when a client of this process has the head of a response. */
const headArrives = () =>
  new Promise<void>((resolve) => {
    const arrive = () => {
      Diagnostics.unsubscribe("undici:request:headers", arrive)
      resolve()
    }
    Diagnostics.subscribe("undici:request:headers", arrive)
  })

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

describe.each(["undici", "fetch"] as const)("over %s", (transport) => {
  const connect = (settings: NodeClient.Settings, clock?: Clock.Clock) => {
    const scope = Scope.makeUnsafe()
    const built = Effect.runSync(Layer.buildWithScope(transports[transport](settings), scope))
    const context = clock === undefined ? built : Context.add(built, Clock.Clock, clock)
    return PromiseClient.of(context, "response", () => Effect.runPromise(Scope.close(scope, Exit.void)), () => ({}))
  }

  describe("connections", () => {
    it("that are refused are tried again, and the error says how far it got (row 1)", async () => {
      const server = await raw(() => {})
      await server[Symbol.asyncDispose]()
      await using client = connect({ baseUrl: server.baseUrl, retries: 1 })
      let millis = 0
      let error: Errors.TransportFailure
      millis = await took(async () => {
        error = await failure(client.getPost({ id: "1" }))
      })
      assert.strictEqual(error!.phase, "connect")
      assert.isAtLeast(millis, 249)
      // Nothing of it left.
      assert.strictEqual((await failure(client.createPost({ text: "a" }, { retries: 0 }))).phase, "connect")
    })

    it("that are reset are tried again by reads and toggles, never by creates (row 6)", async () => {
      await using server = await raw((socket, index) => index % 2 === 0 ? socket.resetAndDestroy() : socket.end(ok))
      await using client = connect({ baseUrl: server.baseUrl })
      assert.strictEqual((await client.getPost({ id: "1" })).data?.id, "1")
      assert.lengthOf(server.requests, 2)
      await using toggles = await raw((socket, index) =>
        index === 0 ? socket.resetAndDestroy() : socket.end(response(`{"data":{"deleted":true}}`))
      )
      await using deleter = connect({ baseUrl: toggles.baseUrl })
      assert.deepStrictEqual((await deleter.deletePost({ id: "1" })).data, { deleted: true })
      assert.lengthOf(toggles.requests, 2)

      await using creates = await raw((socket) => socket.resetAndDestroy())
      await using creator = connect({ baseUrl: creates.baseUrl, retries: 5 })
      const error = await rejection(creator.createPost({ text: "a" }))
      assert.instanceOf(error, Errors.OutcomeUnknown)
      await pause(50)
      assert.lengthOf(creates.requests, 1)
      assert.isTrue(creates.requests[0]!.startsWith("POST "))
    })

    it("that break within the body are tried again (row 9)", async () => {
      await using server = await raw((socket, index) => {
        if (index > 0) return void socket.end(ok)
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"data\":", () => socket.destroy())
      })
      await using client = connect({ baseUrl: server.baseUrl })
      assert.strictEqual((await client.getPost({ id: "1" })).data?.id, "1")
      const broken = await raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"data\":", () => socket.destroy())
      })
      await using one = connect({ baseUrl: broken.baseUrl, retries: 0 })
      assert.strictEqual((await failure(one.getPost({ id: "1" }))).phase, "body")
      await broken[Symbol.asyncDispose]()
    })

    it("that break within the answer to a create leave what its head said", async () => {
      const head =
        "HTTP/1.1 201 Created\r\nx-request-id: r1\r\nx-rate-limit-limit: 9\r\nx-rate-limit-remaining: 8\r\n" +
        "x-rate-limit-reset: 900\r\n"
      const begun = `${head}content-length: 100\r\n\r\n{"data":`
      const losses: Readonly<Record<string, readonly [(socket: Net.Socket) => void, RegExp]>> = {
        "breaks off": [(socket) => void socket.write(begun, () => socket.destroy()), /^/],
        stops: [(socket) => void socket.write(begun), /^no more of the body was received within 30 ms$/],
        "is too large": [
          (socket) => void socket.write(`${head}\r\n${" ".repeat(2000)}`),
          /^the body is longer than 1000 bytes$/
        ],
        "is not compressed as it says": [
          (socket) => void socket.end(`${head}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`),
          /^/
        ]
      }
      for (const [loss, [answer, reason]] of Object.entries(losses)) {
        await using server = await raw(answer)
        await using client = connect({ baseUrl: server.baseUrl, maxBodySize: 1000, timeout: { idle: 30 } })
        const creates = [
          () => client.createPost({ text: "a" }),
          () => client.createDirectMessage({ participant_id: "1", text: "a" }),
          () => client.as("raw").createPost({ text: "a" }),
          () => client.request({ method: "POST", path: "/2/widgets" })
        ]
        for (const error of await Promise.all(creates.map((create) => rejection(create())))) {
          assert.instanceOf(error, Errors.OutcomeUnknown, loss)
          assert.strictEqual(error.status, 201, loss)
          assert.strictEqual(error.requestId, "r1", loss)
          assert.deepStrictEqual(error.rateLimit, { limit: 9, remaining: 8, resetAt: new Date(900_000) }, loss)
          assert.match(error.reason, reason, loss)
          assert.include(error.message, "accepted it (201)", loss)
        }
        assert.lengthOf(server.requests, creates.length)
      }
      await using server = await raw((socket) => void socket.write(begun))
      await using client = connect({ baseUrl: server.baseUrl, retries: 0, timeout: { idle: 30 } })
      assert.strictEqual((await failure(client.getPost({ id: "1" }))).timeout, "idle")
      const clock = await Effect.runPromise(Effect.scoped(TestClock.make()))
      await using waiting = connect({ baseUrl: server.baseUrl }, clock)
      const arrived = headArrives()
      const over = rejection(waiting.createPost({ text: "a" }, { timeout: 40 }))
      await arrived
      await new Promise((resolve) => setImmediate(resolve))
      await Effect.runPromise(clock.adjust(40))
      const late = await over
      assert.instanceOf(late, Errors.OutcomeUnknown)
      assert.strictEqual(late.status, 201)
      // The service did not accept that.
      await using refusing = await raw((socket) =>
        void socket.write(begun.replace("201 Created", "503 Busy"), () => socket.destroy())
      )
      await using refused = connect({ baseUrl: refusing.baseUrl })
      const error = await rejection(refused.createPost({ text: "a" }))
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.isUndefined(error.status)
    })

    it("that break within the refusal of a create leave the refusal, with what its head said", async () => {
      const begun = "HTTP/1.1 403 Forbidden\r\nx-request-id: r1\r\nx-rate-limit-limit: 9\r\n" +
        "x-rate-limit-remaining: 8\r\nx-rate-limit-reset: 900\r\ncontent-length: 100\r\n\r\n{\"title\":"
      const losses: Readonly<Record<string, (socket: Net.Socket) => void>> = {
        "breaks off": (socket) => void socket.write(begun, () => socket.destroy()),
        stops: (socket) => void socket.write(begun)
      }
      for (const [loss, answer] of Object.entries(losses)) {
        await using server = await raw(answer)
        await using client = connect({ baseUrl: server.baseUrl, timeout: { idle: 30 } })
        for (const form of ["response", "raw"] as const) {
          const error = await rejection(client.as(form).createPost({ text: "a" }))
          assert.instanceOf(error, Errors.Forbidden, loss)
          assert.deepInclude(error, { status: 403, requestId: "r1", problems: [], isRead: false }, loss)
          assert.deepStrictEqual(error.rateLimit, { limit: 9, remaining: 8, resetAt: new Date(900_000) }, loss)
        }
        assert.lengthOf(server.requests, 2)
      }
    })

    it("are kept and shared, and may be closed by the server between calls (row 13)", async () => {
      await using server = await http((_, response) => void response.end(bodyOf("1")))
      await using client = connect({ baseUrl: server.baseUrl })
      for (let i = 0; i < 100; i++) await client.getPost({ id: "1" })
      assert.isAtMost(server.sockets.size, 2)
      await Promise.all(Array.from({ length: 100 }, () => client.getPost({ id: "1" })))
      if (transport === "undici") assert.isAtMost(server.sockets.size, 66)
      for (let i = 0; i < 5; i++) {
        server.server.closeIdleConnections()
        await client.getPost({ id: "1" })
        await client.createPost({ text: "a" })
      }
    })

    it("of one call do not disturb another (row 15)", async () => {
      await using server = await http((_, response) => void response.end(bodyOf("1")))
      await using client = connect({ baseUrl: server.baseUrl })
      await using lost = connect({ baseUrl: "https://postwire.invalid", retries: 0 })
      const [error, { data }] = await Promise.all([failure(lost.getPost({ id: "1" })), client.getPost({ id: "1" })])
      assert.strictEqual(error.phase, "connect")
      assert.strictEqual(data?.id, "1")
    })
  })

  describe("503", () => {
    it("once is survived; for ever, it is counted (row 7)", async () => {
      await using server = await http((_, response, index) => {
        if (index === 0) return void response.writeHead(503).end("<html>busy")
        response.end(bodyOf("1"))
      })
      await using client = connect({ baseUrl: server.baseUrl })
      await client.getPost({ id: "1" })
      assert.strictEqual(server.count(), 2)
      for (const body of ["<html>", "null", "", "{\"a\":", "x".repeat(100_000)]) {
        await using down = await http((_, response) => void response.writeHead(503).end(body))
        await using impatient = connect({ baseUrl: down.baseUrl, retries: 0 })
        const error = await rejection(impatient.getPost({ id: "1" }))
        assert.instanceOf(error, Errors.ServerFailure)
        assert.isAtMost(error.excerpt?.length ?? 0, 2_000)
        assert.strictEqual(down.count(), 1)
      }
    })
  })

  describe("silence", () => {
    it("before the headers ends in time, and the server sees it (row 2)", async () => {
      await using server = await raw(() => {})
      await using client = connect({ baseUrl: server.baseUrl, retries: 0, timeout: { firstByte: 300 } })
      let error: Errors.TransportFailure
      const millis = await took(async () => {
        error = await failure(client.getPost({ id: "1" }))
      })
      assert.deepInclude({ ...error! }, { phase: "headers", timeout: "firstByte" })
      assert.isAtLeast(millis, 290)
      await server.closed()
    })

    it("within the body ends as well, and so does a drip (row 3)", async () => {
      await using still = await raw((socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"data\":")
      )
      await using client = connect({ baseUrl: still.baseUrl, retries: 0, timeout: { idle: 200 } })
      assert.deepInclude({ ...(await failure(client.getPost({ id: "1" }))) }, { phase: "body", timeout: "idle" })
      await still.closed()

      let timer: NodeJS.Timeout | undefined
      await using drip = await raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")
        timer = setInterval(() => socket.write(" "), 50)
      })
      await using patient = connect({ baseUrl: drip.baseUrl, timeout: { idle: 30_000, total: 500 } })
      let error: Errors.TransportFailure
      const millis = await took(async () => {
        error = await failure(patient.getPost({ id: "1" }))
      })
      clearInterval(timer)
      assert.deepInclude({ ...error! }, { phase: "body", timeout: "total" })
      assert.isAtLeast(millis, 490)
      await drip.closed()
    })

    it("is not what a program does not listen to, for it was busy", async () => {
      const body = bodyOf("1")
      await using server = await raw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`)
        const busy = () => {
          // It arrives in time, but for longer than the limit nobody looks.
          socket.write(body)
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
        }
        // After an immediate, timers come before sockets.
        setTimeout(() => setImmediate(busy), 20)
      })
      await using client = connect({ baseUrl: server.baseUrl, retries: 0, timeout: { idle: 1_500 } })
      assert.strictEqual((await client.getPost({ id: "1" })).data?.id, "1")
    })

    it("or a signal, whichever is first (row 5)", async () => {
      await using server = await raw(() => {})
      await using client = connect({ baseUrl: server.baseUrl })
      const reason = new Error("enough")
      const { signal } = new AbortController()
      const error = await failure(client.getPost({ id: "1" }, { timeout: 30, signal }))
      assert.strictEqual(error.timeout, "total")
      const controller = new AbortController()
      const call = rejection(client.getPost({ id: "1" }, { timeout: 60_000, signal: controller.signal }))
      controller.abort(reason)
      assert.strictEqual(await call, reason)
    })
  })

  describe("an abort (row 4)", () => {
    const aborted = async (
      run: (signal: AbortSignal) => Promise<unknown>,
      ready: () => boolean
    ): Promise<void> => {
      const controller = new AbortController()
      const reason = new Error("enough")
      const promise = rejection(run(controller.signal))
      while (!ready()) await pause(5)
      controller.abort(reason)
      assert.strictEqual(await promise, reason)
    }

    it("while sending", async () => {
      // The server reads nothing, and this is more than the system takes.
      const server = Net.createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const accepted = new Promise<Net.Socket>((resolve) => server.on("connection", resolve))
      await using client = connect({ baseUrl: `http://127.0.0.1:${port(server)}`, checks: "identifiers" })
      let there = false
      void accepted.then(() => there = true)
      const text = "x".repeat(16 * 1024 * 1024)
      await aborted((signal) => client.createPost({ text }, { signal }), () => there)
      const socket = (await accepted).on("error", () => {}).resume()
      // `once` would reject when the client ends it by a reset.
      if (!socket.closed) await new Promise<void>((resolve) => void socket.once("close", () => resolve()))
      server.close()
    })

    it("while waiting for the headers, and while reading", async () => {
      for (const beginning of ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"]) {
        await using server = await raw((socket) => beginning === "" ? undefined : socket.write(beginning))
        await using client = connect({ baseUrl: server.baseUrl })
        await aborted(
          (signal) => client.getPost({ id: "1" }, { signal }),
          () => server.requests.length === 1
        )
        await server.closed()
      }
    })

    it("between two tries", async () => {
      await using server = await http((_, response) => void response.writeHead(503, { "retry-after": "30" }).end())
      await using client = connect({ baseUrl: server.baseUrl })
      await aborted((signal) => client.getPost({ id: "1" }, { signal }), () => server.count() === 1)
      assert.strictEqual(server.count(), 1)
    })

    it("while waiting for a rate limit, after which others go on", async () => {
      await using server = await http((request, response) => {
        if (request.url?.includes("/2/users") === true) return void response.end(bodyOf("1"))
        const reset = String(Math.floor(Date.now() / 1000) + 600)
        response.writeHead(429, {
          "x-rate-limit-limit": "1",
          "x-rate-limit-remaining": "0",
          "x-rate-limit-reset": reset
        }).end()
      })
      await using client = connect({ baseUrl: server.baseUrl, waitOnRateLimit: true })
      await aborted((signal) => client.getPost({ id: "1" }, { signal }), () => server.count() === 1)
      assert.strictEqual((await client.getUser({ id: "1" })).data?.id, "1")
    })

    it("between and within pages, the one ahead included", async () => {
      for (const prefetch of [0, 1] as const) {
        await using server = await raw((socket, index) => {
          const page = JSON.stringify({
            data: [{ id: "1", text: "a", edit_history_post_ids: [] }],
            meta: { next_token: "a" }
          })
          if (index === 0) socket.write(response(page))
        })
        await using client = connect({ baseUrl: server.baseUrl })
        await aborted(async (signal) => {
          for await (const _ of client.searchRecentPosts.items({ query: "a" }, { signal, prefetch }));
        }, () => server.requests.length === 2)
        await server.closed(server.sockets.length - 1)
      }
    })
  })

  describe("bodies", () => {
    it("longer than the cap are refused, and little of them is kept (row 10)", async () => {
      let written = 0
      await using server = await http((_, response) => {
        const chunk = Buffer.alloc(256 * 1024, " ")
        const write = (): void => {
          while (!response.destroyed && written < 512 * 1024 * 1024) {
            written += chunk.length
            if (!response.write(chunk)) return void response.once("drain", write)
          }
        }
        response.on("error", () => {})
        write()
      })
      await using client = connect({ baseUrl: server.baseUrl, maxBodySize: 1024 * 1024 })
      const error = await rejection(client.getPost({ id: "1" }))
      assert.instanceOf(error, Errors.UndecodableResponse)
      assert.include(error.message, "longer than 1048576 bytes")
      assert.isBelow(written, 64 * 1024 * 1024)
      assert.strictEqual(server.count(), 1)
    })

    it("that grow when they are decompressed are refused as well", async () => {
      const bomb = Zlib.gzipSync(Buffer.alloc(200 * 1024 * 1024, " "))
      await using server = await http((_, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb)
      )
      await using client = connect({ baseUrl: server.baseUrl, maxBodySize: 1024 * 1024, retries: 0 })
      const before = process.memoryUsage().rss
      const error = await rejection(client.getPost({ id: "1" }))
      assert.instanceOf(error, Errors.UndecodableResponse)
      assert.isBelow(process.memoryUsage().rss - before, 100 * 1024 * 1024)
      // A refusal stays one, whatever its body is.
      await using down = await http((_, response) =>
        void response.writeHead(404, { "content-encoding": "gzip" }).end(bomb)
      )
      await using other = connect({ baseUrl: down.baseUrl, maxBodySize: 1024 * 1024 })
      assert.instanceOf(await rejection(other.getPost({ id: "1" })), Errors.NotFound)
    })

    it("that are no answer are none (row 9)", async () => {
      for (
        const body of ["", "<html>canary-bearer-token-0001", "null", "[]", "{}", "{\"data\":", `{"data":{"id":1}}`]
      ) {
        await using server = await http((_, response) =>
          void response.writeHead(200, { "x-request-id": "r1" }).end(body)
        )
        await using client = connect({ baseUrl: server.baseUrl })
        const error = await client.getPost({ id: "1" }).then(() => undefined, (error: unknown) => error)
        assert.instanceOf(error, Errors.UndecodableResponse)
        assert.strictEqual(error.requestId, "r1")
        assert.strictEqual(server.count(), 1)
      }
    })
  })

  describe("a status", () => {
    it.each([600, 799, 999])("beyond the classes of HTTP (%s) is a failure of the service", async (status) => {
      await using server = await raw((socket, index) =>
        socket.end(index === 0 ? response("busy", `${status} Odd`) : ok)
      )
      await using once = connect({ baseUrl: server.baseUrl, retries: 0 })
      const error = await rejection(once.getPost({ id: "1" }))
      assert.instanceOf(error, Errors.ServerFailure)
      assert.deepInclude(error, { status, excerpt: "busy" })
    })
  })

  describe("redirects (row 12)", () => {
    it("within the origin are followed once by reads, signed anew", async () => {
      const authorizations: Array<string | undefined> = []
      await using server = await http((request, response) => {
        authorizations.push(request.headers.authorization)
        if (request.url !== "/2/other?id=1") return void response.writeHead(307, { location: "/2/other?id=1" }).end()
        response.end(bodyOf("1"))
      })
      await using client = connect({ baseUrl: server.baseUrl })
      assert.strictEqual((await client.getPost({ id: "1", user_auth: true })).data?.id, "1")
      assert.lengthOf(new Set(authorizations), 2)
      assert.instanceOf(await rejection(client.createPost({ text: "a" })), Errors.UnexpectedStatus)
      assert.lengthOf(authorizations, 3)
    })

    it("to another origin are not: nothing is sent there, and nothing comes from there", async () => {
      await using other = await http((_, response) => void response.end(bodyOf("666")))
      await using server = await http((_, response) =>
        void response.writeHead(302, { location: `${other.baseUrl}/2/posts/1` }).end()
      )
      await using client = connect({ baseUrl: server.baseUrl })
      assert.instanceOf(await rejection(client.getPost({ id: "1" })), Errors.UnexpectedStatus)
      assert.strictEqual(server.count(), 1)
      assert.strictEqual(other.count(), 0)
    })
  })
})

describe("certificates (row 11)", () => {
  const fixture = (name: string) => readFileSync(new URL(`fixtures/tls/${name}.pem`, import.meta.url), "utf8")

  it.each(["self-signed", "other-host", "expired"])("%s", async (name) => {
    let connections = 0
    let requests = 0
    const server = Https.createServer({ key: fixture("key"), cert: fixture(name) }, (_, response) => {
      requests++
      response.end(bodyOf("1"))
    })
    server.on("connection", (socket) => (connections++, socket.on("error", () => {}))).on("tlsClientError", () => {})
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const baseUrl = `https://127.0.0.1:${port(server)}`
    // Who trusts the maker of a certificate still wants it to be valid, and for this host.
    const dispatcher = name === "self-signed" ? new Agent() : new Agent({ connect: { ca: fixture(name) } })
    for (
      const layer of [transports.undici({ baseUrl, retries: 5, dispatcher }), transports.fetch({ baseUrl, retries: 5 })]
    ) {
      connections = 0
      const error = await rejection(
        PromiseClient.fromLayer(layer).then((client) => client.getPost({ id: "1" }))
      )
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.phase, "tls")
      assert.strictEqual(connections, 1)
    }
    assert.strictEqual(requests, 0)
    await dispatcher.close()
    server.close()
    server.closeAllConnections()
  })

  it("of a maker whom the dispatcher trusts is accepted", async () => {
    const server = Https.createServer({ key: fixture("key"), cert: fixture("self-signed") }, (_, response) => {
      response.end(bodyOf("1"))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const dispatcher = new Agent({ connect: { ca: fixture("self-signed") } })
    const layer = transports.undici({ baseUrl: `https://127.0.0.1:${port(server)}`, dispatcher })
    await using client = await PromiseClient.fromLayer(layer)
    const { data } = await client.getPost({ id: "1" })
    assert.strictEqual(data?.id, "1")
    await dispatcher.close()
    server.close()
  })
})
