/**
 * A build whose rarely used modules are files of their own. In the sources they are imported as any other; in the files that
 * Node loads, each of their functions loads its module when it is first called. All that the roots load with themselves is one
 * file, since Node takes longer for many.
 */
import * as Effect from "effect/Effect"
import { build, type BuildOptions, type BuildResult, type Metafile, type Plugin } from "esbuild"
import { writeFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Tests for a function that is nothing else: neither a class nor the key of a service. */
const isFunction = (value: unknown) =>
  typeof value === "function" && Object.keys(value).length === 0 && !/^class\b/.test(String(value))

/** The functions and Effects of a module, each of which loads it. Nothing else of it can be imported. */
const substitute = async (path: string, file: string) => {
  const exported: object = await import(pathToFileURL(path).href)
  const later = Object.entries(exported).flatMap(([name, value]) =>
    isFunction(value)
      ? [[name, `(...args) => on().${name}(...args)`]]
      : Effect.isEffect(value)
      ? [[name, `/*#__PURE__*/ suspend(() => on().${name})`]]
      : []
  )
  return [
    `import { suspend } from "effect/Effect"`,
    `import { load } from "deferred:load"`,
    `let loaded`,
    `const on = () => loaded ??= load("./${file}")`,
    // Some names are keywords.
    ...later.map(([name, value]) => `const $${name} = ${value}; export { $${name} as ${name} }`)
  ].join("\n")
}

/** Defers modules for all that is loaded with the roots. A deferred module imports others as they are. */
const deferring = (files: ReadonlyMap<string, string>, isLoaded: (importer: string) => boolean): Plugin => ({
  name: "deferring",
  setup: ({ onLoad, onResolve, resolve }) => {
    const names = [...files.keys()].map((path) => basename(path).replace(/\.[jt]s$/, ""))
    onResolve({ filter: /^deferred:load$/ }, () => ({ path: "load", namespace: "deferred", sideEffects: false }))
    onResolve({ filter: new RegExp(`\\b(${names.join("|")})(\\.[jt]s)?$`) }, async ({ path, pluginData, ...from }) => {
      if (pluginData === files || from.kind === "entry-point") return undefined
      const found = await resolve(path, { ...from, pluginData: files })
      return files.has(found.path) && isLoaded(from.importer)
        ? { path: files.get(found.path)!, namespace: "deferred", sideEffects: false, pluginData: found.path }
        : found
    })
    onLoad({ filter: /^load$/, namespace: "deferred" }, () => ({
      contents: `
        let require
        const provided = {}
        export const provide = (modules) => Object.assign(provided, modules)
        export const load = (file) =>
          provided[file] ??
            (require ??= process.getBuiltinModule("node:module").createRequire(import.meta.url))(file)
      `
    }))
    onLoad({ filter: /.*/, namespace: "deferred" }, async ({ path, pluginData }) => ({
      // Where this build finds Effect.
      resolveDir: join(root, "packages/core"),
      contents: await substitute(pluginData, path)
    }))
  }
})

interface Output {
  readonly text: string
  readonly exports: ReadonlyArray<string>
  /** The outputs that are loaded with this one. */
  readonly imports: ReadonlyArray<string>
}

type Outputs = ReadonlyMap<string, Output>

const outputsOf = ({ metafile: { outputs }, outputFiles }: BuildResult<{ metafile: true; write: false }>): Outputs =>
  new Map(
    Object.entries(outputs).map(([path, { exports, imports }]) => [basename(path), {
      text: outputFiles.find((file) => file.path.endsWith(path))!.text,
      exports,
      imports: imports.flatMap(({ kind, path }) =>
        kind === "import-statement" && path in outputs ? [basename(path)] : []
      )
    }])
  )

/** The file that each output becomes a part of: one for what a root alone loads with itself, one for what several do. */
const partsOf = (outputs: Outputs, roots: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const loading = new Map<string, Set<string>>()
  const load = (output: string, root: string) => {
    const by = loading.get(output) ?? new Set()
    loading.set(output, by)
    if (by.has(root)) return
    by.add(root)
    for (const each of outputs.get(output)!.imports) load(each, root)
  }
  for (const root of roots) load(`${root}.js`, root)
  return new Map([...loading].map(([output, by]) => [output, `${[...by].join("-")}-code.js`]))
}

/** Puts the outputs of a file together; those of other files, and those that are loaded later, stay outside. */
const merging = (outputs: Outputs, parts: ReadonlyMap<string, string>, exported: Exported): Plugin => ({
  name: "merging",
  setup: ({ onLoad, onResolve }) => {
    const isHere = (path: string, importer: string) => {
      const part = parts.get(path)
      return part !== undefined && (part === importer || part === parts.get(importer))
    }
    // Before any file is made, since each has what the others import.
    const texts = new Map(Array.from(outputs, ([path, { text }]) => [
      path,
      text.replace(
        /\{([^{}]*)\} from "\.\/([^"]+)"/g,
        (statement, names: string, from: string) =>
          !parts.has(from) || isHere(from, path)
            ? statement
            : `{${
              names.replace(/([\w$]+)( as [\w$]+)?/g, (_, name, as = ` as ${name}`) => exported.by(from, name) + as)
            }} from "./${parts.get(from)}"`
      )
    ]))
    onResolve({ filter: /^\.\// }, ({ importer, kind, path: given }) => {
      const path = basename(given)
      return kind === "entry-point" || isHere(path, importer)
        ? { path, namespace: "output" }
        : { path: `./${parts.get(path) ?? path}`, external: true }
    })
    onLoad({ filter: /.*/, namespace: "output" }, ({ path }) => {
      const own = [...parts].flatMap(([output, part]) => part === path ? [output] : [])
      return { contents: texts.get(path) ?? own.map((output) => exported.statement(output)).join("\n") }
    })
  }
})

