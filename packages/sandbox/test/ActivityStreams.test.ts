import { assert, describe, it } from "@effect/vitest"
import { createActivitySubscription } from "@postwire/core/operations/Activity"
import { streamActivity } from "@postwire/core/streams/operations/ActivityStreams"
import * as SharedStream from "@postwire/core/streams/shared/SharedStream"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import { Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { StreamFault } from "../src/faults/StreamFaults.ts"
import { make } from "./support/Requests.ts"

/** Bodies come by promises, which no clock moves. */
const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const pass = (seconds: number, each: (second: number) => void = () => {}) =>
  Effect.gen(function*() {
    for (let second = 0; second < seconds; second++) {
      each(second)
      yield* settle
      yield* TestClock.adjust("1 second")
    }
    yield* settle
  })

/** A sandbox in which the app has subscribed to the posts of Ada. */
const scene = Effect.gen(function*() {
  const { client, sandbox, secrets } = yield* make({ posts: 0 })
  /** The client of another process. */
  const another = () => Layer.build(client("neutral", { bearerToken: secrets.appToken }))
  const own = yield* another()
  yield* Effect.provide(
    createActivitySubscription({ event_type: "post.create", filter: { user_id: sandbox.ada.id }, tag: "ada" }),
    own
  )
  const posted: Array<string> = []
  const post = () => {
    posted.push(`post ${posted.length + 1}`)
    sandbox.ada.post({ text: posted.at(-1)!, at: sandbox.clock.now() })
  }
  return { sandbox, another, own, post, posted }
})

type Item = Stream.Success<ReturnType<typeof streamActivity>>

const textOf = ({ event }: Item): string =>
  event.event_type === "post.create" ? `${event.tag}: ${event.payload.text}` : event.event_type

/** Follows the stream. Its texts, ids and gaps. */
const following = (options: StreamOptions) =>
  Effect.gen(function*() {
    const texts: Array<string> = []
    const uuids: Array<string> = []
    const gaps: Array<{ readonly from: number; readonly to: number; readonly filledBy: string | undefined }> = []
    const events: Array<string> = []
    const fiber = yield* streamActivity.events({}, options).pipe(
      Stream.runForEach((event) =>
        Effect.sync(() => {
          events.push(event._tag)
          if (event._tag === "Delivered") {
            texts.push(textOf(event.item))
            uuids.push(event.item.event.event_uuid)
          } else if (event._tag === "Gap") {
            gaps.push({ from: event.from.getTime(), to: event.to.getTime(), filledBy: event.filledBy })
          }
        })
      ),
      Effect.forkScoped
    )
    yield* settle
    return { texts, uuids, gaps, events, fiber }
  })

const ours = (posted: ReadonlyArray<string>) => posted.map((text) => `ada: ${text}`)

const faults: ReadonlyArray<StreamFault> = [
  { kind: "cut", after: 2 },
  { kind: "cut-in-character", after: 2 },
  { kind: "stall", after: 2 },
  { kind: "error", after: 2 },
  { kind: "duplicate", after: 2 },
  { kind: "out-of-order", after: 2 },
  { kind: "garbage", after: 2 },
  { kind: "slow", after: 2 }
]

describe("streamActivity", () => {
  it.effect.each(faults)("stays up and brings every event once after $kind", (stream) =>
    Effect.gen(function*() {
      const { own, post, posted, sandbox } = yield* scene
      sandbox.faults.add({ operation: "streamActivity", times: 1, stream })
      const { gaps, texts, uuids } = yield* Effect.provide(following({ recover: "recovery" }), own)
      yield* pass(150, (second) => second < 60 && second % 5 === 0 && post())
      assert.sameMembers(texts, ours(posted))
      assert.lengthOf(texts, posted.length)
      assert.strictEqual(new Set(uuids).size, posted.length)
      const isLost = ["cut", "cut-in-character", "stall", "error"].includes(stream.kind)
      assert.deepStrictEqual(gaps.map(({ filledBy }) => filledBy), isLost ? ["backfill"] : [])
    }))

  it.effect("reports a gap that it does not fill, and nothing is missing elsewhere", () =>
    Effect.gen(function*() {
      const { own, post, posted, sandbox } = yield* scene
      sandbox.faults.add({ operation: "streamActivity", times: 1, stream: { kind: "cut", after: 2 } })
      const stream = yield* Effect.provide(following({}), own)
      const times: Array<number> = []
      yield* pass(150, (second) => {
        if (second >= 60 || second % 5 !== 0) return
        // The service is away for some seconds.
        if (second === 5) sandbox.faults.add({ operation: "streamActivity", status: 503, times: 3 })
        times.push(sandbox.clock.now())
        post()
      })
      const { gaps, texts } = stream
      assert.isNotEmpty(gaps)
      const missing = times.filter((_, index) => !texts.includes(`ada: ${posted[index]}`))
      assert.isNotEmpty(missing)
      for (const time of missing) assert.isTrue(gaps.some(({ from, to }) => time >= from && time <= to))
      assert.strictEqual(texts.length, posted.length - missing.length)
    }))

  it.effect("resumes where an earlier run ended, without the events that it had", () =>
    Effect.gen(function*() {
      const { another, own, post, posted } = yield* scene
      const first = yield* Effect.provide(following({ recover: "recovery" }), own)
      yield* pass(3, post)
      yield* Fiber.interrupt(first.fiber)
      const until = new Date(yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis))
      // Longer than a backfill goes back.
      yield* pass(600, (second) => second % 100 === 50 && post())
      const second = yield* Effect.provide(
        following({ recover: "recovery", resumeFrom: { at: new Date(until.getTime() - 60_000), ids: first.uuids } }),
        yield* another()
      )
      yield* pass(120, (second) => second === 60 && post())
      assert.deepStrictEqual([...first.texts, ...second.texts].sort(), ours(posted).sort())
      assert.deepStrictEqual(second.gaps.map(({ filledBy }) => filledBy), ["recovery"])
    }))

  it.effect("has two connections of an app, and a third waits for the end of one", () =>
    Effect.gen(function*() {
      const { another, post, posted } = yield* scene
      const open = Effect.flatMap(another(), (client) => Effect.provide(following({}), client))
      const first = yield* open
      const second = yield* open
      yield* pass(30)
      const third = yield* open
      yield* pass(30)
      post()
      yield* settle
      assert.deepStrictEqual([first, second, third].map(({ texts }) => texts.length), [1, 1, 0])
      yield* Fiber.interrupt(first.fiber)
      yield* pass(180)
      post()
      yield* settle
      assert.deepStrictEqual(second.texts, ours(posted))
      assert.deepStrictEqual(third.texts, ours(posted).slice(1))
      const fourth = yield* open
      yield* pass(900)
      const error = yield* Effect.flip(Fiber.join(fourth.fiber))
      assert(error._tag === "TooManyConnections")
      assert.lengthOf(error.connections, 2)
    }))

  it.effect("is shared by processes over one connection, which another one takes over", () =>
    Effect.gen(function*() {
      const { another, post, posted, sandbox } = yield* scene
      const log = StreamLog.makeMemory()
      const open = Effect.gen(function*() {
        const scope = yield* Scope.make()
        const shared = yield* SharedStream.open("activity", streamActivity, {}, { recover: "recovery" }).pipe(
          Effect.provideService(StreamLog.StreamLog, log),
          Scope.provide(scope),
          Effect.provide(yield* another())
        )
        return { shared, end: Scope.close(scope, Exit.void) }
      })
      const one = yield* open
      const other = yield* open
      const texts: Array<string> = []
      yield* other.shared.consume({ consumer: "all" }).pipe(
        Stream.runForEach(({ item }) => Effect.sync(() => void texts.push(textOf(item)))),
        Effect.forkScoped
      )
      const connections = () => sandbox.streams.connections().filter(({ closedAt }) => closedAt === undefined)
      yield* pass(1)
      yield* pass(10, post)
      assert.lengthOf(connections(), 1)
      assert.deepStrictEqual(texts, ours(posted))
      yield* one.end
      yield* pass(90, (second) => second < 10 && post())
      assert.lengthOf(connections(), 1)
      assert.deepStrictEqual(texts.toSorted(), ours(posted).sort())
      assert.lengthOf(sandbox.streams.connections().filter(({ endpoint }) => endpoint !== "activity_stream"), 0)
      yield* other.end
    }))
})
