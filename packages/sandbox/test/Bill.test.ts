/** The bill of a sandbox: what answers cost by the price table of the service, counted here by hand. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Sandbox from "../src/Sandbox.ts"
import { type Answer, day, make, now } from "./support/Requests.ts"

/** The lines of the bill of the app of the seed, as `operation charged+repeated dollars`. */
const linesOf = ({ bill }: Sandbox.Sandbox["Service"]) =>
  bill.statement().apps[0]?.lines.map(({ charged, dollars, operation, repeated }) =>
    `${operation} ${charged}+${repeated} ${dollars}`
  ) ?? []

describe("a bill", () => {
  it.effect("has resources once a day, related ones too, and requests that write or count", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, bill, request } = bench
      const posts = `/2/users/${ada.id}/posts?max_results=5`
      const other = bench.user()
      for (let i = 0; i < 3; i++) other.post()
      yield* request("GET", `/2/users/${other.id}/posts?max_results=5`)
      yield* request("GET", `/2/users/${other.id}/posts?max_results=5&expansions=author_id`)
      yield* request("GET", `/2/users/${other.id}`)
      yield* request("GET", "/2/posts/counts/recent?query=effect")
      yield* request("GET", "/2/posts/counts/recent?query=effect", { as: "app" })
      assert.deepStrictEqual(linesOf(bench), [
        // Of the app alone, and with a user's token: the app is the same.
        "getRecentPostsCount 2+0 0.01",
        "getUser 0+1 0",
        "getUsersPosts 4+3 0.025"
      ])
      bill.clear()
      assert.deepStrictEqual(linesOf(bench), [])
      yield* request("GET", posts)
      // Ada owns the app.
      const [{ charged = 0, dollars = 0 } = {}] = bill.statement().apps[0]!.lines
      assert.isAbove(charged, 0)
      assert.strictEqual(dollars, charged / 1000)
      yield* request("GET", posts, { as: "app" })
      assert.strictEqual(bill.statement().dollars, charged * (0.001 + 0.005))
    }).pipe(Effect.scoped))

  it.effect("has posts of which an answer has the ids alone", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, request } = bench
      const folder = ada.bookmarkFolder("To read", ada.post("one"), ada.post("two"))
      const read = `/2/users/${ada.id}/bookmarks/folders/${folder.id}`
      for (let i = 0; i < 2; i++) assert.lengthOf((yield* request("GET", read)).body.data, 2)
      // The folders themselves are free.
      yield* request("GET", `/2/users/${ada.id}/bookmarks/folders`)
      assert.deepStrictEqual(linesOf(bench), ["getBookmarkFolderPosts 2+2 0.01", "getBookmarkFolders 0+0 0"])
    }).pipe(Effect.scoped))

  it.effect("has writes, and posts with links at their own price", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, request, store } = bench
      for (const text of ["a", "see https://example.com", "b"]) {
        assert.strictEqual((yield* request("POST", "/2/posts", { as: "signed", body: { text } })).status, 201)
      }
      const toMessages = { text: "c", direct_message_deep_link: "https://x.com/messages/compose?recipient_id=1" }
      assert.strictEqual((yield* request("POST", "/2/posts", { as: "signed", body: toMessages })).status, 201)
      const [post] = store.posts.byIds([bench.user().post().id])
      assert.strictEqual(
        (yield* request("POST", `/2/users/${ada.id}/likes`, { as: "signed", body: { post_id: post!.id } })).status,
        200
      )
      // A refusal costs nothing.
      assert.strictEqual((yield* request("POST", "/2/posts", { as: "signed", body: { text: "a" } })).status, 403)
      assert.deepStrictEqual(linesOf(bench), ["createPost 4+0 0.43", "like 1+0 0.015"])
    }).pipe(Effect.scoped))

  it.effect("is of what leaves: a fault that refuses takes it away, a lost answer does not", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, faults, request } = bench
      const read = `/2/users/${ada.id}`
      for (
        const fault of [{ status: 503, after: true }, { status: 429 }, { reset: "before" }, { reset: "after" }] as const
      ) {
        faults.add({ operation: "getUser", times: 1, ...fault })
        yield* Effect.exit(request("GET", read, { as: "app" }))
        const isCharged = "reset" in fault && fault.reset === "after"
        assert.deepStrictEqual(linesOf(bench), isCharged ? ["getUser 1+0 0.01"] : [], JSON.stringify(fault))
      }
    }).pipe(Effect.scoped))

  it.effect("is counted anew every day, and by the month", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, bill, request } = bench
      for (let i = 0; i < 12; i++) {
        yield* request("GET", `/2/users/${ada.id}`, { as: "app" })
        yield* TestClock.adjust(day)
      }
      const { apps: [app], cycle, dollars } = bill.statement()
      assert.deepStrictEqual(app!.lines.slice(0, 2).map(({ day }) => day), ["2026-11-20", "2026-11-21"])
      assert.deepStrictEqual([dollars, app!.dollars], [0.12, 0.01])
      assert.deepStrictEqual(cycle, { from: "2026-12-01", to: "2027-01-01" })
    }).pipe(Effect.scoped))

  it.effect("is in snapshots, and in admin calls", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada, adminToken, bill, request, reset, restore, snapshot } = bench
      const admin = (method: string, body?: unknown) =>
        request(method, "/_sandbox/bill", {
          as: { header: `Bearer ${Redacted.value(adminToken)}` },
          ...(body !== undefined && { body })
        })
      yield* request("GET", `/2/users/${ada.id}`)
      const before = (yield* admin("GET")).body
      assert.deepInclude(before, { dollars: 0.01, prices: "2026-08-22" })
      assert.deepStrictEqual(before.apps[0].lines, [
        { day: "2026-11-20", operation: "getUser", requests: 1, charged: 1, repeated: 0, dollars: 0.01 }
      ])
      const kept = snapshot()
      assert.deepInclude((yield* admin("DELETE")).body, { dollars: 0, apps: [] })
      restore(kept)
      assert.deepStrictEqual((yield* admin("GET")).body, before)
      yield* request("GET", `/2/users/${ada.id}`)
      assert.strictEqual(bill.statement().dollars, 0.01)
      reset()
      assert.strictEqual(bill.statement().dollars, 0)
      for (const cap of [-1, "5", undefined, 1e10]) assert.strictEqual((yield* admin("POST", { cap })).status, 400)
    }).pipe(Effect.scoped))
})

