/** What commands say while they run and when they fail, where nobody sits at a terminal. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import type * as Export from "@postwire/export/Export"
import * as Checkpoint from "@postwire/export/folders/Checkpoint"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Cause, type Duration, Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { TestClock, TestConsole } from "effect/testing"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Sqlite from "../../archive/src/copy/Sqlite.ts"
import * as Tables from "../../cluster/src/Tables.ts"
import { load } from "../src/Cli.ts"
import { Environment } from "../src/connection/Variables.ts"
import * as ClusterWatch from "../src/exporting/ClusterWatch.ts"
import * as ExportProgress from "../src/exporting/ExportProgress.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import * as Report from "../src/terminal/Report.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"

const postwire = await load(["--completions"])

/** Runs a command line that does not end by itself until it has said this. */
const untilSaid = (what: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Command.runWith(postwire, { version: "1.2.3" })(args))
    const isSaid = Effect.map(TestConsole.errorLines, (lines) => lines.some((line) => String(line).includes(what)))
    while (!(yield* isSaid) && fiber.pollUnsafe() === undefined) yield* Effect.sleep(10)
    // What comes after it would come at once.
    yield* Effect.sleep(50)
    const said = (yield* TestConsole.errorLines).map(String)
    fiber.interruptUnsafe()
    return said
  }).pipe(Effect.provide([NodeServices.layer, TestConsole.layer], { local: true }))

layer(Sandbox.layerServer({ posts: 50 }), { excludeTestServices: true })("a command", (it) => {
  it.effect("says that it waits, how long, until when and why", () =>
    Effect.gen(function*() {
      const { budget, seeded } = yield* Sandbox.Sandbox
      const file = yield* Commands.credentials(yield* Commands.variables())
      for (
        const [operation, ...args] of [
          ["getUsersFollowers", "export", "getUsersFollowers", "--id", seeded.ada.id, "--out", "-"],
          ["getMe", "call", "getMe"]
        ] as const
      ) {
        budget.leave(operation, 0)
        const said = yield* untilSaid(" waits ", ...args, "--credentials", file)
        budget.clear()
        assert.lengthOf(said, args.length > 2 ? 2 : 1)
        assert.match(
          said.at(-1)!,
          new RegExp(
            `^postwire: ${operation} waits 1\\d min \\d\\d s, until \\d\\d:\\d\\d:\\d\\d: its rate limit is exhausted\\.$`
          )
        )
      }
    }).pipe(Effect.scoped))

  it.effect("advises the very variables that are wrong, and where they are", () =>
    Effect.gen(function*() {
      const all = yield* Commands.variables()
      const cases: ReadonlyArray<
        readonly [Readonly<Record<string, string | undefined>>, ReadonlyArray<string>, RegExp]
      > = [
        [
          { POSTWIRE_BEARER_TOKEN: "wrong" },
          ["getMe", "--no-user-auth"],
          /\n {2}Check POSTWIRE_BEARER_TOKEN in FILE; /
        ],
        [
          { POSTWIRE_ACCESS_TOKEN: "1-wrong" },
          ["getMe", "--user-auth"],
          /\n {2}Check POSTWIRE_CONSUMER_KEY, POSTWIRE_CONSUMER_SECRET, POSTWIRE_ACCESS_TOKEN, POSTWIRE_ACCESS_TOKEN_SECRET in FILE; /
        ],
        [
          { POSTWIRE_BEARER_TOKEN: undefined },
          ["searchRecentPosts", "--query", "a"],
          /No token: \w+ needs a bearer token\.\n {2}Set POSTWIRE_BEARER_TOKEN in FILE\.$/
        ],
        [
          { POSTWIRE_APP_BEARER_TOKEN: undefined },
          ["getStreamRules"],
          /\(403\)[^]* accepts the bearer token of an app only\.\n {2}Set POSTWIRE_APP_BEARER_TOKEN to the app's bearer token\.$/
        ],
        [
          { POSTWIRE_APP_BEARER_TOKEN: undefined, POSTWIRE_BEARER_TOKEN: undefined },
          ["getStreamRules"],
          /No token of an app: \w+ needs its bearer token\.\n {2}Set POSTWIRE_APP_BEARER_TOKEN to the app's bearer token\.$/
        ],
        [
          { POSTWIRE_APP_BEARER_TOKEN: "wrong" },
          ["getStreamRules"],
          /\n {2}Check POSTWIRE_APP_BEARER_TOKEN, POSTWIRE_BEARER_TOKEN in FILE; /
        ],
        [{ POSTWIRE_BASE_URL: "ftp://x" }, ["getMe"], /\n {2}Set POSTWIRE_BASE_URL in FILE\.$/]
      ]
      for (const [replaced, args, expected] of cases) {
        const { code, errors } = yield* Commands.runWith({ ...all, ...replaced }, "call", ...args)
        assert.strictEqual(code, 1)
        assert.match(errors.replaceAll(/\S+\/credentials/g, "FILE"), expected)
      }
    }).pipe(Effect.scoped))
})

