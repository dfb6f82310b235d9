// What `npm test` runs: every check of the workspace, cheapest first, up to the first that fails.
// Arguments go to Vitest: `npm test -- Rule` runs the test files with "Rule" in their name.
import { spawnSync } from "node:child_process"

const steps: ReadonlyArray<readonly [heading: string, command: string, ...args: ReadonlyArray<string>]> = [
  ["Types", "pnpm", "--silent", "check"],
  ["Lint, format, Effect diagnostics", "pnpm", "--silent", "lint"],
  [
    "Tests",
    "vitest",
    "run",
    "--reporter=default",
    "--reporter=json",
    "--outputFile.json=node_modules/.cache/test-report.json",
    ...process.argv.slice(2)
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
