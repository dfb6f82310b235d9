import { assert, describe, it } from "@effect/vitest"
import {
  Arbitrary,
  Clock,
  Context,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Logger,
  Metric,
  Option,
  Random,
  References,
  Schema,
  Stream
} from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import type * as Client from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import type * as Ledger from "../src/rate-limit/Ledger.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as RateLimitStore from "../src/rate-limit/RateLimitStore.ts"
import * as Monotonic from "../src/runtime/Monotonic.ts"
import { rateLimitOf } from "../src/schema/RateLimitHeaders.ts"
import * as MovedClock from "./support/MovedClock.ts"
import * as Recorder from "./support/Recorder.ts"
import { type Answer, assertNoSecret, authorizationOf, make, type Received, secrets } from "./support/Service.ts"

const { bookmark, createPost, getMe, getPost, searchRecentPosts } = catalogue

const ok: Answer = { body: { data: { id: "1", text: "a" } } }

const budget = (remaining: number | string, reset: number | string) => ({
  "x-rate-limit-limit": "15",
  "x-rate-limit-remaining": String(remaining),
  "x-rate-limit-reset": String(reset)
})

/** Nine o'clock: the test clock begins at 0, where no window is. */
const nine = 1_767_258_000

const usageCapped = { title: "UsageCapExceeded", type: "https://api.x.com/2/problems/usage-capped", period: "Monthly" }

/** A service that notes when each request came, in seconds after nine. */
const timed = (
  answer: (index: number, request: Received, now: number) => Answer,
  options?: { readonly maxWait?: number }
) => {
  const arrivals: Array<number> = []
  const service = make((request, index) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      arrivals.push((now - nine * 1000) / 1000)
      return answer(index, request, now / 1000)
    })
  )
  const layer = service.layer(secrets, Layer.orDie(RateLimit.layerWait(options)))
  return { ...service, arrivals, layer }
}

/** Chance that adds nothing, so that pauses have their least length. */
const least = { nextDoubleUnsafe: () => 0, nextIntUnsafe: () => 0 }

const at = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.andThen(TestClock.setTime(nine * 1000), Effect.provideService(effect, Random.Random, least))

/** Runs an effect while time passes as fast as it is waited for. */
const passing = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 4000) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust(seconds * 1000)
    return yield* Fiber.join(fiber)
  })

const oneOf = <A>(values: ReadonlyArray<A>) =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: values.length - 1 }))),
    (index) => values[index]!
  )

/** A header that is left out, right, nearly right, or nonsense. */
const headerNear = (center: number) =>
  Arbitrary.flatMap(
    oneOf(["absent", "near", "number", "date", "odd"]),
    (kind): Arbitrary.Arbitrary<string | undefined> => {
      switch (kind) {
        case "absent":
          return Arbitrary.Constant(undefined)
        case "near":
          return Arbitrary.map(
            Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: -1_000, maximum: 1_000 }))),
            (delta) => String(center + delta)
          )
        case "number":
          return Arbitrary.map(Arbitrary.schema(Schema.Number), String)
        case "date":
          return Arbitrary.map(
            Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: -4e12, maximum: 4e12 }))),
            (millis) => new Date(millis).toUTCString()
          )
        default:
          return oneOf([
            "",
            " ",
            "NaN",
            "-0",
            "1e309",
            "0x10",
            "1,2",
            "soon",
            "Infinity",
            "9".repeat(400),
            "\u00ff",
            "GMT"
          ])
      }
    }
  )

const hostile = Arbitrary.map(
  Arbitrary.all({
    "x-rate-limit-limit": headerNear(15),
    "x-rate-limit-remaining": headerNear(0),
    "x-rate-limit-reset": headerNear(nine),
    "retry-after": headerNear(60),
    date: headerNear(nine)
  }),
  (all): Record<string, string> =>
    Object.fromEntries(Object.entries(all).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]))
)

describe("layerFail", () => {
  it.effect("lets refusals through at once", () =>
    at(Effect.gen(function*() {
      for (const services of [Layer.empty, RateLimit.layerFail]) {
        const service = make(() => ({ status: 429, headers: budget(0, nine + 60) }))
        const error = yield* Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer(secrets, services)))
        assert.instanceOf(error, Errors.RateLimited)
        assert.deepInclude(error, {
          status: 429,
          bucket: "getPost",
          resetAt: new Date((nine + 60) * 1000),
          retryAfter: undefined,
          rateLimit: { limit: 15, remaining: 0, resetAt: new Date((nine + 60) * 1000) }
        })
        assert.lengthOf(service.requests, 1)
      }
    })))
})

