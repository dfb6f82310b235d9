// What TLS says of a request: a certificate is refused before anything leaves, a broken answer comes after.
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as Https from "node:https"
import * as Net from "node:net"
import { Agent, fetch as undiciFetch, type RequestInit } from "undici"
import * as NodeClient from "../src/NodeClient.ts"
import * as PromiseClient from "../src/PromiseClient.ts"

const pem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}.pem`, import.meta.url), "utf8")
const key = pem("key")
const trusted = pem("self-signed")

const secrets = {
  bearerToken: "canary-bearer-token-0001",
  consumerKey: "canary-consumer-key-0002",
  consumerSecret: "canary-consumer-secret-0003",
  accessToken: "42-canary-access-token-0004",
  accessTokenSecret: "canary-access-token-secret-0005"
}

const port = (server: Net.Server) => (server.address() as Net.AddressInfo).port

const over = (http: Layer.Layer<HttpClient.HttpClient>) => (baseUrl: string) =>
  Client.layer({ baseUrl, retries: 0 }).pipe(Layer.provide([Credentials.layer(secrets), http, RateLimit.layerFail]))

/** Every transport that people use, all of which trust the certificate of the service. */
const transports = {
  undici: (baseUrl: string) => NodeClient.layer({ ...secrets, baseUrl, retries: 0, ca: trusted }),
  fetch: over(
    FetchHttpClient.layer.pipe(Layer.provide(Layer.sync(FetchHttpClient.Fetch, () => {
      const dispatcher = new Agent({ connect: { ca: trusted } })
      // The fetch of Undici is the one of Node, and takes a dispatcher of the same Undici.
      return ((url: string, init: RequestInit) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch
    })))
  ),
  "node:http": over(NodeHttpClient.layerNodeHttpOptions({ ca: trusted })),
  "the Undici of Effect": over(NodeHttpClient.layerUndiciOptions({ connect: { ca: trusted } }))
}

const names = Object.keys(transports) as ReadonlyArray<keyof typeof transports>

/** A service behind TLS and a wire that spoils what follows once a request was processed. */
const spoiled = async (maxVersion: "TLSv1.2" | "TLSv1.3", spoil: (chunk: Buffer) => Buffer) => {
  let processed = 0
  const service = Https.createServer({ key, cert: trusted, maxVersion }, (request, response) => {
    request.resume().on("end", () => {
      processed++
      response.end(JSON.stringify({ data: { id: "1", text: "a" } }))
    })
  })
  service.on("tlsClientError", () => {}).listen(0, "127.0.0.1")
  await once(service, "listening")
  const sockets: Array<Net.Socket> = []
  const wire = Net.createServer((near) => {
    const far = Net.connect(port(service), "127.0.0.1")
    for (const socket of [near, far]) sockets.push(socket.on("error", () => {}))
    near.pipe(far)
    far.on("data", (chunk) => near.write(processed > 0 ? spoil(chunk) : chunk)).on("close", () => near.destroy())
  })
  wire.listen(0, "127.0.0.1")
  await once(wire, "listening")
  return {
    baseUrl: `https://127.0.0.1:${port(wire)}`,
    processed: () => processed,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      service.closeAllConnections()
      await Promise.all([wire, service].map((server) => new Promise((resolve) => server.close(resolve))))
    }
  }
}

const flipped = (at: number) => (chunk: Buffer) => {
  const spoilt = Buffer.from(chunk)
  spoilt[at] = spoilt[at]! ^ 1
  return spoilt
}

const alert = (chunk: Buffer) => Buffer.concat([Buffer.from([21, 3, 3, 0, 2, 2, 40]), chunk])

const spoils = {
  "a byte flipped": flipped(20),
  "the type of its record flipped": flipped(0),
  "the version of its record flipped": flipped(1),
  "an alert before it": alert
}

const rejection = (promise: Promise<unknown>) => promise.then(() => undefined, (error: unknown) => error)

describe.each(names)("over %s", (name) => {
  describe.each(["TLSv1.2", "TLSv1.3"] as const)("%s", (version) => {
    it.each(Object.entries(spoils))("an answer with %s leaves open whether a create happened", async (_, spoil) => {
      await using service = await spoiled(version, spoil)
      await using client = await PromiseClient.fromLayer(transports[name](service.baseUrl))
      const error = await rejection(client.createPost({ text: "a" }, { retries: 5 }))
      assert.strictEqual(service.processed(), 1)
      assert.instanceOf(error, Errors.OutcomeUnknown)
      // What only reads is free to fail in other words.
      assert.instanceOf(await rejection(client.getPost({ id: "1" })), Errors.TransportFailure)
    })
  })

  it.each(["other-host", "expired"])("a certificate that is refused (%s) lets nothing leave", async (certificate) => {
    let requests = 0
    const service = Https.createServer({ key, cert: pem(certificate) }, () => requests++)
    service.on("tlsClientError", () => {}).listen(0, "127.0.0.1")
    await once(service, "listening")
    await using client = await PromiseClient.fromLayer(transports[name](`https://127.0.0.1:${port(service)}`))
    const error = await rejection(client.createPost({ text: "a" }, { retries: 5 }))
    assert.instanceOf(error, Errors.TransportFailure)
    assert.strictEqual(error.phase, "tls")
    assert.strictEqual(requests, 0)
    service.close()
    service.closeAllConnections()
  })
})

it("over undici, a server that does not speak TLS is known to have been sent nothing", async () => {
  const server = Net.createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  await using client = await PromiseClient.fromLayer(transports.undici(`https://127.0.0.1:${port(server)}`))
  const error = await rejection(client.createPost({ text: "a" }, { retries: 5 }))
  assert.instanceOf(error, Errors.TransportFailure)
  assert.strictEqual(error.phase, "tls")
  server.close()
})
