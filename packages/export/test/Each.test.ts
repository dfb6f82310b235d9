import { assert, it } from "@effect/vitest"
import { getUsersFollowers } from "@postwire/core/operations/Follows"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Export from "../src/Export.ts"
import * as Rows from "../src/rows/Rows.ts"
import * as Each from "../src/sources/Each.ts"
import { client, differing, folder, linesIn, now, stopAfter } from "./support/Scene.ts"
import { type SinkName, sinks } from "./support/Sinks.ts"

/** Two who post, one whom nobody may see, one who was suspended; and files. */
const scene = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  sandbox.reset()
  sandbox.budget.clear()
  const lin = sandbox.user({ username: "lin" })
  const mo = sandbox.user({ username: "mo" })
  const bo = sandbox.user({ username: "bo" })
  const shy = sandbox.user({ username: "shy", protected: true })
  const gone = sandbox.user({ username: "gone" })
  for (let i = 0; i < 12; i++) lin.post(`lin ${i}`)
  for (let i = 0; i < 3; i++) mo.post(`mo ${i} of effects`)
  shy.post("nobody reads it")
  gone.post("nobody reads it either")
  gone.suspended()
  const root = yield* folder
  return {
    sandbox,
    lin,
    mo,
    bo,
    shy,
    gone,
    root,
    open: (text: string, kind = Rows.users) => {
      const path = join(root, "rows.csv")
      writeFileSync(path, text)
      return Rows.open(path, { kind })
    },
    out: (sink: SinkName = "jsonl", name = "out") => {
      mkdirSync(join(root, name), { recursive: true })
      return join(root, name, `out.${sink}`)
    }
  }
})

