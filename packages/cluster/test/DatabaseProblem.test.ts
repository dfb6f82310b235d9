import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../src/Database.ts"
import * as DatabaseProblem from "../src/DatabaseProblem.ts"
import { missing, postgres } from "./support/Postgres.ts"

const use = <A, E>(database: Database.Database, work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.map(
    Effect.flip(Effect.provide(work, Database.layer(database))),
    (error) => DatabaseProblem.of(error)?.reason
  )

const statement = (text: string) => SqlClient.SqlClient.use((sql) => sql.unsafe(text))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-problem-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("a problem with a database", () => {
  it.live("of SQLite is told by its name", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const of = (path: string): Database.Database => ({ _tag: "Sqlite", path })
      const grown = Effect.andThen(
        statement("PRAGMA max_page_count = 2"),
        statement("CREATE TABLE a AS SELECT hex(randomblob(100000)) AS b")
      )
      assert.strictEqual(yield* use(of(join(root, "full.sqlite")), grown), "The disk is full")
      assert.strictEqual(
        yield* use(of(join(root, "none", "a.sqlite")), statement("SELECT 1")),
        "The database cannot be opened"
      )
      writeFileSync(join(root, "text"), "no database, but long enough to be looked at as one".repeat(100))
      assert.strictEqual(yield* use(of(join(root, "text")), statement("SELECT 1")), "The file is no database")
    }))

  it("of a file is told by its name, and that of a service is not taken for one", () => {
    const cause = (code: string) => new Error("outer", { cause: Object.assign(new Error("inner"), { code }) })
    assert.strictEqual(DatabaseProblem.of(cause("ENOSPC"))?.reason, "The disk is full")
    assert.strictEqual(DatabaseProblem.of(cause("EROFS"))?.reason, "The disk is read-only")
    assert.isUndefined(DatabaseProblem.of(cause("ECONNREFUSED")))
    assert.isUndefined(DatabaseProblem.of(new Error("plain")))
    assert.isUndefined(DatabaseProblem.of("text"))
  })
})

const onPostgres = missing === undefined ? "PostgreSQL" : `PostgreSQL: skipped, it ${missing}`

describe.skipIf(missing !== undefined)(onPostgres, () => {
  it.live("tells its problems by their names", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.acquireRelease(
        Effect.promise(postgres),
        (server) => Effect.promise(() => server[Symbol.asyncDispose]())
      )
      const at = (address: string): Database.Database => ({ _tag: "Postgres", url: Redacted.make(address) })
      const raised = (state: string) => statement(`DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${state}'; END $$`)
      const cases: ReadonlyArray<
        readonly [Database.Database, Effect.Effect<unknown, unknown, SqlClient.SqlClient>, string]
      > = [
        [at(url), raised("53100"), "The disk of the database is full"],
        [at(url), raised("53300"), "The database takes no more connections"],
        [at(url), raised("57P03"), "The database is starting or ending"],
        [at(url), statement("SELECT * FROM nothing_of_the_kind"), "Tables of the database are missing"],
        [at(url), raised("25006"), "The database only reads, as a standby does"],
        [at(url.replace(/postgres$/, "none")), statement("SELECT 1"), "There is no such database"],
        [
          at(url.replace("postwire@", "stranger@")),
          statement("SELECT 1"),
          "The database does not accept the user or the password"
        ],
        [at("postgres://postwire@127.0.0.1:1/x"), statement("SELECT 1"), "The database does not answer"]
      ]
      for (const [database, work, reason] of cases) assert.strictEqual(yield* use(database, work), reason)
    }), 60_000)
})
