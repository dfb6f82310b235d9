/** Nodes of other versions, from the npm package that brings them. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { platform } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const isWindows = platform() === "win32"

const cache = fileURLToPath(new URL("../node_modules/.cache/nodes", import.meta.url))

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

/** Gives the room back that a Node takes. */
export const forget = (version: string): void => rmSync(join(cache, version), { recursive: true })
