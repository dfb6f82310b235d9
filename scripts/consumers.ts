/**
 * Installs the packed packages into programs of their own and runs them against a sandbox: `npm run consumers`, or
 * `npm run consumers -- bun deno`. consumers/README.md tells how a program is added.
 */
import { execFile, execFileSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual, promisify } from "node:util"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly postwire: ReadonlyArray<string>
}

interface Row {
  readonly consumer: string
  readonly runtime: string
  readonly result: string
  readonly seconds: string
}

const root = fileURLToPath(new URL("..", import.meta.url))
const run = promisify(execFile)

/** Nothing takes so many milliseconds. */
const timeout = 180_000

const expected = {
  waits: ["getMe"],
  me: "ada",
  user: "Ada Lovelace",
  posts: 25,
  errors: [[true, true, "BadRequest"], [true, true, "InvalidParameters"], ["TransportFailure"]]
}

const wanted = process.argv.slice(2)
const consumers = readdirSync(join(root, "consumers"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && (wanted.length === 0 || wanted.includes(entry.name)))
  .map(({ name }) => name)
const missing = wanted.filter((name) => !consumers.includes(name))
if (missing.length > 0) throw new Error(`There is no consumers/${missing[0]}`)

const folder = mkdtempSync(join(tmpdir(), "postwire-consumers-"))
const npm = (args: ReadonlyArray<string>, cwd: string) =>
  run("npm", [...args, "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], { cwd, timeout })

const messageOf = (error: unknown): string => {
  const { message, stderr, stdout }: { message?: string; stderr?: string; stdout?: string } = Object(error)
  return `${stdout ?? ""}${stderr ?? ""}`.trim() || String(message ?? error)
}

/** The runtime, or what stands for it, as npm installed it. */
const runtimeOf = (own: string): string => {
  const { dependencies }: Manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8"))
  const found = Object.keys(dependencies)
    .filter((name) => !name.startsWith("@postwire/"))
    .map((name) => {
      const { version }: { version: string } = JSON.parse(
        readFileSync(join(own, "node_modules", name, "package.json"), "utf8")
      )
      return `${name} ${version}`
    })
  return found.length === 0 ? `node ${process.versions.node}` : found.join(", ")
}

/** Runs one, and tells in a few words what came of it and what it ran on. */
const play = async (name: string, sandbox: Sandbox.RunningSandbox): Promise<Omit<Row, "consumer" | "seconds">> => {
  const own = join(folder, name)
  cpSync(join(root, "consumers", name), own, { recursive: true })
  cpSync(join(root, "consumers/scenario.mjs"), join(own, "scenario.mjs"))
  const { postwire }: Manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8"))
  try {
    await npm(["install"], own)
  } catch (error) {
    return { runtime: "", result: `skipped: npm cannot install it here (${messageOf(error).split("\n")[0]})` }
  }
  try {
    await npm(["install", ...postwire.flatMap((name) => globSync(join(folder, `postwire-${name}-[0-9]*.tgz`)))], own)
    sandbox.faults.clear()
    sandbox.faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
    const { stdout } = await run("npm", ["start", "--silent"], {
      cwd: own,
      timeout,
      env: {
        ...process.env,
        POSTWIRE_BASE_URL: sandbox.settings.baseUrl,
        POSTWIRE_BEARER_TOKEN: String(sandbox.settings.bearerToken)
      }
    })
    const runtime = /^runtime: (.+)$/m.exec(stdout)?.[1] ?? runtimeOf(own)
    const last = stdout.trim().split("\n").at(-1) ?? ""
    if (last.startsWith("skipped: ")) return { runtime, result: last }
    return { runtime, result: isDeepStrictEqual(JSON.parse(last), expected) ? "ran" : `failed: ${last}` }
  } catch (error) {
    return { runtime: runtimeOf(own), result: `failed: ${messageOf(error)}` }
  }
}

try {
  execFileSync("pnpm", ["build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
  execFileSync("pnpm", ["-r", "--filter", "./packages/*", "pack", "--pack-destination", folder], {
    cwd: root,
    stdio: "ignore"
  })
  await using sandbox = await Sandbox.start({ posts: 400 })
  const rows: Array<Row> = []
  // One after the other, for each has the first refusal.
  for (const consumer of consumers) {
    const begun = performance.now()
    const { result, runtime } = await play(consumer, sandbox)
    rows.push({ consumer, runtime, result, seconds: ((performance.now() - begun) / 1000).toFixed(0) })
    console.error(`${consumer}: ${result}`)
  }
  console.table(rows)
  if (rows.some(({ result }) => result.startsWith("failed"))) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
