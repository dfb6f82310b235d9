import { assert, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { ConfigProvider, Context, Effect, Exit, Layer, Scope } from "effect"
import { build } from "esbuild"
import { execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { Worker } from "node:worker_threads"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import { tryLock } from "../src/internal/fileLock.ts"

const root = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-accounts-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** A store with one account. */
const filled = Effect.gen(function*() {
  const folder = join(yield* root, "accounts")
  const store = FileTokenStore.make(folder)
  yield* store.write("ada", "canary-text")
  return { folder, store, path: join(folder, "ada.json") }
})

/** What a user reads, with the folder left out. */
const said = (folder: string, { message }: StorageFailure) => message.replaceAll(folder, "F")

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

const mount = (options: string, path: string): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" })
}

const mayMount = (): boolean => {
  const path = mkdtempSync(join(tmpdir(), "postwire-mount-"))
  try {
    mount("size=64k", path)
    execFileSync("umount", [path])
    return true
  } catch {
    return false
  } finally {
    rmSync(path, { recursive: true })
  }
}

const smallDisk = Effect.gen(function*() {
  const path = join(yield* root, "disk")
  mkdirSync(path)
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      mount("size=64k,mode=700", path)
      return path
    }),
    () => Effect.sync(() => execFileSync("umount", [path]))
  )
})

const isRoot = process.getuid?.() === 0

/** Who has no rights, where this user may be another and that one may run this Node. */
const nobody = { uid: 65_534, gid: 65_534 }
const mayBeNobody = isRoot && spawnSync(process.execPath, ["--version"], nobody).status === 0

