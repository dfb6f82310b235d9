/** Nodes of other versions, from the npm package that brings them. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { platform } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const isWindows = platform() === "win32"

const cache = fileURLToPath(new URL("../node_modules/.cache/nodes", import.meta.url))

/** The Node of the executables: the first line whose single executables may be modules. */
export const executableNode = "26.10.0"

/** The supported lines of Node, with the ends of their lives in Node's release schedule. */
export const lines = { 22: "2027-04-30", 24: "2028-04-30", 26: "2029-04-30" }

/** Runs npm; what it prints. */
export const npm = (args: ReadonlyArray<string>, cwd: string): string =>
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], {
    cwd,
    encoding: "utf8",
    // A script there, which only a shell can run.
    shell: isWindows
  })

/** The newest patch of every minor that there is, oldest first. */
export const newest = (): ReadonlyMap<string, string> => {
  const versions: ReadonlyArray<string> = JSON.parse(npm(["view", "node", "versions", "--json"], import.meta.dirname))
  const stable = versions.filter((version) => /^\d+\.\d+\.\d+$/.test(version))
  return new Map(
    stable
      .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
      .map((version) => [version.split(".", 2).join("."), version])
  )
}

/** The executable of a Node, which is fetched if it is not there. */
export const nodeOf = (version: string): string => {
  const folder = join(cache, version)
  const executable = join(folder, "node_modules/node/bin", isWindows ? "node.exe" : "node")
  if (!existsSync(executable)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }))
    npm(["install", `node@${version}`], folder)
  }
  return executable
}

/** The licence of a Node, which is fetched if it is not there. */
export const licenceOf = (version: string): string => {
  const [file] = globSync(join(dirname(nodeOf(version)), "../node_modules/node-*/LICENSE"))
  return readFileSync(file!, "utf8")
}

/** Gives the room back that a Node takes. */
export const forget = (version: string): void => rmSync(join(cache, version), { recursive: true })
