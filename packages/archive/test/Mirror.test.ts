import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { parquetReadObjects } from "hyparquet"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { describe, vi } from "vitest"
import * as Copy from "../src/copy/Copy.ts"
import * as Mirror from "../src/mirror/Mirror.ts"
import * as gone from "../src/sync/Gone.ts"
import * as Runs from "../src/sync/Runs.ts"
import { copy, folder, onEach } from "./support/Scene.ts"

const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** The long tests stop at each operation. */
const step = process.env["POSTWIRE_LONG"] === "1" ? 1 : 5

/** The rows of the files of a mirror, each with its path. */
const rowsIn = (root: string) =>
  Effect.promise(async () => {
    const { files } = manifestIn(root)
    const rows = await Promise.all(files.map(async ({ path }) => {
      const { buffer } = new Uint8Array(readFileSync(join(root, path)))
      return (await parquetReadObjects({ file: buffer, compressors })).map((row) => ({ path, ...row }))
    }))
    return rows.flat() as ReadonlyArray<Record<string, unknown>>
  })

const manifestIn = (root: string): Mirror.Manifest => JSON.parse(readFileSync(join(root, "manifest.json"), "utf8"))

/** Verifies that a folder has the files of its manifest, and no others. */
const verify = (root: string) => {
  const found = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => /\.(parquet|tmp)$/.test(path))
  const { files } = manifestIn(root)
  assert.sameMembers(found, files.map(({ path }) => path))
  for (const { bytes, path, sha256 } of files) {
    const content = readFileSync(join(root, path))
    assert.deepStrictEqual([content.length, createHash("sha256").update(content).digest("hex")], [bytes, sha256])
  }
}

const idOf = (n: number): string => `146032373703567769${n}`

const post = (id: number, day: string, text = "hello") => ({
  id: idOf(id),
  text,
  created_at: `2026-11-${day}T12:00:00.000Z`,
  possibly_sensitive: id % 2 === 0,
  public_metrics: { like_count: Number.MAX_SAFE_INTEGER },
  entities: { urls: [{ start: id }] }
})

const first = {
  objects: {
    posts: [post(1, "01"), post(2, "01"), post(3, "02"), post(4, "03")],
    users: [{ id: "7", username: "ada" }]
  },
  edges: [{ kind: "likes", from: "7", to: idOf(1) }]
}

const write = (batch: Copy.Batch) => Copy.Current.use((copy) => Copy.write(copy, batch))

/** Adds, changes and removes posts; one whose time was not known gets it. */
const change = Effect.gen(function*() {
  const copy = yield* Copy.Current
  yield* write({ objects: { posts: [post(4, "03", "longer"), post(5, "04"), post(9, "05")], users: [{ id: "8" }] } })
  yield* gone.mark(copy, "posts", [{ id: idOf(3), why: "deleted" }])
})

/** Makes the file operations fail from one on, and counts them. */
const failingFrom = (from: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const handle = await fs.open(import.meta.filename)
      await handle.close()
      const handles = Object.getPrototypeOf(handle)
      const counts = { operations: 0 }
      const spies =
        ([[fs, "open"], [fs, "rename"], [fs, "rm"], [fs, "mkdir"], [handles, "writeFile"], [handles, "sync"]] as const)
          .map(([object, name]) => {
            const original = object[name]
            return vi.spyOn(object, name).mockImplementation(
              function(this: unknown, ...parameters: ReadonlyArray<unknown>) {
                return counts.operations++ >= from
                  ? Promise.reject(Object.assign(new Error("killed"), { code: "EIO" }))
                  : original.apply(this, parameters)
              }
            )
          })
      syncBuiltinESMExports()
      return { counts, spies }
    }),
    ({ spies }) =>
      Effect.sync(() => {
        for (const spy of spies) spy.mockRestore()
        syncBuiltinESMExports()
      })
  )

onEach("a mirror", (place) => {
  it.live("has the rows of a copy by day, and writes only what has changed", () =>
    Effect.gen(function*() {
      const own = yield* place
      const root = join(yield* folder, "own.parquet")
      yield* Effect.gen(function*() {
        yield* write(first)
        yield* gone.mark(yield* Copy.Current, "posts", [{ id: idOf(9), why: "protected" }])
        const { commit, files, rows } = yield* Mirror.refresh(root)
        assert.deepStrictEqual([commit, files, rows], [2, 6, 7])
        verify(root)
        assert.strictEqual(statSync(root).mode & 0o777, 0o700)
        const before = yield* rowsIn(root)
        assert.deepInclude(before, {
          ...before.find(({ id }) => id === idOf(2)),
          path: "posts/day=2026-11-01/part-0.parquet",
          text: "hello",
          possibly_sensitive: true,
          public_metrics_like_count: BigInt(Number.MAX_SAFE_INTEGER),
          entities_urls: [{ start: 2 }],
          gone: null,
          added_in: 1n
        })
        assert.include(before.find(({ id }) => id === idOf(9))?.["path"], "day=__HIVE_DEFAULT_PARTITION__")
        assert.deepStrictEqual(yield* Mirror.refresh(root), { commit: 2, files: 0, rows: 0 })

        yield* change
        const again = yield* Mirror.refresh(root)
        // Days 2 to 5, users; the first day and the edge are as they were.
        assert.deepStrictEqual([again.files, again.rows], [5, 6])
        verify(root)
        const after = yield* rowsIn(root)
        const posts = after.filter(({ path }) => String(path).startsWith("posts"))
        assert.deepStrictEqual(
          posts.map(({ gone, id, path, text }) => [String(path).slice(10, 20), String(id).at(-1), text, gone]),
          [
            ["2026-11-01", "1", "hello", null],
            ["2026-11-01", "2", "hello", null],
            ["2026-11-02", "3", null, "deleted"],
            ["2026-11-03", "4", "longer", null],
            ["2026-11-04", "5", "hello", null],
            ["2026-11-05", "9", "hello", null]
          ]
        )
        rmSync(join(root, "posts"), { recursive: true })
        yield* Mirror.refresh(root)
        assert.deepStrictEqual(yield* rowsIn(root), after)
      }).pipe(Effect.provide(own))
    }))
})

