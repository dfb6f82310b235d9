import { assert, it } from "@effect/vitest"
import * as Copy from "@postwire/archive/copy/Copy"
import { Effect } from "effect"
import { once } from "node:events"
import { join } from "node:path"
import * as Commands from "./Commands.ts"
import * as Processes from "./support/Processes.ts"

const posts = [
  { id: "1460323737035677698", text: "a first post", author_id: "7", created_at: "2026-11-01T12:00:00.000Z" },
  {
    id: "1460323737035677699",
    text: "\u001b[31mred\u001b[0m, C++ and\n\"quotes\"",
    author_id: "7",
    created_at: "2026-11-02T12:00:00.000Z",
    public_metrics: { like_count: 1 }
  }
]

/** A copy of two posts. */
const copy = Effect.gen(function*() {
  const path = join(yield* Commands.folder, "own.sqlite")
  yield* Copy.Current.use((copy) => Copy.write(copy, { objects: { posts, users: [{ id: "7", username: "ada" }] } }))
    .pipe(Effect.provide(Copy.layerSqlite(path)))
  return path
})

it.effect("search shows texts without control characters", () =>
  Effect.gen(function*() {
    const db = yield* copy
    assert.strictEqual(
      (yield* Commands.parse("search", "--db", db, "C++", "\"quotes\"")).output,
      "2026-11-02 12:00  @ada  1460323737035677699  1 like\n  \ufffd[31mred\ufffd[0m, C++ and \"quotes\""
    )
    const { output } = yield* Commands.parse("search", "--db", db, "--json", "post", "--from", "@ada")
    assert.deepInclude(JSON.parse(output)[0], { id: posts[0]?.id, username: "ada", text: "a first post" })
    assert.strictEqual(
      (yield* Commands.parse("search", "--db", db, "post", "--since", "2026-11-02")).output,
      "Nothing found."
    )
    assert.strictEqual((yield* Commands.parse("search", "--db", db, "post", "--messages")).output, "Nothing found.")
  }))

it.effect("query prints tables, CSV and lines of JSON with exact numbers", () =>
  Effect.gen(function*() {
    const db = yield* copy
    const query = (...args: ReadonlyArray<string>) => Commands.parse("query", "--db", db, ...args)
    const select = "SELECT n, text, gone FROM posts ORDER BY n DESC"
    assert.deepStrictEqual((yield* query(select)).output.split("\n"), [
      "                  n  text                            gone",
      "───────────────────  ──────────────────────────────  ────",
      "1460323737035677699  \ufffd[31mred\ufffd[0m, C++ and \"quotes\"",
      "1460323737035677698  a first post",
      "2 rows"
    ])
    const [first, second] = (yield* query("--json", select)).output.split("\n")
    assert.include(first, "\\u001b[31mred")
    assert.deepStrictEqual(JSON.parse(second ?? ""), { n: "1460323737035677698", text: "a first post", gone: null })
    assert.strictEqual(
      (yield* query("--csv", `${select} LIMIT 1 OFFSET 1`)).output,
      "n,text,gone\r\n1460323737035677698,a first post,"
    )
    const formulas = "SELECT '=1+1' AS a, '\t@x' AS b, -1 AS c, 'plain' AS d"
    assert.strictEqual((yield* query("--csv", formulas)).output, "a,b,c,d\r\n=1+1,\t@x,-1,plain")
    assert.strictEqual((yield* query("--csv", "--guard", formulas)).output, "a,b,c,d\r\n'=1+1,'\t@x,-1,plain")
    assert.include((yield* query("--guard", formulas)).errors, "--guard is for csv")
    const everything = yield* query("SELECT * FROM posts")
    assert.strictEqual(everything.code, 0)
    assert.isTrue(everything.output.split("\n").every((line) => line.length <= 80))
    const refused = yield* query("SELECT * FROM post")
    assert.strictEqual(refused.code, 1)
    assert.match(
      refused.errors,
      /^postwire: The query is refused: no such table: post\n {2}Tables and views: bookmarks, .*users\.$/
    )
    const address = "postgres://ada:s3cret@127.0.0.1:1/copy"
    const { errors } = yield* Commands.parse("query", "--db", address, select)
    assert.include(
      errors,
      "postwire: Every user of this machine can read the password in the command line.\n  Make it the target of a sync file"
    )
    assert.notInclude(errors, "s3cret")
    assert.include((yield* query("DELETE FROM posts")).errors, "only statements that read")
    assert.include(
      (yield* Commands.parse("query", "--db", `${db}.none`, select)).errors,
      "own.sqlite.none yet\n  Make it with: postwire sync"
    )
  }))

it.live("archive serve prints one JSON line when it is ready, and serves until it is stopped", () =>
  Effect.gen(function*() {
    const child = Processes.start(["archive", "serve", "--db", yield* copy, "--json"])
    const ended = Processes.ended(child)
    yield* Effect.promise(async () => {
      try {
        const [line] = await once(child.stdout!, "data")
        const url = new URL(JSON.parse(String(line)).url)
        const authorization = `Bearer ${url.hash.slice("#token=".length)}`
        assert.include(await (await fetch(new URL("/", url), { headers: { authorization } })).text(), "a first post")
        assert.notInclude(await (await fetch(new URL("/", url))).text(), "a first post")
      } finally {
        child.kill("SIGINT")
      }
      assert.deepInclude(await ended, { code: 130, errors: "" })
    })
  }))
