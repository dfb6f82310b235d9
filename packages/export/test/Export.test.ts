import { assert, describe, it } from "@effect/vitest"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Writable } from "node:stream"
import * as Export from "../src/Export.ts"
import * as Manifest from "../src/folders/Manifest.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as StandardOutput from "../src/sinks/StandardOutput.ts"
import * as Source from "../src/sources/Source.ts"
import { client, differing, failing, folder, sandbox, source, stopAfter } from "./support/Scene.ts"
import { parameters, type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

/** Whether this user may have a file system of their own. */
const mayMount = (): boolean => {
  const path = mkdtempSync(join(tmpdir(), "postwire-mount-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", path], { stdio: "ignore" })
    execFileSync("umount", [path])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(path)
  }
}

/** Runs an export that ends after so many pages, as a failure of the service would end it. */
const broken = (sink: SinkName, path: string, pages: number) =>
  Effect.flip(Export.run(failing(pages), { sink: sinks[sink](path), mode: "resume" }))

// A stream, columns and a database; all six in `test:long`.
const sinksStopped: ReadonlyArray<SinkName> = process.env["POSTWIRE_LONG"] === "1"
  ? sinkNames
  : ["jsonl.gz", "parquet", "sqlite"]

describe.each(sinksStopped)("into %s", (sink) => {
  it.live("goes on where it was stopped, and is then like any other", () =>
    Effect.gen(function*() {
      const root = yield* folder
      for (const name of ["whole", "stopped"]) mkdirSync(join(root, name))
      yield* Export.run(source, { sink: sinks[sink](join(root, "whole", `out.${sink}`)) })
      const path = join(root, "stopped", `out.${sink}`)
      yield* broken(sink, path, 4)
      const stopped = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume", ...yield* stopAfter(7) })
      assert.deepStrictEqual([stopped.status, stopped.progress.pages, stopped.progress.runs], ["interrupted", 7, 2])
      // What a crash in the middle of the next page leaves.
      const work = `${path}.postwire/work`
      const torn = readdirSync(work).filter((name) => !name.endsWith("json"))
      assert.includeMembers(torn.map((name) => name.split(".", 1)[0]), ["items", "users", "posts", "media", "seen"])
      for (const name of torn) appendFileSync(join(work, name), "{\"id\": \"torn".repeat(50_000))
      const end = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" })
      assert.deepStrictEqual([end.status, end.progress.runs], ["done", 3])
      assert.deepStrictEqual(differing(join(root, "stopped"), join(root, "whole")), [])

      // A finished one is not fetched again.
      const requests = (yield* Sandbox.Sandbox).journal.entries().length
      const again = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" })
      assert.deepStrictEqual(again, end)
      assert.strictEqual((yield* Sandbox.Sandbox).journal.entries().length, requests)
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("overwrites nothing, and only when it is told to", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, `out.${sink}`)
      writeFileSync(path, "precious")
      for (const mode of ["new", "resume"] as const) {
        const error = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path), mode }))
        assert.strictEqual(error._tag, "FileExists", mode)
        assert.strictEqual(readFileSync(path, "utf8"), "precious", mode)
      }
      const { status } = yield* Export.run(source, { sink: sinks[sink](path), mode: "force", limit: 5 })
      assert.strictEqual(status, "done")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(30))))

  it.live("goes on with the same export only, and says what differs", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, `out.${sink}`)
      yield* broken(sink, path, 1)
      const other = Source.make(searchRecentPosts, { ...parameters, query: "other" })
      const error = yield* Effect.flip(Export.run(other, { sink: sinks[sink](path), mode: "resume", limit: 7 }))
      if (error._tag !== "CheckpointMismatch") throw error
      assert.deepStrictEqual(error.differences, [
        { name: "query", saved: "effect", asked: "other" },
        { name: "limit", saved: "none", asked: "7" }
      ])
      const { baseUrl, seeded } = yield* Sandbox.Sandbox
      const stranger = NodeClient.layer({ baseUrl, bearerToken: seeded.userBearerToken })
      const refused = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" }).pipe(
        Effect.provide(stranger),
        Effect.flip
      )
      if (refused._tag !== "CheckpointMismatch") throw refused
      assert.deepStrictEqual(refused.differences.map(({ name }) => name), ["credential"])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("takes exactly as many as the limit says", () =>
    Effect.gen(function*() {
      const root = yield* folder
      for (const limit of [1, 10, 25]) {
        const { progress, status } = yield* Export.run(source, {
          sink: sinks[sink](join(root, `a${limit}.${sink}`)),
          limit
        })
        assert.deepStrictEqual([status, progress.items, progress.requests], ["done", limit, Math.ceil(limit / 10)])
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("is not written by two at the same time", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, `out.${sink}`)
      const first = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(Export.run(source, {
        sink: sinks[sink](path),
        onPage: () => Effect.andThen(Deferred.succeed(first, undefined), Effect.sleep(300))
      }))
      yield* Deferred.await(first)
      const error = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path), mode: "resume" }))
      assert.strictEqual(error._tag, "AlreadyRunning")
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))
})

