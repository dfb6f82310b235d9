import { assert, describe, it } from "@effect/vitest"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { range } from "../packages/core/src/runtime/SupportedNode.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const text = (file: string) => readFileSync(join(root, file), "utf8")

interface Manifest {
  readonly exports?: Readonly<Record<string, unknown>>
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> }
  readonly engines?: Readonly<Record<string, string>>
}

describe.each(readdirSync(join(root, "packages")))("the package %s", (name) => {
  const manifest: Manifest = JSON.parse(text(`packages/${name}/package.json`))

  it("hides its internal modules", () => {
    const { exports, publishConfig } = manifest
    if (exports === undefined) return
    for (const folder of globSync("**/internal", { cwd: join(root, "packages", name, "src") })) {
      assert.isNull(exports[`./${folder}/*`], folder)
      assert.isNull(publishConfig?.exports?.[`./${folder}/*`], folder)
    }
  })

  it("runs on the versions of Node that the others run on", () => {
    assert.deepStrictEqual(manifest.engines, { node: range })
  })
})

/** Lists the files below a folder that Git would keep. */
const files = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => ![".git", ".scratch", "dist", "node_modules", "out"].includes(name))
    .flatMap((entry) => entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)])

it("no file names a registry host or a path of one machine", () => {
  const local = /registry\.[a-z]|npm\.pkg\.|npm\.jsr\.|(?<![\w:/.-])\/(?:home|Users|root|work|tmp)\/\w/
  assert.deepStrictEqual(files(".").filter((file) => local.test(text(file))), [])
})
