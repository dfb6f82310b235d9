import { assert, describe, it } from "@effect/vitest"
import { getConversation } from "@postwire/core/workflows/Conversation"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted, Stream } from "effect"
import { once } from "node:events"
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import * as Export from "../src/Export.ts"
import * as Rows from "../src/rows/Rows.ts"
import * as Hydration from "../src/sources/Hydration.ts"
import { exporterIn } from "./support/Kills.ts"
import { client, differing, folder, linesIn, sandbox } from "./support/Scene.ts"
import { hydrated, sinks } from "./support/Sinks.ts"

const kills = process.env["POSTWIRE_LONG"] === "1" ? 10 : 2

/** Posts of every outcome in a file, each line with its outcome. */
const scene = Effect.gen(function*() {
  const { store, user } = yield* Sandbox.Sandbox
  const root = yield* folder
  const grace = user({ username: "grace" })
  const shy = user({ username: "shy", protected: true })
  const gone = user({ username: "gone" })
  const withheld = { copyright: true, country_codes: ["XY"], scope: "post" } as const
  const others: ReadonlyArray<readonly [id: string, outcome: string]> = [
    [shy.post("protected").id, "protected"],
    [gone.post("suspended").id, "protected"],
    [grace.post({ text: "withheld", withheld }).id, "withheld"],
    ["9", "deleted"],
    ["no id", "invalid"]
  ]
  gone.suspended()
  const seeded = store.overview.list("posts", { limit: 3_000 }).items.map(({ id }) => String(id))
  const readable = new Set(
    store.posts.byIds(seeded, { userId: undefined }).filter((post) => post.withheld === undefined).map(({ id }) => id)
  )
  const rows = Array.from({ length: 5 }, () => seeded).flat().flatMap((id, i) => {
    const other = others[i % 97]
    return [...readable.has(id) ? [[id, "found"] as const] : [], ...other === undefined ? [] : [other]]
  })
  const path = join(root, "ids.txt")
  writeFileSync(path, rows.map(([id]) => `${id}\n`).join(""))
  return { root, path, rows, gone, grace, shy }
})

/** A service on this machine that answers queries; returns its address. */
const serve = Effect.fnUntraced(function*(answer: (query: URLSearchParams) => object) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost")
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(searchParams)))
  }).listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close().closeAllConnections()))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
})

const open = (path: string) => Rows.open(path, { kind: Hydration.posts })

