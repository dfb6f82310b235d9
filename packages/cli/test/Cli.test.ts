import { assert, describe, expect, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import { catalogue } from "@postwire/core/Catalogue"
import * as Client from "@postwire/core/client/Client"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { minimum } from "@postwire/core/runtime/SupportedNode"
import { createClient, fromEnvironment } from "@postwire/node"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Stream } from "effect"
import { type ChildProcess, spawnSync } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { postwire } from "../../core/test/support/ProgramFile.ts"
import { load } from "../src/Cli.ts"
import { shown } from "../src/commands/Demo.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"
import * as Processes from "./support/Processes.ts"

const { folder } = Commands

const start = (args: ReadonlyArray<string>, variables: NodeJS.ProcessEnv = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => Processes.start(args, { ...process.env, ...variables })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

/** Runs the command to its end. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(start(args), (child) => Effect.promise(() => Processes.ended(child)))

/** The address that a sandbox announces, and the variables for its clients. */
const ready = (child: ChildProcess) =>
  Effect.promise(async () => {
    const [line] = await once(createInterface(child.stdout!), "line")
    return JSON.parse(line) as {
      readonly baseUrl: string
      readonly adminToken: string
      readonly environment: Record<string, string>
    }
  })

const withoutSpace = (text: string) => text.replaceAll(/\s+/g, "")

describe("postwire", () => {
  it("loads the named command alone, nothing for the version, and all for anything else", async () => {
    const namesFor = async (...args: ReadonlyArray<string>) =>
      (await load(args)).subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
    const all = await namesFor("--help")
    for (const name of all) assert.deepStrictEqual(await namesFor(name, "--help"), [name])
    assert.deepStrictEqual(await namesFor("--version"), [])
    assert.deepStrictEqual(await namesFor("exprot"), all)
    assert.deepStrictEqual(await namesFor("--debug", "export"), all)
  })

  it.effect.each(
    [
      [["--help"], /postwire <subcommand>/],
      [["demo", "--help"], /--query string/],
      [["sandbox", "--help"], /--json/],
      [["--version"], /^postwire v1\.2\.3$/]
    ] satisfies Array<[Array<string>, RegExp]>
  )("explains itself: %s", ([args, expected]) =>
    Effect.gen(function*() {
      const { code, errors, output } = yield* Commands.parse(...args)
      assert.deepStrictEqual([code, errors], [0, ""])
      assert.match(output, expected)
    }))

  it.effect("breaks no word of its help at 80 columns, whatever the command", () =>
    Effect.gen(function*() {
      const all: ReadonlyArray<ReadonlyArray<string>> = [
        [],
        ..."export plan call request counts login logout accounts doctor demo sandbox worker status spend".split(" ")
          .map((
            name
          ) => [name]),
        ...Object.keys(catalogue).map((name) => ["call", name]),
        ["export", "searchRecentPosts"],
        ["plan", "searchRecentPosts"]
      ]
      const screen = { isTerminal: false, columns: 500, write: () => {} }
      for (const command of all) {
        const { output } = yield* Commands.parse(...command, "--help")
        for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
        const wide = yield* Effect.provideService(Commands.parse(...command, "--help"), Terminal, {
          output: screen,
          errors: screen
        })
        assert.deepStrictEqual(output.split(/\s+/), wide.output.split(/\s+/))
      }
    }))

  it.effect.each(
    [
      [["nothing"], /Unknown subcommand "nothing"/],
      [["sandbox", "--port", "eighty"], /Invalid value for flag --port: "eighty"/],
      [["sandbox", "--port", "99999"], /--port: "99999".*0 to 65535/],
      [["sandbox", "--port=-1"], /--port: "-1".*0 to 65535/],
      [["sandbox", "--wire", "y"], /--wire: "y".*"neutral" \| "x"/],
      [["sandbox", "--posts=-1"], /--posts: "-1".*a whole number from 0 to 10000000/],
      [["sandbox", "--posts", "10000001"], /--posts: "10000001".*a whole number from 0 to 10000000/],
      [["demo", "--posts=-1"], /--posts: "-1".*a whole number from 0 to 10000000/],
      [["sandbox", "--faults", "1.1"], /--faults: "1.1".*0 to 1/],
      [["sandbox", "--start", "soon"], /--start: "soon". Expected a time such as 2026-01-31T12:00:00Z\n/],
      [["sandbox", "--posts", "1.5"], /--posts: "1.5".*integer/],
      [["demo", "--posts", "many"], /--posts: "many". Expected a number\n/]
    ] satisfies Array<[Array<string>, RegExp]>
  )(
    "refuses what it does not understand, in two lines on standard error: %s",
    ([args, expected]) =>
      Effect.gen(function*() {
        const { code, errors, output } = yield* Commands.parse(...args)
        assert.deepStrictEqual([code, output], [1, ""])
        assert.match(errors, expected)
        assert.match(errors, /^postwire: .*\n {2}.*$/)
      })
  )

  it.effect("names the flag and the command that are meant", () =>
    Effect.gen(function*() {
      const cases = [
        [
          ["call", "getUser", "--user-nam", "ada"],
          "postwire: Unrecognized flag: --user-nam in command postwire call getUser\n" +
          "  Did you mean --username? postwire call getUser --help lists all flags with their rules."
        ],
        [
          ["exprot", "searchRecentPosts", "--query", "effect", "--out", "a.jsonl"],
          "postwire: Unknown subcommand \"exprot\" for \"postwire\"\n" +
          "  Did you mean export? postwire --help lists all commands."
        ],
        [
          ["call", "getUsr"],
          "postwire: Unknown subcommand \"getUsr\" for \"postwire call\"\n" +
          "  Did you mean getUser? postwire call --help lists all commands."
        ],
        [
          ["call", "getPost", "--id", "1", "--tweet-fields", "lang"],
          "postwire: Unrecognized flag: --tweet-fields in command postwire call getPost\n" +
          "  Did you mean --post-fields? postwire call getPost --help lists all flags with their rules."
        ],
        [
          ["call", "getPost", "--id", "1", "--tweet.fields", "lang"],
          "postwire: Unrecognized flag: --tweet.fields in command postwire call getPost\n" +
          "  Did you mean --post-fields? postwire call getPost --help lists all flags with their rules."
        ],
        [
          ["call", "createPost", "--text", "a", "--in_reply_to_tweet_id", "1"],
          "postwire: Unrecognized flag: --in_reply_to_tweet_id in command postwire call createPost\n" +
          "  Did you mean --in-reply-to-post-id? postwire call createPost --help lists all flags with their rules."
        ],
        [
          ["getUser", "--username", "ada"],
          "postwire: Unknown subcommand \"getUser\" for \"postwire\"\n" +
          "  Did you mean call getUser? postwire --help lists all commands."
        ],
        [
          ["--verion"],
          "postwire: Unrecognized flag: --verion in command postwire\n" +
          "  Did you mean --version? postwire --help lists all flags with their rules."
        ],
        [
          ["call", "deleteTweet"],
          "postwire: Unknown subcommand \"deleteTweet\" for \"postwire call\"\n" +
          "  Did you mean deletePost? postwire call --help lists all commands."
        ],
        [
          ["export", "search"],
          "postwire: Unknown subcommand \"search\" for \"postwire export\"\n" +
          "  Did you mean searchUsers, searchAllPosts, searchCommunities or searchRecentPosts? postwire export --help lists all commands."
        ],
        [
          ["export", "quote_tweets"],
          "postwire: Unknown subcommand \"quote_tweets\" for \"postwire export\"\n" +
          "  Did you mean getQuotePosts? postwire export --help lists all commands."
        ],
        [
          ["call", "bookmarks_get"],
          "postwire: Unknown subcommand \"bookmarks_get\" for \"postwire call\"\n" +
          "  Did you mean getBookmarks? postwire call --help lists all commands."
        ],
        [
          ["export", "createPost"],
          "postwire: Unknown subcommand \"createPost\" for \"postwire export\"\n" +
          "  postwire export --help lists all commands."
        ],
        [
          ["counts"],
          "postwire: Missing required argument: query\n  postwire counts --help lists all flags with their rules."
        ]
      ] as const
      for (const [args, expected] of cases) {
        const { code, errors, output } = yield* Commands.parse(...args)
        assert.deepStrictEqual([code, errors, output], [1, expected, ""])
      }
    }))

  it.live("says what is wrong, on standard error and with its exit code", () =>
    Effect.gen(function*() {
      const taken = createServer().listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(taken, "listening"))
      const address = taken.address()
      const port = String(typeof address === "object" ? address?.port : "")
      const path = yield* folder
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["sandbox", "--bogus"], /Unrecognized flag: --bogus/],
        [
          ["sandbox", "--posts", "0", "--port", port],
          new RegExp(
            `^postwire: Cannot listen on port ${port}: listen EADDRINUSE: .*\\n {2}Choose another port with --port; .*$`
          )
        ],
        [["sandbox", "--file", join(path, "none", "x.sqlite")], /^postwire: Cannot open .*x\.sqlite: unable to open/],
        [
          ["demo", "--posts", "10", "--out", path, "--query", "(("],
          /^postwire: searchRecentPosts: .*\(400\): .*position 3/
        ]
      ]
      for (const [args, expected] of cases) {
        const { code, errors, output } = yield* Commands.parse(...args)
        assert.strictEqual(code, 1, args.join(" "))
        assert.match(errors, expected)
        for (const text of [errors, output]) assert.notMatch(text, /\n +at /, "a stack")
      }
      taken.close()
    }))
})

