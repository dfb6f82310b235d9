import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpBody, HttpClientRequest } from "effect/http"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { Store, StoreUnavailable } from "../src/store/Store.ts"
import { type Bench, day, make, now } from "./support/Requests.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-snapshots-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** What the service answers about all that there is. */
const viewOf = Effect.fnUntraced(function*({ request, sandbox }: Bench) {
  const answers: Array<unknown> = [{ ...sandbox.store.counts() }]
  for (
    const path of [
      "/2/posts/search/recent?query=effect&max_results=100",
      "/2/posts/search/recent?query=needle",
      `/2/users/${sandbox.ada.id}/bookmarks`,
      `/2/users/${sandbox.ada.id}?user.fields=public_metrics`,
      "/2/dm_events"
    ]
  ) answers.push((yield* request("GET", path)).body)
  return answers
})

/** A snapshot after a change that no sandbox makes. */
const edited = Effect.fnUntraced(function*(snapshot: Uint8Array, sql: string) {
  const path = join(yield* folder, "edited.sqlite")
  writeFileSync(path, snapshot)
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  return readFileSync(path)
})

describe.each(["memory", "file"])("a snapshot of the state in %s", (place) => {
  const build = Effect.gen(function*() {
    const file = place === "file" ? join(yield* folder, "state.sqlite") : undefined
    return { file, bench: yield* make({ file }) }
  })

  it.effect("brings back what was there, again and again", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const { sandbox } = bench
      sandbox.user({ username: "grace" }).post("needle one")
      const before = yield* viewOf(bench)
      assert.lengthOf((before[2] as { data: [] }).data, 1)
      const snapshot = sandbox.snapshot()
      for (let round = 0; round < 3; round++) {
        yield* bench.request("POST", "/2/posts", { body: { text: "later" } })
        sandbox.user().post("needle two").post("needle three")
        assert.notDeepEqual(yield* viewOf(bench), before)
        sandbox.restore(snapshot)
        assert.deepStrictEqual(yield* viewOf(bench), before)
        // And of what was restored there is a snapshot again.
        assert.deepStrictEqual(sandbox.snapshot().length, snapshot.length)
        sandbox.restore(sandbox.snapshot())
        assert.deepStrictEqual(yield* viewOf(bench), before)
      }
      // Written and searched as before.
      yield* bench.request("POST", "/2/posts", { body: { text: "needle after" } })
      sandbox.clock.advance("1 minute")
      const found = yield* bench.request("GET", "/2/posts/search/recent?query=needle")
      assert.deepStrictEqual(found.body.data.map(({ text }: { text: string }) => text), ["needle after", "needle one"])
    }))

  it.effect("begins the rest anew", () =>
    Effect.gen(function*() {
      const { bench: { request, sandbox } } = yield* build
      const snapshot = sandbox.snapshot()
      yield* request("GET", "/2/users/me", { as: "signed" })
      sandbox.faults.add({ status: 500 })
      sandbox.clock.advance("1 hour")
      sandbox.restore(snapshot)
      assert.deepStrictEqual([sandbox.faults.list(), sandbox.requests, sandbox.budget.windows()], [[], [], []])
      assert.strictEqual(sandbox.clock.now(), now + 3_600_000)

      yield* request("GET", "/2/users/me", { as: "signed" })
      sandbox.faults.add({ status: 500 })
      sandbox.restore(snapshot, { keepJournal: true })
      assert.deepStrictEqual([sandbox.faults.list(), sandbox.budget.windows()], [[], []])
      assert.deepStrictEqual(sandbox.requests.map(({ operation }) => operation), ["getMe"])
    }))

  it.effect("that is none is refused, and nothing is lost", () =>
    Effect.gen(function*() {
      const { bench, file } = yield* build
      const { sandbox } = bench
      const snapshot = sandbox.snapshot()
      const path = join(yield* folder, "foreign.sqlite")
      const foreign = (sql: string) => {
        rmSync(path, { force: true })
        const database = new DatabaseSync(path)
        database.exec(sql)
        database.close()
        return readFileSync(path)
      }
      const before = yield* viewOf(bench)
      sandbox.faults.add({ status: 500 })
      const version = new DataView(snapshot.buffer, snapshot.byteOffset).getUint32(60)
      const corrupt = Uint8Array.from(snapshot)
      corrupt.fill(0xff, 4096, 3 * 4096)
      for (
        const [bytes, reason] of [
          [new Uint8Array(0), /Not a snapshot/],
          [new TextEncoder().encode("nonsense".repeat(100)), /Not a snapshot/],
          [foreign("CREATE TABLE a (b)"), /layout 0/],
          [foreign("CREATE TABLE a (b); PRAGMA user_version = 1"), /layout 1/],
          [foreign(`CREATE TABLE a (b); PRAGMA user_version = ${version}`), /unexpected tables/],
          [snapshot.subarray(0, snapshot.length >> 1), /malformed/],
          [corrupt, /malformed/]
        ] as const
      ) {
        assert.throws(() => sandbox.restore(bytes), reason)
        assert.lengthOf(sandbox.faults.list(), 1)
      }
      sandbox.faults.clear()
      assert.deepStrictEqual(yield* viewOf(bench), before)
      if (file !== undefined) {
        assert.deepStrictEqual(readdirSync(join(file, "..")).filter((name) => name.includes("restored")), [])
      }
    }))

  it.effect("that this population cannot be added to is refused, and nothing is lost", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const { sandbox } = bench
      sandbox.user({ username: "grace" }).post("needle")
      const before = yield* viewOf(bench)
      const { settings } = sandbox
      // All user names of the population are there, but for that of its own user.
      const snapshot = yield* edited(sandbox.snapshot(), "UPDATE users SET username = 'nobody' WHERE username = 'ada'")
      assert.throws(() => sandbox.restore(snapshot), /UNIQUE constraint failed: users/)
      const answer = yield* bench.http.execute(
        HttpClientRequest.put(`${bench.baseUrl}/_sandbox/snapshot`, {
          headers: { authorization: `Bearer ${Redacted.value(sandbox.adminToken)}` },
          body: HttpBody.uint8Array(snapshot)
        })
      )
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(sandbox.settings, settings)
      assert.isAbove(sandbox.requests.length, 0)
      assert.deepStrictEqual(yield* viewOf(bench), before)
      assert.strictEqual((yield* bench.request("POST", "/2/posts", { body: { text: "after" } })).status, 201)
    }))

  it.effect("that breaks the rules of its tables is refused, and nothing is lost", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const { sandbox } = bench
      const before = yield* viewOf(bench)
      const snapshot = sandbox.snapshot()
      for (
        const [sql, reason] of [
          ["DROP INDEX likes_by_user", /unexpected tables/],
          ["CREATE TRIGGER t AFTER INSERT ON posts BEGIN DELETE FROM users; END", /unexpected tables/],
          ["ALTER TABLE users ADD COLUMN more TEXT", /unexpected tables/],
          ["UPDATE users SET entities = '{' WHERE username = 'ada'", /users.entities is not JSON/],
          ["UPDATE media SET facts = 'x' WHERE id = (SELECT min(id) FROM media)", /media.facts is not JSON/]
        ] as const
      ) {
        const bad = yield* edited(snapshot, sql)
        assert.throws(() => sandbox.restore(bad), reason)
      }
      assert.deepStrictEqual(yield* viewOf(bench), before)
      sandbox.restore(yield* edited(snapshot, "UPDATE users SET name = 'Countess' WHERE username = 'ada'"))
      assert.strictEqual(sandbox.store.users.byUsername("ada")?.name, "Countess")
    }))

  it.effect("of another population comes with its data, and the credentials stay", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const other = yield* make({ seed: 2, posts: 20 })
      other.sandbox.user({ username: "grace" }).post("needle elsewhere")
      bench.sandbox.restore(other.sandbox.snapshot())
      assert.strictEqual(bench.store.counts().posts, 21)
      for (const as of ["app", "user", "signed"] as const) {
        const answer = yield* bench.request("GET", "/2/posts/search/recent?query=needle", {
          as: as === "signed" ? "user" : as
        })
        assert.strictEqual(answer.body.data[0].text, "needle elsewhere")
      }
      assert.strictEqual((yield* bench.request("GET", "/2/users/me", { as: "signed" })).status, 200)
      const media = yield* bench.request("POST", "/2/posts", {
        body: { media: { media_ids: bench.sandbox.seeded.mediaIds.slice(0, 2) } }
      })
      assert.strictEqual(media.status, 201)
    }))

  it.effect("resets to the same population, and to another", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const before = yield* viewOf(bench)
      const { settings } = bench.sandbox
      yield* bench.request("POST", "/2/posts", { body: { text: "gone" } })
      bench.sandbox.reset()
      assert.deepStrictEqual(bench.sandbox.settings, settings)
      assert.deepStrictEqual(yield* viewOf(bench), before)
      bench.sandbox.reset({ posts: 10, seed: 3, start: now - 400 * day })
      assert.strictEqual(bench.store.counts().posts, 10)
      assert.notStrictEqual(bench.sandbox.settings.bearerToken, settings.bearerToken)
      assert.strictEqual(bench.sandbox.clock.now(), now - 400 * day)
      assert.strictEqual((yield* bench.request("GET", "/2/users/me")).status, 401)
      bench.sandbox.reset()
      assert.deepStrictEqual(bench.sandbox.settings, settings)
      assert.deepStrictEqual(yield* viewOf(bench), before)
    }))

  it.effect("is not lost by a reset that is refused", () =>
    Effect.gen(function*() {
      const { bench } = yield* build
      const { sandbox } = bench
      yield* bench.request("POST", "/2/posts", { body: { text: "kept" } })
      sandbox.clock.advance("1 hour")
      const [before, time, { settings }] = [yield* viewOf(bench), sandbox.clock.now(), sandbox]
      for (const bad of [{ posts: -1 }, { posts: 10, seed: 3, start: 0 }, { posts: 0.5, seed: 3, start: now - day }]) {
        assert.throws(() => sandbox.reset(bad))
        assert.deepStrictEqual(sandbox.settings, settings)
        assert.strictEqual(sandbox.clock.now(), time)
        assert.deepStrictEqual(yield* viewOf(bench), before)
      }
      // Nor does it decide what a snapshot of another population is given.
      const other = yield* make({ seed: 2, posts: 20 })
      sandbox.restore(other.sandbox.snapshot())
      assert.strictEqual(sandbox.settings.bearerToken, settings.bearerToken)
    }))
})

