/** The classes of errors that the packages export, as their sources and the `exports` of their manifests have them. */
import { globSync, readdirSync } from "node:fs"
import { posix } from "node:path"
import { docstrings, text } from "./Source.ts"

const root = new URL("../../", import.meta.url)

/** The class of an error. */
export interface ExportedError {
  readonly tag: string
  /** The file that declares it. */
  readonly file: string
  readonly docstring: string
  /** The modules that programs import it from: the shortest of each package, that of its own first. */
  readonly modules: ReadonlyArray<string>
}

type Exports = Readonly<Record<string, string | null>>

const matches = (pattern: string, path: string): boolean =>
  pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path

/** The modules of a package that programs may import, by their files. */
export const modulesOf = (folder: string): ReadonlyMap<string, string> => {
  const { exports = {}, name }: { readonly exports?: Exports; readonly name: string } = JSON.parse(
    text(`packages/${folder}/package.json`)
  )
  const closed = Object.keys(exports).filter((key) => exports[key] === null)
  const named = new Map(Object.entries(exports).map(([key, target]) => [target, key]))
  return new Map(
    globSync("**/*.ts", { cwd: new URL(`packages/${folder}/src`, root) }).sort().flatMap((file) => {
      const path = `./${file.replace(/\.ts$/, "")}`
      const isOpen = "./*" in exports && !closed.some((pattern) => matches(pattern, path))
      const key = named.get(`./src/${file}`) ?? (isOpen ? path : undefined)
      return key === undefined ? [] : [[`packages/${folder}/src/${file}`, posix.join(name, key)] as const]
    })
  )
}

const modules = new Map(readdirSync(new URL("packages", root)).flatMap((folder) => [...modulesOf(folder)]))
const files = new Map(Array.from(modules, ([file, module]) => [module, file]))

const declared = /^export class (\w+)\s+extends (?:\/\*#__PURE__\*\/ )?(?:Data|Schema)\.TaggedError\b/gm

type Reexports = ReadonlyArray<readonly [name: string, from: string]>

const known = new Map<string, Reexports>([["", []]])

/** The names that a module exports from others, with the files that it has them from; `*` for all. */
const exportsFrom = (file: string): Reexports => {
  const found = known.get(file) ?? readExports(file)
  known.set(file, found)
  return found
}

const readExports = (file: string): Reexports => {
  const source = text(file)
  const fileOf = (from: string) => from.startsWith(".") ? posix.join(posix.dirname(file), from) : files.get(from) ?? ""
  const imported = new Map(
    Array.from(
      source.matchAll(/^import \{([^}]*)\} from "([^"]+)"/gm),
      ([, names = "", from = ""]) => names.split(",").map((name) => [name.trim(), fileOf(from)] as const)
    ).flat()
  )
  return Array.from(
    source.matchAll(/^export (?:(\*)|\{([^}]*)\})(?: from "([^"]+)")?/gm),
    ([, all, names = "", from]) =>
      (all === undefined ? names.split(",").map((name) => name.trim()) : ["*"]).map((name) =>
        [name, from === undefined ? imported.get(name) ?? "" : fileOf(from)] as const
      )
  ).flat()
}

/** Returns true if a module exports a class that a file declares, itself or from others. */
const isExportOf = (tag: string, file: string) => (module: string): boolean =>
  module === file ||
  exportsFrom(module).some(([name, from]) => (name === tag || name === "*") && isExportOf(tag, file)(from))

/** The modules by which the class of a file can be imported. */
const modulesFor = (tag: string, file: string): ReadonlyArray<string> => {
  const all = Array.from(modules).filter(([module]) => isExportOf(tag, file)(module)).map(([, module]) => module)
  const [, own] = /^packages\/(\w+)\//.exec(file) ?? []
  const packageOf = (module: string) => module.split("/")[1]!
  const shortest = Object.values(Object.groupBy(all, packageOf)).map((group = []) =>
    group.toSorted((a, b) => a.length - b.length)[0]!
  )
  return shortest.toSorted((a, b) => Number(packageOf(b) === own) - Number(packageOf(a) === own))
}

/** All classes of errors that packages export, by their names. */
export const exportedErrors = (): ReadonlyArray<ExportedError> =>
  globSync("packages/*/src/**/*.ts", { cwd: root }).sort().flatMap((file) =>
    Array.from(text(file).matchAll(declared), ([, tag = ""]) => ({
      tag,
      file,
      docstring: docstrings(file).get(tag) ?? "",
      modules: modulesFor(tag, file)
    }))
  ).filter(({ modules }) => modules.length > 0).sort((a, b) => a.tag < b.tag ? -1 : 1)
