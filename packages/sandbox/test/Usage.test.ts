import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Usage from "../src/limits/Usage.ts"
import { type Authorization, day, make, now } from "./support/Requests.ts"

describe("Usage", () => {
  it("remembers the latest hundred days, also where the clock was set back", () => {
    const usage = Usage.make()
    for (const at of [...Array(105).keys(), 50]) {
      usage.count({ appId: "1", now: at * day, resources: [{ kind: "post", id: "1", place: "data" }] })
    }
    assert.deepStrictEqual(usage.days("1").map(({ at }) => at / day), Array.from({ length: 100 }, (_, i) => i + 5))
  })
})

describe("getUsage", () => {
  const all = "usage.fields=daily_client_app_usage,daily_project_usage,project_usage,cap_reset_day"

  it.effect("tells what the app has read, day by day and in the month", () =>
    Effect.gen(function*() {
      const { newcomer, request, seeded: { ada }, store } = yield* make({ posts: 0, postCap: 1_000 })
      const post = (text: string) => store.posts.insert({ authorId: ada.id, text, createdAt: now - day })
      const first = post("one")
      const second = post("two")
      store.posts.insert({ authorId: ada.id, text: "of one", createdAt: now, quotedPostId: first })
      const usage = Effect.fnUntraced(function*(query: string, as: Authorization = "app") {
        const { body, status } = yield* request("GET", `/2/usage/posts?${query}`, { as })
        assert.strictEqual(status, 200)
        return body.data
      })
      const { project_id, ...nothing } = yield* usage("")
      assert.deepStrictEqual(nothing, { cap_reset_day: 11, project_cap: "1000", project_usage: "0" })
      // Whoever asks with the app's name, and more than once.
      for (const as of ["app", "user", "signed"] as const) {
        assert.strictEqual((yield* request("GET", `/2/posts?ids=${first},${second}`, { as })).status, 200)
      }
      // Refused, without a resource, and of another app.
      assert.strictEqual((yield* request("GET", "/2/posts?ids=a")).status, 400)
      assert.strictEqual((yield* request("GET", "/2/users/me")).status, 200)
      yield* request("GET", `/2/posts/${first}`, { as: newcomer() })
      assert.strictEqual((yield* usage("")).project_usage, "2")
      yield* TestClock.setTime(Date.UTC(2026, 10, 21))
      // The post that it quotes is in the answer, too.
      yield* request("GET", `/2/users/${ada.id}/posts?max_results=5&exclude=replies&expansions=referenced_posts.id`)
      yield* TestClock.setTime(Date.UTC(2026, 11, 1) - 1)
      yield* request("GET", `/2/posts/${second}`)
      const of = (...days: ReadonlyArray<readonly [day: string, usage: string]>) =>
        days.map(([date, usage]) => ({ date: `2026-${date}T00:00:00.000Z`, usage }))
      const week = of(["11-30", "1"])
      assert.deepStrictEqual(yield* usage(all), {
        cap_reset_day: 1,
        daily_client_app_usage: [{ client_app_id: project_id, usage: week, usage_result_count: 1 }],
        daily_project_usage: { project_id, usage: week },
        project_cap: "1000",
        project_id,
        project_usage: "6"
      })
      const daily = (query: string) => Effect.map(usage(`${all}&${query}`), (data) => data.daily_project_usage.usage)
      assert.deepStrictEqual(yield* daily("days=10"), of(["11-21", "3"], ["11-30", "1"]))
      assert.deepStrictEqual(yield* daily("days=11"), of(["11-20", "2"], ["11-21", "3"], ["11-30", "1"]))
      yield* TestClock.setTime(Date.UTC(2026, 11, 1))
      assert.deepInclude(yield* usage(all), { project_usage: "0", cap_reset_day: 31 })
      assert.deepStrictEqual(yield* daily("days=1"), [])
      assert.deepStrictEqual(yield* daily("days=2"), of(["11-30", "1"]))
      assert.strictEqual((yield* usage("", newcomer())).project_usage, "0")
    }))

  it.effect("begins anew with the state", () =>
    Effect.gen(function*() {
      const { request, sandbox, seeded: { ada } } = yield* make({ posts: 20 })
      const read = () =>
        Effect.map(request("GET", "/2/usage/posts", { as: "app" }), ({ body }) => body.data.project_usage)
      yield* request("GET", `/2/users/${ada.id}/posts`)
      assert.isAbove(Number(yield* read()), 0)
      sandbox.reset()
      const { appBearerToken } = sandbox.seeded
      const { body } = yield* request("GET", "/2/usage/posts", {
        as: { header: `Bearer ${Redacted.value(appBearerToken)}` }
      })
      assert.strictEqual(body.data.project_usage, "0")
    }))

  it.effect("takes an app's bearer token, one to ninety days, and is called otherwise on other wires", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 0 })
      for (const as of ["user", "signed"] as const) {
        assert.strictEqual((yield* request("GET", "/2/usage/posts", { as })).body.title, "Unsupported Authentication")
      }
      for (const days of [0, 91, "week"]) {
        assert.strictEqual((yield* request("GET", `/2/usage/posts?days=${days}`, { as: "app" })).status, 400)
      }
      assert.strictEqual((yield* request("GET", "/2/usage/tweets?days=90", { as: "app" })).status, 200)
    }))
})
