// Serves its metrics to Prometheus at http://localhost:9464/metrics.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ClientConfig, Search } from "@postwire/core"
import * as Metrics from "@postwire/core/runtime/Metrics"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer, Schedule } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"

const program = Search.searchRecentPosts({ query: "effect" }).pipe(
  Effect.ignore,
  Effect.repeat(Schedule.spaced("15 seconds"))
)

const metrics = HttpRouter.serve(PrometheusMetrics.layerHttp({ metricNameMapper: Metrics.prometheusName })).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: Number(process.env["METRICS_PORT"] ?? 9464) }))
)

const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))

await Effect.runPromise(Effect.provide(program, [client, metrics]))
