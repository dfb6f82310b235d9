import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as workspace from "../src/folders/Workspace.ts"
import { client, differing, folder, sandbox, source } from "./support/Scene.ts"
import { sinkNames, sinks } from "./support/Sinks.ts"

/** What changes names, and so divides the end of an export into steps. */
const steps = ["link", "rename", "rm", "unlink", "rmdir"] as const

const original = Object.fromEntries(steps.map((step) => [step, fs[step]]))

const replace = (functions: Readonly<Record<string, unknown>>) =>
  Effect.sync(() => {
    Object.assign(fs, functions)
    syncBuiltinESMExports()
  })

/** Stops the process, as far as the file system can tell, at the step of that number after the export is fetched. */
const dyingAt = (step: number) => {
  let [left, armed] = [step, false]
  const dying = Object.fromEntries(steps.map((name) => [
    name,
    (...args: ReadonlyArray<unknown>): unknown => {
      if (armed && left-- <= 0) throw new Error("the process is dead")
      return (original[name] as (...args: ReadonlyArray<unknown>) => unknown)(...args)
    }
  ]))
  return { dying, arm: Effect.sync(() => armed = true) }
}

describe("an export that is killed at its very end", () => {
  const cases = [
    ...sinkNames.map((sink) => [sink, "in a new place"] as const),
    ["jsonl", "in place of another"] as const
  ]
  it.live.each(cases)(
    "into %s, %s, is completed by the next run, which leaves nothing behind",
    ([sink, place]) =>
      Effect.gen(function*() {
        const root = yield* folder
        yield* Effect.promise(() => Promise.all(["whole", "killed"].map((name) => fs.mkdir(join(root, name)))))
        yield* Effect.addFinalizer(() => replace(original))
        const limit = { limit: 15 }
        yield* Export.run(source, { sink: sinks[sink](join(root, "whole", `out.${sink}`)), ...limit })
        let kills = 0
        for (let isDone = false; !isDone; kills++) {
          yield* replace(original)
          yield* Effect.promise(async () => {
            await fs.rm(join(root, "killed"), { recursive: true })
            await fs.mkdir(join(root, "killed"))
          })
          const path = join(root, "killed", `out.${sink}`)
          const isOther = place === "in place of another"
          if (isOther) yield* Export.run(source, { sink: sinks[sink](path), limit: 3 })
          const { arm, dying } = dyingAt(kills)
          yield* replace(dying)
          const exit = yield* Effect.exit(Export.run(source, {
            sink: sinks[sink](path),
            ...limit,
            mode: isOther ? "force" : "new",
            onPage: ({ progress }) => progress.complete ? arm : Effect.void
          }))
          isDone = Exit.isSuccess(exit)
          yield* replace(original)
          const { status } = yield* Export.run(source, { sink: sinks[sink](path), ...limit, mode: "resume" })
          assert.strictEqual(status, "done")
          assert.deepStrictEqual(differing(join(root, "killed"), join(root, "whole")), [], `after step ${kills}`)
        }
        // The result, its companions, the folder that is moved, its manifest.
        assert.isAbove(kills, 5)
      }).pipe(Effect.provide(client), Effect.provide(sandbox(40)))
  )
})

describe("the lock", () => {
  it.live("is held by one at a time, however often the folder comes and goes", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      let [holders, most, held] = [0, 0, 0]
      const hold = Effect.scoped(Effect.gen(function*() {
        yield* workspace.open(path, "new")
        most = Math.max(most, ++holders)
        held++
        yield* Effect.yieldNow
        yield* Effect.promise(() => fs.stat(`${path}.postwire/about.txt`))
        holders--
        yield* Effect.ignore(workspace.abandon(path))
      }))
      const failures = new Set<string>()
      // How often one is refused in the meantime depends on the machine.
      const contender = Effect.ignore(Effect.tapError(hold, ({ _tag }) => Effect.sync(() => failures.add(_tag)))).pipe(
        Effect.repeat({ while: () => held < 30 })
      )
      yield* Effect.all([contender, contender, contender, contender], { concurrency: 4 })
      assert.strictEqual(most, 1)
      // A folder that comes and goes at each of ten looks is refused as such.
      failures.delete("OutputRefused")
      assert.deepStrictEqual([...failures], ["AlreadyRunning"])
      // Whatever is left by those who came while it went is claimed by the next.
      yield* Effect.scoped(Effect.andThen(workspace.open(path, "new"), workspace.abandon(path)))
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, ".."))), [])
    }))
})

describe("a file system that refuses to synchronise a folder", () => {
  it.live.each(["EINVAL", "ENOTSUP", "EPERM"])("with %s still takes an export", (code) =>
    Effect.gen(function*() {
      const root = yield* folder
      const handle = yield* Effect.promise(() => fs.open(root, "r"))
      const methods = Object.getPrototypeOf(handle) as { sync: () => Promise<void> }
      const sync = methods.sync
      yield* Effect.promise(() => handle.close())
      yield* Effect.addFinalizer(() => Effect.sync(() => methods.sync = sync))
      let refused = 0
      methods.sync = async function(this: fs.FileHandle) {
        if (!(await this.stat()).isDirectory()) return await sync.call(this)
        refused++
        throw Object.assign(new Error(code), { code })
      }
      const { status } = yield* Export.run(source, { sink: sinks.jsonl(join(root, "a.jsonl")) })
      assert.strictEqual(status, "done")
      assert.isAbove(refused, 3)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))
})
