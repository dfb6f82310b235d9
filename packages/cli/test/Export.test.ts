import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { once } from "node:events"
import { chmodSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Text from "../src/terminal/Text.ts"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

const { folder } = Commands

/** The variables of an app. */
const app = Effect.map(Sandbox.Sandbox, ({ baseUrl, seeded }) => ({
  POSTWIRE_BASE_URL: baseUrl,
  POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken)
}))

const environment = Effect.map(app, (variables) => ({ ...process.env, ...variables }))

/** Runs a command line as the app. */
const run = (...args: ReadonlyArray<string>) => Effect.flatMap(app, (variables) => Commands.runWith(variables, ...args))

const search = ["export", "searchRecentPosts", "--query", "effect"]

const sandbox = Sandbox.layerServer({ posts: 300, start: Date.UTC(2026, 10, 20, 12) })

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n")

/** Errors are two lines, and say what to do. */
const assertTold = ({ errors }: Pick<Commands.Ended, "errors">, what: RegExp, advice: RegExp) => {
  const [first, second, ...rest] = errors.trimEnd().split("\n")
  assert.match(first ?? "", what)
  assert.match(second ?? "", advice)
  assert.deepStrictEqual(rest, [], "no more than two lines")
}

describe("postwire export", () => {
  it.live("reports that a list has ended before the number that the service counted", () =>
    Effect.gen(function*() {
      const { ada, faults } = yield* Sandbox.Sandbox
      const followers = ["export", "getUsersFollowers", "--id", ada.id, "--out", "-"]
      assert.notInclude((yield* run(...followers)).errors, "counted")
      faults.add({ operation: "getUsersFollowers", page: "ends-early" })
      const { code, errors } = yield* run(...followers, "--max-results", "2")
      assert.strictEqual(code, 0)
      assert.include(errors, "postwire: The service counted 4 users, and listed 2.\n  Counts include some")
      faults.add({ operation: "getUsersFollowers", page: "ends-early" })
      assert.notInclude((yield* run(...followers, "--max-results", "2", "--limit", "2")).errors, "counted")
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  it.live("ends at an answer that is nested too deep to be written", () =>
    Effect.gen(function*() {
      const deep = `{"data":[{"id":"1","text":"a","of":${"[".repeat(20_000)}${"]".repeat(20_000)}}]}`
      const { baseUrl } = yield* Commands.serve((_, response) => response.end(deep))
      const path = join(yield* folder, "posts.jsonl")
      const variables = { POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: "a" }
      const { code, errors } = yield* Commands.runWith(variables, ...search, "--out", path)
      assert.strictEqual(code, 1)
      assert.include(errors, "cannot decode the response (200): the body is nested more than 512 levels deep")
    }))

  it.live("has the whole text of long posts with --full-text", () =>
    Effect.gen(function*() {
      const { ada } = yield* Sandbox.Sandbox
      const long = "A long post. ".repeat(40).trim()
      ada.post(long)
      const path = join(yield* folder, "posts.jsonl")
      const posts = ["export", "getUsersPosts", "--id", ada.id, "--out", path]
      yield* run(...posts)
      assert.notInclude(readFileSync(path, "utf8"), long)
      yield* run(...posts, "--force", "--full-text", "--post-fields", "created_at")
      const [post = ""] = linesOf(path)
      assert.include(JSON.parse(post), { text: long })
      assert.notInclude(post, "note_post")
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  it.live("has every bookmark, and reports that pages of 100 end the list early", () =>
    Effect.gen(function*() {
      const { ada, baseUrl, faults, seeded } = yield* Sandbox.Sandbox
      ada.bookmarks(...Array.from({ length: 120 }, (_, index) => ada.post(`bookmark ${index}`)))
      faults.add({ operation: "getBookmarks", page: "ends-early", times: "always" })
      const variables = {
        POSTWIRE_BASE_URL: baseUrl,
        POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.userBearerToken)
      }
      const bookmarks = ["export", "getBookmarks", "--out", join(yield* folder, "bookmarks.jsonl")]
      const whole = yield* Commands.runWith(variables, ...bookmarks)
      assert.strictEqual(whole.code, 0)
      assert.match(whole.output, /^done: 120 posts on 2 pages\n/)
      const early = yield* Commands.runWith(variables, ...bookmarks, "--max-results", "100", "--force")
      assert.strictEqual(early.code, 3)
      assert.match(early.output, /^partial: 100 posts on 1 page\n/)
      assert.match(
        early.errors,
        /\npostwire: The service ended the list although it has more: .*\n {2}Export it again without --max-results, .*\n/
      )
      assert.notInclude(early.errors, "complete")
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  it.live("writes a file, says what it costs, and what is in it", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const out = join(root, "a.csv.gz")
      const flags = ["--out", out, "--post-fields", "created_at", "--expansions", "author_id", "--max-results", "50"]
      const first = yield* run(...search, ...flags)
      assert.strictEqual(first.code, 0)
      assert.match(first.errors, /^postwire: \d+ posts, \d+ requests, up to \$\d+\.\d\d\.$/)
      assert.match(
        first.output,
        /^done: \d+ posts on \d+ pages\n {2}a\.csv\.gz .* posts\n {2}a\.csv\.gz\.postwire\/users\.csv\.gz .* users$/
      )
      for (const line of first.output.split("\n")) assert.isAtMost(line.length, 80)

      const refused = yield* Commands.run(...search, ...flags)
      assert.strictEqual(refused.code, 1)
      assertTold(refused, /^postwire: .*a\.csv\.gz exists already$/, /--resume.*--force/)
      const again = yield* run(...search, ...flags, "--resume")
      assert.deepStrictEqual([again.code, again.output], [0, first.output])
      const other = yield* Commands.run("export", "searchRecentPosts", "--query", "other", "--out", out, "--resume")
      assertTold(other, /query was effect and is now other/, /--force/)
    }).pipe(Effect.provide(sandbox)))

  it.live("says what was malformed in the answers, for people and for programs", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const post = { id: "1", text: "a", edit_history_post_ids: ["1"], lang: 5 }
      const { baseUrl } = yield* Commands.serve((_, response) => {
        response.end(
          JSON.stringify({
            data: [post, { ...post, id: "2" }],
            includes: { users: [{ id: "1", username: "ada", name: 7 }] }
          })
        )
      })
      const variables = { POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: "canary" }
      const export_ = (...flags: ReadonlyArray<string>) => Commands.runWith(variables, ...search, ...flags)
      const told = yield* export_("--out", join(root, "a.jsonl"))
      assert.strictEqual(told.code, 0)
      assert.deepStrictEqual(told.output.split("\n").slice(-3), [
        "3 members malformed or missing in the responses:",
        "  data[].lang            2",
        "  includes.users[].name  1"
      ])
      const { output } = yield* export_("--out", join(root, "b.jsonl"), "--json")
      const summary = JSON.parse(output)
      assert.strictEqual(summary.status, "done")
      assert.deepStrictEqual(summary.progress.anomalies, { "data[].lang": 2, "includes.users[].name": 1 })
      assert.deepStrictEqual(summary.files.map(({ name }: { readonly name: string }) => name), [
        "b.jsonl",
        "b.jsonl.postwire/users.jsonl"
      ])
      const piped = yield* export_("--out", "-")
      assert.include(
        piped.errors,
        "postwire: 3 members malformed or missing in the responses:\npostwire: data[].lang 2\n"
      )
      const both = yield* export_("--out", "-", "--json")
      assert.strictEqual(both.code, 1)
      assert.include(both.errors, "--json and --out - contradict each other")
    }))

  it.live("finishes the page on Ctrl-C, ends with 130, and goes on from there", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const env = yield* environment
      const { faults, budget } = yield* Sandbox.Sandbox
      const whole = yield* run(...search, "--out", join(root, "whole.jsonl"), "--max-results", "10")
      assert.strictEqual(whole.code, 0, whole.errors)
      budget.clear()
      faults.add({ times: "always", delay: 60 })
      const out = join(root, "a.jsonl")
      const work = `${out}.postwire/work`
      const items = join(work, "items.jsonl")
      const stopped = yield* Effect.promise(async () => {
        const child = start([...search, "--out", out, "--max-results", "10"], env)
        const end = ended(child)
        while (!existsSync(items) || readFileSync(items).length === 0) {
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        child.kill("SIGINT")
        return await end
      })
      assert.strictEqual(stopped.code, 130, stopped.errors)
      assert.match(
        stopped.errors,
        /Finishing the page[^]*Kept in .*a\.jsonl\.postwire: \d+ posts\. .*--resume continues/
      )
      const { progress } = JSON.parse(readFileSync(join(work, "checkpoint.json"), "utf8"))
      assert.strictEqual(linesOf(items).length, progress.items)
      assert.isFalse(existsSync(out), "it is there as a whole or not at all")
      faults.clear()
      const resumed = yield* run(...search, "--out", out, "--max-results", "10", "--resume")
      assert.strictEqual(resumed.code, 0, resumed.errors)
      assert.isTrue(readFileSync(out).equals(readFileSync(join(root, "whole.jsonl"))))
    }).pipe(Effect.provide(sandbox)))

  it.live("says what has left the window while it stood still, with exit code 3", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const { clock, faults } = yield* Sandbox.Sandbox
      const flags = [...search, "--out", join(root, "a.jsonl"), "--max-results", "10"]
      faults.add({ nth: 3, times: "always", status: 403 })
      const failed = yield* Commands.run(...flags)
      assert.strictEqual(failed.code, 1, failed.output)
      faults.clear()
      clock.advance("6 days")
      const end = yield* Commands.run(...flags, "--resume")
      assert.strictEqual(end.code, 3, end.errors)
      assert.match(end.output, /^partial: /)
      assert.match(end.errors, /Items created from 2026-11-13T12:\S+ to 2026-11-19T12:\S+ had left .*window/)
    }).pipe(Effect.provide(sandbox)))

  it.live("stops at once on the second Ctrl-C", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const env = yield* environment
      const { faults, journal } = yield* Sandbox.Sandbox
      faults.add({ times: "always", delay: "1 hour" })
      const stopped = yield* Effect.promise(async () => {
        const child = start([...search, "--out", join(root, "a.jsonl")], env)
        const end = ended(child)
        while (!existsSync(join(root, "a.jsonl.postwire/work/items.jsonl"))) {
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        child.kill("SIGINT")
        await once(child.stderr!, "data")
        child.kill("SIGINT")
        return await end
      })
      assert.strictEqual(stopped.code, 130)
      assert.isAtMost(journal.entries().length, 1)
    }).pipe(Effect.provide(sandbox)))

  it.live("writes to standard output as long as somebody reads", () =>
    Effect.gen(function*() {
      const env = yield* environment
      const { code, errors, output } = yield* Effect.promise(() =>
        ended(start([...search, "--out", "-", "--limit", "15"], env))
      )
      assert.strictEqual(code, 0)
      assert.match(errors, /^postwire: 15 posts, 1 request, up to \$0\.075\.\n$/)
      assert.strictEqual(output.trimEnd().split("\n").map((line) => JSON.parse(line) as unknown).length, 15)
      const closed = yield* Effect.promise(() => {
        const child = start([...search, "--out", "-", "--max-results", "10"], env)
        const end = ended(child)
        child.stdout!.destroy()
        return end
      })
      assert.strictEqual(closed.code, 141)
      assert.match(closed.errors, /^postwire: .*, up to \$.*\n$/)
      if (!existsSync("/dev/full")) return
      const full = yield* Effect.promise(() => ended(start([...search, "--out", "-"], env, openSync("/dev/full", "w"))))
      assert.strictEqual(full.code, 1)
      assertTold(
        { errors: full.errors.replace(/^postwire: .*, up to .*\n/, "") },
        /No room to write standard output/,
        /Make room/
      )
    }).pipe(Effect.provide(sandbox)))

  it.live("takes credentials from a file that nobody else can read, and shows them nowhere", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const { baseUrl, seeded } = yield* Sandbox.Sandbox
      const file = join(root, "credentials")
      const secret = Redacted.value(seeded.appBearerToken)
      writeFileSync(file, `POSTWIRE_BEARER_TOKEN=${secret}\nPOSTWIRE_BASE_URL=${baseUrl}\n`)
      const { POSTWIRE_BASE_URL: _, POSTWIRE_BEARER_TOKEN: __, ...env } = process.env
      const withFile = (...args: ReadonlyArray<string>) =>
        Effect.promise(() => ended(start([...args, "--credentials", file], env)))
      chmodSync(file, 0o640)
      const refused = yield* Commands.parse(...search, "--out", join(root, "a.jsonl"), "--credentials", file)
      assert.strictEqual(refused.code, 1)
      assertTold(refused, /other users may read it \(mode 0640\)/, /chmod 600/)
      chmodSync(file, 0o600)
      const done = yield* withFile(...search, "--out", join(root, "a.jsonl"), "--debug")
      assert.strictEqual(done.code, 0, done.errors)
      const failed = yield* withFile(
        ..."export searchRecentPosts --query (( --debug --out".split(" "),
        join(root, "b.jsonl")
      )
      assert.strictEqual(failed.code, 1)
      assert.match(failed.errors, /\n {2}\| +at /, "the stack")
      const texts = [
        ...readdirSync(root, { recursive: true, encoding: "utf8" })
          .filter((name) => /\.\w+$/.test(name) && !name.endsWith(".postwire"))
          .map((name) => readFileSync(join(root, name), "utf8")),
        done.output,
        done.errors,
        failed.output,
        failed.errors
      ]
      for (const text of texts) assert.notInclude(text, secret)
    }).pipe(Effect.provide(sandbox)))

  it.live("cuts a search into parts that come out as one", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const end = ["--end-time", "2026-11-20T11:00:00Z"]
      const whole = yield* Commands.run(...search, ...end, "--out", join(root, "a.jsonl"))
      const parts = yield* Commands.run(...search, ...end, "--out", join(root, "b.jsonl"), "--partitions", "4")
      assert.deepStrictEqual([whole.code, parts.code], [0, 0], parts.errors)
      assert.isTrue(readFileSync(join(root, "a.jsonl")).equals(readFileSync(join(root, "b.jsonl"))))
      assert.sameMembers(readdirSync(root), ["a.jsonl", "a.jsonl.postwire", "b.jsonl", "b.jsonl.postwire"])
    }).pipe(Effect.provide(sandbox)))

  it.live("refuses what it can before the first request", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const taken = join(root, "taken.jsonl")
      writeFileSync(taken, "precious")
      const out = join(root, "a.jsonl")
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--out", taken, "--partitions", "4"], /taken\.jsonl exists already/],
        [["--out", out, "--partitions", "4", "--sort-order", "relevancy"], /only the newest-first order/],
        [["--out", out, "--partitions", "4", "--max-results", "7"], /--max-results must be/],
        [["--out", join(root, "a.parquet.gz")], /would be JSON Lines/],
        [["--out", out, "--guard"], /--guard is for csv/],
        [["--out", `${out}.postwire`], /is the name of an export's folder/]
      ]
      for (const [flags, what] of cases) {
        const end = yield* Commands.run(...search, ...flags)
        assert.strictEqual(end.code, 1, end.output)
        assertTold(end, what, /\w/)
      }
      assert.deepStrictEqual(readdirSync(root), ["taken.jsonl"])
      assert.strictEqual((yield* Sandbox.Sandbox).journal.entries().length, 0)
    }).pipe(Effect.provide(sandbox)))

  it.live("refuses flags that contradict each other", () =>
    Effect.gen(function*() {
      const cluster = ["--cluster", "postgres://127.0.0.1:1/a"]
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--out", "a.jsonl", "--resume", "--force"], /--resume and --force contradict/],
        [["--out", "a.jsonl", "--gzip", "--zstd"], /--gzip and --zstd contradict/],
        [["--out", "a.parquet", "--gzip"], /Only files of jsonl and csv/],
        [["--out", "a.csv.gz", "--zstd"], /a\.csv\.gz and --zstd contradict/],
        [["--out", "a.PARQUET.GZ"], /would be JSON Lines/],
        [["--out", "a.jsonl", "--detach"], /--detach is for exports on a cluster/],
        [["--out", "a.jsonl", "--label", "b"], /--label is for exports on a cluster/],
        [[...cluster, "--each", "a.csv"], /--each is not for exports on a cluster/],
        [[...cluster, "--each", "a.csv", "--out", "a.jsonl"], /--each is not for exports on a cluster/],
        [[...cluster, "--limit-each", "5"], /--limit-each is not for exports on a cluster/],
        [[...cluster, "--limit", "5"], /--limit is not for exports on a cluster/],
        [[...cluster, "--max-spend", "5"], /--max-spend is not for exports on a cluster/],
        [[...cluster, "--detach", "--out", "a.jsonl"], /--detach and --out contradict/],
        [["--out", "-", "--format", "csv"], /Standard output takes only JSON Lines/],
        [["--out", "a.jsonl", "--max-results", "7"], /--max-results must be a whole number from 10 to 100/]
      ]
      const before = readdirSync(".")
      for (const [flags, what] of cases) {
        const end = yield* Commands.run(...search, ...flags)
        assert.strictEqual(end.code, 1)
        assertTold(end, what, /\w/)
      }
      assert.include((yield* Commands.run(...search, ...cluster, "--json")).errors, "--json is for files")
      assertTold(yield* Commands.parse(...search, "--out", "a.jsonl", "--credentials", "."), /\.: it is a folder/, /\w/)
      assert.deepStrictEqual(readdirSync("."), before)
    }).pipe(Effect.provide(sandbox)))
})