/** What files import of outputs that became parts of others, by names that are unique in all of them. */
class Exported {
  readonly #names = new Map<string, Map<string, string>>()
  #count = 0

  /** The unique name. */
  by(output: string, name: string): string {
    const names = this.#names.get(output) ?? new Map<string, string>()
    this.#names.set(output, names)
    const unique = names.get(name) ?? `$${this.#count++}`
    names.set(name, unique)
    return unique
  }

  statement(output: string): string {
    const names = Array.from(this.#names.get(output) ?? [], ([name, unique]) => `${name} as ${unique}`)
    return `export { ${names.join(", ")} } from "./${output}"`
  }
}

/** Builds roots, and the modules that they defer, by the names of their files. Returns what went into them. */
export const buildDeferring = async (
  options: BuildOptions & { readonly absWorkingDir: string; readonly outdir: string },
  roots: Readonly<Record<string, string>>,
  deferred: Readonly<Record<string, string>>
): Promise<Metafile> => {
  const { absWorkingDir, outdir } = options
  const files = new Map(Object.entries(deferred).map(([name, path]) => [path, `${name}.js`]))
  const splitting = (entryPoints: Readonly<Record<string, string>>, isLoaded: (importer: string) => boolean) =>
    build({
      ...options,
      minifyWhitespace: false,
      entryPoints,
      splitting: true,
      chunkNames: "[name]-[hash]",
      plugins: [deferring(files, isLoaded)],
      logOverride: { "import-is-undefined": "error" },
      metafile: true,
      write: false
    })
  const { metafile: { inputs } } = await splitting(roots, () => true)
  const split = await splitting(
    { ...roots, ...deferred, load: "deferred:load" },
    (path) => relative(absWorkingDir, path) in inputs
  )
  const outputs = outputsOf(split)
  const parts = partsOf(outputs, Object.keys(roots))
  const later = [...outputs.keys()].filter((output) => !parts.has(output))
  const exported = new Exported()
  const named = Object.keys(roots).map((root) =>
    outputs.get(`${root}.js`)!.exports.map((name) => `${exported.by(`${root}.js`, name)} as ${name}`)
  )
  await build({
    ...options,
    entryPoints: [...new Set(parts.values()), ...later].map((file) => ({
      in: `./${file}`,
      out: file.replace(/\.js$/, "")
    })),
    plugins: [merging(outputs, parts, exported)]
  })
  const write = (file: string, lines: ReadonlyArray<string>) =>
    writeFileSync(join(absWorkingDir, outdir, file), lines.map((line) => `${line}\n`).join(""))
  for (const [index, root] of Object.keys(roots).entries()) {
    const output = `${root}.js`
    write(output, [`export { ${named[index]!.join(", ")} } from "./${parts.get(output)}"`])
    // A bundle has one file, or does not know where it is.
    write(`${root}.module.js`, [
      `export * from "./${output}"`,
      `import { provide } from "./load.js"`,
      ...[...files.values()].map((file, index) => `import * as $${index} from "./${file}"`),
      `provide({ ${[...files.values()].map((file, index) => `"./${file}": $${index}`).join(", ")} })`
    ])
  }
  return split.metafile
}