describe("layerWait", () => {
  const date = new Date(nine * 1000).toUTCString()
  const late = (seconds: number) => new Date((nine + seconds) * 1000).toUTCString()

  it.effect.each<
    readonly [waits: string, refusals: ReadonlyArray<Record<string, string>>, arrivals: ReadonlyArray<number>]
  >([
    ["for the end of the window after a 429, and a second more", [budget(0, nine + 60)], [0, 61]],
    ["as retry-after says, rather than for the window", [{ ...budget(0, nine + 900), "retry-after": "3" }], [0, 3]],
    ["as retry-after says, if it is long", [{ "retry-after": "120" }], [0, 120]],
    ["a second at least", [{ "retry-after": "0" }], [0, 1]],
    ["until the date of retry-after", [{ "retry-after": late(30), date }], [0, 30]],
    ["no longer for a date that has passed", [{ "retry-after": late(-30), date }], [0, 1]],
    ["briefly when the refusal is not about the window", Array(2).fill(budget(298, nine + 900)), [0, 1, 3]]
  ])("waits %s", ([, refusals, arrivals]) =>
    at(Effect.gen(function*() {
      const service = timed((index) => index < refusals.length ? { status: 429, headers: refusals[index]! } : ok)
      yield* passing(Effect.provide(getPost({ id: "1" }), service.layer))
      assert.deepStrictEqual(service.arrivals, arrivals)
    })))

  it.effect("waits before it sends when the budget is known to be spent", () =>
    at(Effect.gen(function*() {
      const service = timed((index) => ({ ...ok, headers: budget(index === 1 ? 0 : 10, nine + 100) }))
      yield* Effect.gen(function*() {
        yield* getPost({ id: "1" })
        yield* getPost({ id: "2" })
        yield* passing(getPost({ id: "3" }))
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 0, 101])
    })))

  it.effect("goes by the clock of the service", () =>
    at(Effect.gen(function*() {
      for (const skew of [-600, 600]) {
        const service = timed((index, _, now) =>
          index === 0
            ? {
              status: 429,
              headers: { ...budget(0, now + skew + 60), date: new Date((now + skew) * 1000).toUTCString() }
            }
            : ok
        )
        yield* passing(Effect.provide(getPost({ id: "1" }), service.layer), 100)
        assert.strictEqual(service.arrivals[1]! - service.arrivals[0]!, 61)
      }
    })))

  it.effect("waits longer and longer when a 429 says nothing usable, eight times at most", () =>
    at(Effect.gen(function*() {
      const headers: ReadonlyArray<Record<string, string>> = [
        {},
        budget("", ""),
        budget(0, "soon"),
        budget(0, -1),
        budget(0, 0),
        budget(0, 1e15),
        budget(0, nine - 60),
        budget(0, nine * 1000),
        budget(0, "Infinity"),
        { "x-rate-limit-reset": "9".repeat(400) },
        { "retry-after": "soon" },
        { "retry-after": "-5" },
        { "retry-after": "" },
        { "retry-after": "1e3" },
        { ...budget(0, nine + 60), date: "Thu, 01 Jan 1970 00:00:00 GMT" }
      ]
      for (const header of headers) {
        yield* TestClock.setTime(nine * 1000)
        const service = timed(() => ({ status: 429, headers: header }))
        const error = yield* passing(Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer)))
        assert.instanceOf(error, Errors.RateLimited)
        assert.deepStrictEqual(service.arrivals, [0, 1, 3, 7, 15, 31, 63, 127], JSON.stringify(header))
      }
    })))

  it.effect("counts refusals with requests remaining apart from others", () =>
    at(Effect.gen(function*() {
      const service = timed((index) =>
        index < 4
          ? { status: 429, headers: { "retry-after": "1" } }
          : index < 7
          ? { status: 429, headers: budget(298, nine + 900) }
          : ok
      )
      yield* passing(Effect.provide(getPost({ id: "1" }), service.layer), 100)
      assert.deepStrictEqual(service.arrivals, [0, 1, 2, 3, 4, 5, 7, 11])
    })))

  it.effect("spreads the pauses of clients that were refused together", () =>
    at(Effect.gen(function*() {
      const service = timed(() => ({ status: 429, headers: {} }))
      const most = { nextDoubleUnsafe: () => 1, nextIntUnsafe: () => 0 }
      yield* passing(Effect.provide(getPost({ id: "1" }), service.layer).pipe(Effect.ignore)).pipe(
        Effect.provideService(Random.Random, most)
      )
      assert.deepStrictEqual(service.arrivals, [0, 1.5, 4.5, 10.5, 22.5, 46.5, 94.5, 190.5])
    })))

  it.effect("gives up on a short limit within 15 seconds, however long the pauses happen to be", () =>
    at(Effect.gen(function*() {
      for (const chance of [0, 1]) {
        yield* TestClock.setTime(nine * 1000)
        const service = timed(() => ({ status: 429, headers: budget(298, nine + 900) }))
        const error = yield* passing(Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer))).pipe(
          Effect.provideService(Random.Random, { nextDoubleUnsafe: () => chance, nextIntUnsafe: () => 0 })
        )
        assert.instanceOf(error, Errors.RateLimited)
        const since = service.arrivals.map((arrival) => arrival - service.arrivals[0]!)
        assert.deepStrictEqual(since, chance === 0 ? [0, 1, 3, 7, 12] : [0, 1.2, 3.6, 8.4, 14.4])
      }
    })))

  it.effect.prop(
    "survives every header, asks at most eight times, and never twice in a second",
    { headers: hostile },
    ({ headers }) =>
      at(Effect.gen(function*() {
        const service = timed(() => ({ status: 429, headers }))
        const error = yield* passing(Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer)), 20_000)
        assert.include(["RateLimited", "RateLimitWaitTooLong"], error._tag)
        assert.isAtMost(service.arrivals.length, 8)
        service.arrivals.reduce((before, arrival) => {
          assert.isAtLeast(arrival - before, 1)
          return arrival
        })
      })),
    { arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 400 : 150 } }
  )

  it.effect("refuses settings that are no wait", () =>
    Effect.gen(function*() {
      for (const maxWait of [NaN, -1, "5"]) {
        const error = yield* Effect.flip(
          Effect.scoped(Layer.build(RateLimit.layerWait({ maxWait: maxWait as number })))
        )
        assert.strictEqual(error.message, "maxWait must be a number of milliseconds from 0.")
      }
    }))

  it.effect("refuses to wait longer than maxWait", () =>
    at(Effect.gen(function*() {
      const answers: ReadonlyArray<readonly [Record<string, string>, number]> = [
        [budget(0, nine + 300), 301],
        [{ "retry-after": "1000000000" }, 1_000_000_000]
      ]
      for (const [headers, wait] of answers) {
        const service = timed(() => ({ status: 429, headers }), { maxWait: 60_000 })
        const error = yield* Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer))
        assert.instanceOf(error, Errors.RateLimitWaitTooLong)
        assert.deepInclude(error, { operation: "getPost", bucket: "getPost", maxWait: 60_000 })
        assert.deepStrictEqual(error.resetAt, new Date((nine + wait) * 1000))
        assert.lengthOf(service.requests, 1)
      }
      const exact = timed((index) => index === 0 ? { status: 429, headers: budget(0, nine + 59) } : ok, {
        maxWait: 60_000
      })
      yield* passing(Effect.provide(getPost({ id: "1" }), exact.layer))
      assert.deepStrictEqual(exact.arrivals, [0, 60])
    })))

  it.effect("is guarded by a policy around it", () =>
    Effect.gen(function*() {
      for (const inner of [RateLimit.layerFail, Layer.orDie(RateLimit.layerWait())]) {
        const operations: Array<string> = []
        const outer = Layer.effect(
          RateLimit.RateLimit,
          Effect.map(RateLimit.RateLimit, (policy): RateLimit.RateLimit => ({
            ...policy,
            guard: (bucket, send, patience) => {
              operations.push(bucket.operation)
              return policy.guard(bucket, send, patience)
            }
          }))
        )
        const service = make(() => ok)
        const layer = service.layer(secrets, Layer.provide(outer, inner))
        yield* Effect.provide(getPost({ id: "1" }), layer)
        assert.deepStrictEqual(operations, ["getPost"])
      }
    }))

  it.effect("survives times that no date can tell", () =>
    Effect.gen(function*() {
      const [first, last] = ["Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 13 Sep 275760 00:00:00 GMT"]
      const answers: ReadonlyArray<Record<string, string>> = [
        { "retry-after": last, date: first },
        { ...budget(0, 8_640_000_000_500), date: last }
      ]
      for (const headers of answers) {
        const told: Array<RateLimit.Change> = []
        const refusing = make(() => ({ status: 429, headers }))
        for (const maxWait of [1_000, Infinity]) {
          yield* Effect.gen(function*() {
            const { listen } = yield* RateLimit.RateLimit
            yield* Effect.sync(() => listen((change) => told.push(change)))
            const fiber = yield* Effect.forkChild(Effect.exit(getPost({ id: "1" })))
            yield* TestClock.adjust(60_000)
            const exit = yield* Fiber.interrupt(fiber).pipe(Effect.andThen(Fiber.await(fiber)))
            assert.notInclude(String(exit), "Die")
          }).pipe(
            Effect.provide(Layer.provideMerge(refusing.layer(), Layer.orDie(RateLimit.layerWait({ maxWait }))))
          )
        }
        assert.isNotEmpty(told)
        for (const change of told) {
          assert.isFinite((change._tag === "Waiting" ? change.until : change.resetAt).getTime())
        }
      }
    }))

  it.effect("does not remember a retry-after for other calls", () =>
    at(Effect.gen(function*() {
      const service = timed((index) => index === 0 ? { status: 429, headers: { "retry-after": "1000000000" } } : ok)
      yield* Effect.gen(function*() {
        yield* Effect.flip(getPost({ id: "1" }))
        yield* getPost({ id: "1" })
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 0])
    })))

  it.effect("does not wait for a usage cap, which no window cures", () =>
    at(Effect.gen(function*() {
      for (const body of [usageCapped, { errors: [usageCapped] }]) {
        const service = timed(() => ({ status: 429, headers: budget(0, nine + 60), body }))
        const error = yield* Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer))
        assert.instanceOf(error, Errors.RateLimited)
        assert.deepStrictEqual(error.problems as unknown, [usageCapped])
        assert.deepStrictEqual(service.arrivals, [0])
      }
    })))

  it.effect("waits for nothing but a 429", () =>
    at(Effect.gen(function*() {
      for (const status of [400, 401, 403, 404, 500, 503]) {
        const service = timed(() => ({ status, headers: { "retry-after": "5" } }))
        yield* Effect.flip(Effect.provide(getPost({ id: "1" }), service.layer))
        assert.lengthOf(service.requests, 1)
      }
    })))

  it.effect("keeps apart operations and credentials", () =>
    at(Effect.gen(function*() {
      const service = timed(() => ({ ...ok, headers: budget(0, nine + 100) }))
      yield* Effect.gen(function*() {
        yield* getPost({ id: "1" })
        yield* getPost({ id: "1", user_auth: true })
        yield* getMe({ user_auth: false })
        yield* getMe()
        assert.deepStrictEqual(service.arrivals, [0, 0, 0, 0])
        yield* passing(Effect.all([getPost({ id: "1" }), getMe()], { concurrency: 2 }))
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 0, 0, 0, 101, 101])
    })))

  it.effect("keeps apart clients", () =>
    at(Effect.gen(function*() {
      const service = timed(() => ({ ...ok, headers: budget(0, nine + 100) }))
      yield* Effect.provide(getPost({ id: "1" }), service.layer)
      const other = service.layer.pipe(Layer.fresh)
      yield* Effect.provide(getPost({ id: "1" }), other)
      assert.deepStrictEqual(service.arrivals, [0, 0])
    })))

  it.effect("signs every try anew", () =>
    at(Effect.gen(function*() {
      const service = timed((index) => index < 2 ? { status: 429, headers: {} } : { ...ok, status: 201 })
      yield* passing(Effect.provide(createPost({ text: "a" }), service.layer))
      assert.lengthOf(service.requests, 3)
      for (const request of service.requests) assert.strictEqual(authorizationOf(request), "oauth1")
      assert.strictEqual(new Set(service.requests.map(({ headers }) => headers["authorization"])).size, 3)
      assert.strictEqual(new Set(service.requests.map(({ body }) => body)).size, 1)
    })))

  it.effect("applies to the lookup of the id", () =>
    at(Effect.gen(function*() {
      const service = timed((index, { path }) =>
        path !== "/2/users/me"
          ? { body: { data: { bookmarked: true } } }
          : index === 0
          ? { status: 429, headers: budget(0, nine + 60) }
          : { body: { data: { id: "7" } } }
      )
      yield* passing(Effect.provide(catalogue.bookmark({ post_id: "1" }), service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 61, 61])
    })))

  it.effect("bounds the wait as a whole, also that of who stands behind others", () =>
    at(Effect.gen(function*() {
      // Strangers use every window before this client does.
      const spent = timed((_, __, now) => ({ status: 429, headers: budget(0, (Math.floor(now / 60) + 1) * 60) }), {
        maxWait: 150_000
      })
      const error = yield* passing(Effect.flip(Effect.provide(getPost({ id: "1" }), spent.layer)))
      assert.instanceOf(error, Errors.RateLimitWaitTooLong)
      assert.deepStrictEqual(spent.arrivals, [0, 61, 121])
      yield* TestClock.setTime(nine * 1000)
      const service = windowed({ limit: 1, window: 60, maxWait: 150_000 })
      const ended: Array<readonly [string, number]> = []
      yield* passing(
        Effect.forEach(ids(5), (id) =>
          Effect.flatMap(Effect.exit(getPost({ id })), ({ _tag }) =>
            Effect.map(Clock.currentTimeMillis, (now) =>
              ended.push([_tag, Math.round(now / 1000 - nine)]))), {
          concurrency: "unbounded"
        }).pipe(Effect.provide(service.layer))
      )
      assert.deepStrictEqual(ended, [
        ["Success", 0],
        ["Success", 61],
        ["Success", 122],
        ["Failure", 122],
        ["Failure", 122]
      ])
    })))

  it.effect("lasts as long as was announced, whatever the wall clock is set to", () =>
    at(Effect.gen(function*() {
      for (const move of [-3_600_000, 3_600_000]) {
        yield* TestClock.setTime(nine * 1000)
        const wall = yield* MovedClock.make
        const arrivals: Array<number> = []
        const service = make((_, index) =>
          Effect.map(Monotonic.millis, (now) => {
            arrivals.push(now)
            return index === 0 ? { status: 429, headers: budget(0, nine + 60) } : ok
          })
        )
        const layer = service.layer(secrets, Layer.orDie(RateLimit.layerWait()))
        const fiber = yield* Effect.forkChild(wall.provide(Effect.provide(getPost({ id: "1" }), layer)))
        yield* TestClock.adjust(10_000)
        wall.move(move)
        yield* TestClock.adjust(60_000)
        yield* Fiber.join(fiber)
        assert.strictEqual(arrivals[1]! - arrivals[0]!, 61_000)
      }
    })))

  it.effect("learns nothing from the refusal of a gateway, which announces no budget", () =>
    at(Effect.gen(function*() {
      for (const status of [401, 403, 404, 429, 302]) {
        yield* TestClock.setTime(nine * 1000)
        const service = windowed({ limit: 16, window: 60, latency: 100, gateway: status })
        yield* passing(
          Effect.provide(
            Effect.andThen(Effect.exit(getPost({ id: "0" })), Effect.andThen(Effect.sleep(2_000), together(50))),
            service.layer
          ),
          400
        )
        assert.strictEqual(service.state.refusals, 0, String(status))
      }
    })))

  it.effect("has every caller that waits learn from the refusals of one, in this client and in others", () =>
    at(Effect.gen(function*() {
      const cases = [[{}, 8, 130], [budget(298, nine + 900), 5, 13]] as const
      for (const [headers, tries, seconds] of cases) {
        yield* TestClock.setTime(nine * 1000)
        const store = RateLimitStore.makeMemory()
        const service = make(() => ({ status: 429, headers }))
        const client = () =>
          service.layer(
            secrets,
            Layer.fresh(Layer.orDie(RateLimit.layerWait())).pipe(
              Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, store))
            )
          )
        const call = (id: string) => Effect.flip(getPost({ id }))
        const errors = yield* passing(
          Effect.forEach(ids(3), call, { concurrency: "unbounded" }).pipe(Effect.provide(client())),
          seconds
        )
        for (const error of errors) {
          assert.instanceOf(error, Errors.RateLimited)
          assert.notInclude(error.message, "waitOnRateLimit")
        }
        assert.lengthOf(service.requests, tries)
        yield* passing(Effect.provide(call("4"), client()), 200)
        assert.lengthOf(service.requests, tries + 1)
      }
    })))

  it.effect("can be interrupted", () =>
    at(Effect.gen(function*() {
      const service = timed(() => ({ status: 429, headers: budget(0, nine + 900) }))
      const fiber = yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }), service.layer))
      yield* TestClock.adjust(1000)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(2_000_000)
      assert.lengthOf(service.requests, 1)
    })))

  it.effect("says that it waits, and gives no secret away", () =>
    at(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      const service = timed((index) => index === 0 ? { status: 429, headers: budget(0, nine + 60) } : ok)
      yield* passing(Effect.provide(getPost({ id: "1" }), service.layer)).pipe(Effect.provide(logger))
      assert.deepStrictEqual(lines, ["getPost waits 61 s: its rate limit is exhausted"])
    })))

  it.effect("lets no other call into a window that one found spent", () =>
    at(Effect.gen(function*() {
      const service = timed((_, __, now) => now < nine + 60 ? { status: 429, headers: budget(0, nine + 60) } : ok)
      yield* passing(
        Effect.forEach([1, 2, 3, 4, 5], (id) => getPost({ id }), { concurrency: "unbounded" }).pipe(
          Effect.provide(service.layer)
        )
      )
      assert.deepStrictEqual(service.arrivals, [0, 61, 61, 61, 61, 61])
    })))
})

