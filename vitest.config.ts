import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// Tests start some hundred processes, which then load in half the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compile", import.meta.url))

/** Begins with small files that take long, which the size of files would put at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/(Crash|Fuzz|Memory|bullmq|Durability)\.test\.ts$/.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "scripts/**/*.test.ts"],
    // The synchronous client blocks its thread, and node:sqlite warns that it is young.
    pool: "forks",
    // Many tests wait for other processes.
    maxWorkers: 3,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    sequence: { sequencer: LongFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000
  }
})
