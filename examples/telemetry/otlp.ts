// Sends metrics, spans and logs to an OpenTelemetry collector: OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318
import { ClientConfig, Search } from "@postwire/core"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"

const program = Search.searchRecentPosts.items({ query: "effect" }, { limit: 200 }).pipe(
  Stream.runForEach((post) => Effect.log(post.text)),
  Effect.withSpan("search")
)

const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))

const telemetry = Otlp.layerJson({
  baseUrl: process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "http://localhost:4318",
  resource: { serviceName: "searches" }
}).pipe(Layer.provide(FetchHttpClient.layer))

await Effect.runPromise(program.pipe(Effect.provide(client), Effect.provide(telemetry)))