/** A service that counts requests in fixed windows, and takes `latency` milliseconds for each. */
const windowed = (options: {
  readonly limit: number
  readonly window: number
  readonly latency?: number
  readonly skew?: number
  readonly maxWait?: number
  /** What a gateway answers to the first request. */
  readonly gateway?: number
}) => {
  const arrivals: Array<{ readonly id: string; readonly at: number }> = []
  const state = { end: 0, used: 0, refusals: 0, inFlight: 0 }
  const service = make(({ path }, index) =>
    Effect.gen(function*() {
      if (index === 0 && options.gateway !== undefined) return { status: options.gateway }
      const now = yield* Clock.currentTimeMillis
      arrivals.push({ id: path.slice(path.lastIndexOf("/") + 1), at: (now - nine * 1000) / 1000 })
      if (now >= state.end) Object.assign(state, { end: now + options.window * 1000, used: 0 })
      const allowed = state.used < options.limit
      if (allowed) state.used++
      else state.refusals++
      const headers = {
        "x-rate-limit-limit": String(options.limit),
        "x-rate-limit-remaining": String(options.limit - state.used),
        "x-rate-limit-reset": String(Math.ceil(state.end / 1000) + (options.skew ?? 0)),
        date: new Date(now + (options.skew ?? 0) * 1000).toUTCString()
      }
      yield* Effect.sleep(options.latency ?? 0)
      return allowed ? { ...ok, headers } : { status: 429, headers }
    })
  )
  const layer = Layer.provideMerge(service.layer(), Layer.orDie(RateLimit.layerWait({ maxWait: options.maxWait })))
  return { arrivals, state, layer }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))