describe("postwire plan", () => {
  it.live("tells posts, requests, time and the share of the cap before they are spent", () =>
    Effect.gen(function*() {
      const { code, output } = yield* Commands.run(
        ..."plan searchRecentPosts --query effect --post-cap 1000".split(" ")
      )
      assert.strictEqual(code, 0)
      assert.match(
        output,
        /^searchRecentPosts\n {2}span .*\n {2}posts +\d+\n {2}requests +\d+ or.*\n {2}price +\$\d\.\d+ or less, by the prices of 2026-08-22\n {2}limit +450 requests in 15 min, as the service announces\n {2}time .*\n {2}post cap +\d+\.\d % of 1,000/
      )
      for (const line of output.split("\n")) assert.isAtMost(line.length, 80)
      const { budget, journal } = yield* Sandbox.Sandbox
      assert.deepStrictEqual(journal.entries().map(({ operation }) => operation), [
        "getRecentPostsCount",
        "searchRecentPosts"
      ])
      assert.deepStrictEqual(budget.posts(), [])
      const none = yield* Commands.run("plan", "getListPosts", "--id", "1")
      assertTold(none, /has no count/, /Export it/)
    }).pipe(Effect.provide(sandbox)))
})

describe("errors", () => {
  it("cannot steer the terminal that shows them", () => {
    assert.strictEqual(
      Text.plain("a\u001b[31mb\u009bc\u202ed\u0007\r\n\te"),
      "a\ufffd[31mb\ufffdc\ufffdd\ufffd\ufffd\n\te"
    )
  })
})
