/** The README of each package, for readers in a registry: description, installation, an example, links. */
import { existsSync, readdirSync } from "node:fs"
import { minimum } from "../../packages/core/src/runtime/SupportedNode.ts"
import { text, titleOf } from "./Source.ts"
import * as Stability from "./Stability.ts"

const root = new URL("../../", import.meta.url)

interface Manifest {
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The pages of the documentation that concern a package. */
const pages: Readonly<Record<string, ReadonlyArray<string>>> = {
  archive: ["docs/archive.md", "docs/export.md"],
  chat: ["docs/chat.md", "docs/cli.md"],
  cli: ["docs/cli.md", "docs/export.md"],
  cluster: ["docs/cluster.md"],
  connectors: ["docs/connectors.md", "docs/archive.md"],
  core: ["docs/effect.md", "docs/client.md"],
  export: ["docs/export.md"],
  mcp: ["docs/agents.md", "docs/prompt-injection.md", "docs/cli.md"],
  node: ["docs/start.md", "docs/errors.md", "docs/client.md"],
  sandbox: ["docs/testing.md", "docs/sandbox.md", "docs/console.md"],
  sync: ["docs/blocking.md", "docs/client.md"],
  web: ["docs/web.md", "docs/errors.md", "docs/client.md"]
}

/** The platforms of a package besides Node. */
const alsoOn: Readonly<Record<string, string>> = { web: "Workers, Deno, Bun, edge runtimes, browsers; " }

const exampleOf = (folder: string): string => {
  const [file, language] = [
    [`examples/packages/${folder}.ts`, "ts"],
    [`examples/packages/${folder}.test.ts`, "ts"],
    [`examples/packages/${folder}.sh`, "sh"]
  ].find(([file]) => existsSync(new URL(file!, root))) ?? []
  if (file === undefined) throw new Error(`There is no examples/packages/${folder}.ts`)
  return `\`\`\`${language}\n${text(file)}\`\`\``
}

const readme = (folder: string): string => {
  const { description, homepage, name, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest = JSON
    .parse(
      text(`packages/${folder}/package.json`)
    )
  const peers = Object.keys(peerDependencies)
  const [needed, optional] = [true, false].map((needed) =>
    peers.filter((peer) => (peerDependenciesMeta[peer]?.optional !== true) === needed)
  )
  const linked = (pages[folder] ?? []).map((file) => `- [${titleOf(file)}](${homepage}/blob/main/${file})`)
  return `# ${name}

${description}

\`\`\`sh
npm install ${[name, ...needed ?? []].join(" ")}
\`\`\`

${alsoOn[folder] ?? ""}Node ${minimum} or newer.${
    optional?.length ? ` Optional: ${optional.map((peer) => `\`${peer}\``).join(", ")}.` : ""
  }

${exampleOf(folder)}

${
    Stability.packages.includes(folder)
      ? `**Experimental:** a minor version may change it ([versions](${homepage}/blob/main/docs/versions.md)).\n\n`
      : ""
  }${linked.join("\n")}
- [Postwire](${homepage}#readme) as a whole, and [what changed](CHANGELOG.md)

MIT licence.
`
}

/** All of them, by file. */
export const readmes = (): ReadonlyArray<readonly [file: string, text: string]> =>
  readdirSync(new URL("packages", root)).map((folder) => [`packages/${folder}/README.md`, readme(folder)])
