import { assert, describe, it } from "@effect/vitest"
import { minimum } from "@postwire/core/runtime/SupportedNode"
import { Effect } from "effect"
import { DatabaseSync, type StatementResultingChanges, StatementSync } from "node:sqlite"
import { vi } from "vitest"
import * as Engine from "../src/store/Engine.ts"
import { make } from "./support/Requests.ts"

const refusal = new RegExp(
  `^The sandbox needs SQLite with full-text search, which Node ${process.versions.node} lacks: use .*Node ${minimum} or newer$`
)

describe("a Node", () => {
  it("without SQLite is refused in one line", () => {
    assert.throws(() => Engine.check(undefined), refusal)
  })

  it("whose SQLite has no full-text search is refused in one line", () => {
    vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(() => {
      throw new Error("no such module: fts5")
    })
    assert.throws(() => Engine.check({ DatabaseSync }), refusal)
  })

  it("that has it will do", () => {
    assert.strictEqual(Engine.check({ DatabaseSync }).DatabaseSync, DatabaseSync)
  })

  it.effect("that refuses ids as numbers will do", () =>
    Effect.gen(function*() {
      const run = StatementSync.prototype.run
      const seen = vi.spyOn(StatementSync.prototype, "run").mockImplementation(
        function(this: StatementSync, ...values): StatementResultingChanges {
          const result = run.apply(this, values)
          const { lastInsertRowid: id } = result
          if (typeof id === "number" && !Number.isSafeInteger(id)) throw new RangeError(`Value is too large: ${id}`)
          return result
        }
      )
      const { request, sandbox } = yield* make({ posts: 20 })
      assert.strictEqual((yield* request("POST", "/2/posts", { body: { text: "a" } })).status, 201)
      assert.strictEqual(sandbox.store.counts().posts, 21)
      assert.isAbove(seen.mock.calls.length, 100)
    }))
})
