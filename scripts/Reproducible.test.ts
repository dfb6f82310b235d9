// What a release consists of, built a second time elsewhere: in a folder of another depth, by a user with another umask, time zone
// and locale, from nothing but the files in git.
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { sha256 } from "./checksums.ts"
import { pack } from "./pack.ts"

const root = join(import.meta.dirname, "..")
const folder = mkdtempSync(join(tmpdir(), "postwire-reproducible-"))
const copy = join(folder, "a/deeper/place")

/** Runs a command in the copy. */
const elsewhere = (command: string): string =>
  execFileSync("sh", ["-c", `umask 077 && ${command}`], {
    cwd: copy,
    encoding: "utf8",
    env: {
      HOME: process.env["HOME"],
      PATH: [join(copy, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
      TZ: "Pacific/Auckland",
      LC_ALL: "C"
    }
  })

const sums = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).sort().map((file) => [file, sha256(join(folder, file))]))

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("a second build: npm run test:long", () => {
  beforeAll(() => {
    const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: root })
    for (const file of String(files).split("\0").filter(Boolean)) {
      cpSync(join(root, file), join(copy, file), { recursive: true })
    }
    elsewhere(`${join(root, "node_modules/.bin/pnpm")} install --frozen-lockfile --prefer-offline`)
  }, 300_000)

  afterAll(() => rmSync(folder, { recursive: true }))

  it("makes the same tarballs, byte for byte", () => {
    const [here, there] = ["here", "there"].map((name) => join(folder, name)) as [string, string]
    for (const each of [here, there]) mkdirSync(each)
    pack(here)
    elsewhere(`node -e 'import("./scripts/pack.ts").then(({ pack }) => pack("${there}"))'`)
    assert.deepStrictEqual(sums(there), sums(here))
  }, 600_000)
})
