/** The public interface of each package as one text, made of the declarations that the compiler emits (ADR 42). */
import ts from "@typescript/typescript6"
import { globSync, readdirSync } from "node:fs"
import { matchesGlob } from "node:path"
import {
  abridge,
  derived,
  digest,
  labelsOf,
  type Module,
  namesOf,
  type Part,
  parts,
  print,
  read,
  type Source
} from "./ApiSource.ts"
import { notice, text } from "./Source.ts"
import * as Stability from "./Stability.ts"

/** The columns of a line, and of an interface that is one line. */
const columns = { line: 160, interface: 140 }

/** The characters and occurrences above which a union is shown once, by its digest. */
const shared = { characters: 150, occurrences: 2 }

/** The steps from what programs can import within which other modules are shown. */
const nearest = 2

const root = new URL("../../", import.meta.url)

/** Breaks a text into lines. */
const fill = (line: string, indent = ""): string => {
  const lines: Array<string> = []
  let last = ""
  for (const word of line.split(" ")) {
    const longer = last === "" ? `${indent}${word}` : `${last} ${word}`
    if (last === "" || longer.length <= columns.line) last = longer
    else {
      lines.push(last)
      last = `${indent}    ${word}`
    }
  }
  return [...lines, last].join("\n")
}

/** A declaration; an interface that is not short has a line for each member. */
const declaration = (node: ts.Node, source: Source): string => {
  const mark = ts.getJSDocDeprecatedTag(ts.getOriginalNode(node)) ? "@deprecated " : ""
  const whole = `${mark}${print(node, source)}`.replace(/ \{ \}$/, "")
  if (ts.isVariableStatement(node)) {
    const { declarationList: { declarations }, modifiers } = node
    const exported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ? "export " : ""
    return declarations.map((constant) => fill(`${mark}${exported}const ${print(constant, source)}`)).join("\n")
  }
  if (!ts.isInterfaceDeclaration(node) || node.members.length === 0 || whole.length <= columns.interface) {
    return fill(whole)
  }
  const { heritageClauses, modifiers, name, typeParameters } = node
  const head = print(
    ts.factory.createInterfaceDeclaration(modifiers, name, typeParameters, heritageClauses, []),
    source
  )
  const members = node.members.map((member) => fill(print(member, source), "  "))
  return [fill(`${mark}${head.replace(/ \}$/, "")}`), ...members, "}"].join("\n")
}

const isEmpty = ({ declarations, exports }: Part): boolean => declarations.length + exports.length === 0

/** Finds what parts refer to in modules that no program can import, and what that refers to: by steps, the nearest first. */
const within = (
  sources: ReadonlyArray<Source>,
  partOf: (source: Source, statements: ReadonlyArray<ts.Statement>) => Part,
  from: ReadonlyArray<Part>
): ReadonlyArray<ReadonlyArray<Part>> => {
  const hidden = sources.filter(({ heading }) => heading === undefined)
  const seen = new Set<ts.Statement>()
  const next = (step: ReadonlyArray<Part>): ReadonlyArray<Part> => {
    const references = Map.groupBy(step.flatMap((part) => part.references), ({ path }) => path)
    return hidden.map((source) => {
      const names = new Set(references.get(source.file.fileName)?.map(({ name }) => name))
      const isMeant = (statement: ts.Statement): boolean =>
        names.has(undefined) || ts.isExportDeclaration(statement) || namesOf(statement).some((name) => names.has(name))
      const found = names.size === 0
        ? []
        : source.statements.filter((statement) => isMeant(statement) && !seen.has(statement))
      found.forEach((statement) => seen.add(statement))
      return partOf(source, found)
    }).filter((part) => !isEmpty(part))
  }
  const steps: Array<ReadonlyArray<Part>> = []
  for (let step = next(from); step.length > 0; step = next(step)) steps.push(step)
  return steps
}

