// What `npm test` runs: the types, and then lint and tests beside each other, up to the first that fails.
// Arguments go to Vitest: `npm test -- Rule` runs the test files with "Rule" in their name.
// `--long` runs the tests that are shorter otherwise, at their full length, and the proofs, which have no shorter form, and
// nothing else: kills, fuzzing, a million items, clusters, browsers, packages, every operation through every client.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { globSync, readFileSync } from "node:fs"
import { text } from "node:stream/consumers"

type Step = readonly [heading: string, command: string, ...args: ReadonlyArray<string>]

/** Files that start browsers, pack and install, or kill and wait for processes, half a minute and more each. */
const proofs = [
  "examples/test/Parity.test.ts",
  "packages/export/test/Crash.test.ts",
  "packages/node/test/RateLimitStores.test.ts",
  "packages/sandbox/test/ConsolePage.test.ts",
  "packages/sync/test/Worker.test.ts",
  "scripts/Packages.test.ts"
]

const long = process.argv.includes("--long")
const args = process.argv.slice(2).filter((argument) => argument !== "--long")
if (long) {
  process.env["POSTWIRE_LONG"] = "1"
  args.push(
    ...globSync(["packages/*/test/**/*.test.ts", "examples/test/*.test.ts", "scripts/*.test.ts"])
      .filter((file) => proofs.includes(file) || readFileSync(file, "utf8").includes("POSTWIRE_LONG"))
  )
} else if (args.length === 0) process.env["POSTWIRE_EXCLUDE"] = proofs.join()

const types: Step = ["Types", "pnpm", "--silent", "check"]

const lint: Step = ["Lint, format, Effect diagnostics", "pnpm", "--silent", "lint"]

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

if (long) await run(tests, true)
else {
  // The tests pack what the compiler made. They wait a lot, and meanwhile there is a core to spare.
  await run(types, true)
  await Promise.all([run(lint, false), run(tests, true)])
}
