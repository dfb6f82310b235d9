import { assert, describe, it } from "@effect/vitest"
import type { Figures } from "@postwire/core/schema/RateLimitHeaders"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import * as Ledger from "../src/rate-limit/Ledger.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as RateLimitStore from "../src/rate-limit/RateLimitStore.ts"
import { StorageUnavailable } from "../src/storage/Storage.ts"
import { make } from "./support/Service.ts"

const start = 1_767_258_000_000

const granted: Ledger.Decision = { granted: true, refusals: 0, briefs: 0 }

const figures = (remaining: number, endsIn = 60_000, window = 1_767_258_060): Figures => ({
  limit: 15,
  remaining,
  window,
  endsIn
})

const answer = (remaining: number, endsIn?: number, window?: number): Ledger.Report => ({
  answered: true,
  figures: figures(remaining, endsIn, window)
})

/** A ledger with so much left in a window of a minute. */
const knowing = (remaining: number) => {
  const ledger = Ledger.empty()
  assert.deepStrictEqual(Ledger.reserve(ledger, start, "first", 0), granted)
  Ledger.settle(ledger, start, "first", answer(remaining))
  return ledger
}

describe("reserve", () => {
  it("grants what fits beside all that is in flight", () => {
    const ledger = knowing(3)
    for (const lease of ["a", "b", "c"]) {
      assert.deepStrictEqual(Ledger.reserve(ledger, start, lease, 0), granted)
    }
    assert.deepInclude(Ledger.reserve(ledger, start, "d", 0), { granted: false, reason: "in flight" })
    Ledger.settle(ledger, start, "a", answer(2))
    assert.deepInclude(Ledger.reserve(ledger, start, "d", 0), { granted: false, reason: "in flight" })
    Ledger.settle(ledger, start, "b", { answered: false })
    assert.deepStrictEqual(Ledger.reserve(ledger, start, "d", 0), granted)
  })

  it("forgets the requests of a process that died", () => {
    const ledger = knowing(1)
    assert.deepStrictEqual(Ledger.reserve(ledger, start, "dead", 0), granted)
    assert.deepInclude(Ledger.reserve(ledger, start + 29_999, "a", 0), { reason: "in flight" })
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 30_000, "a", 0), granted)
  })

  it("asks to wait for the end of a spent window, and lets one find out what comes after it", () => {
    const ledger = knowing(0)
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 1, "a", 0), {
      granted: false,
      reason: "window",
      millis: 59_999
    })
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 60_000, "a", 0), granted)
    assert.deepInclude(Ledger.reserve(ledger, start + 60_000, "b", 0), { reason: "in flight" })
    Ledger.settle(ledger, start + 60_100, "a", answer(14, 60_000, 1_767_258_120))
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 60_100, "b", 0), granted)
  })

  it("paces from the last request that was sent", () => {
    const ledger = knowing(10)
    assert.deepStrictEqual(Ledger.reserve(ledger, start, "a", 1_000), granted)
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 400, "b", 1_000), {
      granted: false,
      reason: "pace",
      millis: 600
    })
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 1_000, "b", 1_000), granted)
  })

  it("lets one request try after a refusal, and the others when that one is answered", () => {
    const ledger = knowing(10)
    Ledger.reserve(ledger, start, "a", 0)
    Ledger.settle(ledger, start, "a", { answered: true, pause: 2_000 })
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 500, "b", 0), {
      granted: false,
      reason: "refusal",
      millis: 1_500
    })
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 2_000, "b", 0), { granted: true, refusals: 1, briefs: 0 })
    assert.deepInclude(Ledger.reserve(ledger, start + 2_000, "c", 0), { reason: "in flight" })
    Ledger.settle(ledger, start + 2_100, "b", answer(9))
    assert.deepStrictEqual(Ledger.reserve(ledger, start + 2_100, "c", 0), granted)
  })
})

