import { assert, describe } from "@effect/vitest"
import { type Cause, Clock, Effect, Exit, Fiber, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { InvalidParameters } from "../src/errors/Errors.ts"
import * as StreamItem from "../src/schema/StreamItem.ts"
import { streamPosts } from "../src/streams/operations/Streams.ts"
import * as SharedStream from "../src/streams/shared/SharedStream.ts"
import * as StreamLog from "../src/streams/shared/StreamLog.ts"
import type { StreamEvent } from "../src/streams/StreamEvents.ts"
import type { StreamOptions } from "../src/streams/StreamOptions.ts"
import { test } from "./support/Test.ts"

type Happening = StreamEvent<StreamItem.AnyItem>

const at = new Date(0)

const post = (id: number, ...tags: ReadonlyArray<string>): Happening => ({
  _tag: "Delivered",
  at,
  item: StreamItem.make(true, {
    data: { id: String(id), text: `post ${id}`, edit_history_post_ids: [String(id)] },
    matching_rules: tags.map((tag) => ({ id: tag, tag }))
  })
})

const mark = (until: number): Happening => ({ _tag: "Watermark", at, serviceAt: at, until: new Date(until) })

const failure = new InvalidParameters({
  operation: "streamPosts",
  parameter: "partition",
  rule: "is missing",
  value: ""
})

/** A connection whose events a test sends. */
class Line {
  readonly said = Effect.runSync(Queue.unbounded<Happening, InvalidParameters | Cause.Done>())
  readonly options: StreamOptions
  isOpen = true

  constructor(options: StreamOptions) {
    this.options = options
  }

  readonly say = (...events: ReadonlyArray<Happening>) => Effect.andThen(Queue.offerAll(this.said, events), settled)
}

/** Runs everything that needs no time. */
const settled = Effect.repeat(Effect.yieldNow, { times: 60 })

interface Process {
  readonly shared: SharedStream.SharedStream<StreamItem.AnyItem, InvalidParameters>
  readonly lines: Array<Line>
  readonly events: Array<SharedStream.SharedNotice["_tag"]>
  /** Stops all responses of the log. */
  readonly cutOff: { now: boolean }
  readonly end: Effect.Effect<void>
}

/** A log whose steps are run by a function. */
const running = (
  run: <A, E>(
    step: (log: StreamLog.Store) => Effect.Effect<A, E | StreamLog.StreamLogUnavailable>
  ) => Effect.Effect<A, E | StreamLog.StreamLogUnavailable>
): StreamLog.Store => ({
  acquire: (...args) => run((log) => log.acquire(...args)),
  prolong: (...args) => run((log) => log.prolong(...args)),
  release: (...args) => run((log) => log.release(...args)),
  append: (...args) => run((log) => log.append(...args)),
  extent: (...args) => run((log) => log.extent(...args)),
  read: (...args) => run((log) => log.read(...args)),
  wait: (...args) => run((log) => log.wait(...args)),
  idsSince: (...args) => run((log) => log.idsSince(...args)),
  cursor: (...args) => run((log) => log.cursor(...args)),
  commit: (...args) => run((log) => log.commit(...args)),
  forget: (...args) => run((log) => log.forget(...args)),
  trim: (...args) => run((log) => log.trim(...args))
})

/** A log that can be cut off from a process. */
const through = (log: StreamLog.Store, cutOff: Process["cutOff"]): StreamLog.Store =>
  running((step) =>
    Effect.suspend(() =>
      cutOff.now ? Effect.fail(new StreamLog.StreamLogUnavailable({ reason: "cut off" })) : step(log)
    )
  )

/** A log that can be restored to an earlier state. */
const restorable = () => {
  const kept = StreamLog.makeMemory()
  const log = StreamLog.makeMemory()
  let state: "both" | "saved" | "restored" = "both"
  const store = running((step) =>
    Effect.suspend(() => state === "both" ? Effect.tap(step(log), step(kept)) : step(state === "saved" ? log : kept))
  )
  return {
    store: { ...store, wait: () => Effect.sleep(100) },
    save: () => void (state = "saved"),
    restore: () => void (state = "restored")
  }
}

const start = Effect.fnUntraced(function*(log: StreamLog.Store, options: SharedStream.SharedOptions = {}) {
  const scope = yield* Scope.make()
  const lines: Process["lines"] = []
  const events: Process["events"] = []
  const cutOff: Process["cutOff"] = { now: false }
  const shared = yield* SharedStream.share("cats", streamPosts.definition, (given) =>
    Stream.suspend(() => {
      const line = new Line(given)
      lines.push(line)
      return Stream.ensuring(
        Stream.fromQueue(line.said),
        Effect.sync(() => {
          line.isOpen = false
        })
      )
    }), { onEvent: ({ _tag }) => void events.push(_tag), ...options }).pipe(
      Effect.provideService(StreamLog.StreamLog, through(log, cutOff)),
      Effect.provideService(Scope.Scope, scope)
    )
  yield* settled
  return { shared, lines, events, cutOff, end: Scope.close(scope, Exit.void) } satisfies Process
})

/** The items of a consumer, and those that it may have missed. */
const reading = Effect.fnUntraced(function*({ shared }: Process, options: SharedStream.ConsumeOptions) {
  const got: Array<string> = []
  const fiber = yield* Effect.forkChild(
    Stream.runForEach(
      shared.consume({
        onMissed: (missed) =>
          void got.push(missed._tag === "Gap" ? `gap: ${missed.why ?? missed.filledBy}` : missed._tag),
        ...options
      }),
      ({ item }) => Effect.sync(() => void got.push(item.body.data !== null ? idOf(item) : ""))
    )
  )
  yield* settled
  return { got, fiber }
})

const idOf = ({ body: { data } }: StreamItem.AnyItem): string =>
  typeof data === "object" && data !== null && "id" in data ? String(data.id) : ""

const only = (lines: ReadonlyArray<Line>): Line => {
  const [line] = lines
  return line !== undefined && lines.length === 1 ? line : assert.fail(`there are ${lines.length} lines`)
}

/** Longer than a lease and a request for one. */
const lapsed = Effect.andThen(
  Effect.forEach(Array.from({ length: 20 }), () => Effect.andThen(TestClock.adjust(250), settled)),
  settled
)

describe("a shared stream", () => {
  test("has one connection, and delivers to each consumer the items that it wants")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    const third = yield* start(log, { holds: false })
    const all = yield* reading(other, { consumer: "all" })
    const tagged = yield* reading(third, { consumer: "tagged", tags: ["b", "c"] })
    const line = only(one.lines)
    yield* line.say(post(1, "a"), post(2, "b", "a"), post(3))
    yield* line.say(mark(5_000), post(4, "c"))
    assert.deepStrictEqual(all.got, ["1", "2", "3", "4"])
    assert.deepStrictEqual(tagged.got, ["2", "4"])
    yield* lapsed
    assert.isEmpty(other.lines)
    assert.isTrue(line.isOpen)
    assert.deepStrictEqual(one.events, ["Holding"])
    assert.deepStrictEqual(yield* log.extent("cats"), { last: 4, until: 5_000 })
  })

  test("is taken over at the end of the log without duplicates")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    const reader = yield* reading(other, { consumer: "a" })
    const line = only(one.lines)
    assert.isUndefined(line.options.resumeFrom)
    yield* line.say(post(1), mark(5_000), post(2))
    one.cutOff.now = true
    yield* line.say(post(3))
    yield* TestClock.adjust("2 seconds")
    assert.isEmpty(other.lines)
    yield* lapsed
    // The first process has stopped by itself before another can start.
    assert.isFalse(line.isOpen)
    assert.deepStrictEqual(one.events, ["Holding", "LogAway", "LineLost"])
    const next = only(other.lines)
    assert.deepStrictEqual(next.options.resumeFrom, { at: new Date(5_000), ids: ["1", "2"] })
    yield* next.say(post(3), post(4))
    assert.deepStrictEqual(reader.got, ["1", "2", "3", "4"])
    one.cutOff.now = false
    yield* lapsed
    assert.lengthOf(one.lines, 1)
    assert.isTrue(next.isOpen)
  })

  test("is taken over from where it began by a holder whose clock is ahead")(function*() {
    yield* TestClock.setTime(10_000_000)
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    yield* only(one.lines).say({ _tag: "Connected", at: new Date(13_600_000), attempt: 1 })
    one.cutOff.now = true
    yield* lapsed
    assert.deepStrictEqual(only(other.lines).options.resumeFrom, { at: new Date(9_880_000), ids: [] })
  })

  test("is released by a process that ends")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    yield* only(one.lines).say(mark(7_000))
    yield* one.end
    assert.isFalse(only(one.lines).isOpen)
    yield* TestClock.adjust(500)
    yield* settled
    assert.deepStrictEqual(only(other.lines).options.resumeFrom, { at: new Date(7_000), ids: [] })
  })

  test("refuses writes of a holder that was delayed")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    // Another process takes the lease, as after a long pause of the machine.
    const taken = yield* log.acquire({ stream: "cats" }, "other", 1)
    assert.strictEqual(taken._tag, "Taken")
    const held = yield* log.acquire({ stream: "cats" }, "other", 60_000).pipe(
      Effect.repeat({ until: ({ _tag }) => _tag === "Held" }),
      Effect.forkChild
    )
    one.cutOff.now = true
    yield* TestClock.adjust("3900 millis")
    one.cutOff.now = false
    yield* Fiber.interrupt(held)
    yield* log.release({ stream: "cats" }, 1)
    yield* log.acquire({ stream: "cats" }, "other", 60_000)
    yield* only(one.lines).say(post(1))
    assert.isFalse(only(one.lines).isOpen)
    assert.strictEqual((yield* log.extent("cats")).last, 0)
    assert.include(one.events, "LineLost")
  })

  test("ends for the consumers of a process in which it fails permanently")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    const reader = yield* reading(one, { consumer: "a" })
    const patient = yield* reading(other, { consumer: "b" })
    yield* Queue.fail(only(one.lines).said, failure)
    assert.deepStrictEqual(yield* Fiber.await(reader.fiber), Exit.fail(failure))
    // The next process tries for itself.
    yield* lapsed
    yield* only(other.lines).say(post(1))
    assert.deepStrictEqual(patient.got, ["1"])
  })

  test("reports missing items to all consumers, in order")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const reader = yield* reading(one, { consumer: "a", tags: ["a"] })
    const gap: Happening = { _tag: "Gap", at, from: at, to: new Date(1), filledBy: undefined, why: "a cut" }
    yield* only(one.lines).say(post(1, "a"), gap, post(2, "a"), { _tag: "Dropped", at, count: 2 }, post(3))
    assert.deepStrictEqual(reader.got, ["1", "gap: a cut", "2", "Dropped"])
  })

  test("continues at a consumer's cursor")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const line = only(one.lines)
    yield* line.say(post(1), post(2), post(3), post(4))
    const take = (count: number, options: Partial<SharedStream.ConsumeOptions> = {}) =>
      one.shared.consume({ consumer: "a", ...options }).pipe(
        Stream.take(count),
        Stream.map(({ item, position }) => `${position}: ${idOf(item)}`),
        Stream.runCollect
      )
    // The last item was not done.
    assert.deepStrictEqual(yield* take(3), ["1: 1", "2: 2", "3: 3"])
    assert.deepStrictEqual(yield* take(1), ["3: 3"])
    // The program stored the position with its work.
    assert.deepStrictEqual(yield* take(1, { from: 3 }), ["4: 4"])
    assert.deepStrictEqual(yield* take(2, { consumer: "b", acknowledges: false }), ["1: 1", "2: 2"])
    assert.deepStrictEqual(yield* take(1, { consumer: "b", acknowledges: false }), ["1: 1"])
    yield* Stream.runForEach(
      Stream.take(one.shared.consume({ consumer: "b", acknowledges: false }), 2),
      ({ commit }) => commit
    )
    assert.deepStrictEqual(yield* take(1, { consumer: "b" }), ["3: 3"])
    const late = yield* reading(one, { consumer: "late", from: "newest" })
    yield* line.say(post(5))
    assert.deepStrictEqual(late.got, ["5"])
  })

  test("loses no items if its log is restored to an earlier state")(function*() {
    const { restore, save, store } = restorable()
    const one = yield* start(store)
    const quick = yield* reading(one, { consumer: "quick" })
    const line = only(one.lines)
    yield* line.say(post(1), mark(5_000), post(2))
    yield* lapsed
    save()
    yield* line.say(post(3), mark(9_000), post(4))
    yield* lapsed
    assert.deepStrictEqual(quick.got, ["1", "2", "3", "4"])
    restore()
    yield* line.say(post(5))
    yield* lapsed
    // Items that the log has lost are fetched again.
    assert.isFalse(line.isOpen)
    assert.deepStrictEqual(one.events, ["Holding", "LineLost", "Holding"])
    const next = one.lines[1] ?? assert.fail("there is no other line")
    assert.deepStrictEqual(next.options.resumeFrom, { at: new Date(5_000), ids: ["1", "2"] })
    yield* next.say(post(3), post(4), post(5), post(6))
    yield* lapsed
    const slow = yield* reading(one, { consumer: "slow" })
    assert.deepStrictEqual(slow.got, ["1", "2", "3", "4", "5", "6"])
    assert.deepStrictEqual(quick.got, ["1", "2", "3", "4", "3", "4", "5", "6"])
  })

  test("reports a lost log to a consumer, even if a new log has as many items")(function*() {
    const positions = Effect.fnUntraced(function*(log: StreamLog.Store, ...ids: ReadonlyArray<number>) {
      yield* TestClock.adjust("1 second")
      const one = yield* start(log)
      yield* only(one.lines).say(...ids.map((id) => post(id)))
      const placed = yield* log.read("cats", 0, 10)
      return { one, last: placed.at(-1)?.position ?? 0 }
    })
    const before = yield* positions(StreamLog.makeMemory(), 1, 2)
    const { one } = yield* positions(StreamLog.makeMemory(), 3, 4, 5)
    const reader = yield* reading(one, { consumer: "a", from: before.last })
    assert.deepStrictEqual(reader.got, ["gap: the log was lost", "3", "4", "5"])
  })

  test("delivers everything to a consumer that started with the newest item of an empty log")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const first = yield* reading(one, { consumer: "a", from: "newest" })
    yield* Fiber.interrupt(first.fiber)
    yield* only(one.lines).say(post(1))
    const second = yield* reading(one, { consumer: "a", from: "newest" })
    assert.deepStrictEqual(second.got, ["1"])
  })

  test("recognizes duplicates with any id")(function*() {
    const log = StreamLog.makeMemory()
    const ids = ["\0", "\ud800", "\"\\"]
    const one = yield* start(log)
    const item = (id: string): Happening => ({ _tag: "Delivered", at, item: StreamItem.make(true, { data: { id } }) })
    yield* only(one.lines).say(mark(0), ...ids.map(item))
    for (const id of yield* log.idsSince("cats", 0)) {
      assert.isTrue(id.isWellFormed() && !id.includes("\0"), JSON.stringify(id))
    }
    yield* one.end
    const other = yield* start(log)
    assert.deepStrictEqual(only(other.lines).options.resumeFrom?.ids, ids)
  })

  test("ends once for all processes at its end_time")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log)
    const readers = [
      yield* reading(one, { consumer: "a" }),
      yield* reading(other, { consumer: "b" }),
      yield* reading(other, { consumer: "c", acknowledges: false })
    ]
    yield* only(one.lines).say(post(1), post(2))
    yield* Queue.end(only(one.lines).said)
    for (const { fiber, got } of readers) {
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(got, ["1", "2"])
    }
    yield* lapsed
    assert.lengthOf([...one.lines, ...other.lines], 1)
    assert.deepStrictEqual(one.events, ["Holding"])
    yield* one.end
    yield* other.end
    // Each run has its own end.
    const next = yield* start(log)
    const again = yield* reading(next, { consumer: "c" })
    yield* only(next.lines).say(post(3))
    yield* Queue.end(only(next.lines).said)
    yield* Fiber.join(again.fiber)
    assert.deepStrictEqual(again.got, ["1", "2", "3"])
  })

  test("has one process read as a consumer, and another after that one is gone")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const other = yield* start(log, { holds: false })
    const third = yield* start(log, { holds: false })
    const first = yield* reading(third, { consumer: "a" })
    const second = yield* reading(other, { consumer: "a" })
    const line = only(one.lines)
    yield* line.say(post(1), post(2))
    yield* lapsed
    assert.deepStrictEqual([first.got, second.got], [["1", "2"], []])
    third.cutOff.now = true
    yield* lapsed
    yield* line.say(post(3))
    assert.deepStrictEqual([first.got, second.got], [["1", "2"], ["3"]])
    third.cutOff.now = false
    yield* lapsed
    yield* Fiber.interrupt(second.fiber)
    yield* line.say(post(4))
    yield* lapsed
    assert.deepStrictEqual([first.got, second.got], [["1", "2", "4"], ["3"]])
  })

  test("limits its log, and reports a gap to consumers that were too slow")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log, { keep: { items: 3 } })
    const line = only(one.lines)
    const slow = one.shared.consume({ consumer: "slow" })
    yield* line.say(post(1))
    yield* Stream.runForEach(Stream.take(slow, 1), ({ commit }) => commit)
    yield* line.say(post(2), post(3), post(4), post(5))
    yield* lapsed
    yield* TestClock.adjust("5 seconds")
    const reader = yield* reading(one, { consumer: "slow" })
    assert.deepStrictEqual(reader.got, ["gap: the log no longer has the items", "3", "4", "5"])
    // Read items are deleted once no holder needs them.
    yield* line.say(mark(10_000_000))
    yield* TestClock.adjust("5 minutes")
    yield* settled
    assert.isEmpty(yield* log.read("cats", 0, 10))
  })

  describe("beyond the start of its log", () => {
    const key = "a"
    const setUp = Effect.fnUntraced(function*(keep: SharedStream.SharedOptions["keep"]) {
      const log = StreamLog.makeMemory()
      const one = yield* start(log, { keep })
      const two = yield* start(log, { holds: false })
      const line = only(one.lines)
      const gaps: Array<SharedStream.Missed> = []
      return {
        gaps,
        say: (...ids: ReadonlyArray<number>) =>
          Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => line.say(...ids.map((id) => ({ ...post(id), at: new Date(now) })))
          ),
        /** The consumer starts, and its process ends before the first item is done. */
        die: Effect.gen(function*() {
          yield* Effect.forkChild(Stream.runForEach(two.shared.consume({ consumer: key }), () => Effect.never))
          yield* settled
          two.cutOff.now = true
          yield* lapsed
        }),
        read: (options: Partial<SharedStream.ConsumeOptions> = {}) =>
          reading(one, { consumer: key, onMissed: (missed) => void gaps.push(missed), ...options })
      }
    })

    test("reports no gap for items that were deleted before a consumer started")(function*() {
      const { die, gaps, read, say } = yield* setUp({ items: 2 })
      yield* say(1, 2, 3, 4, 5)
      yield* lapsed
      yield* TestClock.adjust("1 minute")
      yield* die
      const { got } = yield* read()
      assert.deepStrictEqual([got, gaps], [["4", "5"], []])
    })

    test("reports no gap for a log that was empty when a consumer started")(function*() {
      const { die, gaps, read, say } = yield* setUp({ age: 60_000 })
      yield* say(1)
      yield* TestClock.adjust("5 minutes")
      yield* settled
      yield* die
      yield* say(2)
      const { got } = yield* read()
      assert.deepStrictEqual([got, gaps], [["2"], []])
    })

    test.each([0, 3])("reports a gap for items that were deleted since a consumer started with %i items")(
      function*(count) {
        const { die, gaps, read, say } = yield* setUp({ items: 2 })
        yield* TestClock.adjust("1 minute")
        yield* say(...[1, 2, 3].slice(0, count))
        yield* die
        yield* say(4, 5, 6, 7)
        yield* lapsed
        yield* TestClock.adjust("5 seconds")
        const { got } = yield* read()
        assert.deepStrictEqual(got, ["6", "7"])
        const [gap] = gaps
        assert(gap?._tag === "Gap" && gaps.length === 1)
        assert.isBelow(gap.from.getTime(), gap.to.getTime())
      }
    )

    test("reports a gap that starts before it ends if the item at the program's position was deleted")(function*() {
      const { gaps, read, say } = yield* setUp({ items: 2 })
      yield* Effect.forEach([1, 2, 3, 4, 5], (id) => Effect.andThen(TestClock.adjust("1 minute"), say(id)))
      yield* lapsed
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt((yield* read()).fiber)
      const { got } = yield* read({ from: 1 })
      const [gap] = gaps
      assert.deepStrictEqual(got, ["4", "5"])
      assert(gap?._tag === "Gap" && gap.from <= gap.to)
    })
  })

  test("waits for a log that does not respond, and fails only when it is opened")(function*() {
    const log = StreamLog.makeMemory()
    const one = yield* start(log)
    const reader = yield* reading(one, { consumer: "a" })
    const line = only(one.lines)
    one.cutOff.now = true
    yield* line.say(post(1), post(2))
    yield* TestClock.adjust("1 second")
    one.cutOff.now = false
    yield* TestClock.adjust("1 second")
    yield* settled
    assert.deepStrictEqual(reader.got, ["1", "2"])
    assert.isTrue(line.isOpen)
    const error = yield* SharedStream.share("cats", streamPosts.definition, () => Stream.never).pipe(
      Effect.provideService(StreamLog.StreamLog, through(log, { now: true })),
      Effect.scoped,
      Effect.flip
    )
    assert.instanceOf(error, StreamLog.StreamLogUnavailable)
  })
})