const together = (count: number) => Effect.forEach(ids(count), (id) => getPost({ id }), { concurrency: "unbounded" })

describe("reservation", () => {
  it.effect("lets no request of 50 at once out of a budget of 15, uses all of it, and serves them in turn", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 15, window: 60, latency: 120 })
      yield* passing(Effect.provide(together(50), service.layer), 300)
      assert.strictEqual(service.state.refusals, 0)
      assert.deepStrictEqual(service.arrivals.map(({ id }) => id), ids(50))
      const perWindow = [0, 1, 2, 3].map((window) =>
        service.arrivals.filter(({ at }) => at >= window * 61 && at < window * 61 + 60).length
      )
      assert.deepStrictEqual(perWindow, [15, 15, 15, 5])
    })))

  it.effect("asks about an unknown window with one request", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 900, window: 60, latency: 200 })
      yield* passing(Effect.provide(together(20), service.layer))
      assert.deepStrictEqual(service.arrivals.map(({ at }) => at), [0, ...Array.from({ length: 19 }, () => 0.2)])
    })))

  it.effect("asks once more when that one gets no answer", () =>
    at(Effect.gen(function*() {
      const arrivals: Array<number> = []
      const service = make((_, index) =>
        Effect.gen(function*() {
          arrivals.push((yield* Clock.currentTimeMillis) / 1000 - nine)
          return index === 0 ? yield* Effect.never : ok
        })
      )
      const layer = service.layer(secrets, Layer.orDie(RateLimit.layerWait()))
      const fiber = yield* Effect.forkChild(Effect.provide(together(3), layer))
      yield* TestClock.adjust(10_000)
      assert.strictEqual(arrivals[0], 0)
      assert.isAtLeast(arrivals[1]!, 5)
      assert.isAtMost(arrivals[1]!, 5.2)
      assert.lengthOf(arrivals, 3)
      yield* Fiber.interrupt(fiber)
    })))

  it.effect("takes a service that announces nothing to have no limit", () =>
    at(Effect.gen(function*() {
      const service = timed(() => ok)
      yield* passing(Effect.provide(together(20), service.layer), 1)
      assert.deepStrictEqual(service.arrivals, Array.from({ length: 20 }, () => 0))
    })))

  it.effect("goes by the service's clock, ten minutes before or behind", () =>
    at(Effect.gen(function*() {
      for (const skew of [-600, 600]) {
        const service = windowed({ limit: 15, window: 60, latency: 10, skew })
        yield* passing(Effect.provide(together(30), service.layer), 200)
        assert.strictEqual(service.state.refusals, 0)
        assert.isAtMost(service.arrivals.at(-1)!.at - service.arrivals[0]!.at, 62)
      }
    })))

  it.effect("sees what others use of the budget", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 15, window: 60, latency: 10 })
      yield* Effect.gen(function*() {
        yield* passing(getPost({ id: "1" }), 1)
        service.state.used += 10
        yield* passing(getPost({ id: "2" }), 1)
        yield* passing(together(10), 100)
      }).pipe(Effect.provide(service.layer))
      assert.strictEqual(service.state.refusals, 0)
    })))

  it.effect("is given back at once when a caller is interrupted: in flight, in line, and while it sleeps", () =>
    at(Effect.gen(function*() {
      const arrivals: Array<string> = []
      const service = make(({ path }, index) => {
        arrivals.push(path.slice(-1))
        return Effect.delay(Effect.succeed({ ...ok, headers: budget(2, nine + 600) }), index === 0 ? 0 : 1_000)
      })
      yield* Effect.gen(function*() {
        yield* getPost({ id: "0" })
        // Two may be in flight. The third waits for an answer, the fourth and the fifth stand behind it.
        const [first, , third, fourth] = yield* Effect.forEach(ids(5), (id) => Effect.forkChild(getPost({ id })))
        yield* TestClock.adjust(10)
        assert.deepStrictEqual(arrivals, ["0", "1", "2"])
        yield* Fiber.interrupt(fourth!)
        yield* Fiber.interrupt(third!)
        assert.strictEqual((yield* RateLimit.snapshot)[0]?.inFlight, 2)
        yield* Fiber.interrupt(first!)
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(arrivals, ["0", "1", "2", "5"])
        assert.strictEqual((yield* RateLimit.snapshot)[0]?.inFlight, 2)
        yield* TestClock.adjust(1_000)
        assert.strictEqual((yield* RateLimit.snapshot)[0]?.inFlight, 0)
      }).pipe(Effect.provide(Layer.provideMerge(service.layer(), Layer.orDie(RateLimit.layerWait()))))
    })))
})

