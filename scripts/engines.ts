/**
 * Runs the installed packages on many versions of Node: `pnpm engines`, or `pnpm engines 22.19.0 26.0.0`. By default on
 * the newest patch of every minor of the lines that are supported; and on some unsupported versions, which have to be refused
 * in one line. A Node takes some seconds and 170 MB, which are removed when it is done; with `--keep` it stays in
 * `node_modules/.cache/nodes`.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { refusalOf } from "../packages/core/src/runtime/SupportedNode.ts"
import { forget, lines, newest, nodeOf, npm } from "./Nodes.ts"
import { pack } from "./pack.ts"

/** Refused versions: those of distributions, the last one before the first supported one, and an unsupported line. */
const refused = ["18.19", "20.20", "22.0", "22.18", "23.11"]

/** The modules that can be imported first. */
const entries = [
  "node",
  "node/NodeClient",
  "node/EffectClient",
  "sync",
  "sandbox",
  "sandbox/Sandbox",
  "export",
  "export/Export",
  "cluster/Worker"
]

/** Nothing takes so many milliseconds. */
const patience = 120_000

const usual = (): ReadonlyArray<string> => {
  const minors = [...newest()]
  return [
    ...minors.filter(([minor]) => refused.includes(minor)),
    ...minors.filter(([minor, version]) =>
      Object.keys(lines).includes(minor.split(".", 1)[0]!) && refusalOf(version) === undefined
    )
  ].map(([, version]) => version)
}

/** The packages in an empty project. */
const install = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-engines-"))
  const tarballs = pack(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  npm(["install", ...tarballs.values()], folder)
  return folder
}

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Starts a program; `ended` is how it ends. */
const start = (
  node: string,
  args: ReadonlyArray<string>,
  cwd: string,
  variables: Readonly<Record<string, string>> = {}
) => {
  const child = spawn(node, args, { cwd, env: { ...process.env, NO_COLOR: "1", ...variables }, timeout: patience })
  let output = ""
  let errors = ""
  child.stdout.on("data", (chunk) => (output += chunk))
  child.stderr.on("data", (chunk) => (errors += chunk))
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, output, errors })))
  return { child, ended }
}

/** The reason in one line. */
const reasonOf = ({ code, errors }: Ended): string => {
  const lines = errors.split("\n").filter((line) => line !== "" && !line.includes("Warning"))
  return `exit ${code}: ${(lines.find((line) => /Error|postwire:/.test(line)) ?? lines[0] ?? "").slice(0, 120)}`
}

const expect = (what: string, isRight: boolean, ended: Ended) => {
  if (!isRight) throw new Error(`${what}: ${reasonOf(ended)}`)
}

/** Everything that a Node has to do; fails with the reason why it does not. Returns what was done. */
const prove = async (node: string, project: string): Promise<string> => {
  const postwire = join(project, "node_modules/@postwire/cli/dist/bundled/bin/main.js")
  const out = mkdtempSync(join(project, "out-"))
  const sandbox = start(node, [postwire, "sandbox", "--port", "0", "--json"], project)
  const done: Array<string> = []
  try {
    const [ready] = await Promise.race([
      createInterface(sandbox.child.stdout)[Symbol.asyncIterator]().next().then(({ done, value }) =>
        done ? [] : [value]
      ),
      sandbox.ended.then(() => [])
    ])
    if (ready === undefined) throw new Error(`sandbox: ${reasonOf(await sandbox.ended)}`)
    const { environment } = JSON.parse(ready)
    const scenario = await start(node, ["scenario.mjs", out], project, environment).ended
    done.push(...scenario.output.trim().split("\n"))
    expect("scenario", scenario.code === 0, scenario)
    const doctor = await start(node, [postwire, "doctor"], project, environment).ended
    expect("doctor", doctor.code === 0 && doctor.errors === "", doctor)
    done.push("doctor")
  } finally {
    sandbox.child.kill("SIGTERM")
  }
  const ended = await sandbox.ended
  expect("end of the sandbox", ended.code === 130 && ended.errors === "", ended)
  done.push("sandbox")
  const demo = await start(node, [postwire, "demo", "--posts", "300", "--out", join(out, "demo")], project).ended
  expect("demo", demo.code === 0 && existsSync(join(out, "demo/effect.jsonl")), demo)
  done.push("demo")
  rmSync(out, { recursive: true })
  return done.join(", ")
}

/** An unsupported Node is refused in one line by every entry. */
const refuse = async (node: string, version: string, project: string): Promise<string> => {
  const refusal = refusalOf(version)
  for (const entry of entries) {
    writeFileSync(join(project, "entry.mjs"), `import "@postwire/${entry}"`)
    const ended = await start(node, ["entry.mjs"], project).ended
    const told = ended.errors.split("\n").filter((line) => line.includes("Error"))
    expect(entry, ended.code === 1 && told.length === 1 && told[0] === `[Error: ${refusal}]`, ended)
  }
  for (const command of ["demo", "doctor", "--version"]) {
    const ended = await start(
      node,
      [join(project, "node_modules/@postwire/cli/dist/bundled/bin/main.js"), command],
      project
    ).ended
    expect(command, ended.code === 1 && ended.output === "" && ended.errors === `${refusal}\n`, ended)
  }
  return "refused in one line"
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: "boolean", default: false } }
})
const versions = positionals.length > 0 ? positionals : usual()
const project = install()
writeFileSync(join(project, "scenario.mjs"), readFileSync(new URL("engines/scenario.mjs", import.meta.url)))
let failed = 0
for (const version of versions) {
  const begun = performance.now()
  const node = nodeOf(version)
  const [verdict, told] =
    await (refusalOf(version) === undefined ? prove(node, project) : refuse(node, version, project))
      .then((told) => ["ok", told], (error: Error) => ["FAILS", error.message])
  if (verdict !== "ok") failed++
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`${version.padEnd(10)} ${verdict?.padEnd(6)} ${seconds.padStart(6)} s  ${told}`)
  if (!values.keep) forget(version)
}
rmSync(project, { recursive: true })
console.log(`${versions.length - failed} of ${versions.length} Nodes do what they have to.`)
process.exitCode = failed === 0 ? 0 : 1
