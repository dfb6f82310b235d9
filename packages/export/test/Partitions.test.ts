import { assert, describe, it } from "@effect/vitest"
import type { Name } from "@postwire/core/Catalogue"
import { getUsersFollowers } from "@postwire/core/operations/Follows"
import { getListFollowers, getListMembers } from "@postwire/core/operations/Lists"
import { getQuotePosts } from "@postwire/core/operations/QuotePosts"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Arbitrary, Effect, Schema } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Partitions from "../src/Partitions.ts"
import * as Plan from "../src/sources/Plan.ts"
import * as Source from "../src/sources/Source.ts"
import { client, differing, folder, now, planned, sandbox, source, stopAfter } from "./support/Scene.ts"
import { type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

const archive = Source.make(searchAllPosts, { query: "effect" })

/** A search that ends a minute ago. */
const until = Source.make(searchRecentPosts, { query: "effect", max_results: 10, end_time: new Date(now - 60_000) })

describe("planPartitions", () => {
  const hour = 3_600_000
  const buckets = (counts: ReadonlyArray<number>): ReadonlyArray<CountBucket> =>
    counts.map((post_count, i) => ({
      start: new Date(now - (i + 1) * hour).toISOString(),
      end: new Date(now - i * hour).toISOString(),
      post_count
    }))

  // Few posts, so that many spans have none.
  const counts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(60)
  )

  it.prop(
    "covers all of the time once, newest first, in parts of about one size",
    {
      counts: Arbitrary.schema(counts),
      parts: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })))
    },
    ({ counts, parts }) => {
      const all = buckets(counts)
      const plan = planned(archive, all, parts)
      assert.isAtMost(plan.length, Math.max(parts, 1))
      assert.strictEqual(Date.parse(plan[0]!.end_time), Date.parse(all[0]!.end))
      assert.strictEqual(Date.parse(plan.at(-1)!.start_time!), Date.parse(all.at(-1)!.start))
      for (const [i, { end_time, index }] of plan.entries()) {
        assert.strictEqual(index, i)
        if (i > 0) assert.strictEqual(end_time, plan[i - 1]!.start_time)
      }
      const total = counts.reduce((sum, n) => sum + n, 0)
      assert.strictEqual(plan.reduce((sum, { posts }) => sum + posts, 0), total)
      for (const { posts } of plan) assert.isAtMost(posts, total / parts + Math.max(...counts))
    },
    { arbitrary: { runs: 300 } }
  )

  it("keeps ids where they bound the search, and lets the recent search begin by itself", () => {
    const bounded = Source.make(searchAllPosts, {
      query: "effect",
      since_id: "5",
      until_id: "9",
      end_time: "2026-11-20T12:00:00Z"
    })
    const [first, second] = planned(bounded, buckets([1, 1]), 2)
    assert.deepInclude(first, { until_id: "9", start_time: "2026-11-20T11:00:00Z", end_time: "2026-11-20T12:00:00Z" })
    assert.deepStrictEqual(second, { index: 1, since_id: "5", end_time: "2026-11-20T11:00:00Z", posts: 1 })
    assert.deepStrictEqual(Partitions.sourceOf(bounded, second!).parameters, {
      max_results: 500,
      query: "effect",
      since_id: "5",
      end_time: "2026-11-20T11:00:00Z"
    })
    assert.notProperty(planned(source, buckets([1]), 1)[0], "start_time")
  })

  it.prop(
    "cuts the time that holds the newest so many, and leaves the rest in one part",
    {
      counts: Arbitrary.schema(counts),
      parts: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))),
      limit: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 })))
    },
    ({ counts, limit, parts }) => {
      const plan = planned(archive, buckets(counts), parts, limit)
      const total = counts.reduce((sum, n) => sum + n, 0)
      assert.strictEqual(plan.reduce((sum, { posts }) => sum + posts, 0), total)
      assert.strictEqual(Date.parse(plan.at(-1)!.start_time!), now - counts.length * hour)
      if (limit >= total) return assert.deepStrictEqual(plan, planned(archive, buckets(counts), parts))
      assert.isAtMost(plan.length, parts + 1)
      const needed = plan.slice(0, parts)
      assert.isAtLeast(needed.reduce((sum, { posts }) => sum + posts, 0), limit)
      for (const { posts } of needed) assert.isAtMost(posts, limit / parts + Math.max(...counts))
    },
    { arbitrary: { runs: 300 } }
  )

  it("refuses what has no order in time", () => {
    const relevant = Source.make(searchAllPosts, { query: "effect", sort_order: "relevancy" })
    for (
      const [of, all] of [[relevant, buckets([1])], [archive, []], [
        Source.make(getUsersFollowers, { id: "1" }),
        buckets([1])
      ]] as const
    ) {
      assert.instanceOf(Partitions.planPartitions(of, all, 2), Plan.NotPlannable)
    }
  })
})

