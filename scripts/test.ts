// What `npm test` runs: every check of the workspace, cheapest first, up to the first that fails.
// Arguments go to Vitest: `npm test -- Rule` runs the test files with "Rule" in their name.
// `--long` runs the tests that are shorter otherwise, at their full length, and nothing else: kills, fuzzing, a million
// items, clusters, every operation through every client.
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"

type Step = readonly [heading: string, command: string, ...args: ReadonlyArray<string>]

const long = process.argv.includes("--long")
const args = process.argv.slice(2).filter((argument) => argument !== "--long")
if (long) {
  process.env["POSTWIRE_LONG"] = "1"
  args.push(
    ...globSync(["packages/*/test/**/*.test.ts", "examples/test/*.test.ts"])
      .filter((file) => readFileSync(file, "utf8").includes("POSTWIRE_LONG"))
  )
}

const checks: ReadonlyArray<Step> = [
  ["Types", "pnpm", "--silent", "check"],
  ["Lint, format, Effect diagnostics", "pnpm", "--silent", "lint"]
]

const steps: ReadonlyArray<Step> = [
  ...long ? [] : checks,
  [
    long ? "Long tests" : "Tests",
    "vitest",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=node_modules/.cache/test-report${long ? "-long" : ""}.json`,
    ...args
  ]
]

for (const [heading, command, ...args] of steps) {
  console.log(`\n── ${heading}`)
  const { status } = spawnSync(command, args, { stdio: "inherit" })
  if (status !== 0) {
    console.error(`\n${heading}: failed`)
    process.exit(status ?? 1)
  }
}
