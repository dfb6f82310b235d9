// Writes the texts that editors show for methods and parameters. Git ignores that file, so `pnpm check` runs this first.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { module } from "./docs/Editor.ts"

const file = new URL("../packages/core/src/schema/Documentation.ts", import.meta.url)
const text = module()
// An unchanged file keeps its time, so that the compiler does not build again.
if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text)