layer(Sandbox.layerServer({ posts: 20 }), { excludeTestServices: true })("a mistake", (it) => {
  it.effect("is told in the words of the command", () =>
    Effect.gen(function*() {
      const { POSTWIRE_BASE_URL: baseUrl } = yield* Commands.variables()
      const there = { POSTWIRE_BASE_URL: baseUrl }
      const cases: ReadonlyArray<[Readonly<Record<string, string | undefined>>, ReadonlyArray<string>, string]> = [
        [
          {},
          ["getMe"],
          "No service: POSTWIRE_BASE_URL is not set.\n" +
          "  For X itself: postwire config set wire x. For a local one: postwire sandbox. For another: set it."
        ],
        [
          { POSTWIRE_BASE_URL: "http://example.com" },
          ["getMe"],
          "POSTWIRE_BASE_URL must be https: except on this machine.\n  Set POSTWIRE_BASE_URL."
        ],
        [
          there,
          ["searchRecentPosts", "--query", "x"],
          "No token: searchRecentPosts needs a bearer token.\n  Run postwire login, or set POSTWIRE_BEARER_TOKEN."
        ],
        [
          there,
          ["getMe"],
          "No token of a user: getMe needs OAuth 1.0a.\n  Run postwire login, or set POSTWIRE_CONSUMER_KEY, " +
          "POSTWIRE_CONSUMER_SECRET, POSTWIRE_ACCESS_TOKEN, POSTWIRE_ACCESS_TOKEN_SECRET. With a user's bearer token, " +
          "pass --no-user-auth."
        ],
        [
          { ...there, POSTWIRE_BEARER_TOKEN: "wrong" },
          ["getMe", "--no-user-auth"],
          "getMe: the service does not accept the bearer token (401): Unauthorized. Check it; the operation accepts " +
          "OAuth 1.0a (--user-auth) and a bearer token of a user (--no-user-auth).\n" +
          "  Check POSTWIRE_BEARER_TOKEN; postwire doctor shows more."
        ],
        [
          there,
          ["getUser"],
          "getUser accepts exactly one of --id and --username, but neither was given.\n  Pass exactly one of them."
        ],
        [
          there,
          ["searchRecentPosts", "--query", "x", "--max-results", "1"],
          "searchRecentPosts: --max-results must be a whole number from 10 to 100. Got 1.\n" +
          "  Correct it; --help lists every flag with its rule."
        ],
        [
          there,
          ["getMe", "--credentials", "/nonexistent/credentials"],
          "/nonexistent/credentials: there is no such file\n  Name a file that exists and that you may read."
        ],
        [
          { POSTWIRE_BASE_URL: `${baseUrl}/absent`, POSTWIRE_BEARER_TOKEN: "any" },
          ["getPost", "--id", "1"],
          "getPost: not found (404): There is no such operation.\n  Check POSTWIRE_BASE_URL."
        ]
      ]
      for (const [variables, args, expected] of cases) {
        const { code, errors } = yield* Effect.provideService(Commands.parse("call", ...args), Environment, {
          POSTWIRE_SPEND_STORE: ":memory:",
          ...variables
        })
        assert.deepStrictEqual([code, errors], [1, `postwire: ${expected}`])
      }
      const early = yield* Commands.parse("--account", "ada", "call", "getMe")
      assert.match(
        early.errors,
        /\n {2}The flags of a command come after its name\. postwire --help lists all commands\.$/
      )
    }))
})

