// Malformed members of answers: left out of an export, and counted by place in what it says at its end.
import { assert, describe, it } from "@effect/vitest"
import * as NodeClient from "@postwire/node/NodeClient"
import { Effect, Stream } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Partitions from "../src/Partitions.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import type * as Source from "../src/sources/Source.ts"
import { folder, linesIn, source } from "./support/Scene.ts"

const edit_history_post_ids = ["1"]

// One of another type, and one that is missing.
const public_metrics = { reply_count: 0, repost_count: 0, like_count: "many", impression_count: 0 }

const pages: Readonly<Record<string, object>> = {
  "": {
    data: [
      { id: "3", text: "a", edit_history_post_ids, lang: 5 },
      { id: "2", text: "b", edit_history_post_ids, lang: ["en"], public_metrics }
    ],
    includes: { users: [{ id: "1", name: 7, username: "ada" }] },
    meta: { next_token: "a" }
  },
  a: {
    data: [{ id: "1", text: "c", edit_history_post_ids, lang: {} }],
    meta: { next_token: "b" }
  },
  b: { data: [{ id: "0", text: "d", edit_history_post_ids, lang: "en" }] }
}

const client = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        const { searchParams } = new URL(request.url ?? "/", "http://localhost")
        response.end(JSON.stringify(pages[searchParams.get("next_token") ?? ""]))
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  // What is warned of is of no interest here.
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  return NodeClient.layer({ baseUrl, bearerToken: "canary", logger })
})

const anomalies = {
  "data[].lang": 3,
  "data[].public_metrics.like_count": 1,
  "data[].public_metrics.bookmark_count": 1,
  "includes.users[].name": 1
}

describe("malformed members", () => {
  it.live("are counted by place, over all runs of an export, which is done all the same", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const options = { sink: JsonLines.make(path), mode: "resume" } as const
      const layer = yield* client
      const first: Source.Source = { ...source, pages: (cursor) => Stream.take(source.pages(cursor), 1) }
      const begun = yield* Effect.provide(Export.run(first, options), layer)
      assert.deepStrictEqual(begun.progress.anomalies, { ...anomalies, "data[].lang": 2 })
      const seen: Array<unknown> = []
      const { progress, status } = yield* Effect.provide(
        Export.run(source, { ...options, onPage: (page) => Effect.sync(() => seen.push(page.progress.anomalies)) }),
        layer
      )
      assert.strictEqual(status, "done")
      assert.deepStrictEqual(progress.anomalies, anomalies)
      assert.deepStrictEqual(seen, [anomalies, anomalies])
      assert.deepStrictEqual(linesIn(path).map(({ id, lang }) => [id, lang]), [
        ["3", undefined],
        ["2", undefined],
        ["1", undefined],
        ["0", "en"]
      ])
      const manifest = JSON.parse(readFileSync(join(`${path}.postwire`, "manifest.json"), "utf8"))
      assert.deepStrictEqual(manifest.progress.anomalies, anomalies)
      const again = yield* Effect.provide(Export.run(source, options), layer)
      assert.deepStrictEqual(again.progress.anomalies, anomalies)
    }))

  it.live("of parts are counted together, and in the cursors of jobs", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const layer = yield* client
      const partition = { index: 0, end_time: "2026-11-20T12:00:00Z", posts: 4 }
      const twice = Object.fromEntries(Object.entries(anomalies).map(([place, count]) => [place, 2 * count]))
      let shown: unknown
      const { progress } = yield* Effect.provide(
        Partitions.run(source, {
          sink: JsonLines.make(path),
          // The server gives both the same.
          partitions: Effect.succeed([partition, { ...partition, index: 1 }]),
          onPage: (page) => Effect.sync(() => shown = page.progress.anomalies)
        }),
        layer
      )
      assert.deepStrictEqual([progress.anomalies, shown], [twice, twice])
      let cursor = Partitions.beginning
      while (!cursor.complete) {
        const job = Partitions.exportPartition(source, partition, { cursor, write: () => Effect.void })
        cursor = yield* Effect.provide(job, layer)
      }
      assert.deepStrictEqual(cursor.anomalies, anomalies)
    }))

  it.live("are not there to count in answers that are sound", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const last: Source.Source = { ...source, pages: () => source.pages("b") }
      const { progress } = yield* Effect.provide(
        Export.run(last, { sink: JsonLines.make(path) }),
        yield* client
      )
      assert.strictEqual(progress.items, 1)
      assert.notProperty(progress, "anomalies")
    }))
})
