/**
 * Tries the packages as users have them: packs each, copies the projects of `consumers/` into empty folders, installs the
 * tarballs there, and runs one scenario (`consumers/scenario.ts`) in all of them against a sandbox on this machine.
 *
 *   npm run consumers                       what CI runs
 *   npm run consumers -- --all              every script of every project
 *   npm run consumers -- bun bundlers       these projects
 *   npm run consumers -- --from FOLDER      other programs, such as those of an earlier release
 *
 * Each script of a project's package.json is run. What it leaves in `out/<its name>` is a bundle, which is then run by
 * itself, in a folder that knows nothing of any package.
 */
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual, parseArgs } from "node:util"
import { minimum } from "../packages/core/src/runtime/SupportedNode.ts"
import { Sandbox } from "../packages/sandbox/src/index.ts"
import { newest, nodeOf } from "./Nodes.ts"
import { pack } from "./pack.ts"

interface Project {
  /** `npm` installs as most do; `pnpm` strictly, so that a package sees nothing that it does not depend on. */
  readonly installer: "npm" | "pnpm"
  /** The lines of Node that it runs on, where that is not the one of the workspace alone. */
  readonly nodes?: ReadonlyArray<string>
  /** The scripts that are run without `--all` too, where not all are. The others take long, and are much the same. */
  readonly usual?: ReadonlyArray<string>
}

const projects: Readonly<Record<string, Project>> = {
  node: { installer: "npm", nodes: [minimum, "24", "26"] },
  effect: { installer: "pnpm" },
  // Other tests bundle with esbuild, and compile with TypeScript 7.
  bundlers: { installer: "pnpm", usual: ["rollup-esm", "webpack", "vite"] },
  typescript: { installer: "pnpm", usual: ["5.9, nodenext"] },
  bun: { installer: "pnpm" },
  deno: { installer: "pnpm" },
  workerd: { installer: "pnpm" },
  chromium: { installer: "pnpm" }
}

/** The runtimes of an installed program. */
const builds = { bun: true, deno: true, workerd: true, esbuild: false, sharp: false }

/** How it reads when something cannot be had here, for want of a network or because it is not made for this system. */
const unavailable =
  /skipped: .*|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EBADPLATFORM|ERR_PNPM_META_FETCH_FAIL/

/** Nothing takes so many milliseconds. */
const patience = 180_000

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface Row {
  readonly project: string
  readonly script: string
  readonly told: ReadonlyArray<string>
  readonly verdict: "ok" | "FAILS" | "skipped"
  readonly seconds: number
}

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "postwire-consumers-"))

const read = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"))

/** Runs a command line. Rejects with its output if it fails. */
const run = async (line: string, cwd: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
  // Of a test runner, or of the workspace.
  const { NODE_ENV: _env, NODE_OPTIONS: _options, NODE_PATH: _path, ...inherited } = process.env
  const child = spawn(line, {
    cwd,
    env: { ...inherited, CI: "true", NO_COLOR: "1", ...variables },
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patience
  })
  const code = new Promise<number | null>((resolve) => child.on("close", resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (await code === 0) return output
  throw new Error(`${line}: exit ${await code}\n${`${output}\n${errors}`.trim()}`)
}

/** Copies a project into a folder of its own and installs what it depends on. */
const install = async (name: string, tarballs: Readonly<Record<string, string>>): Promise<string> => {
  const target = join(folder, name)
  cpSync(join(values.from, name), target, { recursive: true })
  const scenario = readFileSync(join(values.from, "scenario.ts"), "utf8")
  writeFileSync(join(target, "scenario.ts"), scenario)
  writeFileSync(join(target, "scenario.mjs"), stripTypeScriptTypes(scenario))
  const manifest = read(join(target, "package.json"))
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([name, version]) => [name, tarballs[name] ?? version])
  )
  const isNpm = projects[name]?.installer === "npm"
  writeFileSync(
    join(target, "package.json"),
    JSON.stringify({ ...manifest, dependencies, ...(isNpm ? { overrides: tarballs } : {}) })
  )
  if (isNpm) await run("npm install --no-audit --no-fund --no-package-lock --loglevel=error --prefer-offline", target)
  else {
    // JSON is YAML.
    writeFileSync(
      join(target, "pnpm-workspace.yaml"),
      JSON.stringify({ packages: ["."], hoist: false, overrides: tarballs, allowBuilds: builds })
    )
    await run("pnpm install --prefer-offline --no-lockfile", target)
  }
  return target
}

/** The tools that a script runs, with their versions. */
const toolsOf = ({ devDependencies = {} }: Manifest, script: string): ReadonlyArray<string> =>
  Object.entries(devDependencies)
    .filter(([name]) => script.split(/[\s/]+/).includes(name))
    .map(([name, version]) => `${name.replace(/-.*/, "")} ${version.replace(/^npm:.*@/, "")}`)

