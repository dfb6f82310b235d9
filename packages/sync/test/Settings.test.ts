import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as ClientConfig from "@postwire/core/client/ClientConfig"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as Wire from "@postwire/core/wire/Wire"
import * as Node from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import { ConfigProvider, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Sync from "../src/index.ts"

const baseUrl = "https://service.test"
const certificate = "-----BEGIN CERTIFICATE-----"
const tokenStore = { read: async () => undefined, write: async () => {}, lock: async () => () => {} }
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Of each setting, what is one and what is none. */
const settings: Readonly<Record<string, readonly [valid: ReadonlyArray<unknown>, invalid: ReadonlyArray<unknown>]>> = {
  baseUrl: [[baseUrl, `${baseUrl}/a`, "http://127.0.0.1:1"], ["", "a", 1, "http://service.test", undefined, null]],
  wire: [["x", "neutral"], ["", "twitter", null, 1]],
  userAgent: [["a"], ["", "a\n", null, 1]],
  verify: [["lenient", "strict"], ["none", null, true]],
  checks: [["spec", "identifiers"], ["none", null, true]],
  accessLevel: [["standard", "research"], ["basic", null, 1]],
  timeout: [[1, 0.5, Infinity, { total: 0 }, { idle: 1 }, {}], [0, -1, Number.NaN, "1", null, { total: -1 }, { a: 1 }]],
  retries: [[0, 10], [-1, 11, 0.5, Number.NaN, "1", null]],
  maxBodySize: [[1], [0, -1, 0.5, Infinity, "1", null]],
  recordContent: [[true, false], ["true", 1, null]],
  allowInsecureHttp: [[true, false], ["true", 1, null]],
  onRequest: [[() => {}], [1, null, {}]],
  bearerToken: [["a", " a\n", "", null], [1, "a b", {}]],
  accessToken: [["1-a"], [1, "..", "-a"]],
  account: [["ada", "_a", "1-a_B", "a".repeat(32)], ["", "-a", "a b", "../a", "a".repeat(33), 1, null]],
  clientId: [["a", " a\n", ""], [1, "a b"]],
  "oauth2.clientId": [["a"], [undefined, "", 1, "a b"]],
  "oauth2.refreshToken": [["a", " a\n"], [undefined, "", 1, "a b"]],
  "oauth2.accessToken": [["a", "", undefined], [1, "a b"]],
  "oauth2.expiresAt": [[0, Date.now()], ["1", Number.NaN, Infinity, new Date()]],
  "oauth2.scopes": [[[], ["post.read"]], ["post.read", ["tweet.read"], [1]]],
  "oauth2.save": [[() => {}], [1, "a"]],
  "oauth2.state": [[], [1]],
  tokenStore: [["./a", "/a/b"], ["", "a", "redis:6379", "http://service.test", 1, {}, { read: () => {} }]],
  returnType: [["response", "dictionary", "raw"], ["json", "", 1]],
  waitOnRateLimit: [[true, false], ["true", 1, null]],
  maxWait: [[0, 1, Infinity], [-1, Number.NaN, "1", null]],
  rateLimitStore: [["redis://service.test"], ["", 1, null, "http://service.test"]],
  spendStore: [["redis://service.test"], ["", 1, null, "http://service.test", "redis:6379"]],
  spendLimit: [
    [{}, { perDay: 1 }, { perMonth: 0, total: 0.5 }],
    [1, null, { perDay: -1 }, { perDay: "1" }, { perWeek: 1 }, { total: Number.NaN }]
  ],
  prices: [
    [{}, { read: { post: 0.1 }, ownedRead: 0 }, { includes: false, since: "2027-01-01" }],
    [1, null, { read: { tweet: 1 } }, { request: { postCreate: -1 } }, { includes: 1 }, { of: 1 }]
  ],
  appOwner: [["42"], ["", "ada", 42, null]],
  onSpend: [[() => {}], [1, null, {}]],
  onRateLimit: [[() => {}], [1, null, {}]],
  logger: [[logger], [1, null, {}, { ...logger, warn: 1 }]],
  proxy: [["http://service.test", "environment"], ["", "service.test", "socks5://service.test", null, 1]],
  ca: [[certificate, [certificate]], ["", "/etc/ssl/cert.pem", null, 1, [1]]],
  dispatcher: [[{ dispatch: () => true }], [1, null, {}]],
  colour: [[], [1, true, null]]
}

/** Settings that cannot be handed to a worker. */
const notBlocking = ["onRequest", "onRateLimit", "onSpend", "logger", "dispatcher", "oauth2.save"]

const ofCore = ["baseUrl", "wire", "userAgent", "verify", "checks", "accessLevel", "timeout", "retries", "maxBodySize"]
  .concat("recordContent", "allowInsecureHttp", "onRequest", "bearerToken", "accessToken", "maxWait")

const build = <A, E>(layer: Layer.Layer<A, E>) => Effect.runPromise(Effect.asVoid(Effect.scoped(Layer.build(layer))))

/** The core takes the words themselves, the others their name. */
const wordsOf = ({ wire }: { readonly wire?: unknown }): object =>
  wire === undefined ? {} : { wire: Object.entries(Wire.named).find(([name]) => name === wire)?.[1] ?? wire }

/** Makes a client of every kind. Nothing connects. */
const clients: Readonly<Record<string, (settings: object) => unknown>> = {
  promise: (settings) => Node.createClient(settings).close(),
  blocking: (settings) => Sync.createClientSync(settings).close(),
  effect: (settings) => build(NodeClient.layer(settings)),
  core: (settings: Client.Settings & Credentials.Settings & RateLimit.WaitOptions) =>
    build(
      Client.layer({ ...settings, ...wordsOf(settings) }).pipe(
        Layer.provide([Credentials.layer(settings), FetchHttpClient.layer, RateLimit.layerWait(settings)])
      )
    )
}

/** Settings with a value for one, or for a member of one. */
const given = (name: string, value: unknown): object => {
  const member = /^oauth2\.(.+)/.exec(name)?.[1]
  return member === undefined
    ? { baseUrl, [name]: value }
    : { baseUrl, oauth2: { clientId: "a", refreshToken: "a", [member]: value } }
}

const errorOf = async (make: (settings: object) => unknown, given: object): Promise<unknown> => {
  try {
    return await make(given)
  } catch (error) {
    return error
  }
}

describe.each(Object.entries(clients))("the settings of a client: %s", (client, make) => {
  for (const [name, [valid, invalid]] of Object.entries(settings)) {
    if ((client === "core" && !ofCore.includes(name)) || (client === "blocking" && notBlocking.includes(name))) continue

    it(`${name} is taken or refused as in every other client`, async () => {
      for (const value of valid) {
        assert.isUndefined(await errorOf(make, given(name, value)), `${name}: ${String(value)}`)
      }
      for (const value of invalid) {
        const error = await errorOf(make, given(name, value))
        assert.instanceOf(error, InvalidSettings, `${name}: ${String(value)}`)
        assert.strictEqual(error.setting, name)
      }
    })
  }
})

describe("credentials beside an account", () => {
  const oauth2 = { clientId: "a", refreshToken: "a" }

  it.each(Object.keys(clients).filter((client) => client !== "core"))(
    "are refused by a rule that names both: %s",
    async (client) => {
      const cases: ReadonlyArray<readonly [settings: object, setting: string, other: string]> = [
        [{ account: "ada", oauth2 }, "oauth2", "account"],
        ...Credentials.names.flatMap((name) => [
          [{ account: "ada", [name]: "1-a" }, name, "account"] as const,
          [{ oauth2, [name]: "1-a" }, name, "oauth2"] as const
        ])
      ]
      for (const [settings, setting, other] of cases) {
        const error = await errorOf(clients[client]!, { baseUrl, ...settings })
        assert(error instanceof InvalidSettings)
        assert.strictEqual(error.setting, setting)
        assert.include(error.message, `cannot be combined with ${other}`)
      }
      assert.isUndefined(
        await errorOf(clients[client]!, { baseUrl, account: "ada", bearerToken: "", clientId: "a", tokenStore: "./a" })
      )
      const appless = await errorOf(clients[client]!, { baseUrl, account: "ada", clientSecret: "a" })
      assert.deepInclude(appless, { _tag: "InvalidSettings", setting: "clientId" })
      assert.isUndefined(
        await errorOf(clients[client]!, { baseUrl, clientId: "a", clientSecret: "a", oauth2: { refreshToken: "a" } })
      )
    }
  )

  it("are left in the environment that names one", () => {
    const environment = {
      POSTWIRE_ACCOUNT: "ada",
      POSTWIRE_TOKEN_STORE: "./accounts",
      POSTWIRE_CLIENT_ID: "a",
      POSTWIRE_CLIENT_SECRET: "b",
      POSTWIRE_BEARER_TOKEN: "c"
    }
    const { POSTWIRE_ACCOUNT: _, ...without } = environment
    const app = { clientId: "a", clientSecret: "b", tokenStore: "./accounts" }
    assert.deepStrictEqual(NodeClient.fromEnvironment(environment), { ...app, account: "ada" })
    assert.deepStrictEqual(NodeClient.fromEnvironment(without), { ...app, bearerToken: "c" })
  })

  it("a store of the program's own is no setting of a blocking client", async () => {
    assert.isUndefined(await errorOf(clients["promise"]!, { baseUrl, account: "ada", tokenStore }))
    assert.deepInclude(await errorOf(clients["blocking"]!, { baseUrl, account: "ada", tokenStore }), {
      _tag: "InvalidSettings",
      setting: "tokenStore"
    })
  })
})

describe("no settings at all", () => {
  it("are rejected by a TypeError with the reason", async () => {
    for (const nothing of [null, 1, "a", []] as ReadonlyArray<unknown> as ReadonlyArray<object>) {
      for (const client of ["promise", "blocking", "effect"]) {
        assert.match(String(await errorOf(clients[client]!, nothing)), /settings must be an object/, client)
      }
    }
  })
})

describe("an empty variable of the environment", () => {
  it("is as good as none, in every client", () => {
    const env = { POSTWIRE_BASE_URL: "", POSTWIRE_WIRE: "", POSTWIRE_BEARER_TOKEN: "", POSTWIRE_REDIS_URL: "" }
    assert.deepStrictEqual(NodeClient.fromEnvironment(env), {})
    const config = Effect.runSync(
      Effect.provide(
        Effect.all([ClientConfig.settings, ClientConfig.credentials]),
        ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
      )
    )
    assert.deepStrictEqual(
      Effect.runSync(Client.check({ ...config[0], baseUrl })),
      Effect.runSync(Client.check({ baseUrl }))
    )
    assert.deepStrictEqual(
      Effect.runSync(Client.check({ ...config[0], wire: Wire.x })),
      Effect.runSync(Client.check({ wire: Wire.x }))
    )
  })
})
