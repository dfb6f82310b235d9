import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Telemetry from "@postwire/core/client/Telemetry"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUser } from "@postwire/core/operations/Users"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Metrics from "@postwire/core/runtime/Metrics"
import * as Spend from "@postwire/core/spend/Spend"
import * as Export from "@postwire/export/Export"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Source from "@postwire/export/sources/Source"
import { createClient, prometheusMetrics } from "@postwire/node"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Sandbox } from "@postwire/sandbox"
import type { RunningSandbox } from "@postwire/sandbox/Sandbox"
import { parser } from "@prometheus-io/lezer-promql"
import { Effect, Layer, Metric, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp, OtlpExporter, PrometheusMetrics } from "effect/observability"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"

const Point = Schema.Struct({
  attributes: Schema.Array(Schema.Struct({ key: Schema.String })),
  explicitBounds: Schema.optional(Schema.Array(Schema.Finite))
})

const Points = Schema.optional(Schema.Struct({ dataPoints: Schema.Array(Point) }))

/** What the test reads of a request to `/v1/metrics`. */
const Exported = Schema.Struct({
  resourceMetrics: Schema.Array(Schema.Struct({
    scopeMetrics: Schema.Array(Schema.Struct({
      metrics: Schema.Array(Schema.Struct({
        name: Schema.String,
        unit: Schema.String,
        description: Schema.String,
        sum: Points,
        gauge: Points,
        histogram: Points
      }))
    }))
  }))
})