describe("a file", () => {
  it.effect("of another program is left as it is", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "foreign.sqlite")
      for (const sql of ["CREATE TABLE a (b)", "CREATE TABLE a (b); PRAGMA user_version = 99"]) {
        rmSync(path, { force: true })
        const database = new DatabaseSync(path)
        database.exec(sql)
        database.close()
        const before = readFileSync(path)
        const error = yield* Effect.flip(make({ file: path }))
        assert.instanceOf(error, StoreUnavailable)
        assert.isTrue(readFileSync(path).equals(before))
        assert.deepStrictEqual(readdirSync(join(path, "..")), ["foreign.sqlite"])
      }
    }))

  it.effect("that another program has open is not replaced", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      const bench = yield* make({ file })
      const snapshot = bench.sandbox.snapshot()
      bench.sandbox.user({ username: "grace" })
      const reader = new DatabaseSync(file)
      reader.exec("BEGIN; SELECT count(*) FROM users")
      assert.throws(() => bench.sandbox.restore(snapshot), /another program has it open/)
      assert.isDefined(bench.store.users.byUsername("grace"))
      reader.close()
      bench.sandbox.restore(snapshot)
      assert.isUndefined(bench.store.users.byUsername("grace"))
    }))

  it.live("is the old or the new one when the process is killed as it is replaced", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      const restored = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [
          "--disable-warning=ExperimentalWarning",
          fileURLToPath(new URL("fixtures/restorer.ts", import.meta.url)),
          file
        ])
        let [output, errors] = ["", ""]
        let kill: NodeJS.Timeout | undefined
        child.stderr.on("data", (chunk) => errors += chunk)
        child.stdout.on("data", (chunk) => {
          output += chunk
          // Several may come at once.
          if (output.length >= 3) kill ??= setTimeout(() => child.kill("SIGKILL"), Math.random() * 20)
        })
        const [, signal] = await once(child, "close")
        assert.strictEqual(signal, "SIGKILL", errors)
        return output.length
      })
      assert.isAtLeast(restored, 3)
      const store = yield* Store.open({ file })
      assert.include([0, 1], store.counts().posts)
      assert.strictEqual(store.users.byUsername("ada")?.username, "ada")
    }))

  it.effect("holds what was restored when it is opened again, and is a snapshot itself", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      const id = yield* Effect.scoped(Effect.gen(function*() {
        const { sandbox } = yield* make({ file })
        const snapshot = sandbox.snapshot()
        sandbox.user({ username: "lost" })
        sandbox.restore(snapshot)
        return sandbox.user({ username: "grace" }).post("needle").id
      }))
      yield* Effect.scoped(Effect.gen(function*() {
        const { request, store } = yield* make({ file })
        assert.isUndefined(store.users.byUsername("lost"))
        assert.strictEqual((yield* request("GET", "/2/posts/search/recent?query=needle")).body.data[0].id, id)
      }))
      const { sandbox } = yield* make()
      sandbox.restore(readFileSync(file))
      assert.strictEqual(sandbox.store.posts.byId(id)?.text, "needle")
    }))
})
