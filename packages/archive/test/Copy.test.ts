import { assert, it } from "@effect/vitest"
import * as Metrics from "@postwire/core/runtime/Metrics"
import { Effect, Exit, Layer, Metric, Scope, Stream } from "effect"
import { chmodSync, statSync } from "node:fs"
import { join } from "node:path"
import * as Changes from "../src/copy/Changes.ts"
import * as Copy from "../src/copy/Copy.ts"
import * as Status from "../src/copy/Status.ts"
import * as gone from "../src/sync/Gone.ts"
import { copy, folder, onEach, rowsIn } from "./support/Scene.ts"

const write = (batch: Copy.Batch) => Effect.flatMap(Copy.Current, (copy) => Copy.write(copy, batch))

const post = (fields: object) => ({ id: "1460323737035677698", text: "hello", ...fields })

onEach("a copy", (place, dialect) => {
  it.effect("writes what the service sends once, whatever is in it", () =>
    Effect.gen(function*() {
      const own = yield* place
      const posts = [
        post({ text: "nul \0, half \ud83d, whole \ud83d\ude00, \\u0000", possibly_sensitive: false }),
        post({
          id: "9223372036854775807",
          public_metrics: { like_count: Number.MAX_SAFE_INTEGER },
          new_field: ["\0\udc00"]
        })
      ]
      const users = [{ id: "7", username: "ada", protected: true, name: "a'\"{}\n", description: "\0" }]
      const batch = { objects: { posts, users } }
      const { count: rows } = yield* Metric.value(Metrics.archiveRows.of({ "postwire.change": "added" }))
      assert.deepInclude(yield* Effect.provide(write(batch), own), { added: 3, changed: 0 })
      assert.deepInclude(yield* Effect.provide(write(batch), own), { added: 0, changed: 0 })
      const { count } = yield* Metric.value(Metrics.archiveRows.of({ "postwire.change": "added" }))
      assert.strictEqual(count - rows, 3)
      const changes = yield* Changes.since(0).pipe(Stream.runCollect, Effect.provide(own))
      const byId = Object.fromEntries(changes.map(({ row }) => [row["id"], row]))
      assert.deepInclude(byId["1460323737035677698"], {
        text: "nul \ufffd, half \ufffd, whole \ud83d\ude00, \\u0000",
        possibly_sensitive: false,
        is_preview: false,
        added_in: 1
      })
      assert.deepInclude(byId["9223372036854775807"], { public_metrics_like_count: Number.MAX_SAFE_INTEGER })
      assert.deepStrictEqual(JSON.parse(String(byId["9223372036854775807"]?.["other"])), { new_field: ["\0\udc00"] })
      assert.deepInclude(byId["7"], { protected: true, name: "a'\"{}\n", description: "\ufffd" })
    }))

  it.effect("lists each change once, in the order of transactions, with its last values", () =>
    Effect.gen(function*() {
      const own = yield* place
      const edge = { kind: "likes", from: "7", to: "2" }
      const [copy, changes] = yield* Effect.gen(function*() {
        yield* write({ objects: { posts: [post({ id: "1" }), post({ id: "2" })] }, edges: [edge] })
        const first = yield* write({ objects: { posts: [post({ id: "3" })] } })
        yield* write({ objects: { posts: [post({ id: "2", text: "longer" })] } })
        const copy = yield* Copy.Current
        yield* gone.mark(copy, "posts", [{ id: "1", why: "deleted" }])
        yield* Copy.sweep(copy, { kind: "likes", end: "from_id", id: "7", since: first.commit })
        return [yield* Status.read, yield* Stream.runCollect(Changes.since(first.commit))] as const
      }).pipe(Effect.provide(own))
      assert.deepStrictEqual(
        changes.map((
          { change, commit, row, table }
        ) => [commit, table, change, row["id"] ?? row["to_id"], row["text"]]),
        [[3, "posts", "changed", "2", "longer"], [4, "posts", "gone", "1", null], [5, "edges", "gone", "2", undefined]]
      )
      assert.deepInclude(copy, {
        rows: { posts: 3, edges: 1 },
        gone: { posts: { deleted: 1 }, users: {} },
        runs: [],
        micros: 0
      })
    }))

  it.live("is opened by many at the same time, and held by one", () =>
    Effect.gen(function*() {
      const own = yield* place
      const counts = yield* Effect.forEach(
        [1, 2, 3, 4, 5, 6],
        (n) => Effect.provide(write({ objects: { posts: [post({ id: String(n) })] } }), own),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(counts.map(({ commit }) => commit).sort(), [1, 2, 3, 4, 5, 6])
      const held = yield* Scope.fork(yield* Effect.scope)
      const hold = Effect.flatMap(Copy.Current, Copy.hold)
      yield* Effect.gen(function*() {
        yield* Scope.provide(hold, held)
        const refused = yield* Effect.flip(Effect.provide(Effect.scoped(hold), own))
        assert.strictEqual(refused._tag, "SyncRunning")
        yield* Scope.close(held, Exit.void)
      }).pipe(Effect.provide(own))
      yield* Effect.provide(Effect.scoped(hold), own)
    }))

  if (dialect === "sqlite") {
    it.effect("adds one segment to the full-text index for a page that is newest first", () =>
      Effect.gen(function*() {
        const own = yield* place
        const posts = Array.from({ length: 20 }, (_, index) => post({ id: String(120 - index) }))
        yield* Effect.provide(write({ objects: { posts } }), own)
        assert.deepStrictEqual(yield* rowsIn(own, "SELECT count(DISTINCT segid) AS n FROM posts_text_idx"), [{ n: 1 }])
      }))
    return
  }

  it.live("is opened while another transaction writes, and finds words with its index", () =>
    Effect.gen(function*() {
      const own = yield* place
      yield* Effect.gen(function*() {
        const { sql } = yield* Copy.Current
        yield* write({ objects: { posts: [post({})] } })
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* write({ objects: { posts: [post({ text: "longer" })] } })
          yield* Effect.provide(Status.read, Layer.fresh(own)).pipe(Effect.timeout("10 seconds"))
          yield* sql`SET LOCAL enable_seqscan = off`
          const plan = yield* sql.unsafe(
            `EXPLAIN SELECT id FROM posts WHERE to_tsvector('simple', coalesce(text, '')) @@ to_tsquery('simple', 'longer')`
          )
          assert.include(JSON.stringify(plan), "posts_text")
        }))
      }).pipe(Effect.provide(own))
    }))
})

it.effect.skipIf(process.platform === "win32")(
  "makes files that only their owner can read, and leaves the mode of others",
  () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const modes = () => ["", "-wal"].map((end) => (statSync(path + end).mode & 0o777).toString(8))
      const opened = Effect.provide(Effect.sync(modes), copy(path))
      assert.deepStrictEqual(yield* opened, ["600", "600"])
      chmodSync(path, 0o640)
      assert.deepStrictEqual(yield* opened, ["640", "640"])
    })
)