/** Stands in for a collector: keeps what is sent to it. */
const collecting = Effect.acquireRelease(
  Effect.promise(async () => {
    const bodies: Array<string> = []
    const server = createServer(async (request, response) => {
      const body = await text(request)
      if (request.url === "/v1/metrics") bodies.push(body)
      response.setHeader("content-type", "application/json").end("{}")
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const metrics = () =>
      bodies.flatMap((body) => Schema.decodeUnknownSync(Exported)(JSON.parse(body)).resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    return { url: `http://127.0.0.1:${port}`, metrics, server }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

/** A program that searches, retries, exports and spends. */
const program = Effect.gen(function*() {
  const sandbox = yield* Effect.acquireRelease(
    Effect.promise(() => Sandbox.start()),
    (sandbox) => Effect.promise(() => sandbox[Symbol.asyncDispose]())
  )
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "telemetry-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
  const { baseUrl, bearerToken } = sandbox.ada.settings()
  sandbox.faults.add({ status: 503, times: 1 })
  const client = Client.layer({ baseUrl }).pipe(Layer.provide([
    Credentials.layer({ bearerToken }),
    UndiciHttpClient.layer(),
    Telemetry.layer,
    Spend.layer(),
    RateLimit.layerWait().pipe(Layer.provide(RateLimitStore.layerMemory))
  ]))
  yield* Effect.provide(
    Effect.gen(function*() {
      yield* getUser({ username: "ada" })
      yield* Effect.ignore(getUser({ username: "nobodyyy" }))
      const source = Source.make(searchRecentPosts, { query: "effect" })
      yield* Export.run(source, { sink: JsonLines.make(join(folder, "posts.jsonl")), limit: 20 })
      // The remaining requests are known for as long as the client is open.
      yield* OtlpExporter.Flusher.use(({ flush }) => flush)
    }),
    client
  )
})

const dashboard = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({
    panels: Schema.Array(Schema.Struct({
      title: Schema.String,
      targets: Schema.Array(Schema.Struct({ expr: Schema.String, legendFormat: Schema.String }))
    }))
  }))
)(readFileSync(new URL("../telemetry/dashboard.json", import.meta.url), "utf8"))

const queries = dashboard.panels.flatMap(({ targets }) => targets)

/** The metrics and labels that a query refers to. Fails where it is invalid. */
const referred = (expression: string) => {
  const names: Array<string> = []
  const labels: Array<string> = []
  const source = expression.replaceAll("$__rate_interval", "5m")
  parser.configure({ strict: true }).parse(source).iterate({
    enter: ({ from, name, to }) => {
      if (name === "Identifier") names.push(source.slice(from, to))
      if (name === "LabelName") labels.push(source.slice(from, to))
    }
  })
  return { names, labels }
}

const labelOf = (name: string) => name.replaceAll(".", "_")

/** The series of a metric in Prometheus. */
const seriesOf = ({ kind, name }: Metrics.Description) => {
  const prometheus = Metrics.prometheusName(name)
  return kind === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => prometheus + end) : [prometheus]
}

const registered = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

describe("metrics that a collector receives", () => {
  it.live("of a program are as they are defined", () =>
    Effect.gen(function*() {
      const collector = yield* collecting
      const exporter = Otlp.layerJson({ baseUrl: collector.url, resource: { serviceName: "test" } }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
      yield* registered(Effect.scoped(program).pipe(Effect.provide(exporter)))
      const found = collector.metrics()
      const { exportItems, exportPages, rateLimitRemaining, requestDuration, retries, spend } = Metrics
      assert.includeMembers(
        found.map(({ name }) => name),
        [exportItems, exportPages, rateLimitRemaining, requestDuration, retries, spend].map(({ name }) => name)
      )
      for (const { description, gauge, histogram, name, sum, unit } of found) {
        const definition = Metrics.all.find((each) => each.name === name)
        assert.deepStrictEqual([unit, description], [definition?.unit, definition?.description], name)
        const points = (gauge ?? histogram ?? sum)?.dataPoints ?? []
        assert.isNotEmpty(points)
        for (const { attributes, explicitBounds } of points) {
          const undeclared = attributes.map(({ key }) => key).filter((key) =>
            key !== "unit" && !definition?.attributes.some((attribute) => attribute === key)
          )
          assert.deepStrictEqual(undeclared, [], name)
          if (name === "http.client.request.duration") {
            assert.deepStrictEqual(explicitBounds, Metrics.durationBoundaries)
          }
        }
      }
    }))
})

describe("the programs of the guide", () => {
  const run = (file: string, sandbox: RunningSandbox, environment: Readonly<Record<string, string>>) => {
    const { baseUrl, bearerToken } = sandbox.ada.settings()
    return promisify(execFile)(process.execPath, [new URL(`../telemetry/${file}`, import.meta.url).pathname], {
      env: { ...process.env, POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: String(bearerToken), ...environment }
    })
  }

  it.live("export metrics to a collector", () =>
    Effect.gen(function*() {
      const { metrics, url } = yield* collecting
      const sandbox = yield* Effect.acquireRelease(
        Effect.promise(() => Sandbox.start()),
        (sandbox) => Effect.promise(() => sandbox[Symbol.asyncDispose]())
      )
      yield* Effect.promise(() => run("otlp.ts", sandbox, { OTEL_EXPORTER_OTLP_ENDPOINT: url }))
      assert.include(metrics().map(({ name }) => name), "http.client.request.duration")
    }))

  it("serve metrics while they search", async () => {
    await using sandbox = await Sandbox.start()
    assert.notStrictEqual((await run("promise.ts", sandbox, { METRICS_PORT: "0" })).stdout, "")
  })
})

describe("the dashboard", () => {
  it("refers to metrics and labels that there are", () => {
    const series = Metrics.all.flatMap(seriesOf)
    for (const { expr, legendFormat } of queries) {
      const { labels, names } = referred(expr)
      const known = Metrics.all.filter((metric) => seriesOf(metric).some((name) => names.includes(name)))
        .flatMap(({ attributes }) => attributes.map(labelOf))
      assert.isNotEmpty(names)
      assert.deepStrictEqual(names.filter((name) => !series.includes(name)), [], expr)
      const legend = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = ""]) => label)
      assert.deepStrictEqual(
        [...labels, ...legend].filter((label) => label !== "le" && !known.includes(label)),
        [],
        expr
      )
    }
  })

  it("shows every metric", () => {
    const shown = queries.flatMap(({ expr }) => referred(expr).names)
    assert.deepStrictEqual(
      Metrics.all.filter((metric) => !seriesOf(metric).some((name) => shown.includes(name))).map(({ name }) => name),
      []
    )
  })

  it("is checked by a parser that refuses what is not PromQL", () => {
    assert.throws(() => referred("sum by (rate(a[5m]))"))
  })
})

describe("Prometheus", () => {
  it.effect("gets every metric by its name and with its labels", () =>
    registered(Effect.gen(function*() {
      for (const metric of Metrics.all) {
        yield* Metric.update(metric.of(Metrics.attributes), 1)
      }
      const written = yield* PrometheusMetrics.format({ metricNameMapper: Metrics.prometheusName })
      for (const metric of Metrics.all) {
        for (const series of seriesOf(metric)) {
          const line = written.split("\n").find((line) => line.startsWith(`${series}{`))
          const labels = Array.from(line?.matchAll(/(\w+)="/g) ?? [], ([, label]) => label).filter((label) =>
            label !== "le"
          )
          assert.sameMembers(labels, metric.attributes.map(labelOf), series)
        }
      }
    })))

  it("gets the metrics of Promise clients", async () => {
    await using sandbox = await Sandbox.start()
    await using client = createClient(sandbox.ada.settings())
    await client.getUser({ username: "ada" })
    assert.match(
      prometheusMetrics(),
      /^http_client_request_duration_seconds_count\{http_request_method="GET",.*url_template="\/2\/users\/by\/username\/:username"\} \d+$/m
    )
  })
})
