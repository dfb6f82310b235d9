// After `tsc -b`: puts Effect and the core into the published Promise and blocking entries, which then load as one file.
// Their types and all other modules stay as the compiler made them.
import { build } from "esbuild"
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { minimum } from "../packages/core/src/SupportedNode.ts"

const entries = {
  node: ["index"],
  sync: ["index", "PostwireWorker"]
}

for (const [name, modules] of Object.entries(entries)) {
  const folder = fileURLToPath(new URL(`../packages/${name}`, import.meta.url))
  await build({
    absWorkingDir: folder,
    entryPoints: modules.map((module) => `src/${module}.ts`),
    outdir: "dist",
    allowOverwrite: true,
    bundle: true,
    platform: "node",
    format: "esm",
    target: `node${minimum}`,
    // Undici is loaded at the first request.
    external: ["undici"],
    // Names stay, for whoever reads a stack.
    minifySyntax: true,
    minifyWhitespace: true,
    // Node shows the line of an error that nobody catches.
    lineLimit: 160,
    legalComments: "none",
    logLevel: "warning"
  })
  // The maps of what the compiler had put there.
  for (const module of modules) rmSync(`${folder}/dist/${module}.js.map`, { force: true })
}
