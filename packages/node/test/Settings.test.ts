import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import type { Sent } from "@postwire/core/client/Attempt"
import { getPost } from "@postwire/core/operations/Posts"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Effect, Layer, Logger, References } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { Agent } from "undici"
import { createClient, InvalidSettings, type PostwireClient, type Settings } from "../src/EffectClient.ts"
import * as NodeClient from "../src/NodeClient.ts"
import * as PromiseClient from "../src/PromiseClient.ts"

const secret = "canary-bearer-token"

const port = (server: Net.Server): number => {
  const address = server.address()
  assert(address !== null && typeof address === "object")
  return address.port
}

const listen = async <S extends Net.Server>(server: S): Promise<S> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

const pem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}.pem`, import.meta.url), "utf8")

/** Answers with the post that is asked for; id 500 fails, id 9 fails once. */
let failures = 1
const handle: Http.RequestListener = ({ url = "" }, response) => {
  const id = /\/posts\/(\d+)/.exec(url)?.[1] ?? "0"
  const fails = id === "500" || (id === "9" && failures-- > 0)
  response.writeHead(fails ? 503 : 200, {
    "content-type": "application/json",
    "x-transaction-id": `t${id}`,
    ...(fails ? {} : {
      "x-rate-limit-limit": "900",
      "x-rate-limit-remaining": "800",
      "x-rate-limit-reset": String(Math.floor(Date.now() / 1000) + 600)
    })
  })
  response.end(fails ? "{}" : JSON.stringify({ data: { id, text: "a", edit_history_post_ids: [id] } }))
}

let server: Http.Server
let settings: Settings

beforeAll(async () => {
  server = await listen(Http.createServer(handle))
  settings = { baseUrl: `http://127.0.0.1:${port(server)}`, bearerToken: secret }
})

beforeEach(() => void (failures = 1))

afterAll(() => void server.close().closeAllConnections())

const refused = (settings: object): string => {
  try {
    createClient(settings)
  } catch (error) {
    assert.instanceOf(error, InvalidSettings)
    return error.message
  }
  throw new Error("was accepted")
}

describe("withResponse", () => {
  it("gives the response beside the result, of one request", async () => {
    const sent: Array<Sent> = []
    await using client = createClient({ ...settings, onRequest: (request) => sent.push(request) })
    const { data, response } = await client.getPost({ id: "1" }).withResponse()
    assert.strictEqual(data.data?.id, "1")
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("x-transaction-id"), "t1")
    assert.deepInclude(await response.json(), { data: data.data })
    const inDictionary = await client.as("dictionary").getPost({ id: "2" }).withResponse()
    assert.strictEqual(inDictionary.data.data?.id, "2")
    const raw = await client.as("raw").getPost({ id: "3" }).withResponse()
    assert.deepStrictEqual(await raw.data.json(), await raw.response.json())
    assert.strictEqual(sent.length, 3)
  })

  it("rejects as the call does, and nothing is left unhandled", async () => {
    const unhandled: Array<unknown> = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on("unhandledRejection", note)
    await using client = createClient({ ...settings, retries: 0 })
    const error = await client.getPost({ id: "500" }).withResponse().catch((error: unknown) => error)
    assert.propertyVal(error, "_tag", "ServerFailure")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", note)
    assert.deepStrictEqual(unhandled, [])
  })
})

describe("onRequest", () => {
  it("is told of every try, and holds no secret", async () => {
    const sent: Array<Sent> = []
    await using client = createClient({
      ...settings,
      onRequest: (request) => {
        sent.push(request)
        throw new Error("ignored")
      }
    })
    await client.getPost({ id: "9" })
    assert.deepStrictEqual(
      sent.map(({ duration, ...request }) => ({ ...request, timed: duration >= 0 })),
      ([[1, 503], [2, 200]] as const).map(([attempt, status]) => ({
        operation: "getPost",
        method: "GET",
        route: "/2/posts/:id",
        attempt,
        status,
        requestId: "t9",
        timed: true
      }))
    )
    assert.notInclude(JSON.stringify(sent), secret)
  })

  it("is told when no answer came", async () => {
    const gone = await listen(Net.createServer((socket) => socket.resetAndDestroy()))
    const sent: Array<Sent> = []
    await using client = createClient({
      ...settings,
      baseUrl: `http://127.0.0.1:${port(gone)}`,
      retries: 0,
      onRequest: (request) => sent.push(request)
    })
    await client.getPost({ id: "1" }).catch(() => {})
    assert.deepStrictEqual(sent.map(({ status }) => status), [undefined])
    gone.close()
  })
})

