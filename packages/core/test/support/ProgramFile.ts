/** Programs that tests start by the dozen, each in one file: most of what such a process does is to load. */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

/** Variables with which a bundled program finds the client of Redis, which is in no bundle. */
export const withRedisClient = {
  ...process.env,
  NODE_PATH: fileURLToPath(new URL("../../../node/node_modules", import.meta.url))
}

/** Bundles a program into a file. Returns its path. */
export const bundled = async (program: URL, outfile: string): Promise<string> => {
  await build({
    entryPoints: [fileURLToPath(program)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    // Of what it holds, something asks for modules of Node as CommonJS does.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url)` },
    logLevel: "warning"
  })
  return outfile
}
