import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "scripts/**/*.test.ts"],
    // The synchronous client blocks its thread, and node:sqlite warns that it is young.
    pool: "forks",
    execArgv: ["--disable-warning=ExperimentalWarning"],
    testTimeout: 20_000,
    hookTimeout: 60_000
  }
})