describe("standard output", () => {
  const printTo = (output: number | "pipe") =>
    Effect.promise(async () => {
      const child = Processes.start(["--completions", "bash"], process.env, output)
      const end = Processes.ended(child)
      child.stdout?.destroy()
      const { code, errors } = await end
      return { code, errors }
    })

  it.live.skipIf(!existsSync("/dev/full"))("that is full is a failure", () =>
    Effect.gen(function*() {
      const full = openSync("/dev/full", "w")
      const { code, errors } = yield* printTo(full)
      closeSync(full)
      assert.strictEqual(code, 1)
      assert.match(errors, /^postwire: Standard output cannot be written: ENOSPC.*\n {2}Make room, .*\n$/)
    }))

  it.live("that nobody reads is the quiet end that shells know", () =>
    Effect.map(printTo("pipe"), (end) => assert.deepStrictEqual(end, { code: 141, errors: "" })))
})

describe("a Node that will not do", () => {
  const startOn = (change: string) =>
    spawnSync(process.execPath, ["--import", `data:text/javascript,${change}`, postwire, "doctor"], {
      encoding: "utf8"
    })

  it.each([
    [
      "is too old",
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })",
      `Node ${minimum} or newer is required (found 20.20.2): install a newer one`
    ],
    [
      "has no SQLite",
      "import m from 'node:module'; m.isBuiltin = () => false; m.syncBuiltinESMExports()",
      `Node ${process.versions.node} here has no SQLite: install an official build`
    ]
  ])("because it %s is told in one line, whatever the command", (_, change, reason) => {
    const { status, stderr, stdout } = startOn(change)
    assert.deepStrictEqual([status, stdout, stderr], [1, "", `postwire: ${reason}\n`])
  })
})