describe("the folder of accounts", () => {
  it.effect("is the user's own where none is named, and closed to others", () =>
    Effect.gen(function*() {
      const home = yield* root
      const at = (env: Record<string, string>) =>
        Effect.provide(FileTokenStore.ownFolder, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      assert.strictEqual(yield* at({ XDG_CONFIG_HOME: `${home}/x`, HOME: home }), `${home}/x/postwire/accounts`)
      if (process.platform === "linux") {
        assert.strictEqual(yield* at({ HOME: home }), `${home}/.config/postwire/accounts`)
        // The standard has relative folders ignored.
        assert.strictEqual(yield* at({ XDG_CONFIG_HOME: "x", HOME: home }), `${home}/.config/postwire/accounts`)
      }
      for (const env of [{}, { HOME: "here" }, { HOME: "" }]) {
        const error = yield* Effect.flip(at(env))
        assert.strictEqual(
          error.message,
          "tokenStore must name a folder: this user has no home to keep accounts in (HOME is not set)."
        )
      }
      const store = yield* Layer.build(FileTokenStore.layer()).pipe(
        Effect.map((context) => Context.get(context, TokenStore.TokenStore)),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { XDG_CONFIG_HOME: home } })))
      )
      yield* store.write("ada", "canary-text")
      const folder = join(home, "postwire", "accounts")
      assert.strictEqual(store.describe("ada"), join(folder, "ada.json"))
      assert.deepStrictEqual([modeOf(folder), modeOf(join(home, "postwire"))], ["700", "700"])
      assert.deepStrictEqual(readdirSync(folder), ["ada.json", "ada.lock"])
      assert.strictEqual(modeOf(join(folder, "ada.json")), "600")
      assert.notInclude(inspect(store, { depth: 9 }) + JSON.stringify(store), "canary")
    }))

  it.live("is not made by who only reads", () =>
    Effect.gen(function*() {
      const folder = join(yield* root, "accounts")
      const store = FileTokenStore.make(folder)
      assert.isUndefined(yield* store.read("ada"))
      assert.deepStrictEqual(yield* store.names, [])
      assert.isFalse(existsSync(folder))
    }))

  it.live("is refused where others may look into it, and so is a file, with what to do", () =>
    Effect.gen(function*() {
      const { folder, path, store } = yield* filled
      chmodSync(path, 0o640)
      const file = yield* Effect.flip(store.read("ada"))
      assert.strictEqual(
        said(folder, file),
        `The token store F/ada.json cannot be read: it is open to other users (close it with chmod 600 F/ada.json). ` +
          "If others may have read it, sign in again with postwire login."
      )
      chmodSync(folder, 0o750)
      const attempts = [store.read("ada"), store.names, store.write("ada", "b"), Effect.scoped(store.lock("ada"))]
      for (const attempt of attempts) {
        const error = yield* Effect.flip(Effect.asVoid(attempt))
        assert.strictEqual(error.fault, "exposed")
        assert.strictEqual(error.detail, `close it with chmod 700 ${folder}`)
      }
      assert.strictEqual(readFileSync(path, "utf8"), "canary-text")
      chmodSync(folder, 0o700)
      // Who signs in again has a file that is closed.
      yield* store.write("ada", "b")
      assert.strictEqual(yield* store.read("ada"), "b")
    }))

  it.live("is refused where something else has the name of it or of its files", () =>
    Effect.gen(function*() {
      const { folder, path, store } = yield* filled
      yield* store.write("bob", "b")
      rmSync(path)
      symlinkSync("bob.json", path)
      assert.strictEqual(
        said(folder, yield* Effect.flip(store.read("ada"))),
        "The token store F/ada.json cannot be read: it is unavailable (it is a symbolic link, which a write would " +
          "replace). Check its place and that it can be reached."
      )
      rmSync(path)
      mkdirSync(path)
      const here = "The token store F/ada.json cannot be"
      const advice = "(it is not a file). Check its place and that it can be reached."
      assert.strictEqual(
        said(folder, yield* Effect.flip(store.read("ada"))),
        `${here} read: it is unavailable ${advice}`
      )
      assert.strictEqual(
        said(folder, yield* Effect.flip(store.write("ada", "b"))),
        `${here} written: it is unavailable ${advice}`
      )
      assert.deepStrictEqual(readdirSync(folder).filter((name) => name.endsWith(".tmp")), [])
      rmSync(path, { recursive: true })
      execFileSync("mkfifo", ["-m", "600", path])
      assert.strictEqual((yield* Effect.flip(store.read("ada"))).detail, "it is not a file")
      rmSync(path)
      rmSync(join(folder, "ada.lock"))
      symlinkSync("bob.lock", join(folder, "ada.lock"))
      assert.include((yield* Effect.flip(store.write("ada", "b"))).message, "the file of its lock is something else")
      const file = FileTokenStore.make(join(folder, "bob.json"))
      assert.strictEqual((yield* Effect.flip(file.read("ada"))).detail, "it is not a folder")
      for (const name of ["../x", "", "a.b", "x".repeat(33)]) {
        assert.strictEqual((yield* Effect.flip(store.read(name))).fault, "unavailable")
        assert.strictEqual((yield* Effect.flip(store.write(name, "b"))).fault, "unavailable")
      }
      // A folder of a link is the folder.
      symlinkSync(folder, `${folder}-link`)
      assert.strictEqual(yield* FileTokenStore.make(`${folder}-link`).read("bob"), "b")
    }))

  it.live.skipIf(!isRoot)("is refused where it belongs to another user", () =>
    Effect.gen(function*() {
      const { folder, path, store } = yield* filled
      chownSync(path, nobody.uid, nobody.gid)
      assert.strictEqual(
        said(folder, yield* Effect.flip(store.read("ada"))),
        "The token store F/ada.json cannot be read: it is not ours to use (it belongs to the user with the number " +
          "65534). Give this user the right to read and write it."
      )
      chownSync(folder, nobody.uid, nobody.gid)
      assert.strictEqual((yield* Effect.flip(store.names)).fault, "forbidden")
    }))
})

describe.skipIf(!mayBeNobody)("an ordinary user", () => {
  it.live("is told where there is no right to write, or to read", () =>
    Effect.gen(function*() {
      const home = yield* root
      chmodSync(home, 0o755)
      const program = join(home, "program.mjs")
      yield* Effect.promise(() =>
        build({
          stdin: {
            contents: `import * as FileTokenStore from "@postwire/node/FileTokenStore"
              import * as Effect from "effect/Effect"
              const store = FileTokenStore.make(process.argv[2])
              const attempts = Effect.all([Effect.flip(store.write("ada", "canary-text")), Effect.exit(store.read("ada"))])
              const [failed, read] = await Effect.runPromise(attempts)
              console.log(failed.message + "\\n" + read._tag)`,
            resolveDir: fileURLToPath(new URL(".", import.meta.url))
          },
          outfile: program,
          bundle: true,
          platform: "node",
          format: "esm"
        })
      )
      const said = (folder: string) =>
        spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", program, folder], {
          ...nobody,
          encoding: "utf8"
        }).stdout.trim().replaceAll(home, "F").split("\n")
      const advice = "it is not ours to use (permission denied). Give this user the right to read and write it."
      assert.deepStrictEqual(said(join(home, "none")), [
        `The token store F/none cannot be locked: ${advice}`,
        "Success"
      ])
      const closed = join(home, "closed")
      mkdirSync(closed, { mode: 0o500 })
      chownSync(closed, nobody.uid, nobody.gid)
      assert.deepStrictEqual(said(closed), [
        `The token store F/closed/ada.json cannot be locked: ${advice}`,
        "Success"
      ])
      mkdirSync(join(home, "root"), { mode: 0o700 })
      assert.deepStrictEqual(said(join(home, "root", "accounts")), [
        `The token store F/root/accounts cannot be locked: ${advice}`,
        "Failure"
      ])
    }))
})

