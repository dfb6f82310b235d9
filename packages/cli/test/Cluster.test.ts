import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import * as Workflow from "../../cluster/src/Workflow.ts"
import { missing, postgres } from "../../cluster/test/support/Postgres.ts"
import * as Rig from "../../cluster/test/support/Rig.ts"

const database = Effect.acquireRelease(
  Effect.promise(postgres),
  (server) => Effect.promise(() => server[Symbol.asyncDispose]())
)

describe.skipIf(missing !== undefined)(
  `exports on many machines${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    it.live(
      "goes on when workers are killed: every post once, and no refusal",
      () =>
        Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          const pg = yield* database
          const environment = Rig.environmentOf(sandbox, pg.url)
          sandbox.faults.add({ delay: 60, times: "always", operation: "searchRecentPosts" })
          const workers = yield* Effect.all(
            Array.from({ length: 4 }, () => Rig.worker(environment)),
            {
              concurrency: "unbounded"
            }
          )
          yield* Effect.gen(function*() {
            const query = Rig.queryOf("effect", { expansions: "author_id" })
            // Two starts at once are one export.
            const [started, again] = yield* Effect.all([
              Workflow.start(query, { parts: 40 }),
              Workflow.start(query, { parts: 40 })
            ], { concurrency: 2 })
            assert.strictEqual(again.id, started.id)
            const victims = workers.toSorted(() => Math.random() - 0.5).slice(0, 2)
            for (const [i, victim] of victims.entries()) {
              yield* Rig.until(started.id, ({ pages }) => pages >= 40 + 60 * i)
              victim.child.kill("SIGKILL")
              yield* victim.ended
            }
            const during = yield* Rig.run(environment, "status")
            const status = yield* Rig.until(started.id, Rig.isDone)
            const counts = Rig.answers(sandbox)
            sandbox.faults.clear()
            assert.deepStrictEqual(
              Object.keys(counts).filter((status) => status !== "200" && status !== "undefined"),
              []
            )
            const ids = yield* Rig.idsOf(started.id)
            assert.strictEqual(new Set(ids).size, ids.length)
            assert.strictEqual(status.items, ids.length)
            assert.sameMembers(ids, [...yield* Rig.expected("effect")])
            assert.isAbove((yield* Rig.idsOf(started.id, "users")).length, -1)
            assert.isAbove(
              new Set(status.parts.map(({ worker }) => worker)).size,
              1
            )
            console.log(during.output, counts, status.pages)
          }).pipe(Effect.provide(Rig.client(pg.url)))
        }).pipe(Effect.provide(Sandbox.layerServer({ posts: 20_000 }))),
      60_000
    )
  }
)
