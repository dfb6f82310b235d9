/** Programs that tests start by the dozen, each in one file: most of what such a process does is to load. */
import { build } from "esbuild"
import { basename, dirname } from "node:path"
import { fileURLToPath } from "node:url"

/** The command in a few files, as `scripts/programs.ts` makes it before the tests. Beside the client of Redis, which it looks for. */
export const postwire = fileURLToPath(
  new URL("../../../node/node_modules/.cache/postwire/bin/main.mjs", import.meta.url)
)

/** Variables with which a bundled program finds the client of Redis, which is in no bundle. */
export const withRedisClient = {
  ...process.env,
  NODE_PATH: fileURLToPath(new URL("../../../node/node_modules", import.meta.url))
}

/** Bundles a program into a file, and beside it what the program imports later. Returns its path. */
export const bundled = async (program: URL, outfile: string): Promise<string> => {
  await build({
    entryPoints: [fileURLToPath(program)],
    outdir: dirname(outfile),
    entryNames: basename(outfile, ".mjs"),
    outExtension: { ".js": ".mjs" },
    splitting: true,
    bundle: true,
    platform: "node",
    format: "esm",
    // Users install the libraries of encrypted chat.
    external: ["@xdevplatform/chat-xdk", "juicebox-sdk/*"],
    // Of what it holds, something asks for modules of Node as CommonJS does.
    banner: {
      js: `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url)`
    },
    logLevel: "warning"
  })
  return outfile
}
