import { assert, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { postwire } from "../../core/test/support/ProgramFile.ts"
import * as Commands from "./Commands.ts"
import * as Processes from "./support/Processes.ts"

const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")
const [, block = ""] = /## Selecting with jq[^]*?```sh\n([^]*?)```/.exec(page) ?? []
const lines = block.split("\n\n")

layer(Sandbox.layerServer({ posts: 100 }), { excludeTestServices: true })("the lines about jq", (it) => {
  it.effect("run as they are, and print something", () =>
    Effect.gen(function*() {
      if (spawnSync("jq", ["--version"]).status !== 0) return
      const variables = yield* Commands.variables({ POSTWIRE_SPEND_STORE: ":memory:" })
      assert.isAbove(lines.length, 3)
      for (const line of lines) {
        const script = `set -e -o pipefail\npostwire() { "${process.execPath}" "${postwire}" "$@"; }\n${line}`
        const child = spawn("bash", ["-c", script], {
          env: { ...process.env, ...variables },
          stdio: ["ignore", "pipe", "pipe"]
        })
        const { code, errors, output } = yield* Effect.promise(() => Processes.ended(child))
        assert.strictEqual(code, 0, line + errors)
        assert.notStrictEqual(output, "", line)
      }
    }))
})