describe("a shared store", () => {
  const client = (service: ReturnType<typeof make>, store: RateLimitStore.Store, options?: RateLimit.WaitOptions) =>
    service.layer(
      secrets,
      Layer.fresh(Layer.orDie(RateLimit.layerWait(options))).pipe(
        Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, store))
      )
    )

  it.effect("serves the callers of all processes in the order in which they came", () =>
    at(Effect.gen(function*() {
      let end = 0
      let used = 0
      const order: Array<string> = []
      const service = make(({ path }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (now >= end) [end, used] = [now + 60_000, 0]
          const isAllowed = used < 2
          if (isAllowed) order.push(path.slice(path.lastIndexOf("/") + 1))
          if (isAllowed) used++
          return { ...ok, status: isAllowed ? 200 : 429, headers: budget(2 - used, end / 1000) }
        })
      )
      const store = RateLimitStore.makeMemory()
      yield* Effect.gen(function*() {
        const [one, two, three] = yield* Effect.all([0, 1, 2].map(() => Layer.build(client(service, store))))
        const expected: Array<string> = []
        const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
        // The calls of the three come by turns, three seconds apart, much faster than they can be sent.
        for (let i = 0; i < 12; i++) {
          const id = String(i)
          expected.push(id)
          fibers.push(yield* Effect.forkChild(Effect.provide(getPost({ id }), [one!, two!, three!][(i * 2) % 3]!)))
          yield* TestClock.adjust(3_000)
        }
        yield* TestClock.adjust(600_000)
        for (const fiber of fibers) yield* Fiber.join(fiber)
        assert.deepStrictEqual(order, expected)
      }).pipe(Effect.scoped)
    })))

  it.effect("that settles nothing holds up no caller: answered, refused or interrupted", () =>
    at(Effect.gen(function*() {
      const sent = yield* Deferred.make<void>()
      const service = make((_, index) =>
        index === 0
          ? ok
          : index === 1
          ? { status: 404 }
          : Effect.andThen(Deferred.succeed(sent, undefined), Effect.never)
      )
      const done = yield* Deferred.make<void>()
      const memory = RateLimitStore.makeMemory()
      let ended = 0
      const settle = (...args: Parameters<typeof memory.settle>) =>
        Effect.andThen(memory.settle(...args), Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended++)))
      const layer = client(service, { ...memory, settle })
      const fiber = yield* Effect.forkChild(
        Effect.gen(function*() {
          yield* getPost({ id: "1" })
          yield* Effect.flip(getPost({ id: "2" }))
          const third = yield* Effect.forkChild(getPost({ id: "3" }))
          yield* Deferred.await(sent)
          yield* Fiber.interrupt(third)
          yield* Deferred.succeed(done, undefined)
        }).pipe(Effect.provide(layer))
      )
      yield* Deferred.await(done)
      // Closing the client gives what is under way two seconds.
      while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(100))
      yield* Fiber.join(fiber)
      assert.strictEqual(ended, 3)
    })))

  it.effect("that does not answer holds up no caller beyond its time, and none that is interrupted", () =>
    at(Effect.gen(function*() {
      const service = make(() => ok)
      const layer = client(service, { ...RateLimitStore.makeMemory(), reserve: () => Effect.never })
      const fiber = yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }, { timeout: 700 }), layer))
      yield* TestClock.adjust(699)
      assert.lengthOf(service.requests, 0)
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      assert.lengthOf(service.requests, 1)
      const other = yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }), layer))
      yield* TestClock.adjust(10)
      yield* Fiber.interrupt(other)
    })))

  it.effect("that does not answer holds up all who wait for it together, and no lookup longer", () =>
    at(Effect.gen(function*() {
      const data = { id: "7", name: "a", username: "b" }
      const service = make(({ path }) => ({ body: { data: path.endsWith("/me") ? data : { bookmarked: true } } }))
      const layer = client(service, {
        ...RateLimitStore.makeMemory(),
        reserve: () => Effect.never,
        settle: () => Effect.never
      })
      const fiber = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 10 }, (_, index) => String(index + 1)),
          (post_id) => bookmark({ post_id }, { timeout: 300 }),
          { concurrency: "unbounded" }
        ).pipe(Effect.provide(layer))
      )
      yield* TestClock.adjust(299)
      assert.lengthOf(service.requests, 0)
      yield* TestClock.adjust(1)
      assert.lengthOf(service.requests, 11)
      // Closing the client gives what is under way two seconds.
      yield* TestClock.adjust(2_000)
      yield* Fiber.join(fiber)
    })))
})

