/** Syncs of three accounts on workers of one PostgreSQL. */
import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Syncs from "../src/Syncs.ts"
import * as Worker from "../src/Worker.ts"
import { freePort, missing, postgres } from "./support/Postgres.ts"
import * as Rig from "./support/Rig.ts"

const database = Effect.acquireRelease(
  Effect.promise(postgres),
  (server) => Effect.promise(() => server[Symbol.asyncDispose]())
)

const names = ["ada", "second", "third"] as const

type Ids = Readonly<Record<typeof names[number], string>>

/** The users that three accounts stand for, and the variables of workers with their tokens. */
const scene = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const { url } = yield* database
  const [second = "", third = ""] = sandbox.store.users.foremost(3).map(({ id }) => id).filter((id) =>
    id !== sandbox.ada.id
  )
  const ids: Ids = { ada: sandbox.ada.id, second, third }
  const tokenOf = (user: string) => Redacted.value(sandbox.grants.make({ user }).accessToken)
  const variables = {
    POSTWIRE_ADA_BEARER_TOKEN: Redacted.value(sandbox.seeded.userBearerToken),
    POSTWIRE_SECOND_BEARER_TOKEN: tokenOf(second),
    POSTWIRE_THIRD_BEARER_TOKEN: tokenOf(third)
  }
  return { sandbox, url, ids, variables }
})

/** A worker in this process that runs one sync at a time. */
const worker = (url: string, baseUrl: string, variables: Readonly<Record<string, string>>) =>
  Layer.unwrap(Effect.map(Effect.promise(freePort), (port) =>
    Worker.layer({
      database: Rig.databaseOf(url),
      address: { host: "127.0.0.1", port },
      listen: "127.0.0.1",
      syncs: 1
    }))).pipe(
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ POSTWIRE_BASE_URL: baseUrl, ...variables })))
    )

const file = (account: string): Syncs.File => ({
  account,
  budget: { day: 10 },
  sources: [{ kind: "posts" }, { kind: "followers" }]
})

/** Waits until the syncs are as wanted. */
const until = (isSo: (all: ReadonlyArray<Syncs.Status>) => boolean) =>
  Effect.gen(function*() {
    while (true) {
      const all = yield* Syncs.status
      const failed = all.find(({ state }) => state === "failed")
      if (failed !== undefined) return yield* Effect.die(new Error(failed.problem ?? "It failed"))
      if (isSo(all)) return all
      yield* Effect.sleep(50)
    }
  })

const isDone = ({ state }: Syncs.Status) => state === "done"

/** The posts of each copy are those of its user. */
const assertCopies = Effect.fnUntraced(function*(ids: Ids, of: ReadonlyArray<keyof Ids> = names) {
  const sql = yield* SqlClient.SqlClient
  const { store } = yield* Sandbox.Sandbox
  for (const name of of) {
    const rows = yield* sql<{ readonly id: string }>`
      SELECT id FROM ${sql(`sync_${name}`)}.posts WHERE author_id = ${ids[name]} AND gone IS NULL`
    const own = store.posts.between({ after: 0n, before: 2n ** 62n, limit: 10_000 })
      .filter(({ author_id }) => author_id === ids[name])
    assert.sameMembers(rows.map(({ id }) => id), own.map(({ id }) => id))
  }
})

