import { assert, describe } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Latch, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Errors from "../src/errors/Errors.ts"
import { streamPosts, streamPostsFirehose, streamPostsSample } from "../src/streams/operations/Streams.ts"
import { Spill } from "../src/streams/Spill.ts"
import * as Streaming from "../src/streams/Streaming.ts"
import { accept, follow, following, idOf, pass } from "./support/Following.ts"
import { type Answer, fails, type Received } from "./support/Service.ts"
import { type Connect, lineOf, settle, streaming } from "./support/StreamService.ts"
import { test } from "./support/Test.ts"

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ id: String(from + index) }))

const ids = (from: number, to: number) => numbered(from, to).map(({ id }) => id)

describe("consumers of one client", () => {
  test("share a connection, which is closed when the last one has left")(function*() {
    const service = streaming(accept)
    const client = yield* Layer.build(service.layer())
    const one = yield* Effect.provide(following(), client)
    const other = yield* Effect.provide(following({ tags: ["cats"] }), client)
    assert.strictEqual(service.connects(), 1)
    service.lines[0]!.post({ id: "1", tags: ["dogs"] }, { id: "2", tags: ["cats", "dogs"] }, { id: "3", tags: [] })
    yield* settle
    assert.deepStrictEqual(one.ids(), ["1", "2", "3"])
    assert.deepStrictEqual(other.ids(), ["2"])
    yield* Fiber.interrupt(one.fiber)
    assert.isFalse(service.lines[0]!.isClosed())
    service.lines[0]!.post({ id: "4", tags: ["cats"] })
    yield* settle
    assert.deepStrictEqual(other.ids(), ["2", "4"])
    yield* Fiber.interrupt(other.fiber)
    assert.isTrue(service.lines[0]!.isClosed())
    yield* Effect.provide(following(), client)
    assert.strictEqual(service.connects(), 2)
  })

  test("have separate connections for different parameters")(function*() {
    const service = streaming(accept)
    const client = yield* Layer.build(service.layer())
    yield* Effect.provide(following(), client)
    yield* Effect.provide(following({}, streamPosts.definition, { post_fields: ["lang"] }), client)
    yield* Effect.provide(following({}, streamPostsSample.definition), client)
    assert.strictEqual(service.connects(), 3)
  })

  test("are not blocked by one that is too slow, which fails after its queued items")(function*() {
    const service = streaming(accept)
    const client = yield* Layer.build(service.layer())
    const gate = yield* Deferred.make<void>()
    const slow = yield* Effect.provide(
      following({ bufferSize: 3 }, undefined, undefined, () => Deferred.await(gate)),
      client
    )
    const quick = yield* Effect.provide(following({ bufferSize: 3 }), client)
    for (const { id } of numbered(1, 10)) {
      service.lines[0]!.post({ id })
      yield* settle
    }
    assert.deepStrictEqual(quick.ids(), ids(1, 10))
    yield* Deferred.succeed(gate, undefined)
    yield* fails(Fiber.join(slow.fiber), Errors.StreamOverflow, { bufferSize: 3 })
    assert.deepStrictEqual(slow.ids(), ids(1, slow.ids().length))
    assert.isFalse(service.lines[0]!.isClosed())
  })

  test("can resume from different times without duplicates")(function*() {
    yield* TestClock.setTime(100_000)
    const post = (id: number) => ({
      id: String(id),
      text: "x",
      created_at: new Date(100_000 + id * 1_000).toISOString()
    })
    const service = streaming(
      accept,
      (path) =>
        path.endsWith("/rules")
          ? { body: { data: [{ id: "1", value: "x" }], meta: {} } }
          : { body: { data: [4, 3, 2, 1].map(post), meta: { result_count: 4 } } }
    )
    const client = yield* Layer.build(service.layer())
    const first = yield* Effect.provide(following({ recover: "search" }), client)
    service.lines[0]!.post(post(1), post(2), post(3))
    yield* pass(4_000, 1_000)
    const resumeFrom = { at: new Date(100_000), ids: ["1"] }
    const second = yield* Effect.provide(following({ recover: "search", resumeFrom }), client)
    service.lines[0]!.post(post(4), post(5))
    yield* pass(40_000, 5_000, () => service.lines[0]!.send("\r\n"))
    assert.strictEqual(service.connects(), 1)
    assert.deepStrictEqual(first.ids(), ids(1, 5))
    assert.deepStrictEqual([...second.ids()].sort(), ids(2, 5))
    assert.lengthOf(first.of("Gap"), 0)
    assert.deepStrictEqual(second.of("Gap").map(({ filledBy }) => filledBy), ["search"])
    // Watermarks do not pass items that are still being fetched.
    const [early] = second.of("Watermark")
    assert.isTrue(early === undefined || early.until.getTime() <= 100_000 || early.at.getTime() > 134_000)
  })
})

