import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Telemetry from "@postwire/core/client/Telemetry"
import { getPost } from "@postwire/core/operations/Posts"
import { Context, Effect, Layer, Metric } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as Http2 from "node:http2"
import type { AddressInfo } from "node:net"
import { Agent } from "undici"
import * as Recorder from "../../core/test/support/Recorder.ts"
import * as UndiciHttpClient from "../src/UndiciHttpClient.ts"

const pem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}.pem`, import.meta.url), "utf8")

/** A server that speaks both versions. */
const serving = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = Http2.createSecureServer({ key: pem("key"), cert: pem("self-signed"), allowHTTP1: true })
    server.on("request", (_, response) => response.end(JSON.stringify({ data: { id: "1", text: "a" } })))
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => server.close())
)

/** The version of HTTP in the span and in the metric of a request, and the one that the server saw. */
const versions = Effect.fnUntraced(function*(http: Layer.Layer<HttpClient.HttpClient>) {
  const server = yield* serving
  const seen: Array<string> = []
  server.on("request", ({ httpVersion }) => seen.push(httpVersion))
  const { layer: tracer, spans } = Recorder.spans()
  const registry: Metric.MetricRegistry = new Map()
  const client = Client.layer({ baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }).pipe(
    Layer.provide([Credentials.layerBearer("a"), http, Telemetry.layer])
  )
  yield* getPost({ id: "1" }).pipe(
    Effect.provide([client, tracer]),
    Effect.provideService(Metric.MetricRegistry, registry)
  )
  const [metric] = Metric.snapshotUnsafe(Context.make(Metric.MetricRegistry, registry))
  const name = "network.protocol.version"
  return { seen, span: spans[0]?.attributes.get(name), metric: metric?.attributes?.[name] }
})

describe("network.protocol.version", () => {
  it.effect("is 1.1 with connections of the client", () =>
    Effect.gen(function*() {
      const found = yield* versions(UndiciHttpClient.layer({ ca: pem("self-signed") }))
      assert.deepStrictEqual(found, { seen: ["1.1"], span: "1.1", metric: "1.1" })
    }))

  it.effect("is 2 with a dispatcher that has negotiated it", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ allowH2: true, connect: { ca: pem("self-signed") } })),
        (agent) => Effect.promise(() => agent.destroy())
      )
      const found = yield* versions(UndiciHttpClient.layer({ dispatcher }))
      assert.deepStrictEqual(found, { seen: ["2.0"], span: "2", metric: "2" })
    }))

  it.effect("is absent where the transport does not report it", () =>
    Effect.gen(function*() {
      const answer = () => Promise.resolve(Response.json({ data: { id: "1", text: "a" } }))
      const http = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, answer))
      assert.deepStrictEqual(yield* versions(http), { seen: [], span: undefined, metric: undefined })
    }))
})