describe("a lock on a file", () => {
  it.live("keeps out the other threads of its process, whatever they close", () =>
    Effect.gen(function*() {
      const { folder, store } = yield* filled
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* Effect.provideService(store.lock("ada"), Scope.Scope, scope)
      const thread = yield* Effect.acquireRelease(
        Effect.sync(() =>
          new Worker(
            `import("${new URL("../src/internal/fileLock.ts", import.meta.url)}").then(({ tryLock }) => {
              const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
              parentPort.on("message", () => {
                const lock = tryLock(workerData)
                lock?.release("keep")
                parentPort.postMessage(lock !== undefined)
              })
            })`,
            { eval: true, workerData: join(folder, "ada.lock") }
          )
        ),
        (worker) => Effect.promise(() => worker.terminate())
      )
      const isFree = Effect.promise(async (): Promise<unknown> => {
        thread.postMessage("")
        return (await once(thread, "message"))[0]
      })
      assert.deepStrictEqual([yield* isFree, yield* isFree, tryLock(join(folder, "ada.lock"))], [
        false,
        false,
        undefined
      ])
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* isFree)
    }))

  it.live("that was removed or replaced is lost: its holder writes nothing more", () =>
    Effect.gen(function*() {
      const { folder, path, store } = yield* filled
      const other = FileTokenStore.make(folder)
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* Effect.provideService(store.lock("ada"), Scope.Scope, scope)
      rmSync(join(folder, "ada.lock"))
      yield* other.write("ada", "newer")
      const error = yield* Effect.flip(store.write("ada", "older"))
      assert.strictEqual(error.fault, "locked")
      assert.strictEqual(error.detail, "the file of our lock was removed, and another may have it")
      assert.strictEqual(readFileSync(path, "utf8"), "newer")
      yield* Scope.close(scope, Exit.void)
      yield* store.write("ada", "newest")
      assert.strictEqual(yield* other.read("ada"), "newest")
    }))

  it.live("sweeps what a crash left of a write", () =>
    Effect.gen(function*() {
      const { folder, store } = yield* filled
      const left = join(folder, "ada.json.tmp")
      writeFileSync(left, "half a te")
      assert.strictEqual(yield* store.read("ada"), "canary-text")
      assert.deepStrictEqual(yield* store.names, ["ada"])
      yield* Effect.scoped(store.lock("ada"))
      assert.isFalse(existsSync(left))
    }))
})

describe.skipIf(!mayMount())("a disk, where this user may mount one,", () => {
  it.live("that is full keeps the old text, and one that is read-only is read", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk
      const folder = join(disk, "accounts")
      const store = FileTokenStore.make(folder)
      yield* store.write("ada", "canary-text")
      assert.throws(() => writeFileSync(join(disk, "ballast"), Buffer.alloc(100_000)), /ENOSPC/)
      assert.strictEqual(
        said(folder, yield* Effect.flip(store.write("ada", "x".repeat(10_000)))),
        "The token store F/ada.json cannot be written: it is full (no space left on the device). Make room, then try " +
          "again: nothing was lost."
      )
      assert.strictEqual(yield* store.read("ada"), "canary-text")
      assert.deepStrictEqual(readdirSync(folder), ["ada.json", "ada.lock"])
      rmSync(join(disk, "ballast"))
      yield* store.write("ada", "y".repeat(10_000))

      execFileSync("mount", ["-o", "remount,ro", disk])
      assert.strictEqual(yield* store.read("ada"), "y".repeat(10_000))
      assert.deepStrictEqual(yield* store.names, ["ada"])
      for (const attempt of [store.write("ada", "z"), store.write("bob", "z"), Effect.scoped(store.lock("ada"))]) {
        const error = yield* Effect.flip(attempt)
        assert.strictEqual(error.fault, "forbidden", error.message)
      }
      const other = FileTokenStore.make(join(disk, "other"))
      assert.strictEqual(
        said(disk, yield* Effect.flip(other.write("ada", "z"))),
        "The token store F/other cannot be locked: it is not ours to use (its file system is read-only). Give this " +
          "user the right to read and write it."
      )
    }))
})
