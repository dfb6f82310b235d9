import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { ConfigProvider, Effect } from "effect"
import { spawnSync } from "node:child_process"
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { postwire } from "../../core/test/support/ProgramFile.ts"
import { Environment } from "../src/connection/Variables.ts"
import * as Commands from "./Commands.ts"

/** Runs a command line for a user with a folder of settings and some variables. */
const of = (home: string, variables: Readonly<Record<string, string>> = {}) => (...args: ReadonlyArray<string>) =>
  Commands.parse(...args).pipe(
    Effect.provideService(Environment, variables),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CONFIG_HOME: home, XDG_STATE_HOME: home })))
  )

const listOf = (
  output: string
): ReadonlyArray<{ readonly name: string; readonly value?: string; readonly from?: string }> =>
  JSON.parse(output).settings

describe("postwire config", () => {
  it.effect("replaces the file as a whole, where a link leads, so that a crash leaves the old settings or the new ones", () =>
    Effect.gen(function*() {
      const home = yield* Commands.folder
      const [file, real] = [join(home, "postwire/config.json"), join(home, "dotfile.json")]
      mkdirSync(join(home, "postwire"))
      writeFileSync(real, `{"account":"ada"}`)
      symlinkSync(real, file)
      linkSync(real, join(home, "old.json"))
      const { code, errors } = yield* of(home)("config", "set", "wire", "x")
      assert.strictEqual(code, 0, errors)
      assert.isTrue(lstatSync(file).isSymbolicLink())
      assert.deepStrictEqual(JSON.parse(readFileSync(real, "utf8")), { account: "ada", wire: "x" })
      assert.strictEqual(readFileSync(join(home, "old.json"), "utf8"), `{"account":"ada"}`)
      assert.deepStrictEqual(readdirSync(home).sort(), ["dotfile.json", "old.json", "postwire"])
    }))

  it.effect("sets, gets, removes and lists defaults, and says where each comes from", () =>
    Effect.gen(function*() {
      const home = yield* Commands.folder
      const file = join(home, "postwire/config.json")
      const run = of(home, { POSTWIRE_WIRE: "x" })
      assert.deepStrictEqual((yield* run("config", "path")).output, file)
      const set = yield* run("config", "set", "account", "ada")
      assert.deepStrictEqual(set, { code: 0, output: "", errors: `postwire: account is ada in ${file}.` })
      const hidden = yield* run("config", "set", "POSTWIRE_WIRE", "neutral")
      assert.strictEqual(
        hidden.errors,
        `postwire: wire is neutral in ${file}.\n  Commands here use x, from POSTWIRE_WIRE.`
      )
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), { account: "ada", wire: "neutral" })
      assert.strictEqual((yield* run("config", "get", "account")).output, "ada")
      const entries = listOf((yield* run("config", "list", "--json")).output)
      assert.deepStrictEqual(entries.filter(({ value }) => value !== undefined), [
        { name: "account", value: "ada", from: file },
        { name: "wire", value: "x", from: "POSTWIRE_WIRE" },
        { name: "askAbove", value: "5", from: "default" }
      ])
      const { output } = yield* run("config", "list")
      assert.match(output, /^SETTING {8}VALUE {2}FROM\naccount {8}ada {4}.+\nwire {11}x {6}POSTWIRE_WIRE\n/)
      yield* run("config", "unset", "account")
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), { wire: "neutral" })
      const absent = yield* run("config", "get", "account")
      assert.deepStrictEqual([absent.code, absent.errors], [
        1,
        "postwire: account is not set\n  postwire config set account VALUE sets it."
      ])
    }).pipe(Effect.scoped))

  it.effect("refuses secrets, unknown names, values that cannot be, and files that it cannot read", () =>
    Effect.gen(function*() {
      const home = yield* Commands.folder
      const run = of(home)
      const cases = [
        [["bearerToken", "A"], /^postwire: bearerToken is not kept in .*\n {2}Sign in with postwire login, or .*$/],
        [["POSTWIRE_CLIENT_SECRET", "A"], /^postwire: POSTWIRE_CLIENT_SECRET is not kept in /],
        [["acount", "ada"], /^postwire: There is no setting "acount"\n {2}Did you mean account\? There are account, /],
        [["wire", "y"], /^postwire: wire must be neutral, .*\. Got "y"\.\n {2}Correct it/],
        [["askAbove", "much"], /^postwire: askAbove must be dollars/],
        [["baseUrl", "api.example.com"], /^postwire: baseUrl must be an address/],
        [
          ["baseUrl", "https://example.com", "--project"],
          /a project does not decide baseUrl\n {2}Set it for yourself: /
        ]
      ] as const
      for (const [args, expected] of cases) {
        const { code, errors, output } = yield* run("config", "set", ...args)
        assert.deepStrictEqual([code, output], [1, ""])
        assert.match(errors, expected)
      }
      mkdirSync(join(home, "postwire"))
      const file = join(home, "postwire/config.json")
      for (
        const [text, expected] of [
          ["{", /config\.json: it is not JSON\n {2}Correct it, as in \{"account": "ada"\}, or remove it\.$/],
          ["[]", /config\.json: There is no setting|config\.json: it is not an object/],
          ["{\"bearerToken\":\"A\"}", /config\.json: bearerToken is not kept in/],
          ["{\"wire\":\"y\"}", /wire must be neutral, .*Got "y"\.\n {2}Correct it in .*config\.json\.$/]
        ] as const
      ) {
        writeFileSync(file, text)
        for (const args of [["config", "list"], ["call", "getMe"]]) {
          const { code, errors } = yield* run(...args)
          assert.strictEqual(code, 1)
          assert.match(errors, expected)
        }
      }
    }).pipe(Effect.scoped))

  it.effect("takes the nearest file of a project, which decides neither addresses nor amounts", () =>
    Effect.gen(function*() {
      const home = yield* Commands.folder
      const project = yield* Commands.folder
      const deep = join(project, "a", "b")
      mkdirSync(deep, { recursive: true })
      const run = (...args: ReadonlyArray<string>) =>
        spawnSync(process.execPath, [postwire, ...args], {
          cwd: deep,
          encoding: "utf8",
          env: { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: home }
        })
      run("config", "set", "account", "ada")
      writeFileSync(join(project, "postwire.json"), "{\"account\":\"bot\"}")
      const [account] = listOf(run("config", "list", "--json").stdout)
      assert.deepStrictEqual(account, { name: "account", value: "bot", from: join(project, "postwire.json") })
      assert.match(run("call", "getMe").stderr, /There is no account "bot"/)
      writeFileSync(join(project, "postwire.json"), "{\"baseUrl\":\"https://example.com\"}")
      assert.match(run("call", "getMe").stderr, /postwire\.json: a project does not decide baseUrl\n/)
    }).pipe(Effect.scoped))
})