describe("a consumer that resumes before the first connection is made", () => {
  test("gets the items up to the connection")(function*() {
    yield* TestClock.setTime(100_000)
    const found = { id: "1", text: "x", created_at: new Date(103_000).toISOString() }
    const ends: Array<number> = []
    const service = streaming((index) => index === 0 ? { status: 503 } : "accept", (path, { end_time = "" }) => {
      if (path.endsWith("/rules")) return { body: { data: [{ id: "1", value: "x" }], meta: {} } }
      ends.push(Date.parse(end_time))
      return { body: { data: [found], meta: { result_count: 1 } } }
    })
    const client = yield* Layer.build(service.layer())
    yield* Effect.provide(following({ recover: "search" }), client)
    const late = yield* Effect.provide(following({ recover: "search", resumeFrom: { at: new Date(90_000) } }), client)
    yield* pass(50_000, 5_000, () => service.lines[0]?.send("\r\n"))
    assert.deepStrictEqual(late.ids(), ["1"])
    assert.isAbove(ends[0]!, 104_000)
    assert.deepStrictEqual(late.of("Gap").map(({ filledBy }) => filledBy), ["search"])
  })
})

describe("a slow consumer", () => {
  /** A consumer that takes nothing until it is released. */
  const slowly = (options: Parameters<typeof following>[0], layer: Layer.Layer<never> = Layer.empty) =>
    Effect.gen(function*() {
      const service = streaming(accept)
      const gate = yield* Deferred.make<void>()
      const client = yield* Layer.build(Layer.merge(service.layer(), layer))
      const slow = yield* Effect.provide(following(options, undefined, undefined, () => Deferred.await(gate)), client)
      return { service, slow, release: Effect.andThen(Deferred.succeed(gate, undefined), settle) }
    })

  const posting = ({ lines }: ReturnType<typeof streaming>, last: number, each: Effect.Effect<void> = settle) =>
    Effect.forEach(numbered(1, last), (post) => Effect.andThen(Effect.sync(() => lines[0]!.post(post)), each))

  /** The same with items in `queue`, of which at most `atOnce` are taken. */
  const spilling = Effect.fnUntraced(function*(bufferSize: number, atOnce?: number) {
    const queue: Array<string> = []
    const open = Effect.succeed({
      append: (texts: ReadonlyArray<string>) => Effect.sync(() => void queue.push(...texts)),
      take: Effect.sync(() => queue.splice(0, atOnce ?? queue.length))
    })
    return { queue, ...yield* slowly({ bufferSize, slowConsumer: "spill" }, Layer.succeed(Spill, Spill.of({ open }))) }
  })

  test("delays the connection if it is alone, and fails after 20 s")(function*() {
    const { release, service, slow } = yield* slowly({ bufferSize: 10 })
    yield* posting(service, 15)
    yield* pass(19_000, 1_000)
    yield* release
    assert.deepStrictEqual(slow.ids(), ids(1, 15))
    const again = yield* slowly({ bufferSize: 10 })
    yield* posting(again.service, 15)
    yield* pass(20_000, 1_000)
    yield* again.release
    yield* fails(Fiber.join(again.slow.fiber), Errors.StreamOverflow)
    assert.isTrue(again.service.lines[0]!.isClosed())
  })

  test("can drop the oldest items, which are counted")(function*() {
    const { release, service, slow } = yield* slowly({ bufferSize: 10, slowConsumer: "dropOldest" })
    for (const post of numbered(1, 1_000)) {
      service.lines[0]!.post(post)
      if (Number(post.id) % 50 === 0) yield* settle
    }
    yield* release
    const dropped = slow.of("Dropped").reduce((sum, { count }) => sum + count, 0)
    assert.isAbove(dropped, 900)
    assert.strictEqual(dropped + slow.ids().length, 1_000)
    assert.strictEqual(slow.ids().at(-1), "1000")
  })

  test("can keep items outside of memory, in order")(function*() {
    const { queue, release, service, slow } = yield* spilling(10, 7)
    yield* posting(service, 200)
    assert.isAbove(queue.length, 180)
    yield* release
    service.lines[0]!.post({ id: "201" })
    yield* settle
    assert.deepStrictEqual(slow.ids(), ids(1, 201))
    assert.lengthOf(queue, 0)
  })

  test("gets events from outside of memory with dates")(function*() {
    const { queue, release, service, slow } = yield* spilling(1)
    yield* posting(service, 6, pass(10_000, 5_000))
    assert.isTrue(queue.some((text) => text.includes("Watermark")))
    yield* release
    for (const { serviceAt, until } of slow.of("Watermark")) {
      assert.instanceOf(serviceAt, Date)
      assert.instanceOf(until, Date)
    }
  })

  test("loses no items if the connection is lost while another consumer's disk is slow")(function*() {
    let isRefused = false
    const service = streaming(() => isRefused ? { status: 403, body: { title: "Forbidden" } } : "accept")
    const disk = yield* Latch.make(true)
    const disks = [disk, yield* Latch.make(true)]
    const open = Effect.sync(() => {
      const items: Array<string> = []
      const { await: isFast } = disks.shift()!
      return {
        append: (texts: ReadonlyArray<string>) => Effect.andThen(isFast, Effect.sync(() => void items.push(...texts))),
        take: Effect.sync(() => items.splice(0))
      }
    })
    const client = yield* Layer.build(Layer.merge(service.layer(), Layer.succeed(Spill, Spill.of({ open }))))
    const gate = yield* Deferred.make<void>()
    const slowly = Effect.provide(
      following(
        { slowConsumer: "spill", bufferSize: 1 },
        undefined,
        undefined,
        ({ _tag }) => _tag === "Delivered" ? Deferred.await(gate) : Effect.void
      ),
      client
    )
    const both = [yield* slowly, yield* slowly]
    const post = (id: string) => Effect.andThen(Effect.sync(() => service.lines.at(-1)!.post({ id })), settle)
    yield* Effect.forEach(ids(1, 3), post)
    yield* disk.close
    yield* post("4")
    // Nothing is read meanwhile, so the connection is lost.
    yield* pass(30_000, 1_000)
    yield* disk.open
    yield* pass(1_000)
    assert.strictEqual(service.connects(), 2)
    yield* Effect.forEach(ids(5, 6), post)
    yield* Deferred.succeed(gate, undefined)
    yield* settle
    isRefused = true
    service.lines.at(-1)!.cut()
    yield* pass(5_000)
    for (const { fiber, ids: delivered } of both) {
      assert.deepStrictEqual(delivered(), ids(1, 6))
      yield* fails(Fiber.join(fiber), Errors.Forbidden)
    }
  })

  test("skips lines that are nested too deep to be kept outside of memory")(function*() {
    const { release, service, slow } = yield* spilling(1)
    const deep = `{"data":{"id":"2","text":"x","deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}}\r\n`
    for (const line of [lineOf({ id: "1" }).repeat(3), deep, lineOf({ id: "3" })]) {
      service.lines[0]!.send(line)
      yield* settle
    }
    yield* release
    assert.deepStrictEqual(slow.ids(), ["1", "3"])
    assert.lengthOf(slow.of("Unreadable"), 1)
  })

  test("fails if its storage is damaged")(function*() {
    const open = Effect.succeed({ append: () => Effect.void, take: Effect.succeed(["p{\"data\":"]) })
    const { release, service, slow } = yield* slowly(
      { bufferSize: 1, slowConsumer: "spill" },
      Layer.succeed(Spill, Spill.of({ open }))
    )
    service.lines[0]!.post({ id: "1" }, { id: "2" }, { id: "3" })
    yield* settle
    yield* release
    yield* fails(Fiber.join(slow.fiber), Errors.SpillFailed, { fault: "damaged" })
  })

  test("cannot spill without storage")(function*() {
    const service = streaming(accept)
    const spilled = Stream.runDrain(Streaming.items(streamPosts.definition, {}, { slowConsumer: "spill" }))
    yield* fails(Effect.provide(spilled, service.layer()), Errors.InvalidParameters, { parameter: "slowConsumer" })
    assert.strictEqual(service.connects(), 0)
  })
})

