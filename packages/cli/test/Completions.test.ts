import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { Effect } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const isThere = (shell: string) => spawnSync(shell, ["--version"]).status === 0

/** What the package bash-completion has; it need not be installed here. */
const init = `
_init_completion() {
  cur=\${COMP_WORDS[COMP_CWORD]}; prev=\${COMP_WORDS[COMP_CWORD-1]}
  words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD
}`

const names = Object.entries(catalogue).flatMap(([name, { definition }]) => "live" in definition ? [] : [name]).sort()

describe("completions", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    it.effect(`for ${shell} name every operation, and are accepted where it is installed`, () =>
      Effect.gen(function*() {
        const { code, errors, output } = yield* Commands.parse("--completions", shell)
        assert.deepStrictEqual([code, errors], [0, ""])
        for (const name of names) assert.include(output, name)
        if (!isThere(shell)) return
        const file = join(yield* Commands.folder, "script")
        writeFileSync(file, output)
        const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" })
        assert.deepStrictEqual([status, stderr], [0, ""])
      }))
  }

  it.effect("of bash complete commands, operations and flags", () =>
    Effect.gen(function*() {
      if (!isThere("bash")) return
      const file = join(yield* Commands.folder, "script")
      writeFileSync(file, (yield* Commands.parse("--completions", "bash")).output)
      const complete = (...words: ReadonlyArray<string>) =>
        spawnSync("bash", [
          "-c",
          `${init}
source "$0"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_postwire postwire "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "\${COMPREPLY[@]}"`,
          file,
          ...words
        ], { encoding: "utf8" }).stdout.trim().split("\n").sort()
      assert.includeMembers(complete("postwire", ""), ["call", "counts", "doctor", "export", "plan", "sandbox"])
      assert.includeMembers(complete("postwire", "call", ""), names)
      assert.deepStrictEqual(complete("postwire", "call", "getUsersM"), ["getUsersMentions"])
      assert.deepStrictEqual(complete("postwire", "export", "getDm"), ["getDmEvents"])
      assert.deepStrictEqual(complete("postwire", "call", "getUsersMentions", "--max"), ["--max-results"])
      assert.deepStrictEqual(complete("postwire", "thread", "talk.md", "--dry"), ["--dry-run"])
      assert.deepStrictEqual(complete("postwire", "upload", "a.gif", "--for", ""), ["directMessage", "post"])
      assert.deepStrictEqual(complete("postwire", "counts", "x", "--granularity", ""), ["day", "hour", "minute"])
    }))
})

describe("docs/cli.md", () => {
  const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")
  const commands = Array.from(page.matchAll(/^\$ postwire (.*)$/gm), ([, line = ""]) => line)

  it.effect("shows commands that there are, with flags that they have", () =>
    Effect.gen(function*() {
      assert.isAbove(commands.length, 4)
      for (const line of commands) {
        const words = line.split(" ").filter((word) => /^[a-zA-Z]+$/.test(word))
        const { code, output } = yield* Commands.parse(
          ...words.slice(0, /^(call|config|export|plan) /.test(line) ? 2 : 1),
          "--help"
        )
        assert.strictEqual(code, 0, line)
        for (const [, flag = ""] of line.matchAll(/ (--[a-z-]+)/g)) assert.include(output, flag, line)
      }
    }))

  it("has transcripts of 80 columns", () => {
    for (const [, transcript = ""] of page.matchAll(/```console\n([^]*?)```/g)) {
      for (const line of transcript.split("\n")) assert.isAtMost(displayWidth(line), 80, line)
    }
  })
})
