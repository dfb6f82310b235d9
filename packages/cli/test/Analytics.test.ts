import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line))

describe("postwire analytics", () => {
  it.live("shows the price and writes a row for each own post, and nothing twice", () =>
    Effect.gen(function*() {
      const { journal } = yield* Sandbox.Sandbox
      const posts = yield* Effect.forEach(["One", "Two"], (text) =>
        Effect.map(Commands.run("post", text), ({ output }) => ({ id: output, text })))
      const out = join(yield* Commands.folder, "own.jsonl")
      const flags = [
        "analytics",
        "--since",
        "2020-01-01",
        "--out",
        out,
        "--posts",
        "--analytics-fields",
        "likes,replies"
      ]
      const { code, errors, output } = yield* Commands.run(...flags)
      assert.strictEqual(code, 0, errors)
      assert.match(
        errors,
        /^postwire: \d+ posts, 1 request, up to \$0\.\d+ and more\.\npostwire: Up to 1 request for figures/
      )
      assert.match(output, /^done: \d+ rows? on 1 page/)
      assert.deepStrictEqual(
        linesOf(out).map(({ id, likes, text }) => ({ id, likes, text })),
        posts.toReversed().map((post) => ({ ...post, likes: 0 }))
      )
      const limited = yield* Commands.run(...flags.slice(0, 3), "--out", `${out}.other`, "--max-spend", "1")
      assert.include(
        limited.errors,
        "It may cost more than --max-spend, $1.00: it sends requests whose price is unknown"
      )
      const requests = journal.entries().length
      const again = yield* Commands.run(...flags, "--resume", "--json")
      assert.strictEqual(JSON.parse(again.output).progress.items, linesOf(out).length, again.errors)
      // Only who the user is.
      assert.lengthOf(journal.entries(), requests + 1)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  it.live("refuses times before anything is requested", () =>
    Effect.gen(function*() {
      const { journal } = yield* Sandbox.Sandbox
      const wrong = yield* Commands.run("analytics", "--since", "soon", "--out", "-")
      assert.include(wrong.errors, "--since must be a time")
      const order = yield* Commands.run("analytics", "--since", "2026-11-02", "--until", "2026-11-01", "--out", "-")
      assert.include(order.errors, "--since is not before --until")
      const future = yield* Commands.run("analytics", "--since", "2999-01-01", "--out", "-")
      assert.include(future.errors, "--since is not before now")
      assert.lengthOf(journal.entries(), 0)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))
})
