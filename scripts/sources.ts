// Writes the generated sources, which git ignores: the texts that editors show, and the examples of all operations.
// `pnpm check` runs this first.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import * as Editor from "./docs/Editor.ts"
import * as Examples from "./docs/Examples.ts"

const root = new URL("..", import.meta.url)

const write = (file: string, text: string): void => {
  const url = new URL(file, root)
  // An unchanged file keeps its time, so that the compiler does not build again.
  if (existsSync(url) && readFileSync(url, "utf8") === text) return
  mkdirSync(new URL(".", url), { recursive: true })
  writeFileSync(url, text)
}

write("packages/core/src/schema/Documentation.ts", Editor.module())
for (const style of Examples.clients) write(style.file, Examples.file(style))
write("examples/reference/parameters.ts", Examples.parametersFile())
