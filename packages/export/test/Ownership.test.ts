import { assert, describe, it } from "@effect/vitest"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { execFileSync } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { basename, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Export from "../src/Export.ts"
import * as disk from "../src/files/Disk.ts"
import * as sealed from "../src/files/Sealed.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import type * as Source from "../src/sources/Source.ts"
import { client, everything, failing, folder, sandbox, source } from "./support/Scene.ts"
import { type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

const requests = Effect.map(Sandbox.Sandbox, ({ journal }) => journal.entries().length)

/** A client that the service refuses. */
const stranger = Effect.map(
  Sandbox.Sandbox,
  ({ baseUrl }) => NodeClient.layer({ baseUrl, bearerToken: "nobody-knows-this" })
)

describe("names", () => {
  // Names that a kind of file beside the result once had.
  const odd: ReadonlyArray<readonly [string, SinkName]> = [
    ["y.seen", "jsonl"],
    ["z.checkpoint.json", "jsonl"],
    ["w.manifest.json", "jsonl"],
    ["x.errors.jsonl", "jsonl"],
    ["v.lock", "jsonl"],
    ["u.users.jsonl", "jsonl"],
    ["work", "jsonl"],
    ["r.spool", "parquet"],
    ["s.manifest.json", "sqlite"]
  ]

  it.live("are free: whatever the file is called, all of it is there", () =>
    Effect.gen(function*() {
      const root = yield* folder
      yield* Export.run(source, { sink: JsonLines.make(join(root, "plain")) })
      const expected = readFileSync(join(root, "plain"))
      for (const [name, sink] of odd) {
        const path = join(root, name)
        const { files, status } = yield* Export.run(source, { sink: sinks[sink](path) })
        assert.strictEqual(status, "done", name)
        assert.strictEqual(files.find(({ holds }) => holds === "items")?.name, name)
        if (sink === "jsonl") assert.isTrue(readFileSync(path).equals(expected), name)
        else assert.isAbove(readFileSync(path).length, 1_000, name)
        const again = yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" })
        assert.strictEqual(again.status, "done", name)
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("are shared by no two exports, at once or one after the other", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const all = ["x.jsonl", "x.csv", "x.jsonl.gz", "x.users.jsonl", "x"] as const
      const sinkOf = (name: typeof all[number]): SinkName =>
        name.endsWith("csv") ? "csv" : name.endsWith("gz") ? "jsonl.gz" : "jsonl"
      yield* Effect.forEach(all, (name) => Export.run(source, { sink: sinks[sinkOf(name)](join(root, name)) }), {
        concurrency: "unbounded"
      })
      const before = yield* requests
      for (const name of all) {
        const { files, status } = yield* Export.run(source, {
          sink: sinks[sinkOf(name)](join(root, name)),
          mode: "resume"
        })
        assert.strictEqual(status, "done", name)
        assert.strictEqual(files[0]?.name, name)
      }
      assert.strictEqual(yield* requests, before)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("of buckets lead nowhere else", () =>
    Effect.gen(function*() {
      const root = yield* folder
      mkdirSync(join(root, "deep"))
      const buckets = ["../up", "/etc", "errors", "items", "seen", "checkpoint", "a/b", "..", "constructor"]
      const odd: Source.Source = {
        ...source,
        pages: () =>
          Stream.make({
            items: [{ id: "1" }],
            includes: Object.fromEntries(buckets.map((bucket) => [bucket, [{ id: bucket }]])),
            errors: [{ title: "gone" }],
            next: undefined,
            rateLimit: undefined
          })
      }
      const path = join(root, "deep", "a.jsonl")
      const { files, progress } = yield* Export.run(odd, { sink: JsonLines.make(path) })
      assert.deepStrictEqual(readdirSync(root), ["deep"])
      assert.strictEqual(progress.errors, 1)
      for (const bucket of buckets) {
        const own = ["errors", "items", "seen"].includes(bucket)
        const { name } = files.find(({ holds }) => holds === (own ? `${bucket} included` : bucket))!
        assert.deepStrictEqual(JSON.parse(readFileSync(join(root, "deep", name), "utf8")), { id: bucket })
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))
})

describe("what others own", () => {
  it.live.each(sinkNames)("stays as it is, forced or not, beside an export into %s", (sink) =>
    Effect.gen(function*() {
      const root = yield* folder
      const out = `a.${sink}`
      const names = [
        "a.seen",
        "a.lock",
        "a.manifest.json",
        "a.checkpoint.json",
        "a.errors.jsonl",
        `a.users.${sink}`,
        "a.spool",
        `${out}.tmp`,
        `${out}-wal`,
        "a.checkpoint.json.tmp"
      ].filter((name) => name !== out)
      for (const name of names) writeFileSync(join(root, name), `precious ${name}`)
      mkdirSync(join(root, `${out}.parts`))
      writeFileSync(join(root, `${out}.parts`, "plan.json"), "precious")
      const before = everything(root)
      for (const mode of ["new", "force"] as const) {
        const { status } = yield* Export.run(source, { sink: sinks[sink](join(root, out)), mode })
        assert.strictEqual(status, "done", mode)
        assert.deepInclude(everything(root), before, mode)
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))

  it.live("is refused where it has our name, before a request and before a change", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const out = (name: string) => join(root, name)
      mkdirSync(out("folder.jsonl"))
      symlinkSync("nowhere", out("dangling.jsonl"))
      writeFileSync(out("target"), "precious")
      symlinkSync("target", out("link.jsonl"))
      execFileSync("mkfifo", [out("pipe.jsonl")])
      mkdirSync(out("taken.jsonl.postwire"))
      writeFileSync(join(out("taken.jsonl.postwire"), "lock"), "precious")
      writeFileSync(out("file.jsonl.postwire"), "precious")
      mkdirSync(out("elsewhere"))
      symlinkSync("elsewhere", out("led.jsonl.postwire"))
      mkdirSync(out("other.jsonl.postwire"))
      writeFileSync(
        join(out("other.jsonl.postwire"), "about.txt"),
        "This folder belongs to an export of Postwire (layout 2).\n"
      )
      const server = createServer()
      yield* Effect.callback<void>((resume) => {
        server.listen(out("socket.jsonl"), () => resume(Effect.void))
      })
      const before = everything(root)
      for (
        const name of [
          "folder.jsonl",
          "dangling.jsonl",
          "link.jsonl",
          "pipe.jsonl",
          "socket.jsonl",
          "taken.jsonl",
          "file.jsonl",
          "led.jsonl",
          "own.postwire",
          // The other export would remove it, or take it for its own.
          "other.jsonl.postwire/work",
          "other.jsonl.postwire/users.jsonl",
          `${"x".repeat(250)}.jsonl`,
          // Its folder would have a longer name.
          `${"x".repeat(245)}.jsonl`
        ]
      ) {
        for (const mode of ["new", "resume", "force"] as const) {
          const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(out(name)), mode }))
          assert.include(["OutputRefused"], error._tag, `${name} ${mode}: ${error.message}`)
        }
      }
      assert.deepStrictEqual(everything(root), before)
      assert.isTrue(lstatSync(out("pipe.jsonl")).isFIFO())
      server.close()
      if (existsSync("/dev/full")) {
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make("/dev/full"), mode: "force" }))
        assert.strictEqual(error._tag, "OutputRefused")
        assert.isTrue(lstatSync("/dev/full").isCharacterDevice())
      }
      assert.strictEqual(yield* requests, 0)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))

  it.live("is not replaced by a result when it came meanwhile; once it is gone, the export ends", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const error = yield* Effect.flip(Export.run(source, {
        sink: JsonLines.make(path),
        onPage: ({ progress }) =>
          Effect.sync(() => {
            if (progress.pages === 2) writeFileSync(path, "precious")
          })
      }))
      if (error._tag !== "FileExists") throw error
      assert.match(error.advice, /complete: move that file away/)
      assert.strictEqual(readFileSync(path, "utf8"), "precious")
      const before = yield* requests
      yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
      renameSync(path, `${path}.old`)
      const { status } = yield* Export.run(source, { sink: JsonLines.make(path), mode: "resume" })
      assert.strictEqual(status, "done")
      assert.strictEqual(yield* requests, before)
      assert.strictEqual(readFileSync(`${path}.old`, "utf8"), "precious")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))
})

describe("--force", () => {
  it.live.each(sinkNames)("keeps the old export of %s until the new one is complete", (sink) =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, `a.${sink}`)
      yield* Export.run(source, { sink: sinks[sink](path) })
      const before = everything(root)
      const refused = yield* Export.run(source, { sink: sinks[sink](path), mode: "force" }).pipe(
        Effect.provide(yield* stranger),
        Effect.flip
      )
      assert.strictEqual(refused._tag, "Unauthorized")
      assert.deepStrictEqual(everything(root), before)
      // One that gets further has a place of its own.
      yield* Effect.flip(Export.run(failing(2), { sink: sinks[sink](path), mode: "force" }))
      assert.deepInclude(everything(root), before)
      const { progress } = yield* Export.run(source, { sink: sinks[sink](path), mode: "force", limit: 5 })
      assert.strictEqual(progress.items, 5)
      assert.notStrictEqual(everything(root)[basename(path)], before[basename(path)])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("touches nothing of an export that runs", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const first = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(Export.run(source, {
        sink: JsonLines.make(path),
        onPage: () => Effect.andThen(Deferred.succeed(first, undefined), Deferred.await(go))
      }))
      yield* Deferred.await(first)
      for (const mode of ["new", "resume", "force"] as const) {
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode }))
        assert.strictEqual(error._tag, "AlreadyRunning", mode)
      }
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(fiber)).status, "done")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))

  it.live("is what replaces a file of somebody else, and only it", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      writeFileSync(path, "old")
      for (const mode of ["new", "resume"] as const) {
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode }))
        assert.strictEqual(error._tag, "FileExists", mode)
      }
      assert.strictEqual(yield* requests, 0)
      yield* Effect.flip(Export.run(failing(2), { sink: JsonLines.make(path), mode: "force" }))
      assert.strictEqual(readFileSync(path, "utf8"), "old")
      // What was forced once need not be forced again.
      const { status } = yield* Export.run(source, { sink: JsonLines.make(path), mode: "resume" })
      assert.strictEqual(status, "done")
      assert.notStrictEqual(readFileSync(path, "utf8"), "old")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))
})

