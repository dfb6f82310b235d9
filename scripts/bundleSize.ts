/** The size of a bundle, as guards and the bench measure it. */
import { build } from "esbuild"
import { relative } from "node:path"
import { gzipSync } from "node:zlib"

/** Bytes, minified and gzip, of the files that a program in `folder` loads as it starts. The rest it loads when it needs it. */
export const initialBytes = async (
  folder: string,
  contents: string,
  platform: "browser" | "node" = "browser"
): Promise<number> => {
  const { metafile: { outputs }, outputFiles } = await build({
    absWorkingDir: folder,
    stdin: { contents, resolveDir: folder },
    outdir: ".",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform,
    metafile: true,
    write: false,
    logLevel: "error"
  })
  const initial = new Set(Object.keys(outputs).filter((path) => outputs[path]!.entryPoint === "<stdin>"))
  for (const path of initial) {
    for (const { external, kind, path: imported } of outputs[path]!.imports) {
      if (kind === "import-statement" && external !== true) initial.add(imported)
    }
  }
  return outputFiles
    .filter(({ path }) => initial.has(relative(folder, path)))
    .reduce((sum, { contents }) => sum + gzipSync(contents).length, 0)
}
