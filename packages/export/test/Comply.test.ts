import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import * as Comply from "../src/Comply.ts"
import type { Mode } from "../src/folders/Sink.ts"
import * as Rows from "../src/rows/Rows.ts"
import { client, everything, folder } from "./support/Scene.ts"

/** Its clock is that of this machine, as addresses of jobs expire. */
const sandbox = Sandbox.layerServer({ posts: 0 })

const scene = Effect.gen(function*() {
  const root = yield* folder
  const { faults, store, user } = yield* Sandbox.Sandbox
  const author = user({ username: "grace" })
  const [kept, deleted] = [author.post("kept").id, author.post("deleted").id]
  store.posts.delete(deleted)
  const path = join(root, "ids.txt")
  writeFileSync(path, `${kept}\n${deleted}\n`)
  const out = join(root, "out.txt")
  const comply = (mode: Mode, maxWait?: number) =>
    Effect.scoped(
      Effect.flatMap(
        Rows.open(path, { kind: Rows.posts }),
        (rows) => Comply.run(rows, { type: "posts", out, mode, maxWait })
      )
    )
  return { root, out, comply, kept, deleted, faults, store }
})

describe("a check of a file", () => {
  it.live("fails where its report cannot be written, and the next run completes it", () =>
    Effect.gen(function*() {
      const { comply, kept, out } = yield* scene
      assert.strictEqual((yield* Effect.flip(comply("new", 0)))._tag, "ComplianceNotComplete")
      const places = [`${out}.postwire/removed.csv`, `${out}.removed.csv.tmp`]
      for (const place of places) mkdirSync(place, { recursive: true })
      assert.strictEqual((yield* Effect.flip(comply("resume")))._tag, "NotWritable")
      for (const place of places) rmSync(place, { recursive: true })
      const { removed } = yield* comply("resume")
      assert.deepStrictEqual(removed, { deleted: 1 })
      assert.strictEqual(readFileSync(out, "utf8"), `${kept}\n`)
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live("begins anew after one that the service refused, and leaves nothing", () =>
    Effect.gen(function*() {
      const { comply, faults, out, root } = yield* scene
      const before = everything(root)
      faults.add({ operation: "createComplianceJob", status: 403, times: 1 })
      assert.strictEqual((yield* Effect.flip(comply("new")))._tag, "Forbidden")
      assert.deepStrictEqual(everything(root), before)
      yield* comply("new")
      const state = ["", "/about.txt", "/comply.json", "/lock"].map((name) => `out.txt.postwire${name}`)
      assert.hasAllKeys(everything(root), ["ids.txt", "out.txt", "out.txt.removed.csv", ...state])
      assert.include((yield* Effect.flip(comply("new"))).message, `${out} exists already`)
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live("returns the same summary when it is resumed again, and changes nothing", () =>
    Effect.gen(function*() {
      const { comply, out, root } = yield* scene
      assert.strictEqual((yield* Effect.flip(comply("new", 0)))._tag, "ComplianceNotComplete")
      // A kill while the state is written leaves this.
      writeFileSync(`${out}.postwire/comply.json.tmp`, "{")
      const summary = yield* comply("resume")
      assert.deepStrictEqual(summary.removed, { deleted: 1 })
      const complete = everything(root)
      assert.notProperty(complete, "out.txt.postwire/comply.json.tmp")
      // Kills while the files are moved leave these.
      const kills = [
        () => undefined,
        () => linkSync(out, `${out}.postwire/rows`),
        () => renameSync(out, `${out}.postwire/rows`),
        () => {
          renameSync(out, `${out}.postwire/rows`)
          renameSync(`${out}.removed.csv`, `${out}.postwire/removed.csv`)
        }
      ]
      for (const kill of kills) {
        kill()
        assert.deepStrictEqual(yield* comply("resume"), summary)
        assert.deepStrictEqual(everything(root), complete)
      }
      writeFileSync(out, "changed")
      assert.strictEqual((yield* Effect.flip(comply("resume")))._tag, "CheckpointUnusable")
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live("may replace the files where it was interrupted and resumed", () =>
    Effect.gen(function*() {
      const { comply, kept, out } = yield* scene
      writeFileSync(out, "old")
      assert.strictEqual((yield* Effect.flip(comply("force", 0)))._tag, "ComplianceNotComplete")
      yield* comply("resume")
      assert.strictEqual(readFileSync(out, "utf8"), `${kept}\n`)
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live.each(
    [
      ["has failed", { failure: "no_ids" }],
      ["has results that have expired", { created_at: Date.now() - 8 * 24 * 3_600_000 }]
    ] as const
  )("creates another job where that of an earlier run %s", ([_, change]) =>
    Effect.gen(function*() {
      const { comply, kept, out, store: { complianceJobs } } = yield* scene
      assert.strictEqual((yield* Effect.flip(comply("new", 0)))._tag, "ComplianceNotComplete")
      const { byId, of } = complianceJobs
      const ids = new Set<string>()
      type Job = ReturnType<typeof of>[number]
      const changed = (job: Job): Job => job.id === [...ids][0] ? { ...job, ready_at: 0, ...change } : job
      vi.spyOn(complianceJobs, "of").mockImplementation((app, type) => of(app, type).map(changed))
      vi.spyOn(complianceJobs, "byId").mockImplementation((id) => {
        const job = byId(id)
        ids.add(id)
        return job && changed(job)
      })
      const { jobs, removed } = yield* comply("resume")
      assert.deepStrictEqual(removed, { deleted: 1 })
      assert.strictEqual(readFileSync(out, "utf8"), `${kept}\n`)
      assert.deepStrictEqual(jobs, [...ids].slice(1))
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live("writes to no other name, through no link, and over no file", () =>
    Effect.gen(function*() {
      const { comply, out, root } = yield* scene
      for (const name of ["out.txt.tmp", "out.txt.removed.csv.tmp", "out.txt.comply.json.tmp"]) {
        writeFileSync(join(root, `own ${name}`), "precious")
        symlinkSync(`own ${name}`, join(root, name))
      }
      writeFileSync(`${out}.removed.csv`, "precious")
      const before = everything(root)
      for (const mode of ["new", "resume"] as const) {
        assert.strictEqual((yield* Effect.flip(comply(mode))).message, `${out}.removed.csv exists already`)
      }
      assert.deepStrictEqual(everything(root), before)
      rmSync(`${out}.removed.csv`)
      yield* comply("new")
      rmSync(`${out}.postwire`, { recursive: true })
      const { "out.txt": _, "out.txt.removed.csv": __, ...others } = everything(root)
      assert.deepStrictEqual(others, Object.fromEntries(Object.entries(before).filter(([name]) => name in others)))
      assert.strictEqual(Object.keys(others).length, Object.keys(before).length - 1)
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))

  it.live("reports a reason that a spreadsheet would run as a text", () =>
    Effect.gen(function*() {
      const { comply, deleted, out, store: { complianceJobs } } = yield* scene
      const { read } = complianceJobs
      vi.spyOn(complianceJobs, "read").mockImplementation(function*(id, start, end) {
        // A range of the same length.
        for (const bytes of read(id, start, end)) {
          yield Buffer.from(Buffer.from(bytes).toString().replace("\"deleted\"", "\"=1+1,+2\""))
        }
      })
      assert.deepStrictEqual((yield* comply("new")).removed, { "=1+1,+2": 1 })
      assert.strictEqual(
        readFileSync(`${out}.removed.csv`, "utf8"),
        `line,id,action,reason\r\n2,${deleted},remove,"'=1+1,+2"\r\n`
      )
    }).pipe(Effect.provide(client), Effect.provide(sandbox)))
})
