// Brings the generated documentation up to date:
//   node scripts/docs.ts           writes the generated parts of files in git, and the files that git ignores
//   node scripts/docs.ts --check   lists the files in git that are out of date
// Both type-check first, since the reports of the packages' interfaces are made of declarations.
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { names } from "../packages/core/src/wire/Wire.ts"
import * as ApiReport from "./docs/ApiReport.ts"
import * as Bench from "./docs/Bench.ts"
import * as Blocks from "./docs/Blocks.ts"
import * as ErrorDocs from "./docs/ErrorDocs.ts"
import { openApi } from "./docs/OpenApi.ts"
import * as Packages from "./docs/Packages.ts"
import * as Proof from "./docs/Proof.ts"
import * as Reference from "./docs/Reference.ts"
import { picture } from "./docs/Rooms.ts"
import { notice, text, titleOf } from "./docs/Source.ts"

const root = new URL("..", import.meta.url)

/** The documents that people write and that have generated parts. */
export const documents = ["README.md", "CONTRIBUTING.md", ...globSync("docs/{*,tutorials/*}.md", { cwd: root }).sort()]

/** The files in git that are generated, as a whole or in part, with their text. */
export const committed = (): ReadonlyMap<string, string> =>
  new Map([
    ...documents.map((document) => [document, Blocks.current(text(document))] as const),
    ...Packages.readmes(),
    ...ApiReport.reports(),
    ["docs/adr/README.md", decisions()]
  ])

const decisions = (): string => {
  const files = readdirSync(new URL("docs/adr", root)).filter((file) => file !== "README.md").sort()
  const lines = files.map((file) => `- [${titleOf(`docs/adr/${file}`)}](${file})`)
  return `<!-- ${notice} -->\n\n# Decisions\n\nThe reasons of the design, one page per decision.\n\n${
    lines.join("\n")
  }\n`
}

/** The files in git that are missing or out of date. */
export const stale = (files: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...files].filter(([file, content]) => !existsSync(new URL(file, root)) || text(file) !== content)
    .map(([file]) => file)

/** The folders that git ignores as a whole. */
const builtFolders = ["docs/errors", "docs/reference", "docs/openapi"]

/** The files that git ignores, with their text: the reference, the pages of errors, the OpenAPI documents, the picture of the rooms and charts. */
export const built = (): ReadonlyMap<string, string> =>
  new Map([
    ["docs/pictures/rooms.svg", picture()],
    ...Bench.charts(),
    ...Proof.charts(),
    ...names.map((wire) => [`docs/openapi/${wire}.json`, `${JSON.stringify(openApi(wire), null, 2)}\n`] as const),
    ...Object.entries(ErrorDocs.pages()).map(([name, page]) => [`docs/errors/${name}`, page] as const),
    ...Object.entries(Reference.pages()).map(([name, page]) => [`docs/reference/${name}`, page] as const)
  ])

const write = (file: string, content: string): void => {
  const url = new URL(file, root)
  mkdirSync(dirname(fileURLToPath(url)), { recursive: true })
  writeFileSync(url, content)
}

/** Writes the files that git ignores and the site is built from. Returns their number. */
export const build = (): number => {
  const files = built()
  for (const folder of builtFolders) rmSync(new URL(folder, root), { recursive: true, force: true })
  for (const [file, content] of files) write(file, content)
  return files.size
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { status } = spawnSync("pnpm", ["--silent", "check"], { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(1)
  const files = committed()
  const outdated = stale(files)
  if (process.argv.includes("--check")) {
    for (const file of outdated) console.error(`${file} is out of date`)
    if (outdated.length > 0) console.error("Run `pnpm run docs`.")
    process.exitCode = outdated.length === 0 ? 0 : 1
  } else {
    for (const file of outdated) write(file, files.get(file)!)
    console.log(`${files.size} files in git, ${outdated.length} changed; ${build()} files outside git written`)
  }
}
