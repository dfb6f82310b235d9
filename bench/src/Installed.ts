/** The packages as they are installed from their tarballs, beside those of other projects. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire, findPackageJSON } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

/** The packages of ours that are measured. */
const ours: ReadonlyArray<string> = ["cli", "core", "node", "sync", "web"]

const peers = { "twitter-api-v2": "1.29.1", openai: "7.57.0" }

const run = async (cwd: string, command: string, ...args: ReadonlyArray<string>): Promise<void> => {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] })
  const [code] = await once(child, "exit")
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed`)
}

const make = async (checkout: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-installed-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  // A process of its own: packing blocks its thread for half a minute.
  const packing = `
    import { pack } from ${JSON.stringify(pathToFileURL(join(checkout, "scripts/pack.ts")).href)}
    import { writeFileSync } from "node:fs"
    writeFileSync("tarballs.json", JSON.stringify([...pack(${JSON.stringify(folder)})]))
  `
  await run(folder, process.execPath, "--input-type=module", "-e", packing)
  const tarballs: ReadonlyArray<readonly [name: string, file: string]> = JSON.parse(
    readFileSync(join(folder, "tarballs.json"), "utf8")
  )
  const files = (isOurs: boolean) =>
    Object.fromEntries(
      tarballs.filter(([name]) => ours.includes(name) === isOurs)
        .map(([name, file]) => [`@postwire/${name}`, pathToFileURL(file).href])
    )
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ type: "module", dependencies: { ...files(true), ...peers }, overrides: files(false) })
  )
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"]
  await run(folder, "npm", "install", ...quiet)
  return folder
}

const made = new Map<string, Promise<string>>()

/** A folder that has installed the packages of a checkout, made once in a run. */
export const folderOf = (checkout: string): Promise<string> => {
  const folder = made.get(checkout) ?? make(checkout)
  made.set(checkout, folder)
  return folder
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    // A nested package is counted as what needs it finds it.
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + bytesBelow(path)
    const { blocks, size } = statSync(path)
    // Windows has no blocks.
    return sum + (blocks === undefined ? size : blocks * 512)
  }, 0)

/** The bytes on the disk of a package and of all that an installation brings with it. */
export const sizeOf = (folder: string, name: string): number => {
  const seen = new Map<string, number>()
  const visit = (name: string, from: string): void => {
    const manifest = findPackageJSON(name, pathToFileURL(from))
    if (manifest === undefined || seen.has(manifest)) return
    seen.set(manifest, bytesBelow(dirname(manifest)))
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = createRequire(manifest)(manifest)
    const needed = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const next of [...Object.keys(dependencies), ...needed]) visit(next, manifest)
  }
  visit(name, join(folder, "package.json"))
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0)
}
