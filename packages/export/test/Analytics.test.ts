import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Service from "../../core/test/support/Service.ts"
import * as Export from "../src/Export.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Sqlite from "../src/sinks/Sqlite.ts"
import * as Analytics from "../src/sources/Analytics.ts"
import { folder, linesIn, now } from "./support/Scene.ts"

const total = 250

/** A service with posts of a user, whose figures it counts; it fails at this request. */
const start = () => {
  const state = { failsAt: -1 }
  const service = Service.make(({ path, query }, index) => {
    if (index === state.failsAt) return { status: 400, body: { title: "Bad", detail: "Bad", status: 400 } }
    if (path === "/2/posts/analytics") {
      const data = (query["ids"] ?? "").split(",").filter((id) => id !== "7" && id !== "8").map((id) => ({
        id,
        ...query["granularity"] === "daily"
          ? {
            timestamped_metrics: (id === "1" ? [] : ["1", "2"]).map((day) => ({
              timestamp: `2026-11-0${day}`,
              metrics: { likes: 1 }
            }))
          }
          : { likes: Number(id), reposts: 1 }
      }))
      const errors = [{ title: "Not Found", detail: "7", type: "about:blank", resource_id: "7" }]
      return { body: { data, ...(query["ids"] ?? "").split(",").includes("7") ? { errors } : {} } }
    }
    assert.strictEqual(path, "/2/users/42/posts")
    assert.deepInclude(query, { exclude: "retweets", max_results: "100", start_time: "2026-11-01T00:00:00Z" })
    const from = Number(query["pagination_token"] ?? "0")
    const size = Math.min(100, total - from)
    return {
      body: {
        data: Array.from({ length: size }, (_, i) => ({
          id: String(from + i),
          text: `post ${from + i}`,
          edit_history_post_ids: [String(from + i)],
          created_at: "2026-11-02T00:00:00.000Z"
        })),
        meta: { result_count: size, ...from + size < total ? { next_token: String(from + size) } : {} }
      }
    }
  })
  return { state, ...service }
}

const options: Analytics.Options = { start_time: "2026-11-01T00:00:00Z", analytics_fields: ["likes", "reposts"] }

describe("figures of own posts", () => {
  it.effect("come a page of posts at a time, and are not requested again after a failure", () =>
    Effect.gen(function*() {
      const { layer, requests, state } = start()
      yield* TestClock.setTime(now)
      const out = join(yield* folder, "own.jsonl")
      const source = Analytics.make("42", options)
      const run = Effect.provide(Export.run(source, { sink: JsonLines.make(out), mode: "resume" }), layer())
      state.failsAt = 4
      yield* Effect.flip(run)
      const first = requests.length
      assert.deepStrictEqual(requests.slice(0, 4).map(({ path }) => path), [
        "/2/users/42/posts",
        "/2/posts/analytics",
        "/2/users/42/posts",
        "/2/posts/analytics"
      ])
      state.failsAt = -1
      yield* TestClock.adjust("1 hour")
      const { progress, status } = yield* run
      // Two posts have no figures. The service reports one of them, and omits the other.
      assert.deepStrictEqual([status, progress.items, progress.errors], ["partial", total - 2, 2])
      assert.deepStrictEqual(linesIn(`${out}.postwire/errors.jsonl`).map(({ resource_id }) => resource_id), ["7", "8"])
      const rows = linesIn(out)
      assert.deepStrictEqual(rows[7], { id: "9", likes: 9, reposts: 1 })
      assert.strictEqual(new Set(rows.map(({ id }) => id)).size, total - 2)
      const tokens = requests.slice(first).flatMap(({ query }) =>
        query["ids"] === undefined ? [query["pagination_token"]] : []
      )
      assert.deepStrictEqual(tokens, ["200"])
      assert.lengthOf([...new Set(requests.map(({ query }) => query["end_time"]))], 1)
    }))

  it.effect("have a row for each day, with the post on request", () =>
    Effect.gen(function*() {
      const { layer } = start()
      yield* TestClock.setTime(now)
      const out = join(yield* folder, "own.jsonl")
      const source = Analytics.make("42", { ...options, granularity: "daily", posts: true })
      const { progress } = yield* Effect.provide(Export.run(source, { sink: JsonLines.make(out), limit: 4 }), layer())
      assert.strictEqual(progress.items, 4)
      const post = { created_at: "2026-11-02T00:00:00.000Z", text: "post 0", id: "0" }
      assert.deepStrictEqual(linesIn(out).slice(0, 3), [
        { ...post, timestamp: "2026-11-01", likes: 1 },
        { ...post, timestamp: "2026-11-02", likes: 1 },
        { ...post, text: "post 1", id: "1" }
      ])
    }))

  it.effect("are all in one table of a database, though rows share the id of their post", () =>
    Effect.gen(function*() {
      const { layer } = start()
      yield* TestClock.setTime(now)
      const out = join(yield* folder, "own.sqlite")
      const source = Analytics.make("42", { ...options, granularity: "daily", posts: true })
      yield* Effect.provide(Export.run(source, { sink: Sqlite.make(out) }), layer())
      const database = new DatabaseSync(out, { readOnly: true })
      const rows = database.prepare("SELECT id, timestamp, likes, text FROM analytics ORDER BY rowid LIMIT 2").all()
      const count = database.prepare("SELECT count(*) AS rows FROM analytics").get()
      database.close()
      assert.deepStrictEqual(rows.map((row) => ({ ...row })), [
        { id: "0", timestamp: "2026-11-01", likes: 1, text: "post 0" },
        { id: "0", timestamp: "2026-11-02", likes: 1, text: "post 0" }
      ])
      assert.strictEqual(count?.["rows"], (total - 3) * 2 + 1)
    }))
})
