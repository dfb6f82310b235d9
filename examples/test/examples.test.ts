import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterAll, beforeAll } from "vitest"

const path = (file: string) => new URL(file, import.meta.url).pathname
const run = promisify(execFile)

describe("the three programs of the README", () => {
  let sandbox: ChildProcess
  let environment: Record<string, string>

  beforeAll(async () => {
    sandbox = spawn(process.execPath, [path("../../packages/cli/src/main.ts"), "sandbox", "--port", "0", "--json"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [line] = await once(createInterface({ input: sandbox.stdout! }), "line") as [string]
    environment = (JSON.parse(line) as { readonly environment: Record<string, string> }).environment
  })

  afterAll(() => {
    sandbox.kill()
  })

  const output = async (program: string) =>
    (await run(process.execPath, [path(`../${program}`)], { env: { ...process.env, ...environment } })).stdout

  it("print the same", async () => {
    const [promise, blocking, effect] = await Promise.all(["promise.ts", "blocking.ts", "effect.ts"].map(output))
    assert.match(promise!, /^Ada Lovelace has \d+ followers\n/)
    assert.match(promise!.trimEnd().split("\n").at(-1)!, /^\d{4}-\d\d-\d\dT.* .*Effect/)
    assert.strictEqual(blocking, promise)
    assert.strictEqual(effect, promise)
  })
})
