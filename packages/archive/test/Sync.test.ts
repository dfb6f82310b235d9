import { assert, it } from "@effect/vitest"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import { StorageUnavailable } from "@postwire/core/storage/Storage"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Fiber, Stream } from "effect"
import * as Changes from "../src/copy/Changes.ts"
import * as Copy from "../src/copy/Copy.ts"
import type { Source } from "../src/sources/SyncFile.ts"
import * as Due from "../src/sync/Due.ts"
import * as Sync from "../src/sync/Sync.ts"
import { client, onEach, type Place, rowsIn, sandbox } from "./support/Scene.ts"

const sync = (place: Place, sources: ReadonlyArray<Source>, options: Omit<Sync.Options, "sources"> = {}) =>
  Sync.run({ ...options, sources }).pipe(Effect.provide(client()), Effect.provide(place))

const changes = (place: Place, after = 0) => Changes.since(after).pipe(Stream.runCollect, Effect.provide(place))

const everything: ReadonlyArray<Source> = [
  { kind: "posts" },
  { kind: "mentions" },
  { kind: "timeline" },
  { kind: "search", query: "effect" },
  { kind: "bookmarks" },
  { kind: "likes" },
  { kind: "followers" },
  { kind: "following" },
  { kind: "lists" },
  { kind: "messages" },
  { kind: "spaces" },
  { kind: "conversations" },
  { kind: "analytics" }
]

const count = (place: Place, from: string) =>
  Effect.map(rowsIn(place, `SELECT count(*) AS n FROM ${from}`), ([row]) => Number(row?.["n"]))