describe("on a terminal", () => {
  it.effect("what is said takes the place of the progress bar, and fits", () =>
    Effect.gen(function*() {
      const errors = { isTerminal: true, columns: 40, write: () => {} }
      yield* Effect.gen(function*() {
        yield* Report.say(
          "The database does not answer; it is waited for \u001b[2J, for as long as that takes.",
          "Look."
        )
        yield* ErrorReport.report(Cause.fail(new Error("no answer")), false)
      }).pipe(Effect.provideService(Terminal, { output: errors, errors }))
      const [notice, failure] = yield* TestConsole.errorLines
      const [start, ...lines] = String(notice).split("\u001b[K")
      assert.deepStrictEqual([start, lines.join("").split("\n")], ["\r", [
        "postwire: The database does not",
        "  answer; it is waited for \ufffd[2J, for as",
        "  long as that takes.",
        "  Look."
      ]])
      assert.strictEqual(failure, "\r\u001b[Kpostwire: no answer")
    }))
})

describe("an export to standard output", () => {
  it.live("tells partial errors on standard error, the first ten of them, and says that they are there", () =>
    Effect.gen(function*() {
      const errors = Array.from(
        { length: 8 },
        (_, i) => ({ title: "Not Found", detail: `No user ${i}.`, value: `${i}` })
      )
      const { baseUrl } = yield* Commands.serve((request, response) => {
        const isFirst = !request.url?.includes("pagination_token")
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          JSON.stringify({ data: [], errors, meta: { result_count: 0, ...isFirst ? { next_token: "b" } : {} } })
        )
      })
      const variables = { POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: "x" }
      const ended = yield* Commands.runWith(variables, ..."export getUsersFollowers --id 1 --out -".split(" "))
      const lines = ended.errors.split("\n")
      assert.strictEqual(lines.shift(), "postwire: Each user costs up to $0.01; --max-spend sets a limit.")
      assert.deepStrictEqual([ended.code, lines.length], [3, 13], ended.errors)
      assert.strictEqual(lines[0], "postwire: No user 0.")
      assert.strictEqual(lines[10], "postwire: and 6 more")
      assert.deepStrictEqual(lines.slice(11), [
        "postwire: getUsersFollowers: the service reported 16 errors for parts of the request",
        "  They are above; everything else is complete."
      ])
    }).pipe(Effect.scoped))

  it.live("is not advised to resume", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Commands.serve((_, response) => response.writeHead(200).end("<html>"))
      const file = yield* Commands.credentials({ POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: "x" })
      const to = (out: string) =>
        Commands.parse("export", "getUsersFollowers", "--id", "1", "--out", out, "--credentials", file)
      assert.notInclude((yield* to("-")).errors, "--resume")
      assert.include((yield* to(join(file, "..", "a.jsonl"))).errors, "--resume")
    }).pipe(Effect.scoped))
})

describe("the address of a cluster", () => {
  it.effect("that is wrong is refused with advice, and a file that is not there is not made", () =>
    Effect.gen(function*() {
      const wrong = yield* Commands.parse("status", "--cluster", "foo")
      assert.strictEqual(
        wrong.errors,
        "postwire: cluster must be postgres://user@host/database, or sqlite:FILE for this machine alone.\n" +
          "  Correct --cluster, or POSTWIRE_CLUSTER_URL if the address is there."
      )
      const file = join(yield* Commands.folder, "none.sqlite")
      const missing = yield* Commands.parse("status", "--cluster", `sqlite:${file}`)
      assert.deepStrictEqual([missing.code, existsSync(file)], [1, false])
      assert.match(missing.errors, /^postwire: .*none\.sqlite: there is no such file\n {2}Name the file of an export; /)
    }).pipe(Effect.scoped))
})

