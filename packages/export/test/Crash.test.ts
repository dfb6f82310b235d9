import { assert, describe, it } from "@effect/vitest"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Rows from "../src/rows/Rows.ts"
import * as Each from "../src/sources/Each.ts"
import type * as Source from "../src/sources/Source.ts"
import { exporterIn } from "./support/Kills.ts"
import { client, differing, folder, sandbox, source as search } from "./support/Scene.ts"
import { parameters, type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

const { query: _, ...ofPosts } = parameters

/** Users by name and by id, each of them several times, one who is nobody, and one whom nobody may see. */
const someUsers = Effect.gen(function*() {
  const { seeded, user } = yield* Sandbox.Sandbox
  const { data = [] } = yield* searchRecentPosts({ query: "effect", max_results: 100, post_fields: ["author_id"] })
  const users = ["@ada", seeded.ada.id, "nobody_1", user({ username: "shy", protected: true }).id]
  for (let i = 0; i < 4; i++) users.push(...new Set(data.map(({ author_id }) => author_id)), "@ada")
  return users.join("\n")
})

const isLong = process.env["POSTWIRE_LONG"] === "1"

interface Killed {
  readonly of: string
  readonly sinkNames: ReadonlyArray<SinkName>
  /** Kills per sink. */
  readonly kills: number
}

const exporters: ReadonlyArray<Killed> = [
  { of: "a search", sinkNames, kills: isLong ? 8 : 1 },
  { of: "the posts of many users", sinkNames: isLong ? sinkNames : ["csv"], kills: isLong ? 3 : 1 }
]

describe.each(exporters)("an exporter of $of that is killed", ({ kills, of, sinkNames }) => {
  it.live(
    `leaves what an uninterrupted run leaves, after ${kills * sinkNames.length} kills at random`,
    () =>
      Effect.gen(function*() {
        const root = yield* folder
        const users = of === "a search" ? undefined : join(root, "users.txt")
        if (users !== undefined) writeFileSync(users, yield* someUsers)
        const source: Source.Source<Rows.RowsUnusable> = users === undefined
          ? search
          : Each.make(getUsersPosts, yield* Rows.open(users, { kind: Rows.users }), ofPosts)
        const run = yield* exporterIn(root)
        const { baseUrl, budget, faults, seeded } = yield* Sandbox.Sandbox
        const pathOf = (name: string, sink: SinkName) => {
          mkdirSync(join(root, name, sink), { recursive: true })
          return join(root, name, sink, `out.${sink}`)
        }
        for (const sink of sinkNames) {
          const { status } = yield* Export.run(source, { sink: sinks[sink](pathOf("whole", sink)) })
          assert.strictEqual(status, users === undefined ? "done" : "partial")
          budget.clear()
        }
        // A fault ends a run too, or makes it take a way round.
        faults.add({
          probability: 0.005,
          oneOf: [{ reset: "before" }, { truncate: true }, { status: 503 }, { page: "empty" }]
        })

        const ends = { killed: 0, failed: 0, done: 0 }
        /** Runs the exporter, and kills it soon after one of its next pages. */
        const attempt = async (sink: SinkName, kill: boolean): Promise<keyof typeof ends> => {
          const told = {
            baseUrl,
            bearerToken: Redacted.value(seeded.appBearerToken),
            path: pathOf("killed", sink),
            sink,
            users
          }
          const end = await run(told, kill ? 4 : 0)
          budget.clear()
          ends[end]++
          return end
        }
        yield* Effect.forEach(
          sinkNames,
          (sink) =>
            Effect.promise(async () => {
              for (let killed = 0; killed < kills;) {
                const end = await attempt(sink, true)
                assert.notStrictEqual(end, "done", `${sink} after ${killed} kills`)
                if (end === "killed") killed++
              }
              while (await attempt(sink, false) !== "done");
            }),
          { concurrency: 2 }
        )
        assert.strictEqual(ends.killed, kills * sinkNames.length)
        assert.strictEqual(ends.done, sinkNames.length)
        for (const sink of sinkNames) {
          assert.deepStrictEqual(differing(join(root, "killed", sink), join(root, "whole", sink)), [], sink)
        }
      }).pipe(Effect.provide(client), Effect.provide(sandbox(1_200))),
    600_000
  )
})
