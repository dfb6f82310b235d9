import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundled } from "../../core/test/support/ProgramFile.ts"
import * as Export from "../src/Export.ts"
import { client, differing, folder, sandbox, source } from "./support/Scene.ts"
import { type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

/** Kills per sink: 102 of them in all in `test:long`. */
const kills = process.env["POSTWIRE_LONG"] === "1" ? 17 : 1

describe("an exporter that is killed", () => {
  it.live(
    `leaves what an uninterrupted run leaves, after ${kills * sinkNames.length} kills at random`,
    () =>
      Effect.gen(function*() {
        const root = yield* folder
        const program = new URL("support/Exporter.ts", import.meta.url)
        const exporter = yield* Effect.promise(() => bundled(program, join(root, "exporter.mjs")))
        const { baseUrl, budget, faults, seeded } = yield* Sandbox.Sandbox
        const pathOf = (name: string, sink: SinkName) => {
          mkdirSync(join(root, name, sink), { recursive: true })
          return join(root, name, sink, `out.${sink}`)
        }
        for (const sink of sinkNames) {
          const { status } = yield* Export.run(source, { sink: sinks[sink](pathOf("whole", sink)) })
          assert.strictEqual(status, "done")
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
            sink
          }
          const child = spawn(
            process.execPath,
            ["--disable-warning=ExperimentalWarning", exporter, JSON.stringify(told)],
            { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, NODE_COMPILE_CACHE: join(root, "cache") } }
          )
          let left = kill ? 1 + Math.floor(Math.random() * 4) : Infinity
          createInterface({ input: child.stdout }).on("line", () => {
            if (--left === 0) setTimeout(() => child.kill("SIGKILL"), Math.random() * 8)
          })
          const [code, signal] = await once(child, "close")
          budget.clear()
          const end = signal === "SIGKILL" ? "killed" : code === 0 ? "done" : "failed"
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
    300_000
  )
})