describe("too many connections", () => {
  const crowded: Answer = {
    status: 429,
    headers: { "x-rate-limit-limit": "50", "x-rate-limit-remaining": "48", "x-rate-limit-reset": "900" },
    body: {
      title: "ConnectionException",
      detail: "This stream is currently at the maximum allowed connection limit.",
      connection_issue: "TooManyConnections",
      type: "https://service.test/problems/streaming-connection"
    }
  }

  interface Held {
    readonly id: string
    readonly connected_at: string
  }

  /** A service that refuses connections while any are held, and lists held and ended ones. */
  const holding = (held: Array<Held>, ended: ReadonlyArray<Held> = []) => {
    const killed: Array<string> = []
    const connect = (): Connect => held.length > 0 ? crowded : "accept"
    const other = (path: string, { status }: Received["query"], body: string): Answer => {
      if (!path.endsWith("/connections")) return { status: 404 }
      if (body === "") {
        const listed = status === "inactive"
          ? ended.map((connection) => ({ ...connection, disconnected_at: connection.connected_at }))
          : held
        return {
          body: {
            data: listed.map((connection) => ({
              ...connection,
              endpoint_name: "filtered_stream",
              client_ip: "192.0.2.1"
            })),
            meta: { result_count: listed.length }
          }
        }
      }
      const { uuids }: { readonly uuids: ReadonlyArray<string> } = JSON.parse(body)
      killed.push(...uuids)
      held.splice(0, held.length, ...held.filter(({ id }) => !uuids.includes(id)))
      return { body: { data: { successful_kills: uuids.length, failed_kills: 0 } } }
    }
    return { service: streaming(connect, other), killed, held }
  }

  test.each([["ends", true], ["stays", false]] as const)(
    "wait for an older one of another program, which is not ended: it %s"
  )(function*([, ends]) {
    yield* TestClock.setTime(100_000)
    const { held, killed, service } = holding([{ id: "old", connected_at: new Date(40_000).toISOString() }])
    const { fiber, of } = yield* follow(service)
    yield* pass(60_000, 5_000)
    assert.lengthOf(of("Connected"), 0)
    if (ends) held.splice(0)
    yield* pass(400_000, 5_000)
    assert.deepStrictEqual(killed, [])
    if (ends) assert.isAbove(of("Connected").length, 0)
    else yield* fails(Fiber.join(fiber), Errors.TooManyConnections)
  })

  test("are reduced by ending the lost one, and no other")(function*() {
    yield* TestClock.setTime(100_000)
    const { held, killed, service } = holding([])
    const { of } = yield* follow(service)
    yield* pass(10_000)
    held.push({ id: "other", connected_at: new Date(40_000).toISOString() })
    held.push({ id: "own", connected_at: new Date(101_000).toISOString() })
    service.lines[0]!.cut()
    yield* pass(2_000)
    assert.deepStrictEqual(killed, ["own"])
    held.splice(0)
    yield* pass(10_000)
    assert.lengthOf(of("Connected"), 2)
    assert.deepStrictEqual(killed, ["own"])
  })

  test("are reduced by ending one that an earlier loop of the client has left")(function*() {
    yield* TestClock.setTime(100_000)
    const { held, killed, service } = holding([])
    const client = yield* Layer.build(service.layer())
    const first = yield* Effect.provide(following(), client)
    yield* pass(10_000)
    held.push({ id: "left", connected_at: new Date(100_000).toISOString() })
    yield* Fiber.interrupt(first.fiber)
    const other = yield* Effect.provide(following({}, streamPosts.definition, { post_fields: ["lang"] }), client)
    yield* pass(2_000)
    assert.deepStrictEqual(killed, ["left"])
    assert.lengthOf(other.of("Connected"), 1)
  })

  test.each(
    [{ what: "made after this client's ended", lived: 1_000, held: { other: 103_000 }, ended: {} }, {
      what: "made beside this client's, which is gone",
      lived: 10_000,
      held: { other: 101_000 },
      ended: { own: 100_000 }
    }, { what: "made beside this client's", lived: 10_000, held: { other: 101_000, own: 100_000 }, ended: {} }] as const
  )("do not end a connection of another program $what")(function*({ ended, held: then, lived }) {
    yield* TestClock.setTime(100_000)
    const listed = (times: Readonly<Record<string, number>>) =>
      Object.entries(times).map(([id, time]) => ({ id, connected_at: new Date(time).toISOString() }))
    const { held, killed, service } = holding([], listed(ended))
    const { of } = yield* follow(service)
    yield* pass(lived)
    held.push(...listed(then))
    service.lines[0]!.cut()
    yield* pass(30_000)
    assert.deepStrictEqual(killed, [])
    assert.lengthOf(of("Connected"), 1)
  })

  test("are reduced by ending the last of several short ones")(function*() {
    yield* TestClock.setTime(100_000)
    const ended: Array<Held> = []
    const { held, killed, service } = holding([], ended)
    const { of } = yield* follow(service)
    for (const [index, id] of ["first", "second"].entries()) {
      ended.push({ id, connected_at: new Date(yield* Clock.currentTimeMillis).toISOString() })
      service.lines[index]!.cut()
      yield* pass(500)
    }
    assert.lengthOf(of("Connected"), 3)
    held.push({ id: "lost", connected_at: new Date(100_500).toISOString() })
    yield* pass(10_000)
    service.lines[2]!.cut()
    yield* pass(10_000)
    assert.deepStrictEqual(killed, ["lost"])
    assert.lengthOf(of("Connected"), 4)
  })

  test("are an error with their holders if they are newer")(function*() {
    yield* TestClock.setTime(100_000)
    const since = 100_001
    const { killed, service } = holding([{ id: "other", connected_at: new Date(since).toISOString() }])
    const { fiber } = yield* follow(service)
    const error = yield* fails(Fiber.join(fiber), Errors.TooManyConnections)
    assert.deepStrictEqual(error.connections, [{
      id: "other",
      endpoint: "filtered_stream",
      since: new Date(since),
      clientIp: "192.0.2.1"
    }])
    assert.deepStrictEqual(killed, [])
    assert.strictEqual(service.connects(), 1)
  })

  test("are waited for if the service lists none, or if their owner is unknown")(function*() {
    yield* TestClock.setTime(100_000)
    let refusals = 3
    const empty = streaming(() => refusals-- > 0 ? crowded : "accept", () => ({ body: { meta: { result_count: 0 } } }))
    const { of } = yield* follow(empty, { reconnects: 0 })
    yield* pass(40_000, 1_000)
    assert.lengthOf(of("Connected"), 1)
    const { killed, service } = holding([{ id: "part", connected_at: new Date(40_000).toISOString() }])
    const parts = yield* follow(service, {}, streamPostsFirehose.definition, { partition: 1 })
    yield* pass(400_000, 5_000)
    yield* fails(Fiber.join(parts.fiber), Errors.TooManyConnections)
    assert.deepStrictEqual(killed, [])
    assert.isAbove(service.connects(), 5)
  })

  test("are never reduced by ending one of the client's other streams")(function*() {
    yield* TestClock.setTime(100_000)
    const { held, killed, service } = holding([])
    const client = yield* Layer.build(service.layer())
    const first = yield* Effect.provide(following(), client)
    held.push({ id: "first", connected_at: new Date(100_000).toISOString() })
    yield* pass(60_000, 20_000, () => service.lines[0]!.send("\r\n"))
    const second = yield* Effect.provide(following({}, streamPosts.definition, { post_fields: ["lang"] }), client)
    yield* fails(Fiber.join(second.fiber), Errors.TooManyConnections)
    assert.deepStrictEqual(killed, [])
    service.lines[0]!.post({ id: "1" })
    yield* settle
    assert.deepStrictEqual(first.of("Delivered").map(({ item }) => idOf(item)), ["1"])
  })
})