describe("the folder of a mirror", () => {
  it.live("keeps the files that are not of the mirror", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const mine = join(root, "mine/users/of 2025.parquet")
      mkdirSync(dirname(mine), { recursive: true })
      writeFileSync(mine, "mine")
      const foreign = join(root, "foreign")
      mkdirSync(foreign)
      writeFileSync(join(foreign, "manifest.json"), "{}")
      const refused = (path: string) => Effect.map(Effect.flip(Mirror.refresh(path)), ({ message }) => message)
      yield* Effect.gen(function*() {
        yield* write(first)
        assert.include(yield* refused(join(root, "mine")), "mine: it has files that are not of a mirror")
        assert.include(yield* refused(foreign), "manifest.json: it is not the manifest of a mirror")
        const mirror = join(root, "mirror")
        yield* Mirror.refresh(mirror)
        // A query's own output beside the parts.
        writeFileSync(join(mirror, "users/top.parquet"), "mine")
        yield* change
        yield* Mirror.refresh(mirror)
        assert.strictEqual(readFileSync(join(mirror, "users/top.parquet"), "utf8"), "mine")
        renameSync(join(mirror, "users"), join(root, "elsewhere"))
        for (const name of ["part-0.parquet", "part-1.parquet"]) writeFileSync(join(root, "elsewhere", name), "mine")
        symlinkSync(join(root, "elsewhere"), join(mirror, "users"))
        assert.include(yield* refused(mirror), "users: it is a symbolic link")
        assert.strictEqual(readFileSync(join(root, "elsewhere/part-1.parquet"), "utf8"), "mine")
      }).pipe(Effect.provide(copy(join(root, "own.sqlite"))))
      yield* Effect.gen(function*() {
        yield* write(first)
        assert.include(yield* refused(join(root, "mirror")), "it is the mirror of another copy")
      }).pipe(Effect.provide(copy(join(root, "other.sqlite"))))
      assert.strictEqual(readFileSync(mine, "utf8"), "mine")
    }))
})

describe("a copy that is put back from a backup", () => {
  it.live("has a mirror of its own rows, also after it has gone on", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const file = join(root, "own.sqlite")
      const run = Effect.flatMap(Copy.Current, (copy) => Runs.begin(copy))
      const mirrored = (name: string) =>
        Effect.map(Mirror.refresh(join(root, name)), () => manifestIn(join(root, name)))
      yield* Effect.provide(Effect.andThen(write(first), run), copy(file))
      yield* Effect.promise(() => fs.cp(file, `${file}.backup`))
      yield* Effect.provide(Effect.andThen(change, Effect.andThen(run, mirrored("mirror"))), copy(file))
      for (const more of [0, 5]) {
        for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true })
        yield* Effect.promise(() => fs.cp(`${file}.backup`, file))
        const { files: own } = yield* Effect.gen(function*() {
          for (let i = 0; i < more; i++) yield* write({ objects: { posts: [post(6, "06", `${i}`)] } })
          const { files } = yield* mirrored("mirror")
          assert.deepStrictEqual(files, (yield* mirrored(`new-${more}`)).files)
          return { files }
        }).pipe(Effect.provide(copy(file)))
        verify(join(root, "mirror"))
        assert.isAbove(own.length, 4)
        yield* Effect.provide(Effect.andThen(change, Effect.andThen(run, mirrored("mirror"))), copy(file))
      }
    }))
})

describe("a mirror that is killed", () => {
  it.live("is that of its copy after a power failure, in which the log of SQLite is lost", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [file, left, mirror] = [join(root, "own.sqlite"), join(root, "left.sqlite"), join(root, "mirror")]
      const refresh = Mirror.refresh(mirror)
      const { commit } = yield* Effect.gen(function*() {
        yield* write(first)
        const summary = yield* refresh
        copyFileSync(file, left)
        return summary
      }).pipe(Effect.provide(copy(file)))
      assert.deepStrictEqual(yield* Effect.provide(refresh, copy(left)), { files: 0, rows: 0, commit })
    }))

  it.live("is mended by the next refresh, whatever was the last operation", () =>
    Effect.gen(function*() {
      const root = yield* folder
      yield* Effect.gen(function*() {
        yield* write(first)
        yield* gone.mark(yield* Copy.Current, "posts", [{ id: idOf(9), why: "protected" }])
        yield* Mirror.refresh(join(root, "before"))
        yield* change
        yield* Mirror.refresh(join(root, "whole"))
        const whole = manifestIn(join(root, "whole"))
        for (let from = 0, isDone = false; !isDone; from += step) {
          const mirror = join(root, String(from))
          yield* Effect.promise(() => fs.cp(join(root, "before"), mirror, { recursive: true }))
          const { exit, operations } = yield* Effect.gen(function*() {
            const { counts } = yield* failingFrom(from)
            const exit = yield* Effect.result(Mirror.refresh(mirror))
            return { exit, operations: counts.operations }
          }).pipe(Effect.scoped)
          isDone = exit._tag === "Success"
          if (isDone) assert.isAbove(operations, 20)
          yield* Mirror.refresh(mirror)
          assert.deepStrictEqual(manifestIn(mirror), whole, `after ${from} operations`)
          verify(mirror)
        }
      }).pipe(Effect.provide(copy(join(root, "own.sqlite"))))
    }))
})
