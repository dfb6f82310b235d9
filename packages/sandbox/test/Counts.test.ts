import { assert, describe, it } from "@effect/vitest"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect } from "effect"
import * as Fuzz from "./support/Fuzz.ts"
import { type Bench, day, make, minute, now, second } from "./support/Requests.ts"

const iso = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`

const hour = 60 * minute

interface Bucket {
  readonly start: string
  readonly end: string
  readonly post_count: number
}

const counted = Effect.fnUntraced(function*(
  bench: Bench,
  kind: "recent" | "all",
  query: string,
  as = bench.newcomer()
) {
  const path = `/2/posts/counts/${kind}?query=needle${query}`
  const { body, status } = yield* bench.request("GET", path, { as })
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

/** Posts of every kind about the bounds of spans, by accounts of which some are protected and some block each other. */
const world = (bench: Bench, random: Fuzz.Random) => {
  const { seeded: { ada }, store } = bench
  const users = [
    ada.id,
    ...Array.from({ length: 5 }, (_, i) =>
      store.users.insert({
        username: `user${i}`,
        name: "User",
        createdAt: now - 900 * day,
        protected: random.chance(0.2),
        verifiedType: random.chance(0.2) ? "blue" : "none"
      }))
  ]
  const ids: Array<string> = []
  const times = Array.from({ length: 60 }, () => now - random.below(36) * hour + random.below(3) - 1).sort((a, b) =>
    a - b
  )
  for (const createdAt of times) {
    const target = random.chance(0.5) && ids.length > 0 ? random.pick(ids) : undefined
    const kind = random.pick(["reply", "quote", "repost", "edit"] as const)
    const edited = kind === "edit" && target ? store.posts.byId(target) : undefined
    const authorId = edited?.author_id ?? random.pick(users)
    if (edited && edited.edit_history_post_ids.at(-1) !== edited.id) continue
    if (kind === "repost" && target && store.posts.repostBy(authorId, target) !== undefined) continue
    ids.push(store.posts.insert({
      authorId,
      createdAt,
      text: random.chance(0.8) ? "a needle" : "hay",
      ...(target === undefined ? {} : {
        reply: { inReplyToPostId: target },
        quote: { quotedPostId: target },
        repost: { repostedPostId: target },
        edit: { editOf: target }
      }[kind]),
      audience: random.chance(0.1) ? random.pick(["followers", "subscribers"]) : "all",
      unlisted: random.chance(0.05),
      withheld: random.chance(0.05) ? { copyright: true, country_codes: ["DE"], scope: "post" } : undefined
    }))
  }
  for (const source of users) {
    const target = random.pick(users)
    if (source !== target) random.pick([store.blocks, store.mutes, store.blocks]).set(source, target, true)
  }
  for (let n = random.below(4); n > 0; n--) store.posts.delete(random.pick(ids))
  return { ids, users }
}

describe("counts and searches", () => {
  it.effect("find the same, whoever asks, between any bounds", () =>
    Effect.gen(function*() {
      const seen = { asked: 0, found: 0, hidden: 0 }
      for (let seed = 1; seed <= 5; seed++) {
        const random = Fuzz.random(seed)
        const bench = yield* make({ posts: 0, seed })
        const { ids, users } = world(bench, random)
        const moment = () => now - random.below(40) * hour - second * random.below(3)
        for (let n = 0; n < 6; n++) {
          const kind = random.pick(["recent", "all"] as const)
          const userId = random.pick([undefined, ...users])
          const [start, end] = [moment() - minute, moment() - minute].toSorted((a, b) => a - b) as [number, number]
          const bounds = [
            ...(random.chance(0.5) ? [`start_time=${iso(start)}`] : []),
            ...(random.chance(0.5) && start < end ? [`end_time=${iso(end)}`] : []),
            ...(random.chance(0.25) ? [`since_id=${random.pick(ids)}`] : []),
            ...(random.chance(0.25) ? [`until_id=${random.pick(ids)}`] : [])
          ].map((bound) => `&${bound}`).join("")
          // The archive takes one request per second of each app.
          const as = () => bench.newcomer({ userId })
          const found: Array<number> = []
          let token = ""
          do {
            const path = `/2/posts/search/${kind}?query=needle&post.fields=created_at&max_results=${
              random.pick([10, 25, 100])
            }${bounds}${token}`
            const { body, status } = yield* bench.request("GET", path, { as: as() })
            assert.strictEqual(status, 200, JSON.stringify(body))
            for (const { created_at } of body.data ?? []) found.push(Date.parse(created_at))
            token = body.meta.next_token === undefined ? "" : `&next_token=${body.meta.next_token}`
          } while (token !== "")
          // A page of the archive has a day's minutes.
          const granularity = random.pick(bounds.includes("start_time") ? ["minute", "hour", "day"] : ["hour", "day"])
          const shown = JSON.stringify({ seed, n, kind, userId, bounds, granularity })
          let total = 0
          do {
            const counts = yield* counted(bench, kind, `&granularity=${granularity}${bounds}${token}`, as())
            total += counts.total
            for (const { end, post_count, start } of counts.buckets) {
              const within = found.filter((time) => time >= Date.parse(start) && time < Date.parse(end))
              assert.strictEqual(post_count, within.length, `${shown} ${start}`)
            }
            token = counts.next === undefined ? "" : `&next_token=${counts.next}`
          } while (token !== "")
          assert.strictEqual(total, found.length, shown)
          seen.asked++
          seen.found += found.length
          seen.hidden += (yield* counted(bench, kind, bounds)).total - found.length
        }
      }
      // Otherwise the worlds would show nothing.
      assert.isAbove(seen.found, 5 * seen.asked, JSON.stringify(seen))
      assert.isAbove(seen.hidden, seen.asked / 4, JSON.stringify(seen))
    }))
})