describe("logger", () => {
  it("hears what the client does, and stdout does not", async () => {
    const lines: Array<string> = []
    const level = (name: string) => (...line: Array<unknown>) =>
      void lines.push(`${name} ${line.map(String).join(" ")}`)
    const logger = { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") }
    await using client = createClient({ ...settings, logger })
    await client.getPost({ id: "9" })
    assert.strictEqual(lines.length, 1)
    assert.match(lines[0]!, /^debug Retrying getPost in \d+ ms \(503\)$/)
  })
})

describe("an asynchronous hook that rejects", () => {
  it("does not end the process", async () => {
    const unhandled: Array<unknown> = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on("unhandledRejection", note)
    let told = 0
    const reject = async () => {
      told++
      throw new Error("ignored")
    }
    await using client = createClient({
      ...settings,
      onRequest: reject,
      onRateLimit: reject,
      logger: { debug: reject, info: reject, warn: reject, error: reject }
    })
    await client.getPost({ id: "9" })
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", note)
    assert.deepStrictEqual(unhandled, [])
    // Two requests, an announcement and a retry.
    assert.strictEqual(told, 4)
  })
})

describe("proxy and ca", () => {
  /** A proxy that knows how to CONNECT, and keeps where to. */
  const proxy = async () => {
    const targets: Array<string> = []
    const server = Http.createServer()
    server.on("connect", (request, socket, head) => {
      targets.push(request.url ?? "")
      const [host, number] = (request.url ?? "").split(":")
      const upstream = Net.connect(Number(number), host, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        upstream.write(head)
        upstream.pipe(socket)
        socket.pipe(upstream)
      })
      for (const end of [socket, upstream]) end.on("error", () => {})
    })
    await listen(server)
    return { targets, server, address: `http://127.0.0.1:${port(server)}` }
  }

  it("reach a service through a tunnel, whose certificate they trust", async () => {
    const secure = await listen(Https.createServer({ key: pem("key"), cert: pem("self-signed") }, handle))
    const { address, server, targets } = await proxy()
    const baseUrl = `https://127.0.0.1:${port(secure)}`
    await using client = createClient({ ...settings, baseUrl, proxy: address, ca: pem("self-signed") })
    assert.strictEqual((await client.getPost({ id: "1" })).data?.id, "1")
    assert.deepStrictEqual(targets, [`127.0.0.1:${port(secure)}`])
    await using direct = createClient({ ...settings, baseUrl, ca: [pem("self-signed")] })
    assert.strictEqual((await direct.getPost({ id: "2" })).data?.id, "2")
    assert.strictEqual(targets.length, 1)
    secure.close()
    secure.closeAllConnections()
    server.close()
    server.closeAllConnections()
  })

  it("that cannot be reached is a failure to connect", async () => {
    await using client = createClient({ ...settings, proxy: "http://127.0.0.1:1", retries: 0 })
    const error = await client.getPost({ id: "1" }).catch((error: unknown) => error)
    assert.propertyVal(error, "_tag", "TransportFailure")
    assert.propertyVal(error, "phase", "connect")
  })

  it("are checked, and a password is not shown", () => {
    assert.match(refused({ ...settings, proxy: "socks5://me:canary@host" }), /proxy must be an http: or https: address/)
    assert.notInclude(refused({ ...settings, proxy: "socks5://me:canary@host" }), "canary")
    assert.match(refused({ ...settings, ca: "/etc/ssl/cert.pem" }), /ca must be one or more certificates in PEM form/)
    assert.match(refused({ ...settings, dispatcher: {} }), /dispatcher must be a session or a dispatcher/)
    assert.match(refused({ ...settings, dispatcher: new Agent(), proxy: "http://a" }), /proxy is for the dispatcher/)
    assert.match(refused({ ...settings, logger: {} }), /logger must have the methods debug, info, warn, error/)
    assert.match(refused({ ...settings, onRequest: 1 }), /onRequest must be a function/)
  })
})

