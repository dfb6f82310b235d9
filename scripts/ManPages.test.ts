import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as manPages from "./manPages.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-man-"))

beforeAll(() => manPages.write(folder, "1.2.3"))
afterAll(() => rmSync(folder, { recursive: true }))

const page = (name: string) => readFileSync(join(folder, `${name}.1`), "utf8")

describe("the man pages", () => {
  it("are those that the package has", () => {
    const { man }: { man: Array<string> } = JSON.parse(
      readFileSync(new URL("../packages/cli/package.json", import.meta.url), "utf8")
    )
    assert.sameMembers(man, readdirSync(folder).map((file) => `./dist/man/${file}`))
  })

  it("explain commands, flags and topics", () => {
    assert.include(page("postwire-upload"), ".SH NAME\npostwire\\-upload \\- Upload a file, and print its media id\n")
    assert.include(page("postwire-upload"), "\\fB\\-\\-subtitles\\fR \\fIFILE\\fR\n")
    for (const title of ["SYNOPSIS", "KEEP IN FILES", "CREDENTIALS", "ENVIRONMENT", "EXIT CODES", "SETTINGS"]) {
      assert.include(page("postwire"), `.SH ${title}\n`)
    }
  })

  it.skipIf(spawnSync("groff", ["--version"]).status !== 0)("are sound for groff", () => {
    for (const file of readdirSync(folder)) {
      const { status, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-z", join(folder, file)], {
        encoding: "utf8"
      })
      assert.deepStrictEqual([status, stderr], [0, ""], file)
    }
  })
})
