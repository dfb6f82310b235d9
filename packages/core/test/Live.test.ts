import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as Errors from "../src/errors/Errors.ts"
import { streamPosts } from "../src/streams/operations/Streams.ts"
import * as Streaming from "../src/streams/Streaming.ts"
import { accept, follow, following, idOf, pass } from "./support/Following.ts"
import { type Connect, lineOf, settle, streaming } from "./support/StreamService.ts"

describe("a stream", () => {
  it.effect("delivers what comes, and tells what happens", () =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const { events, ids } = yield* follow(service)
      service.lines[0]!.post({ id: "1" }, { id: "2" })
      yield* settle
      service.lines[0]!.send("\r\nnot json\r\n")
      yield* settle
      assert.deepStrictEqual(ids(), ["1", "2"])
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag).filter((tag) => tag !== "Watermark" && tag !== "Lag"),
        ["Connected", "Delivered", "Delivered", "KeepAlive", "Unreadable"]
      )
    }))

  it.effect("notifies onEvent of what comes after an item when the loop has done the item", () =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const client = yield* Layer.build(service.layer())
      const log: Array<string> = []
      const onEvent = ({ _tag }: { readonly _tag: string }) => void log.push(_tag)
      const items = Streaming.items(streamPosts.definition, {}, { onEvent })
      yield* Effect.forkScoped(Effect.provide(
        Stream.runForEach(
          items,
          (item) => Effect.andThen(Effect.sleep("1 second"), Effect.sync(() => log.push(idOf(item))))
        ),
        client
      ))
      yield* settle
      service.lines[0]!.send(`${lineOf({ id: "1" })}garbage\r\n`)
      yield* pass(1_000)
      assert.deepStrictEqual(log.filter((entry) => entry === "1" || entry === "Unreadable"), ["1", "Unreadable"])
    }))

  it.effect("reports a line that does not end, and connects anew", () =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const { of } = yield* follow(service)
      const part = "x".repeat(500_000)
      yield* pass(24_500, 500, () => service.lines[0]!.send(part))
      assert.lengthOf(of("Unreadable"), 1)
      assert.match(of("Unreadable")[0]!.reason, /longer than/)
      yield* pass(25_000, 5_000, () => service.lines[0]!.send(part))
      assert.isAbove(service.connects(), 1)
    }))

  it.effect("closes its connection when nobody reads it any more", () =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const { fiber } = yield* follow(service)
      assert.isFalse(service.lines[0]!.isClosed())
      yield* Fiber.interrupt(fiber)
      assert.isTrue(service.lines[0]!.isClosed())
    }))
})

describe("a connection that is lost", () => {
  it.effect("is made anew at once, and then by the schedule of what went wrong", () =>
    Effect.gen(function*() {
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
    }))

  it.effect("is one of which nothing is heard for 25 s", () =>
    Effect.gen(function*() {
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
      assert.match(of("Reconnecting")[0]!.why, /nothing came within 25000 ms/)
    }))

  it.effect("waits five seconds and more for a service that fails, a minute for one that has too many requests", () =>
    Effect.gen(function*() {
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
    }))

  it.effect("does not use up what the service allows, however often it is cut", () =>
    Effect.gen(function*() {
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
    }))

  it.effect("nor where it ends for good, however often a program asks again", () =>
    Effect.gen(function*() {
      const service = streaming(() => ({ status: 409, body: { title: "No rules" } }))
      const client = yield* Layer.build(service.layer())
      let stream = yield* Effect.provide(following(), client)
      for (let second = 0; second < 900; second++) {
        if (stream.fiber.pollUnsafe() !== undefined) stream = yield* Effect.provide(following(), client)
        yield* pass(1_000, 1_000)
      }
      assert.isBelow(service.connects(), 50)
      assert.isAbove(service.connects(), 40)
    }))

  it.effect("ends the stream when it is not to be tried any more", () =>
    Effect.gen(function*() {
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
    }))
})

describe("what is final", () => {
  const refusal = (title: string, more: object = {}) => ({ title, detail: `${title}.`, ...more })

  it.effect.each(
    [
      ["Unauthorized", { status: 401, body: refusal("Unauthorized") }],
      ["Forbidden", { status: 403, body: refusal("Forbidden") }],
      ["NoRules", { status: 409, body: refusal("No rules") }],
      ["NoRules", { status: 429, body: refusal("Rules", { connection_issue: "RuleConfigurationIssue" }) }],
      ["BadRequest", { status: 400, body: refusal("Bad") }]
    ] as const
  )("%s ends all consumers", ([tag, answer]) =>
    Effect.gen(function*() {
      const service = streaming(() => answer)
      const client = yield* Layer.build(service.layer())
      const failing = Stream.runDrain(Streaming.items(streamPosts.definition, {})).pipe(
        Effect.flip,
        Effect.provide(client)
      )
      const errors = yield* Effect.all([failing, failing], { concurrency: 2 })
      assert.deepStrictEqual(errors.map(({ _tag }) => _tag), [tag, tag])
      assert.strictEqual(service.connects(), 1)
    }))

  it.effect("a line that says that the rules are of no use", () =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const { fiber, ids, of } = yield* follow(service)
      service.lines[0]!.post({ id: "1" })
      service.lines[0]!.send(
        `${JSON.stringify({ errors: [{ title: "t", detail: "d", disconnect_type: "InvalidRules" }] })}\r\n`
      )
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.instanceOf(error, Errors.NoRules)
      assert.strictEqual(error.detail, "d")
      assert.deepStrictEqual(ids(), ["1"])
      assert.lengthOf(of("Trouble"), 1)
    }))
})
