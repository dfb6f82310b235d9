import { describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("the command as one file: npm run test:long", () => {
  it("is built, and serves, calls and exports without Node on the path", ({ skip }) => {
    const script = fileURLToPath(new URL("executable.ts", import.meta.url))
    const { status, stderr, stdout } = spawnSync(process.execPath, [script], { encoding: "utf8" })
    skip(stderr.includes("npm install"), "The Node to build it with cannot be had here")
    expect(stderr.replace(/^Getting Node .*\n/, "")).toBe("")
    expect(status).toBe(0)
    expect(stdout).toMatch(/^export to posts\.sqlite: \d+ bytes$/m)
  }, 300_000)
})
