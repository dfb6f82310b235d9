import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const sandbox = Sandbox.layerServer({ posts: 0 })

/** Two who post, and one who is nobody. */
const scene = Effect.gen(function*() {
  const { user } = yield* Sandbox.Sandbox
  const root = yield* Commands.folder
  const lin = user({ username: "lin" })
  const mo = user({ username: "mo" })
  for (let i = 0; i < 7; i++) lin.post(`lin ${i}`)
  for (let i = 0; i < 3; i++) mo.post(`mo ${i}`)
  const path = join(root, "users.csv")
  writeFileSync(path, "username,team\nlin,a\nnobody_1,b\nmo,c\n")
  return { root, path, out: join(root, "posts.jsonl") }
})

describe("--each of postwire export", () => {
  it.live("exports an operation for each row of a file, tells the price before, and goes on", () =>
    Effect.gen(function*() {
      const { out, path } = yield* scene
      const command = ["export", "getUsersPosts", "--each", path, "--limit-each", "5", "--out", out]
      const { journal } = yield* Sandbox.Sandbox
      // The posts, and three users whose names are looked up.
      const refused = yield* Commands.run(...command, "--max-spend", "0.1")
      assert.include(refused.errors, "It would cost up to $0.105; --max-spend is $0.10")
      assert.lengthOf(journal.entries(), 0)
      const { code, errors, output } = yield* Commands.run(...command)
      assert.strictEqual(code, 3, errors)
      assert.match(errors, /^postwire: 15 posts, 4 requests, up to \$0\.105\.\n/)
      assert.match(output, /^partial: 8 posts on 3 pages\n/)
      assert.match(output, /\n3 rows: 2 done, 1 deleted$/)
      const rows = readFileSync(out, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        rows.map(({ _each, _row, text }) => `${_row} ${_each} ${text}`),
        [..."65432"].map((i) => `1 lin lin ${i}`).concat([..."210"].map((i) => `3 mo mo ${i}`))
      )
      writeFileSync(path, "username\nlin\n")
      const other = yield* Commands.run(...command, "--resume")
      assert.match(other.errors, /belongs to another export: .*each was/)
    }).pipe(Effect.provide(sandbox)))

  it.live("is planned by figures, and refuses what contradicts it", () =>
    Effect.gen(function*() {
      const { out, path, root } = yield* scene
      const planned = yield* Commands.run("plan", "getUsersPosts", "--each", path, "--json")
      const { dollars, items, requests, rows } = JSON.parse(planned.output)
      assert.deepStrictEqual({ dollars, items, requests, rows }, { dollars: 0.05, items: 10, requests: 4, rows: 3 })
      const { journal, user } = yield* Sandbox.Sandbox
      const lists = join(root, "lists.txt")
      const list = user().list({ name: "Friends", members: [user(), user(), user()] })
      writeFileSync(lists, `${list.id}\n1\n`)
      journal.clear()
      const members = JSON.parse(
        (yield* Commands.run("plan", "getListMembers", "--each", lists, "--json")).output
      )
      assert.deepInclude(members, { dollars: 0.03, items: 3, requests: 2, rows: 2 })
      assert.deepStrictEqual(journal.entries().map(({ operation }) => operation), ["getList", "getList"])
      const refusals = [
        [["--id", "1"], "--id and --each contradict each other"],
        [["--each-column", "name"], "there is no column name; there are username, team"]
      ] as const
      for (const [flags, message] of refusals) {
        const refused = yield* Commands.run("export", "getUsersPosts", "--each", path, "--out", out, ...flags)
        assert.include(refused.errors, message)
      }
      const missing = yield* Commands.run("export", "getUsersPosts", "--out", out)
      assert.include(missing.errors, "--id is missing")
    }).pipe(Effect.provide(sandbox)))
})
