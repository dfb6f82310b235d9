import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import * as RawRequest from "../src/client/RawRequest.ts"
import * as Telemetry from "../src/client/Telemetry.ts"
import * as Metrics from "../src/runtime/Metrics.ts"
import { type Answer, make, secrets, transportError } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { getPost } = catalogue

const post: Answer = { body: { data: { id: "1", text: "a" } } }
const lost = transportError({ phase: "headers", requestSent: true, code: "ECONNRESET", message: "gone" })

/** Registers metrics apart from those of other tests. */
const registered = <A, E>(
  f: (measured: () => ReadonlyArray<Metric.Metric.Snapshot>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const registry: Metric.MetricRegistry = new Map()
  const context = Context.make(Metric.MetricRegistry, registry)
  return Effect.provideService(f(() => Metric.snapshotUnsafe(context)), Metric.MetricRegistry, registry)
}

/** The counts and sums of a histogram by attributes. */
const shown = (snapshots: ReadonlyArray<Metric.Metric.Snapshot>): ReadonlyArray<object> =>
  snapshots.flatMap(({ attributes, id, state }) =>
    id === Metrics.requestDuration.name && "sum" in state ? [{ ...attributes, count: state.count, sum: state.sum }] : []
  )

const common = {
  "http.request.method": "GET",
  "server.address": "service.test",
  "server.port": "443",
  "url.template": "/2/posts/:id",
  unit: "s"
}

const stepping = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.gen(function*() {
    while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(10))
    return yield* Fiber.join(fiber)
  })

describe("http.client.request.duration", () => {
  test("has one record for each attempt, also for those without a response")(function*() {
    const answers = [Effect.succeed<Answer>({ status: 503 }), lost, Effect.delay(Effect.succeed(post), "2 seconds")]
    const service = make((_, index) => answers[index]!)
    yield* registered((measured) =>
      Effect.gen(function*() {
        const layer = service.layer({ ...secrets, retries: 2 }, Telemetry.layer)
        yield* stepping(yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }), layer)))
        assert.deepStrictEqual(shown(measured()), [
          { ...common, "http.response.status_code": "503", "error.type": "503", count: 1, sum: 0 },
          { ...common, "error.type": "ECONNRESET", count: 1, sum: 0 },
          { ...common, "http.response.status_code": "200", count: 1, sum: 2 }
        ])
      })
    )
  })

  test("has no error for an interrupted request, as the conventions say")(function*() {
    const service = make(() => Effect.never)
    yield* registered((measured) =>
      Effect.gen(function*() {
        const call = Effect.provide(getPost({ id: "1" }), service.layer(secrets, Telemetry.layer))
        const fiber = yield* Effect.forkChild(call)
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(shown(measured()), [{ ...common, count: 1, sum: 3 }])
      })
    )
  })

  test("is shared by clients, and has the buckets of Effect's histogram")(function*() {
    const seconds = [0, 0.005, 0.006, 0.075, 0.1, 0.5, 1.5, 10, 11]
    const service = make((_, index) => Effect.delay(Effect.succeed(post), seconds[index]! * 1_000))
    const oracle = Metric.histogram("oracle", { boundaries: Metrics.durationBoundaries })
    yield* registered((measured) =>
      Effect.gen(function*() {
        for (const each of seconds) {
          const layer = Layer.fresh(service.layer(secrets, Layer.fresh(Telemetry.layer)))
          const fiber = yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }), layer))
          yield* TestClock.adjust(each * 1_000)
          yield* Fiber.join(fiber)
          yield* Metric.update(oracle, each)
        }
        const [one, other] = measured().map(({ state }) => state)
        assert.deepStrictEqual({ ...one }, { ...other })
      })
    )
  })

  test("omits the templates of raw requests beyond a thousand")(function*() {
    const service = make(() => ({ body: {} }))
    yield* registered((measured) =>
      Effect.gen(function*() {
        const names = Array.from({ length: 1_002 }, (_, i) => i.toString(2).replaceAll("0", "a").replaceAll("1", "b"))
        yield* Effect.forEach(names, (name) => RawRequest.request({ method: "GET", path: `/2/${name}` })).pipe(
          Effect.provide(service.layer(secrets, Telemetry.layer))
        )
        const templates = measured().map(({ attributes }) => attributes?.["url.template"])
        assert.lengthOf(templates, 1_001)
        assert.lengthOf(templates.filter((template) => template === undefined), 1)
      })
    )
  })

  test("is not made where nothing measures")(function*() {
    const service = make(() => post)
    yield* registered((measured) =>
      Effect.gen(function*() {
        yield* Effect.provide(getPost({ id: "1" }), service.layer())
        assert.deepStrictEqual(measured(), [])
      })
    )
  })
})

describe("names in Prometheus", () => {
  test("follow the rules of OpenTelemetry")(function*() {
    yield* Effect.void
    assert.deepStrictEqual(
      ["http.client.request.duration", "postwire.spend", "postwire.rate_limit.remaining", "others"].map(
        Metrics.prometheusName
      ),
      [
        "http_client_request_duration_seconds",
        "postwire_spend_total",
        "postwire_rate_limit_remaining",
        "others"
      ]
    )
  })
})
