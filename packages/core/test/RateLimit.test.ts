import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Random } from "effect"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/Errors.ts"
import * as RateLimit from "../src/RateLimit.ts"
import { type Answer, authorizationOf, make, type Received, secrets } from "./support/Service.ts"

const { createPost, getMe, getPost, searchRecentPosts } = catalogue

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
      arrivals.push(now / 1000 - nine)
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
  it.effect("waits for the end of the window after a 429, and a second more", () =>
    at(Effect.gen(function*() {
      const service = timed((index) => index === 0 ? { status: 429, headers: budget(0, nine + 60) } : ok)
      yield* passing(Effect.provide(getPost({ id: "1" }), service.layer))
      assert.deepStrictEqual(service.arrivals, [0, 61])
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

  it.effect("does not wait for the window when the refusal is not about it", () =>
    at(Effect.gen(function*() {
      const service = timed((index) => index < 2 ? { status: 429, headers: budget(298, nine + 900) } : ok)
      yield* passing(Effect.provide(searchRecentPosts({ query: "a" }), service.layer).pipe(Effect.ignore))
      assert.deepStrictEqual(service.arrivals, [0, 1, 3])
    })))

  it.effect("does as retry-after says", () =>
    at(Effect.gen(function*() {
      const cases = [
        ["2", 2],
        ["0", 1],
        ["120", 120],
        [new Date((nine + 30) * 1000).toUTCString(), 30],
        [new Date((nine - 30) * 1000).toUTCString(), 1]
      ] as const
      for (const [value, wait] of cases) {
        yield* TestClock.setTime(nine * 1000)
        const headers = { "retry-after": value, date: new Date(nine * 1000).toUTCString() }
        const service = timed((index) => index === 0 ? { status: 429, headers } : ok)
        yield* passing(Effect.provide(getPost({ id: "1" }), service.layer))
        assert.deepStrictEqual(service.arrivals, [0, wait], value)
      }
    })))

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
      assert.deepStrictEqual(lines, ["getPost waits 61 s: its rate limit is spent"])
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

describe("budgetOf", () => {
  it("is there only when it is whole and sane", () => {
    assert.deepStrictEqual(RateLimit.budgetOf(budget(3, nine)), {
      limit: 15,
      remaining: 3,
      resetAt: new Date(nine * 1000)
    })
    for (const reset of ["", "soon", "-1", "0", "1e15", "NaN"]) assert.isUndefined(RateLimit.budgetOf(budget(3, reset)))
    for (const remaining of ["soon", "-1", "Infinity"]) assert.isUndefined(RateLimit.budgetOf(budget(remaining, nine)))
    assert.isUndefined(RateLimit.budgetOf({}))
    assert.isUndefined(RateLimit.budgetOf({ "x-rate-limit-reset": String(nine) }))
  })
})
