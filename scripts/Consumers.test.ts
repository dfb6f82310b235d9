// In one file, so that they do not build the packages at the same time.
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { minimum } from "../packages/core/src/runtime/SupportedNode.ts"

const run = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    encoding: "utf8"
  })

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("the packages as installed: npm run test:long", () => {
  it("work in the projects of users", ({ skip }) => {
    const { output, status, stdout } = run("scripts/consumers.ts")
    console.log(stdout)
    assert.strictEqual(status, 0, output.join("\n"))
    const [, works = "", skipped = ""] = /^(\d+) ok, 0 FAILS, (\d+) skipped$/m.exec(stdout) ?? []
    skip(Number(works) === 0 && Number(skipped) > 0, "Nothing can be installed here")
    assert.isAbove(Number(works), 0)
  }, 600_000)

  it("run on the oldest Node that will do, and are refused by one before it", () => {
    const { output, status } = run("scripts/engines.ts", `${minimum}.0`, "20.20.2")
    assert.strictEqual(status, 0, output.join("\n"))
  }, 600_000)
})