describe("reserve, of callers in several lines", () => {
  const place = (line: string, waited: number, callers = 1): Ledger.Place => ({ line, waited, callers })
  const turn = { granted: false, reason: "turn", millis: 25 } as const

  it("grants the last requests to who came clearly earlier, and the rest to whoever asks", () => {
    const ledger = knowing(0)
    const end = start + 60_000
    // Three of the old line have waited for most of the window, the young one only came.
    Ledger.reserve(ledger, start, "old-1", 0, place("old", 0, 3))
    Ledger.reserve(ledger, end - 1_000, "young", 0, place("young", 0))
    assert.deepInclude(Ledger.reserve(ledger, end, "young", 0, place("young", 1_000)), turn)
    // The probe of the new window is the oldest's.
    assert.isTrue(Ledger.reserve(ledger, end, "old-1", 0, place("old", 60_000, 3)).granted)
    Ledger.settle(ledger, end, "old-1", answer(2, 60_000, 1_767_258_120))
    assert.deepInclude(Ledger.reserve(ledger, end, "young", 0, place("young", 1_000)), turn)
    assert.isTrue(Ledger.reserve(ledger, end, "old-2", 0, place("old", 60_000, 2)).granted)
    assert.deepInclude(Ledger.reserve(ledger, end, "young", 0, place("young", 1_000)), turn)
    assert.isTrue(Ledger.reserve(ledger, end, "old-3", 0, place("old", 60_000)).granted)
    assert.deepInclude(Ledger.reserve(ledger, end, "young", 0, place("young", 1_000)), { reason: "in flight" })
  })

  it("holds nobody up while there is enough for all", () => {
    const ledger = knowing(0)
    const end = start + 60_000
    Ledger.reserve(ledger, start, "old-1", 0, place("old", 0, 3))
    assert.isTrue(Ledger.reserve(ledger, end, "old-1", 0, place("old", 60_000, 3)).granted)
    Ledger.settle(ledger, end, "old-1", answer(3, 60_000, 1_767_258_120))
    assert.isTrue(Ledger.reserve(ledger, end, "young", 0, place("young", 0)).granted)
  })

  it("does not wait for who died, sleeps, or came within two seconds", () => {
    const cases: ReadonlyArray<readonly [waited: number, asks: number]> = [
      // It was to ask at the end of the window.
      [60_000, 62_000],
      [61_000, 60_000]
    ]
    for (const [waited, asks] of cases) {
      const ledger = knowing(0)
      Ledger.reserve(ledger, start + 1, "dead", 0, place("dead", 0, 5))
      const decision = Ledger.reserve(ledger, start + asks, "b", 0, place("b", waited - 1_000))
      assert.isTrue(decision.granted, String(waited))
    }
    const ledger = knowing(0)
    Ledger.settle(ledger, start, "x", { answered: true, pause: 300_000 })
    Ledger.reserve(ledger, start, "sleeps", 0, place("sleeps", 0))
    // What it sleeps for turns out to be over.
    Ledger.settle(ledger, start + 1, "y", { answered: false })
    ledger.refusedUntil = 0
    ledger.end = start + 10_000
    assert.isTrue(Ledger.reserve(ledger, start + 10_000, "b", 0, place("b", 0)).granted)
  })

  it("forgets a line that is empty", () => {
    const ledger = knowing(0)
    Ledger.reserve(ledger, start, "gone", 0, place("gone", 0))
    Ledger.settle(ledger, start + 59_000, "gone", { answered: false, emptied: "gone" })
    assert.strictEqual(ledger.waiting.size, 0)
    assert.isTrue(Ledger.reserve(ledger, start + 60_000, "b", 0, place("b", 0)).granted)
  })

  it("paces them in turn", () => {
    const ledger = knowing(10)
    Ledger.reserve(ledger, start, "first", 1_000)
    for (const [line, waited] of [["a", 9_000], ["b", 6_000], ["c", 3_000]] as const) {
      Ledger.reserve(ledger, start, line, 1_000, place(line, waited))
    }
    const order: Array<string> = []
    for (let now = start + 1_000; order.length < 3; now += 100) {
      for (const [line, waited] of [["c", 3_000], ["b", 6_000], ["a", 9_000]] as const) {
        if (order.includes(line)) continue
        if (Ledger.reserve(ledger, now, line, 1_000, place(line, waited + now - start)).granted) {
          order.push(line)
        }
      }
    }
    assert.deepStrictEqual(order, ["a", "b", "c"])
  })
})

describe("a ledger as text", () => {
  it("is what it was", () => {
    const ledger = knowing(3)
    Ledger.reserve(ledger, start, "a", 1_000)
    Ledger.settle(ledger, start, "b", { answered: true, pause: 1_000 })
    Ledger.reserve(ledger, start, "c", 0, { line: "c", callers: 2, waited: 5 })
    assert.deepStrictEqual(Ledger.fromText(Ledger.toText(ledger), start), ledger)
    assert.deepStrictEqual(Ledger.fromText("", start), Ledger.empty())
  })

  it("is not believed when it comes from the future, or speaks of more than the longest window", () => {
    const ledger = knowing(0)
    const text = Ledger.toText(ledger)
    assert.deepInclude(Ledger.reserve(Ledger.fromText(text, start - 2_000), start, "a", 0), {
      reason: "window"
    })
    for (const day of [3_000, 86_400_000]) {
      assert.deepStrictEqual(Ledger.fromText(text, start - day), Ledger.empty())
    }
    ledger.end = start + 966_000
    assert.deepStrictEqual(Ledger.fromText(Ledger.toText(ledger), start), Ledger.empty())
  })
})

