import { assert, describe, it, layer } from "@effect/vitest"
import * as FileJournal from "@postwire/node/FileJournal"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Clock, Effect, Redacted } from "effect"
import type { Check } from "../src/doctor/Check.ts"
import * as Examination from "../src/doctor/Examination.ts"
import { journalCheck } from "../src/doctor/Journal.ts"
import * as Commands from "./Commands.ts"

const named = (checks: ReadonlyArray<Check>, name: string) => checks.find((check) => check.name === name)

const examine = (replaced: Readonly<Record<string, string | undefined>> = {}) =>
  Effect.flatMap(Commands.variables(replaced), (variables) => Examination.examine(variables, "24.1.0"))

layer(Sandbox.layerServer({ posts: 50 }), { excludeTestServices: true })("postwire doctor", (it) => {
  it.effect("finds all well, tells what may be done, and shows no secret", () =>
    Effect.gen(function*() {
      const { budget, seeded } = yield* Sandbox.Sandbox
      const told = yield* Commands.run("doctor")
      assert.deepStrictEqual([told.code, told.errors], [0, ""])
      for (const line of told.output.split("\n")) assert.isAtMost(line.length, 80)
      assert.match(told.output, /ok +bearer token +Belongs to @ada, can count and search/)
      assert.match(told.output, /ok +user \(OAuth 1\.0a\) Belongs to @ada, can read, write/)
      assert.match(told.output, /ok +clock +It agrees/)
      assert.match(told.output, /ok +rate limit +getMe \(bearer\): \d+ of 75 left/)
      assert.match(told.output, /ok +journal +Uploads and threads record their progress in\s+\/nonexistent\/journal/)
      const json = yield* Commands.run("doctor", "--json")
      const { checks, ok } = JSON.parse(json.output)
      assert.isTrue(ok)
      assert.strictEqual(named(checks, "user (OAuth 1.0a)")?.details?.["rights"], "read-write-directmessages")
      assert.isBelow(Math.abs(Number(named(checks, "clock")?.details?.["offsetMillis"])), 60_000)
      for (
        const secret of [seeded.userBearerToken, seeded.accessToken, seeded.consumerSecret, seeded.accessTokenSecret]
      ) {
        const text = typeof secret === "string" ? secret : Redacted.value(secret)
        assert.notInclude(told.output + json.output, text)
      }
      assert.deepStrictEqual(budget.posts(), [], "nothing counts towards the post cap")
    }))

  it.effect("tells an app's token from a user's, and misses nothing that is not needed", () =>
    Effect.gen(function*() {
      const { seeded } = yield* Sandbox.Sandbox
      const checks = yield* examine({
        POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken),
        POSTWIRE_CONSUMER_KEY: undefined,
        POSTWIRE_CONSUMER_SECRET: undefined,
        POSTWIRE_ACCESS_TOKEN: undefined,
        POSTWIRE_ACCESS_TOKEN_SECRET: undefined
      })
      assert.match(named(checks, "bearer token")?.finding ?? "", /^Belongs to an app, can count and search recent/)
      assert.strictEqual(named(checks, "app's token")?.finding, "Belongs to an app")
      assert.strictEqual(named(checks, "user (OAuth 1.0a)")?.status, "info")
      assert.deepStrictEqual(checks.filter(({ status }) => status === "bad"), [])
    }))

  it.effect("names the folder of the journal where no setting does", () =>
    Effect.gen(function*() {
      const check = yield* journalCheck({})
      assert.strictEqual(check.details?.["folder"], yield* FileJournal.ownFolder)
    }))

  it.effect("finds what is wrong with credentials and settings", () =>
    Effect.gen(function*() {
      const { seeded: { userBearerToken } } = yield* Sandbox.Sandbox
      const none = {
        POSTWIRE_BEARER_TOKEN: "",
        POSTWIRE_APP_BEARER_TOKEN: "",
        POSTWIRE_CONSUMER_KEY: "",
        POSTWIRE_CONSUMER_SECRET: "",
        POSTWIRE_ACCESS_TOKEN: "",
        POSTWIRE_ACCESS_TOKEN_SECRET: ""
      }
      const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string, RegExp]> = [
        [{ POSTWIRE_BEARER_TOKEN: "canary-token" }, "bearer token", /does not accept it \(401\)/],
        [{ POSTWIRE_APP_BEARER_TOKEN: "canary-token" }, "app's token", /does not accept it \(401\)/],
        [
          { POSTWIRE_APP_BEARER_TOKEN: Redacted.value(userBearerToken) },
          "app's token",
          /not belong to an app \(403\)/
        ],
        [{ POSTWIRE_ACCESS_TOKEN_SECRET: "canary-token" }, "user (OAuth 1.0a)", /does not accept it/],
        [{ POSTWIRE_CONSUMER_SECRET: "" }, "user (OAuth 1.0a)", /Only 3 of its 4 parts/],
        [
          { POSTWIRE_BEARER_TOKEN: "canary-token with a space" },
          "credentials",
          /^POSTWIRE_BEARER_TOKEN must be one line/
        ],
        [none, "credentials", /No credential is complete/],
        [{ POSTWIRE_BASE_URL: "" }, "settings", /^No service: POSTWIRE_BASE_URL is not set/],
        [{ POSTWIRE_BASE_URL: "ftp://x" }, "settings", /^POSTWIRE_BASE_URL must be a URL/],
        [{ POSTWIRE_WIRE: "y" }, "settings", /^POSTWIRE_WIRE must be one of neutral, x/],
        [{ POSTWIRE_BASE_URL: "http://127.0.0.1:1" }, "service", /does not respond: .*ECONNREFUSED/]
      ]
      for (const [replaced, name, finding] of cases) {
        const checks = yield* examine(replaced)
        assert.deepStrictEqual(checks.filter(({ status }) => status === "bad").map(({ name }) => name), [name])
        assert.match(named(checks, name)?.finding ?? "", finding)
        assert.notInclude(JSON.stringify(checks), "canary")
      }
      const advice = named(yield* examine({ POSTWIRE_CONSUMER_SECRET: "" }), "user (OAuth 1.0a)")?.advice
      assert.strictEqual(advice, "Set POSTWIRE_CONSUMER_SECRET too.")
    }))

  it.effect("finds a clock that is wrong", () =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const shifted = (millis: number): Clock.Clock => ({
        ...clock,
        sleep: clock.sleep.bind(clock),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis)
      })
      for (
        const [millis, status, finding] of [
          [20_000, "warning", /20\.\d s ahead|19\.\d s ahead/],
          // Calls correct it: it is wrong, and keeps nothing from working.
          [-900_000, "warning", /(900|899)\.\d s behind/]
        ] as const
      ) {
        const checks = yield* Effect.provideService(examine(), Clock.Clock, shifted(millis))
        assert.strictEqual(named(checks, "clock")?.status, status)
        assert.match(named(checks, "clock")?.finding ?? "", finding)
        assert.strictEqual(named(checks, "user (OAuth 1.0a)")?.status, "ok")
        assert.deepStrictEqual(checks.filter(({ status }) => status === "bad"), [])
      }
      const { faults } = yield* Sandbox.Sandbox
      faults.add({ times: "always", status: 401, operation: "getMe" })
      const refused = yield* Effect.provideService(examine(), Clock.Clock, shifted(-900_000))
      faults.clear()
      assert.strictEqual(named(refused, "clock")?.status, "bad")
    }))

  it.effect("guesses the wire, and sees a spent budget", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Commands.serve((request, response) => {
        const isMe = request.url === "/2/users/me"
        if (request.url?.includes("post.fields")) {
          response.writeHead(400, { "content-type": "application/problem+json" })
          return void response.end(`{"errors":[{"message":"The query parameter [post.fields] is not one of [ids]"}]}`)
        }
        response.writeHead(
          request.headers.authorization === undefined ? request.url?.includes("tweets") ? 401 : 404 : 200,
          {
            "content-type": "application/json",
            ...isMe
              ? {
                "x-access-level": "read",
                "x-rate-limit-limit": "75",
                "x-rate-limit-remaining": "0",
                "x-rate-limit-reset": String(Math.ceil(Date.now() / 1000) + 600)
              }
              : {}
          }
        )
        response.end(JSON.stringify(isMe ? { data: { id: "1", name: "A", username: "a" } } : { data: [], meta: {} }))
      })
      const wrong = yield* examine({ POSTWIRE_BASE_URL: baseUrl })
      assert.deepStrictEqual(
        [named(wrong, "wire")?.status, named(wrong, "wire")?.advice],
        ["bad", "Set POSTWIRE_WIRE=x."]
      )
      const right = yield* examine({ POSTWIRE_BASE_URL: baseUrl, POSTWIRE_WIRE: "x" })
      assert.strictEqual(named(right, "wire")?.status, "ok")
      assert.deepStrictEqual(
        [
          named(right, "field names")?.status,
          named(right, "field names")?.finding,
          named(right, "field names")?.advice
        ],
        ["bad", "The service refuses those of x and accepts those of x-2026-02", "Set POSTWIRE_WIRE=x-2026-02."]
      )
      const older = yield* examine({ POSTWIRE_BASE_URL: baseUrl, POSTWIRE_WIRE: "x-2026-02" })
      assert.deepStrictEqual(
        [named(older, "field names")?.status, named(older, "field names")?.finding],
        ["ok", "The service accepts those of x-2026-02"]
      )
      assert.match(named(right, "user (OAuth 1.0a)")?.finding ?? "", /^Belongs to @a, can read$/)
      assert.deepStrictEqual(
        [named(right, "rate limit")?.status, named(right, "rate limit")?.details?.["remaining"]],
        ["warning", 0]
      )
      assert.deepStrictEqual(older.filter(({ status }) => status === "bad"), [])
    }))

  it.effect("tells no research access from an archive that does not answer", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      for (const [status, advice] of [[403, /request research access/], [429, /did not respond/]] as const) {
        faults.add({ times: "always", status, operation: "getAllPostsCount" })
        const checks = yield* examine()
        faults.clear()
        assert.strictEqual(named(checks, "bearer token")?.status, "ok")
        assert.match(named(checks, "bearer token")?.advice ?? "", advice)
      }
    }))

  it.effect("ends with one clear line when something is wrong", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      faults.add({ times: "always", status: 401, operation: "getMe" })
      const { code, errors } = yield* Commands.run("doctor")
      faults.clear()
      assert.deepStrictEqual([code, errors], [1, "postwire: 2 things are wrong: bearer token, user (OAuth 1.0a)"])
    }))
})

