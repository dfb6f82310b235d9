import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { range } from "../packages/core/src/SupportedNode.ts"

/** How often the sources of the packages overrule the compiler. Lower a number with its casts, never raise it. */
const casts = { "as unknown as": 4, "as never": 3, "as any": 0 }
const assertions = { "consistent-type-assertions": 67, "no-non-null-assertion": 58 }

const root = fileURLToPath(new URL("..", import.meta.url))
const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}`)

describe.each([".", "bench", "examples", ...packages])("%s", (folder) => {
  const manifest = json<Manifest>(`${folder}/package.json`)

  it("is ESM under the MIT licence", () => {
    assert.strictEqual(manifest.license, "MIT")
    assert.strictEqual(manifest.type, "module")
  })
})

describe.each(packages)("%s", (folder) => {
  const manifest = json<Manifest>(`${folder}/package.json`)

  it("tells who finds it in a registry what it is, whence it comes and what changed", () => {
    assert.isAtLeast(manifest.keywords?.length ?? 0, 5)
    assert.match(manifest.description ?? "", /^[A-Z].+\.$/)
    const { homepage = "" } = manifest
    assert.match(homepage, /^https:/)
    assert.strictEqual(manifest.bugs, `${homepage}/issues`)
    assert.deepStrictEqual(manifest.repository, { type: "git", url: `git+${homepage}.git`, directory: folder })
    assert.include(text(`${folder}/CHANGELOG.md`), `# ${manifest.name}\n`)
  })

  it("hides its internal modules", () => {
    assert.isNull((manifest.exports ?? { "./internal/*": null })["./internal/*"])
  })

  it("needs the Node that all need", () => {
    assert.deepStrictEqual(manifest.engines, { node: range })
  })

  it("publishes what the workspace uses", () => {
    assert.deepStrictEqual(modules(manifest.publishConfig?.exports), built(manifest.exports))
    assert.deepStrictEqual(manifest.publishConfig?.bin, built(manifest.bin))
    // The sandbox serves its console from where it is written.
    const files = manifest.files?.filter((file) => file !== "src/console")
    assert.deepStrictEqual(files, ["dist", "CHANGELOG.md", "!dist/.tsbuildinfo"])
  })

  it("is not published by hand", () => {
    assert.deepStrictEqual(manifest.scripts, {
      prepack: "node ../../scripts/prepack.mjs",
      prepublishOnly: "node ../../scripts/prepack.mjs publish"
    })
  })

  it("refers to the projects of its dependencies", () => {
    const { references } = json<Project>(`${folder}/tsconfig.json`)
    assert.sameMembers(
      references.map(({ path }) => `@postwire/${basename(path)}`),
      Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith("@postwire/"))
    )
  })
})

it("asks pnpm for the Node that it installs", () => {
  const { node } = json<Manifest>("package.json").devDependencies ?? {}
  assert.include(text("pnpm-workspace.yaml"), `nodeVersion: ${node}\n`)
})

describe("files", () => {
  it("name no registry host and no path of one machine", () => {
    const local = /registry\.[a-z]|npm\.pkg\.|npm\.jsr\.|(?<![\w:/.-])\/(?:home|Users|root|work|tmp)\/\w/
    assert.deepStrictEqual(files(".").filter((file) => local.test(text(file))), [])
  })
})

describe("sources", () => {
  const sources = packages
    .flatMap((folder) => files(`${folder}/src`))
    .map((file) => ({ file, code: text(file).replace(/\/\*[^]*?\*\/|\/\/.*/g, "") }))

  it.each(Object.entries(casts))("cast with '%s' %i times", (cast, allowed) => {
    const found = sources.flatMap(({ code, file }) =>
      Array.from(code.matchAll(RegExp(`\\b${cast}\\b`, "g")), () => file)
    )
    assert.strictEqual(found.length, allowed, found.join("\n"))
  })

  it("assert types and values no more often than before", () => {
    const folder = mkdtempSync(join(tmpdir(), "assertions-"))
    const config = join(folder, "oxlint.json")
    // The linter counts what it is told to refuse altogether; `as const` is none.
    writeFileSync(
      config,
      JSON.stringify({
        plugins: ["typescript"],
        categories: { correctness: "off" },
        rules: {
          "typescript/consistent-type-assertions": ["error", { assertionStyle: "never" }],
          "typescript/no-non-null-assertion": "error"
        }
      })
    )
    const { stdout } = spawnSync(
      join(root, "node_modules/.bin/oxlint"),
      ["--config", config, "--disable-nested-config", "--format", "json", ...packages.map((name) => `${name}/src`)],
      { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }
    )
    rmSync(folder, { recursive: true })
    const { diagnostics }: Report = JSON.parse(stdout)
    for (const [rule, allowed] of Object.entries(assertions)) {
      const found = diagnostics.filter(({ code }) => code === `typescript(${rule})`)
      assert.isAtMost(found.length, allowed, rule)
    }
  })

  it("of the core do not ask the machine for the date", () => {
    const offenders = sources.filter(({ code, file }) =>
      file.startsWith("packages/core/") && /new Date\(\s*\)/.test(code)
    )
    assert.deepStrictEqual(offenders.map(({ file }) => file), [])
  })
})

interface Manifest {
  readonly name?: string
  readonly description?: string
  readonly keywords?: ReadonlyArray<string>
  readonly homepage?: string
  readonly bugs?: string
  readonly repository?: object
  readonly license?: string
  readonly type?: string
  readonly exports?: Entries
  readonly bin?: Entries
  readonly engines?: Readonly<Record<string, string>>
  readonly files?: ReadonlyArray<string>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, Target>>; readonly bin?: Entries }
}

interface Report {
  readonly diagnostics: ReadonlyArray<{ readonly code: string }>
}

interface Project {
  readonly references: ReadonlyArray<{ readonly path: string }>
}

type Entries = Readonly<Record<string, string | null>>

/** For bundlers the module that the compiler made, for Node one file. */
type Target = string | null | { readonly types: string; readonly module: string; readonly default: string }

/** What is published as the compiler made it. */
function modules(targets: Readonly<Record<string, Target>> | undefined): Entries | undefined {
  if (targets === undefined) return undefined
  const entries = Object.entries(targets).flatMap(([name, target]): ReadonlyArray<[string, string | null]> => {
    if (name === "./bundled/*") return []
    if (target === null || typeof target === "string") return [[name, target]]
    assert.strictEqual(target.types, target.module.replace(/\.js$/, ".d.ts"))
    assert.strictEqual(target.default, target.module.replace("./dist/", "./dist/bundled/"))
    // Others than the first are in the pattern.
    return name === "." ? [[name, target.module]] : []
  })
  return Object.fromEntries(entries)
}

function built(entries: Entries | undefined): Entries | undefined {
  if (entries === undefined) return undefined
  return Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [
      name,
      file?.replace("./src/", "./dist/").replace(/\.ts$/, ".js") ?? null
    ])
  )
}

/** The files below a folder that Git would keep. */
function files(folder: string): ReadonlyArray<string> {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => ![".git", ".scratch", "dist", "node_modules", "out"].includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? files(path) : [path]
    })
}

function json<A>(file: string): A {
  return JSON.parse(text(file))
}

function text(file: string): string {
  return readFileSync(join(root, file), "utf8")
}