describe("a spend cap", () => {
  const assertCapped = (answer: Answer) => {
    assert.deepInclude(answer.body, {
      title: "SpendCapReached",
      type: "https://api.twitter.com/2/problems/credits",
      status: 403,
      reset_date: "2026-12-01"
    })
    assert.match(
      answer.body.detail,
      /^Your enrolled account \[\d+\] has reached its billing cycle spend cap\. API requests/
    )
    assert.strictEqual(answer.status, 403)
  }

  it.effect("refuses everything from the request after the one that passes it, until the next cycle", () =>
    Effect.gen(function*() {
      const { ada, bill, request, user } = yield* make({ spendCap: 0.015 })
      const read = (id: string) => request("GET", `/2/users/${id}`)
      assert.strictEqual((yield* read(ada.id)).status, 200)
      const other = user()
      assert.strictEqual((yield* read(other.id)).status, 200)
      assert.strictEqual(bill.statement().dollars, 0.02)
      assertCapped(yield* read(ada.id))
      assertCapped(yield* request("GET", "/2/users/me"))
      bill.setCap(0.03)
      assert.strictEqual((yield* read(ada.id)).status, 200)
      bill.setCap(0)
      assertCapped(yield* read(ada.id))
      bill.setCap(0.02)
      yield* TestClock.setTime(Date.UTC(2026, 11, 1) - 1)
      assertCapped(yield* read(ada.id))
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* read(ada.id)).status, 200)
      assert.throws(() => bill.setCap(-1), RangeError)
    }).pipe(Effect.scoped))

  it("is dollars", async () => {
    const error = await Sandbox.start({ posts: 0, spendCap: -1, start: now }).catch((error: unknown) => error)
    assert.instanceOf(error, Sandbox.InvalidOption)
    assert.strictEqual(error.message, "spendCap must be a non-negative amount of dollars")
  })
})
