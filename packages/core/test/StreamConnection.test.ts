import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Errors from "../src/errors/Errors.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as Anomaly from "../src/schema/Anomaly.ts"
import type { AnyItem } from "../src/schema/StreamItem.ts"
import * as Spend from "../src/spend/Spend.ts"
import * as SpendStore from "../src/spend/SpendStore.ts"
import { open } from "../src/streams/internal/connection.ts"
import * as DecodeLines from "../src/streams/internal/decodeLines.ts"
import { streamPosts } from "../src/streams/operations/Streams.ts"
import * as Recorder from "./support/Recorder.ts"
import { type Answer, baseUrl, fails, make, type Received, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { definition } = streamPosts

const encode = (text: string) => new TextEncoder().encode(text)

/** A service that sends given pieces and does not end the response. */
const streaming = (status = 200) => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isCancelled = false
  const service = make((_: Received) => ({
    status,
    body: new ReadableStream<Uint8Array>({
      start: (own) => {
        controller = own
      },
      cancel: () => {
        isCancelled = true
      }
    })
  }))
  return {
    ...service,
    send: (text: string) => controller!.enqueue(encode(text)),
    end: () => controller!.close(),
    fail: (error: unknown) => controller!.error(error),
    isCancelled: () => isCancelled
  }
}