describe("settle", () => {
  it("keeps the lowest figure of a window, in whatever order answers come", () => {
    const ledger = knowing(10)
    Ledger.settle(ledger, start, "a", answer(7))
    Ledger.settle(ledger, start, "b", answer(9))
    assert.strictEqual(Ledger.read(ledger, start).window?.remaining, 7)
  })

  it("tells windows apart by what the service calls them, not by when answers arrive", () => {
    const ledger = knowing(10)
    // An answer that took five seconds to come still speaks of the same window.
    Ledger.settle(ledger, start + 5_000, "slow", answer(9))
    assert.strictEqual(Ledger.read(ledger, start + 5_000).window?.endsIn, 55_000)
    Ledger.settle(ledger, start + 61_000, "next", answer(14, 60_000, 1_767_258_120))
    Ledger.settle(ledger, start + 61_000, "late", answer(0))
    assert.strictEqual(Ledger.read(ledger, start + 61_000).window?.remaining, 14)
  })

  it("does not keep a window that later requests do not confirm", () => {
    const ledger = knowing(10)
    Ledger.reserve(ledger, start + 10, "a", 0)
    Ledger.settle(ledger, start + 20, "a", answer(0, 900_000, 1_767_258_900))
    assert.deepInclude(Ledger.reserve(ledger, start + 30, "b", 0), { reason: "window" })
    ledger.leases.set("b", start + 30 + Ledger.millisOf.lease)
    Ledger.settle(ledger, start + 40, "b", answer(8))
    assert.deepInclude(Ledger.read(ledger, start + 40).window, { remaining: 8, window: 1_767_258_060 })
  })
})

describe("orMemory", () => {
  it.effect("goes on in memory while the store is gone, says so once, and when it is back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const memory = RateLimitStore.makeMemory()
      let isGone = false
      let asked = 0
      const step = <A>(effect: Effect.Effect<A>) =>
        Effect.suspend(() => {
          asked++
          return isGone
            ? Effect.fail(new StorageUnavailable({ reason: "it is gone" }))
            : effect
        })
      const store: RateLimitStore.Store = {
        reserve: (...args) => step(memory.reserve(...args)),
        settle: (...args) => step(memory.settle(...args)),
        read: (...args) => step(memory.read(...args))
      }
      const lines: Array<readonly [string, string]> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push([logLevel, String(message)]))
      const service = make(() => ({
        body: { data: { id: "1", text: "a" } },
        headers: {
          "x-rate-limit-limit": "900",
          "x-rate-limit-remaining": "800",
          "x-rate-limit-reset": String(start / 1000 + 900)
        }
      }))
      const policy = RateLimit.layerWait().pipe(
        Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, store)),
        Layer.orDie
      )
      const call = catalogue.getPost({ id: "1" })
      yield* Effect.gen(function*() {
        yield* call
        isGone = true
        asked = 0
        // None of them fails, waits or is reported as a refusal.
        for (let i = 0; i < 20; i++) yield* call
        yield* Effect.all(Array.from({ length: 20 }, () => call), { concurrency: "unbounded" })
        assert.strictEqual(asked, 1)
        yield* TestClock.adjust(6_000)
        yield* call
        assert.strictEqual(asked, 2)
        assert.lengthOf(lines, 1)
        isGone = false
        yield* TestClock.adjust(6_000)
        yield* call
        yield* call
        assert.isAbove(asked, 4)
      }).pipe(Effect.provide([Layer.provideMerge(service.layer(), policy), Logger.layer([logger])]))
      assert.lengthOf(service.requests, 44)
      assert.deepStrictEqual(lines, [
        [
          "Warn",
          "The rate limit store does not respond: it is gone. This process continues alone and does not see the " +
          "requests of others"
        ],
        ["Info", "The rate limit store responds again"]
      ])
    }))
})

describe("layerMemory", () => {
  it.effect("lets the clients that get it share their budgets, and not those of other credentials", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const service = make(() => ({
        body: { data: { id: "1", text: "a" } },
        headers: {
          "x-rate-limit-limit": "15",
          "x-rate-limit-remaining": "0",
          "x-rate-limit-reset": String(start / 1000 + 900)
        }
      }))
      const store = RateLimitStore.makeMemory()
      const client = (bearerToken: string, baseUrl = "https://service.test/prefix") =>
        service.layer(
          { bearerToken, baseUrl },
          RateLimit.layerWait({ maxWait: 0 }).pipe(
            Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, store)),
            Layer.orDie
          )
        )
      const call = catalogue.getPost({ id: "1" })
      yield* Effect.provide(call, client("canary-a"))
      assert.strictEqual((yield* Effect.flip(Effect.provide(call, client("canary-a"))))._tag, "RateLimitWaitTooLong")
      yield* Effect.provide(call, client("canary-b"))
      yield* Effect.provide(call, client("canary-a", "https://service.test/prefix/other"))
      assert.lengthOf(service.requests, 3)
    }))
})
