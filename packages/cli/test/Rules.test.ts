/** `postwire rules` against a sandbox, and the files that it reads. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted, Schema } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as RuleFile from "../src/streams/RuleFile.ts"
import * as Underline from "../src/terminal/Underline.ts"
import * as Commands from "./Commands.ts"

const desk = Effect.fnUntraced(function*() {
  const sandbox = yield* Sandbox.Sandbox
  sandbox.reset()
  const variables = yield* Commands.variables({
    POSTWIRE_BEARER_TOKEN: Redacted.value(sandbox.seeded.appBearerToken)
  })
  const file = join(yield* Commands.folder, "rules.txt")
  return {
    rules: (command: string, content: string, ...args: ReadonlyArray<string>) => {
      writeFileSync(file, content)
      return Effect.map(Commands.runWith(variables, "rules", command, file, ...args), (ended) => ({
        ...ended,
        errors: ended.errors.replaceAll(file, "rules.txt").replaceAll("\n  ", "\n  ")
      }))
    },
    list: Effect.map(Commands.runWith(variables, "rules", "list"), ({ output }) => output)
  }
})

layer(Sandbox.layerServer({ posts: 0 }), { excludeTestServices: true })("rules", (it) => {
  it.effect("plan tells, apply does it, and list gives the file back", () =>
    Effect.gen(function*() {
      const { list, rules } = yield* desk()
      const first = "# Pets\n[cats] (cat OR kitten)\n  has:images\ndog -is:repost\n"
      const planned = yield* rules("plan", first)
      assert.deepStrictEqual(planned.output.split("\n"), [
        "0 rules of 1,000, 2 to add, 0 to delete, 0 there already",
        "  + [cats] (cat OR kitten) has:images",
        "  + dog -is:repost"
      ])
      const applied = yield* rules("apply", first)
      assert.strictEqual(applied.output.split("\n").at(-1), "2 rules: 2 added, 0 deleted")
      assert.strictEqual(yield* list, "[cats] (cat OR kitten) has:images\ndog -is:repost")
    }))

  it.effect("apply deletes only what somebody agrees to", () =>
    Effect.gen(function*() {
      const { list, rules } = yield* desk()
      yield* rules("apply", "[a] alpha\n[b] beta\n")
      const next = "[c] alpha\ngamma\n"
      const refused = yield* rules("apply", next)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.errors, "1 of 2 rules would be deleted")
      assert.include(refused.errors, "  - [b] beta\n")
      assert.include(refused.errors, "  ~ [c] alpha (was [a])")
      const applied = yield* rules("apply", next, "--yes", "--overlap", "0")
      assert.strictEqual(applied.output.split("\n").at(-1), "2 rules: 2 added, 2 deleted")
      assert.strictEqual(yield* list, "[c] (alpha)\ngamma")
      const empty = yield* rules("apply", "# nothing\n", "--yes")
      assert.include(empty.errors, "The file has no rules, and 2 of 2 rules would be deleted")
      yield* rules("apply", "", "--yes", "--allow-empty")
      assert.strictEqual(
        (yield* rules("plan", "")).output.split("\n").at(-1),
        "0 rules, 0 to add, 0 to delete, 0 there already"
      )
    }))

  it.effect("mistakes are shown where they are in the file, all of them, and the service's too", () =>
    Effect.gen(function*() {
      const { rules } = yield* desk()
      const { code, errors } = yield* rules(
        "plan",
        "[cats] cat form:ada\n\n[pets] (cat OR dog)\n    -(snow OR day)\nhas:media\n"
      )
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(errors.split("\n"), [
        "postwire: rules.txt, line 1, character 12: form: is not an operator (did you mean from:?).",
        "  [cats] cat form:ada",
        "             ^^^^^",
        "postwire: rules.txt, line 4, character 5: A group cannot be negated: put a - before each of its parts.",
        "      -(snow OR day)",
        "      ^^^^^^^^^^^^^^",
        "postwire: rules.txt, line 5, character 1: This matches too much for a rule: combine it with a word, a user or a hashtag.",
        "  has:media",
        "  ^^^^^^^^^",
        "  Change the file, then run the same command again; nothing was changed."
      ])
      const service = yield* rules("plan", "[pets] cat\n[far] embedding:\"a cat\"\n")
      assert.match(service.errors, /rules\.txt, line 2: .*\n {2}\[far\] embedding/)
      const tagless = yield* rules("plan", "[cats]\n")
      assert.include(tagless.errors, "line 1, character 7: There is no rule after the tag.")
    }))
})

describe("files of rules", () => {
  it("know tags, comments and lines that go on", () => {
    const parsed = RuleFile.parse("# all\r\n#cats\n[ x y ] a\n\tb OR c\n\n  #\n[\"]\"] d\n[] [e\n")
    if ("problem" in parsed) return assert.fail(parsed.problem)
    assert.deepStrictEqual(parsed.map(({ tag, value }) => [tag, value]), [
      [undefined, "#cats"],
      ["x y", "a b OR c"],
      ["]", "d"],
      [undefined, "[e"]
    ])
    assert.deepStrictEqual(RuleFile.placeOf(parsed[1]!, 4), { line: 4, column: 3, text: "\tb OR c" })
  })

  it("are read in a moment, however many lines a rule has", () => {
    const parsed = RuleFile.parse("a" + "\n or".repeat(200_000))
    if ("problem" in parsed) return assert.fail(parsed.problem)
    assert.lengthOf(parsed, 1)
    assert.lengthOf(parsed[0]!.parts, 200_001)
  })

  it.each(["#", "# a", "#a", "[a] b", "[] b"])("read the rule %s that they write", (value) => {
    const parsed = RuleFile.parse(RuleFile.line({ value }))
    assert.deepStrictEqual("problem" in parsed || parsed.map(({ tag, value }) => [tag, value]), [[undefined, value]])
  })

  it.prop(
    "read what they write",
    { value: Schema.String, tag: Schema.String },
    ({ tag, value }) => {
      const rule = { value: value.replace(/\s+/g, " ").trim() || "a", tag: tag === "" ? undefined : tag }
      const parsed = RuleFile.parse(RuleFile.line(rule))
      if ("problem" in parsed) return assert.fail(parsed.problem)
      assert.deepStrictEqual(parsed.map(({ tag, value }) => ({ value, tag })), [rule])
    }
  )
})

describe("places in lines", () => {
  it.prop(
    "are marked within the columns, below what they are",
    { text: Schema.String, from: Schema.Int, length: Schema.Int, columns: Schema.Int },
    ({ columns, from, length, text }) => {
      const width = 10 + Math.abs(columns) % 80
      const start = Math.abs(from) % (text.length + 1)
      const [line, marks] = Underline.lines(text, start, start + Math.abs(length) % 9, width)
      assert.isAtMost(displayWidth(line), width)
      assert.isAtMost(displayWidth(marks), width)
      assert.match(marks, /^ *\^+$/)
    }
  )

  it("are in the middle of long lines", () => {
    const text = `${"word ".repeat(30)}form:ada ${"word ".repeat(30)}`
    const [line, marks] = Underline.lines(text, 150, 155, 60)
    assert.strictEqual(line.slice(marks.indexOf("^"), marks.length), "form:")
    assert.deepStrictEqual([displayWidth(line), line.at(0), line.at(-1)], [60, "…", "…"])
    assert.deepStrictEqual(Underline.lines("猫 form:", 2, 7, 60), ["猫 form:", "   ^^^^^"])
  })
})
