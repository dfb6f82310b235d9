/** The README of each package, for who finds it in a registry: what it is, how it is installed, ten lines, where to go on. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { minimum } from "../../packages/core/src/SupportedNode.ts"

const root = new URL("../../", import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), "utf8")

interface Manifest {
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The pages of the documentation that concern a package. */
const pages: Readonly<Record<string, ReadonlyArray<readonly [title: string, file: string]>>> = {
  cli: [["The command line", "docs/cli.md"], ["Exports", "docs/export.md"]],
  cluster: [["Exports on many machines", "docs/cluster.md"]],
  core: [["Effect", "docs/effect.md"], ["All operations", "docs/reference/README.md"]],
  export: [["Exports", "docs/export.md"]],
  node: [["Start", "docs/start.md"], ["Errors", "docs/errors.md"], ["All operations", "docs/reference/README.md"]],
  sandbox: [["Testing your program", "docs/testing.md"], ["The sandbox for test authors", "docs/sandbox.md"], [
    "Its console",
    "docs/console.md"
  ]],
  sync: [["Blocking calls", "docs/blocking.md"], ["All operations", "docs/reference/README.md"]],
  web: [["Where there is no Node", "docs/web.md"], ["Errors", "docs/errors.md"], [
    "All operations",
    "docs/reference/README.md"
  ]]
}

/** What a package runs on besides Node. */
const alsoOn: Readonly<Record<string, string>> = { web: "Workers, Deno, Bun, edge runtimes, browsers; " }

const exampleOf = (folder: string): string => {
  const [file, language] = [
    [`examples/packages/${folder}.ts`, "ts"],
    [`examples/packages/${folder}.test.ts`, "ts"],
    [`examples/packages/${folder}.sh`, "sh"]
  ].find(([file]) => existsSync(new URL(file!, root))) ?? []
  if (file === undefined) throw new Error(`There is no examples/packages/${folder}.ts`)
  return `\`\`\`${language}\n${read(file)}\`\`\``
}

const readme = (folder: string): string => {
  const { description, homepage, name, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest = JSON
    .parse(
      read(`packages/${folder}/package.json`)
    )
  const peers = Object.keys(peerDependencies)
  const [needed, optional] = [true, false].map((needed) =>
    peers.filter((peer) => (peerDependenciesMeta[peer]?.optional !== true) === needed)
  )
  const linked = (pages[folder] ?? []).map(([title, file]) => `- [${title}](${homepage}/blob/main/${file})`)
  return `# ${name}

${description}

\`\`\`sh
npm install ${[name, ...needed ?? []].join(" ")}
\`\`\`

${alsoOn[folder] ?? ""}Node ${minimum} or newer.${
    optional?.length ? ` Optional: ${optional.map((peer) => `\`${peer}\``).join(", ")}.` : ""
  }

${exampleOf(folder)}

${linked.join("\n")}
- [Postwire](${homepage}#readme) as a whole, and [what changed](CHANGELOG.md)

MIT licence.
`
}

/** All of them, by file. */
export const readmes = (): ReadonlyArray<readonly [file: string, text: string]> =>
  readdirSync(new URL("packages", root)).map((folder) => [`packages/${folder}/README.md`, readme(folder)])
