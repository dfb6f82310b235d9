import { assert, describe, it } from "@effect/vitest"
import { TooManyConnections } from "@postwire/core/errors/StreamErrors"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { linesOf } from "../../export/test/support/Archives.ts"
import * as StreamProgress from "../src/streams/StreamProgress.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

const sandbox = Sandbox.layerServer({ posts: 0 })

/** Runs a command line as the app. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const root = yield* Commands.folder
    const variables = yield* Commands.variables({
      POSTWIRE_SPEND_STORE: join(root, "spend.db")
    })
    return yield* Commands.runWith(variables, ...args)
  })

/** Adds a rule. */
const rule = (value: string, tag: string) =>
  Effect.gen(function*() {
    const { code, errors } = yield* run("call", "updateStreamRules", "--add", JSON.stringify([{ value, tag }]))
    assert.strictEqual(code, 0, errors)
  })

/** Does something as soon as somebody listens. */
const onceConnected = (act: (sandbox: Sandbox.Sandbox["Service"]) => void) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* Effect.forkScoped(Effect.promise(async () => {
      while (!sandbox.streams.connections().some(({ closedAt }) => closedAt === undefined)) await delay(5)
      act(sandbox)
    }))
  })

describe("postwire stream", () => {
  it.live("writes what rules match into a file, tells the price before and what there is after", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const out = join(root, "cats.jsonl")
      yield* rule("cat", "cats")
      yield* onceConnected(({ ada }) => {
        ada.post("A cat")
        ada.post("A dog")
        ada.post("Another cat")
      })
      const ended = yield* run(..."stream --expansions author_id --limit 2 --rotate-every 1h --out".split(" "), out)
      assert.strictEqual(ended.code, 0, ended.errors)
      assert.match(ended.errors, /^postwire: 2 posts, 1 request, up to \$0\.03\.\npostwire: Connected\.$/)
      assert.match(
        ended.output,
        /^done: 2 posts in \d+ s\n {2}cats-\d{8}T\d{6}Z\.jsonl +\d+ B +2 posts$/
      )
      const [name = ""] = readdirSync(root).filter((name) => name.endsWith(".jsonl"))
      const lines = linesOf(readFileSync(join(root, name), "utf8"))
      assert.deepStrictEqual(lines.map(({ text }) => text), ["A cat", "Another cat"])
      assert.nestedPropertyVal(lines[0], "includes.users[0].username", "ada")
      assert.nestedPropertyVal(lines[0], "matching_rules[0].tag", "cats")
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.live("writes lines to standard output, and ends at Ctrl-C with what it did", () =>
    Effect.gen(function*() {
      const { baseUrl, seeded } = yield* Sandbox.Sandbox
      yield* rule("cat", "cats")
      yield* onceConnected(({ ada }) => {
        ada.post("A cat")
        ada.post("Two cat\u009bs")
      })
      const child = start(["stream", "--recover", "none"], {
        ...process.env,
        POSTWIRE_BASE_URL: baseUrl,
        POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken),
        POSTWIRE_SPEND_STORE: join(yield* Commands.folder, "spend.db")
      })
      createInterface(child.stdout!).once("line", () => child.kill("SIGINT"))
      const { code, errors, output } = yield* Effect.promise(() => ended(child))
      assert.strictEqual(code, 130, errors)
      assert.strictEqual(JSON.parse(output.split("\n")[0] ?? "").text, "A cat")
      assert.match(errors, /Each post costs up to \$0\.005; --max-spend sets a limit\./)
      assert.match(
        errors,
        /Ending the stream; Ctrl-C again stops immediately\.\npostwire: interrupted: \d posts? in \d+ s\n$/
      )
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.live("says what to do where there are no rules, and where others hold the connections", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const out = join(root, "a.jsonl")
      const { code, errors } = yield* run("stream", "--out", out)
      assert.strictEqual(code, 1)
      assert.match(
        errors,
        /postwire: streamPosts: the stream has no rules .*\n {2}Add some: postwire rules apply FILE\.$/
      )
      assert.isFalse(existsSync(`${out}.postwire`))
      const held = ErrorReport.explain(
        new TooManyConnections({
          operation: "streamPosts",
          connections: [{ id: "4f1f", endpoint: "filtered_stream", since: new Date(0), clientIp: "192.0.2.1" }]
        })
      )
      assert.deepStrictEqual(held, [
        "postwire: streamPosts: the app has as many connections as it is allowed: filtered_stream since " +
        "1970-01-01T00:00:00.000Z from 192.0.2.1 (4f1f).",
        "  End it there, or from here: postwire call deleteConnections --uuids 4f1f"
      ])
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.live("ends with its files complete where the limit of what is spent is reached", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const out = join(root, "a.jsonl")
      yield* rule("cat", "cats")
      yield* onceConnected(({ ada }) => {
        for (let i = 0; i < 10; i++) ada.post(`Cat ${i}`)
      })
      const { code, errors } = yield* run("stream", "--out", out, "--max-spend", "0.02")
      assert.strictEqual(code, 1)
      assert.match(errors, /stops at \$0\.02/)
      assert.match(errors, /Raise --max-spend, then run the same command again\.$/)
      // What came with the one that reached it is charged as well.
      const written = linesOf(readFileSync(out, "utf8")).length
      assert.isAtLeast(written, 4)
      const again = yield* run("stream", "--out", out, "--max-spend", "0.02")
      assert.strictEqual(again.code, 1)
      assert.strictEqual(linesOf(readFileSync(out, "utf8")).length, written)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.effect("refuses flags that are not for it", () =>
    Effect.gen(function*() {
      const said = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const { code, errors } = yield* Commands.parse("stream", ...args)
        assert.strictEqual(code, 1)
        return errors
      })
      assert.match(yield* said("--rotate-every", "1h"), /are for files\n {2}Name one with --out\./)
      assert.match(yield* said("--rotate-every", "1 fortnight"), /a time such as 30min, 1h or 1d/)
      assert.match(yield* said("--rotate-size", "0MB"), /a size such as 500kB, 100MB or 1GB/)
      assert.match(yield* said("streamPostsSample", "--tag", "x"), /streamPostsSample has no rules, so no --tag/)
      assert.match(yield* said("streamPosts", "--format", "csv"), /Standard output takes only JSON Lines/)
      assert.match(yield* said("streamPostsFirehose", "--out", "a"), /partition/)
    }))

  it("shows how it goes on in 80 columns", () => {
    const state: StreamProgress.State = {
      noun: "posts",
      items: 12_345_678,
      rate: 1_234.5,
      lag: 12_345,
      waiting: 9_876,
      gaps: 12,
      downSince: undefined
    }
    assert.strictEqual(
      StreamProgress.line(state, 80),
      "12,345,678 posts  1,235/s  lag 12.3 s  12 gaps  9,876 waiting"
    )
    assert.strictEqual(
      StreamProgress.line({ ...state, items: 1, rate: 0.25, waiting: 0, gaps: 0, lag: undefined }, 80),
      "1 post  0.3/s  0 gaps"
    )
    assert.isBelow(StreamProgress.line({ ...state, downSince: 0 }, 80).length, 80)
  })
})
