import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as Errors from "../src/errors/Errors.ts"
import { streamPosts } from "../src/streams/operations/Streams.ts"
import * as Streaming from "../src/streams/Streaming.ts"
import { accept, follow, following, idOf, pass } from "./support/Following.ts"
import { fails } from "./support/Service.ts"
import { type Connect, lineOf, settle, streaming } from "./support/StreamService.ts"
import { test } from "./support/Test.ts"

describe("a stream", () => {
  test("delivers items and events in order")(function*() {
    const service = streaming(accept)
    const { events, ids } = yield* follow(service)
    service.lines[0]!.post({ id: "1" }, { id: "2" })
    yield* settle
    service.lines[0]!.send("\r\nnot json\r\n")
    yield* settle
    assert.deepStrictEqual(ids(), ["1", "2"])
    assert.deepStrictEqual(events.map(({ _tag }) => _tag).filter((tag) => tag !== "Watermark" && tag !== "Lag"), [
      "Connected",
      "Delivered",
      "Delivered",
      "KeepAlive",
      "Unreadable"
    ])
  })

  test("calls onEvent with an event after an item once the loop has finished the item")(function*() {
    const service = streaming(accept)
    const client = yield* Layer.build(service.layer())
    const log: Array<string> = []
    const onEvent = ({ _tag }: { readonly _tag: string }) => void log.push(_tag)
    const items = Streaming.items(streamPosts.definition, {}, { onEvent })
    yield* Effect.forkScoped(
      Effect.provide(
        Stream.runForEach(items, (item) =>
          Effect.andThen(
            Effect.sleep("1 second"),
            Effect.sync(() => log.push(idOf(item)))
          )),
        client
      )
    )
    yield* settle
    service.lines[0]!.send(`${lineOf({ id: "1" })}garbage\r\n`)
    yield* pass(1_000)
    assert.deepStrictEqual(log.filter((entry) => entry === "1" || entry === "Unreadable"), ["1", "Unreadable"])
  })

  test("reports a line that does not end, and reconnects")(function*() {
    const service = streaming(accept)
    const { of } = yield* follow(service)
    const part = "x".repeat(500_000)
    yield* pass(24_500, 500, () => service.lines[0]!.send(part))
    assert.lengthOf(of("Unreadable"), 1)
    assert.match(of("Unreadable")[0]!.reason, /longer than/)
    yield* pass(25_000, 5_000, () => service.lines[0]!.send(part))
    assert.isAbove(service.connects(), 1)
  })

  test("closes its connection when it is no longer read")(function*() {
    const service = streaming(accept)
    const { fiber } = yield* follow(service)
    assert.isFalse(service.lines[0]!.isClosed())
    yield* Fiber.interrupt(fiber)
    assert.isTrue(service.lines[0]!.isClosed())
  })
})

