import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { missing, type Postgres, postgres } from "../../cluster/test/support/Postgres.ts"
import * as Copy from "../src/copy/Copy.ts"
import * as Query from "../src/look/Query.ts"
import * as Search from "../src/look/Search.ts"
import { folder } from "./support/Scene.ts"

const texts = [
  "Effects are values",
  "C++ and it's \"quoted\" text-with-hyphens, back\\slash",
  "the café of effects: values first",
  "VALUES ARE EFFECTS (not AND, OR, NEAR)"
]
const first = 1460323737035677698n

/** The posts of the tests: the last one is by grace, and the oldest has the least id. */
const posts = texts.map((text, index) => ({
  id: String(first + BigInt(index)),
  text,
  author_id: index === 3 ? "8" : "7",
  created_at: `2026-11-0${index + 1}T12:00:00.000Z`,
  public_metrics: { like_count: index }
}))

const messages = [{ id: "5", event_type: "MessageCreate", text: "meeting at noon", sender_id: "7" }]

const seed = Copy.Current.use((copy) =>
  Copy.write(copy, {
    objects: { posts, messages, users: [{ id: "7", username: "Ada", name: "Ada L." }, { id: "8", username: "grace" }] }
  })
)

type Reader = ReturnType<typeof Copy.layerSqliteReader>

/** The tests of both databases. `place` makes a copy, and returns its reader. */
const define = (place: Effect.Effect<Reader, unknown, Scope.Scope>) => {
  it.effect("finds words, phrases and beginnings, newest first, whatever else is in them", () =>
    Effect.gen(function*() {
      const reader = yield* place
      const found = (options: Search.Options) =>
        Effect.map(Search.find(options), (all) => all.map(({ id }) => Number(BigInt(id) - first)))
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* found({ words: "effects VALUES" }), [3, 2, 0])
        assert.deepStrictEqual(yield* found({ words: "effects values", limit: 2 }), [3, 2])
        assert.deepStrictEqual(yield* found({ words: "\"effects values\"" }), [2])
        assert.deepStrictEqual(yield* found({ words: "eff* val*" }), [3, 2, 0])
        assert.deepStrictEqual(yield* found({ words: "eff" }), [])
        for (const words of ["C++", "\"quoted", "it's", "text-with-hyphens", "back\\slash", "C++ ++ \0"]) {
          assert.deepStrictEqual(yield* found({ words }), [1], words)
        }
        for (const words of ["NOT AND", "(NEAR", "NEAR)", "OR"]) {
          assert.deepStrictEqual(yield* found({ words }), [3], words)
        }
        assert.deepStrictEqual(yield* found({ words: "* ( \" : ^ ' \\ -" }), [])
        assert.deepStrictEqual(yield* found({ words: "text:values" }), [])
        assert.deepStrictEqual(yield* found({}), [3, 2, 1, 0])
        assert.deepStrictEqual(yield* found({ from: "@ADA" }), [2, 1, 0])
        assert.deepStrictEqual(yield* found({ words: "values", from: "8" }), [3])
        assert.deepStrictEqual(yield* found({ words: "values", since: "2026-11-03T00:00:00.000Z" }), [3, 2])
        assert.deepStrictEqual(yield* found({ words: "values", before: String(first + 2n) }), [0])
        assert.deepStrictEqual(yield* found({ before: String(first + 2n) }), [1, 0])
        const [message] = yield* Search.find({ words: "meet*", in: "messages" })
        assert.deepInclude(message, { id: "5", username: "Ada", likes: null })
      }).pipe(Effect.provide(reader))
    }))

  it.effect("queries, and cannot write", () =>
    Effect.gen(function*() {
      const reader = yield* place
      yield* Effect.gen(function*() {
        const [row] = yield* Query.run("SELECT * FROM posts ORDER BY id")
        assert.deepInclude(row, { id: String(first), public_metrics_like_count: 0 })
        assert.deepStrictEqual(
          yield* Query.run("-- a comment\n WITH x AS (SELECT 9007199254740993 AS n) SELECT * FROM x"),
          [
            { n: 9007199254740993n }
          ]
        )
        const file = join(yield* folder, "other.sqlite")
        for (
          const query of [
            "DELETE FROM posts",
            "WITH x AS (SELECT 1) DELETE FROM posts",
            `/* SELECT */ VACUUM INTO '${file}'`,
            `ATTACH '${file}' AS other`,
            "COMMIT",
            "",
            // A pattern that backtracks would never end.
            `${"/**/".repeat(200)}x`
          ]
        ) {
          assert.strictEqual((yield* Effect.flip(Query.run(query)))._tag, "QueryRefused", query)
        }
        assert.isFalse(existsSync(file))
        const error = yield* Effect.flip(Query.run("SELECT nothing FROM posts"))
        assert.match(error.message, /The query is refused: .*nothing/)
        assert.include(error.tables, "timeline")
        assert.lengthOf(yield* Query.run("SELECT id FROM posts"), 4)
      }).pipe(Effect.provide(reader))
    }))
}

it("finds beginnings of words among any number of stars at once", () => {
  assert.deepStrictEqual(Search.parse("ca** \"d*\" ***"), [
    { text: "ca", isPrefix: true },
    { text: "d*", isPrefix: false }
  ])
  assert.deepStrictEqual(Search.parse(`${"*".repeat(1_000_000)}a`).map(({ isPrefix }) => isPrefix), [false])
})

describe("a copy in SQLite", () => {
  define(Effect.gen(function*() {
    const path = join(yield* folder, "own.sqlite")
    yield* Effect.provide(seed, Copy.layerSqlite(path))
    return Copy.layerSqliteReader(path)
  }))

  it.effect("has numbers that are exact, and is not made by its readers", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      yield* Effect.provide(seed, Copy.layerSqlite(path))
      assert.deepStrictEqual(
        yield* Effect.provide(Query.run("SELECT n FROM posts LIMIT 1"), Copy.layerSqliteReader(path)),
        [{ n: first }]
      )
      const refused = yield* Effect.flip(Effect.provide(Query.run("SELECT 1"), Copy.layerSqliteReader(":memory:")))
      assert.deepInclude(refused, { _tag: "CopyUnusable", reason: "it is not a copy of Postwire" })
    }))
})

describe.skipIf(missing !== undefined)(
  `a copy in PostgreSQL${missing === undefined ? "" : `: skipped, it ${missing}`}`,
  () => {
    let server: Postgres
    beforeAll(async () => {
      server = await postgres()
    })
    afterAll(() => server[Symbol.asyncDispose]())
    let schemas = 0
    define(Effect.gen(function*() {
      const schema = `look_${++schemas}`
      const client = (options: string) =>
        PgClient.layer({ url: Redacted.make(`${server.url}?options=-c%20search_path%3D${options}`) })
      yield* Effect.provide(PgClient.PgClient.use((sql) => sql.unsafe(`CREATE SCHEMA ${schema}`)), client("public"))
      yield* Effect.provide(seed, Layer.provideMerge(Copy.layer(schema), client(schema)))
      return Layer.provideMerge(Copy.layerReader(schema), client(schema))
    }))
  }
)