describe.runIf(missing === undefined)(
  `syncs in a cluster${missing === undefined ? "" : `: skipped, it ${missing}`}`,
  () => {
    it.live("leave their place while they wait for a rate limit", () =>
      Effect.gen(function*() {
        const { ids, sandbox, url, variables } = yield* scene
        sandbox.budget.leave("getUsersPosts", 0)
        yield* Effect.gen(function*() {
          for (const name of names) yield* Syncs.start(name, file(name))
          const all = yield* until((all) => all.filter(isDone).length === 2)
          assert.deepStrictEqual(all.map(({ name, state }) => [name, state]), [
            ["ada", "limited"],
            ["second", "done"],
            ["third", "done"]
          ])
          yield* assertCopies(ids, ["second", "third"])
        }).pipe(Effect.provide(worker(url, sandbox.baseUrl, variables)))
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 300 })), Effect.scoped), 60_000)

    it.live("run again after their time until they are stopped, and leave few messages", () =>
      Effect.gen(function*() {
        const { sandbox, url, variables } = yield* scene
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const runOf = Effect.map(
            sql<{ readonly run: number }>`SELECT run FROM postwire_syncs WHERE name = 'ada'`,
            ([row]) => row?.run ?? 0
          )
          yield* Syncs.start("ada", { ...file("ada"), every: "0 days" })
          while ((yield* runOf) < 5) yield* Effect.sleep(20)
          yield* Syncs.stop("ada")
          const run = yield* runOf
          const open = sql`SELECT 1 FROM cluster_messages WHERE NOT processed`
          while ((yield* open).length > 0) yield* Effect.sleep(20)
          assert.deepStrictEqual([yield* runOf, (yield* Syncs.status)[0]?.state], [run, "stopped"])
          const runs = yield* sql`
          SELECT DISTINCT entity_id FROM cluster_messages WHERE entity_type = 'Workflow/postwire/Sync'`
          assert.isAtMost(runs.length, 3)
          const refused = yield* Effect.flip(Syncs.start("a b", file("ada")))
          assert.strictEqual(refused._tag, "InvalidSettings")
        }).pipe(Effect.provide(worker(url, sandbox.baseUrl, variables)))
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 60 })), Effect.scoped), 60_000)

    it.live("are continued by another worker when theirs is killed", () =>
      Effect.gen(function*() {
        const { ids, sandbox, url, variables } = yield* scene
        sandbox.faults.add({ delay: 3_000, times: "always", operation: "getUsersFollowers" })
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-syncs-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true }))
        )
        const environment = { ...Rig.environmentOf(sandbox, url), ...variables }
        const workers = yield* Effect.all([Rig.worker(environment), Rig.worker(environment)], { concurrency: 2 })
        yield* Effect.gen(function*() {
          const command = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
            const { code, errors, output } = yield* Rig.run(environment, ...args)
            assert.strictEqual(code, 0, errors)
            return output
          })
          const started = (name: string, file: Syncs.File) => {
            const path = join(folder, `${name}.json`)
            writeFileSync(path, JSON.stringify({ ...file, target: "own.sqlite" }))
            return command("sync", "start", "--name", name, "--file", path)
          }
          for (const name of ["second", "third"]) yield* Syncs.start(name, file(name))
          yield* started("ada", file("ada"))
          const ofAda = (all: ReadonlyArray<Syncs.Status>) => all.filter(({ name }) => name === "ada")
          const [running] = ofAda(yield* until((all) => ofAda(all).some(({ state }) => state === "running")))
          const busy = running!.worker
          workers.find(({ name }) => name === busy)!.child.kill("SIGKILL")
          const all = yield* until((all) => all.length === 3 && all.every(isDone))
          assert.notStrictEqual(ofAda(all)[0]?.worker, busy)
          yield* assertCopies(ids)
          assert.match(yield* command("status"), /\nSYNC .*\nada +127[^\n]* done +23 h\n/)
          yield* command("sync", "stop", "--name", "ada")
          // One bill for all: it is above this limit already.
          yield* started("third", { ...file("third"), budget: { day: 0.001 } })
          yield* until((all) => all.some(({ name, state }) => name === "third" && state === "budget"))
        }).pipe(Effect.provide(Rig.client(url)))
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 300 })), Effect.scoped), 120_000)

    it.live("spend no more than the budget of a run when a worker is killed", () =>
      Effect.gen(function*() {
        const { sandbox, url, variables } = yield* scene
        sandbox.faults.add({ delay: 1_000, times: "always", operation: "searchRecentPosts" })
        const environment = { ...Rig.environmentOf(sandbox, url), ...variables }
        const workers = yield* Effect.all([Rig.worker(environment), Rig.worker(environment)], { concurrency: 2 })
        yield* Effect.gen(function*() {
          yield* Syncs.start("ada", {
            account: "ada",
            sources: [{ kind: "search", query: "lang:en" }],
            budget: { run: 0.2 }
          })
          // A page is 10 posts, for 5 cents.
          while (sandbox.bill.statement().dollars < 0.1) yield* Effect.sleep(50)
          const [running] = yield* Syncs.status
          workers.find(({ name }) => name === running?.worker)!.child.kill("SIGKILL")
          yield* until(([ada]) => ada?.state === "budget")
          assert.isAtMost(sandbox.bill.statement().dollars, 0.2)
          assert.isAbove(sandbox.bill.statement().dollars, 0.1)
        }).pipe(Effect.provide(Rig.client(url)))
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 600 })), Effect.scoped), 120_000)
  }
)
