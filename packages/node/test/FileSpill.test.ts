import { assert, describe, it } from "@effect/vitest"
import { SpillFailed } from "@postwire/core/errors/Errors"
import { Effect, Exit, Fiber, Scope } from "effect"
import { chmod, mkdtemp, readdir, readlink, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileSpill from "../src/FileSpill.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "spill-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const files = (path: string) => Effect.promise(() => readdir(path, { recursive: true }))

/** The files in a folder that this process has open, as Linux shows them. */
const open = (path: string) =>
  Effect.promise(async () => {
    const found: Array<string> = []
    for (const number of await readdir("/proc/self/fd")) {
      const file = `/proc/self/fd/${number}`
      if ((await readlink(file).catch(() => "")).startsWith(path)) found.push(file)
    }
    return found
  })

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

  it.effect("come out whole when several sources put them in at once, of which one is ended", () =>
    Effect.gen(function*() {
      const queue = yield* FileSpill.make({ folder: yield* folder }).open
      const batches = Array.from(
        { length: 40 },
        (_, source) => Array.from({ length: 50 }, (_, index) => `${source} ${index} ${"x".repeat(source * 97 + index)}`)
      )
      const sources = yield* Effect.forEach(
        batches,
        (batch) => Effect.forkChild(queue.append(batch), { startImmediately: true })
      )
      yield* Fiber.interrupt(sources[7]!)
      yield* Effect.forEach(sources, Fiber.await)
      const taken: Array<string> = []
      for (let texts = yield* queue.take; texts.length > 0; texts = yield* queue.take) taken.push(...texts)
      assert.deepStrictEqual(taken, batches.flat())
    }))

  it.effect("have no name that a killed process could leave behind", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const queue = yield* FileSpill.make({ folder: path }).open
      yield* queue.append(["a", "b"])
      assert.deepStrictEqual(yield* files(path), [])
      assert.deepStrictEqual(yield* queue.take, ["a", "b"])
    }))

  it.effect.skipIf(process.platform !== "linux")(
    "are gone from the disk when they were read",
    () =>
      Effect.gen(function*() {
        const path = yield* folder
        const queue = yield* FileSpill.make({ folder: path }).open
        const text = "x".repeat(6 * 1024 * 1024)
        for (let index = 0; index < 9; index++) yield* queue.append([text])
        assert.lengthOf(yield* open(path), 3)
        let taken = 0
        for (let texts = yield* queue.take; texts.length > 0; texts = yield* queue.take) {
          assert.isTrue(texts.every((other) => other === text))
          taken += texts.length
        }
        assert.strictEqual(taken, 9)
        assert.lengthOf(yield* open(path), 1)
      })
  )

  it.effect.skipIf(process.platform !== "linux")(
    "open no file after their queue is closed",
    () =>
      Effect.gen(function*() {
        const path = yield* folder
        const scope = yield* Scope.make()
        const queue = yield* FileSpill.make({ folder: path }).open.pipe(Scope.provide(scope))
        yield* Scope.close(scope, Exit.void)
        assert.instanceOf(yield* Effect.flip(queue.append(["a"])), SpillFailed)
        assert.isEmpty(yield* open(path))
      })
  )

  it.effect("fail by the fault of the folder", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const absent = yield* FileSpill.make({ folder: join(path, "none") }).open
      const error = yield* Effect.flip(absent.append(["a"]))
      assert.instanceOf(error, SpillFailed)
      assert.strictEqual(error.fault, "unavailable")
      if (process.platform === "linux") {
        const queue = yield* FileSpill.make({ folder: path }).open
        yield* queue.append(["a", "b"])
        const [own] = yield* open(path)
        yield* Effect.promise(() => truncate(own!, 1))
        assert.strictEqual((yield* Effect.flip(queue.take)).fault, "damaged")
      }
      if (process.getuid?.() === 0) return
      yield* Effect.promise(() => chmod(path, 0o500))
      const closed = yield* FileSpill.make({ folder: path }).open
      assert.strictEqual((yield* Effect.flip(closed.append(["a"]))).fault, "forbidden")
    }))
})
