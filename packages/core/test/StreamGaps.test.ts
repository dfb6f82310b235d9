import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer, Metric, Stream } from "effect"
import { TestClock } from "effect/testing"
import { StreamOverflow } from "../src/errors/StreamErrors.ts"
import * as Metrics from "../src/runtime/Metrics.ts"
import { StreamClock } from "../src/streams/internal/clock.ts"
import { Coverage } from "../src/streams/internal/coverage.ts"
import * as Gaps from "../src/streams/internal/gaps.ts"
import { streamPosts, streamPostsFirehose, streamPostsSample } from "../src/streams/operations/Streams.ts"
import * as Streaming from "../src/streams/Streaming.ts"
import type { StreamOptions } from "../src/streams/StreamOptions.ts"
import { accept, follow, following, idOf, pass } from "./support/Following.ts"
import type { Outcome } from "./support/Service.ts"
import { type Posted, settle, streaming } from "./support/StreamService.ts"
import { test } from "./support/Test.ts"

const at = (millis: number) => new Date(millis).toISOString()

const posted = (id: number, millis: number, ...tags: ReadonlyArray<string>): Posted => ({
  id: String(id),
  created_at: at(millis),
  ...(tags.length === 0 ? {} : { tags })
})

/** A search over posts by their words, and the rules of the app. */
const searching = (
  posts: () => ReadonlyArray<Posted & { readonly text: string }>,
  rules: ReadonlyArray<{ readonly id: string; readonly value: string; readonly tag?: string }>
) => {
  const searches: Array<Readonly<Record<string, string>>> = []
  return {
    searches,
    answer: (path: string, query: Readonly<Record<string, string>>) => {
      if (path.endsWith("/rules")) return { body: { data: rules, meta: { sent: at(0) } } }
      if (!path.endsWith("/search/recent")) return { status: 404 }
      searches.push(query)
      const before = query["next_token"] === undefined ? Infinity : Number(query["next_token"])
      const found = posts().filter(({ created_at = "", id, text }) =>
        text.includes(query["query"]!) && created_at >= at(Date.parse(query["start_time"]!)) &&
        created_at < at(Date.parse(query["end_time"]!)) && Number(id) < before
      ).sort((one, other) => Number(other.id) - Number(one.id))
      const page = found.slice(0, 2)
      return {
        body: {
          data: page.map(({ tags: _, ...post }) => post),
          meta: { result_count: page.length, ...(found.length > 2 ? { next_token: page.at(-1)!.id } : {}) }
        }
      }
    }
  }
}

/** A loop that processes its first item until the gate opens. */
const stuckLoop = (options: StreamOptions, gate: Effect.Effect<void> = Effect.never) =>
  Effect.gen(function*() {
    const ids: Array<string> = []
    const fiber = yield* Streaming.items(streamPosts.definition, {}, { recover: "search", ...options }).pipe(
      Stream.runForEach((item) => {
        ids.push(idOf(item))
        return gate
      }),
      Effect.forkScoped
    )
    yield* settle
    return { fiber, ids }
  })

