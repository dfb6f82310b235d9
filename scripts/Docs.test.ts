import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { current, documents } from "./docs.ts"

const root = new URL("..", import.meta.url)

describe("documentation", () => {
  it.each(documents)("%s holds its files as they are (pnpm run docs brings it up to date)", (document) => {
    assert.strictEqual(readFileSync(new URL(document, root), "utf8"), current(document))
  })

  it("the README's programs are the examples that run in CI", () => {
    const readme = readFileSync(new URL("README.md", root), "utf8")
    const files = [...readme.matchAll(/<!-- from (\S+) -->/g)].map((match) => match[1])
    assert.deepStrictEqual(files, ["examples/promise.ts", "examples/blocking.ts", "examples/effect.ts"])
    assert.strictEqual([...readme.matchAll(/^`{3,}ts/gm)].length, files.length)
  })
})