describe("postwire demo", () => {
  it.live("exports what the service finds, one JSON object a line", () =>
    Effect.gen(function*() {
      const out = join(yield* folder, "deep", "er")
      const first = yield* run("demo", "--posts", "700", "--out", out)
      assert.strictEqual(first.code, 0, first.errors)
      assert.sameMembers(readdirSync(out), ["effect.jsonl", "sandbox.sqlite"])
      const text = readFileSync(join(out, "effect.jsonl"), "utf8")
      assert.isTrue(text.endsWith("}\n"))
      const lines: Array<{ id: string; created_at: string }> = text.trimEnd().split("\n").map((line) =>
        JSON.parse(line)
      )
      assert.isAbove(lines.length, 400)
      assert.strictEqual(new Set(lines.map((line) => line.id)).size, lines.length)
      for (const line of lines) {
        assert.hasAllKeys(line, "id text edit_history_post_ids author_id created_at lang public_metrics".split(" "))
      }

      const items = yield* Effect.gen(function*() {
        const { baseUrl, seeded } = yield* Sandbox.Sandbox
        return yield* searchRecentPosts.items({
          query: "effect",
          max_results: 33,
          post_fields: ["created_at", "author_id", "lang", "public_metrics"]
        }).pipe(
          Stream.runCollect,
          Effect.provide(
            Client.layer({ baseUrl }).pipe(Layer.provide(Credentials.layer({ bearerToken: seeded.appBearerToken })))
          )
        )
      }).pipe(Effect.provide(Sandbox.layer({ file: join(out, "sandbox.sqlite") })))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(lines, items)

      assert.include(first.output, `${lines.length} posts, one a line`)
      assert.include(first.output, `from ${lines.at(-1)?.created_at} to ${lines[0]?.created_at}`)
      for (const line of shown) assert.include(first.output, line)
      assert.match(first.errors, new RegExp(`100% {2}${lines.length} posts {2}\\d+ pages`))
      for (const line of first.errors.split("\n")) assert.isAtMost(line.length, 80)

      // Again, with fewer: nothing of the first run stays.
      const second = yield* Commands.parse("demo", "--posts", "150", "--out", out, "--query", "effect lang:en")
      assert.strictEqual(second.code, 0, second.errors)
      assert.match(second.output, /holds 150 posts/)
      const english = readFileSync(join(out, "effect-lang-en.jsonl"), "utf8").trimEnd().split("\n")
      assert.isTrue(english.length > 20 && english.length < 150)
      for (const line of english) assert.strictEqual(JSON.parse(line).lang, "en")
    }))

  it("shows the very lines that do it", () => {
    const source = readFileSync(new URL("../src/commands/Demo.ts", import.meta.url), "utf8")
    const code = withoutSpace(source.replace(/export const shown = \[[^]*?\n\]/, ""))
    assert.strictEqual(shown.length, 3)
    for (const line of shown) assert.include(code, withoutSpace(line))
  })
})

