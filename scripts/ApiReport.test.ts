import { assert, describe, it } from "@effect/vitest"
import ts from "@typescript/typescript6"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { catalogue } from "../packages/core/src/Catalogue.ts"
import { report, reports } from "./docs/ApiReport.ts"

const root = new URL("..", import.meta.url)

/** The declarations that a compiler makes of sources. */
const declarationsOf = (sources: Readonly<Record<string, string>>): ReadonlyMap<string, string> => {
  const options: ts.CompilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noLib: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    types: []
  }
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    getCurrentDirectory: () => "",
    directoryExists: () => true,
    fileExists: (file) => file in sources,
    readFile: (file) => sources[file],
    getSourceFile: (file, languageVersion) =>
      sources[file] === undefined ? undefined : ts.createSourceFile(file, sources[file], languageVersion)
  }
  const declarations = new Map<string, string>()
  ts.createProgram(Object.keys(sources), options, host).emit(undefined, (file, text) => declarations.set(file, text))
  return declarations
}

const sources = {
  "p/Client.ts": `
import { type Request, type Settings } from "./internal/request.ts"
import * as Shape from "./Shape.ts"
/** Sends. */
export const send = (request: Request, times?: number) => ({ id: request.path, times })
/** Picks. */
export const pick = <K extends "a" | "b">(key: K): K => key
export interface Client {
  /** The address. */
  readonly baseUrl: string
  readonly send: (path: string, options?: Settings) => Shape.Square
  readonly close: () => void
  name: string | undefined
}
/** @deprecated Use send. */
export const sendAll = (shape: Shape.Square) => shape.side
export const plan = { name: "x", more: { ${Array.from({ length: 30 }, (_, i) => `field${i}: ${i}`).join()} } }
`,
  "p/Shape.ts": "export interface Square { readonly side: number }\nexport interface Round { readonly side: number }\n",
  "p/index.ts": "export * as Client from \"./Client.ts\"\nexport { type Square } from \"./Shape.ts\"\n",
  "p/internal/request.ts": `
import { type Limits } from "./limits.ts"
export interface Request { readonly path: string }
export interface Settings { readonly limits: Limits }
export interface Unused { readonly any: string }
`,
  "p/internal/limits.ts": `
import { type Deep } from "./deep.ts"
export interface Limits { readonly deep: Deep }
`,
  "p/internal/deep.ts": "export interface Deep { readonly depth: number }\n"
}

const reportOf = (change: readonly [from: string, to: string] = ["", ""]): ReadonlyArray<string> => {
  const changed = Object.fromEntries(Object.entries(sources).map(([file, text]) => [file, text.replace(...change)]))
  assert.isTrue(change[0] === "" || JSON.stringify(changed) !== JSON.stringify(sources), `no source has ${change[0]}`)
  return report(Array.from(declarationsOf(changed), ([file, declarations]) => {
    const path = file.replace(".d.ts", "")
    return { path, heading: path.includes("internal") ? undefined : path, declarations }
  })).split("\n")
}