describe("a database of somebody else", () => {
  it.live("is refused as it is, and replaced as a whole while others read and lock it", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, "a.sqlite")
      const foreign = new DatabaseSync(path)
      foreign.exec("CREATE TABLE precious (id INTEGER); INSERT INTO precious VALUES (1)")
      const before = everything(root)
      for (const mode of ["new", "resume"] as const) {
        const error = yield* Effect.flip(Export.run(source, { sink: sinks.sqlite(path), mode }))
        assert.strictEqual(error._tag, "FileExists", mode)
      }
      foreign.exec("BEGIN EXCLUSIVE")
      yield* Effect.flip(Export.run(failing(2), { sink: sinks.sqlite(path), mode: "force" }))
      assert.deepInclude(everything(root), before)
      const { progress } = yield* Export.run(source, { sink: sinks.sqlite(path), mode: "resume" })
      // Who has it open keeps what it read.
      assert.strictEqual(foreign.prepare("SELECT count(*) AS n FROM precious").get()?.["n"], 1)
      foreign.close()
      const database = new DatabaseSync(path, { readOnly: true })
      assert.strictEqual(database.prepare("SELECT count(*) AS n FROM results").get()?.["n"], progress.items)
      database.close()
    }).pipe(Effect.provide(client), Effect.provide(sandbox(40))))

  it.live("that is locked is called so, not an export that runs", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.sqlite")
      const [one, other] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 1 })]
      one.exec("BEGIN EXCLUSIVE")
      const error = yield* Effect.flip(disk.attempt(path, async () => other.exec("BEGIN EXCLUSIVE")))
      assert.strictEqual(error._tag, "FileFailure")
      assert.match(error.message, /another program has locked it/)
      one.close()
      other.close()
    }))
})

