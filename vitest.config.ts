import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Tests start some hundred processes, which then load in half the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compile", import.meta.url))

// What commands spend in tests is not for the file of whoever runs them.
process.env["XDG_STATE_HOME"] ??= fileURLToPath(new URL("node_modules/.cache/state", import.meta.url))

const include = ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "scripts/**/*.test.ts"]

/** Files that look at what a process has loaded, replace modules or weigh the heap. */
const alone = [
  "packages/*/test/Memory.test.ts",
  "packages/node/test/Undici{HttpClient,Loading}.test.ts",
  "packages/sandbox/test/Fuzz*.test.ts",
  "packages/sync/test/{SyncClient,Worker}.test.ts"
]

// `npm test` leaves the proofs to the long tests; who names a file gets it.
const exclude = ["**/node_modules/**", ...process.env["POSTWIRE_EXCLUDE"]?.split(",") ?? []]

export default defineConfig({
  test: {
    // The synchronous client blocks its thread, and node:sqlite warns that it is young.
    pool: "forks",
    // Many tests wait for other processes.
    maxWorkers: 3,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // A test that needs another before it fails with some seed, which Vitest prints.
    sequence: { shuffle: { files: true, tests: true } },
    globalSetup: "scripts/programs.ts",
    setupFiles: "vitest.setup.ts",
    // A machine that others use too takes several times as long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      // A process loads Effect, the core and the sandbox once, not for each of a hundred files.
      { extends: true, test: { name: "together", include, exclude: [...exclude, ...alone], isolate: false } },
      { extends: true, test: { name: "alone", include: alone, exclude } }
    ]
  }
})
