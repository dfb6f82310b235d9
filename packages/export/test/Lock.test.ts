import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { spawnSync } from "node:child_process"
import { chmodSync, statSync, writeFileSync } from "node:fs"
import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as lock from "../src/files/Lock.ts"
import { folder } from "./support/Scene.ts"

/** Who has no rights, where this user has all. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** What another process prints. */
const printed = (args: ReadonlyArray<string>, user = {}) => {
  const options = { ...user, encoding: "utf8" } as const
  const { stderr, stdout } = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options)
  assert.strictEqual(stderr, "")
  return stdout.trim()
}

/** Until the scope ends, files that are made stay open for a while. */
const slowly = Effect.acquireRelease(
  Effect.sync(() => {
    const { writeFile } = fs
    fs.writeFile = async (path) => {
      const file = await fs.open(String(path), "wx")
      await new Promise((resolve) => setTimeout(resolve, 50))
      await file.close()
    }
    syncBuiltinESMExports()
    return writeFile
  }),
  (writeFile) =>
    Effect.sync(() => {
      fs.writeFile = writeFile
      syncBuiltinESMExports()
    })
)

describe("a lock", () => {
  // Whoever closes a file loses all locks that the process has on it.
  it.live("that two of a process are after at once keeps other processes out", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      yield* slowly
      const take = lock.take(path, "out")
      yield* Effect.all([Effect.exit(take), Effect.exit(take)], { concurrency: "unbounded" })
      yield* Effect.exit(take)
      const program = `
        const database = new (process.getBuiltinModule("node:sqlite").DatabaseSync)(process.argv[1])
        try { database.exec("BEGIN EXCLUSIVE"); console.log("taken") } catch ({ message }) { console.log(message) }`
      assert.strictEqual(printed(["-e", program, path]), "database is locked")
    }))

  it.live("is this user's alone: others could hold what they may read", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "lock")
      yield* lock.take(path, "out")
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    }))

  // Of a file that it may not write, SQLite makes a lock that others share.
  it.live("on a file that may not be written is nobody's", () =>
    Effect.gen(function*() {
      const root = yield* folder
      chmodSync(root, 0o755)
      writeFileSync(join(root, "lock"), "", { mode: 0o444 })
      yield* Effect.promise(() =>
        build({
          stdin: {
            contents: `import * as Effect from "effect/Effect"
              import * as lock from "../src/files/Lock.ts"
              const take = Effect.flip(lock.take(process.argv[2], "out"))
              const errors = await Effect.runPromise(Effect.scoped(Effect.all([take, take])))
              console.log(errors.map(({ _tag }) => _tag).join())`,
            resolveDir: fileURLToPath(new URL(".", import.meta.url))
          },
          outfile: join(root, "program.mjs"),
          bundle: true,
          platform: "node",
          format: "esm"
        })
      )
      assert.strictEqual(
        printed([join(root, "program.mjs"), join(root, "lock")], ordinary),
        "NotWritable,NotWritable"
      )
    }))
})
