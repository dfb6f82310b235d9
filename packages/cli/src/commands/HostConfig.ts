/** The configuration of hosts of `postwire mcp`: which file has it, and its content. It holds no secret. */
import * as Option from "effect/Option"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { isSea } from "node:sea"

/** The hosts whose configuration is known. */
export const hosts = ["claude-desktop", "claude-code", "cursor", "vscode"] as const

/** A host. */
export type Host = typeof hosts[number]

/** Its file. */
export const fileOf: Readonly<Record<Host, string>> = {
  "claude-desktop": "claude_desktop_config.json, by Settings > Developer > Edit Config",
  "claude-code": ".mcp.json in the folder of the project",
  cursor: ".cursor/mcp.json in the folder of the project, or ~/.cursor/mcp.json",
  vscode: ".vscode/mcp.json in the folder of the project"
}

/** The content of that file, for this command line. */
export const of = (host: Host, [command, ...args]: CommandLine): object => {
  const server = { command, args }
  return host === "vscode"
    ? { servers: { postwire: { type: "stdio", ...server } } }
    : { mcpServers: { postwire: host === "claude-code" ? { type: "stdio", ...server } : server } }
}

type CommandLine = readonly [command: string, ...args: ReadonlyArray<string>]

/**
 * The command line that starts `postwire` outside a terminal: by its name if it is on the path, and by npx otherwise. npx and the
 * scripts of a project add folders in `node_modules` to the path, which a host does not have.
 */
export const launcher = (path: string | undefined): CommandLine => {
  const isOnPath = (path ?? "").split(delimiter).some((folder) =>
    !folder.includes("node_modules") && ["postwire", "postwire.cmd"].some((name) => existsSync(join(folder, name)))
  )
  return isOnPath ? ["postwire"] : isSea() ? [process.execPath] : ["npx", "-y", "@postwire/cli"]
}

/** The arguments for the values of flags, whose keys are their names in camel case. Flags that are off are omitted. */
export const argsOf = (flags: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([key, value]) => {
    const given = Option.isOption(value) ? Option.getOrUndefined(value) : value
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return given === undefined || given === false ? [] : given === true ? [flag] : [flag, String(given)]
  })