describe("a partitioned export", () => {
  // A stream, columns and a database; all six in `test:long`.
  const shown: ReadonlyArray<SinkName> = process.env["POSTWIRE_LONG"] === "1"
    ? sinkNames
    : ["jsonl", "parquet", "sqlite"]

  it.live.each(shown)("into %s is what a single run writes, stopped or not", (sink) =>
    Effect.gen(function*() {
      const root = yield* folder
      for (const name of ["whole", "parts"]) mkdirSync(join(root, name))
      const until = Source.make(searchRecentPosts, {
        ...source.parameters,
        query: "effect",
        end_time: new Date(now - 60_000)
      })
      const whole = yield* Export.run(until, { sink: sinks[sink](join(root, "whole", `out.${sink}`)) })
      const { buckets, items } = yield* Plan.estimate(until)
      assert.strictEqual(items, whole.progress.items)
      const options: Partitions.Options = {
        sink: sinks[sink](join(root, "parts", `out.${sink}`)),
        partitions: Effect.succeed(planned(until, buckets, 5)),
        mode: "resume"
      }
      const first = yield* Partitions.run(until, { ...options, ...yield* stopAfter(6) })
      assert.strictEqual(first.status, "interrupted")
      // A resumed run keeps to the first plan, whatever it is given.
      const second = yield* Partitions.run(until, { ...options, partitions: Effect.die("planned again") })
      assert.deepStrictEqual([second.status, second.progress.items], ["done", items])
      assert.isAtLeast(second.progress.requests, whole.progress.requests)
      // Compressed files have their members where pages end.
      if (!sink.includes(".")) assert.deepStrictEqual(differing(join(root, "parts"), join(root, "whole")), [])
      const { journal } = yield* Sandbox.Sandbox
      const before = journal.entries().length
      assert.strictEqual((yield* Partitions.run(until, options)).status, "done")
      assert.strictEqual(journal.entries().length, before)
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("page by page, is not led in a circle", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      const partition = { index: 0, end_time: new Date(now - 60_000).toISOString(), posts: 0 }
      const write = () => Effect.void
      const first = yield* Partitions.exportPartition(source, partition, { write })
      faults.add({ page: "repeated-token", times: "always" })
      const error = yield* Effect.flip(Partitions.exportPartition(source, partition, { cursor: first, write }))
      assert.strictEqual(error._tag, "PaginationStuck")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("of so many posts has the newest, as a single run has them, and fetches no more than those", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const { journal } = yield* Sandbox.Sandbox
      const { buckets, items } = yield* Plan.estimate(until)
      for (const limit of [1, 57, items - 1, items + 50]) {
        const path = (name: string) => join(root, `${limit}.${name}.jsonl`)
        const single = yield* Export.run(until, { sink: sinks.jsonl(path("single")), limit })
        assert.strictEqual(single.progress.items, Math.min(limit, items))
        const before = journal.entries().length
        const run = (options: Partial<Partitions.Options>) =>
          Partitions.run(until, {
            sink: sinks.jsonl(path("parts")),
            partitions: Effect.succeed(planned(until, buckets, 4, limit)),
            limit,
            mode: "resume",
            ...options
          })
        yield* run(yield* stopAfter(3))
        const { progress, status } = yield* run({})
        assert.deepStrictEqual([status, progress.items], ["done", single.progress.items])
        assert.deepStrictEqual(readFileSync(path("parts")), readFileSync(path("single")))
        // A page more for each part that is cut, and for each that was under way.
        assert.isAtMost(journal.entries().length - before, Math.ceil(progress.items / 10) + 5 + 4)
      }
      // Counts that were too high leave nothing out: the parts behind make up for it.
      const plan = planned(until, buckets, 4, 57).map((partition) => ({ ...partition, posts: partition.posts * 2 }))
      const path = join(root, "high.jsonl")
      yield* Partitions.run(until, { sink: sinks.jsonl(path), partitions: Effect.succeed(plan), limit: items - 1 })
      assert.deepStrictEqual(readFileSync(path), readFileSync(join(root, `${items - 1}.single.jsonl`)))
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("is refused before anything is counted", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, "a.jsonl")
      writeFileSync(path, "precious")
      const partitions = Effect.die("counted")
      const sink = sinks.jsonl(path)
      const taken = yield* Effect.flip(Partitions.run(source, { sink, partitions }))
      assert.strictEqual(taken._tag, "FileExists")
      const relevant = Source.make(searchAllPosts, { query: "effect", sort_order: "relevancy" })
      const uncut = yield* Effect.flip(Partitions.run(relevant, { sink, partitions, mode: "force" }))
      assert.strictEqual(uncut._tag, "NotPlannable")
      assert.deepStrictEqual(readdirSync(root), ["a.jsonl"])
      // What only the plan can tell leaves no more behind.
      const error = new Plan.NotPlannable({ operation: "x", reason: "y" })
      const other = { sink: sinks.jsonl(join(root, "b.jsonl")), partitions: Effect.fail(error) }
      assert.strictEqual(yield* Effect.flip(Partitions.run(source, other)), error)
      assert.deepStrictEqual(readdirSync(root), ["a.jsonl"])
      assert.strictEqual((yield* Sandbox.Sandbox).journal.entries().length, 0)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(30))))

  it.live("page by page, by whoever keeps the cursors, doing some of it twice", () =>
    Effect.gen(function*() {
      const { buckets, items } = yield* Plan.estimate(until)
      const written = new Map<string, ReadonlyArray<object>>()
      for (const partition of planned(until, buckets, 3)) {
        let cursor: Partitions.Cursor = Partitions.beginning
        while (!cursor.complete) {
          const kept = JSON.parse(JSON.stringify(cursor)) as Partitions.Cursor
          const step = Partitions.exportPartition(until, partition, {
            cursor: kept,
            write: (page, { page: number, partition }) =>
              Effect.sync(() => written.set(`${partition}/${number}`, page.items))
          })
          // A worker that crashed before it could keep the cursor.
          if (cursor.pages % 3 === 1) yield* step
          cursor = yield* step
        }
      }
      const ids = [...written.values()].flat().map((item) => (item as { readonly id: string }).id)
      assert.strictEqual(ids.length, items)
      assert.strictEqual(new Set(ids).size, items)
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))
})

describe("estimate", () => {
  it("knows how long so many requests take", () => {
    const limits = { requests: 300, pace: 1_000 }
    assert.strictEqual(Plan.durationOf(1, limits, 200), 200)
    assert.strictEqual(Plan.durationOf(300, limits, 200), 299_200)
    assert.strictEqual(Plan.durationOf(301, limits, 200), 900_200)
    assert.strictEqual(Plan.durationOf(16, { requests: 15 }, 100), 900_100)
  })

  it.live("tells what lists hold before they are read", () =>
    Effect.gen(function*() {
      const { seeded, store } = yield* Sandbox.Sandbox
      const followers = yield* Plan.estimate(Source.make(getUsersFollowers, { id: seeded.ada.id, max_results: 1 }))
      assert.deepInclude(followers, {
        of: "users",
        pageSize: 1,
        requests: followers.items,
        limits: { requests: 15, from: "usual" },
        capped: false
      })
      const archive = yield* Plan.estimate(Source.make(searchAllPosts, { query: "effect" }), { requests: 50 })
      // As the catalogue has it.
      assert.deepStrictEqual(archive.limits, { requests: 50, from: "given", pace: searchAllPosts.definition.pace })
      const posts = yield* Plan.estimate(Source.make(getUsersPosts, { id: seeded.ada.id }))
      assert.deepInclude(posts, { of: "posts", pageSize: 100, capped: true })
      const list = store.lists.insert({ ownerId: seeded.ada.id, name: "List", createdAt: 0 })
      for (let i = 0; i < 250; i++) store.lists.setMember(list, String(i), true)
      const members = yield* Plan.estimate(Source.make(getListMembers, { id: list }))
      assert.deepInclude(members, { items: 250, of: "users", pageSize: 100, requests: 3, capped: false })
      assert.strictEqual((yield* Plan.estimate(Source.make(getListFollowers, { id: list }))).items, 0)
      for (const unknown of [Source.make(getUsersPosts, { id: "1" }), Source.make(getListMembers, { id: "1" })]) {
        assert.strictEqual((yield* Effect.flip(Plan.estimate(unknown)))._tag, "NotPlannable")
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("learns what the service announces by one request that costs no posts", () =>
    Effect.gen(function*() {
      const { budget, clock, faults, journal, seeded } = yield* Sandbox.Sandbox
      // The archive takes one request per second.
      const probed = (of: Source.Source) =>
        Effect.andThen(
          Effect.sync(() => clock.advance("2 seconds")),
          Effect.map(Plan.estimate(of, { probe: true }), ({ limits }) => limits)
        )
      // By another client: what this one has seen, it knows.
      const { data: [quoted] = [] } = yield* Effect.provide(
        searchRecentPosts({ query: "effect" }),
        client,
        { local: true }
      )
      const announced = { requests: 77, from: "announced" }
      const cases: ReadonlyArray<readonly [Name, Source.Source, object]> = [
        ["searchRecentPosts", Source.make(searchRecentPosts, { query: "effect" }), announced],
        ["searchAllPosts", Source.make(searchAllPosts, { query: "effect", end_time: new Date(now - 60_000) }), {
          ...announced,
          pace: searchAllPosts.definition.pace
        }],
        ["getUsersPosts", Source.make(getUsersPosts, { id: seeded.ada.id }), announced],
        ["getUsersFollowers", Source.make(getUsersFollowers, { id: seeded.ada.id }), announced],
        ["getQuotePosts", Source.make(getQuotePosts, { id: quoted!.id }), { requests: 75, from: "usual" }]
      ]
      for (const [name, of, limits] of cases) {
        faults.add({ times: "always", operation: name, rateLimitHeaders: "missing" })
        assert.strictEqual((yield* probed(of)).from, "usual")
        faults.clear()
        faults.add({ times: "always", operation: name, headers: { "x-rate-limit-limit": "77" } })
        const [asked, posts] = [journal.entries().length, budget.posts()]
        assert.deepStrictEqual(yield* probed(of), limits, name)
        const own = journal.entries().slice(asked).filter(({ operation }) => operation === name)
        assert.lengthOf(own, name === "getQuotePosts" ? 0 : 1)
        assert.deepStrictEqual(budget.posts(), posts, name)
        faults.clear()
        // A refusal announces it, too.
        faults.add({ times: "always", operation: name, status: 429 })
        assert.strictEqual((yield* probed(of)).from, name === "getQuotePosts" ? "usual" : "announced")
        faults.clear()
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))
})