describe("a connection that is lost", () => {
  test("is replaced immediately, and then on the schedule of the fault")(function*() {
    const service = streaming((index) => index === 0 || index === 4 ? "accept" : "refuse")
    const { ids, of } = yield* follow(service)
    service.lines[0]!.post({ id: "1" })
    yield* settle
    service.lines[0]!.cut()
    yield* settle
    assert.strictEqual(service.connects(), 2)
    yield* pass(2_000, 100)
    assert.strictEqual(service.connects(), 5)
    service.lines[1]!.post({ id: "2" })
    yield* settle
    assert.deepStrictEqual(ids(), ["1", "2"])
    const waits = of("Reconnecting").map(({ wait }) => wait)
    assert.strictEqual(waits[0], 0)
    for (const [index, longest] of [250, 500, 750].entries()) {
      assert.isTrue(waits[index + 1]! > longest * 0.79 && waits[index + 1]! <= longest, String(waits))
    }
    assert.strictEqual(of("Connected").at(-1)?.attempt, 4)
  })

  test("is one that is silent for 25 s")(function*() {
    const service = streaming(accept)
    const { of } = yield* follow(service)
    yield* pass(20_000)
    service.lines[0]!.send("\r\n")
    yield* settle
    yield* pass(24_500)
    assert.strictEqual(service.connects(), 1)
    yield* pass(500)
    assert.isTrue(service.lines[0]!.isClosed())
    assert.strictEqual(service.connects(), 2)
    assert.match(of("Reconnecting")[0]!.why, /no data within 25000 ms/)
  })

  test("is replaced after at least 5 s if the service fails, and after a minute if it has too many requests")(
    function*() {
      const answers: ReadonlyArray<Connect> = [{ status: 503 }, { status: 503 }, { status: 429 }, "accept"]
      const service = streaming((index) => answers[index]!)
      const { of } = yield* follow(service)
      yield* pass(5_000)
      yield* pass(10_000)
      assert.strictEqual(service.connects(), 3)
      yield* pass(56_000)
      assert.strictEqual(service.connects(), 3)
      yield* pass(16_000)
      assert.strictEqual(service.connects(), 4)
      assert.lengthOf(of("Connected"), 1)
    }
  )

  test("is replaced when the rate limit resets by the service's clock, whatever the time of this machine")(function*() {
    const headers = {
      date: "Tue, 31 Dec 2024 23:50:00 GMT",
      "x-rate-limit-limit": "50",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": "1735689600"
    }
    const service = streaming((index) => index === 0 ? { status: 429, headers } : "accept")
    yield* follow(service)
    yield* pass(600_000, 10_000)
    assert.strictEqual(service.connects(), 1)
    yield* pass(5_000)
    assert.strictEqual(service.connects(), 2)
  })

  test("does not exhaust the limit on connects, however often it is cut")(function*() {
    const service = streaming(accept)
    yield* follow(service)
    let cut = 0
    for (let second = 0; second < 900; second++) {
      const line = service.lines.at(-1)!
      if (!line.isClosed()) {
        line.post({ id: String(1 + cut++) })
        yield* settle
        line.cut()
      }
      yield* pass(1_000, 1_000)
    }
    assert.isBelow(service.connects(), 50)
    assert.isAbove(service.connects(), 40)
  })

  test("does not exhaust the limit if it fails permanently, however often a program restarts it")(function*() {
    const service = streaming(() => ({ status: 409, body: { title: "No rules" } }))
    const client = yield* Layer.build(service.layer())
    let stream = yield* Effect.provide(following(), client)
    for (let second = 0; second < 900; second++) {
      if (stream.fiber.pollUnsafe() !== undefined) stream = yield* Effect.provide(following(), client)
      yield* pass(1_000, 1_000)
    }
    assert.isBelow(service.connects(), 50)
    assert.isAbove(service.connects(), 40)
  })

  test("is replaced before the end_time if the service disconnects with a notice, and otherwise ends the stream")(
    function*() {
      const service = streaming(accept)
      const { fiber, ids } = yield* follow(service, {}, streamPosts.definition, { end_time: "2026-01-01T00:00:00Z" })
      service.lines[0]!.post({ id: "1" })
      service.lines[0]!.send(`${JSON.stringify({ errors: [{ title: "t", disconnect_type: "ForceDisconnect" }] })}\r\n`)
      service.lines[0]!.end()
      yield* pass(1_000)
      assert.strictEqual(service.connects(), 2)
      service.lines[1]!.post({ id: "1" }, { id: "2" })
      service.lines[1]!.end()
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(ids(), ["1", "2"])
    }
  )

  test("ends the stream when its reconnects are used up")(function*() {
    const service = streaming((index) => index === 0 ? "accept" : "refuse")
    const { fiber, ids } = yield* follow(service, { reconnects: 2 })
    service.lines[0]!.post({ id: "1" })
    yield* settle
    service.lines[0]!.end()
    yield* pass(1_000)
    const error = yield* Effect.flip(Fiber.join(fiber))
    assert.strictEqual(error._tag, "TransportFailure")
    assert.strictEqual(service.connects(), 3)
    assert.deepStrictEqual(ids(), ["1"])
  })
})

describe("a final error", () => {
  const refusal = (title: string, more: object = {}) => ({ title, detail: `${title}.`, ...more })

  test.each(
    [
      ["Unauthorized", { status: 401, body: refusal("Unauthorized") }],
      ["Forbidden", { status: 403, body: refusal("Forbidden") }],
      ["NoRules", { status: 409, body: refusal("No rules") }],
      ["NoRules", { status: 429, body: refusal("Rules", { connection_issue: "RuleConfigurationIssue" }) }],
      ["BadRequest", { status: 400, body: refusal("Bad") }]
    ] as const
  )("%s ends all consumers")(function*([tag, answer]) {
    const service = streaming(() => answer)
    const client = yield* Layer.build(service.layer())
    const failing = Stream.runDrain(Streaming.items(streamPosts.definition, {})).pipe(
      Effect.flip,
      Effect.provide(client)
    )
    const errors = yield* Effect.all([failing, failing], { concurrency: 2 })
    assert.deepStrictEqual(errors.map(({ _tag }) => _tag), [tag, tag])
    assert.strictEqual(service.connects(), 1)
  })

  test("may be a line that reports unusable rules")(function*() {
    const service = streaming(accept)
    const { fiber, ids, of } = yield* follow(service)
    service.lines[0]!.post({ id: "1" })
    service.lines[0]!.send(
      `${JSON.stringify({ errors: [{ title: "t", detail: "d", disconnect_type: "InvalidRules" }] })}\r\n`
    )
    yield* fails(Fiber.join(fiber), Errors.NoRules, { detail: "d" })
    assert.deepStrictEqual(ids(), ["1"])
    assert.lengthOf(of("Trouble"), 1)
  })
})
