import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../../cluster/src/Database.ts"
import * as Workflow from "../../cluster/src/Workflow.ts"
import { missing, postgres } from "../../cluster/test/support/Postgres.ts"
import * as Rig from "../../cluster/test/support/Rig.ts"

const database = Effect.acquireRelease(
  Effect.promise(postgres),
  (server) => Effect.promise(() => server[Symbol.asyncDispose]())
)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-cluster-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** A sandbox that takes its time, so that there is a middle for things to happen in. */
const slow = (delay: number) =>
  Effect.map(Sandbox.Sandbox, (sandbox) => {
    sandbox.faults.add({ delay, times: "always", operation: "searchRecentPosts" })
    return sandbox
  })

/** Every post of the sandbox's own answer is there once, and the service refused nothing. */
const assertComplete = Effect.fnUntraced(function*(id: string, query: string) {
  const sandbox = yield* Sandbox.Sandbox
  const statuses = Object.keys(Rig.answers(sandbox)).filter((status) => status !== "200" && status !== "undefined")
  assert.deepStrictEqual(statuses, [], "answers other than 200")
  sandbox.faults.clear()
  const ids = yield* Rig.idsOf(id)
  assert.strictEqual(new Set(ids).size, ids.length)
  assert.sameMembers(ids, [...yield* Rig.expected(query)])
  return ids.length
})

/** Minutes of processes that are killed and frozen. What one machine shows, below, is in every run. */
const isLong = process.env["POSTWIRE_LONG"] === "1"

const onMachines = missing === undefined
  ? `exports on many machines${isLong ? "" : ": npm run test:long"}`
  : `exports on many machines: skipped, it ${missing}`

