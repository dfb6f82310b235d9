import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Bench, day, make, minute, now, second } from "./support/Requests.ts"

const idsOf = (items: ReadonlyArray<{ readonly id: string }> | undefined) => (items ?? []).map((item) => item.id)

const iso = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** Every id of a listing of ada's, page by page. */
const collect = Effect.fnUntraced(function*(bench: Bench, path: string, query = "") {
  const ids: Array<string> = []
  const as = bench.newcomer({ userId: bench.seeded.ada.id })
  let token: string | undefined
  do {
    const parameters = new URLSearchParams(`${query}&max_results=100`)
    if (token !== undefined) parameters.set("pagination_token", token)
    const { body, status } = yield* bench.request(
      "GET",
      `/2/users/${bench.seeded.ada.id}/${path}?${parameters}`,
      { as }
    )
    assert.strictEqual(status, 200, JSON.stringify(body))
    ids.push(...idsOf(body.data))
    token = body.meta.next_token
  } while (token !== undefined)
  assert.strictEqual(new Set(ids).size, ids.length)
  return ids
})

/** 3,300 posts, one in a second: by ada and by somebody whom she follows in turn, and 900 that mention her. */
const crowded = Effect.gen(function*() {
  const bench = yield* make({ posts: 0 })
  const { seeded: { ada }, store } = bench
  const other = store.users.insert({ username: "other", name: "Other", createdAt: now - 900 * day })
  store.follows.set(ada.id, other, "following")
  const begin = now - day
  return store.transaction(() => {
    const own: Array<string> = []
    const home: Array<string> = []
    const mentions: Array<string> = []
    const root = store.posts.insert({ authorId: other, text: "root", createdAt: begin - second })
    for (let i = 0; i < 6_600; i++) {
      const isOwn = i % 2 === 0
      const id = store.posts.insert({
        authorId: isOwn ? ada.id : other,
        text: !isOwn && i > 4_800 ? "to @ada" : "one",
        createdAt: begin + i * second,
        // Every third of ada's is a reply.
        inReplyToPostId: i % 6 === 0 ? root : undefined
      })
      home.unshift(id)
      if (isOwn) own.unshift(id)
      else if (i > 4_800) mentions.unshift(id)
    }
    return { bench, begin, own, home, mentions }
  })
})

