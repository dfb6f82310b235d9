// Brings the generated documentation up to date; with --check it only tells what is not.
import { existsSync, globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { names } from "../packages/core/src/wire/Wire.ts"
import * as Blocks from "./docs/Blocks.ts"
import * as Editor from "./docs/Editor.ts"
import * as Examples from "./docs/Examples.ts"
import { openApi } from "./docs/OpenApi.ts"
import * as Packages from "./docs/Packages.ts"
import * as Reference from "./docs/Reference.ts"
import { notice, text, titleOf } from "./docs/Source.ts"

const root = new URL("..", import.meta.url)

/** The documents that people write, parts of which come from elsewhere. */
export const documents = ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md", { cwd: root }).sort()]

/** The folders in which everything is generated. */
export const folders = ["docs/reference", "docs/openapi", "examples/reference"]

const editorFile = "packages/core/src/schema/Documentation.ts"

/** Every file that is generated, as a whole or in its blocks, with its text. */
export const generated = (): ReadonlyMap<string, string> =>
  new Map([
    ...documents.map((document) => [document, Blocks.current(text(document))] as const),
    ...Examples.faces.map((face) => [face.file, Examples.file(face)] as const),
    ["examples/reference/parameters.ts", Examples.parametersFile()],
    [editorFile, Editor.module()],
    ...Packages.readmes(),
    ...names.map((wire) => [`docs/openapi/${wire}.json`, `${JSON.stringify(openApi(wire), null, 2)}\n`] as const),
    [decisionsFile, decisions()],
    ...Object.entries(Reference.pages()).map(([name, page]) => [`docs/reference/${name}`, page] as const)
  ])

const decisionsFile = "docs/adr/README.md"

const decisions = (): string => {
  const files = readdirSync(new URL("docs/adr", root)).filter((file) => file !== "README.md").sort()
  const lines = files.map((file) => `- [${titleOf(`docs/adr/${file}`)}](${file})`)
  return `<!-- ${notice} -->\n\n# Decisions\n\nWhy things are as they are, one page for each decision.\n\n${
    lines.join("\n")
  }\n`
}

/** The files that are missing, not as they are generated, or not generated any more. */
export const stale = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => [
  ...[...files].filter(([file, content]) => !present().has(file) || text(file) !== content).map(([file]) => file),
  ...[...present()].filter((file) => !files.has(file))
]

const present = (): ReadonlySet<string> =>
  new Set([
    ...documents,
    decisionsFile,
    ...[editorFile].filter((file) => existsSync(new URL(file, root))),
    ...Packages.readmes().map(([file]) => file).filter((file) => existsSync(new URL(file, root))),
    ...folders
      .filter((folder) => existsSync(new URL(folder, root)))
      .flatMap((folder) => readdirSync(new URL(folder, root)).map((file) => `${folder}/${file}`))
  ])

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = generated()
  const outdated = stale(files)
  if (process.argv.includes("--check")) {
    for (const file of outdated) console.error(`${file} is out of date`)
    if (outdated.length > 0) console.error("Run `pnpm run docs`.")
    process.exitCode = outdated.length === 0 ? 0 : 1
  } else {
    for (const folder of folders) mkdirSync(new URL(folder, root), { recursive: true })
    for (const file of outdated) {
      const content = files.get(file)
      if (content === undefined) rmSync(new URL(file, root))
      else writeFileSync(new URL(file, root), content)
    }
    console.log(`${files.size} files, ${outdated.length} changed`)
  }
}
