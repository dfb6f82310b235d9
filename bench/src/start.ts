/**
 * Measures how long the packed packages take to import beside `twitter-api-v2`, and how long the first blocking call of a
 * process takes: `node bench/src/start.ts [--rounds <n>]`.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { pack } from "../../scripts/pack.ts"
import * as Child from "./Child.ts"
import { median } from "./Model.ts"

const { values: { rounds } } = parseArgs({ options: { rounds: { type: "string", default: "15" } } })

const folder = mkdtempSync(join(tmpdir(), "postwire-start-"))

const run = (command: string, args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: folder, encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

const evaluate = (code: string): number => Number(run(process.execPath, ["--input-type=module", "-e", code]))

const install = () => {
  for (const [name, tarball] of pack(folder)) {
    const target = join(folder, "node_modules/@postwire", name)
    mkdirSync(target, { recursive: true })
    run("tar", ["xzf", tarball, "-C", target, "--strip-components=1"])
  }
  for (const name of ["effect", "undici", "twitter-api-v2"]) {
    symlinkSync(dirname(findPackageJSON(name, import.meta.url)!), join(folder, "node_modules", name))
  }
}

const main = async () => {
  install()
  const server = await Child.start<never, never>("Server.ts", "calls")
  const importing = (name: string) => () =>
    evaluate(`const t = performance.now(); await import("${name}"); console.log(performance.now() - t)`)
  const firstCall = () =>
    evaluate(`
      import { createClientSync } from "@postwire/sync"
      const client = createClientSync({ baseUrl: "${server.hello}", bearerToken: "a" })
      const t = performance.now()
      client.getPost({ id: "1790000000004268803" })
      console.log(performance.now() - t)
    `)
  const measures: Readonly<Record<string, () => number>> = {
    "import twitter-api-v2": importing("twitter-api-v2"),
    "import @postwire/node": importing("@postwire/node"),
    "import @postwire/sync": importing("@postwire/sync"),
    "first blocking call": firstCall
  }
  const figures = Object.entries(measures).map(([name, measure]) => ({ name, measure, taken: new Array<number>() }))
  for (let round = 0; round < Number(rounds); round++) {
    for (const { measure, taken } of figures) taken.push(measure())
  }
  server.end()
  const [baseline] = figures
  for (const { name, taken } of figures) {
    const ratio = median(taken.map((millis, round) => millis / baseline!.taken[round]!))
    console.log(
      `${name.padEnd(24)} ${median(taken).toFixed(1).padStart(6)} ms   best ${
        Math.min(...taken).toFixed(1).padStart(6)
      } ms   ` +
        `${ratio.toFixed(2)} of twitter-api-v2`
    )
  }
}

await main().finally(() => rmSync(folder, { recursive: true }))