describe("an export", () => {
  it.live("that fails before its first page leaves nothing", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const wrong = Source.make(searchRecentPosts, { query: "effect", max_results: 7 })
      for (const sink of sinkNames) {
        const error = yield* Effect.flip(Export.run(wrong, { sink: sinks[sink](join(root, `out.${sink}`)) }))
        assert.strictEqual(error._tag, "InvalidParameters")
        assert.deepStrictEqual(readdirSync(root), [], sink)
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  it.live("that is interrupted while it asks before its first page leaves nothing", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const prompt = yield* Deferred.make<void>()
      const asking = yield* Effect.forkChild(Export.run(source, {
        sink: sinks.jsonl(join(root, "out.jsonl")),
        onStart: () => Effect.andThen(Deferred.succeed(prompt, undefined), Effect.never)
      }))
      yield* Deferred.await(prompt)
      assert.notDeepEqual(readdirSync(root), [])
      yield* Fiber.interrupt(asking)
      assert.deepStrictEqual(readdirSync(root), [])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(10))))

  it.live("that is stopped while it asks before its first page requests nothing and leaves nothing", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const stop = yield* Deferred.make<void>()
      const { progress, status } = yield* Export.run(source, {
        sink: sinks.jsonl(join(root, "out.jsonl")),
        stop: Deferred.await(stop),
        onStart: () => Effect.andThen(Deferred.succeed(stop, undefined), Effect.never)
      })
      assert.deepStrictEqual([status, progress.requests, progress.items], ["interrupted", 0, 0])
      assert.deepStrictEqual(readdirSync(root), [])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(10))))

  it.live("that the service answers in part is partial, with a file of what is missing", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const errors = [{ title: "Not Found", detail: "gone", resource_id: "1" }]
      const partial: Source.Source = {
        ...source,
        pages: () => Stream.make({ items: [], includes: {}, errors, next: undefined, rateLimit: undefined })
      }
      const { progress, status } = yield* Export.run(partial, { sink: JsonLines.make(join(root, "a.jsonl")) })
      assert.deepStrictEqual([status, progress.errors], ["partial", 1])
      assert.deepStrictEqual(
        JSON.parse(readFileSync(join(root, "a.jsonl.postwire", "errors.jsonl"), "utf8")),
        errors[0]
      )
      const { status: again } = yield* Export.run(partial, {
        sink: JsonLines.make(join(root, "a.jsonl")),
        mode: "resume"
      })
      assert.strictEqual(again, "partial")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  it.live("that fails says so in its manifest", () =>
    Effect.gen(function*() {
      const root = yield* folder
      yield* broken("jsonl", join(root, "a.jsonl"), 2)
      const manifest = yield* Manifest.read(join(root, "a.jsonl.postwire", "work", "manifest.json"))
      if (manifest === undefined) throw new Error("there is no manifest")
      assert.strictEqual(manifest.status, "failed")
      assert.match(manifest.reason ?? "", /repeated the page token/)
      assert.strictEqual(manifest.progress.pages, 2)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("of files that were tampered with is refused", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      yield* broken("jsonl", path, 2)
      const work = `${path}.postwire/work`
      truncateSync(join(work, "items.jsonl"), 10)
      const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
      assert.strictEqual(error._tag, "CheckpointUnusable")
      assert.match(error.message, /has become shorter/)
      writeFileSync(join(work, "checkpoint.json"), "{\"version\": 3}")
      const newer = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
      assert.match(newer.message, /it was changed, or is of another version/)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("asks for pages of the largest size, and goes on past empty ones", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const { faults, journal, seeded } = yield* Sandbox.Sandbox
      faults.add({ page: "empty" })
      const posts = Source.make(getUsersPosts, { id: seeded.ada.id })
      const { progress } = yield* Export.run(posts, { sink: JsonLines.make(path) })
      assert.isAbove(progress.items, 0)
      assert.isAtLeast(progress.pages, 2)
      assert.strictEqual(journal.entries()[0]?.query["max_results"], "100")
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("stops within its grace when the page does not come", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const hanging: Source.Source = {
        ...source,
        pages: (cursor) => Stream.concat(Stream.take(source.pages(cursor), 1), Stream.never)
      }
      const { progress, status } = yield* Export.run(hanging, {
        sink: JsonLines.make(path),
        stop: Effect.sleep(100),
        grace: 50
      })
      assert.deepStrictEqual([status, progress.pages], ["interrupted", 1])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))
})

describe("a place without room", () => {
  it.live("is told by name", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const failing: ReadonlyArray<readonly [string, string]> = [
        [join(root, "none", "a.jsonl"), "NotWritable"],
        [root, "OutputRefused"]
      ]
      for (const [path, tag] of failing) {
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path) }))
        assert.strictEqual(error._tag, tag, path)
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  const smallDisk = (path: string) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", path], { stdio: "ignore" })
        return path
      }),
      (mounted) => Effect.sync(() => execFileSync("umount", [mounted]))
    )

  describe.skipIf(!mayMount())("of 256 kB, where this user may mount one,", () => {
    it.live.each(sinksStopped)(
      "loses nothing of %s: once there is room, the export is completed",
      (sink) =>
        Effect.gen(function*() {
          const root = yield* folder
          for (const name of ["whole", "small"]) mkdirSync(join(root, name))
          const small = yield* smallDisk(join(root, "small"))
          const path = join(small, `out.${sink}`)
          yield* Export.run(source, { sink: sinks[sink](join(root, "whole", `out.${sink}`)) })
          writeFileSync(join(small, "ballast"), Buffer.alloc(220_000))
          const error = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path) }))
          assert.strictEqual(error._tag, "DiskFull", error.message)
          execFileSync("mount", ["-o", "remount,size=8m", small])
          execFileSync("rm", [join(small, "ballast")])
          const { status } = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" })
          assert.strictEqual(status, "done")
          assert.deepStrictEqual(differing(small, join(root, "whole")), [])
        }).pipe(Effect.provide(client), Effect.provide(sandbox(400)))
    )
  })
})

describe("standard output", () => {
  it.live("gets items, one a line, that steer no terminal", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const text = "\u009b31mred\u202e\u007f\u001b[0m"
      const odd: Source.Source = {
        ...source,
        pages: () =>
          Stream.make({ items: [{ id: "1", text }], includes: {}, errors: [], next: undefined, rateLimit: undefined })
      }
      yield* Export.run(odd, { sink: StandardOutput.make(stream) })
      const written = String(stream.read())
      assert.match(written, /^[\x20-\x7e]+\n$/)
      assert.deepStrictEqual(JSON.parse(written), { id: "1", text })
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  it.live("that nobody reads any more is a quiet end", () =>
    Effect.gen(function*() {
      const stream = new Writable({
        write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))
      })
      const error = yield* Effect.flip(Export.run(source, { sink: StandardOutput.make(stream) }))
      assert.strictEqual(error._tag, "PipeClosed")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(20))))
})
