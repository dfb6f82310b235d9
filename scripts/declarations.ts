/** The declarations of the entries that hold Effect and the core: as those, they import neither (ADR 23). */
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { rollup } from "rollup"
import { dts } from "rollup-plugin-dts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The file of declarations that an import of one of them stands for. */
const declarationsOf = (specifier: string, importer: string): string | undefined => {
  const [, name, path = "/index"] = /^@postwire\/(\w+)(\/.+)?$/.exec(specifier) ?? []
  if (name !== undefined) return join(root, "packages", name, `dist${path}.d.ts`)
  if (specifier.startsWith(".")) return join(importer, "..", specifier.replace(/(\.d)?\.[jt]s$/, ".d.ts"))
  if (/^effect(\/|$)/.test(specifier)) return fileURLToPath(import.meta.resolve(specifier)).replace(/\.js$/, ".d.ts")
  return undefined
}

const declaration = /^(?:declare )?(?:abstract class|class|const|function|interface|let|namespace|type) ([\w$]+)/gm

/** Exports everything by a name, since declarations that the compiler makes of programs refer to any of it. */
const exportAll = (code: string, exports: ReadonlyArray<string>): string => {
  const lists = Array.from(code.matchAll(/^export (?:type )?\{ (.*) \};$/gm), ([, list]) => list!.split(", ")).flat()
  const known = new Set(lists.map((item) => item.replace(/ as .*/, "")))
  const others = new Set(Array.from(code.matchAll(declaration), ([, name]) => name!).filter((name) => !known.has(name)))
  const items = Array.from(others, (name) => exports.includes(name) ? `${name} as ${name}_` : name)
  return `${code}\nexport type { ${items.join(", ")} };\n`
}

/** Writes the declarations of modules of a package to `dist/bundled`; `Types.d.ts` has what they export. */
export const declare = async (folder: string, modules: ReadonlyArray<string>): Promise<void> => {
  const entries = modules.map((module) => join(folder, `dist/${module}.d.ts`))
  const bundle = await rollup({
    input: Object.fromEntries(modules.map((module, index) => [module, entries[index]!])),
    external: /^(node:|undici$)/,
    logLevel: "silent",
    plugins: [
      {
        name: "declarations",
        resolveId: (specifier, importer) => {
          const file = importer === undefined ? undefined : declarationsOf(specifier, importer)
          // An entry that another one exports as a namespace.
          const isEntry = file !== undefined && entries.includes(file)
          return isEntry ? { id: `./${basename(file, ".d.ts")}.js`, external: true } : file
        }
      },
      {
        name: "effect",
        // Its documentation is for programs that use it.
        transform: (code, id) => id.includes("/effect/") ? code.replace(/\/\*\*[^]*?\*\//g, "") : undefined
      },
      dts({ compilerOptions: { types: ["node"] } }),
      {
        name: "names",
        renderChunk: (code, { exports, isEntry }) => {
          // Effect has values of these names, whose new names the plugin gives the global types too.
          const own = code.replace(/(?<!const |typeof )\b(Array|PropertyKey)\$1\b/g, "globalThis.$1")
            .replace(/(?<!function )\bRecord\$1(?=<)/g, "globalThis.Record")
          return isEntry ? own : exportAll(own, exports)
        }
      }
    ]
  })
  await bundle.write({
    dir: join(folder, "dist/bundled"),
    entryFileNames: "[name].d.ts",
    chunkFileNames: "[name].d.ts",
    hoistTransitiveImports: false,
    manualChunks: (id) => entries.includes(id) ? undefined : "Types",
    minifyInternalExports: false
  })
}
