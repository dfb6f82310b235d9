import { assert, describe, it } from "@effect/vitest"
import { hydrate, type Hydrated } from "@postwire/core/workflows/Hydrate"
import { Effect, Stream } from "effect"
import { type Bench, make } from "./support/Requests.ts"

const scene = Effect.fnUntraced(function*() {
  const bench = yield* make({ posts: 0 })
  const { sandbox } = bench
  const grace = sandbox.user({ username: "grace" })
  const shy = sandbox.user({ username: "shy", protected: true })
  const gone = sandbox.user({ username: "gone" })
  const posts = {
    found: grace.post("found").id,
    withheld: grace.post({ text: "x", withheld: { copyright: false, country_codes: ["XX"], scope: "post" } }).id,
    protected: shy.post("for followers").id,
    suspended: gone.post("of a suspended account").id
  }
  gone.suspended()
  return { ...bench, grace, shy, gone, posts }
})

const told = (results: ReadonlyArray<Hydrated<object>>) => results.map(({ id, outcome }) => [id, outcome])

const requestsOf = ({ sandbox }: Bench) => sandbox.requests.map(({ path }) => path)

describe.each(["neutral", "x", "x-2026-02"] as const)("hydrating on the %s wire", (wire) => {
  it.effect("tells what became of every post, in the order of the ids", () =>
    Effect.gen(function*() {
      const bench = yield* scene()
      const { posts } = bench
      const ids = [
        "no id",
        posts.suspended,
        "1",
        posts.found,
        `000${posts.found}`.slice(0, 19),
        posts.protected,
        posts.withheld,
        posts.found,
        "9223372036854775808",
        "1.46E+18",
        ""
      ]
      const results = yield* hydrate(ids, { post_fields: ["created_at"], expansions: ["author_id"] }).pipe(
        Stream.runCollect,
        Effect.provide(bench.client(wire))
      )
      assert.deepStrictEqual(told(results), [
        ["no id", "invalid"],
        [posts.suspended, "protected"],
        ["1", "deleted"],
        [posts.found, "found"],
        [ids[4], posts.found.length < 19 ? "found" : "deleted"],
        [posts.protected, "protected"],
        [posts.withheld, "withheld"],
        [posts.found, "found"],
        ["9223372036854775808", "invalid"],
        ["1.46E+18", "invalid"],
        ["", "invalid"]
      ])
      const found = results[3]!
      assert.isString(found.data!.created_at)
      assert.strictEqual(found.joined!.author!.username, "grace")
      assert.notInclude(JSON.stringify(found), "joined")
      assert.match(results[1]!.problem!.detail!, /not authorized/)
      assert.isUndefined(results[1]!.data)
      assert.lengthOf(requestsOf(bench), 1)
    }))

  it.effect("tells what became of every user, by id and by username", () =>
    Effect.gen(function*() {
      const bench = yield* scene()
      const { gone, grace, shy } = bench
      const byId = yield* Stream.runCollect(
        hydrate.users([shy.id, gone.id, 1n, 2, grace.id], { user_fields: "protected" })
      )
        .pipe(Effect.provide(bench.client(wire)))
      assert.deepStrictEqual(told(byId), [
        [shy.id, "found"],
        [gone.id, "suspended"],
        ["1", "deleted"],
        ["2", "deleted"],
        [grace.id, "found"]
      ])
      assert.isTrue(byId[0]!.data!.protected)
      const byName = yield* Stream.runCollect(hydrate.usernames(["@Grace", "GONE", "nobody", "not a name", "grace"]))
        .pipe(Effect.provide(bench.client(wire)))
      assert.deepStrictEqual(told(byName), [
        ["@Grace", "found"],
        ["GONE", "suspended"],
        ["nobody", "deleted"],
        ["not a name", "invalid"],
        ["grace", "found"]
      ])
    }))
})

describe("hydrating", () => {
  it.effect("asks for a hundred ids a request, several at the same time, and for none that can be none", () =>
    Effect.gen(function*() {
      const bench = yield* scene()
      const ids = Stream.fromIterable([
        ...Array.from({ length: 250 }, (_, i) => String(i)),
        bench.posts.found,
        ...Array.from({ length: 249 }, () => "none")
      ])
      const results = yield* Stream.runCollect(hydrate(ids, {}, { concurrency: 2 })).pipe(
        Effect.provide(bench.client())
      )
      assert.lengthOf(results, 500)
      assert.strictEqual(results[250]!.outcome, "found")
      assert.deepStrictEqual(
        results.slice(0, 250).map(({ id }) => id),
        Array.from({ length: 250 }, (_, i) => String(i))
      )
      // The last two hundred are no ids.
      assert.lengthOf(requestsOf(bench), 3)
    }))

  it.effect("keeps the errors of ids, and of parameters, apart", () =>
    Effect.gen(function*() {
      const bench = yield* scene()
      const run = (parameters: object, options: object) =>
        Effect.flip(Stream.runDrain(hydrate(["1"], parameters, options))).pipe(Effect.provide(bench.client()))
      const wrong = yield* run({ post_fields: ["no_field"] }, {})
      assert.strictEqual(wrong._tag, "InvalidParameters")
      for (const concurrency of [0, 101, 1.5, "2"]) {
        const error = yield* run({}, { concurrency })
        assert.propertyVal(error, "parameter", "concurrency")
      }
      assert.lengthOf(requestsOf(bench), 0)
    }))
})