describe("a connection", () => {
  test("delivers lines before the response ends")(function*() {
    const service = streaming()
    const scope = yield* Scope.make()
    const opened = yield* Effect.provide(open(definition, {}), service.layer()).pipe(Scope.provide(scope))
    assert.strictEqual(service.requests[0]?.headers["accept-encoding"], "identity")
    service.send("{\"data\":{\"id\":\"1\",\"text\":\"a\"},\"matching_rules\":[{\"id\":\"7\",\"tag\":\"b\"}]}\r\n\r\n")
    const [item, keepAlive] = yield* Stream.runCollect(Stream.take(opened.entries, 2))
    assert.isTrue(DecodeLines.isItem(item!) && "post" in item)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(item)), {
      data: { id: "1", text: "a" },
      matching_rules: [{ id: "7", tag: "b" }]
    })
    assert.deepStrictEqual(keepAlive, { _tag: "KeepAlive" })
    yield* Scope.close(scope, Exit.void)
    assert.isTrue(service.isCancelled())
  })

  test("lets other fibers run while many lines arrive together")(function*() {
    const service = streaming()
    const opened = yield* Effect.provide(open(definition, {}), service.layer())
    let turns = 0
    const turn = () => {
      turns++
      handle = setImmediate(turn)
    }
    let handle = setImmediate(turn)
    yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(handle)))
    service.send("[1]\n".repeat(250_000))
    service.end()
    assert.lengthOf(yield* Stream.runCollect(opened.entries), 250_000)
    assert.isAbove(turns, 50)
  })

  test("delivers the lines before its end")(function*() {
    const service = streaming()
    const opened = yield* Effect.provide(open(definition, {}), service.layer())
    service.send(
      "{\"errors\":[{\"title\":\"operational-disconnect\",\"disconnect_type\":\"ForceDisconnect\"}]}\r\n{\"da"
    )
    service.end()
    assert.deepStrictEqual(yield* Stream.runCollect(opened.entries), [{
      _tag: "Problems",
      problems: [{ title: "operational-disconnect", disconnect_type: "ForceDisconnect" }],
      disconnectType: "ForceDisconnect"
    }, { _tag: "Unreadable", reason: "the line is not JSON" }])
  })

  test("fails when it breaks off, without credentials")(function*() {
    const service = streaming()
    const opened = yield* Effect.provide(open(definition, {}), service.layer())
    service.fail(new Error(`reset ${secrets.bearerToken}`))
    const error = yield* fails(Stream.runDrain(opened.entries), Errors.TransportFailure, { phase: "body" })
    assert.notInclude(JSON.stringify(error) + error.message, secrets.bearerToken)
  })

  test("has no time limit once it has begun, but one before that")(function*() {
    const service = streaming()
    const opened = yield* Effect.provide(open(definition, {}), service.layer())
    const reading = yield* Effect.forkChild(Stream.runHead(opened.entries), { startImmediately: true })
    yield* TestClock.adjust("2 days")
    service.send("\n")
    assert.deepStrictEqual(yield* Fiber.join(reading), Option.some({ _tag: "KeepAlive" as const }))

    const silent = make(() => Effect.never)
    const opening = yield* Effect.forkChild(Effect.flip(Effect.provide(open(definition, {}), silent.layer())), {
      startImmediately: true
    })
    yield* TestClock.adjust("1 minute")
    const error = yield* Fiber.join(opening)
    assert.instanceOf(error, Errors.TransportFailure)
    assert.strictEqual(error.timeout, "firstByte")
    assert.lengthOf(silent.requests, 1)
  })

  test("fails with the usual errors, without retries")(function*() {
    const refused = (status: number, body: object = {}) => {
      const service = make(() => ({ status, body }))
      return Effect.map(
        Effect.flip(Effect.provide(open(definition, {}), service.layer({ retries: 2, ...secrets }))),
        (error) => {
          assert.lengthOf(service.requests, 1)
          return error
        }
      )
    }
    assert.instanceOf(yield* refused(401), Errors.Unauthorized)
    assert.instanceOf(yield* refused(503), Errors.ServerFailure)
    const conflict = yield* refused(409, { title: "Conflict", detail: `no rules ${secrets.bearerToken}` })
    assert.propertyVal(conflict, "status", 409)
    assert.notInclude(conflict.message, secrets.bearerToken)
    assert.instanceOf(
      yield* Effect.flip(Effect.provide(open(definition, { backfill_minutes: 6 }), streaming().layer())),
      Errors.InvalidParameters
    )
  })

  test("does not wait for a rate limit if too many connections are open")(function*() {
    const service = make((): Answer => ({
      status: 429,
      headers: { "x-rate-limit-limit": "50", "x-rate-limit-remaining": "48", "x-rate-limit-reset": "900" },
      body: { title: "ConnectionException", connection_issue: "TooManyConnections" }
    }))
    const error = yield* fails(
      Effect.provide(open(definition, {}), service.layer(secrets, Layer.orDie(RateLimit.layerWait()))),
      Errors.RateLimited
    )
    assert.deepStrictEqual(error.problems.map((problem) => problem["connection_issue"]), ["TooManyConnections"])
    assert.lengthOf(service.requests, 1)
  })

  test("counts anomalies")(function*() {
    const service = streaming()
    const found: Array<readonly [operation: string, path: string | undefined]> = []
    const telemetry = Layer.succeed(Anomaly.Telemetry, {
      found: (operation, [first]) => Effect.sync(() => void found.push([operation, first?.path]))
    })
    const opened = yield* Effect.provide(open(definition, {}), service.layer(secrets, telemetry))
    service.send("{\"data\":{\"id\":\"1\",\"text\":5}}\n")
    yield* Stream.runHead(opened.entries)
    assert.deepStrictEqual(found, [["streamPosts", "data.text"]])
  })

  test("has a span that ends with the headers")(function*() {
    const service = streaming()
    const { layer, spans } = Recorder.spans()
    yield* Effect.provide(open(definition, {}), Layer.merge(service.layer(), layer))
    assert.deepStrictEqual(spans.map(({ name, status }) => [name, status._tag]), [[
      "GET /2/posts/search/stream",
      "Ended"
    ]])
  })

  test("is charged for each item on arrival, until a limit ends it")(function*() {
    const service = streaming()
    const store = SpendStore.makeMemory()
    const told: Array<number> = []
    const spend = Layer.orDie(
      Spend.layer({ spendLimit: { total: 0.018 }, onSpend: ({ dollars }) => void told.push(dollars) })
    ).pipe(Layer.provide(Layer.succeed(SpendStore.SpendStore, store)))
    const line = (id: number) => `{"data":{"id":"${id}","text":"a"}}\n`
    const scope = yield* Scope.make()
    // A meter needs the resources of its layer while the stream runs.
    const client = yield* Layer.build(service.layer(secrets, spend))
    const opened = yield* Effect.provide(open(definition, {}), client).pipe(Scope.provide(scope))
    const bill = Effect.map(store.read(baseUrl, "1970-01-01", "1970-01-01"), ([entry]) => entry)
    assert.deepInclude(yield* bill, { spent: 0, reserved: 5_000, charged: 0 })
    const ids: Array<string> = []
    const reading = yield* Effect.forkChild(
      Effect.flip(Stream.runForEach(opened.entries, (entry) =>
        Effect.sync(() => {
          if (!DecodeLines.isItem(entry)) return
          ids.push(idOf(entry))
          // Repeats are free on the same day.
          if (ids.length === 2) service.send(line(1) + line(2))
          else if (ids.length === 4) service.send(line(3))
        }))),
      { startImmediately: true }
    )
    service.send(line(1) + line(2))
    const error = yield* Fiber.join(reading)
    assert.instanceOf(error, Errors.SpendLimitReached)
    assert.deepStrictEqual(ids, ["1", "2", "1", "2", "3"])
    assert.deepStrictEqual(told, [0.01, 0, 0.005])
    yield* Scope.close(scope, Exit.void)
    assert.deepInclude(yield* bill, { spent: 15_000, reserved: 0, charged: 3, repeats: 2 })
  })
})

const idOf = (item: AnyItem): string => JSON.parse(JSON.stringify(item)).data.id
