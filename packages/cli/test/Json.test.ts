/** What `--json` prints: one object as documented, amounts in dollars, failures as one line. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Predicate, Redacted } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

/** The documented members by command. */
const documented: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Array.from(
    readFileSync(join(import.meta.dirname, "../../../docs/cli.md"), "utf8").matchAll(/^\| (`.+?) \| (`.+?) \|.*\|$/gm),
    ([, commands = "", members = ""]) =>
      [commands, members].map((cell): ReadonlyArray<string> => cell.match(/(?<=`)[^`,]+(?=`)/g) ?? [])
  ).flatMap(([commands = [], members = []]) => commands.map((command) => [command, members] as const))
)

/** Each member of a value, at any depth. */
const membersOf = (value: unknown): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Array.isArray(value)
    ? value.flatMap(membersOf)
    : Predicate.isObject(value)
    ? Object.entries(value).flatMap((member) => [member, ...membersOf(member[1])])
    : []

const assertShape = (command: string, { errors, output }: Pick<Commands.Ended, "errors" | "output">) => {
  const value: unknown = JSON.parse(output === "" ? assert.fail(`${command}: ${errors}`) : output)
  if (!Predicate.isObject(value) || Array.isArray(value)) assert.fail(`${command}: ${output}`)
  const members = documented.get(command) ?? assert.fail(`${command} is not documented`)
  assert.deepStrictEqual(Object.keys(value).filter((name) => !members.includes(name)), [], command)
  for (const [name, found] of membersOf(value)) {
    assert.notMatch(name, /micros|spent|cost/i, command)
    if (typeof found === "number") assert.strictEqual(found, Number(found.toFixed(6)), `${command}: ${name}`)
    if (name === "duration") assert.isTrue(Number.isInteger(found), `${command}: ${String(found)}`)
  }
  return value
}

const sandbox = Sandbox.layerServer({ posts: 200 })

/** Commands of an app or a user, with files in a folder of their own. */
const desk = Effect.gen(function*() {
  const { ada, adminToken, baseUrl, reset, seeded, user } = yield* Sandbox.Sandbox
  reset()
  const folder = yield* Commands.folder
  const path = (name: string) => join(folder, name)
  const other = user({ username: "grace" })
  const found = other.post("found").id
  const list = ada.list({ name: "Friends", members: [other] }).id
  writeFileSync(path("ids.txt"), `${found}\n1\n`)
  writeFileSync(path("words.txt"), "no\nid\n")
  writeFileSync(path("none.txt"), "")
  writeFileSync(path("pairs.csv"), "a,b\n1,2\n")
  writeFileSync(path("users.csv"), "username\ngrace\n")
  writeFileSync(path("rules.txt"), "[a] alpha\n")
  writeFileSync(path("wrong.txt"), "[a] (alpha\n")
  const subscriptions = [{ event_type: "post.create", filter: { user_id: other.id } }]
  writeFileSync(path("webhook.json"), JSON.stringify({ url: "http://localhost/hook", subscriptions }))
  writeFileSync(path("boat.md"), "One\n---\nTwo\n")
  writeFileSync(path("a.jpg"), MediaBytes.jpeg())
  const own = { POSTWIRE_JOURNAL: path("journal"), POSTWIRE_SPEND_STORE: path("spend.db") }
  const variables = yield* Commands.variables({ ...own, POSTWIRE_SANDBOX_ADMIN_TOKEN: Redacted.value(adminToken) })
  const app = { ...own, POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken) }
  const run = (line: string, as: typeof variables = variables) =>
    Commands.runWith(as, ...line.split(" ").map((word) => word.startsWith("./") ? path(word) : word), "--json")
  return { app, found, list, path, run }
})

layer(sandbox, { excludeTestServices: true })("with --json", (it) => {
  it.effect("every command prints one object with the documented members, amounts in dollars", () =>
    Effect.gen(function*() {
      const { app, found, list, run } = yield* desk
      const search = "searchRecentPosts --query a --expansions author_id"
      const lines: ReadonlyArray<readonly [command: string, line: string]> = [
        ["call", "call getMe"],
        ["request", "request GET /2/users/me"],
        ["plan", `plan ${search} --post-cap 777`],
        ["plan --each", "plan getUsersPosts --each ./users.csv"],
        ["export", `export ${search} --out ./a.jsonl`],
        ["lists export", `lists export ${list} --out ./members.csv`],
        ["hydrate --dry-run", "hydrate ./ids.txt --out ./b.jsonl --dry-run"],
        ["hydrate", "hydrate ./ids.txt --out ./b.jsonl"],
        ["comply --dry-run", "comply ./ids.txt --dry-run"],
        ["lists sync --dry-run", `lists sync ${list} ./users.csv --dry-run`],
        ["lists sync", `lists sync ${list} ./users.csv`],
        ["lists all", "lists all"],
        ["conversation", `conversation ${found}`],
        ["export", `conversation ${found} --out ./c.jsonl`],
        ["counts", "counts a"],
        ["post", "post Hello"],
        ["upload", "upload ./a.jpg"],
        ["thread --dry-run", "thread ./boat.md --dry-run"],
        ["thread", "thread ./boat.md"],
        ["spend", "spend"],
        ["trigger", "trigger post.create --print"],
        ["trigger", "trigger dm.received --forward-to http://127.0.0.1:1"],
        ["doctor", "doctor"]
      ]
      for (const [command, line] of lines) assertShape(command, yield* run(line))
      const ofApp = [
        "rules plan ./rules.txt",
        "rules apply ./rules.txt --overlap 0",
        "rules list",
        "webhooks plan ./webhook.json",
        "webhooks list"
      ]
      for (const line of ofApp) {
        assertShape(line.split(" ").slice(0, 2).join(" "), yield* run(line, app))
      }
      assertShape("comply", yield* run("comply ./ids.txt", app))
      assertShape("accounts", yield* Commands.parse("accounts", "--json"))
      assertShape("config list", yield* Commands.parse("config", "list", "--json"))
    }).pipe(Effect.scoped))

  it.effect("a failure is one line with its tag, message, advice and exit code", () =>
    Effect.gen(function*() {
      const { app, run } = yield* desk
      const cases: ReadonlyArray<readonly [line: string, tag: string, code: number, message: RegExp, advice?: RegExp]> =
        [
          [
            "hydrate ./ids.txt --out ./x.jsonl --max-spend 0",
            "Failure",
            1,
            /^It would cost up to \$0\.01; /,
            /^Nothing was/
          ],
          ["call getUser --id 1x", "InvalidParameters", 1, /^getUser: /, /^Correct it/],
          [
            "call createPost",
            "InvalidParameters",
            1,
            /--text is missing: at least one of --text, --media-ids is required/
          ],
          [
            "call createPost --text a --poll-options a,b",
            "InvalidParameters",
            1,
            /: --poll-duration-minutes is missing: --poll-options needs --poll-duration-minutes/
          ],
          [
            "call searchCommunities --query a --pagination-token b --next-token c",
            "InvalidParameters",
            1,
            /: --pagination-token cannot be given together with --next-token/
          ],
          ["hydrate . --out ./f.jsonl", "RowsUnusable", 1, /: it is a folder$/],
          ["thread .", "Failure", 1, /: it is a folder$/],
          [
            "hydrate ./pairs.csv --out ./f.jsonl",
            "RowsUnusable",
            1,
            /there are a, b$/,
            /^Name the column with --column /
          ],
          ["call getUser --usernam ada", "UnrecognizedOption", 1, /--usernam\b/, /^Did you mean --username\? /],
          ["cal getMe", "UnknownSubcommand", 1, /\bcal\b/, /call/],
          ["call getUsers --usernames nobodyyy", "PartialErrors", 3, /reported 1 error/, /^They are listed above/],
          ["request GET /2/nothing", "NotFound", 1, /404/, /^Check the path/],
          [
            "hydrate ./words.txt --out ./z.jsonl",
            "NoIds",
            3,
            /words\.txt has no id of posts: 2 rows$/,
            /^Name the column/
          ],
          [
            "hydrate ./none.txt --out ./e.jsonl",
            "NoIds",
            3,
            /none\.txt has no id of posts: 0 rows$/,
            /^Name the column/
          ]
        ]
      for (const [line, tag, code, message, advice = /./] of cases) {
        const { code: exitCode, errors } = yield* run(line)
        const { error } = JSON.parse(errors.split("\n").at(-1) ?? "")
        assert.deepInclude({ ...error, code: exitCode }, { tag, exitCode: code, code }, line)
        assert.match(error.message, message)
        assert.match(error.advice, advice)
      }
      const { errors } = yield* run("rules plan ./wrong.txt", app)
      const { error } = JSON.parse(errors)
      assert.match(error.message, /wrong\.txt, line 1, character \d+: /)
      assert.strictEqual(error.tag, "WrongRules")
    }).pipe(Effect.scoped))
})

describe("hydrate of a file without ids", () => {
  it.live("ends with 3 and says why, before it shows a price or writes a file", () =>
    Effect.gen(function*() {
      const { path } = yield* desk
      for (const [file, ...more] of [["words.txt"], ["words.txt", "--dry-run"], ["none.txt", "--users"]] as const) {
        const { code, errors, output } = yield* Commands.run("hydrate", path(file), "--out", path("a.jsonl"), ...more)
        assert.deepStrictEqual([code, output, existsSync(path("a.jsonl"))], [3, "", false])
        assert.match(errors, /^postwire: \S+ has no id of (posts: 2|users: 0) rows\n {2}Name the column with --column/)
      }
    }).pipe(Effect.scoped, Effect.provide(sandbox)))
})

describe("a process", () => {
  it.live("prints its failure as JSON", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* Effect.promise(() => ended(start(["export", "nothing", "--json"])))
      const { error } = JSON.parse(errors)
      assert.deepInclude({ ...error, code }, { tag: "UnknownSubcommand", exitCode: 1, code: 1 })
    }))
})