describe("a setting that is none", () => {
  it("is refused, with the one that is meant", () => {
    assert.match(
      refused({ ...settings, waitOnRatelimit: true }),
      /waitOnRatelimit is not a setting \(did you mean waitOnRateLimit\?\)/
    )
    assert.match(
      refused({ ...settings, bearer_token: "a" }),
      /bearer_token is not a setting \(did you mean bearerToken\?\)/
    )
    assert.match(refused({ ...settings, retires: 1 }), /retires is not a setting \(did you mean retries\?\)/)
    assert.match(refused({ ...settings, colour: 1 }), /colour is not a setting(?! \()/)
    assert.match(refused({ ...settings, returnType: "json" }), /returnType must be one of response, dictionary, raw/)
  })

  it("is not shown where it may be a secret", () => {
    for (const secret of ["AAAAcanary0001%3D", "bearerToken=canary", "canary key", "canary".repeat(8)]) {
      assert.strictEqual(refused({ ...settings, [secret]: true }), "settings has a member that is not a setting.")
      const oauth2 = { clientId: "a", refreshToken: "b", [secret]: true }
      assert.strictEqual(refused({ baseUrl: settings.baseUrl, oauth2 }), "oauth2 has a member that is not a setting.")
    }
    assert.match(refused({ baseUrl: settings.baseUrl, oauth2: { colour: 1 } }), /oauth2\.colour is not a setting/)
  })

  it("is no form either", async () => {
    await using client = createClient(settings)
    assert.throws(() => client.as("json" as "raw"), /returnType must be one of response, dictionary, raw/)
  })
})

describe("session", () => {
  it("tells of its connections, is shared, and outlives who borrows it", async () => {
    await using client = createClient(settings)
    assert.deepStrictEqual(client.session.statistics?.(), {})
    await client.getPost({ id: "1" })
    const other = createClient({ ...settings, dispatcher: client.session })
    await other.getPost({ id: "2" })
    assert.strictEqual(other.session, client.session)
    const [origin, { connected }] = Object.entries(client.session.statistics?.() ?? {})[0]!
    assert.strictEqual(origin, settings.baseUrl)
    assert.isAtLeast(connected, 1)
    await other.close()
    assert.strictEqual((await client.getPost({ id: "3" })).data?.id, "3")
    await client.session.close?.()
    assert.propertyVal(await client.getPost({ id: "4" }).catch((error: unknown) => error), "_tag", "TransportFailure")
  })
})

describe("Effect", () => {
  it("finds the client in its layer, and is interrupted with it", async () => {
    const client = createClient(settings)
    const { data } = await Effect.runPromise(Effect.provide(getPost({ id: "1" }), client.effect.layer))
    assert.strictEqual(data?.id, "1")
    assert.strictEqual((await client.effect.runPromise(getPost({ id: "2" }))).data?.id, "2")
    const never = client.effect.runPromise(Effect.never).catch((error: Error) => error.message)
    await client.close()
    assert.strictEqual(await never, "effect.runPromise: no response (unknown): the client is closed")
  })

  it("keeps its own logs, and the client those of the client", async () => {
    const lines: Array<Array<string>> = []
    const outcomes: Array<Promise<unknown>> = []
    const clients: Array<PostwireClient> = []
    // The first request of each fails, and is repeated later than all of them.
    failures = 6
    for (const [i, hasLogger] of [true, false, true, false, true, false].entries()) {
      const own: Array<string> = lines[i] = []
      const note = (of: string) => (...line: Array<unknown>) => void own.push(`${of}: ${line.map(String).join(" ")}`)
      const logger = { debug: note("client"), info: note("client"), warn: note("client"), error: note("client") }
      const all = { ...settings, logger: hasLogger ? logger : undefined }
      const client = clients[i] = createClient(all)
      const loggers = Layer.succeed(
        Logger.CurrentLoggers,
        new Set([Logger.make(({ message }) => note("program")(message))])
      )
      const program = Effect.gen(function*() {
        yield* Effect.logDebug("too much")
        yield* Effect.logInfo("mine")
        yield* getPost({ id: "9" })
      })
      outcomes[i] = i < 2
        ? Effect.runPromise(program.pipe(Effect.provide(client.effect.layer), Effect.provide(loggers)))
        : i < 4
        ? Effect.runPromise(program.pipe(Effect.provide(NodeClient.layer(all)), Effect.provide(loggers)))
        : client.effect.runPromise(Effect.provide(program, loggers))
      const references = Effect.all([Logger.CurrentLoggers, References.MinimumLogLevel])
      assert.deepStrictEqual(await client.effect.runPromise(references), Effect.runSync(references))
    }
    await Promise.all(outcomes)
    await Promise.all(clients.map((client) => client.close()))
    for (const [i, own] of lines.entries()) {
      assert.strictEqual(own[0], "program: mine")
      assert.lengthOf(own, i % 2 === 0 ? 2 : 1)
      if (i % 2 === 0) assert.match(own[1]!, /^client: Retrying getPost/)
    }
  })

  it("sees the rate limits of the client", async () => {
    for (const waitOnRateLimit of [false, true]) {
      await using client = createClient({ ...settings, waitOnRateLimit })
      await client.getPost({ id: "1" })
      for (
        const snapshot of [
          client.effect.runPromise(RateLimit.snapshot),
          Effect.runPromise(Effect.provide(RateLimit.snapshot, client.effect.layer))
        ]
      ) assert.deepStrictEqual((await snapshot).map(({ operation }) => operation), ["getPost"])
    }
  })

  it("leads back to Promises", async () => {
    await using client = await PromiseClient.fromLayer(NodeClient.layer(settings), { returnType: "dictionary" })
    const body = await client.getPost({ id: "1" })
    assert.strictEqual(body.data?.id, "1")
    const error = await PromiseClient.fromLayer(NodeClient.layer({ baseUrl: "no address" })).catch((error: unknown) =>
      error
    )
    assert.instanceOf(error, InvalidSettings)
  })
})
