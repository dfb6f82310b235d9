/** The parts of the interface that are not settled, as the heads of modules tag them. */
import { globSync } from "node:fs"
import { text } from "./Source.ts"

/** The packages of which every module is experimental. */
export const packages: ReadonlyArray<string> = ["archive", "chat", "cluster", "connectors", "mcp"]

const headOf = (file: string): string => /^\/\*\*[^]*?\*\//.exec(text(file))?.[0] ?? ""

/** The experimental modules of other packages, as programs import them. */
export const modules = (): ReadonlyArray<string> =>
  globSync("packages/*/src/**/*.ts", { cwd: new URL("../..", import.meta.url) })
    .filter((file) => headOf(file).includes("@stability experimental"))
    .map((file) => file.replace(/^packages\/(.*)\/src\/(.*)\.ts$/, "@postwire/$1/$2"))
    .sort()

/** The experimental packages and modules, as Markdown. */
export const list = (): string =>
  [...packages.map((name) => `@postwire/${name}`), ...modules()].map((name) => `- \`${name}\``).join("\n")
