// One file that is the whole command, its sandbox and Node itself, for people who have none: out/executable/postwire-<system>.
//   npm run executable
// Built by Node's own `--build-sea`, then tried in an empty folder without any environment.
import { build } from "esbuild"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { arch, platform, tmpdir } from "node:os"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { executableNode, nodeOf } from "./Nodes.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const cache = join(root, "node_modules/.cache/executable")
const windows = platform() === "win32"
const output = join(root, "out/executable", `postwire-${platform()}-${arch()}${windows ? ".exe" : ""}`)

const run = (command: string, args: ReadonlyArray<string>, options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { encoding: "utf8", ...options })
  if (status === 0) return stdout
  throw new Error(`${[basename(command), ...args].join(" ")}: ${error?.message ?? `${stdout}${stderr}`.slice(-2_000)}`)
}

const make = async (node: string) => {
  mkdirSync(cache, { recursive: true })
  const main = join(cache, "postwire.mjs")
  await build({
    absWorkingDir: root,
    entryPoints: ["packages/cli/src/main.ts"],
    outfile: main,
    bundle: true,
    platform: "node",
    format: "esm",
    target: `node${executableNode}`,
    minifySyntax: true,
    minifyWhitespace: true,
    // An addon that `pg` takes where it is installed, and the libraries of encrypted chat, which users install.
    external: ["pg-native", "@xdevplatform/chat-xdk", "juicebox-sdk/*"],
    // CommonJS dependencies call require for modules of Node.
    banner: {
      js: `import{createRequire as makeRequire}from"node:module";const require=makeRequire(import.meta.url);`
    },
    logLevel: "error"
  })
  const config = join(cache, "sea.json")
  const page = globSync(join(root, "packages/sandbox/src/console/*.{html,css,mjs}"))
  writeFileSync(
    config,
    JSON.stringify({
      // As the file keeps it: the folder of the build must not be in it.
      main: basename(main),
      mainFormat: "module",
      output,
      disableExperimentalSEAWarning: true,
      assets: Object.fromEntries(page.map((file) => [`console/${basename(file)}`, file]))
    })
  )
  mkdirSync(join(root, "out/executable"), { recursive: true })
  run(node, ["--build-sea", config], { cwd: cache })
  // Unsigned programs do not start there.
  if (platform() === "darwin") run("codesign", ["--sign", "-", "--force", output])
}

/** The file in an empty folder, without Node on the path: a service, its console, a call, an export that is resumed. */
const attempt = async () => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-executable-"))
  const env = { HOME: folder, PATH: windows ? process.env["PATH"] : "/nowhere" }
  const postwire = (...args: ReadonlyArray<string>) => run(output, args, { cwd: folder, env })
  console.log(postwire("--version").trim())
  const service = spawn(output, ["sandbox", "--port", "0", "--json", "--posts", "500"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"]
  })
  try {
    const [line] = await once(createInterface(service.stdout), "line")
    const { baseUrl, environment }: { baseUrl: string; environment: Readonly<Record<string, string>> } = JSON.parse(
      String(line)
    )
    const page = await fetch(`${baseUrl}/console`)
    if (!page.ok || !(await page.text()).includes("<html")) throw new Error("the console has no page")
    Object.assign(env, environment)
    if (!postwire("mcp", "--print-config", "cursor").includes(JSON.stringify(output))) {
      throw new Error("the configuration of a host does not name the file")
    }
    console.log(`call getUser: ${postwire("call", "getUser", "--username", "ada").trim().split("\n").length} lines`)
    for (const out of ["posts.jsonl", "posts.parquet", "posts.sqlite"]) {
      postwire("export", "searchRecentPosts", "--query", "effect", "--out", out)
      console.log(`export to ${out}: ${statSync(join(folder, out)).size} bytes`)
    }
  } finally {
    service.kill()
    if (service.exitCode === null) await once(service, "exit")
    rmSync(folder, { recursive: true, force: true })
  }
}

console.error(`Getting Node ${executableNode} ...`)
const node = nodeOf(executableNode)
await make(node)
console.log(
  `${output.slice(root.length)}: ${(statSync(output).size / 1e6).toFixed(0)} MB, of which Node ${
    (statSync(node).size / 1e6).toFixed(0)
  } MB and the command ${(readFileSync(join(cache, "postwire.mjs")).length / 1e6).toFixed(1)} MB`
)
await attempt()
