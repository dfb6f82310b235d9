import { assert, describe, it } from "@effect/vitest"
import * as Sqlite from "@postwire/archive/copy/Sqlite"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Source from "@postwire/export/sources/Source"
import type { Page } from "@postwire/export/sources/Source"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll } from "vitest"
import * as Database from "../src/Database.ts"
import * as PostgresRateLimitStore from "../src/PostgresRateLimitStore.ts"
import { fingerprint, type Query } from "../src/Query.ts"
import { pageOf, type PagePlace, type Row, rowsOf } from "../src/Rows.ts"
import * as Tables from "../src/Tables.ts"
import { missing, type Postgres, postgres } from "./support/Postgres.ts"

const query: Query = { operation: "searchRecentPosts", parameters: { query: "a" }, credentials: "default", label: "" }

let place = 0

/** A row behind all before it. */
const row = (id: string, wanted: boolean, text: string, kind = "posts"): Row => ({
  kind,
  id,
  listed: wanted ? place++ : null,
  included: wanted ? null : place++,
  body: { id, text }
})

const page = (next: string | undefined, ...items: ReadonlyArray<object>): Page => ({
  items,
  includes: {},
  errors: [],
  next,
  rateLimit: undefined
})

/** What holds of the tables on every database. */
const tables = (database: () => Database.Database) => {
  const layer = Layer.suspend(() => Tables.layer.pipe(Layer.provideMerge(Database.layer(database()))))

  it.live("keep an export once, and a page only for who stands at it", () =>
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const [one, two] = yield* Effect.all([tables.add(query, 2), tables.add(query, 2)], { concurrency: 2 })
      assert.strictEqual(one.id, fingerprint(query))
      assert.deepStrictEqual(two, one)
      assert.deepStrictEqual([one.state, one.attempt, one.wanted], ["planning", 1, 2])
      yield* tables.plan(one.id, [undefined, { index: 1, end_time: "2026-11-20T00:00:00Z", posts: 3 }])
      yield* tables.plan(one.id, [undefined])
      const key = { export: one.id, part: 1 }

      assert.isUndefined(yield* tables.begin({ export: one.id, part: 2 }, "a"))
      // Nobody has begun.
      assert.isFalse(yield* tables.commit(key, 0, page("t"), [row("1", true, "x")], "a"))
      const job = yield* tables.begin(key, "a")
      assert.deepStrictEqual(job, {
        ...key,
        query,
        partition: { index: 1, end_time: "2026-11-20T00:00:00Z", posts: 3 },
        cursor: { pages: 0, state: "running", token: undefined }
      })
      assert.isTrue(yield* tables.commit(key, 0, page("t", {}, {}), [row("1", true, "x"), row("2", true, "y")], "a"))
      // Somebody who was taken for dead comes back with the same page.
      assert.isFalse(yield* tables.commit(key, 0, page("u", {}), [row("3", true, "z")], "b"))
      assert.deepStrictEqual(yield* tables.cursor(key), { pages: 1, state: "running", token: "t" })
      // Somebody who was taken for dead fails at the page before.
      assert.isFalse(yield* tables.note(key, 0, "Forbidden", "failed"))
      assert.isTrue(yield* tables.note(key, 1, "no answer", "running"))
      const [noted] = yield* tables.status(one.id)
      assert.deepInclude(noted?.parts[1], { problem: "no answer", worker: "a", items: 2, state: "running" })
      assert.isTrue(yield* tables.commit(key, 1, page(undefined, {}), [row("3", true, "z")], "b"))
      assert.isFalse(yield* tables.commit(key, 2, page(undefined, {}), [row("4", true, "z")], "b"))

      const first = { export: one.id, part: 0 }
      yield* tables.begin(first, "a")
      assert.isTrue(yield* tables.note(first, 0, "Forbidden", "failed"))
      const [failed] = yield* tables.status(one.id)
      assert.deepInclude(failed, { state: "failed", pages: 2, items: 3 })
      assert.deepStrictEqual(failed?.parts.map(({ problem }) => problem), ["Forbidden", undefined])
      // The next start tries again what has failed, and nothing else.
      const again = yield* tables.add(query, 2)
      assert.deepStrictEqual([again.state, again.attempt], ["running", 2])
      assert.deepStrictEqual(again.parts.map(({ attempt, state }) => [attempt, state]), [[2, "waiting"], [1, "done"]])
      assert.deepInclude(yield* tables.uncleared, { ...key, attempt: 1 })
      yield* tables.setCleared(key)
      assert.notDeepInclude(yield* tables.uncleared, { ...key, attempt: 1 })
      assert.isBelow(Math.abs((yield* tables.now) - again.updated), 60_000)

      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<
        { readonly id: string }
      >`SELECT id FROM postwire_posts WHERE export = ${one.id} ORDER BY id`
      assert.deepStrictEqual(rows.map(({ id }) => id), ["1", "2", "3"])
    }).pipe(Effect.provide(Layer.fresh(layer))))

  it.live("show what can be read beside a row that cannot", () =>
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const [good, cut, later] = yield* Effect.forEach(
        ["good", "cut", "later"],
        (label) => tables.add({ ...query, label }, 1)
      )
      yield* tables.plan(cut!.id, [undefined, { index: 1, end_time: "2026-11-20T00:00:00Z", posts: 3 }])
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE postwire_exports SET query = ${"{}"} WHERE id = ${later!.id}`
      yield* sql`UPDATE postwire_parts SET span = ${"{"} WHERE export = ${cut!.id} AND part = 1`
      const { exports, unreadable } = yield* tables.overview()
      assert.deepStrictEqual(
        exports.filter(({ query: { label } }) => label === "good" || label === "cut")
          .map(({ parts, query, state }) => [query.label, state, parts.length]).sort(),
        [["cut", "waiting", 2], ["good", "planning", 0]]
      )
      assert.deepStrictEqual(unreadable.map(({ export: id, part }) => [id, part]), [[cut!.id, 1], [
        later!.id,
        undefined
      ]])
      assert.include(unreadable[1]?.reason, "operation")
      const exit = yield* Effect.exit(tables.status(later!.id))
      assert.match(String(exit), new RegExp(`A row of the export ${later!.id} cannot be read`))
      assert.lengthOf(yield* tables.status(good!.id), 1)
      yield* sql`DELETE FROM postwire_parts WHERE export = ${cut!.id}`
      yield* sql`DELETE FROM postwire_exports WHERE id IN ${sql.in([good!.id, cut!.id, later!.id])}`
    }).pipe(Effect.provide(Layer.fresh(layer))))

  it.live("keep any text, and what was wanted over what came along", () =>
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const { id } = yield* tables.add({ ...query, label: "texts" }, 1)
      yield* tables.plan(id, [undefined])
      const key = { export: id, part: 0 }
      yield* tables.begin(key, "a")
      const nasty = "quote ' \" \\ \\u0000 emoji 👩🏽‍🚀 line\u2028"
      yield* tables.commit(key, 0, page("t"), [row("9", false, "came along"), row("8", true, nasty)], "a")
      yield* tables.commit(key, 1, page("u"), [row("9", true, "wanted"), row("8", false, "came along")], "a")
      yield* tables.commit(key, 2, page("v"), [row("9", true, "again"), row("7", true, "a\0b\ud800c")], "a")
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly id: string; readonly wanted: unknown; readonly text: string }>`
        SELECT id, wanted, body->>'text' AS text FROM postwire_resources WHERE export = ${id} ORDER BY id`
      assert.deepStrictEqual(
        rows.map(({ id, text, wanted }) => [id, Boolean(wanted), text]),
        [["7", true, "a\ufffdb\ufffdc"], ["8", true, nasty], ["9", true, "wanted"]]
      )
    }).pipe(Effect.provide(Layer.fresh(layer))))

  it.live("give the pages back in their order, whoever came first", () =>
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const { id } = yield* tables.add({ ...query, label: "order" }, 2)
      yield* tables.plan(id, [undefined, undefined])
      const source = Source.fromDefinition(searchRecentPosts.definition, { query: "a" })
      const post = (id: string, text = id) => ({ id, text })
      const user = (id: string, name: string) => ({ id, name })
      const pages: ReadonlyArray<readonly [PagePlace, Page]> = [
        [{ part: 1, page: 0 }, { ...page(undefined, post("1"), post("2")), includes: { users: [user("7", "later")] } }],
        [{ part: 0, page: 0 }, {
          ...page("t", post("9"), post("5")),
          includes: { users: [user("8", "a"), user("7", "first")], posts: [post("1")] },
          errors: [{ title: "Not Found" }],
          anomalies: { "data[].lang": 2, "includes.users[].name": 1 }
        }],
        [{ part: 0, page: 1 }, {
          ...page(undefined, post("4")),
          includes: { users: [user("8", "b")], posts: [post("9")] },
          anomalies: { "data[].lang": 1 }
        }]
      ]
      for (const [place, page] of pages) {
        yield* tables.begin({ export: id, part: place.part }, "a")
        const key = { export: id, part: place.part }
        assert.isTrue(yield* tables.commit(key, place.page, page, rowsOf(source, page, place), "a"))
      }
      const read = (part: number, page: number) =>
        Effect.map(tables.page(id, { part, page }), (rows) => pageOf(rows, { part, page }))
      const none = { errors: [], rateLimit: undefined }
      assert.deepStrictEqual(yield* read(0, 0), {
        ...none,
        items: [post("9"), post("5")],
        includes: { users: [user("8", "a"), user("7", "first")], posts: [post("1")] },
        errors: [{ title: "Not Found" }],
        anomalies: { "data[].lang": 2, "includes.users[].name": 1 }
      })
      assert.deepStrictEqual(yield* read(0, 1), {
        ...none,
        items: [post("4")],
        includes: { posts: [post("9")] },
        anomalies: { "data[].lang": 1 }
      })
      assert.deepStrictEqual(yield* tables.anomalies(id), { "data[].lang": 3, "includes.users[].name": 1 })
      assert.isUndefined(yield* tables.anomalies("none"))
      assert.deepStrictEqual(yield* read(1, 0), { ...none, items: [post("1"), post("2")], includes: {} })
      assert.isFalse(yield* tables.hasUnplaced(id))
      yield* SqlClient.SqlClient.use((sql) => sql`UPDATE postwire_resources SET listed = NULL WHERE export = ${id}`)
      assert.isTrue(yield* tables.hasUnplaced(id))
    }).pipe(Effect.provide(Layer.fresh(layer))))
}

describe("the tables in SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-tables-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  tables(() => ({ _tag: "Sqlite", path: join(folder, "tables.sqlite") }))
})

describe("an address", () => {
  it.effect.each(
    [
      ["postgres://u@h/d", "Postgres"],
      ["postgresql://u:p@h:5432/d", "Postgres"],
      ["sqlite:a/b.sqlite", "Sqlite"],
      ["sqlite:///a/b.sqlite", "Sqlite"],
      ["mysql://u:secret@h/d", undefined],
      ["sqlite:", undefined],
      ["", undefined]
    ] as const
  )("%s is of %s", ([address, expected]) =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Database.parse(Redacted.make(address)))
      assert.strictEqual(Exit.isSuccess(exit) ? exit.value._tag : undefined, expected)
      assert.notInclude(JSON.stringify(exit), "secret")
      if (Exit.isSuccess(exit) && exit.value._tag === "Sqlite") assert.match(exit.value.path, /^\/?a\/b\.sqlite$/)
    }))

  it("is known to hold a password", () => {
    const has = (address: string) => Database.hasPassword(Redacted.make(address))
    assert.deepStrictEqual(
      ["postgres://u:p@h/d", "postgres://h/d?password=p", "postgres://u@h/d", "sqlite:f"].map(has),
      [true, true, false, false]
    )
  })
})

describe("the SQLite client", () => {
  const layer = Sqlite.layer({ path: ":memory:" })

  it.effect("stores what drivers are given, and says what went wrong", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (id INTEGER UNIQUE, a, b, c, d)`
      const time = new Date(0)
      yield* sql`INSERT INTO t VALUES (1, ${true}, ${null}, ${time}, ${new Uint8Array([1, 2])})`
      yield* sql`INSERT INTO t ${sql.insert([{ id: 2, a: "x" }, { id: 3, a: 2.5 }])}`
      assert.deepStrictEqual((yield* sql`SELECT a, b, c, d FROM t WHERE id = 1`).map((row) => ({ ...row })), [
        { a: 1, b: null, c: time.toISOString(), d: new Uint8Array([1, 2]) }
      ])
      assert.deepStrictEqual(yield* sql`SELECT id, a FROM t WHERE id > 1`.values, [[2, "x"], [3, 2.5]])
      assert.deepInclude(yield* sql`DELETE FROM t WHERE id = 3`.raw, { changes: 1 })
      const twice = yield* Effect.flip(sql`INSERT INTO t (id) VALUES (1)`)
      assert.strictEqual(twice.reason._tag, "UniqueViolation")
      const wrong = yield* Effect.flip(sql`SELECT missing FROM t`)
      assert.match(wrong.message, /no such column: missing/)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT ${{}}`)))
    }).pipe(Effect.provide(layer)))

  it.effect("waits for the lock of another process without holding up its own", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-sqlite-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(folder, "locked.sqlite")
      const sql = Context.get(yield* Layer.build(Sqlite.layer({ path })), SqlClient.SqlClient)
      yield* sql`CREATE TABLE t (id INTEGER)`
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(path)),
        (database) => Effect.sync(() => database.close())
      )
      other.exec("BEGIN EXCLUSIVE")
      const given = yield* Effect.forkChild(sql`INSERT INTO t VALUES (1)`, { startImmediately: true })
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual((yield* Effect.flip(Fiber.join(given))).reason._tag, "LockTimeoutError")
      const left = yield* Effect.forkChild(sql`INSERT INTO t VALUES (2)`, { startImmediately: true })
      yield* Fiber.interrupt(left)
      const patient = yield* Effect.forkChild(sql`INSERT INTO t VALUES (3)`, { startImmediately: true })
      other.exec("ROLLBACK")
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(patient)
      assert.deepStrictEqual(yield* sql`SELECT id FROM t`.values, [[3]])
    }))

  it.effect("takes back what a transaction has done when it fails, and the inner one alone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (id INTEGER)`
      const add = (id: number) => sql`INSERT INTO t VALUES (${id})`
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(add(1), Effect.fail("no"))))
      yield* sql.withTransaction(Effect.andThen(
        add(2),
        Effect.ignore(sql.withTransaction(Effect.andThen(add(3), Effect.fail("no"))))
      ))
      // Transactions take turns.
      yield* Effect.forEach([4, 5, 6], (id) => sql.withTransaction(Effect.andThen(add(id), Effect.yieldNow)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* sql`SELECT id FROM t ORDER BY id`.values, [[2], [4], [5], [6]])
    }).pipe(Effect.provide(layer)))
})

