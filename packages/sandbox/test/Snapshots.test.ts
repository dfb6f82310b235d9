import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
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
          [new Uint8Array(0), /no snapshot/],
          [new TextEncoder().encode("nonsense".repeat(100)), /no snapshot/],
          [foreign("CREATE TABLE a (b)"), /layout 0/],
          [foreign("CREATE TABLE a (b); PRAGMA user_version = 1"), /layout 1/],
          [foreign(`CREATE TABLE a (b); PRAGMA user_version = ${version}`), /other tables/],
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
        body: { media: { media_ids: bench.sandbox.seeded.mediaIds } }
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
})

describe("a file", () => {
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
