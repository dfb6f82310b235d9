/** The configuration of hosts: which file has it, and what to put there. It holds no secret. */

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

/** The content of that file, for a command with these arguments. */
export const of = (host: Host, args: ReadonlyArray<string>): object => {
  const server = { command: "postwire", args: ["mcp", ...args] }
  return host === "vscode"
    ? { servers: { postwire: { type: "stdio", ...server } } }
    : { mcpServers: { postwire: host === "claude-code" ? { type: "stdio", ...server } : server } }
}
