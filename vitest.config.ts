import { createHash } from "node:crypto"
import { matchesGlob, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

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

/** The files that take longest at full length. */
const longest = [
  "scripts/{Consumers,Site}.test.ts",
  "packages/{cli/test/SharedAccount,node/test/WebhookKills,mcp/test/evaluation/Evaluation}.test.ts"
]

/**
 * Begins with the longest files, which would keep one worker when the others are done, and with those that end a shared worker.
 * The seed orders the others.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const first = [...longest, ...alone]
    const keyOf = ({ moduleId }: TestSpecification): string => {
      const path = relative(this.ctx.config.root, moduleId)
      const place = first.findIndex((pattern) => matchesGlob(path, pattern))
      const drawn = createHash("sha256").update(`${this.ctx.config.sequence.seed} ${path}`).digest("hex")
      return `${String(place === -1 ? first.length : place).padStart(2, "0")} ${drawn}`
    }
    const keys = new Map(files.map((file) => [file, keyOf(file)]))
    return files.toSorted((a, b) => keys.get(a)! < keys.get(b)! ? -1 : 1)
  }
}

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
    sequence: { shuffle: { files: true, tests: true }, sequencer: LongestFirst },
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
