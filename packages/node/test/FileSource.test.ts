import { assert, describe, it } from "@effect/vitest"
import type { SourceFailure } from "@postwire/core/errors/Errors"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as FileSource from "../src/FileSource.ts"

const root = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-source-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)

/** A file with these bytes. */
const written = Effect.gen(function*() {
  const path = join(yield* root, "Hafen im Mai.mp4")
  writeFileSync(path, bytes)
  return path
})

const refused = (path: string): Effect.Effect<string> =>
  Effect.map(
    Effect.flip(Effect.scoped(FileSource.file(path).open)),
    ({ fault, message, source }: SourceFailure) => `${source} ${fault}: ${message}`
  ).pipe(Effect.orDie)

describe("a file as a source", () => {
  it.live("is read at any place, by its path or its address", () =>
    Effect.gen(function*() {
      const path = yield* written
      for (const place of [path, pathToFileURL(path)]) {
        const source = FileSource.file(place)
        assert.strictEqual(source.name, "Hafen im Mai.mp4")
        const opened = yield* source.open
        assert.deepInclude(opened, { size: 1000, isSeekable: true })
        assert.deepStrictEqual(yield* opened.read(900, 200), bytes.subarray(900))
        assert.deepStrictEqual(yield* opened.read(10, 20), bytes.subarray(10, 30))
        assert.deepStrictEqual(yield* opened.read(1000, 20), new Uint8Array())
      }
    }))

  it.live("whose address cannot be decoded cannot be read", () =>
    Effect.gen(function*() {
      const source = FileSource.file(new URL("file:///100%.png"))
      assert.strictEqual(source.name, "100%.png")
      const error = yield* Effect.flip(Effect.scoped(source.open))
      assert.deepInclude(error, { _tag: "SourceFailure", fault: "unreadable", detail: "URI malformed" })
    }))

  it.live("has another version once it has other bytes, and the same while it has not", () =>
    Effect.gen(function*() {
      const path = yield* written
      const version = Effect.map(FileSource.file(path).open, ({ version }) => version)
      const before = yield* version
      assert.strictEqual(yield* version, before)
      utimesSync(path, new Date(), new Date(0))
      assert.notStrictEqual(yield* version, before)
    }))

  it.live("fails once it changes, however it does", () =>
    Effect.gen(function*() {
      const changes: ReadonlyArray<(path: string) => void> = [
        (path) => appendFileSync(path, "more"),
        (path) => truncateSync(path, 10),
        (path) => writeFileSync(path, bytes.toReversed())
      ]
      for (const change of changes) {
        const path = yield* written
        utimesSync(path, new Date(0), new Date(0))
        const opened = yield* FileSource.file(path).open
        change(path)
        const error = yield* Effect.flip(opened.read(0, 100))
        assert.strictEqual(
          error.message,
          "Cannot upload Hafen im Mai.mp4: it has changed since a part of it was sent."
        )
      }
    }))

  it.live("goes on as it was when another one takes its place", () =>
    Effect.gen(function*() {
      const path = yield* written
      const opened = yield* FileSource.file(path).open
      writeFileSync(`${path}.new`, "other")
      renameSync(`${path}.new`, path)
      assert.deepStrictEqual(yield* opened.read(0, 1000), bytes)
    }))

  it.live("is a file that is there and may be read", () =>
    Effect.gen(function*() {
      const folder = yield* root
      assert.strictEqual(
        yield* refused(join(folder, "a.png")),
        "a.png absent: Cannot upload a.png: there is no such file."
      )
      writeFileSync(join(folder, "b"), "")
      assert.include(yield* refused(join(folder, "b", "a.png")), "a.png absent")
      assert.include(yield* refused(folder), "unreadable: ")
      assert.include(yield* refused(folder), "it cannot be read (it is not a file).")
      execFileSync("mkfifo", [join(folder, "pipe")])
      assert.include(yield* refused(join(folder, "pipe")), "it is not a file")
      symlinkSync("loop", join(folder, "loop"))
      assert.include(yield* refused(join(folder, "loop")), "it cannot be read (too many symbolic links encountered).")
      for (const name of ["a.png", "loop"]) assert.notInclude(yield* refused(join(folder, name)), folder)
    }))
})
