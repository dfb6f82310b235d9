import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { TestConsole } from "effect/testing"
import { stripVTControlCharacters } from "node:util"
import { load } from "../src/Cli.ts"
import { groups, lines } from "../src/commands/Lines.ts"
import * as Report from "../src/terminal/Report.ts"
import { hasColors, type Screen, Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"

const names = Object.keys(lines)

/** The titles of help: lines that begin at the margin. */
const titlesOf = (help: string) => help.split("\n").filter((line) => /^\S/.test(line))

describe("help", () => {
  it.effect("lists all commands by group, and loads none", () =>
    Effect.gen(function*() {
      const { output } = yield* Commands.parse("--help")
      assert.deepStrictEqual(titlesOf(output), [
        "DESCRIPTION",
        "USAGE",
        ...Object.keys(groups).map((group) => group.toUpperCase()),
        "GLOBAL FLAGS",
        "EXAMPLES"
      ])
      for (const [name, line] of Object.entries(lines)) assert.match(output, new RegExp(`^  ${name} +${line}$`, "m"))
      const listed = yield* Effect.promise(() => load(["--help"]))
      const all = listed.subcommands.flatMap(({ commands }) => commands)
      assert.deepStrictEqual(all.map(({ name }) => name), names)
      for (const { subcommands } of all) assert.deepStrictEqual(subcommands, [])
    }))

  it.effect("of a command has its own flags first and its examples last, in 80 columns", () =>
    Effect.gen(function*() {
      for (const name of names) {
        const { code, output } = yield* Commands.parse(name, "--help")
        assert.strictEqual(code, 0)
        const titles = titlesOf(output)
        const order = ["DESCRIPTION", "USAGE", "ARGUMENTS", "FLAGS", "SUBCOMMANDS", "GLOBAL FLAGS", "EXAMPLES"]
        assert.deepStrictEqual(titles, order.filter((title) => titles.includes(title)), name)
        for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
      }
    }))

  it.effect("is also a command: of all, of a command, of an operation, of a topic", () =>
    Effect.gen(function*() {
      for (
        const [asked, same] of [
          [[], ["--help"]],
          [["export"], ["export", "--help"]],
          [["call", "getUser"], ["call", "getUser", "--help"]],
          [["help"], ["help", "--help"]]
        ] as const
      ) {
        assert.deepStrictEqual(yield* Commands.parse("help", ...asked), yield* Commands.parse(...same))
      }
      for (const topic of ["credentials", "environment", "exit-codes", "settings"]) {
        const { code, errors, output } = yield* Commands.parse("help", topic)
        assert.deepStrictEqual([code, errors], [0, ""])
        assert.deepStrictEqual(titlesOf(output), [topic.replace("-", " ").toUpperCase()])
        for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
      }
      const { code, errors } = yield* Commands.parse("help", "credentails")
      assert.strictEqual(code, 1)
      assert.match(errors, /^postwire: There is no topic "credentails"\n {2}Did you mean credentials\? The topics are /)
    }))
})

describe("flags", () => {
  it.effect("of a stream are none that is required", () =>
    Effect.gen(function*() {
      const { output } = yield* Commands.parse("stream", "--help")
      assert.include(output, "--tag TAG")
      assert.notInclude(output, "(required)")
    }))
})

describe("colours", () => {
  it("are for terminals, unless the environment decides", () => {
    for (
      const [isTerminal, environment, expected] of [
        [true, {}, true],
        [false, {}, false],
        [true, { NO_COLOR: "1" }, false],
        [true, { NO_COLOR: "" }, true],
        [false, { FORCE_COLOR: "1" }, true],
        [false, { FORCE_COLOR: "0" }, false],
        [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
        [true, { FORCE_COLOR: "1", TERM: "dumb" }, false]
      ] as const
    ) {
      assert.strictEqual(hasColors(isTerminal, environment), expected, JSON.stringify(environment))
    }
  })

  const screen: Screen = { isTerminal: false, columns: 80, write: () => {} }
  const coloured = { output: { ...screen, hasColors: true }, errors: { ...screen, hasColors: true } }

  it.effect("change no column of help, and mark errors with a symbol", () =>
    Effect.gen(function*() {
      for (const args of [["--help"], ["export", "searchRecentPosts", "--help"], ["help", "environment"]]) {
        const plain = yield* Commands.parse(...args)
        const painted = yield* Effect.provideService(Commands.parse(...args), Terminal, coloured)
        assert.include(painted.output, "\u001b[1m")
        assert.strictEqual(stripVTControlCharacters(painted.output), plain.output)
      }
      const { errors } = yield* Effect.provideService(Commands.parse("help", "nothing"), Terminal, coloured)
      assert.match(errors, /^\u001b\[31m✗ postwire:\u001b\[39m There is no topic/)
    }))

  it.effect("never come from data", () =>
    Effect.gen(function*() {
      yield* Report.print(false, undefined, () => ["\u001b[31mred", "plain"], Report.withTitles)
      const printed = yield* TestConsole.logLines
      assert.deepStrictEqual(printed, ["\u001b[1m\ufffd[31mred\u001b[22m\nplain"])
    }).pipe(Effect.provideService(Terminal, coloured)))
})

layer(Sandbox.layerServer({ posts: 20 }), { excludeTestServices: true })("--quiet", (it) => {
  it.effect("omits notices, and keeps results and errors", () =>
    Effect.gen(function*() {
      const created = yield* Commands.run("call", "createPost", "--text", "Hello", "--json")
      assert.match(created.errors, /^postwire: createPost is done/)
      const quiet = yield* Commands.run("call", "createPost", "--text", "Hello again", "--json", "--quiet")
      assert.deepStrictEqual([quiet.code, quiet.errors], [0, ""])
      assert.include(quiet.output, "Hello again")
      const partial = yield* Commands.run("--quiet", "call", "getUsers", "--usernames", "ada,nobodyyy")
      assert.strictEqual(partial.code, 3)
      assert.match(partial.errors, /^postwire: Could not find user.*\npostwire: getUsers: the service reported 1 error/)
    }))
})
