import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { day, make, minute, now } from "./support/Requests.ts"

describe("the clock of the service", () => {
  it.effect("is that of the program, moved", () =>
    Effect.gen(function*() {
      const { sandbox: { clock } } = yield* make()
      assert.strictEqual(clock.now(), now)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(clock.now(), now + 60 * minute)
      clock.advance("15 minutes")
      assert.strictEqual(clock.now(), now + 75 * minute)
      clock.set(new Date(now))
      assert.strictEqual(clock.now(), now)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(clock.now(), now + minute)
      clock.reset()
      assert.strictEqual(clock.now(), now + 61 * minute)
    }))

  it.effect("tells whole milliseconds, which is what instants are kept in", () =>
    Effect.gen(function*() {
      const { request, sandbox: { clock } } = yield* make()
      clock.advance(0.5)
      assert.strictEqual(clock.now(), now)
      const body = { media_type: "video/mp4", media_category: "tweet_video", total_bytes: 1 }
      assert.strictEqual((yield* request("POST", "/2/media/upload/initialize", { as: "user", body })).status, 200)
      assert.strictEqual((yield* request("POST", "/2/posts", { as: "user", body: { text: "now" } })).status, 201)
      clock.advance(0.5)
      assert.strictEqual(clock.now(), now + 1)
    }))

  it.effect("begins where it is told to, and resets to there", () =>
    Effect.gen(function*() {
      const start = Date.UTC(2024, 1, 29)
      const { request, sandbox } = yield* make({ start: new Date(start) })
      assert.strictEqual(sandbox.clock.now(), start)
      yield* TestClock.adjust("1 hour")
      sandbox.clock.advance("1 day")
      const { headers } = yield* request("GET", "/2/users/me")
      assert.strictEqual(headers["date"], new Date(start + day + 60 * minute).toUTCString())
      sandbox.reset()
      assert.strictEqual(sandbox.clock.now(), start)
    }))

  it.effect("refuses what is no time", () =>
    Effect.gen(function*() {
      const { sandbox: { clock } } = yield* make()
      for (const to of [Number.NaN, new Date("x"), 0, Date.UTC(1989, 11, 31), Date.UTC(2248, 0), Infinity]) {
        assert.throws(() => clock.set(to), RangeError)
      }
      for (const by of [Number.NaN, Infinity, "100000 weeks"] as const) {
        if (typeof by === "number" && Number.isNaN(by)) continue
        assert.throws(() => clock.advance(by), RangeError)
      }
      assert.strictEqual(clock.now(), now)
    }))

  it.effect("ends windows, whoever moves it", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      const me = Effect.map(request("GET", "/2/users/me"), ({ headers, status }) => [
        status,
        Number(headers["x-rate-limit-remaining"]),
        Number(headers["x-rate-limit-reset"]) * 1000
      ])
      for (
        const move of [TestClock.adjust("15 minutes"), Effect.sync(() => sandbox.clock.advance("15 minutes"))]
      ) {
        sandbox.budget.leave("getMe", 1)
        const begun = sandbox.clock.now()
        assert.deepStrictEqual(yield* me, [200, 0, begun + 15 * minute])
        assert.deepStrictEqual(yield* me, [429, 0, begun + 15 * minute])
        yield* move
        assert.deepStrictEqual(yield* me, [200, 74, begun + 30 * minute])
        yield* TestClock.adjust("15 minutes")
      }
    }))

  it.effect("dates what is written", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      sandbox.clock.advance("1 day")
      const { body } = yield* request("POST", "/2/posts", { body: { text: "tomorrow" } })
      const post = yield* request("GET", `/2/posts/${body.data.id}?post.fields=created_at`)
      assert.strictEqual(post.body.data.created_at, new Date(now + day).toISOString())
    }))
})

describe("the budget", () => {
  it.effect("is of an operation, and a number of requests", () =>
    Effect.gen(function*() {
      const { budget } = yield* make()
      assert.throws(() => budget.leave("getMee" as "getMe", 0), /There is no operation getMee/)
      for (const remaining of [-1, 0.5, Number.NaN]) {
        assert.throws(() => budget.leave("getMe", remaining), /non-negative integer/)
      }
    }))

  it.effect("is left to ada, to the app, or to another user of the app", () =>
    Effect.gen(function*() {
      const { http: _, request, sandbox } = yield* make()
      const grace = sandbox.user({ username: "grace" })
      const { bearerToken } = grace.settings()
      const statuses = Effect.forEach(["user", "app", { header: `Bearer ${bearerToken}` }] as const, (as) =>
        Effect.map(request("GET", `/2/users/${grace.id}`, { as }), ({ status }) => status))
      assert.deepStrictEqual(yield* statuses, [200, 200, 200])
      sandbox.budget.leave("getUser", 0)
      assert.deepStrictEqual(yield* statuses, [429, 429, 200])
      sandbox.budget.clear()
      sandbox.budget.leave("getUser", 0, grace)
      assert.strictEqual((yield* statuses)[2], 429)
      sandbox.budget.clear()
      sandbox.budget.leave("getUser", 5_000)
      assert.deepStrictEqual(
        sandbox.budget.windows().map(({ remaining }) =>
          remaining
        ),
        [300, 300]
      )
    }))
})