onEach("a sync", (place, dialect) => {
  const found = (words: string) =>
    dialect === "pg"
      ? `SELECT id FROM posts WHERE to_tsvector('simple', coalesce(text, '')) @@ plainto_tsquery('simple', '${words}')`
      : `SELECT id FROM posts_text JOIN posts ON n = posts_text.rowid WHERE posts_text MATCH '${words}'`

  it.live("reads every kind of source, and then only what is new", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, clock, store } = yield* Sandbox.Sandbox
      const first = yield* sync(own, everything)
      assert.deepStrictEqual([first.status, first.problems], ["done", []])
      const again = yield* sync(own, everything)
      assert.deepStrictEqual([again.status, again.added, again.changed], ["done", 0, 0])
      assert.isBelow(again.items, first.items)
      const id = store.posts.insert({ authorId: ada.id, text: "something new", createdAt: clock.now() })
      const third = yield* sync(own, [{ kind: "posts" }])
      assert.deepStrictEqual([third.items, third.added], [1, 1])
      assert.deepStrictEqual(
        yield* rowsIn(own, found("something new")),
        [{ id }]
      )
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("sees what was removed from a list when it reads all of it", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, store } = yield* Sandbox.Sandbox
      const bookmarks = [{ kind: "bookmarks", full: "0 days" }] as const
      yield* sync(own, bookmarks)
      const kept = "edges WHERE kind = 'bookmarks' AND gone_at IS NULL"
      const before = yield* count(own, kept)
      const [first] = yield* rowsIn(own, "SELECT to_id FROM edges WHERE kind = 'bookmarks'")
      const post = String(first?.["to_id"])
      store.bookmarks.set(ada.id, post, false)
      yield* sync(own, bookmarks)
      assert.strictEqual(yield* count(own, kept), before - 1)
      assert.deepStrictEqual(
        yield* rowsIn(own, `SELECT to_id FROM edges WHERE gone_at IS NOT NULL AND kind = 'bookmarks'`),
        [{ to_id: post }]
      )
      store.bookmarks.set(ada.id, post, true)
      yield* sync(own, bookmarks)
      assert.strictEqual(yield* count(own, kept), before)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("reports a subject that is not shown, keeps what it has of it, and reads the others", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, store, user } = yield* Sandbox.Sandbox
      const { id } = user({ username: "grace" })
      store.follows.set(ada.id, id, "following")
      store.follows.set(id, ada.id, "following")
      const sources: ReadonlyArray<Source> = [{ kind: "following", of: ["@grace", "me"], full: "0 days" }]
      yield* sync(own, sources)
      const before = yield* rowsIn(own, "SELECT kind, from_id, to_id FROM edges WHERE gone_at IS NULL ORDER BY 1, 2, 3")
      assert.deepInclude(before, { kind: "follows", from_id: id, to_id: ada.id })
      store.users.setSuspended(id, true)
      const { problems, status } = yield* sync(own, [...sources, { kind: "posts", of: "@nobody_is_here" }])
      assert.deepStrictEqual([status, problems.map(({ subject }) => subject).sort()], ["partial", [
        "@grace",
        "@nobody_is_here"
      ]])
      assert.deepInclude(yield* rowsIn(own, "SELECT kind, from_id, to_id FROM edges WHERE gone_at IS NULL"), before[0])
      assert.strictEqual(yield* count(own, `edges WHERE from_id = '${id}' AND gone_at IS NULL`), 1)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("keeps earlier names, and metrics over time", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, store } = yield* Sandbox.Sandbox
      const followers = [{ kind: "followers", full: "0 days" }] as const
      yield* sync(own, followers)
      const [user] = yield* rowsIn(own, "SELECT id, name FROM users")
      const id = String(user?.["id"])
      const at = (yield* changes(own)).at(-1)?.commit
      store.users.update(id, "profile.update.screenname", "Renamed")
      const [other] = yield* rowsIn(own, `SELECT id FROM users WHERE id <> '${id}' AND id <> '${ada.id}'`)
      store.follows.set(
        id,
        String(other?.["id"]),
        "following"
      )
      yield* sync(own, followers)
      assert.deepInclude(yield* rowsIn(own, "SELECT id, was FROM history"), {
        id,
        was: JSON.stringify({ name: user?.["name"] })
      })
      const following = "public_metrics_following_count"
      const [before, after] = yield* rowsIn(
        own,
        `SELECT ${following} AS n FROM user_metrics WHERE id = '${id}' ORDER BY at`
      )
      assert.strictEqual(Number(after?.["n"]), Number(before?.["n"]) + 1)
      const changed = (yield* changes(own, at)).filter(({ row }) => row["id"] === id)
      assert.deepStrictEqual(changed.map(({ change, row, table }) => [table, change, row["name"]]), [
        ["users", "changed", "Renamed"]
      ])
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("continues where it was stopped", () =>
    Effect.gen(function*() {
      const [whole, stopped] = [yield* place, yield* place]
      const sources: ReadonlyArray<Source> = [{ kind: "search", query: "lang:en" }, { kind: "followers" }]
      yield* sync(whole, sources)
      while (true) {
        const stop = yield* Deferred.make<void>()
        const { status } = yield* sync(stopped, sources, {
          stop: Deferred.await(stop),
          onPage: ({ totals: { added } }) => added > 0 ? Effect.asVoid(Deferred.succeed(stop, undefined)) : Effect.void
        })
        if (status === "done") break
        assert.strictEqual(status, "interrupted")
      }
      for (
        const query of [
          "SELECT id, text FROM posts ORDER BY id",
          "SELECT kind, from_id, to_id FROM edges ORDER BY 1, 2, 3"
        ]
      ) {
        assert.deepStrictEqual(yield* rowsIn(stopped, query), yield* rowsIn(whole, query))
      }
    }).pipe(Effect.provide(sandbox(1_000)), Effect.scoped))

  it.live("starts a window again that was left open for too long", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, clock, faults, store } = yield* Sandbox.Sandbox
      const sources: ReadonlyArray<Source> = [{ kind: "search", query: "pelican" }]
      const post = () => store.posts.insert({ authorId: ada.id, text: "a pelican", createdAt: clock.now() })
      post()
      clock.advance("1 minute")
      yield* clock.provide(sync(own, sources))
      for (let i = 0; i < 50; i++) post()
      clock.advance("1 minute")
      const begun = yield* Deferred.make<void>()
      const killed = yield* Effect.forkChild(clock.provide(sync(own, sources, {
        onPage: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      })))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(killed)
      // A killed run, too, has what it read.
      assert.deepStrictEqual(
        yield* rowsIn(own, "SELECT status, CAST(items AS TEXT) AS items FROM runs ORDER BY id DESC LIMIT 1"),
        [
          { status: "interrupted", items: "50" }
        ]
      )
      clock.advance("8 days")
      // The item after which the window listed is out of reach.
      faults.add({ operation: "searchRecentPosts", status: 400 })
      const { problems, status } = yield* clock.provide(sync(own, sources))
      assert.strictEqual(status, "partial")
      assert.match(problems[0]?.reason ?? "", /^It was last read on .*, and the service lists only the last 7 days/)
      assert.deepStrictEqual((yield* clock.provide(sync(own, sources))).status, "done")
      assert.deepStrictEqual(yield* rowsIn(own, "SELECT 1 AS found FROM progress WHERE state LIKE '%window%'"), [])
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("reads what costs less when a source is over the budget", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { added, status } = yield* Sync.run({
        sources: [{ kind: "followers" }, { kind: "search", query: "lang:en" }],
        concurrency: 1
      }).pipe(
        Effect.provide(client({ spendLimit: { perDay: 0.07 } })),
        Effect.provide(own)
      )
      assert.strictEqual(status, "budget")
      assert.isAbove(added, 0)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("reads what is new before whole lists when the budget is small", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, clock, store } = yield* Sandbox.Sandbox
      const sources: ReadonlyArray<Source> = [
        { kind: "followers", full: "0 days" },
        { kind: "search", query: "pelican" }
      ]
      yield* clock.provide(sync(own, sources))
      clock.advance("1 day")
      const id = store.posts.insert({ authorId: ada.id, text: "a pelican", createdAt: clock.now() - 60_000 })
      const { status } = yield* clock.provide(
        Sync.run({ sources }).pipe(Effect.provide(client({ spendLimit: { perDay: 0.12 } })), Effect.provide(own))
      )
      assert.strictEqual(status, "budget")
      assert.lengthOf(yield* rowsIn(own, `SELECT id FROM posts WHERE id = '${id}'`), 1)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("gives new items the first turn, and then what was read longest ago", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { clock } = yield* Sandbox.Sandbox
      const order: ReadonlyArray<Source> = [
        { kind: "following" },
        { kind: "followers" },
        { kind: "mentions" },
        { kind: "posts" }
      ]
      for (const source of order.toReversed()) {
        yield* clock.provide(sync(own, [source]))
        clock.advance("1 minute")
      }
      const due = yield* Effect.provide(
        Effect.flatMap(Copy.Current, (copy) => Due.dueOf(copy, [...order, { kind: "likes" }])),
        own
      )
      assert.deepStrictEqual(
        Due.turnsOf(due).map((turn) => turn.map(({ source }) => source.kind)),
        [["posts", "mentions"], ["likes", "followers", "following"]]
      )
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("fails when the spend store does not respond", () =>
    Effect.gen(function*() {
      const own = yield* place
      const away = Effect.fail(new StorageUnavailable({ reason: "it is away" }))
      const error = yield* Effect.flip(
        Sync.run({ sources: [{ kind: "posts" }] }).pipe(
          Effect.provide(client({ spendLimit: { perDay: 1 } })),
          Effect.provideService(SpendStore, { reserve: () => away, settle: () => away, read: () => away }),
          Effect.provide(own)
        )
      )
      assert.deepInclude(error, { _tag: "SpendLimitReached", unavailable: "it is away" })
      assert.deepStrictEqual(yield* rowsIn(own, "SELECT status FROM runs"), [{ status: "failed" }])
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("reports a source whose price is unknown, and reads the others", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { added, problems, status } = yield* Sync.run({
        sources: [{ kind: "posts" }, { kind: "analytics" }],
        concurrency: 1
      }).pipe(
        Effect.provide(client({ spendLimit: { perDay: 1 } })),
        Effect.provide(own)
      )
      assert.deepStrictEqual([status, problems.map(({ source }) => source)], ["partial", ["analytics me"]])
      assert.include(problems[0]?.reason, "its price is unknown")
      assert.isAbove(added, 0)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("reads a source every day when runs end some time after they begin", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { clock } = yield* Sandbox.Sandbox
      const daily: ReadonlyArray<Source> = [{ kind: "posts", every: "1 day" }]
      const requests = Effect.map(clock.provide(sync(own, daily)), ({ requests }) => requests > 0)
      assert.isTrue(yield* requests)
      clock.advance("22 hours")
      assert.isFalse(yield* requests)
      clock.advance("115 minutes")
      assert.isTrue(yield* requests)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("keeps bookmarks that are older than those that the service lists", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada } = yield* Sandbox.Sandbox
      const edges = Array.from({ length: 801 }, (_, n) => ({ kind: "bookmarks", from: ada.id, to: `${n + 1}` }))
      yield* Effect.provide(Effect.flatMap(Copy.Current, (copy) => Copy.write(copy, { objects: {}, edges })), own)
      yield* sync(own, [{ kind: "bookmarks" }])
      assert.strictEqual(yield* count(own, "edges WHERE kind = 'bookmarks' AND gone_at IS NOT NULL"), 0)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("looks up the account once for all sources and runs", () =>
    Effect.gen(function*() {
      const own = yield* place
      const sandbox = yield* Sandbox.Sandbox
      yield* sync(own, [{ kind: "posts" }])
      yield* sync(own, [{ kind: "mentions" }, { kind: "likes" }])
      assert.lengthOf(sandbox.requests.filter(({ operation }) => operation === "getMe"), 1)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("excludes another one into the same copy", () =>
    Effect.gen(function*() {
      const own = yield* place
      const begun = yield* Deferred.make<void>()
      const held = yield* Effect.forkChild(sync(own, [{ kind: "posts" }], {
        onPage: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      }))
      yield* Deferred.await(begun)
      const error = yield* Effect.flip(sync(own, [{ kind: "posts" }]))
      assert.strictEqual(error._tag, "SyncRunning")
      yield* Fiber.interrupt(held)
      assert.strictEqual((yield* sync(own, [{ kind: "posts" }])).status, "done")
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  if (dialect === "pg") {
    it.live("fails when its lock was lost and another has it", () =>
      Effect.gen(function*() {
        const own = yield* place
        const [begun, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const held = yield* Effect.forkChild(sync(own, [{ kind: "posts" }], {
          onPage: () => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(ended))
        }))
        yield* Deferred.await(begun)
        yield* rowsIn(
          own,
          `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
            AND objid::bigint = hashtext('postwire.copy ' || current_schema())::bigint & 4294967295`
        )
        assert.strictEqual((yield* sync(own, [{ kind: "posts" }])).status, "done")
        yield* Deferred.succeed(ended, undefined)
        const error = yield* Effect.flip(Fiber.join(held))
        assert.strictEqual(error._tag, "SqlError")
        assert.match(error.message, /^The connection with the lock of own_\d+ was lost/)
      }).pipe(Effect.provide(sandbox()), Effect.scoped))
  }
})