layer(Sandbox.layerServer({ posts: 20 }), { excludeTestServices: true })("the defaults of commands", (it) => {
  it.effect("give way to variables and flags, and an account to tokens in the environment", () =>
    Effect.gen(function*() {
      const home = yield* Commands.folder
      const { POSTWIRE_BASE_URL: baseUrl = "", ...tokens } = yield* Commands.variables()
      const variables = Object.fromEntries(Object.entries(tokens).map(([name, value]) => [name, value ?? ""]))
      const run = of(home, variables)
      yield* run("config", "set", "baseUrl", baseUrl)
      yield* run("config", "set", "wire", "x")
      yield* run("config", "set", "account", "nobody")
      const { errors, output } = yield* run("call", "getMe", "--json")
      assert.strictEqual(errors, "")
      assert.strictEqual(JSON.parse(output).data.username, "ada")
      const other = yield* of(home, { ...variables, POSTWIRE_BASE_URL: "http://127.0.0.1:9" })("call", "getMe")
      assert.match(other.errors, /^postwire: getMe: .*ECONNREFUSED|127\.0\.0\.1:9/)
      const named = yield* of(home)("call", "getMe")
      assert.match(named.errors, /^postwire: There is no account "nobody"/)
    }).pipe(Effect.scoped))
})