describe("a caller at the head of its queue", () => {
  const bucket: RateLimit.Bucket = { operation: "getPost", credential: "bearer", key: "key", pace: 1_000 }

  /** A policy whose store decides as given, by the number of the request, and the reports that the store gets. */
  const scripted = (
    reserve: (index: number) => Effect.Effect<Ledger.Decision>,
    settled: Array<Ledger.Report> = []
  ) => {
    let asked = 0
    return Layer.fresh(Layer.orDie(RateLimit.layerWait())).pipe(
      Layer.provide(Layer.succeed(RateLimitStore.RateLimitStore, {
        ...RateLimitStore.makeMemory(),
        reserve: () => Effect.suspend(() => reserve(asked++)),
        settle: (_key, _lease, report) => Effect.sync(() => void settled.push(report))
      }))
    )
  }
  const granted: Ledger.Decision = { granted: true, refusals: 0, briefs: 0 }
  const response = (init?: ResponseInit) =>
    HttpClientResponse.fromWeb(HttpClientRequest.get("https://service.test"), new globalThis.Response("", init))

  it.effect("reports that it waits for requests in flight a second after it began to, whatever it waited for before", () =>
    at(Effect.gen(function*() {
      for (const [polled, expected] of [[500, ["window"]], [2_000, ["window", "in flight"]]] as const) {
        const begun = yield* Clock.currentTimeMillis
        const reserve = () =>
          Effect.map(Clock.currentTimeMillis, (now): Ledger.Decision => {
            const rest = begun + 600_000 - now
            return rest > 0
              ? { granted: false, reason: "window", millis: rest }
              : rest > -polled
              ? { granted: false, reason: "in flight", millis: 25 }
              : granted
          })
        const waits: Array<RateLimit.Waiting["reason"]> = []
        yield* Effect.gen(function*() {
          const { guard, listen } = yield* RateLimit.RateLimit
          listen((change) => change._tag === "Waiting" && waits.push(change.reason))
          yield* passing(guard(bucket, Effect.succeed(response())), 700)
        }).pipe(Effect.provide(scripted(reserve)))
        assert.deepStrictEqual(waits, [...expected])
      }
    })))

  it.effect("asks again if another request was settled before the store answered", () =>
    at(Effect.gen(function*() {
      const refused: Ledger.Decision = { granted: false, reason: "refusal", millis: 60_000 }
      const reserve = (index: number) =>
        index === 1 ? Effect.delay(Effect.succeed(refused), 100) : Effect.succeed(granted)
      yield* Effect.gen(function*() {
        const { guard } = yield* RateLimit.RateLimit
        yield* Effect.forkChild(guard(bucket, Effect.delay(Effect.succeed(response()), 50)))
        const second = yield* Effect.forkChild(guard(bucket, Effect.succeed(response())))
        yield* TestClock.adjust(100)
        assert.isDefined(second.pollUnsafe())
      }).pipe(Effect.provide(scripted(reserve)))
    })))

  it.effect("does not count as answered if it got the response of another", () =>
    at(Effect.gen(function*() {
      const settled: Array<Ledger.Report> = []
      const reserve = (index: number) =>
        Effect.delay(Effect.succeed({ ...granted, briefs: 4 }), index === 1 ? 5_000 : 0)
      yield* Effect.gen(function*() {
        const { guard } = yield* RateLimit.RateLimit
        const refusal = response({ status: 429, headers: budget(298, nine + 900) })
        yield* Effect.forkChild(guard(bucket, Effect.delay(Effect.succeed(refusal), 10)))
        const second = yield* Effect.forkChild(guard(bucket, Effect.die("not sent")))
        yield* TestClock.adjust(6_000)
        assert.strictEqual(yield* Fiber.join(second), refusal)
        yield* guard(bucket, Effect.succeed(response()))
        assert.deepStrictEqual(settled.map(({ next }) => next), [1_013, undefined, 1_013])
      }).pipe(Effect.provide(scripted(reserve, settled)))
    })))
})

