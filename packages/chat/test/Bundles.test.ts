import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const ofChat = /packages\/chat\/|chat-xdk|juicebox/

/** The files that the entry of a bundle has, and those that its other files have, which are loaded later. */
const filesOf = async (program: string) => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../../${program}`, import.meta.url))],
    bundle: true,
    splitting: true,
    write: false,
    outdir: "out",
    platform: "node",
    format: "esm",
    external: ["@xdevplatform/chat-xdk", "juicebox-sdk/*"],
    metafile: true,
    logLevel: "silent"
  })
  const { outputs } = metafile
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.endsWith(program)) ?? assert.fail()
  const initial = new Set([entry])
  for (const path of initial) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && imported in outputs) initial.add(imported)
    }
  }
  const inputs = (paths: Iterable<string>) => [...paths].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
  return { first: inputs(initial), all: inputs(Object.keys(outputs)) }
}

describe("chat", () => {
  it.each(["packages/node/src/index.ts", "packages/web/src/index.ts", "packages/core/src/index.ts"])(
    "is in no bundle of %s",
    async (program) => {
      const { all } = await filesOf(program)
      assert.deepStrictEqual(all.filter((file) => ofChat.test(file)), [])
    }
  )

  it("is in a file of the command that only postwire chat loads", async () => {
    const { all, first } = await filesOf("packages/cli/src/main.ts")
    assert.deepStrictEqual(first.filter((file) => ofChat.test(file)), [])
    assert.isTrue(all.some((file) => ofChat.test(file)))
    assert.isFalse(all.some((file) => /node_modules.*(chat-xdk|juicebox)/.test(file)))
  })
})
