// Every name that a program can import. What goes missing or is called otherwise breaks somebody: docs/versions.md says what
// that means for the version. `vitest run scripts/Exports -u` writes the list anew.
import { describe, it } from "@effect/vitest"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"

const folderOf = (name: string) => fileURLToPath(new URL(`../packages/${name}`, import.meta.url))

/** Import paths, and the source of each. */
const modulesOf = (name: string): ReadonlyArray<readonly [path: string, file: string]> => {
  const folder = folderOf(name)
  const manifest: { exports?: Readonly<Record<string, string | null | Readonly<Record<string, string>>>> } = JSON.parse(
    readFileSync(`${folder}/package.json`, "utf8")
  )
  const entries = Object.entries(manifest.exports ?? {})
  const hidden = entries.flatMap(([path, target]) => target === null ? [path.replace("*", "")] : [])
  const found = new Map<string, string>()
  for (const [path, target] of entries) {
    const source = target === null || typeof target === "string" ? target : target["default"]
    if (typeof source !== "string" || !source.endsWith(".ts")) continue
    const [before, after] = source.split("*")
    for (const file of globSync(source.replace("*", "**/*"), { cwd: folder })) {
      const module = after === undefined ? path : path.replace("*", `./${file}`.slice(before?.length, -after.length))
      if (!hidden.some((start) => module.startsWith(start)) && ![...found.values()].includes(file)) {
        found.set(module, file)
      }
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1)
}

const declared =
  /^export (?:declare )?(?:abstract |async )?(const|function\*?|class|interface|type|let|enum|namespace) (\w+)/gm
const listed = /^export (type )?\{([^}]*)\}/gm
const wholly = /^export \* (?:as (\w+) )?from "([^"]+)"/gm

const namesIn = (source: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [, kind, name] of source.matchAll(declared)) {
    names.add(kind === "type" || kind === "interface" ? `type ${name}` : `${name}`)
  }
  for (const [, type, list] of source.matchAll(listed)) {
    for (const entry of (list ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "")) {
      const name = entry.split(" as ").at(-1) ?? entry
      names.add(type === undefined && !entry.startsWith("type ") ? name : `type ${name.replace("type ", "")}`)
    }
  }
  for (const [, name, from] of source.matchAll(wholly)) names.add(name ?? `* of ${from}`)
  // A class or a schema may be a type of the same name.
  return [...names].filter((name) => !names.has(name.replace("type ", "")) || !name.startsWith("type ")).sort()
}

describe("what programs import", () => {
  it.each(readdirSync(folderOf("")))("from @postwire/%s", async (name) => {
    const modules = modulesOf(name)
    const lines = modules.map(([path, file]) => {
      const names = namesIn(readFileSync(`${folderOf(name)}/${file}`, "utf8"))
      return `@postwire/${name}${path.slice(1)}\n${names.map((exported) => `  ${exported}\n`).join("")}`
    })
    await expect(lines.join("\n")).toMatchFileSnapshot(`fixtures/exports/${name}.txt`)
  })
})