/** The unions that would be repeated. */
const repeated = (from: ReadonlyArray<Part>): ReadonlySet<string> => {
  const occurrences = new Map<string, number>()
  for (const { declarations, source } of from) {
    const count = (node: ts.Node): void => {
      const union = ts.isUnionTypeNode(node) ? print(node, source) : ""
      if (union.length > shared.characters) occurrences.set(union, (occurrences.get(union) ?? 0) + 1)
      ts.forEachChild(node, count)
    }
    declarations.forEach(count)
  }
  return new Set(Array.from(occurrences).filter(([, count]) => count > shared.occurrences).map(([union]) => union))
}

/** The interface that modules of a package export. */
export const report = (modules: ReadonlyArray<Module>): string => {
  const sources = modules.map(read)
  const labels = labelsOf(sources)
  const partOf = parts(labels)
  const exported = sources.filter(({ heading }) => heading !== undefined)
    .map((source) => partOf(source, source.statements)).filter((part) => !isEmpty(part))
  const steps = within(sources, partOf, exported)
  const near = steps.slice(0, nearest).flat()
  const unions = repeated([...exported, ...near])
  const linesOf = ({ declarations, exports, source }: Part): string => {
    const { file, heading = `within ${labels.get(file.fileName)}` } = source
    const lines = [
      ...exports.length === 0 ? [] : [fill(`export { ${exports.join(", ")} }`)],
      ...declarations.map((node) => declaration(abridge(node, source, unions), source))
    ].join("\n")
    return derived.includes(file.fileName) ? `// ${heading} ${digest(lines)}` : `// ${heading}\n${lines}`
  }
  const far = Map.groupBy(steps.slice(nearest).flat(), ({ source }) => labels.get(source.file.fileName)!)
  const digests = Array.from(far, ([label, found]) => `${label} ${digest(found.map(linesOf).join())}`).sort()
  return [
    ...exported.map(linesOf),
    ...near.map(linesOf),
    ...digests.length === 0 ? [] : [fill(`// further within: ${digests.join(", ")}`)],
    ...unions.size === 0 ? [] : ["// unions"],
    ...Array.from(unions, (union) => fill(`${digest(union)} = ${union}`)).sort()
  ].join("\n")
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | null>>
}

/** The name by which programs import a module. */
const specifierOf = ({ exports = {}, name }: Manifest, file: string): string | undefined => {
  const module = `./${file.replace(/\.ts$/, "")}`
  const keys = Object.keys(exports)
  const own = keys.find((key) => exports[key] === `./src/${file}`)
  if (own !== undefined) return `${name}${own.slice(1)}`
  const [pattern] = keys.filter((key) => matchesGlob(module, key.replace("*", "**"))).sort((a, b) =>
    b.length - a.length
  )
  return pattern === undefined || exports[pattern] === null ? undefined : `${name}${module.slice(1)}`
}

const modulesOf = (folder: string, manifest: Manifest, experimental: ReadonlyArray<string>): ReadonlyArray<Module> =>
  globSync("**/*.ts", { cwd: new URL(`packages/${folder}/src`, root), exclude: ["**/*.d.ts"] }).sort().map(
    (file): Module => {
      const path = `${manifest.name}/${file.replace(/\.ts$/, "")}`
      const specifier = specifierOf(manifest, file)
      const mark = experimental.includes(path) ? " (experimental)" : ""
      const declarations = text(`packages/${folder}/dist/${file.replace(/\.ts$/, ".d.ts")}`)
      return { path, heading: specifier && `${specifier}${mark}`, declarations }
    }
  )

/** The reports of all packages that programs can import, by file. The declarations are those of the last `pnpm check`. */
export const reports = (): ReadonlyArray<readonly [file: string, text: string]> => {
  const experimental = Stability.modules()
  return readdirSync(new URL("packages", root)).sort().flatMap((folder) => {
    const manifest: Manifest = JSON.parse(text(`packages/${folder}/package.json`))
    if (manifest.exports === undefined) return []
    const mark = Stability.packages.includes(folder) ? "\n\nAll of it is experimental." : ""
    return [[
      `packages/${folder}/api.md`,
      `<!-- ${notice} -->\n\n# What ${manifest.name} exports\n\n[How to read this](../../docs/adr/0042-api-reports.md).${mark}\n\n` +
      `\`\`\`ts\n${report(modulesOf(folder, manifest, experimental))}\n\`\`\`\n`
    ]]
  })
}