describe("an export of a cluster", () => {
  const query = { operation: "searchRecentPosts", parameters: { query: "a" }, credentials: "default", label: "" }

  it.effect("says when there is no worker, and when nothing comes, but not all the time", () =>
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const { id } = yield* tables.add(query, 1)
      let workers: ReadonlyArray<string> = []
      yield* Effect.forkChild(ClusterWatch.watch(tables, id, Effect.sync(() => workers)))
      const saidAfter = Effect.fnUntraced(function*(duration: Duration.Input) {
        const before = (yield* TestConsole.errorLines).length
        yield* TestClock.adjust(duration)
        return (yield* TestConsole.errorLines).slice(before).map((line) => String(line).split("\n")[0])
      })
      assert.deepStrictEqual(yield* saidAfter("2 seconds"), [])
      assert.deepStrictEqual(yield* saidAfter("2 seconds"), [`postwire: The export ${id} waits for a worker.`])
      assert.deepStrictEqual(yield* saidAfter("4 minutes"), [])
      assert.lengthOf(yield* saidAfter("2 minutes"), 1)
      workers = ["a"]
      const [quiet, ...more] = yield* saidAfter("4 minutes")
      assert.match(quiet ?? "", /The export \w+ got no page for a minute/)
      assert.deepStrictEqual(more, [])
      yield* tables.plan(id, [undefined])
      yield* tables.begin({ export: id, part: 0 }, "a")
      yield* tables.note({ export: id, part: 0 }, 0, "searchRecentPosts: the service failed (503)", "running")
      assert.deepStrictEqual(yield* saidAfter("1 second"), [
        "postwire: Retrying: searchRecentPosts: the service failed (503)"
      ])
    }).pipe(Effect.provide(Tables.layer.pipe(Layer.provide(Sqlite.layer({ path: ":memory:" }))))))
})

describe("what takes long", () => {
  const summary = (complete: boolean): Export.Report => ({
    progress: { ...Checkpoint.start("2026-01-31T12:00:00Z"), complete, items: 1, pages: 1 },
    pageItems: 1,
    problems: [],
    rateLimit: undefined
  })
  const flags = { out: "a.parquet", limit: Option.none(), partitions: Option.none(), resume: true }
  const saidAfter = (duration: Duration.Input) =>
    Effect.andThen(TestClock.adjust(duration), Effect.map(TestConsole.errorLines, (lines) => lines.length))

  it.effect("before the first page and after the last one is named, once", () =>
    Effect.gen(function*() {
      const { end, onPage, onStart } = yield* ExportProgress.progressOf(flags, "posts", () => Option.none())
      assert.strictEqual(yield* saidAfter("4 seconds"), 0)
      assert.strictEqual(yield* saidAfter("1 hour"), 1)
      yield* onStart
      yield* onPage(summary(false))
      yield* saidAfter("1 hour")
      yield* onPage(summary(true))
      yield* saidAfter("10 seconds")
      yield* end({ status: "done", progress: summary(true).progress, files: [] })
      assert.deepStrictEqual(
        (yield* TestConsole.errorLines).filter((line) => !String(line).includes("posts/s")),
        [
          "postwire: Reading and verifying the existing part of a.parquet.",
          "postwire: All pages are fetched; writing a.parquet."
        ]
      )
    }).pipe(Effect.scoped))

  it.effect("counts rows against the estimate, and items against the limit", () =>
    Effect.gen(function*() {
      const drawn: Array<string> = []
      const screen = { columns: 80, isTerminal: true, write: (text: string) => void drawn.push(text) }
      const estimate = Option.some({ items: 4, pageSize: 1, limits: { requests: 100, from: "usual" as const } })
      const limited = { ...flags, resume: false, limit: Option.some(100) }
      const { onPage } = yield* Effect.provideService(
        ExportProgress.progressOf(limited, "posts", () => estimate),
        Terminal,
        { output: screen, errors: screen }
      )
      for (const [items, rows, shown] of [[10, 1, " 25% "], [80, 2, " 80% "]] as const) {
        const { progress, ...rest } = summary(false)
        yield* TestClock.adjust("1 second")
        yield* onPage({ ...rest, progress: { ...progress, items, outcomes: { done: rows } } })
        assert.include(drawn.at(-1), shown)
      }
    }).pipe(Effect.scoped))

  it.effect("is not named when it is short", () =>
    Effect.gen(function*() {
      const { end, onPage, onStart } = yield* ExportProgress.progressOf(flags, "posts", () => Option.none())
      yield* onStart
      yield* onPage(summary(true))
      yield* end({ status: "done", progress: summary(true).progress, files: [] })
      assert.strictEqual(yield* saidAfter("10 seconds"), 0)
    }).pipe(Effect.scoped))
})