describe.runIf(missing === undefined && isLong)(onMachines, () => {
  it.live("without a worker is started all the same, which is said, and seen in status", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { url } = yield* database
      const environment = Rig.environmentOf(sandbox, url)
      const args = ["export", "searchRecentPosts", "--query", "effect", "--label", "weekly", "--detach"]
      const { code, errors, output } = yield* Rig.run(environment, ...args)
      assert.strictEqual(code, 0)
      assert.match(output, /^[0-9a-f]{16}\n$/)
      assert.strictEqual(
        errors,
        `postwire: The export ${output.trim()} waits for a worker.\n` +
          "  Run postwire worker on any machine with access to the database.\n"
      )
      const shown = (yield* Rig.run(environment, "status")).output
      assert.match(shown, /\n {2}--query effect --label weekly\n {2}It waits for a worker: run postwire worker/)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))), 60_000)

  it.live("goes on when two of four workers are killed: every post once, and no refusal", () =>
    Effect.gen(function*() {
      const sandbox = yield* slow(60)
      const { url } = yield* database
      const environment = Rig.environmentOf(sandbox, url)
      const workers = yield* Effect.all(Array.from({ length: 4 }, () => Rig.worker(environment)), {
        concurrency: "unbounded"
      })
      yield* Effect.gen(function*() {
        const query = Rig.queryOf("effect", { expansions: "author_id" })
        // Two starts at once are one export.
        const [started, again] = yield* Effect.all([
          Workflow.start(query, { parts: 40 }),
          Workflow.start(query, { parts: 40 })
        ], { concurrency: 2 })
        assert.strictEqual(again.id, started.id)

        const victims = workers.toSorted(() => Math.random() - 0.5).slice(0, 2)
        for (const [i, { child, ended }] of victims.entries()) {
          yield* Rig.until(started.id, ({ pages }) => pages >= 40 + 60 * i)
          child.kill("SIGKILL")
          yield* ended
        }
        const shown = (yield* Rig.run(environment, "status")).output
        assert.match(
          shown,
          new RegExp(`^${started.id} searchRecentPosts +(running|done) +\\d+/\\d+ +\\d+ +[\\d,]+ +\\d s$`, "m")
        )
        for (const line of shown.split("\n")) assert.isAtMost(line.length, 80, line)

        const status = yield* Rig.until(started.id, Rig.isDone)
        assert.strictEqual(status.items, yield* assertComplete(started.id, "effect"))
        const users = yield* SqlClient.SqlClient.use((sql) =>
          sql<{ readonly id: string }>`SELECT id FROM postwire_users WHERE NOT wanted AND body->>'username' <> ''`
        )
        assert.isAbove(users.length, 10)

        // Those who have nothing to do with it are not in it: the workers that are left are.
        const ended = JSON.parse((yield* Rig.run(environment, "status", "--json")).output)
        assert.deepStrictEqual(
          ended.workers,
          workers.filter((worker) => !victims.includes(worker)).map(({ name }) => name).sort()
        )
        // Started once more, it is what it is.
        const later = yield* Workflow.start(query, { parts: 40 })
        assert.deepStrictEqual([later.state, later.pages], ["done", status.pages])

        // Nothing that a credential consists of is in the database.
        const secret = Redacted.value(sandbox.seeded.appBearerToken)
        const tables = yield* SqlClient.SqlClient.use((sql) =>
          sql<{ readonly name: string }>`
            SELECT table_name AS name FROM information_schema.tables
            WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
        )
        assert.includeMembers(tables.map(({ name }) => name), [
          "cluster_messages",
          "postwire_texts_1",
          "postwire_parts"
        ])
        for (const { name } of tables) {
          const [found] = yield* SqlClient.SqlClient.use((sql) =>
            sql<{ readonly rows: unknown }>`
              SELECT count(*) AS rows FROM ${sql(name)} AS t WHERE position(${secret} IN t::text) > 0`
          )
          assert.strictEqual(Number(found?.rows), 0, name)
        }
      }).pipe(Effect.provide(Rig.client(url)))
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 20_000 }))), 120_000)

  it.live(
    "goes on when the database crashes, and hands over what a worker has when it is told to end",
    () =>
      Effect.gen(function*() {
        const sandbox = yield* slow(60)
        const server = yield* database
        const environment = Rig.environmentOf(sandbox, server.url)
        const [first] = yield* Effect.all([Rig.worker(environment), Rig.worker(environment)], { concurrency: 2 })
        yield* Effect.gen(function*() {
          const { id } = yield* Workflow.start(Rig.queryOf("effect"), { parts: 6 })
          yield* Rig.until(id, ({ pages }) => pages >= 15)
          server.restart()
          yield* Rig.until(id, ({ pages }) => pages >= 30)
          const before = yield* Rig.until(id, ({ pages }) => pages >= 30)
          first.child.kill("SIGTERM")
          yield* first.ended
          const status = yield* Rig.until(id, Rig.isDone)
          assert.isAbove(status.pages, before.pages)
          yield* assertComplete(id, "effect")
        }).pipe(Effect.provide(Rig.client(server.url)))
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 8_000 }))),
    120_000
  )

  it.live("does nothing twice when a worker was frozen and taken for dead", () =>
    Effect.gen(function*() {
      const sandbox = yield* slow(60)
      const { url } = yield* database
      const environment = Rig.environmentOf(sandbox, url)
      const workers = yield* Effect.all([Rig.worker(environment), Rig.worker(environment)], { concurrency: 2 })
      yield* Effect.gen(function*() {
        const { id } = yield* Workflow.start(Rig.queryOf("effect"), { parts: 4 })
        const { parts } = yield* Rig.until(id, ({ pages, parts }) =>
          pages >= 8 && parts.some(({ state }) => state === "running"))
        const busy = parts.find(({ state }) =>
          state === "running"
        )?.worker
        const frozen = workers.find(({ name }) => name === busy) ?? workers[0]
        frozen.child.kill("SIGSTOP")
        // The other one takes its parts.
        yield* Rig.until(
          id,
          ({ parts }) => parts.every(({ state, worker }) => state === "done" || worker !== frozen.name)
        )
        frozen.child.kill("SIGCONT")
        const status = yield* Rig.until(id, Rig.isDone)
        yield* Effect.sleep(500)
        assert.strictEqual(status.items, yield* assertComplete(id, "effect"))
      }).pipe(Effect.provide(Rig.client(url)))
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 5_000 }))), 120_000)

  it.live("says what is wrong, and tries again when it is started again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { url } = yield* database
      const { POSTWIRE_BEARER_TOKEN: token, ...environment } = Rig.environmentOf(sandbox, url)
      const start = Rig.run(
        environment,
        "export",
        "searchRecentPosts",
        "--query",
        "effect lang:en",
        "--credentials",
        "lab"
      )
      const worker = yield* Rig.worker(environment)
      const failed = yield* start
      assert.strictEqual(failed.code, 1)
      assert.match(failed.output, /^failed: 0 items/)
      assert.match(failed.errors, /^postwire: 1 part of the export \w+ failed: .*bearer/)
      assert.strictEqual(failed.errors.trimEnd().split("\n").length, 2)
      worker.child.kill("SIGKILL")

      yield* Rig.worker({ ...environment, POSTWIRE_LAB_BEARER_TOKEN: token })
      const done = yield* start
      assert.deepStrictEqual([done.code, done.errors], [0, ""])
      const [, items, id] = /^done: (\d+) items on \d pages? in export (\w+)\n$/.exec(done.output) ??
        assert.fail(done.output)
      const shown = JSON.parse((yield* Rig.run(environment, "status", "--export", id!, "--json")).output)
      assert.deepStrictEqual([shown.exports.length, shown.exports[0].items], [1, Number(items)])
      assert.strictEqual((yield* Rig.expected("effect lang:en")).length, Number(items))
      const other = yield* Rig.run(
        environment,
        "export",
        "searchRecentPosts",
        "--query",
        "lang:en",
        "--credentials",
        "a/b"
      )
      assert.match(other.errors, /^postwire: credentials must be the name/)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 300 }))), 120_000)
})

describe("the address of a cluster", () => {
  it.live("is never shown, and a password in the command line is told of", () =>
    Effect.gen(function*() {
      const run = (...args: ReadonlyArray<string>) => Rig.run({ ...process.env, NODE_OPTIONS: "" }, ...args)
      const [away, wrong, both] = yield* Effect.all([
        run("status", "--debug", "--cluster", "postgres://u:s3cret@127.0.0.1:1/x"),
        run("worker", "--cluster", "mysql://u:s3cret@127.0.0.1/x"),
        run("export", "getMuted", "--cluster", "sqlite:x", "--limit", "5")
      ], { concurrency: 3 })
      for (const { code, errors, output } of [away, wrong, both]) {
        assert.deepStrictEqual([code, output], [1, ""])
        assert.notInclude(errors, "s3cret")
      }
      const [told, advice, what] = away.errors.split("\n")
      assert.match(told!, /can read the password in the command line/)
      assert.match(advice!, /POSTWIRE_CLUSTER_URL/)
      assert.match(what!, /^postwire: .*ECONNREFUSED/)
      assert.match(wrong.errors, /^postwire: cluster must be postgres:/)
      assert.match(both.errors, /^postwire: --limit is not for exports on a cluster\n {2}\S/)
    }), 180_000)
})

describe("exports on one machine", () => {
  it.live("goes on in an SQLite file after kill -9", () =>
    Effect.gen(function*() {
      const sandbox = yield* slow(20)
      const root = yield* folder
      const url = `sqlite:${join(root, "exports.sqlite")}`
      const environment = Rig.environmentOf(sandbox, url)
      const args = ["export", "searchRecentPosts", "--query", "effect", "--max-results", "50", "--partitions", "5"]
      const pagesOf = () => Rig.answers(sandbox)["200"] ?? 0
      for (const pages of isLong ? [10, 30] : [8]) {
        const child = yield* Rig.command(environment, ...args)
        const exit = once(child, "exit")
        while (pagesOf() < pages && child.exitCode === null) yield* Effect.sleep(10)
        child.kill("SIGKILL")
        yield* Effect.promise(() => exit)
      }
      const { code, errors, output } = yield* Rig.run(environment, ...args)
      assert.deepStrictEqual([code, errors], [0, ""])
      const [, items, id] = /^done: ([\d,]+) items on \d+ pages in export (\w+)\n$/.exec(output) ?? assert.fail(output)
      const rows = yield* assertComplete(id!, "effect").pipe(
        Effect.provide(Database.layer(yield* Database.parse(Redacted.make(url))))
      )
      assert.strictEqual(Number(items!.replaceAll(",", "")), rows)
      const { output: shown } = yield* Rig.run(environment, "status")
      assert.match(shown, new RegExp(`^${id} searchRecentPosts +done +\\d/\\d `, "m"))

      const unknown = yield* Rig.run(environment, "status", "--export", "unknown")
      assert.deepStrictEqual([unknown.code, unknown.output], [1, ""])

      // The tables become files, whatever ends that.
      const out = join(root, "a.jsonl")
      const files = [...args, "--cluster", "environment", "--out", out]
      const writing = yield* Rig.command(environment, ...files)
      const exit = once(writing, "exit")
      const grows = join(`${out}.postwire`, "work", "items.jsonl")
      while (!(existsSync(grows) && statSync(grows).size > 0) && writing.exitCode === null) yield* Effect.sleep(2)
      writing.kill("SIGKILL")
      yield* Effect.promise(() => exit)
      const written = yield* Rig.run(environment, ...files, "--resume")
      assert.deepStrictEqual([written.code, written.errors], [0, ""])
      assert.match(written.output, /^done: [\d,]+ posts on \d+ pages\n {2}a\.jsonl /)
      const ids = readFileSync(out, "utf8").trimEnd().split("\n").map((line) => String(JSON.parse(line).id))
      assert.deepStrictEqual(ids, [...yield* Rig.expected("effect")])
      const refused = yield* Rig.run(environment, ...files)
      assert.match(refused.errors, /exists already\n/)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: isLong ? 3_000 : 1_200 }))), 120_000)
})