describe("a file of ids", () => {
  it.effect("becomes its posts and what became of each row, in the order of the file", () =>
    Effect.gen(function*() {
      const { path, root, rows } = yield* scene
      const out = join(root, "posts.jsonl")
      const source = Hydration.source(yield* open(path), "posts", hydrated)
      const { files, progress, status } = yield* Export.run(source, { sink: sinks.jsonl(out) })
      assert.strictEqual(status, "done")
      const outcomes = linesIn(join(`${out}.postwire`, "outcomes.jsonl"))
      assert.deepStrictEqual(
        outcomes.map(({ outcome, row, value }) => [row, value, outcome]),
        rows.map(([id, outcome], i) => [i + 1, id, outcome])
      )
      const found = rows.filter(([, outcome]) => outcome === "found" || outcome === "withheld").map(([id]) => id)
      assert.deepStrictEqual(linesIn(out).map(({ id }) => id), found)
      assert.deepStrictEqual(
        progress.outcomes,
        rows.reduce<Record<string, number>>((all, [, outcome]) => ({ ...all, [outcome]: (all[outcome] ?? 0) + 1 }), {})
      )
      assert.strictEqual(progress.requests, Math.ceil(rows.length / 100))
      assert.deepStrictEqual(files.map(({ holds }) => holds).toSorted(), ["items", "outcomes", "users"])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("may bring included objects of a kind whose name every object inherits", () =>
    Effect.gen(function*() {
      const answers: Readonly<Record<string, object>> = {
        "1": {
          data: [{ id: "1", text: "a", conversation_id: "2", edit_history_post_ids: ["1"] }],
          includes: { constructor: [{ id: "7" }] }
        },
        "2": { data: [{ id: "2", text: "b", conversation_id: "2", edit_history_post_ids: ["2"] }] }
      }
      const baseUrl = yield* serve((query) => answers[query.get("ids") ?? ""] ?? { meta: { result_count: 0 } })
      const root = yield* folder
      writeFileSync(join(root, "ids.txt"), "1\n")
      yield* Effect.gen(function*() {
        const source = Hydration.source(yield* open(join(root, "ids.txt")), "posts", {})
        const { files, status } = yield* Export.run(source, { sink: sinks.jsonl(join(root, "posts.jsonl")) })
        assert.strictEqual(status, "done")
        assert.include(files.map(({ holds }) => holds), "constructor")
        assert.strictEqual((yield* getConversation("1")).id, "2")
      }).pipe(Effect.provide(NodeClient.layer({ baseUrl, bearerToken: "token" })))
    }))

  it.effect("of users may hold ids and names, in any form that exports write", () =>
    Effect.gen(function*() {
      const { gone, grace, root, shy } = yield* scene
      const path = join(root, "users.csv.gz")
      writeFileSync(path, gzipSync(`who,author_id\na,${grace.id}\nb,@Shy\nc,${gone.id}\nd,@nobody\ne,-\n`))
      const rows = yield* Rows.open(path, { kind: Hydration.users })
      const out = join(root, "users.jsonl")
      const source = Hydration.source(rows, "users", { user_fields: ["protected"] })
      const { progress } = yield* Export.run(source, { sink: sinks.jsonl(out) })
      assert.strictEqual(progress.requests, 2)
      assert.deepStrictEqual(linesIn(out).map(({ id }) => id), [grace.id, shy.id])
      assert.deepStrictEqual(
        linesIn(join(`${out}.postwire`, "outcomes.jsonl")).map(({ outcome, value }) => [value, outcome]),
        [[grace.id, "found"], ["@Shy", "found"], [gone.id, "suspended"], ["@nobody", "deleted"], ["-", "invalid"]]
      )
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.effect("that was changed is refused, and one that has nothing is done", () =>
    Effect.gen(function*() {
      const { path, root } = yield* scene
      const out = join(root, "posts.jsonl")
      const run = Effect.fnUntraced(function*(path: string, out: string, pages = Infinity) {
        const source = Hydration.source(yield* open(path), "posts", hydrated)
        const taken = { ...source, pages: (cursor?: string) => Stream.take(source.pages(cursor), pages) }
        return yield* Export.run(taken, { sink: sinks.jsonl(out), mode: pages === 1 ? "new" : "resume" })
      })
      assert.strictEqual((yield* run(path, out, 1)).status, "interrupted")
      appendFileSync(path, "20\n")
      const error = yield* Effect.flip(run(path, out))
      assert.strictEqual(error._tag, "CheckpointMismatch")
      assert.include(error.message, "file was ")
      const empty = join(root, "empty.txt")
      writeFileSync(empty, "\n")
      assert.strictEqual((yield* run(empty, join(root, "none.jsonl"), 1)).status, "done")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live(`is hydrated once, after ${2 * kills} kills at random`, () =>
    Effect.gen(function*() {
      const { path, root } = yield* scene
      const run = yield* exporterIn(root)
      const { baseUrl, budget, faults, seeded } = yield* Sandbox.Sandbox
      faults.add({ operation: "getPosts", delay: 10 })
      yield* Effect.forEach(["jsonl", "parquet"] as const, (sink) =>
        Effect.gen(function*() {
          const pathOf = (name: string) => {
            mkdirSync(join(root, name, sink), { recursive: true })
            return join(root, name, sink, `out.${sink}`)
          }
          const source = Hydration.source(yield* open(path), "posts", hydrated)
          yield* Export.run(source, { sink: sinks[sink](pathOf("whole")) })
          const attempt = async (name: string, kill: boolean): Promise<boolean> => {
            const told = {
              baseUrl,
              bearerToken: Redacted.value(seeded.appBearerToken),
              ids: path,
              path: pathOf(name),
              sink
            }
            const end = await run(told, kill ? 2 : 0)
            budget.clear()
            assert.notStrictEqual(end, "failed")
            return end === "done"
          }
          for (let killed = 0, round = 0; killed < kills; round++) {
            const name = `killed ${round}`
            // The last one is let go on to its end.
            while (!(yield* Effect.promise(() => attempt(name, killed < kills)))) killed++
            assert.deepStrictEqual(differing(join(root, name, sink), join(root, "whole", sink)), [], sink)
          }
        }), { concurrency: 2 })
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))), 300_000)
})