describe("postwire doctor", () => {
  it.effect("tells which words a service takes that speaks those of one date", () =>
    Effect.gen(function*() {
      for (const [own, other] of [["x", "x-2026-02"], ["x-2026-02", "x"]] as const) {
        const look = (wire: string) =>
          Effect.provide(examine({ POSTWIRE_WIRE: wire }), Sandbox.layerServer({ posts: 0, wire: own }))
        assert.deepInclude(named(yield* look(own), "field names"), {
          status: "ok",
          finding: `The service accepts those of ${own}`,
          details: { [own]: "accepted", [other]: "refused" }
        })
        assert.deepInclude(named(yield* look(other), "field names"), {
          status: "bad",
          finding: `The service refuses those of ${other} and accepts those of ${own}`,
          advice: `Set POSTWIRE_WIRE=${own}.`,
          details: { [own]: "accepted", [other]: "refused" }
        })
        assert.deepInclude(named(yield* look("neutral"), "wire"), {
          status: "bad",
          advice: "Set POSTWIRE_WIRE=x."
        })
      }
      const all = yield* Effect.provide(examine({ POSTWIRE_WIRE: "x" }), Sandbox.layerServer({ posts: 0 }))
      assert.strictEqual(named(all, "field names")?.finding, "The service accepts those of x, and those of x-2026-02")
    }))
})