const onPostgres = missing === undefined ? "PostgreSQL" : `PostgreSQL: skipped, it ${missing}`

describe.skipIf(missing !== undefined)(onPostgres, () => {
  let server: Postgres
  beforeAll(async () => {
    server = await postgres()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  const database = (): Database.Database => ({ _tag: "Postgres", url: Redacted.make(server.url) })

  describe("the tables", () => {
    tables(database)
  })

  const store = Effect.map(
    Layer.build(
      Layer.fresh(Layer.suspend(() => PostgresRateLimitStore.layer.pipe(Layer.provide(Database.layer(database())))))
    ),
    (context) => RateLimitStore.RateLimitStore.pipe(Effect.provide(context), Effect.runSync)
  )

  it.live("keeps one budget for all who share it, to its last unit", () =>
    Effect.gen(function*() {
      const stores = yield* Effect.all([store, store, store], { concurrency: 3 })
      const of = (i: number) => stores[i % stores.length]!
      const reserve = (i: number) => of(i).reserve("search", `lease-${i}`, 0)
      // Of a window that nobody knows, one asks.
      const asked = yield* Effect.forEach([0, 1, 2], reserve, { concurrency: 3 })
      assert.strictEqual(asked.filter(({ granted }) => granted).length, 1)
      const probe = asked.findIndex(({ granted }) => granted)
      const figures = { limit: 20, remaining: 12, window: 2_000_000_000, endsIn: 60_000 }
      yield* of(probe).settle("search", `lease-${probe}`, { answered: true, figures })
      const decisions = yield* Effect.forEach(Array.from({ length: 40 }, (_, i) => i + 10), reserve, {
        concurrency: 40
      })
      assert.strictEqual(decisions.filter(({ granted }) => granted).length, 12)
      assert.deepInclude(yield* of(1).read("search"), { inFlight: 12 })
      assert.deepStrictEqual(yield* of(2).read("other"), { window: undefined, inFlight: 0 })
      const { window } = yield* of(2).read("search")
      assert.deepInclude(window, { limit: 20, remaining: 12, window: 2_000_000_000 })

      const [first, second] = yield* Effect.all([
        of(0).reserve("paced", "a", 1_000),
        of(1).reserve("paced", "b", 1_000)
      ])
      assert.isTrue(first.granted)
      assert.isFalse(second.granted)
    }))

  it.live("serves who came before, and does not believe a clock that was ahead", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Effect.all([store, store])
      const place = (line: string, waited: number) => ({ line, waited, callers: 1 })
      yield* one.reserve("turns", "a", 0)
      yield* one.settle("turns", "a", {
        answered: true,
        figures: { limit: 2, remaining: 1, window: 2_000_000_000, endsIn: 60_000 }
      })
      yield* one.reserve("turns", "b", 0)
      assert.deepInclude(yield* one.reserve("turns", "c", 0, place("one", 9_000)), { reason: "in flight" })
      yield* one.settle("turns", "b", { answered: false })
      assert.deepInclude(yield* two.reserve("turns", "d", 0, place("two", 0)), { reason: "turn" })
      assert.isTrue((yield* one.reserve("turns", "c", 0, place("one", 9_000))).granted)

      const context = yield* Layer.build(Layer.fresh(Database.layer(database())))
      const sql = Context.get(context, SqlClient.SqlClient)
      const ahead = {
        ...Ledger.empty(),
        at: Date.now() + 86_400_000,
        window: 2_000_000_000,
        end: Date.now() + 86_700_000
      }
      yield* sql`INSERT INTO postwire_texts_1 VALUES ('ledger:4:{ahead}', ${Ledger.toText(ahead)}, ${ahead.end})`
      assert.isTrue((yield* one.reserve("ahead", "a", 0)).granted)
    }))

  it.live("goes on when a machine freezes in the middle of a step", () =>
    Effect.gen(function*() {
      const other = yield* store
      yield* other.reserve("frozen", "a", 0)
      yield* other.settle("frozen", "a", { answered: true })
      const context = yield* Layer.build(Layer.fresh(Database.layer(database())))
      const sql = Context.get(context, SqlClient.SqlClient)
      const locked = yield* Deferred.make<void>()
      yield* Effect.forkScoped(Effect.ignore(sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT * FROM postwire_texts_1 WHERE key = ${"ledger:4:{frozen}"} FOR UPDATE`
        yield* Deferred.succeed(locked, undefined)
        return yield* Effect.never
      }))))
      yield* Deferred.await(locked)
      const decision = yield* Effect.timeout(other.reserve("frozen", "b", 0), "12 seconds")
      assert.isTrue(decision.granted)
    }))

  it.live("waits for a database that is away", () =>
    Effect.gen(function*() {
      const patient = yield* store
      server.stop()
      const waiting = yield* Effect.forkChild(patient.reserve("later", "a", 0))
      yield* Effect.sleep(300)
      assert.isUndefined(waiting.pollUnsafe())
      server.start()
      assert.isTrue((yield* Fiber.join(waiting)).granted)
    }))
})
