import { assert, describe, it } from "@effect/vitest"
import { SpillFailed } from "@postwire/core/Errors"
import { Effect, Exit, Scope } from "effect"
import { chmod, mkdtemp, readdir, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileSpill from "../src/FileSpill.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "spill-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const files = (path: string) => Effect.promise(() => readdir(path, { recursive: true }))

describe("items that wait in files", () => {
  it.effect("come out in their order, while others come in, and leave nothing behind", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const scope = yield* Scope.make()
      const queue = yield* FileSpill.make({ folder: path }).open.pipe(Scope.provide(scope))
      assert.deepStrictEqual(yield* queue.take, [])
      assert.deepStrictEqual(yield* files(path), [])
      const texts = Array.from({ length: 400 }, (_, index) =>
        `${index} ${"é\u{1f600}".repeat(index === 7 ? 300_000 : index * 50)}`)
      const taken: Array<string> = []
      for (let index = 0; index < texts.length; index += 10) {
        yield* Effect.all([
          queue.append(texts.slice(index, index + 10)),
          index % 30 === 0
            ? Effect.map(queue.take, (texts) =>
              taken.push(...texts))
            : Effect.void
        ], { concurrency: 2 })
      }
      for (;;) {
        const more = yield* queue.take
        if (more.length === 0) break
        taken.push(...more)
      }
      assert.deepStrictEqual(taken, texts)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* files(path), [])
    }))

  it.effect("are gone from the disk when they were read", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const queue = yield* FileSpill.make({ folder: path }).open
      const text = "x".repeat(6 * 1024 * 1024)
      for (let index = 0; index < 9; index++) yield* queue.append([text])
      assert.lengthOf(yield* files(path), 4)
      let taken = 0
      for (let texts = yield* queue.take; texts.length > 0; texts = yield* queue.take) {
        assert.isTrue(texts.every((other) => other === text))
        taken += texts.length
      }
      assert.strictEqual(taken, 9)
      assert.lengthOf(yield* files(path), 2)
    }))

  it.effect("fail by what is wrong with the folder", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const absent = yield* FileSpill.make({ folder: join(path, "none") }).open
      const error = yield* Effect.flip(absent.append(["a"]))
      assert.instanceOf(error, SpillFailed)
      assert.strictEqual(error.fault, "unavailable")
      const queue = yield* FileSpill.make({ folder: path }).open
      yield* queue.append(["a", "b"])
      const [own] = yield* files(path)
      yield* Effect.promise(() => truncate(join(path, own!, "0"), 1))
      assert.strictEqual((yield* Effect.flip(queue.take)).fault, "damaged")
      if (process.getuid?.() === 0) return
      yield* Effect.promise(() => chmod(path, 0o500))
      const closed = yield* FileSpill.make({ folder: path }).open
      assert.strictEqual((yield* Effect.flip(closed.append(["a"]))).fault, "forbidden")
    }))
})
