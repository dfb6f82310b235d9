import { assert, describe, it } from "@effect/vitest"
import { getBookmarks } from "@postwire/core/operations/Bookmarks"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Source from "../src/sources/Source.ts"
import { folder, linesIn, sandbox } from "./support/Scene.ts"

/** A client of ada, who has bookmarked so many posts of a service that ends lists of bookmarks early. */
const bookmarked = (count: number) =>
  Layer.unwrap(Effect.gen(function*() {
    const { ada, baseUrl, faults, seeded } = yield* Sandbox.Sandbox
    ada.bookmarks(...Array.from({ length: count }, (_, index) => ada.post(`bookmark ${index}`)))
    faults.add({ operation: "getBookmarks", page: "ends-early", times: "always" })
    return NodeClient.layer({ baseUrl, bearerToken: seeded.userBearerToken })
  })).pipe(Layer.provideMerge(sandbox(0)))

const sizesAsked = Effect.map(
  Sandbox.Sandbox,
  ({ journal }) =>
    journal.entries().filter(({ operation }) => operation === "getBookmarks")
      .map(({ query }) => query["max_results"])
)

describe("bookmarks that the service ends early on pages of more than 90", () => {
  it.live("are exported completely by default", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "bookmarks.jsonl")
      const { progress, status } = yield* Export.run(Source.make(getBookmarks), { sink: JsonLines.make(path) })
      assert.deepStrictEqual([status, progress.items, progress.errors], ["done", 250, 0])
      assert.deepStrictEqual(yield* sizesAsked, ["90", "90", "90"])
      assert.lengthOf(new Set(linesIn(path)), 250)
    }).pipe(Effect.provide(bookmarked(250))))

  it.live("are reported as incomplete where a caller sets 100", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "bookmarks.jsonl")
      const source = Source.make(getBookmarks, { max_results: 100 })
      const { progress, status } = yield* Export.run(source, { sink: JsonLines.make(path) })
      assert.deepStrictEqual([status, progress.items, progress.errors, progress.endedEarly], [
        "partial",
        100,
        1,
        true
      ])
      assert.deepStrictEqual(yield* sizesAsked, ["100", "90", "11"])
      const problem = JSON.parse(readFileSync(`${path}.postwire/errors.jsonl`, "utf8"))
      assert.strictEqual(problem.type, "postwire:ended-early")
      assert.include(problem.detail, "pages of 90")
    }).pipe(Effect.provide(bookmarked(250))))

  it.live.each([
    { title: "they fit the page", count: 97, limit: undefined, items: 97, sizes: ["100", "90", "8"] },
    { title: "there are none", count: 0, limit: undefined, items: 0, sizes: ["100", "1"] },
    { title: "a limit ends the export", count: 250, limit: 40, items: 40, sizes: ["40"] }
  ])("are complete where a caller sets 100 and $title", ({ count, items, limit, sizes }) =>
    Effect.gen(function*() {
      const path = join(yield* folder, "bookmarks.jsonl")
      const source = Source.make(getBookmarks, { max_results: 100 })
      const { progress, status } = yield* Export.run(source, { sink: JsonLines.make(path), limit })
      assert.deepStrictEqual([status, progress.items], ["done", items])
      assert.deepStrictEqual(yield* sizesAsked, sizes)
    }).pipe(Effect.provide(bookmarked(count))))
})