describe("the report of what a package exports", () => {
  const before = reportOf()

  it("has every signature and member that programs can import, without documentation", () => {
    assert.deepStrictEqual(before.filter((line) => !line.includes("field")), [
      "// p/Shape",
      "export interface Square { side: number }",
      "export interface Round { side: number }",
      "// p/Client",
      "export const send: (request: request.Request, times?: number) => { mutable id: string; mutable times: number | undefined }",
      "export const pick: <K extends \"a\" | \"b\">(key: K) => K",
      "export interface Client {",
      "  baseUrl: string",
      "  send: (path: string, options?: request.Settings) => Shape.Square",
      "  close: () => void",
      "  mutable name: string | undefined",
      "}",
      "@deprecated export const sendAll: (shape: Shape.Square) => number",
      "// p/index",
      "export { * as Client, Shape.Square }",
      "// within request",
      "export interface Request { path: string }",
      "export interface Settings { limits: limits.Limits }",
      "// within limits",
      "export interface Limits { deep: deep.Deep }",
      "// further within: deep #d581894b"
    ])
  })

  it.each<readonly [what: string, from: string, to: string, added: ReadonlyArray<string>]>([
    [
      "an inferred return type",
      "id: request.path",
      "id: times",
      [
        "export const send: (request: request.Request, times?: number) => { mutable id: number | undefined; mutable times: number | undefined }"
      ]
    ],
    [
      "a parameter that becomes required",
      "options?: Settings",
      "options: Settings",
      ["  send: (path: string, options: request.Settings) => Shape.Square"]
    ],
    [
      "a generic constraint",
      "\"a\" | \"b\">",
      "\"a\">",
      ["export const pick: <K extends \"a\">(key: K) => K"]
    ],
    ["a member that is removed", "  readonly close: () => void\n", "", []],
    ["a member that becomes mutable", "readonly baseUrl", "baseUrl", ["  mutable baseUrl: string"]],
    ["an export that is removed", "export const pick", "const pick", []],
    [
      "another type with the same members",
      "=> Shape.Square\n",
      "=> Shape.Round\n",
      ["  send: (path: string, options?: request.Settings) => Shape.Round"]
    ],
    [
      "a name that becomes another type",
      "type Square } from",
      "type Round as Square } from",
      ["export { * as Client, Shape.Round as Square }"]
    ],
    ["a member of a long type", "field7: 7", "field7: true", ["    field29, #e57e9bab } }"]],
    [
      "what no program can import, and a signature needs",
      "readonly limits",
      "readonly limits?",
      ["export interface Settings { limits?: limits.Limits }"]
    ],
    ["what that needs in turn", "depth: number", "depth: string", ["// further within: deep #8e68d6b6"]],
    [
      "a deprecation",
      "/** Picks. */",
      "/** @deprecated Use send. */",
      ["@deprecated export const pick: <K extends \"a\" | \"b\">(key: K) => K"]
    ]
  ])("shows %s", (_, from, to, added) => {
    const after = reportOf([from, to])
    assert.deepStrictEqual(after.filter((line) => !before.includes(line)), added)
    assert.lengthOf(before.filter((line) => !after.includes(line)), 1)
  })

  it.each([
    ["documentation", "Sends", "Dispatches"],
    ["an implementation", "=> key", "=> { return key }"],
    ["what nothing refers to and no program can import", "any: string", "any: number"]
  ])("is the same after a change of %s", (_, from, to) => {
    assert.deepStrictEqual(reportOf([from, to]), before)
  })
})

describe("the reports of the packages", () => {
  const all = new Map(reports())

  it("have a page for each package that programs can import", () => {
    const packages = globSync("packages/*", { cwd: root }).filter((folder) => folder !== "packages/cli")
    assert.deepStrictEqual([...all.keys()], packages.sort().map((folder) => `${folder}/api.md`))
  })

  it("are short enough to be read, and name no folder of this machine", () => {
    const text = [...all.values()].join("")
    assert.isBelow(text.split("\n").length, 6500)
    assert.notInclude(text, fileURLToPath(root))
  })

  it.each([
    ["core", "// @postwire/core/spend/Bill (experimental)"],
    ["sandbox", "// @postwire/sandbox/vitest"]
  ])("name the modules of %s", (name, line) => {
    assert.include(all.get(`packages/${name}/api.md`)!.split("\n"), line)
  })

  it("have every operation", () => {
    const lines = all.get("packages/core/api.md")!.split("\n")
    const isOf = (name: string) => (line: string) => RegExp(`^(@deprecated )?export const ${name}: `).test(line)
    assert.deepStrictEqual(Object.keys(catalogue).filter((name) => !lines.some(isOf(name))), [])
  })

  it.each(["core/internal/redact", "export/files/Lines"])("have no page of %s, which no program can import", (path) => {
    for (const text of all.values()) assert.notInclude(text, `// @postwire/${path}\n`)
  })
})