describe("of listings", () => {
  it.effect("3,200 posts by a user and for a user, 800 without replies, 800 that mention", () =>
    Effect.gen(function*() {
      const { bench, home, mentions, own } = yield* crowded
      assert.deepStrictEqual([own.length, home.length, mentions.length], [3_300, 6_600, 900])
      assert.deepStrictEqual(yield* collect(bench, "posts"), own.slice(0, 3_200))
      assert.deepStrictEqual(yield* collect(bench, "posts", "exclude=retweets"), own.slice(0, 3_200))
      const isReply = (id: string) => bench.store.posts.byId(id)?.in_reply_to_user_id !== undefined
      const withoutReplies = own.slice(0, 800).filter((id) => !isReply(id))
      assert.isBelow(withoutReplies.length, 600)
      assert.deepStrictEqual(yield* collect(bench, "posts", "exclude=replies"), withoutReplies)
      assert.deepStrictEqual(yield* collect(bench, "posts", "exclude=retweets,replies"), withoutReplies)
      assert.deepStrictEqual(yield* collect(bench, "mentions"), mentions.slice(0, 800))
      const timeline = "timelines/reverse_chronological"
      assert.deepStrictEqual(yield* collect(bench, timeline), home.slice(0, 3_200))
      assert.deepStrictEqual(
        yield* collect(bench, timeline, "exclude=replies"),
        home.slice(0, 3_200).filter((id) => !isReply(id))
      )
      // What lies before is out of reach by its time and its id too.
      const early = home[5_000]!
      assert.deepStrictEqual(yield* collect(bench, timeline, `end_time=${iso(now - day + 60 * second)}`), [])
      assert.deepStrictEqual((yield* collect(bench, "posts", `end_time=${iso(now - day + 60 * second)}`)).length, 0)
      assert.isFalse((yield* collect(bench, "posts", `start_time=${iso(now - 2 * day)}`)).includes(early))
    }))

  it.effect("force since_id and until_id that lie beyond them", () =>
    Effect.gen(function*() {
      const { bench, home, mentions, own } = yield* crowded
      for (
        const [path, all, cap] of [
          ["posts", own, 3_200],
          ["mentions", mentions, 800],
          ["timelines/reverse_chronological", home, 3_200]
        ] as const
      ) {
        const since = (id: string | undefined) => collect(bench, path, `since_id=${id}`)
        const until = (id: string | undefined) => collect(bench, path, `until_id=${id}`)
        // With just as many since then, nothing needs to be forced.
        assert.deepStrictEqual(yield* since(all[cap]), all.slice(0, cap), path)
        // With more, it becomes the oldest that can be had, and is exclusive.
        for (const id of [all[cap + 1], all.at(-1), "1"]) {
          assert.deepStrictEqual(yield* since(id), all.slice(0, cap - 1), path)
        }
        assert.deepStrictEqual(yield* since(all[7]), all.slice(0, 7), path)
        assert.deepStrictEqual(yield* until(all[cap - 2]), [all[cap - 1]], path)
        assert.deepStrictEqual(yield* until(all[cap - 1]), [], path)
        // Likewise, it becomes the newest.
        for (const id of [all[cap + 1], all.at(-1), "1"]) {
          assert.deepStrictEqual(yield* until(id), all.slice(1, cap), path)
        }
      }
    }))

  it.effect("30 days of direct messages, of all conversations and of one", () =>
    Effect.gen(function*() {
      const { newcomer, request, seeded: { ada }, store } = yield* make({ posts: 0 })
      const a = store.users.insert({ username: "aa", name: "A", createdAt: now - 900 * day })
      const conversationId = store.messages.open(ada.id, a)
      yield* TestClock.setTime(now + 100 * day)
      const insert = (createdAt: number) => store.messages.insert({ conversationId, senderId: a, createdAt, text: "x" })
      const [, kept, late] = [now + 70 * day - 1, now + 70 * day, now + 99 * day].map(insert)
      for (
        const path of [
          "/2/dm_events",
          `/2/dm_conversations/with/${a}/dm_events`,
          `/2/dm_conversations/${conversationId}/dm_events`
        ]
      ) {
        const { body } = yield* request("GET", path, { as: newcomer({ userId: ada.id }) })
        assert.deepStrictEqual(idsOf(body.data), [late, kept], path)
      }
    }))
})