/** The files of an export, by what they are called at its end or while it runs. */
const changed = (root: string, edit: (path: string, bytes: Buffer) => Buffer | undefined) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => {
      const bytes = readFileSync(path)
      const edited = edit(path, bytes)
      return edited === undefined ? [] : [{ path, bytes, edited }]
    })

describe("tampering", () => {
  it("is what a seal finds, and the order of names is none", () => {
    const value = { users: 1, 2: { b: [null], 1: "é" }, 1: true }
    const text = sealed.stringify(value)
    assert.deepStrictEqual<unknown>(sealed.parse(text), value)
    for (const edited of [text.replace("é", "e"), text.replace("true", "false"), "{}", "", "null"]) {
      assert.isUndefined(sealed.parse(edited))
    }
  })

  it.live.each(sinkNames)(
    "with an unfinished %s is noticed, whatever byte it changes",
    (sink) =>
      Effect.gen(function*() {
        const root = yield* folder
        const path = join(root, `a.${sink}`)
        yield* Effect.flip(Export.run(failing(3), { sink: sinks[sink](path) }))
        const before = yield* requests
        const edits = changed(root, (path, bytes) => {
          if (bytes.length === 0 || /lock$|txt$|manifest/.test(path)) return undefined
          const edited = Buffer.from(bytes)
          const at = path.endsWith("checkpoint.json") ? bytes.indexOf("\"items\": ") + 9 : bytes.length >> 1
          edited[at] = bytes[at] === 0x31 ? 0x32 : 0x31
          return edited
        })
        assert.isAtLeast(edits.length, 3)
        for (const { bytes, edited, path: file } of edits) {
          writeFileSync(file, edited)
          const error = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path), mode: "resume" }))
          assert.strictEqual(error._tag, "CheckpointUnusable", file)
          writeFileSync(file, bytes)
        }
        assert.strictEqual(yield* requests, before)
        assert.strictEqual((yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" })).status, "done")
      }).pipe(Effect.provide(client), Effect.provide(sandbox(60)))
  )

  it.live("while it runs is noticed at the end", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, "a.jsonl")
      const error = yield* Effect.flip(Export.run(source, {
        sink: JsonLines.make(path),
        onPage: ({ progress }) =>
          Effect.sync(() => {
            if (progress.pages !== 3) return
            for (
              const { edited, path } of changed(root, (path, bytes) => {
                if (!/items|a\.jsonl$/.test(path)) return undefined
                const copy = Buffer.from(bytes)
                copy[5] = 0x21
                return copy
              })
            ) writeFileSync(path, edited)
          })
      }))
      assert.strictEqual(error._tag, "CheckpointUnusable")
      assert.match(error.message, /changed/)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live.each(sinkNames)("with a finished %s, or its loss, is not done", (sink) =>
    Effect.gen(function*() {
      const root = yield* folder
      const path = join(root, `a.${sink}`)
      const end = yield* Export.run(source, { sink: sinks[sink](path) })
      const before = yield* requests
      for (const { name } of end.files.filter(({ bytes }) => bytes > 0)) {
        const file = join(root, name)
        const bytes = readFileSync(file)
        const edited = Buffer.from(bytes)
        edited[bytes.length >> 1]! ^= 1
        writeFileSync(file, edited)
        const error = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path), mode: "resume" }))
        assert.strictEqual(error._tag, "CheckpointUnusable", name)
        rmSync(file)
        const gone = yield* Effect.flip(Export.run(source, { sink: sinks[sink](path), mode: "resume" }))
        assert.strictEqual(gone._tag, "CheckpointUnusable", name)
        assert.match(gone.message, /gone/)
        writeFileSync(file, bytes)
      }
      assert.deepStrictEqual(yield* Export.run(source, { sink: sinks[sink](path), mode: "resume" }), end)
      assert.strictEqual(yield* requests, before)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))
})
