import { assert, describe, it } from "@effect/vitest"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import * as Wire from "@postwire/core/Wire"
import { Effect } from "effect"
import { type Bench, day, make, minute, now, second } from "./support/Requests.ts"

const iso = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`

const hour = 60 * minute

interface Bucket {
  readonly start: string
  readonly end: string
  readonly post_count: number
}

const counted = Effect.fnUntraced(function*(bench: Bench, kind: "recent" | "all", query: string) {
  const path = `/2/posts/counts/${kind}?query=needle${query}`
  const { body, status } = yield* bench.request("GET", path, { as: bench.newcomer() })
  assert.strictEqual(status, 200, JSON.stringify(body))
  const buckets: ReadonlyArray<Bucket> = body.data
  assert.strictEqual(body.meta.total_post_count, buckets.reduce((sum, { post_count }) => sum + post_count, 0))
  for (const [i, { start }] of buckets.entries()) {
    if (i > 0) assert.strictEqual(start, buckets[i - 1]!.end)
  }
  return {
    buckets,
    begin: Date.parse(buckets[0]?.start ?? ""),
    end: Date.parse(buckets.at(-1)?.end ?? ""),
    total: body.meta.total_post_count as number,
    next: body.meta.next_token as string | undefined
  }
})

const posts = (bench: Bench, times: ReadonlyArray<number>) =>
  times.map((createdAt) => bench.store.posts.insert({ authorId: bench.seeded.ada.id, text: "needle", createdAt }))

describe("counts of recent posts", () => {
  it.effect("cover seven days until 30 seconds ago, in hours that begin on the hour", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const [, , b = "", c = "", d = ""] = posts(bench, [
        now - 7 * day - 1,
        now - 7 * day,
        now - 2 * hour,
        now - hour - 1,
        now - 30 * second - 1,
        now - 30 * second
      ])
      const all = yield* counted(bench, "recent", "")
      assert.deepStrictEqual([all.begin, all.end, all.total], [now - 7 * day, now - 30 * second, 4])
      assert.strictEqual(all.buckets.length, 7 * 24)
      assert.deepStrictEqual(all.buckets.at(-2), {
        start: new Date(now - 2 * hour).toISOString(),
        end: new Date(now - hour).toISOString(),
        post_count: 2
      })
      assert.strictEqual(all.buckets.at(-1)?.post_count, 1)
      // The start is inclusive, the end is exclusive.
      const part = yield* counted(bench, "recent", `&start_time=${iso(now - 2 * hour)}&end_time=${iso(now - hour)}`)
      assert.deepStrictEqual([part.buckets.length, part.total], [1, 2])
      assert.strictEqual((yield* counted(bench, "recent", `&end_time=${iso(now - 2 * hour)}`)).total, 1)
      // An odd beginning and an odd end make short buckets.
      const odd = yield* counted(
        bench,
        "recent",
        `&start_time=${iso(now - 2 * hour - second)}&end_time=${iso(now - hour + second)}`
      )
      assert.deepStrictEqual(odd.buckets.map(({ end, start }) => Date.parse(end) - Date.parse(start)), [
        second,
        hour,
        second
      ])
      // since_id counts instead of start_time; both ids are exclusive.
      assert.strictEqual((yield* counted(bench, "recent", `&since_id=${b}&start_time=${iso(now - minute)}`)).total, 2)
      assert.strictEqual((yield* counted(bench, "recent", `&since_id=${b}`)).begin, now - 2 * hour)
      assert.strictEqual((yield* counted(bench, "recent", `&until_id=${d}&since_id=${b}`)).total, 1)
      assert.strictEqual((yield* counted(bench, "recent", `&until_id=${b}`)).total, 1)
      assert.strictEqual((yield* counted(bench, "recent", `&since_id=${c}&until_id=${c}`)).total, 0)
      assert.deepStrictEqual((yield* counted(bench, "recent", `&since_id=${d}&until_id=${b}`)).buckets, [])
      for (
        const query of [
          `start_time=${iso(now - 7 * day - second)}`,
          `end_time=${iso(now - 9 * second)}`,
          `start_time=${iso(now - day)}&end_time=${iso(now - day)}`,
          "granularity=week",
          "next_token=abc",
          "max_results=10"
        ]
      ) {
        const { status } = yield* bench.request("GET", `/2/posts/counts/recent?query=needle&${query}`)
        assert.strictEqual(status, 400, query)
      }
    }))

  it.effect("come in minutes, hours and days", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      posts(bench, [now - 13 * hour, now - 2 * minute, now - minute - 1])
      const expected = { minute: 7 * 24 * 60, hour: 7 * 24, day: 8 }
      for (const [granularity, size] of [["minute", minute], ["hour", hour], ["day", day]] as const) {
        const { buckets, next, total } = yield* counted(bench, "recent", `&granularity=${granularity}`)
        assert.deepStrictEqual([buckets.length, total, next], [expected[granularity], 3, undefined])
        for (const { start } of buckets.slice(1)) assert.strictEqual(Date.parse(start) % size, 0)
      }
      const days = yield* counted(bench, "recent", "&granularity=day")
      assert.deepStrictEqual(days.buckets.slice(-2).map(({ post_count }) => post_count), [1, 2])
    }))
})

describe("counts of the archive", () => {
  it.effect("cover 30 days unless more is asked for, and go back page by page without gaps", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const [a = ""] = posts(bench, [now - 400 * day, now - 100 * day, now - 40 * day, now - 10 * day, now - day])
      const plain = yield* counted(bench, "all", "")
      assert.deepStrictEqual([plain.total, plain.end - plain.begin, plain.next], [2, 30 * day, undefined])
      const before = yield* counted(bench, "all", `&end_time=${iso(now - 20 * day)}`)
      assert.deepStrictEqual([before.total, before.begin], [1, now - 50 * day])
      for (const granularity of ["hour", "day"] as const) {
        for (
          const [bound, expected] of [
            [`start_time=${iso(now - 410 * day)}`, [5, 14, now - 410 * day]],
            // The post itself is left out, the second that it was made in is not.
            [`since_id=${a}`, [4, 13, now - 400 * day]]
          ] as const
        ) {
          let total = 0
          let end = now - 30 * second
          let pages = 0
          let token = ""
          do {
            const query = `&granularity=${granularity}&${bound}${token === "" ? "" : `&next_token=${token}`}`
            const page = yield* counted(bench, "all", query)
            assert.strictEqual(page.end, end)
            assert.isAtMost(page.end - page.begin, 31 * day)
            total += page.total
            end = page.begin
            pages++
            token = page.next ?? ""
          } while (token !== "")
          assert.deepStrictEqual([total, pages, end], [...expected])
        }
      }
      const minutes = yield* counted(bench, "all", "&granularity=minute")
      assert.deepStrictEqual([minutes.buckets.length, minutes.next !== undefined], [24 * 60, true])
      const early = yield* bench.request("GET", "/2/posts/counts/all?query=a&start_time=2006-03-25T23:59:59Z", {
        as: bench.newcomer()
      })
      assert.strictEqual(early.status, 400)
    }))

  it.effect("reach the client, on both wires", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      posts(bench, [now - 20 * day, now - hour])
      for (const wire of Wire.names) {
        yield* Effect.gen(function*() {
          const recent = yield* getRecentPostsCount({ query: "needle", granularity: "day" })
          assert.strictEqual(recent.meta.total_post_count, 1)
          assert.strictEqual(recent.data?.at(-1)?.post_count, 1)
        }).pipe(Effect.provide(bench.client(wire)))
      }
      const all = yield* getAllPostsCount({ query: "needle" }).pipe(Effect.provide(bench.client("x")))
      assert.strictEqual(all.meta.total_post_count, 2)
    }))
})
