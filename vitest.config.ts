import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Tests start some hundred processes, which then load in half the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compile", import.meta.url))

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "scripts/**/*.test.ts"],
    // The synchronous client blocks its thread, and node:sqlite warns that it is young.
    pool: "forks",
    // Many tests wait for other processes.
    maxWorkers: 3,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // A machine that others use too takes several times as long.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