/** The result of the scenario on every runtime. */
const expected = {
  waits: ["getMe"],
  me: "ada",
  user: "Ada Lovelace",
  posts: 25,
  uploaded: 84,
  published: ["A dot", "image/gif"],
  errors: [[true, true, "BadRequest"], [true, true, "InvalidParameters"], ["TransportFailure"]]
}

/** Runs a script of a project against a sandbox of its own; returns what it ran on. */
const attempt = async (target: string, name: string, script: string, node: string): Promise<string> => {
  const { faults, settings, stop } = await Sandbox.start({ posts: 400 })
  faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
  const variables = {
    PATH: [dirname(node), join(target, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
    POSTWIRE_BASE_URL: String(settings.baseUrl),
    POSTWIRE_BEARER_TOKEN: String(settings.bearerToken)
  }
  try {
    const bundle = join(target, "out", name)
    const printed = await run(script, target, variables)
    const last = (existsSync(bundle) ? await runApart(bundle, variables) : printed).trim().split("\n").at(-1) ?? ""
    if (last.startsWith("skipped: ")) throw new Error(last)
    const { runtime, ...result }: { readonly runtime: string } = JSON.parse(last)
    if (!isDeepStrictEqual(result, expected)) throw new Error(last)
    return runtime
  } finally {
    await stop()
  }
}

/** Runs a bundle in a folder that knows nothing of any package. */
const runApart = async (bundle: string, variables: Readonly<Record<string, string>>): Promise<string> => {
  const apart = mkdtempSync(join(tmpdir(), "postwire-bundle-"))
  try {
    cpSync(bundle, apart, { recursive: true })
    const program = readdirSync(apart).find((file) => /^program\.[cm]js$/.test(file))
    return await run(`node ${program}`, apart, variables)
  } finally {
    rmSync(apart, { recursive: true })
  }
}

const seconds = (begun: number) => (performance.now() - begun) / 1000

/** Runs all scripts of a project, one after the other. */
async function* rowsOf(project: string, tarballs: Readonly<Record<string, string>>): AsyncGenerator<Row> {
  const { installer, nodes, usual } = projects[project]!
  const row = async (
    script: string,
    told: () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>
  ): Promise<Row> => {
    const begun = performance.now()
    try {
      return { project, script, told: await told(), verdict: "ok", seconds: seconds(begun) }
    } catch (error) {
      const { message } = error as Error
      const [reason] = unavailable.exec(message) ?? []
      return reason === undefined
        ? { project, script, told: [message], verdict: "FAILS", seconds: seconds(begun) }
        : { project, script, told: [`cannot be had here (${reason})`], verdict: "skipped", seconds: seconds(begun) }
    }
  }

  let target = ""
  const installed = await row("install", async () => {
    target = await install(project, tarballs)
    return [`with ${installer}`]
  })
  yield installed
  if (installed.verdict !== "ok") return
  const manifest = read(join(target, "package.json"))
  for (const line of nodes ?? ["24"]) {
    for (const [script, command] of Object.entries(manifest.scripts)) {
      if (!values.all && usual?.includes(script) === false) continue
      yield await row(script, async () => [
        ...toolsOf(manifest, command),
        await attempt(target, script, command, executableOf(line))
      ])
    }
  }
}

/** The Node of the workspace, or another one for which a line or a minor stands: its newest patch. */
const executableOf = (line: string): string => {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath
  known ??= newest()
  return nodeOf([...known.values()].findLast((version) => version.startsWith(`${line}.`))!)
}

let known: ReadonlyMap<string, string> | undefined

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean", default: false }, from: { type: "string", default: join(root, "consumers") } }
})
const unknown = positionals.filter((name) => !(name in projects))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}: ${Object.keys(projects).join(", ")}.`)
  process.exit(1)
}
const chosen = positionals.length > 0
  ? positionals
  : Object.keys(projects).filter((name) => values.all || projects[name]?.usual?.length !== 0)

const rows: Array<Row> = []
try {
  const begun = performance.now()
  const tarballs = Object.fromEntries(
    Array.from(pack(folder), ([name, tarball]) => [`@postwire/${name}`, `file:${tarball}`])
  )
  console.log(`${"packed".padEnd(28)}${seconds(begun).toFixed(1).padStart(8)} s`)
  for (const name of chosen) {
    for await (const row of rowsOf(name, tarballs)) {
      const told = row.verdict === "FAILS" ? "FAILS" : row.told.join(", ")
      console.log(`${`${row.project}: ${row.script}`.padEnd(28)}${row.seconds.toFixed(1).padStart(8)} s  ${told}`)
      rows.push(row)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
const failures = rows.filter(({ verdict }) => verdict === "FAILS")
for (const { project, script, told } of failures) console.error(`\n${project}: ${script}\n${told.join("\n")}`)
console.log(
  ["ok", "FAILS", "skipped"].map((verdict) => `${rows.filter((row) => row.verdict === verdict).length} ${verdict}`)
    .join(", ")
)
process.exitCode = failures.length === 0 ? 0 : 1
