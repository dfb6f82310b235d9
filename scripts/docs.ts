// Brings the code blocks of the documentation up to date: a block under `<!-- from FILE -->` is the text of that file.
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("..", import.meta.url)

/** The documents with blocks from files. */
export const documents = ["README.md", "CONTRIBUTING.md"]

// Four backticks, because docstrings hold fences of three.
const block = /<!-- from (\S+) -->\n````ts\n[\s\S]*?````/g

/** A document with its blocks as the files are now. */
export const current = (document: string): string =>
  readFileSync(new URL(document, root), "utf8").replace(
    block,
    (_, file: string) => `<!-- from ${file} -->\n\`\`\`\`ts\n${readFileSync(new URL(file, root), "utf8")}\`\`\`\``
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const document of documents) writeFileSync(new URL(document, root), current(document))
}
