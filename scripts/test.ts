// What `npm test` runs: the types, and then lint and tests beside each other, up to the first that fails.
// Arguments go to Vitest: `npm test -- Rule` runs the test files with "Rule" in their name.
// `--long` runs the tests that are shorter otherwise, at their full length, and the proofs, which have no shorter form, and
// nothing else: kills, fuzzing, a million items, clusters, browsers, packages, every operation through every client.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { pack } from "./pack.ts"

type Step = readonly [heading: string, command: string, ...args: ReadonlyArray<string>]

/** Files that start browsers, databases or dozens of processes, pack and install, or fill the memory. */
const proofs = [
  "examples/test/{Parity,bullmq,examples,guides}.test.ts",
  "packages/cli/test/{Cluster,Durability}.test.ts",
  "packages/cluster/test/{Database,PostgresTokenStore,SharedStreams,SilentDatabase,Workflow}.test.ts",
  "packages/{core,export}/test/Memory.test.ts",
  "packages/export/test/{Crash,Ending,FollowClocks,Hydration,Ownership}.test.ts",
  "packages/node/test/{Faults,RateLimitStores,TokenStores,WebhookKills}.test.ts",
  "packages/sandbox/test/{ActivityKills,ConsolePage,Fuzz,Seed}.test.ts",
  "packages/sandbox/test/clients/*.test.ts",
  "packages/sync/test/{NetworkDefaults,Worker}.test.ts",
  "scripts/{Packages,Parity}.test.ts"
]

const long = process.argv.includes("--long")
const args = process.argv.slice(2).filter((argument) => argument !== "--long")
if (long) {
  process.env["POSTWIRE_LONG"] = "1"
  const files = globSync(["packages/*/test/**/*.test.ts", "examples/test/*.test.ts", "scripts/*.test.ts"])
  args.push(
    ...new Set([...globSync(proofs), ...files.filter((file) => readFileSync(file, "utf8").includes("POSTWIRE_LONG"))])
  )
} else if (args.length === 0) process.env["POSTWIRE_EXCLUDE"] = globSync(proofs).join()

const types: Step = ["Types, Effect diagnostics", "pnpm", "--silent", "check"]

const lint: Step = ["Lint, format", "pnpm", "--silent", "lint"]

const tests: Step = [
  long ? "Long tests" : "Tests",
  "vitest",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=node_modules/.cache/test-report${long ? "-long" : ""}.json`,
  ...args
]

const running = new Set<ChildProcess>()

/** Runs a step. The first that fails ends the others. */
const run = async ([heading, command, ...args]: Step, shown: boolean): Promise<void> => {
  if (shown) console.log(`\n── ${heading}`)
  const child = spawn(command, args, { stdio: shown ? "inherit" : ["ignore", "pipe", "pipe"] })
  running.add(child)
  const printed = Promise.all([child.stdout, child.stderr].map((stream) => stream === null ? "" : text(stream)))
  const [status] = await once(child, "close")
  running.delete(child)
  if (status === 0) return console.log(`── ${heading}: fine after ${(performance.now() / 1000).toFixed(0)} s`)
  console.error(`${(await printed).join("")}\n${heading}: failed`)
  for (const other of running) other.kill()
  process.exit(1)
}

if (long) {
  // Three files use the packages, and two that build them at the same time spoil each other's.
  const packed = mkdtempSync(join(tmpdir(), "postwire-packed-"))
  process.on("exit", () => rmSync(packed, { recursive: true }))
  pack(packed)
  process.env["POSTWIRE_PACKED"] = packed
  await run(tests, true)
} else {
  // The tests pack what the compiler made. They wait a lot, and meanwhile there is a core to spare.
  await run(types, true)
  await Promise.all([run(lint, false), run(tests, true)])
}