describe("pace", () => {
  const paced = () => {
    const service = timed((index) =>
      index % 2 === 0 ? { body: { data: [], meta: { next_token: `t${index}` } } } : { body: { data: [], meta: {} } }
    )
    const gaps = () => service.arrivals.slice(1).map((arrival, index) => arrival - service.arrivals[index]!)
    return { ...service, gaps }
  }

  it.effect("keeps calls and pages of the full archive a second apart, in one fiber and in ten", () =>
    at(Effect.gen(function*() {
      const operations = [
        [catalogue.searchAllPosts({ query: "a" }), Stream.runDrain(catalogue.searchAllPosts.pages({ query: "a" }))],
        [catalogue.getAllPostsCount({ query: "a" }), Stream.runDrain(catalogue.getAllPostsCount.pages({ query: "a" }))]
      ] as const
      for (const [call, pages] of operations) {
        const service = paced()
        yield* Effect.gen(function*() {
          for (let i = 0; i < 5; i++) yield* passing<unknown, Errors.AnyError, Client.Client>(call, 2)
          yield* passing<void, Errors.AnyError, Client.Client>(pages, 10)
          const ten = Array.from({ length: 10 }, (): Effect.Effect<unknown, Errors.AnyError, Client.Client> => call)
          yield* passing(Effect.all(ten, { concurrency: "unbounded" }), 20)
        }).pipe(Effect.provide(service.layer))
        assert.isAtLeast(service.arrivals.length, 16)
        for (const gap of service.gaps()) assert.isAtLeast(gap, 1)
      }
    })))

  it.effect("is measured from the last request: work between them costs nothing", () =>
    at(Effect.gen(function*() {
      const service = paced()
      yield* Effect.gen(function*() {
        yield* catalogue.searchAllPosts({ query: "a" })
        yield* TestClock.adjust(5_000)
        yield* catalogue.searchAllPosts({ query: "a" })
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 5])
    })))

  it.effect("counts from the answer where there was no connection: at first, and after three seconds without a request", () =>
    at(Effect.gen(function*() {
      const arrivals: Array<number> = []
      const connecting = [500, 0, 0, 500, 0]
      const service = make((_, index) =>
        Effect.delay(Clock.currentTimeMillis, connecting[index] ?? 0).pipe(
          Effect.map((now): Answer => {
            arrivals.push(now - nine * 1000)
            return { body: { data: [], meta: {} } }
          })
        )
      )
      const call = catalogue.searchAllPosts({ query: "a" })
      yield* Effect.gen(function*() {
        yield* passing<unknown, Errors.AnyError, Client.Client>(call, 0.5)
        yield* passing<unknown, Errors.AnyError, Client.Client>(call, 2)
        yield* TestClock.adjust(500)
        yield* passing<unknown, Errors.AnyError, Client.Client>(call, 0)
        yield* TestClock.adjust(3_001)
        yield* passing<unknown, Errors.AnyError, Client.Client>(call, 0.5)
        yield* passing<unknown, Errors.AnyError, Client.Client>(call, 2)
      }).pipe(Effect.provide(service.layer(secrets, Layer.orDie(RateLimit.layerWait())))) // Waits are whole milliseconds, rounded up.
      ;[500, 1_513, 3_000, 6_501, 7_514].forEach((expected, index) => assert.closeTo(arrivals[index]!, expected, 1))
    })))

  it.effect("is each operation's own, and that of no other", () =>
    at(Effect.gen(function*() {
      const service = paced()
      yield* Effect.gen(function*() {
        yield* catalogue.searchAllPosts({ query: "a" })
        yield* catalogue.getAllPostsCount({ query: "a" })
        yield* searchRecentPosts({ query: "a" })
        yield* searchRecentPosts({ query: "a" })
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 0, 0, 0])
      assert.deepStrictEqual(
        Object.values(catalogue).map(({ definition }) => definition).filter(({ pace }) => pace !== undefined)
          .map(({ name, pace }) => [name, pace]),
        [["getAllPostsCount", 1000], ["searchAllPosts", 1000]]
      )
    })))

  it.effect("is not kept without waiting", () =>
    at(Effect.gen(function*() {
      const service = make(() => ({ body: { data: [] } }))
      yield* Effect.provide(
        Effect.andThen(catalogue.searchAllPosts({ query: "a" }), catalogue.searchAllPosts({ query: "a" })),
        service.layer()
      )
      assert.lengthOf(service.requests, 2)
    })))
})

