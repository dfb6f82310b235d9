// After `pnpm check`: what the packages hold beside what the compiler made (ADR 23), in `dist/bundled`:
// - the Promise and blocking entries, and the worker, with Effect and the core inside, so that Node loads them fast and nobody
//   has to install those. What uploads and publishes is a file of its own, which the first upload loads, as is what streams, and
//   what they share;
// - their declarations, likewise;
// - Undici's Agent in one file, which loads in half of the time, and Undici as a module, for programs that are bundled, since not
//   every bundler makes one of it;
// - the command with all that it needs, in files that its parts load on demand, and its man pages in `dist/man`;
// - a skill and an entry of the MCP registry, for hosts of agents, in `dist` of the server.
import { build, type BuildOptions, type Plugin } from "esbuild"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { minimum } from "../packages/core/src/runtime/SupportedNode.ts"
import * as OAuth2 from "../packages/node/src/OAuth2.ts"
import * as agentFiles from "./agentFiles.ts"
import { declare } from "./declarations.ts"
import * as manPages from "./manPages.ts"
import * as notices from "./notices.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const common = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: `node${minimum}`,
  legalComments: "none",
  logLevel: "warning",
  metafile: true
} satisfies BuildOptions

const entry = (module: string) =>
  ({
    ...common,
    outdir: "dist/bundled",
    entryPoints: [`src/${module}.ts`],
    // Undici is loaded at the first request: Node loads the real one, and a bundle gets the one below.
    external: ["#undici", "#undici/agent"],
    // Names stay, for readable stacks.
    minifySyntax: true,
    minifyWhitespace: true,
    // Node shows the line of an uncaught error.
    lineLimit: 160
  }) satisfies BuildOptions

/** Leaves out what only the worker runs: streams, and the methods that make many calls. */
const callingSide: Plugin = {
  name: "calling-side",
  setup: ({ onLoad }) => {
    onLoad({ filter: /core\/src\/(streams\/StreamRunner|promise\/internal\/workflows)\.ts$/ }, () => ({ contents: "" }))
  }
}

/** An entry that publishes. */
const publishing = (module: string) =>
  ({
    ...entry(module),
    splitting: true,
    chunkNames: `${module}-[name]-[hash]`
  }) satisfies BuildOptions

/** `require` of what Node has is a function that throws in the modules that esbuild makes. */
const builtins: Plugin = {
  name: "builtins",
  setup: ({ onLoad, onResolve }) => {
    onResolve(
      { filter: /.*/ },
      ({ kind, path }) => kind === "require-call" && isBuiltin(path) ? { path, namespace: "builtin" } : undefined
    )
    onLoad(
      { filter: /.*/, namespace: "builtin" },
      ({ path }) => ({ contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})` })
    )
  }
}

/** The Agent of a session speaks HTTP/1.1 only (ADR 6): it needs neither HTTP/2 nor Node's `node:http2`. */
const withoutHttp2: Plugin = {
  name: "without-http2",
  setup: ({ onLoad }) => void onLoad({ filter: /\/client-h2\.js$/ }, () => ({ contents: "" }))
}

const undici = (module: string, exports: Readonly<Record<string, string>>, plugins: Array<Plugin>) =>
  ({
    ...common,
    stdin: {
      contents: Object.entries(exports)
        .map(([name, path]) => `export { default as ${name} } from "undici/lib/dispatcher/${path}.js"`)
        .join("\n"),
      resolveDir: join(root, "packages/node"),
      sourcefile: "undici.js"
    },
    outfile: `dist/bundled/${module}.js`,
    plugins: [builtins, ...plugins],
    // Undici's own name for a bundle such as the one in Node: without its second, experimental parser.
    define: { esbuildDetection: "1" },
    minify: true,
    keepNames: true
  }) satisfies BuildOptions

const undicis = [
  undici("undiciAgent", { default: "agent" }, [withoutHttp2]),
  undici("undici", {
    default: "agent",
    EnvHttpProxyAgent: "env-http-proxy-agent",
    ProxyAgent: "proxy-agent"
  }, [])
]

const command = {
  ...common,
  // The sandbox finds its console two folders up, in `src/console`.
  outdir: "dist/bundled/bin",
  entryPoints: ["src/main.ts"],
  splitting: true,
  // An addon that `pg` takes where it is installed, and the libraries of encrypted chat, which users install.
  external: ["pg-native", "@xdevplatform/chat-xdk", "juicebox-sdk/*"],
  // CommonJS dependencies call require for modules of Node.
  banner: {
    js: `import{createRequire as makeRequire}from"node:module";const require=makeRequire(import.meta.url);`
  },
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160
} satisfies BuildOptions

const builds = {
  node: [publishing("index"), ...undicis],
  sync: [{ ...entry("index"), plugins: [callingSide] }, publishing("PostwireWorker"), ...undicis],
  cli: [command]
}

for (const [name, each] of Object.entries(builds)) {
  const folder = join(root, "packages", name)
  rmSync(join(folder, "dist/bundled"), { recursive: true, force: true })
  const sources = new Set<string>()
  for (const options of each) {
    const { metafile } = await build({ ...options, absWorkingDir: folder })
    for (const source of notices.sourcesIn(metafile, folder)) sources.add(source)
  }
  // Their licences ask to go where they go.
  writeFileSync(join(folder, "dist/bundled/LICENSES.txt"), notices.write([...sources].sort().map(notices.of)))
}

// By their own addresses the same as in the one file, so that no program holds two.
const aliases = {
  OAuth2: `import { OAuth2 } from "./index.js"\n\nexport const { ${Object.keys(OAuth2).join(", ")} } = OAuth2\n`,
  Webhook: `export { webhook } from "./index.js"\n`
}
for (const [name, text] of Object.entries(aliases)) {
  writeFileSync(join(root, `packages/node/dist/bundled/${name}.js`), text)
}

await declare(join(root, "packages/node"), ["index", "OAuth2", "Webhook"])
await declare(join(root, "packages/sync"), ["index"])

cpSync(join(root, "packages/sandbox/src/console"), join(root, "packages/cli/dist/src/console"), { recursive: true })

const { version }: { version: string } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"))
await manPages.write(join(root, "packages/cli/dist/man"), version)
agentFiles.write(join(root, "packages/mcp/dist"))
