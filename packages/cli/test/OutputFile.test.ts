import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as OutputFile from "../src/terminal/OutputFile.ts"
import * as Commands from "./Commands.ts"

describe("a file of output", () => {
  it.live("replaces a link and not what it leads to, with the mode of the file before", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const [file, link, broken] = [join(root, "a.csv"), join(root, "link.csv"), join(root, "broken.csv")]
      writeFileSync(file, "old", { mode: 0o600 })
      symlinkSync(file, link)
      symlinkSync(join(root, "nowhere.csv"), broken)
      writeFileSync(`${file}.tmp`, "of a run that was killed")
      for (const path of [link, broken, file]) yield* OutputFile.write(path, `new ${path}`, true)
      for (const path of [link, broken, file]) {
        assert.isFalse(lstatSync(path).isSymbolicLink())
        assert.strictEqual(readFileSync(path, "utf8"), `new ${path}`)
        assert.isFalse(existsSync(`${path}.tmp`))
      }
      assert.isFalse(existsSync(join(root, "nowhere.csv")))
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("leaves what a link leads to as it is", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const [file, link] = [join(root, "a.csv"), join(root, "link.csv")]
      writeFileSync(file, "old")
      symlinkSync(file, link)
      yield* OutputFile.write(link, "new", true)
      assert.strictEqual(readFileSync(file, "utf8"), "old")
      yield* OutputFile.write("/dev/null", "new", true)
      assert.isTrue(statSync("/dev/null").isCharacterDevice())
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("is kept without force", () =>
    Effect.gen(function*() {
      const file = join(yield* Commands.folder, "a.csv")
      writeFileSync(file, "old")
      const { message } = yield* Effect.flip(OutputFile.write(file, "new", false))
      assert.include(message, "it exists already")
      assert.strictEqual(readFileSync(file, "utf8"), "old")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
