import { assert, describe, it } from "@effect/vitest"
import { getPersonalizedTrends, getTrends } from "@postwire/core/operations/Trends"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Authorization, day, make, minute, now } from "./support/Requests.ts"

const hour = 60 * minute

describe("trends of a place", () => {
  it.effect("are what most posts of the last day there are about", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox, store } = yield* make({ posts: 0 })
      const [lyon, oslo] = [
        sandbox.user({ username: "lyonnaise", location: "Lyon, France" }),
        sandbox.user({ username: "osloite", location: "Oslo, Norway" })
      ]
      const hidden = sandbox.user({ username: "hidden", protected: true })
      const post = (author: { readonly id: string }, text: string, more: object = {}) =>
        store.posts.insert({ authorId: author.id, text, createdAt: now - hour, ...more })
      const paris = "b".repeat(16)
      store.attachments.insertPlace({
        id: paris,
        full_name: "Paris, France",
        name: "Paris",
        country: "France",
        country_code: "FR",
        place_type: "city",
        geo: { type: "Feature", bbox: [2, 48, 3, 49], properties: {} }
      })
      post(lyon, "#old", { createdAt: now - day - 1 })
      const first = post(lyon, "#Silk looms, and #silk again")
      post(lyon, "more #silk for $ABC")
      post(oslo, "#fjord #silk")
      // From where it was posted, not from where its author lives.
      post(oslo, "#tour", { placeId: paris })
      post(hidden, "#hidden")
      post(lyon, "#tomorrow", { createdAt: now + hour })
      store.posts.insert({ authorId: ada.id, text: "RT #silk", createdAt: now, repostedPostId: first })
      const trends = Effect.fnUntraced(function*(woeid: number, query = "") {
        const { body, status } = yield* request("GET", `/2/trends/by/woeid/${woeid}?trend.fields=post_count${query}`, {
          as: "app"
        })
        assert.strictEqual(status, 200)
        return body.data.map(({ post_count, trend_name }: Record<string, unknown>) => [trend_name, post_count])
      })
      assert.deepStrictEqual(yield* trends(1), [["#silk", 3], ["#fjord", 1], ["#tour", 1], ["$ABC", 1]])
      assert.deepStrictEqual(yield* trends(23424819), [["#silk", 2], ["#tour", 1], ["$ABC", 1]])
      assert.deepStrictEqual(yield* trends(609125, "&max_trends=1"), [["#silk", 2]])
      assert.deepStrictEqual(yield* trends(862592), [["#fjord", 1], ["#silk", 1]])
      assert.deepStrictEqual(yield* trends(23424856), [])
      yield* TestClock.adjust("1 hour")
      assert.deepInclude(yield* trends(609125), ["#tomorrow", 1])
      yield* TestClock.adjust("25 hours")
      assert.deepStrictEqual(yield* trends(1), [])
      const nowhere = yield* request("GET", "/2/trends/by/woeid/2", { as: "app" })
      assert.strictEqual(nowhere.status, 404)
      for (const path of ["x", "1?max_trends=51"]) {
        assert.strictEqual((yield* request("GET", `/2/trends/by/woeid/${path}`, { as: "app" })).status, 400, path)
      }
    }))

  it.effect("call their counts otherwise on the wires of X, and not those for a user", () =>
    Effect.gen(function*() {
      const { client, request, sandbox } = yield* make()
      const reader = sandbox.user({ username: "reader", verified: "blue" })
      const asReader: Authorization = { header: `Bearer ${reader.settings().bearerToken}` }
      const keys = (path: string, as: Authorization) =>
        Effect.map(request("GET", path, { as }), ({ body, status }) => {
          assert.strictEqual(status, 200, path)
          return Object.keys(body.data[0])
        })
      assert.deepStrictEqual(yield* keys("/2/trends/by/woeid/1?trend.fields=tweet_count", "app"), [
        "trend_name",
        "tweet_count"
      ])
      const personal = "/2/users/personalized_trends?personalized_trend.fields="
      assert.deepStrictEqual(yield* keys(`${personal}post_count`, "user"), ["category", "post_count", "trending_since"])
      assert.strictEqual((yield* request("GET", `${personal}tweet_count`, { as: asReader })).status, 400)
      for (const wire of ["neutral", "x", "x-2026-02"] as const) {
        const { data: world } = yield* getTrends({ woeid: 1, trend_fields: ["post_count"] }).pipe(
          Effect.provide(client(wire))
        )
        assert.isAbove(world?.[0]?.post_count ?? 0, 0, wire)
        const { data: mine } = yield* getPersonalizedTrends({
          user_auth: false,
          personalized_trend_fields: ["post_count"]
        })
          .pipe(Effect.provide(client(wire)))
        assert.strictEqual(mine?.[0]?.post_count, "Unknown", wire)
      }
    }))
})

describe("trends for a user", () => {
  it.effect("are of those whom the user follows, in words, for users with Premium", () =>
    Effect.gen(function*() {
      const { request, sandbox, store } = yield* make({ posts: 0 })
      const [reader, followed, stranger] = [
        sandbox.user({ username: "reader", verified: "blue" }),
        sandbox.user({ username: "followed" }),
        sandbox.user({ username: "stranger" })
      ]
      store.follows.set(reader.id, followed.id, "following")
      const post = (author: { readonly id: string }, text: string, ago: number) =>
        store.posts.insert({ authorId: author.id, text, createdAt: now - ago })
      post(followed, "typescript and #types", 5.5 * hour)
      post(followed, "#types", minute)
      post(followed, "#news", minute)
      post(stranger, "#noise", minute)
      const as: Authorization = { header: `Bearer ${reader.settings().bearerToken}` }
      const { body } = yield* request("GET", "/2/users/personalized_trends", { as })
      assert.deepStrictEqual(body.data, [
        { category: "Software", post_count: "2 posts", trend_name: "#types", trending_since: "5 hours ago" },
        { category: "Trending", post_count: "1 post", trend_name: "#news", trending_since: "Trending now" },
        { category: "Software", post_count: "1 post", trend_name: "typescript", trending_since: "5 hours ago" }
      ])
      const others = yield* request("GET", "/2/users/personalized_trends")
      assert.deepStrictEqual(others.body.data, [{ category: "Unknown", post_count: "Unknown", trending_since: "" }])
    }))
})