describe("what can be seen", () => {
  for (const [policy, limits] of [["layerWait", RateLimit.layerWait()], ["layerFail", RateLimit.layerFail]] as const) {
    it.effect(`is what the client knows, to which ${policy} was provided`, () =>
      at(Effect.gen(function*() {
        const service = make(() => ({ ...ok, headers: budget(7, nine + 600) }))
        const known = yield* Effect.gen(function*() {
          const changes = yield* Effect.forkChild(Stream.runHead(RateLimit.changes))
          yield* Effect.yieldNow
          yield* getPost({ id: "1" })
          const first = yield* Fiber.join(changes)
          assert.isTrue(Option.isSome(first))
          return yield* RateLimit.snapshot
        }).pipe(Effect.provide(service.layer(secrets, Layer.orDie(limits))))
        assert.deepStrictEqual(known.map(({ operation, remaining }) => ({ operation, remaining })), [
          { operation: "getPost", remaining: 7 }
        ])
      })))
  }

  it.effect("is what the head of an answer said, whose body was lost", () =>
    at(Effect.gen(function*() {
      for (const policy of [RateLimit.layerFail, Layer.orDie(RateLimit.layerWait())]) {
        for (const status of [200, 404]) {
          const brokenOff = () => new ReadableStream({ start: (controller) => controller.error(new Error("reset")) })
          for (const body of [brokenOff, () => "longer than it may be"]) {
            const service = make(() => ({ status, body: body(), headers: budget(7, nine + 600) }), { tells: false })
            const known = yield* Effect.andThen(Effect.flip(getPost({ id: "1" })), RateLimit.snapshot).pipe(
              Effect.provide(service.layer({ ...secrets, maxBodySize: 10 }, policy))
            )
            assert.deepStrictEqual(known.map(({ inFlight, remaining }) => ({ inFlight, remaining })), [
              { inFlight: 0, remaining: 7 }
            ])
          }
        }
      }
    })))

  it.effect("is told to every listener, whatever another one throws or rejects with", () =>
    Effect.gen(function*() {
      const service = make(() => ({ ...ok, headers: budget(7, 600) }))
      const told: Array<string> = []
      yield* Effect.gen(function*() {
        const { listen } = yield* RateLimit.RateLimit
        listen(() => {
          throw new Error("ignored")
        })
        listen(async () => {
          throw new Error("ignored")
        })
        listen(({ operation }) => told.push(operation))
        yield* getPost({ id: "1" })
      }).pipe(Effect.provide(service.layer(secrets, RateLimit.layerFail)))
      assert.deepStrictEqual(told, ["getPost"])
    }))

  it.effect("is a snapshot of every budget, whether refusals are waited out or not", () =>
    at(Effect.gen(function*() {
      for (const policy of [RateLimit.layerFail, Layer.orDie(RateLimit.layerWait())]) {
        const service = make(() =>
          Effect.map(Clock.currentTimeMillis, (now) => ({
            ...ok,
            headers: budget(7, now / 1000 + 60)
          }))
        )
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* RateLimit.snapshot, [])
          yield* getPost({ id: "1" })
          yield* getMe()
          const start = yield* Clock.currentTimeMillis
          const shot = yield* RateLimit.snapshot
          assert.deepStrictEqual(shot.map(({ bucket: _, ...rest }) => rest), [
            {
              operation: "getPost",
              credential: "bearer",
              limit: 15,
              remaining: 7,
              resetAt: new Date(start + 60_000),
              inFlight: 0
            },
            {
              operation: "getMe",
              credential: "oauth1",
              limit: 15,
              remaining: 7,
              resetAt: new Date(start + 60_000),
              inFlight: 0
            }
          ])
          assertNoSecret(shot)
          yield* TestClock.adjust(62_000)
          assert.deepInclude((yield* RateLimit.snapshot)[0], { remaining: undefined, resetAt: undefined })
        }).pipe(Effect.provide(Layer.provideMerge(service.layer(), policy)))
      }
    })))

  it.effect("are announcements and waits: as a stream, as log lines, in spans and in metrics, without secrets", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 3, window: 60, latency: 10 })
      const changes: Array<RateLimit.Change> = []
      const lines: Array<unknown> = []
      const { layer: tracing, spans } = Recorder.spans()
      const metrics = new Map()
      let measured: ReadonlyArray<Metric.Metric.Snapshot> = []
      const logger = Logger.make(({ fiber, logLevel, message }) => {
        lines.push([logLevel, String(message), fiber.getRef(References.CurrentLogAnnotations)])
      })
      yield* Effect.gen(function*() {
        const reader = yield* Effect.forkChild(
          Stream.runForEach(RateLimit.changes, (change) => Effect.sync(() => void changes.push(change)))
        )
        yield* TestClock.adjust(0)
        const call = (id: string) => Effect.withSpan(getPost({ id }), id)
        const first = yield* Effect.forkChild(Effect.forEach(ids(5), call, { concurrency: "unbounded" }))
        yield* TestClock.adjust(1_000)
        yield* passing(call("6"), 100)
        yield* Fiber.join(first)
        yield* Fiber.interrupt(reader)
        assertNoSecret([changes, lines, spans.map(({ attributes, events }) => [attributes, events.map(String)])])
        assert.notInclude(JSON.stringify([...metrics.keys()]), "canary")
        measured = Metric.snapshotUnsafe(Context.make(Metric.MetricRegistry, metrics))
          .filter(({ id }) => id.startsWith("postwire."))
      }).pipe(
        Effect.provide([service.layer, Logger.layer([logger]), tracing]),
        Effect.provideService(Metric.MetricRegistry, metrics)
      )
      // As far as whole seconds of dates tell.
      const until = new Date((nine + 61) * 1000 + 10).toISOString()
      assert.deepStrictEqual(
        changes.map((change) => change._tag === "Announced" ? change.remaining : [change.reason, change.until]),
        [2, 1, 0, ["window", new Date(until)], 2, 1, 0]
      )
      assert.deepStrictEqual(lines, [
        ["Info", "getPost waits 61 s: its rate limit is exhausted", {
          operation: "getPost",
          credential: "bearer",
          reason: "window",
          until
        }]
      ])
      // All that wait are told, also the one that stands behind another, and the one that comes later.
      const told = spans.filter(({ name }) => name !== "GET /2/posts/:id").map((
        { events, name }
      ) => [name, events.map(([event, , attributes]) => [event, attributes])])
      const event = ["postwire.rate_limit.wait", { operation: "getPost", reason: "window", until }]
      assert.deepStrictEqual(told, [["1", []], ["2", []], ["3", []], ["4", [event]], ["5", [event]], ["6", [event]]])
      assert.deepStrictEqual(measured.map(({ id }) => id).sort(), [
        "postwire.rate_limit.remaining",
        "postwire.rate_limit.wait.duration",
        "postwire.rate_limit.waits"
      ])
      for (const { attributes, id, state } of measured) {
        assert.strictEqual(attributes?.["postwire.operation"], "getPost")
        if (id.endsWith("remaining")) assert.deepInclude(state, { value: 0 })
        if (id.endsWith("waits")) assert.deepInclude(state, { count: 1 })
        if (id.endsWith("duration")) assert.deepInclude(state, { count: 1, sum: 61 })
      }
    })))

  it.effect("is bounded: of many budgets those used of late, and no series of a client that is gone", () =>
    at(Effect.gen(function*() {
      const headers = {
        "x-rate-limit-limit": "15",
        "x-rate-limit-remaining": "0",
        "x-rate-limit-reset": `${nine + 900}`
      }
      const answer = HttpClientResponse.fromWeb(
        HttpClientRequest.get("https://service.test"),
        new globalThis.Response("", { headers })
      )
      for (const policy of [RateLimit.layerFail, Layer.orDie(RateLimit.layerWait({ maxWait: 0 }))]) {
        const metrics: Metric.MetricRegistry = new Map()
        yield* Effect.gen(function*() {
          const { guard } = yield* RateLimit.RateLimit
          const call = (key: string) =>
            guard({ operation: "getPost", credential: "bearer", key }, Effect.succeed(answer))
          for (let i = 0; i < 12_000; i++) {
            yield* call(`key ${i}`)
            if (i % 1_000 === 0) yield* Effect.ignore(call("key 0"))
          }
          const shot = yield* RateLimit.snapshot
          assert.isAtMost(shot.length, 10_000)
          const known = new Map(shot.map((usage) => [usage.bucket, usage.remaining]))
          for (const key of ["key 0", "key 8000", "key 11999"]) assert.strictEqual(known.get(key), 0)
          assert.isAtMost(metrics.size, 10_003)
        }).pipe(Effect.provide(policy), Effect.provideService(Metric.MetricRegistry, metrics))
        assert.isAtMost(metrics.size, 3)
      }
    })))

  it.effect("stays one line when the first in the line gives up", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 1, window: 60 })
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* Effect.gen(function*() {
        yield* passing(getPost({ id: "1" }), 1)
        const first = yield* Effect.forkChild(getPost({ id: "2" }))
        const second = yield* Effect.forkChild(getPost({ id: "3" }))
        yield* TestClock.adjust(1_000)
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust(100_000)
        yield* Fiber.join(second)
      }).pipe(Effect.provide([service.layer, Logger.layer([logger])]))
      assert.lengthOf(lines, 1)
    })))

  it.effect("tells of a wait anew when all who waited before have gone", () =>
    at(Effect.gen(function*() {
      const service = windowed({ limit: 1, window: 60 })
      const told: Array<string> = []
      yield* Effect.gen(function*() {
        const { listen } = yield* RateLimit.RateLimit
        listen(({ _tag }) => told.push(_tag))
        yield* passing(getPost({ id: "1" }), 1)
        for (const id of ["2", "3"]) {
          const waiting = yield* Effect.forkChild(getPost({ id }))
          yield* TestClock.adjust(100)
          yield* Fiber.interrupt(waiting)
        }
      }).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(told, ["Announced", "Waiting", "Waiting"])
    })))
})

describe("rateLimitOf", () => {
  it("is there only when it is whole and sane", () => {
    assert.deepStrictEqual(rateLimitOf(budget(3, nine)), {
      limit: 15,
      remaining: 3,
      resetAt: new Date(nine * 1000)
    })
    for (const reset of ["", "soon", "-1", "0", "1e15", "NaN"]) assert.isUndefined(rateLimitOf(budget(3, reset)))
    for (const remaining of ["soon", "-1", "Infinity"]) assert.isUndefined(rateLimitOf(budget(remaining, nine)))
    assert.isUndefined(rateLimitOf({}))
    assert.isUndefined(rateLimitOf({ "x-rate-limit-reset": String(nine) }))
  })
})
