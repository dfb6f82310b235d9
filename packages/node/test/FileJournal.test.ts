import { assert, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@postwire/core/errors/Errors"
import { ConfigProvider, Effect } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import * as FileJournal from "../src/FileJournal.ts"

const root = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-journal-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const files = (folder: string) => readdirSync(folder).filter((name) => !name.endsWith(".lock")).sort()

describe("a journal of files", () => {
  it.live("has a file of its own for any key, wherever capitals are no letters of their own", () =>
    Effect.gen(function*() {
      const folder = yield* root
      const journal = FileJournal.make(folder)
      const keys = [
        "upload.a",
        "upload.A",
        "/Videos/Hafen im Mai.mp4",
        "../escape",
        ".",
        "a\0b",
        "a%00b",
        "😀",
        "k".repeat(5000),
        `${"k".repeat(4999)}l`
      ]
      for (const key of keys) yield* journal.write(key, key)
      assert.strictEqual(journal.describe("upload.a"), join(folder, "upload.a.json"))
      for (const key of keys) assert.strictEqual(yield* journal.read(key), key)
      const names = files(folder)
      assert.lengthOf(new Set(names.map((name) => name.toLowerCase())), keys.length)
      for (const name of names) {
        assert.strictEqual(basename(name), name)
        assert.isBelow(name.length, 255)
        assert.strictEqual(name, name.toLowerCase())
      }
      const error = yield* Effect.flip(journal.write("", "text"))
      assert.strictEqual(
        error.message,
        `The journal ${folder} cannot be locked: it is unavailable (a key must not be empty). ` +
          "Check its place and that it can be reached."
      )
    }))

  it.live("leaves nothing behind of a key without a text, and is used by one at a time all the same", () =>
    Effect.gen(function*() {
      const folder = yield* root
      let [inside, most, done] = [0, 0, 0]
      const use = Effect.fnUntraced(function*() {
        // A client of its own, as another process has it.
        yield* FileJournal.make(folder).lock("k")
        most = Math.max(most, ++inside)
        yield* Effect.sleep(1)
        inside--
        done++
      }, Effect.scoped)
      yield* Effect.all(Array.from({ length: 12 }, use), { concurrency: "unbounded" })
      assert.deepStrictEqual({ most, done }, { most: 1, done: 12 })
      const journal = FileJournal.make(folder)
      yield* journal.write("k", "text")
      yield* journal.write("k", undefined)
      assert.deepStrictEqual(readdirSync(folder), [])
    }))

  it.live("may be read by others, and not changed", () =>
    Effect.gen(function*() {
      const folder = join(yield* root, "shared")
      mkdirSync(folder)
      chmodSync(folder, 0o755)
      const journal = FileJournal.make(folder)
      yield* journal.write("k", "text")
      chmodSync(journal.describe("k"), 0o644)
      assert.strictEqual(yield* journal.read("k"), "text")
      chmodSync(journal.describe("k"), 0o664)
      const error: StorageFailure = yield* Effect.flip(journal.read("k"))
      assert.strictEqual(
        error.message.replaceAll(folder, "F"),
        "The journal F/k.json cannot be read: it is open to other users (close it with chmod 600 F/k.json). " +
          "Make sure that no other user has changed it."
      )
      assert.strictEqual(readFileSync(journal.describe("k"), "utf8"), "text")
      chmodSync(folder, 0o777)
      assert.strictEqual((yield* Effect.flip(journal.write("k", "b"))).fault, "exposed")
    }))

  it.effect("is in the user's folder for state", () =>
    Effect.gen(function*() {
      const own = (env: Record<string, string>) =>
        FileJournal.ownFolder.pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
        )
      if (process.platform === "linux") {
        assert.strictEqual(yield* own({ HOME: "/ada" }), "/ada/.local/state/postwire")
        assert.strictEqual(yield* own({ HOME: "/ada", XDG_STATE_HOME: "/state" }), "/state/postwire")
      }
      assert.strictEqual((yield* Effect.flip(own({}))).setting, "journal")
    }))
})