describe("a gap", () => {
  test("is counted, as are the items and the new connections of a stream")(function*() {
    const counts = yield* Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const service = streaming(accept)
      yield* follow(service, { recover: "none" })
      service.lines[0]!.post(posted(1, 1_000_000), posted(2, 1_000_000), posted(2, 1_000_000))
      yield* pass(30_000, 10_000, () => service.lines[0]!.send("\r\n"))
      service.lines[0]!.cut()
      yield* pass(2_000, 100)
      const operation = { "postwire.operation": "streamPosts" }
      return yield* Effect.forEach([
        Metrics.streamItems.of(operation),
        Metrics.streamReconnects.of(operation),
        Metrics.streamGaps.of({ ...operation, "postwire.gap.filled_by": "nothing" })
      ], (metric) => Effect.map(Metric.value(metric), ({ count }) => count))
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    assert.deepStrictEqual(counts, [2, 1, 1])
  })

  test("is reported if it is not to be fetched")(function*() {
    yield* TestClock.setTime(1_000_000)
    const service = streaming((index) => index === 0 || index > 2 ? "accept" : "refuse")
    const { of } = yield* follow(service, { recover: "none" })
    yield* pass(30_000, 10_000, () => service.lines[0]!.send("\r\n"))
    service.lines[0]!.cut()
    yield* pass(2_000, 100)
    const [gap] = of("Gap")
    assert.deepStrictEqual({ ...gap, from: gap!.from.getTime(), to: gap!.to.getTime() > 1_030_000, at: 0 }, {
      _tag: "Gap",
      at: 0,
      from: 1_015_000,
      to: true,
      filledBy: undefined,
      why: "recover is none"
    })
  })

  test("is filled by a search for each rule once posts are indexed, each post once with all its rules")(function*() {
    yield* TestClock.setTime(1_000_000)
    const posts: Array<Posted & { readonly text: string }> = []
    for (let id = 1; id <= 20; id++) {
      posts.push({
        ...posted(id, 1_000_000 + id * 1_000),
        text: id % 3 === 0 ? "cat dog" : id % 2 === 0 ? "cat" : "dog"
      })
    }
    const { answer, searches } = searching(() => posts, [{ id: "1", value: "cat", tag: "cats" }, {
      id: "2",
      value: "dog",
      tag: "dogs"
    }, { id: "3", value: "cat sample:10", tag: "few" }])
    const service = streaming(accept, answer)
    const { delivered, ids, of } = yield* follow(service, { recover: "search" })
    yield* pass(5_000, 1_000)
    service.lines[0]!.post(posts[0]!, posts[1]!, posts[2]!)
    yield* settle
    service.lines[0]!.cut()
    yield* settle
    // A post from before the cut may arrive late.
    service.lines[1]!.post(posts[4]!)
    yield* pass(29_000, 1_000, () => service.lines[1]!.send("\r\n"))
    assert.lengthOf(searches, 0)
    yield* pass(4_000, 1_000)
    assert.isAbove(searches.length, 3)
    // The gap ends a second after the new connection, which is made at 5 s.
    assert.deepStrictEqual(ids(), ["1", "2", "3", "5", "4"])
    assert.deepStrictEqual(delivered().at(-1)?.tags, ["cats"])
    const [gap] = of("Gap")
    assert.isUndefined(gap!.filledBy)
    assert.match(gap!.why!, /few/)
  })

  test("is reported as filled, with all rules of a post that several searches find")(function*() {
    yield* TestClock.setTime(1_000_000)
    const posts = Array.from(
      { length: 12 },
      (_, index) => ({
        ...posted(index + 1, 1_000_000 + index * 400),
        text: index % 4 === 0 ? "cat dog" : index % 2 === 0 ? "cat" : "dog"
      })
    )
    const { answer } = searching(() => posts, [{ id: "1", value: "cat", tag: "cats" }, {
      id: "2",
      value: "dog",
      tag: "dogs"
    }])
    const service = streaming(accept, answer)
    const { delivered, of } = yield* follow(service, {
      recover: "search",
      resumeFrom: { at: new Date(1_000_000), ids: ["1", "2"] }
    })
    yield* pass(6_000, 1_000)
    service.lines[0]!.cut()
    yield* pass(40_000, 1_000, () => service.lines.at(-1)!.send("\r\n"))
    assert.sameMembers(delivered().map(({ id }) => id), posts.slice(2).map(({ id }) => id))
    assert.deepStrictEqual(delivered().find(({ id }) => id === "9")?.tags, ["cats", "dogs"])
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["search", "search"])
  })

  test("is filled first by backfill, without duplicates")(function*() {
    yield* TestClock.setTime(10_000_000)
    const service = streaming((index) => index === 0 || index > 3 ? "accept" : "refuse")
    const { ids, of } = yield* follow(service, { recover: "recovery" }, streamPostsSample.definition)
    service.lines[0]!.post(posted(1, 10_000_000), posted(2, 10_000_000))
    yield* settle
    service.lines[0]!.cut()
    yield* pass(2_000, 100)
    assert.strictEqual(service.lines[1]!.query["backfill_minutes"], "2")
    // Neither an empty line at the start nor a new post among old ones ends the backfill.
    service.lines[1]!.send("\r\n")
    service.lines[1]!.post(posted(2, 10_000_000), posted(3, 10_001_000))
    yield* settle
    assert.lengthOf(of("Gap"), 0)
    service.lines[1]!.post(posted(4, 10_010_000))
    yield* settle
    assert.deepStrictEqual(ids(), ["1", "2", "3", "4"])
    assert.deepStrictEqual(of("Duplicate").map(({ id }) => id), ["2"])
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["backfill"])
  })

  test("is requested again if the connection is lost before the backfill ends")(function*() {
    yield* TestClock.setTime(10_000_000)
    const service = streaming(accept)
    const { of } = yield* follow(service, { recover: "recovery" }, streamPostsFirehose.definition, { partition: 1 })
    yield* pass(60_000, 10_000, () => service.lines[0]!.send("\r\n"))
    service.lines[0]!.cut()
    yield* settle
    service.lines[1]!.post(posted(1, 10_000_001))
    yield* pass(100_000, 10_000, () => service.lines[1]!.post(posted(2, 10_000_002)))
    service.lines[1]!.send("\r\n")
    yield* settle
    // The backfill may take any time as long as old posts arrive.
    assert.lengthOf(of("Gap"), 0)
    yield* pass(20_000, 10_000)
    service.lines[1]!.send("\r\n")
    yield* settle
    assert.lengthOf(of("Gap"), 1)
    service.lines[1]!.cut()
    yield* settle
    service.lines[2]!.cut()
    yield* pass(1_000, 100)
    assert.lengthOf(of("Gap"), 1)
    yield* pass(20_000, 10_000)
    service.lines[3]!.send("\r\n")
    yield* settle
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["backfill", "backfill"])
    assert.isBelow(of("Gap")[1]!.from.getTime(), 10_180_000 - 59_000)
  })

  test("ends on a busy stream whose posts have no time")(function*() {
    yield* TestClock.setTime(10_000_000)
    const service = streaming(accept)
    const { of } = yield* follow(service, { recover: "recovery" }, streamPostsSample.definition)
    service.lines[0]!.cut()
    yield* settle
    assert.strictEqual(service.lines[1]!.query["backfill_minutes"], "1")
    let id = 0
    yield* pass(300_000, 1_000, () => service.lines[1]!.post({ id: String(++id) }, { id: String(++id) }))
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["backfill"])
    assert.isAbove(of("Watermark").at(-1)!.until.getTime(), 10_200_000)
  })

  const hour = 3_600_000

  test.each(
    [["second", "behind", [0, -hour, 0]], ["second", "ahead", [0, hour, 0]], ["first", "behind", [-hour, 0, 0]], [
      "first",
      "ahead",
      [hour, 0, 0]
    ]] as const
  )("is filled if the clock of the %s connection is an hour %s")(function*([which, , skews]) {
    const begun = 10_000_000
    yield* TestClock.setTime(begun)
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const now = () => clock.currentTimeMillisUnsafe()
    const found = [1, 2].map((id) => ({ ...posted(id, begun + id * 30_500), text: "cat" }))
    const { answer, searches } = searching(() => found, [{ id: "1", value: "cat" }])
    const service = streaming(accept, answer, () => now() + skews[service.lines.length - 1]!)
    const { ids, of } = yield* follow(service, { recover: "search" })
    const beat = () => service.lines.at(-1)!.send("\r\n")
    yield* pass(30_000, 5_000, beat)
    service.lines[0]!.cut()
    yield* pass(60_000, 5_000, beat)
    service.lines[1]!.cut()
    yield* pass(60_000, 5_000, beat)
    assert.deepStrictEqual(ids(), ["1"])
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["search", "search"])
    for (const { end_time, start_time } of searches) {
      assert.isBelow(Date.parse(end_time!), now())
      assert.isAbove(Date.parse(start_time!), begun - (which === "first" ? hour : 0))
    }
    if (which === "first") return
    for (const { until } of of("Watermark")) assert.isAtMost(until.getTime(), now())
    assert.isAbove(of("Watermark").at(-1)!.until.getTime(), begun + 120_000)
  })

  test("is measured by the clock on which two connections agree")(function*() {
    yield* TestClock.setTime(10_000_000)
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const { answer, searches } = searching(() => [], [{ id: "1", value: "cat" }])
    const skews = [0, hour, hour]
    const service = streaming(accept, answer, () => clock.currentTimeMillisUnsafe() + skews[service.lines.length - 1]!)
    yield* follow(service, { recover: "search" })
    const beat = () => service.lines.at(-1)!.send("\r\n")
    for (let cut = 0; cut < 2; cut++) {
      yield* pass(30_000, 5_000, beat)
      service.lines.at(-1)!.cut()
      yield* pass(40_000, 5_000, beat)
    }
    assert.deepStrictEqual(
      searches.map(({ start_time }) => Math.floor((Date.parse(start_time!) - 10_000_000) / hour)),
      [0, 1]
    )
  })

  test.each([["has slept", hour, hour], ["has its clock set", hour, 0]] as const)(
    "is measured by the service's clock if this machine %s"
  )(function*([, own, served]) {
    let [wall, monotonic] = [10_000_000, 0]
    const clock: Clock.Clock = {
      ...(yield* Clock.Clock),
      currentTimeMillisUnsafe: () => wall,
      monotonicTimeNanosUnsafe: () => BigInt(monotonic) * 1_000_000n
    }
    const streamClock = new StreamClock(clock)
    const coverage = new Coverage(streamClock, streamPosts.definition, "search", undefined)
    const connected = (time: number) => coverage.connected({ date: new Date(time).toUTCString() }, undefined)
    const before = wall
    connected(before)
    coverage.lost()
    wall += own + 20_000
    monotonic += 20_000
    const missed = connected(before + served + 20_000)
    assert.closeTo(missed!.to - missed!.from, served + 21_000, 1_000)
    assert.closeTo(streamClock.service(), before + served + 20_000, 1_000)
  })

  test("is not filled by backfill if the app has no access to it")(function*() {
    const service = streaming(
      (index) => index === 1 ? { status: 403, body: { title: "Forbidden" } } : "accept",
      (path) => path.endsWith("/rules") ? { body: { data: [], meta: {} } } : { status: 404 }
    )
    const { of } = yield* follow(service, { recover: "recovery" })
    service.lines[0]!.cut()
    yield* settle
    assert.strictEqual(service.requests[1]!.query["backfill_minutes"], "1")
    assert.isUndefined(service.lines[1]!.query["backfill_minutes"])
    yield* pass(40_000, 5_000, () => service.lines[1]!.send("\r\n"))
    assert.lengthOf(of("Connected"), 2)
  })

  test("is requested again if the service breaks its recovery off with a reason")(function*() {
    yield* TestClock.setTime(10_000_000)
    const service = streaming(accept)
    const resumeFrom = { at: new Date(10_000_000 - 600_000) }
    const { ids, of } = yield* follow(service, { recover: "recovery", resumeFrom })
    const beat = () => service.lines[0]!.send("\r\n")
    const error = JSON.stringify({ errors: [{ title: "t", disconnect_type: "OperationalDisconnect" }] })
    yield* pass(40_000, 5_000, beat)
    assert.property(service.lines[1]!.query, "start_time")
    service.lines[1]!.post(posted(1, 9_500_000))
    service.lines[1]!.send(`${error}\r\n`)
    service.lines[1]!.end()
    yield* pass(10_000, 5_000, beat)
    assert.lengthOf(of("Gap"), 0)
    // The second request starts near the last post, less the time by which posts may be late.
    assert.strictEqual(Date.parse(service.lines[2]!.query["start_time"]!), 9_485_000)
    service.lines[2]!.post(posted(1, 9_500_000), posted(2, 9_995_000))
    service.lines[2]!.end()
    yield* settle
    assert.deepStrictEqual(ids(), ["1", "2"])
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["recovery"])
  })

  test("is requested again if its recovery ends halfway without a reason")(function*() {
    yield* TestClock.setTime(10_000_000)
    const service = streaming(accept)
    const resumeFrom = { at: new Date(10_000_000 - 600_000) }
    const { ids, of } = yield* follow(service, { recover: "recovery", resumeFrom })
    yield* pass(40_000, 5_000, () => service.lines[0]!.send("\r\n"))
    service.lines[1]!.post(posted(1, 9_402_000))
    service.lines[1]!.end()
    yield* settle
    assert.lengthOf(of("Gap"), 0)
    service.lines[2]!.post(posted(1, 9_402_000), posted(2, 9_600_000))
    service.lines[2]!.end()
    yield* settle
    assert.lengthOf(of("Gap"), 0)
    // A third request yields nothing new.
    service.lines[3]!.post(posted(2, 9_600_000))
    service.lines[3]!.end()
    yield* settle
    assert.deepStrictEqual(ids(), ["1", "2"])
    assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["recovery"])
  })

  test("is searched for once if the connection is cut again and again")(function*() {
    yield* TestClock.setTime(1_000_000)
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const found: Array<Posted & { readonly text: string }> = []
    const { answer, searches } = searching(() => found, [{ id: "1", value: "cat" }])
    const service = streaming(accept, answer)
    const { ids, of } = yield* follow(service, { recover: "search" })
    for (let id = 1; id <= 10; id++) {
      found.push({ ...posted(id, clock.currentTimeMillisUnsafe()), text: "cat" })
      yield* pass(2_000, 1_000, () => service.lines.at(-1)!.send("\r\n"))
      service.lines.at(-1)!.cut()
      yield* settle
    }
    yield* pass(60_000, 5_000, () => service.lines.at(-1)!.send("\r\n"))
    assert.sameMembers(ids(), found.map(({ id }) => id))
    assert.lengthOf(of("Gap"), 2)
    assert.isBelow(searches.length, 10)
  })

  test.each([["its search is refused", { status: 401 }], ["its connection fails permanently", Effect.never]] as const)(
    "does not keep a blocked loop from ending when %s"
  )(function*([, dogs]) {
    yield* TestClock.setTime(1_000_000)
    const found = [1, 2, 3, 4].map((id) => ({ ...posted(id, 1_000_000 + id), text: "cat" }))
    const { answer } = searching(() => found, [{ id: "1", value: "cat" }, { id: "2", value: "dog" }])
    let asked = 0
    const connects = (index: number) => index === 1 && dogs === Effect.never ? { status: 401 } : "accept"
    const service = streaming(connects, (path, query): Outcome => {
      if (query["query"] !== "dog") return answer(path, query)
      asked++
      return dogs
    })
    const client = yield* Layer.build(service.layer())
    const resumeFrom = { at: new Date(1_000_000) }
    const stuck = yield* Effect.provide(stuckLoop({ resumeFrom, bufferSize: 2 }), client)
    service.lines[0]!.post(posted(11, 1_000_001), posted(12, 1_000_001))
    yield* settle
    service.lines[0]!.post(posted(13, 1_000_002), posted(14, 1_000_002))
    yield* pass(40_000, 5_000, () => service.lines[0]!.send("\r\n"))
    assert.strictEqual(asked, 1)
    if (dogs === Effect.never) service.lines[0]!.cut()
    yield* settle
    const ended = yield* Effect.forkChild(Fiber.interrupt(stuck.fiber))
    yield* settle
    assert.isDefined(ended.pollUnsafe())
    const next = yield* Effect.provide(following({ recover: "search", bufferSize: 2 }), client)
    service.lines[1]!.post(posted(9, 1_040_000))
    yield* settle
    assert.deepStrictEqual(next.ids(), ["9"])
  })

  test("is not delayed by a loop that has left")(function*() {
    yield* TestClock.setTime(1_000_000)
    const found = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => ({ ...posted(id, 1_000_000 + id), text: "cat" }))
    const { answer } = searching(() => found, [{ id: "1", value: "cat" }])
    const service = streaming(accept, answer)
    const client = yield* Layer.build(service.layer())
    const stuck = yield* Effect.provide(stuckLoop({ bufferSize: 2 }), client)
    const other = yield* Effect.provide(following({ recover: "search" }), client)
    service.lines[0]!.cut()
    yield* pass(34_000, 1_000, () => service.lines[1]!.send("\r\n"))
    assert.isBelow(other.ids().length, found.length)
    yield* Fiber.interrupt(stuck.fiber)
    yield* settle
    assert.sameMembers(other.ids(), found.map(({ id }) => id))
    assert.deepStrictEqual(other.of("Gap").map(({ filledBy }) => filledBy), ["search"])
  })

  test.each(["dropOldest", "fail"] as const)("reaches a loop beside a blocked one with slowConsumer %s")(
    function*(slowConsumer) {
      yield* TestClock.setTime(1_000_000)
      const found = Array.from({ length: 12 }, (_, index) => ({ ...posted(index + 1, 1_000_001 + index), text: "cat" }))
      const { answer } = searching(() => found, [{ id: "1", value: "cat" }])
      const service = streaming(accept, answer)
      const client = yield* Layer.build(service.layer())
      const gate = yield* Deferred.make<void>()
      const stuck = yield* Effect.provide(stuckLoop({ bufferSize: 4, slowConsumer }, Deferred.await(gate)), client)
      const other = yield* Effect.provide(following({ recover: "search" }), client)
      service.lines[0]!.cut()
      yield* pass(80_000, 5_000, () => service.lines[1]!.send("\r\n"))
      assert.sameMembers(other.ids(), found.map(({ id }) => id))
      assert.deepStrictEqual(other.of("Gap").map(({ filledBy }) => filledBy), ["search"])
      assert.isAbove(other.of("Watermark").at(-1)!.until.getTime(), 1_040_000)
      yield* Deferred.succeed(gate, undefined)
      if (slowConsumer === "fail") assert.instanceOf(yield* Effect.flip(Fiber.join(stuck.fiber)), StreamOverflow)
      else {
        yield* settle
        assert.isBelow(stuck.ids.length, found.length)
        assert.strictEqual(stuck.ids.at(-1), other.ids().at(-1))
      }
    }
  )

  test.each(
    [["BadRequest", { status: 400, body: { title: "Bad", detail: "no such operator" } }], ["UnexpectedStatus", {
      status: 422,
      body: { title: "Bad", detail: "no such operator" }
    }]] as const
  )("is filled for the other rules if the search refuses one with %s")(function*([, refusal]) {
    yield* TestClock.setTime(1_000_000)
    const found = [1, 2, 3, 4, 5].map((id) => ({ ...posted(id, 1_000_000 + id), text: "cat" }))
    const { answer } = searching(() => found, [{ id: "1", value: "dog", tag: "dogs" }, {
      id: "2",
      value: "cat",
      tag: "cats"
    }])
    const service = streaming(accept, (path, query) => query["query"] === "dog" ? refusal : answer(path, query))
    const { ids, of } = yield* follow(service, { recover: "search" })
    service.lines[0]!.cut()
    yield* pass(40_000, 5_000, () => service.lines[1]!.send("\r\n"))
    assert.sameMembers(ids(), found.map(({ id }) => id))
    const [gap] = of("Gap")
    assert.isUndefined(gap!.filledBy)
    assert.match(gap!.why!, /dogs: .*no such operator/)
    assert.notMatch(gap!.why!, /cats/)
  })

  const catsAndDogs = [{ id: "1", value: "dog", tag: "dogs" }, { id: "2", value: "cat", tag: "cats" }]

  const bird = { id: "3", value: "bird", tag: "birds" }

  test.each(
    [["the first", catsAndDogs], ["the last", catsAndDogs.toReversed()], ["each of the last two", [
      ...catsAndDogs.toReversed(),
      bird
    ]], ["each but one", [bird, ...catsAndDogs]]] as const
  )("is filled for the other rules if the search for %s keeps failing")(function*([, rules]) {
    yield* TestClock.setTime(1_000_000)
    const found = [1, 2, 3].map((id) => ({ ...posted(id, 1_000_000 + id), text: "cat" }))
    const { answer } = searching(() => found, rules)
    const service = streaming(
      accept,
      (path, query) => query["query"] === "dog" || query["query"] === "bird" ? { status: 503 } : answer(path, query)
    )
    const { ids, of } = yield* follow(service, { recover: "search" })
    service.lines[0]!.cut()
    yield* pass(4_000_000, 20_000, () => service.lines[1]!.send("\r\n"))
    assert.sameMembers(ids(), found.map(({ id }) => id))
    const [gap] = of("Gap")
    assert.isUndefined(gap!.filledBy)
    assert.match(gap!.why!, /dogs: .*503/)
    assert.notMatch(gap!.why!, /cats/)
  })

  test.each([0, 1, 2])("is filled for all rules after the search has failed for half an hour from page %i on")(
    function*(pages) {
      yield* TestClock.setTime(1_000_000)
      const found = [1, 2, 3, 4, 5, 6].map((id) => ({ ...posted(id, 1_000_000 + id), text: "cat dog" }))
      const { answer, searches } = searching(() => found, catsAndDogs)
      let isBack = false
      const service = streaming(
        accept,
        (path, query) =>
          path.endsWith("/rules") || isBack || searches.length < pages ? answer(path, query) : { status: 503 }
      )
      const { ids, of } = yield* follow(service, { recover: "search" })
      service.lines[0]!.cut()
      const stay = (millis: number) => pass(millis, 20_000, () => service.lines[1]!.send("\r\n"))
      yield* stay(1_800_000)
      assert.isEmpty(of("Gap"))
      isBack = true
      yield* stay(400_000)
      assert.sameMembers(
        ids(),
        found.map(({ id }) => id)
      )
      assert.deepStrictEqual(of("Gap").map(({ filledBy }) => filledBy), ["search"])
    }
  )

  test("reaches a loop beside one that drops and never catches up")(function*() {
    yield* TestClock.setTime(1_000_000)
    const found = Array.from({ length: 30 }, (_, index) => ({ ...posted(index + 1, 1_000_001 + index), text: "cat" }))
    const { answer } = searching(() => found, [{ id: "1", value: "cat" }])
    const service = streaming(accept, answer)
    const client = yield* Layer.build(service.layer())
    yield* Effect.provide(stuckLoop({ bufferSize: 4, slowConsumer: "dropOldest" }, Effect.sleep("3 seconds")), client)
    const other = yield* Effect.provide(following({ recover: "search" }), client)
    service.lines[0]!.cut()
    let id = 100
    yield* pass(80_000, 1_000, () => service.lines[1]!.post({ id: String(++id) }, { id: String(++id) }))
    assert.includeMembers([...other.ids()], found.map(({ id }) => id))
    assert.deepStrictEqual(other.of("Gap").map(({ filledBy }) => filledBy), ["search"])
  })

  test("is not searched for every rule if the search refuses all of them")(function*() {
    yield* TestClock.setTime(1_000_000)
    const rules = Array.from({ length: 40 }, (_, index) => ({ id: `${index}`, value: `cat${index}` }))
    let asked = 0
    const service = streaming(accept, (path) => {
      if (path.endsWith("/rules")) return { body: { data: rules, meta: { sent: at(0) } } }
      asked++
      return { status: 400, body: { title: "Bad", detail: "no such field" } }
    })
    const { of } = yield* follow(service, { recover: "search" })
    service.lines[0]!.cut()
    yield* pass(40_000, 5_000, () => service.lines[1]!.send("\r\n"))
    assert.match(of("Gap")[0]!.why!, /no such field/)
    assert.isBelow(asked, 20)
  })

  it("is divided by its age", () => {
    const hour = 3_600_000
    const live = { endpoint: "filtered_stream", recovery: true, rules: true } as const
    const parts = (from: number, recover: "search" | "recovery", of: Parameters<typeof Gaps.partsOf>[3] = live) =>
      Gaps.partsOf({ from: 1_000 * hour - from * hour, to: 1_000 * hour }, 1_000 * hour, recover, of).map((
        { by, from, why }
      ) => [by ?? why, Math.round(1_000 - from / hour)])
    assert.deepStrictEqual(parts(1, "search"), [["search", 1]])
    assert.deepStrictEqual(parts(30, "recovery"), [["search", 30], ["recovery", 24]])
    assert.deepStrictEqual(parts(200, "recovery"), [["it is more than 7 days ago", 200], ["search", 168], [
      "recovery",
      24
    ]])
    const firehose = { endpoint: "firehose_stream", recovery: true } as const
    assert.deepStrictEqual(parts(30, "recovery", firehose), [["it is more than 24 hours ago", 30], ["recovery", 24]])
    const sample = { endpoint: "sample_stream", recovery: false } as const
    assert.deepStrictEqual(parts(1, "recovery", sample), [["the service cannot send this stream again", 1]])
  })
})
