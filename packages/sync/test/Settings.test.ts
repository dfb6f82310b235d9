import { assert, describe, it } from "@effect/vitest"
import * as Client from "@postwire/core/Client"
import * as ClientConfig from "@postwire/core/ClientConfig"
import * as Credentials from "@postwire/core/Credentials"
import { InvalidSettings } from "@postwire/core/Errors"
import * as RateLimit from "@postwire/core/RateLimit"
import * as Wire from "@postwire/core/Wire"
import * as Node from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import { ConfigProvider, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Sync from "../src/index.ts"

const baseUrl = "https://service.test"
const certificate = "-----BEGIN CERTIFICATE-----"
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
  returnType: [["response", "dictionary", "raw"], ["json", "", 1]],
  waitOnRateLimit: [[true, false], ["true", 1, null]],
  maxWait: [[0, 1, Infinity], [-1, Number.NaN, "1", null]],
  rateLimitStore: [["redis://service.test"], ["", 1, null, "http://service.test"]],
  onRateLimit: [[() => {}], [1, null, {}]],
  logger: [[logger], [1, null, {}, { ...logger, warn: 1 }]],
  proxy: [["http://service.test", "environment"], ["", "service.test", "socks5://service.test", null, 1]],
  ca: [[certificate, [certificate]], ["", "/etc/ssl/cert.pem", null, 1, [1]]],
  dispatcher: [[{ dispatch: () => true }], [1, null, {}]],
  colour: [[], [1, true, null]]
}

/** What cannot be handed to a worker. */
const notBlocking = ["onRequest", "onRateLimit", "logger", "dispatcher"]

const ofCore = ["baseUrl", "wire", "userAgent", "verify", "checks", "accessLevel", "timeout", "retries", "maxBodySize"]
  .concat("recordContent", "allowInsecureHttp", "onRequest", "bearerToken", "accessToken", "maxWait")

const build = <A, E>(layer: Layer.Layer<A, E>) => Effect.runPromise(Effect.asVoid(Effect.scoped(Layer.build(layer))))

/** The core takes the words themselves, the others their name. */
const wordsOf = ({ wire }: { readonly wire?: unknown }): object =>
  wire === undefined ? {} : { wire: Object.entries(Wire.named).find(([name]) => name === wire)?.[1] ?? wire }

/** Makes a client of every kind. Nothing connects. */
const faces: Readonly<Record<string, (settings: object) => unknown>> = {
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

const errorOf = async (make: (settings: object) => unknown, given: object): Promise<unknown> => {
  try {
    return await make(given)
  } catch (error) {
    return error
  }
}

describe.each(Object.entries(faces))("the settings of a client: %s", (face, make) => {
  for (const [name, [valid, invalid]] of Object.entries(settings)) {
    if ((face === "core" && !ofCore.includes(name)) || (face === "blocking" && notBlocking.includes(name))) continue

    it(`${name} is taken or refused as in every other client`, async () => {
      for (const value of valid) {
        assert.isUndefined(await errorOf(make, { baseUrl, [name]: value }), `${name}: ${String(value)}`)
      }
      for (const value of invalid) {
        const error = await errorOf(make, { baseUrl, [name]: value })
        assert.instanceOf(error, InvalidSettings, `${name}: ${String(value)}`)
        assert.strictEqual(error.setting, name)
      }
    })
  }
})

describe("no settings at all", () => {
  it("are refused by a TypeError that says so", async () => {
    for (const nothing of [null, 1, "a", []] as ReadonlyArray<unknown> as ReadonlyArray<object>) {
      for (const face of ["promise", "blocking", "effect"]) {
        assert.match(String(await errorOf(faces[face]!, nothing)), /settings must be an object/, face)
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