describe("postwire sandbox", () => {
  it.live("prints one JSON line when it is ready, and serves", () =>
    Effect.gen(function*() {
      const child = yield* start("sandbox --port 0 --posts 50 --seed 3 --wire x --json".split(" "))
      let printed = ""
      child.stdout!.setEncoding("utf8").on("data", (text) => printed += text)
      const { baseUrl, environment } = yield* ready(child)
      assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.hasAllKeys(environment, [
        "POSTWIRE_BASE_URL",
        "POSTWIRE_BEARER_TOKEN",
        "POSTWIRE_APP_BEARER_TOKEN",
        "POSTWIRE_CONSUMER_KEY",
        "POSTWIRE_CONSUMER_SECRET",
        "POSTWIRE_ACCESS_TOKEN",
        "POSTWIRE_ACCESS_TOKEN_SECRET",
        "POSTWIRE_CLIENT_ID",
        "POSTWIRE_SANDBOX_ADMIN_TOKEN"
      ])
      yield* Effect.promise(async () => {
        await using client = createClient({ ...fromEnvironment(environment), wire: "x" })
        assert.strictEqual((await client.getMe()).data?.username, "ada")
        assert.strictEqual((await client.getMe({ user_auth: false })).data?.username, "ada")
        assert.deepStrictEqual((await client.createPost({ text: "hello" })).data?.text, "hello")
        assert.deepStrictEqual((await client.getStreamRules()).data, undefined)
        await using older = createClient({ ...fromEnvironment(environment), wire: "x-2026-02" })
        await expect(older.getMe({ post_fields: ["lang"] })).rejects.toMatchObject({ otherWire: "x" })
        const authorization = `Bearer ${environment["POSTWIRE_BEARER_TOKEN"]}`
        const me = await fetch(`${baseUrl}/2/users/me?user.fields=public_metrics`, { headers: { authorization } })
        assert.property((await me.json()).data.public_metrics, "post_count")
      })
      assert.strictEqual(printed.trimEnd().split("\n").length, 1)
    }))

  it.live("explains itself to people", () =>
    Effect.gen(function*() {
      const child = yield* start(["sandbox", "--port", "0", "--posts", "0"])
      const lines: Array<string> = []
      yield* Effect.promise(() =>
        new Promise<void>((resolve) => {
          createInterface(child.stdout!).on("line", (line) => {
            if (lines.push(line) === 20) resolve()
          })
        })
      )
      assert.match(lines[0]!, /^The sandbox is ready at http:\/\/127\.0\.0\.1:\d+\. Ctrl-C ends it\.$/)
      const [, address = "", token = ""] = /^ {2}(http\S+)#token=(\S+)$/.exec(lines[4]!) ?? []
      assert.match(address, /\/console$/)
      const page = yield* Effect.promise(() => fetch(address))
      assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
      const health = yield* Effect.promise(() =>
        fetch(new URL("/_sandbox/health", address), { headers: { authorization: `Bearer ${token}` } })
      )
      assert.strictEqual(health.status, 200)
      for (const line of lines.filter((line) => !line.startsWith("  "))) assert.isAtMost(line.length, 80, line)
      assert.strictEqual(lines.filter((line) => /^ {2}export POSTWIRE_[A-Z_]+=\S+$/.test(line)).length, 9)
    }))

  it.live("takes the admin token from the environment, the time and the share of faults from flags", () =>
    Effect.gen(function*() {
      const line = "sandbox --port 0 --posts 0 --json --start 2026-11-20T12:00:00Z --faults 1"
      const child = yield* start(line.split(" "), { POSTWIRE_SANDBOX_ADMIN_TOKEN: "a token/of mine" })
      const { adminToken, baseUrl } = yield* ready(child)
      assert.strictEqual(adminToken, "a token/of mine")
      yield* Effect.promise(async () => {
        const headers = { authorization: `Bearer ${adminToken}` }
        const ask = async (path: string) => (await fetch(`${baseUrl}/_sandbox${path}`, { headers })).json()
        assert.match((await ask("/clock")).now, /^2026-11-20T12:0\d:/)
        assert.deepStrictEqual((await ask("/faults")).faults[0].rule, { probability: 1 })
      })
    }))

  it.live("keeps its state in a file", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      const args = ["sandbox", "--port", "0", "--posts", "20", "--file", file, "--json"]
      const child = yield* start(args)
      const first = yield* ready(child)
      const id = yield* Effect.promise(async () => {
        await using client = createClient(fromEnvironment(first.environment))
        return (await client.createPost({ text: "durable" })).data!.id
      })
      // It need not end in peace.
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      const second = yield* ready(yield* start(args))
      yield* Effect.promise(async () => {
        await using client = createClient({ ...fromEnvironment(first.environment), baseUrl: second.baseUrl })
        assert.strictEqual((await client.getPost({ id })).data?.text, "durable")
      })
    }))

  it.live.each(["SIGINT", "SIGTERM"] as const)(
    "ends with %s at once, whatever its clients do, and frees the port",
    (signal) =>
      Effect.gen(function*() {
        const child = yield* start("sandbox --port 0 --posts 0 --json".split(" "))
        const { baseUrl, environment } = yield* ready(child)
        const port = Number(new URL(baseUrl).port)
        const client = createClient(fromEnvironment(environment))
        yield* Effect.promise(() => client.getMe())
        const stuck = connect({ host: "127.0.0.1", port })
        stuck.on("error", () => {})
        yield* Effect.promise(() => once(stuck, "connect"))
        stuck.write(
          "POST /2/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n" +
            `Authorization: Bearer ${environment["POSTWIRE_BEARER_TOKEN"]}\r\n\r\n{`
        )
        yield* Effect.promise(() => client.getMe())
        child.kill(signal)
        const [code] = yield* Effect.promise(() => once(child, "exit"))
        assert.strictEqual(code, 130)
        const again = createServer().listen(port, "127.0.0.1")
        yield* Effect.promise(() => once(again, "listening"))
        again.close()
        stuck.destroy()
        yield* Effect.promise(() => client.close())
      })
  )
})
