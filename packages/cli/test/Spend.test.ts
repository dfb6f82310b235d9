/** `postwire spend`: what commands spend is kept for all of them, and limits are kept to. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import * as SqliteSpendStore from "@postwire/node/SqliteSpendStore"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { ConfigProvider, Effect, Layer, Stdio } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as MovedClock from "../../core/test/support/MovedClock.ts"
import { ageFile, agingMillis } from "../../core/test/support/SpendStores.ts"
import { Environment } from "../src/connection/Variables.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"

/** Commands of a user with a store of their own. */
const user = Effect.gen(function*() {
  const folder = yield* Commands.folder
  return Effect.fnUntraced(function*(
    variables: Readonly<Record<string, string>>,
    ...args: ReadonlyArray<string>
  ) {
    const all = yield* Commands.variables({ POSTWIRE_SPEND_STORE: join(folder, "spend.db"), ...variables })
    return { ...yield* Commands.runWith(all, ...args), folder }
  })
})

const sandbox = Sandbox.layerServer({ posts: 300 })

describe("postwire spend", () => {
  it.live("shows what commands were charged, as lines of 80 columns and as JSON", () =>
    Effect.gen(function*() {
      const { bill, seeded } = yield* Sandbox.Sandbox
      const run = yield* user
      const none = yield* run({}, "spend")
      assert.match(none.output, /^\$0\.00 at http:\/\/127\.0\.0\.1:\d+, \S+ to \S+ \(UTC\)\.$/)
      yield* run({}, "call", "getUser", "--id", seeded.ada.id)
      yield* run({}, "call", "searchRecentPosts", "--query", "a", "--max-results", "10")
      const dollars = bill.statement().dollars
      assert.isAbove(dollars, 0.01)
      const { code, output } = yield* run({ POSTWIRE_SPEND_PER_MONTH: "20" }, "spend", "--days", "1")
      assert.strictEqual(code, 0)
      assert.include(output, "This month: $0.0")
      assert.match(
        output,
        /\nBy day\n {2}\S+ +\$0\.\d+ +█+\n\nBy operation\n {2}searchRecentPosts .*█\n {2}getUser .*\n\nBy account\n {2}bearer /
      )
      for (const line of output.split("\n")) assert.isAtMost(line.length, 80)
      const { entries, ...view } = JSON.parse(
        (yield* run({ POSTWIRE_SPEND_PER_MONTH: "20" }, "spend", "--json")).output
      )
      assert.deepInclude(view, {
        dollars,
        dollarsInDoubt: 0,
        limits: { perMonth: { dollars: 20, dollarsUsed: dollars } }
      })
      assert.deepStrictEqual(entries.map(({ operation }: { operation: string }) => operation), [
        "getUser",
        "searchRecentPosts"
      ])
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.live("keeps to the limits of the environment, before anything is sent", () =>
    Effect.gen(function*() {
      const { journal, seeded } = yield* Sandbox.Sandbox
      const run = yield* user
      const read = ["call", "getUser", "--id", seeded.ada.id] as const
      const limited = { POSTWIRE_SPEND_PER_DAY: "0.015" }
      assert.strictEqual((yield* run(limited, ...read)).code, 0)
      const { code, errors } = yield* run(limited, ...read)
      assert.strictEqual(code, 1)
      assert.match(errors, /getUser: .*\$?0\.01/)
      assert.lengthOf(journal.entries().filter(({ operation }) => operation === "getUser"), 1)
      const news = ["call", "searchNews", "--query", "lamps"] as const
      const unpriced = yield* run(limited, ...news)
      assert.match(unpriced.errors, /searchNews: its price is unknown, so the limit of the day, \$0\.015, cannot be/)
      assert.include(unpriced.errors, "POSTWIRE_UNKNOWN_PRICE")
      assert.notInclude(unpriced.errors, "prices.unknown")
      assert.lengthOf(journal.entries().filter(({ operation }) => operation === "searchNews"), 0)
      const stated = { POSTWIRE_SPEND_PER_DAY: "0.05", POSTWIRE_UNKNOWN_PRICE: "0.02" }
      assert.deepStrictEqual(
        [(yield* run(stated, ...news)).code, (yield* run(stated, ...news)).code, (yield* run(stated, ...news)).code],
        [0, 0, 1]
      )
      assert.match((yield* run({ POSTWIRE_UNKNOWN_PRICE: "-1" }, ...news)).errors, /POSTWIRE_UNKNOWN_PRICE must be/)
      const wrong = yield* run({ POSTWIRE_SPEND_PER_DAY: "much" }, ...read)
      assert.match(wrong.errors, /POSTWIRE_SPEND_PER_DAY must be dollars/)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("postwire spend without a base URL", () => {
  it.live("is of the service of the wire", () =>
    Effect.gen(function*() {
      const folder = yield* Commands.folder
      const variables = { POSTWIRE_WIRE: "x", POSTWIRE_SPEND_STORE: join(folder, "spend.db") }
      const { code, errors, output } = yield* Commands.runWith(variables, "spend")
      assert.strictEqual(code, 0, errors)
      assert.match(output, /^\$0\.00 at https:\/\/api\.x\.com, /)
    }).pipe(Effect.scoped))
})

describe("a reservation of a killed process", () => {
  it.live("is shown where its day is ahead, and counts towards the limits that it is shown beside", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Sandbox.Sandbox
      const path = join(yield* Commands.folder, "killed.db")
      const run = yield* user
      const { move, provide } = yield* MovedClock.make
      move(Date.parse("2026-11-22T12:00:00Z") - Date.now())
      yield* SpendStore.use(({ reserve }) =>
        Effect.forEach(
          ["2026-11-21", "2026-11-23"],
          (day) => reserve(baseUrl, day, { day, operation: "createPost", account: "ada", micros: 200_000 }, {})
        )
      ).pipe(Effect.provide(SqliteSpendStore.layer({ path })))
      yield* Effect.sync(() => ageFile(path, agingMillis))
      const variables = { POSTWIRE_SPEND_STORE: path, POSTWIRE_SPEND_PER_DAY: "0.25" }
      const view = JSON.parse((yield* provide(run(variables, "spend", "--json"))).output)
      assert.deepInclude(view, { to: "2026-11-23", dollarsInDoubt: 0.4 })
      assert.deepStrictEqual(view.limits.perDay, { dollars: 0.25, dollarsUsed: 0.2 })
      const { output } = yield* provide(run(variables, "spend"))
      assert.include(output, "$0.40 or less in addition are in doubt")
      assert.include(output, "Today: $0.20 of $0.25 are used.")
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("a limit of commands whose clocks are wrong", () => {
  it.live("holds on the day of the service", () =>
    Effect.gen(function*() {
      const { bill } = yield* Sandbox.Sandbox
      const run = yield* user
      for (let i = 0; i < 8; i++) {
        const { move, provide } = yield* MovedClock.make
        move(i % 2 === 0 ? 90_000_000 : -90_000_000)
        const call = run({ POSTWIRE_SPEND_PER_DAY: "0.05" }, "call", "createPost", "--text", `number ${i}`)
        const { code, errors } = yield* provide(call)
        assert.strictEqual(code, i < 3 ? 0 : 1, errors)
      }
      assert.strictEqual(bill.statement().dollars, 0.045)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("a limit without a usable store", () => {
  const places = {
    "no folder of the user": (variables: Readonly<Record<string, string>>) =>
      Effect.map(
        user,
        (run) => (...args: ReadonlyArray<string>) =>
          run({ POSTWIRE_SPEND_STORE: "", ...variables }, ...args).pipe(
            Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} }))
          )
      ),
    "Redis that is away": (variables: Readonly<Record<string, string>>) =>
      Effect.map(
        user,
        (run) => (...args: ReadonlyArray<string>) =>
          run({ POSTWIRE_SPEND_STORE: "redis://127.0.0.1:1", ...variables }, ...args)
      )
  }
  for (const [place, start] of Object.entries(places)) {
    it.live(`refuses what costs something, unless that is allowed: ${place}`, () =>
      Effect.gen(function*() {
        const { bill, seeded } = yield* Sandbox.Sandbox
        const read = ["call", "getUser", "--id", seeded.ada.id] as const
        const limited = { POSTWIRE_SPEND_PER_DAY: "0.03" }
        const { code, errors } = yield* (yield* start(limited))(...read)
        assert.strictEqual(code, 1)
        assert.match(errors, /cannot be (kept|enforced)/)
        assert.include(errors, "POSTWIRE_SPEND_")
        assert.strictEqual(bill.statement().dollars, 0)
        const unlimited = yield* (yield* start({}))(...read)
        assert.strictEqual(unlimited.code, 0, unlimited.errors)
        const allowed = yield* (yield* start({ ...limited, POSTWIRE_SPEND_WITHOUT_STORE: "allow" }))(...read)
        assert.strictEqual(allowed.code, 0, allowed.errors)
        const wrong = yield* (yield* start({ ...limited, POSTWIRE_SPEND_WITHOUT_STORE: "yes" }))(...read)
        assert.match(wrong.errors, /POSTWIRE_SPEND_WITHOUT_STORE must be refuse or allow/)
      }).pipe(Effect.scoped, Effect.provide(sandbox)))
  }
})

describe("a damaged file of this user", () => {
  it.live("is named with the reason", () =>
    Effect.gen(function*() {
      const { seeded } = yield* Sandbox.Sandbox
      const folder = yield* Commands.folder
      const path = join(folder, "postwire", "spend.db")
      mkdirSync(join(folder, "postwire"))
      writeFileSync(path, "This is no database. ".repeat(100))
      const run = yield* user
      const read = (variables: Readonly<Record<string, string>>) =>
        run({ POSTWIRE_SPEND_STORE: "", ...variables }, "call", "getUser", "--id", seeded.ada.id).pipe(
          Effect.provideService(
            ConfigProvider.ConfigProvider,
            ConfigProvider.fromEnv({ env: { HOME: folder, XDG_STATE_HOME: folder } })
          )
        )
      const reason = `${path} is a file that cannot be used (file is not a database)`
      const limited = yield* read({ POSTWIRE_SPEND_PER_DAY: "1" })
      assert.strictEqual(limited.code, 1)
      assert.include(limited.errors, reason)
      assert.notInclude(limited.errors, "your folder")
      const unlimited = yield* read({})
      assert.strictEqual(unlimited.code, 0, unlimited.errors)
      assert.include(unlimited.errors, `Spending is not recorded: ${reason}.`)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("a command at a terminal", () => {
  it.live("shows the price, and asks nothing about it where the service is on this machine", () =>
    Effect.gen(function*() {
      const out = join(yield* Commands.folder, "a.jsonl")
      const file = yield* Commands.credentials(yield* Commands.variables())
      let shown = ""
      const errors = { isTerminal: true, columns: 80, write: (text: string) => void (shown += text) }
      const typing = Layer.merge(NodeServices.layer, Stdio.layerTest({ stdinIsTerminal: Effect.succeed(true) }))
      const ended = yield* Commands.parseOn(
        typing,
        ...`export searchRecentPosts --query a --out ${out} --credentials ${file}`.split(" ")
      ).pipe(
        Effect.provideService(Terminal, { output: errors, errors }),
        Effect.provideService(Environment, { POSTWIRE_ASK_ABOVE: "0" })
      )
      assert.strictEqual(ended.code, 0, ended.errors)
      assert.match(ended.errors, /postwire: \d+ posts, \d+ requests?, up to \$\d/)
      assert.notInclude(shown, "[y/N]")
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("--max-spend", () => {
  it.live("refuses an export that costs more before its first page", () =>
    Effect.gen(function*() {
      const { bill, journal } = yield* Sandbox.Sandbox
      const run = yield* user
      const out = join(yield* Commands.folder, "a.jsonl")
      const search = ["export", "searchRecentPosts", "--query", "a", "--max-results", "10", "--out", out] as const
      const refused = yield* run({}, ...search, "--max-spend", "0.01")
      assert.strictEqual(refused.code, 1)
      assert.match(
        refused.errors,
        /^postwire: It would cost up to \$\d.*; --max-spend is \$0\.01\n {2}Nothing was requested/
      )
      assert.deepStrictEqual(journal.entries().map(({ operation }) => operation), ["getRecentPostsCount"])
      assert.isFalse(existsSync(out))
      bill.clear()
      const done = yield* run({}, ...search, "--max-spend", "1000", "--json")
      assert.strictEqual(done.code, 0, done.errors)
      assert.match(done.errors, /^postwire: [\d,]+ posts, \d+ requests, up to \$\d/)
      const { dollars, progress } = JSON.parse(done.output)
      // The count costs, too.
      assert.strictEqual(Math.round((dollars + 0.005) * 1e6) / 1e6, bill.statement().dollars)
      assert.lengthOf(readFileSync(out, "utf8").trim().split("\n"), progress.items)
      // Parts of one search cost what they cost together.
      bill.clear()
      const cut = join(yield* Commands.folder, "cut.jsonl")
      const parts = yield* (yield* user)({}, ...search.slice(0, -1), cut, "--partitions", "2", "--json")
      assert.strictEqual(Math.round((JSON.parse(parts.output).dollars + 0.005) * 1e6) / 1e6, bill.statement().dollars)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))

  it.live("ends what turns out to cost more, and counts what earlier runs have spent", () =>
    Effect.gen(function*() {
      const { journal, seeded } = yield* Sandbox.Sandbox
      const run = yield* user
      const out = join(yield* Commands.folder, "a.jsonl")
      // Nothing counts mentions beforehand.
      const mentions = [
        "export",
        "getUsersMentions",
        "--id",
        seeded.ada.id,
        "--max-results",
        "5",
        "--out",
        out
      ] as const
      for (const again of [[], ["--resume"]]) {
        const { code, errors } = yield* run({}, ...mentions, "--max-spend", "0.03", ...again)
        assert.strictEqual(code, 1)
        assert.match(
          errors,
          /it may cost \$0\.025, and \$0\.025 of the \$0\.03 .*\n {2}Raise --max-spend, then run the same command with --resume\.$/
        )
        assert.lengthOf(journal.entries(), 1)
      }
      const { code, errors } = yield* run({}, ...mentions, "--max-spend", "10", "--resume")
      assert.strictEqual(code, 0, errors)
      assert.isAbove(journal.entries().length, 1)
      const { errors: never } = yield* run({}, ...mentions, "--max-spend", "0.01", "--force")
      assert.match(never, /the whole limit of this client is \$0\.01\.?\n {2}Request less, or raise --max-spend\.$/)
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})
