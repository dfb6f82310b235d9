import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const sandbox = Sandbox.layerServer({ posts: 60 })

/** A file with an id of every outcome. */
const scene = Effect.gen(function*() {
  const { user } = yield* Sandbox.Sandbox
  const root = yield* Commands.folder
  const grace = user({ username: "grace" })
  const shy = user({ username: "shy", protected: true })
  const gone = user({ username: "gone" }).suspended()
  const path = join(root, "ids.csv")
  const found = grace.post("found").id
  writeFileSync(path, `text,post_id\na,${found}\nb,1\nc,${shy.post("x").id}\nd,${gone.post("x").id}\ne,1.4E+18\n`)
  return { root, path, found, grace, gone }
})

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n")

describe("postwire hydrate", () => {
  it.live("tells what it costs, writes what there is, and what became of every row", () =>
    Effect.gen(function*() {
      const { found, path, root } = yield* scene
      const out = join(root, "posts.jsonl")
      const flags = [path, "--out", out, "--post-fields", "created_at"]
      const before = yield* Commands.run("hydrate", ...flags, "--dry-run")
      assert.strictEqual(before.output, "5 posts, 1 request, up to $0.025")
      assert.isFalse(existsSync(out))
      const { code, errors, output } = yield* Commands.run("hydrate", ...flags)
      assert.strictEqual(code, 0, errors)
      assert.match(errors, /^postwire: 5 posts, 1 request, up to \$0\.025\.\n.*protected and of suspended accounts/)
      assert.match(
        output,
        /^done: 1 post on 1 page\n {2}posts\.jsonl .* 1 post\n.*outcomes\.jsonl .* 5 outcomes\n5 rows: /m
      )
      assert.include(output, "2 protected")
      assert.deepStrictEqual(linesOf(out).map((line) => JSON.parse(line).id), [found])
      assert.deepStrictEqual(
        linesOf(join(`${out}.postwire`, "outcomes.jsonl")).map((line) => JSON.parse(line).outcome),
        ["found", "deleted", "protected", "protected", "invalid"]
      )
      const again = yield* Commands.run("hydrate", ...flags, "--resume", "--json")
      assert.deepStrictEqual(JSON.parse(again.output).progress.outcomes, {
        found: 1,
        deleted: 1,
        protected: 2,
        invalid: 1
      })
    }).pipe(Effect.provide(sandbox)))

  it.live("reads users, by id and name, and refuses what costs too much before the first request", () =>
    Effect.gen(function*() {
      const { gone, grace, root } = yield* scene
      const { journal } = yield* Sandbox.Sandbox
      const path = join(root, "users.txt")
      writeFileSync(path, `${grace.id}\n@gone\n@nobody\n${gone.id}\n`)
      const out = join(root, "users.csv")
      const flags = ["hydrate", path, "--users", "--out", out]
      const refused = yield* Commands.run(...flags, "--max-spend", "0.03")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.errors, "It would cost up to $0.04; --max-spend is $0.03")
      assert.lengthOf(journal.entries(), 0)
      const { output } = yield* Commands.run(...flags, "--max-spend", "0.04")
      assert.include(output, "4 rows: 2 suspended, 1 found, 1 deleted")
      const none = yield* Commands.run("hydrate", join(root, "none.txt"), "--out", join(root, "x.jsonl"))
      assert.include(none.errors, "there is no such file")
      const wrong = yield* Commands.run("hydrate", path, "--out", join(root, "x.jsonl"), "--post-fields", "colour")
      assert.include(wrong.errors, "--post-fields")
    }).pipe(Effect.provide(sandbox)))
})
