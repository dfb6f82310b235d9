import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { minimum } from "../packages/core/src/SupportedNode.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("the packages as installed: npm run test:long", () => {
  it("run on the oldest Node that will do, and are refused by one before it", () => {
    const { output, status } = spawnSync(process.execPath, ["scripts/engines.ts", `${minimum}.0`, "20.20.2"], {
      cwd: root,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, output.join("\n"))
  }, 600_000)
})