it.layer(Sandbox.layerServer({ posts: 0, start: now }))("an operation for each row of a file", (it) => {
  it.effect("is the timelines of users by id and name, in their order, and tells of those that it does not get", () =>
    Effect.gen(function*() {
      const { gone, lin, open, out, sandbox, shy } = yield* scene
      const rows = yield* open(
        `who,id\nx,${lin.id}\nx,@MO\nx,${shy.id}\nx,nobody_1\nx,@gone\nx,99\nx,mo\nx,${gone.id}\n`
      )
      const before = sandbox.requests.length
      const each = Each.make(getUsersPosts, rows, { max_results: 5 })
      const summary = yield* Export.run(each, { sink: sinks.jsonl(out()) })
      assert.strictEqual(summary.status, "partial")
      assert.deepStrictEqual(summary.progress.outcomes, { done: 3, protected: 1, deleted: 2, suspended: 2 })
      assert.deepStrictEqual(
        linesIn(out()).map(({ _each, _row, text }) => `${_row} ${_each} ${text}`),
        [
          ...Array.from({ length: 12 }, (_, i) => `1 ${lin.id} lin ${11 - i}`),
          ...[2, 1, 0].map((i) => `2 @MO mo ${i} of effects`),
          ...[2, 1, 0].map((i) => `7 mo mo ${i} of effects`)
        ]
      )
      assert.deepStrictEqual(
        linesIn(`${out()}.postwire/errors.jsonl`).map(({ _each, _line, _row, title }) => [_row, _line, _each, title]),
        [
          [3, 4, shy.id, "Authorization Error"],
          [4, 5, "nobody_1", "Not Found Error"],
          [5, 6, "@gone", "Forbidden"],
          [6, 7, "99", "Not Found Error"],
          [8, 9, gone.id, "Forbidden"]
        ]
      )
      // Names are looked up together; who is not there is not asked for. Six rows have an id, of which one has three pages.
      assert.strictEqual(sandbox.requests.length - before, 1 + 6 + 2)
      assert.strictEqual(summary.progress.requests, 1 + 6 + 2)
    }).pipe(Effect.provide(client)))

  it.effect("is many searches, each with its own parameters, of which one that is refused does not stop the others", () =>
    Effect.gen(function*() {
      const { open, out } = yield* scene
      const rows = yield* open(
        `query,max_results,note\nlin,10,a\n"((",10,b\n"effects","1",c\n${"x".repeat(2_000)},10,d\n"effects\n",,e\n`,
        Rows.queries
      )
      const summary = yield* Export.run(Each.make(searchRecentPosts, rows), { sink: sinks.jsonl(out()) })
      assert.deepStrictEqual(summary.progress.outcomes, { done: 2, refused: 3 })
      assert.deepStrictEqual(
        linesIn(`${out()}.postwire/errors.jsonl`).map(({ _line, detail }) =>
          `${_line}: ${String(detail).slice(0, 38)}`
        ),
        [
          "3: One or more parameters to your request",
          "4: max_results must be a whole number fro",
          "5: query must be text, 1 to 1024 characte"
        ]
      )
      assert.deepStrictEqual(linesIn(out()).map(({ _row }) => _row), [...Array<number>(12).fill(1), 5, 5, 5])
    }).pipe(Effect.provide(client)))

  it.effect("fails as a whole where it is not the row that is wrong", () =>
    Effect.gen(function*() {
      const { open, out, sandbox } = yield* scene
      const rows = yield* open("lin\nmo\n")
      const each = Each.fromDefinition(getUsersPosts.definition, rows, { max_results: 4 })
      const failed = yield* Effect.flip(Export.run(each, { sink: sinks.jsonl(out()) }))
      assert.strictEqual(failed._tag, "InvalidParameters")
      const before = sandbox.requests.length
      sandbox.faults.add({ operation: "getUsersPosts", status: 401 })
      const refused = yield* Effect.flip(
        Export.run(Each.make(getUsersPosts, rows), { sink: sinks.jsonl(out()), mode: "force" })
      )
      sandbox.faults.clear()
      assert.strictEqual(refused._tag, "Unauthorized")
      assert.isAtMost(sandbox.requests.length - before, 3)
    }).pipe(Effect.provide(client)))

  it.effect("ends a row or the whole of it at a limit, and asks for no more", () =>
    Effect.gen(function*() {
      const { lin, mo, open, out, sandbox } = yield* scene
      const rows = yield* open(`id\n${lin.id}\n${mo.id}\n${lin.id}\n`)
      const each = Each.make(getUsersPosts, rows, { max_results: 5 }, { limitEach: 7 })
      const begun = sandbox.requests.length
      const summary = yield* Export.run(each, { sink: sinks.jsonl(out()) })
      assert.strictEqual(summary.progress.items, 7 + 3 + 7)
      assert.strictEqual(sandbox.requests.length - begun, 2 + 1 + 2)
      const limited = yield* Export.run(each, { sink: sinks.jsonl(out("jsonl", "limited")), limit: 8 })
      assert.strictEqual(limited.progress.items, 8)
      assert.isTrue(limited.progress.complete)
      assert.strictEqual(sandbox.requests.length - begun, 5 + 2 + 1)
    }).pipe(Effect.provide(client)))

  it.effect("goes on from any page", () =>
    Effect.gen(function*() {
      const { open, out, root, sandbox } = yield* scene
      const rows = yield* open("username\nlin\nshy\nmo\nlin\nnobody_1\nmo\n")
      const each = Each.make(
        getUsersPosts,
        rows,
        { max_results: 5, post_fields: ["author_id"], expansions: ["author_id"] },
        { limitEach: 11 }
      )
      yield* Export.run(each, { sink: sinks.csv(out("csv", "whole")) })
      const runs: Array<string> = []
      while (runs.at(-1) !== "partial" && runs.length < 20) {
        sandbox.budget.clear()
        const { status } = yield* Export.run(each, {
          sink: sinks.csv(out("csv", "parts")),
          mode: "resume",
          ...yield* stopAfter()
        })
        runs.push(status)
      }
      assert.strictEqual(runs.length, 10)
      assert.deepStrictEqual(differing(join(root, "parts"), join(root, "whole")), [])
      const other = Export.run(
        Each.make(getUsersPosts, yield* open("username\nlin\nshy\nmo\n"), { max_results: 5 }, { limitEach: 11 }),
        { sink: sinks.csv(out("csv", "parts")), mode: "resume" }
      )
      const refusal = yield* Effect.flip(other)
      assert.match(refusal.message, /each was [0-9a-f]{64} and is now/)
    }).pipe(Effect.provide(client)))

  it.effect("fetches rows side by side, and gives them in their order", () =>
    Effect.gen(function*() {
      const { lin, mo, open, out, sandbox } = yield* scene
      const rows = yield* open(`id\n${lin.id}\n${mo.id}\n${mo.id}\n${mo.id}\n${mo.id}\n${mo.id}\n`)
      const asked: Array<number> = []
      const seen = sandbox.requests.length
      yield* Export.run(Each.make(getUsersPosts, rows, { max_results: 5 }), {
        sink: sinks.jsonl(out()),
        onPage: () => Effect.sync(() => asked.push(sandbox.requests.length - seen))
      })
      // When the first page is written, others are under way: of its own row and of three more.
      assert.isAtLeast(asked[1] ?? 0, 4)
      assert.deepStrictEqual(
        linesIn(out()).map(({ _row }) => _row),
        [...Array<number>(12).fill(1), ...[2, 3, 4, 5, 6].flatMap((row) => [row, row, row])]
      )
    }).pipe(Effect.provide(client)))

  it.effect("keeps apart in SQLite what is one item of several rows", () =>
    Effect.gen(function*() {
      const { bo, lin, mo, open, out } = yield* scene
      lin.follows(bo)
      mo.follows(bo, lin)
      const rows = yield* open("bo\n@lin\n")
      yield* Export.run(Each.make(getUsersFollowers, rows), { sink: sinks.sqlite(out("sqlite")) })
      using database = new DatabaseSync(out("sqlite"), { readOnly: true })
      const found = database.prepare(
        "SELECT _row, _each, username FROM results JOIN users USING (id) ORDER BY _row, username"
      ).all()
      assert.deepStrictEqual(found.map((row) => Object.values(row)), [[1, "bo", "lin"], [1, "bo", "mo"], [
        2,
        "@lin",
        "mo"
      ]])
      assert.deepStrictEqual({ ...database.prepare("SELECT count(*) AS n FROM users").get() }, { n: 2 })
    }).pipe(Effect.provide(client)))

  it.effect("has columns for the row in CSV", () =>
    Effect.gen(function*() {
      const { open, out } = yield* scene
      yield* Export.run(Each.make(getUsersPosts, yield* open("mo\n")), { sink: sinks.csv(out("csv")), limit: 1 })
      assert.match(readFileSync(out("csv"), "utf8"), /^_row,_each,id,text,.*\r\n1,mo,\d+,mo 2 of effects,/)
    }).pipe(Effect.provide(client)))
})