describe("of projects", () => {
  it.effect("a query has 512 characters with standard access, 1,024 with research access", () =>
    Effect.gen(function*() {
      const { newcomer, request } = yield* make({ posts: 0 })
      const send = (path: string, length: number, access: "standard" | "research") =>
        // Characters, not bytes or halves of pairs.
        request(
          "GET",
          `${path}?query=a${encodeURIComponent(" 😀".repeat((length - 1) / 2))}${length % 2 === 0 ? "b" : ""}`,
          {
            as: newcomer({ access })
          }
        )
      for (const path of ["/2/posts/search/recent", "/2/posts/counts/recent"]) {
        for (
          const [access, length, status] of [
            ["standard", 512, 200],
            ["standard", 513, 400],
            ["research", 513, 200],
            ["research", 1_024, 200],
            ["research", 1_025, 400]
          ] as const
        ) {
          const answer = yield* send(path, length, access)
          assert.strictEqual(answer.status, status, `${path} ${access} ${length}`)
          if (status === 400) {
            assert.include(answer.body.errors[0].message, access === "standard" ? "1 to 512" : "1 to 1024")
          }
        }
      }
      for (const path of ["/2/posts/search/all", "/2/posts/counts/all"]) {
        assert.strictEqual((yield* send(path, 1_024, "research")).status, 200)
        assert.strictEqual((yield* send(path, 1_025, "research")).status, 400)
        const refused = yield* send(path, 3, "standard")
        assert.strictEqual(refused.status, 403)
        assert.deepInclude(refused.body, { title: "Client Forbidden", reason: "client-not-enrolled" })
        assert.match(refused.body.type, /client-forbidden$/)
      }
    }))

  it.effect("the post cap counts what six operations return, and refuses them from then on until the next month", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0, postCap: 20 })
      const { newcomer, request, seeded: { ada }, store } = bench
      const root = store.posts.insert({ authorId: ada.id, text: "root", createdAt: now - day })
      for (let i = 0; i < 10; i++) {
        const id = store.posts.insert({
          authorId: ada.id,
          text: "needle @ada",
          createdAt: now - minute,
          quotedPostId: root
        })
        store.likes.set(ada.id, id, true)
        store.bookmarks.set(ada.id, id, true)
      }
      const own = `/2/users/${ada.id}`
      const capped = [
        `${own}/liked_posts`,
        `/2/posts/${root}/quote_posts`,
        "/2/posts/search/all?query=needle",
        "/2/posts/search/recent?query=needle",
        `${own}/mentions`,
        `${own}/posts?max_results=10`
      ]
      const free = [
        `/2/posts?ids=${root}`,
        `${own}/bookmarks`,
        `${own}/timelines/reverse_chronological`,
        "/2/posts/counts/recent?query=needle"
      ]
      for (const first of capped) {
        const as = newcomer({ userId: ada.id })
        for (const path of [...free, ...free]) assert.strictEqual((yield* request("GET", path, { as })).status, 200)
        assert.strictEqual((yield* request("GET", first, { as })).body.data.length, 10, first)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* request("GET", first, { as })).body.data.length, 10, first)
        yield* TestClock.adjust("1 second")
        for (const path of capped) {
          const refused = yield* request("GET", path, { as })
          assert.strictEqual(refused.status, 429, path)
          assert.deepInclude(refused.body, { title: "UsageCapExceeded", period: "Monthly", scope: "Product" })
          assert.match(refused.body.type, /usage-capped$/)
          assert.isAbove(Number(refused.headers["x-rate-limit-remaining"]), 0)
        }
        for (const path of free) assert.strictEqual((yield* request("GET", path, { as })).status, 200, path)
      }
      const as = newcomer()
      for (let i = 0; i < 2; i++) yield* request("GET", `${own}/mentions`, { as })
      assert.strictEqual((yield* request("GET", `${own}/mentions`, { as })).status, 429)
      yield* TestClock.setTime(Date.UTC(2026, 11, 1) - 1)
      assert.strictEqual((yield* request("GET", `${own}/mentions`, { as })).status, 429)
      yield* TestClock.setTime(Date.UTC(2026, 11, 1))
      assert.strictEqual((yield* request("GET", `${own}/mentions`, { as })).status, 200)
    }))

  it.effect("full-archive search and counts take one request per second besides their window", () =>
    Effect.gen(function*() {
      const { newcomer, request } = yield* make({ posts: 0 })
      for (const path of ["/2/posts/search/all?query=a", "/2/posts/counts/all?query=a"]) {
        const as = newcomer()
        const send = () => request("GET", path, { as })
        assert.strictEqual((yield* send()).status, 200)
        yield* TestClock.adjust("999 millis")
        const refused = yield* send()
        assert.strictEqual(refused.status, 429)
        assert.deepInclude(refused.headers, { "x-rate-limit-limit": "300", "x-rate-limit-remaining": "299" })
        assert.notProperty(refused.headers, "retry-after")
        // Another credential has a second of its own.
        assert.strictEqual((yield* request("GET", path, { as: newcomer() })).status, 200)
        yield* TestClock.adjust("1 millis")
        const next = yield* send()
        assert.strictEqual(next.status, 200)
        assert.strictEqual(next.headers["x-rate-limit-remaining"], "298")
      }
      const as = newcomer()
      for (let i = 0; i < 3; i++) {
        assert.strictEqual((yield* request("GET", "/2/posts/search/recent?query=a", { as })).status, 200)
      }
    }))

  it.effect("an app and each of its users have windows of their own", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada } } = yield* make({ posts: 0 })
      const remaining = (as: "app" | "user" | "signed") =>
        Effect.map(
          request("GET", `/2/users/${ada.id}/followers`, { as }),
          ({ headers }) => Number(headers["x-rate-limit-remaining"])
        )
      assert.deepStrictEqual([yield* remaining("app"), yield* remaining("app")], [14, 13])
      // OAuth 1.0a and OAuth 2.0 are two ways to be the same user.
      assert.deepStrictEqual([yield* remaining("user"), yield* remaining("signed"), yield* remaining("app")], [
        14,
        13,
        12
      ])
    }))
})
