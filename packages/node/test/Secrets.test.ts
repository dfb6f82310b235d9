// What services, proxies and transports quote of a request, over real wires; and what a client shows of itself.
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import type { Sent } from "@postwire/core/client/Attempt"
import * as Client from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { once } from "node:events"
import * as Http from "node:http"
import * as Net from "node:net"
import { inspect } from "node:util"
import { ProxyAgent } from "undici"
import { vi } from "vitest"
import { createClient } from "../src/EffectClient.ts"
import * as NodeClient from "../src/NodeClient.ts"
import * as PromiseClient from "../src/PromiseClient.ts"
import { secretsOfProxy } from "../src/UndiciHttpClient.ts"

const secrets = {
  // As one was that a pattern did not find: short, and odd in the middle.
  bearerToken: "canary:0001",
  consumerKey: "canary-key-02",
  consumerSecret: "canary secret & 03",
  accessToken: "42-canary-04",
  accessTokenSecret: "canary%secret-05"
}

const listen = async <S extends Net.Server>(server: S) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, port: (server.address() as Net.AddressInfo).port }
}

/** Every text that a value may end up in. */
const assertNoSecret = (value: unknown) => {
  const texts = [
    String(value),
    JSON.stringify(value) ?? "",
    inspect(value),
    inspect(value, { depth: Infinity, showHidden: true }),
    ...(value instanceof Error ? [value.stack ?? ""] : [])
  ]
  for (const text of texts) {
    assert.notInclude(text, "canary")
    assert.notInclude(text, Buffer.from("canary").toString("base64").slice(0, 8))
    assert.notMatch(text, /63 61 6e 61 72 79|oauth_signature=\\*"[^<]/)
  }
}

const rejection = (promise: Promise<unknown>) =>
  promise.then((value) => assert.fail(`resolved with ${inspect(value)}`), (error: unknown) => error)

const over = (http: Layer.Layer<HttpClient.HttpClient>) => (settings: Omit<Client.Settings, "wire">) =>
  Client.layer(settings).pipe(Layer.provide([Credentials.layer(secrets), http, RateLimit.layerFail]))

const transports = {
  undici: (settings: Omit<Client.Settings, "wire">) => NodeClient.layer({ ...secrets, ...settings }),
  fetch: over(FetchHttpClient.layer),
  "node:http": over(NodeHttpClient.layerNodeHttp),
  "the Undici of Effect": over(NodeHttpClient.layerUndici)
}

const line = (text: string) => text.replace(/[\r\n]+/g, " ")
const answer = (status: string, body: string, ...headers: ReadonlyArray<string>) =>
  [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, "connection: close", ...headers, "", body].join(
    "\r\n"
  )

/** Answers that quote a request. */
const quotes: Readonly<Record<string, (head: string) => string>> = {
  "a page": (head) => answer("200 OK", `<pre>${head}</pre>`),
  "a refusal": (head) => answer("401 Unauthorized", JSON.stringify({ title: "Unauthorized", detail: `Sent: ${head}` })),
  "a refusal of a gateway": (head) => answer("502 Bad Gateway", `<pre>${head}</pre>`),
  "the id of the request": (head) => answer("404 Not Found", "{}", `x-request-id: ${line(head)}`),
  "the reason of a status": (head) => answer(`503 ${line(head)}`, ""),
  "what is no HTTP": (head) => `${head}\r\n\r\n`,
  "a header that is none": (head) => `HTTP/1.1 200 OK\r\n${line(head)}\r\n\r\n`,
  "a body that breaks off": (head) => `HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n${head}`,
  "a body in no known encoding": (head) => answer("200 OK", head, "content-encoding: gzip"),
  "a redirect": (head) => answer("302 Found", "", `location: http://elsewhere.test/?${encodeURIComponent(head)}`)
}

describe.each(Object.keys(transports) as ReadonlyArray<keyof typeof transports>)("over %s", (transport) => {
  it.each(Object.entries(quotes))("%s holds no secret", async (_, quote) => {
    const { port, server } = await listen(Net.createServer((socket) => {
      let head = ""
      socket.on("error", () => {}).on("data", (chunk) => {
        head += chunk.toString("latin1")
        if (head.includes("\r\n\r\n")) socket.end(quote(head.trim()))
      })
    }))
    const sent: Array<Sent> = []
    const layer = transports[transport]({
      baseUrl: `http://127.0.0.1:${port}`,
      retries: 0,
      onRequest: (request) => sent.push(request)
    })
    await using client = await PromiseClient.fromLayer(layer)
    for (const call of [() => client.getPost({ id: "1" }), () => client.createPost({ text: "a" })]) {
      const error = await rejection(call())
      assert.isTrue(Errors.isAnyError(error))
      assertNoSecret(error)
    }
    assert.strictEqual(sent.length, 2)
    assertNoSecret(sent)
    server.close()
  })
})

describe("a proxy with a password", () => {
  const address = (port: number) => `http://canary-user:canary%2Fpass@127.0.0.1:${port}`

  it("may quote it, instead of the service or of a tunnel", async () => {
    const quoted = "canary%2Fpass canary/pass"
    let seen = 0
    const proxy = Http.createServer(({ headers }, response) => {
      seen++
      response.writeHead(502).end(`${headers["proxy-authorization"]} ${quoted}`)
    })
    proxy.on("connect", (_, socket) => {
      seen++
      socket.end(answer("407 Proxy Authentication Required", quoted))
    })
    const { port } = await listen(proxy)
    for (const scheme of ["http", "https"]) {
      const settings = { ...secrets, baseUrl: `${scheme}://service.test`, allowInsecureHttp: true, retries: 0 }
      await using client = createClient({ ...settings, proxy: address(port) })
      await using borrower = createClient({ ...settings, dispatcher: client.session })
      await using layered = await PromiseClient.fromLayer(NodeClient.layer({ ...settings, proxy: address(port) }))
      for (const { getPost } of [client, borrower, layered]) {
        const error = await rejection(getPost({ id: 1 }))
        assertNoSecret(error)
        assert.propertyVal(error, "_tag", scheme === "http" ? "ServerFailure" : "TransportFailure")
        if (scheme === "http") assert.propertyVal(error, "excerpt", "Basic <redacted>= <redacted> <redacted>")
      }
    }
    assert.strictEqual(seen, 6)
    proxy.close()
    proxy.closeAllConnections()
  })

  it("of the environment as well", () => {
    vi.stubEnv("HTTPS_PROXY", address(1))
    assert.includeMembers([...secretsOfProxy("environment")], ["canary%2Fpass"])
    for (const none of [undefined, "", "http://127.0.0.1:1", "no address"]) {
      assert.deepStrictEqual(secretsOfProxy(none).filter((secret) => secret !== ""), [])
    }
  })

  it("is not shown by a client or its session, before or after a call", async () => {
    const { port, server } = await listen(Net.createServer((socket) => socket.resetAndDestroy()))
    const settings = { ...secrets, baseUrl: "https://service.test", retries: 0, proxy: address(port) }
    await using client = createClient(settings)
    await using keeper = createClient({
      ...settings,
      waitOnRateLimit: true,
      rateLimitStore: "redis://me:canary@127.0.0.1:1"
    })
    const { proxy, ...others } = settings
    const dispatcher = new ProxyAgent(proxy)
    await using borrower = createClient({ ...others, dispatcher })
    for (const made of [client, keeper, borrower, client.as("raw")]) {
      for (const shown of [made, { made }, made.effect, made.effect.layer]) assertNoSecret(shown)
    }
    assertNoSecret(client.session)
    await rejection(client.getPost({ id: "1" }))
    for (const shown of [client, client.session, client.as("dictionary")]) assertNoSecret(shown)
    assert.strictEqual(inspect(client.as("raw")), `PostwireClient { form: "raw" }`)
    await dispatcher.close()
    server.close()
  })
})
