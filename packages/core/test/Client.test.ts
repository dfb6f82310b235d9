import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { readdirSync } from "node:fs"
import { inspect } from "node:util"
import { catalogue } from "../src/Catalogue.ts"
import * as Client from "../src/client/Client.ts"
import * as ClientConfig from "../src/client/ClientConfig.ts"
import { InvalidParameters, InvalidSettings } from "../src/errors/Errors.ts"
import * as Index from "../src/index.ts"
import * as Wire from "../src/wire/Wire.ts"
import { assertNoSecret, firsts, make, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const invalid = (settings: object) =>
  Effect.map(Effect.flip(Client.check(settings)), (error) => {
    assert.instanceOf(error, InvalidSettings)
    assert.instanceOf(error, TypeError)
    assertNoSecret(error)
    return error.setting
  })

describe("check", () => {
  test("fills in the defaults")(function*() {
    assert.deepStrictEqual(yield* Client.check({ wire: Wire.x }), {
      wire: Wire.x,
      baseUrl: "https://api.x.com",
      userAgent: "postwire",
      verify: "lenient",
      limits: { checks: undefined, accessLevel: undefined },
      exchange: {
        timeouts: { connect: 10_000, firstByte: 30_000, idle: 30_000, total: 120_000 },
        retries: 2,
        maxBodySize: 64 * 1024 * 1024,
        recordContent: false,
        onRequest: undefined
      }
    })
  })

  test("says where to get an address when there is none")(function*() {
    for (const settings of [{}, { baseUrl: "" }, { wire: Wire.neutral }]) {
      const error = yield* Effect.flip(Client.check(settings))
      assert.include(error.message, "POSTWIRE_BASE_URL")
      assert.include(error.message, "postwire sandbox")
    }
  })

  test("keeps a path prefix and no slash at the end")(function*() {
    const baseUrlOf = (baseUrl: string) => Effect.map(Client.check({ baseUrl }), (checked) => checked.baseUrl)
    assert.strictEqual(yield* baseUrlOf("https://service.test"), "https://service.test")
    assert.strictEqual(yield* baseUrlOf("https://service.test/"), "https://service.test")
    assert.strictEqual(yield* baseUrlOf("https://Service.Test:443/a/b//"), "https://service.test/a/b")
    assert.strictEqual(yield* baseUrlOf("https://service.test/a/../b"), "https://service.test/b")
    assert.strictEqual(yield* baseUrlOf("http://127.0.0.1:8080"), "http://127.0.0.1:8080")
    assert.strictEqual(yield* baseUrlOf("http://localhost:1/x"), "http://localhost:1/x")
    assert.strictEqual(yield* baseUrlOf("http://[::1]:1"), "http://[::1]:1")
  })

  test("refuses addresses that are none or give something away")(function*() {
    const addresses = [
      "service.test",
      "/2",
      "ftp://service.test",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "https://",
      "https://user@service.test",
      "https://user:canary@service.test",
      "https://service.test?token=canary",
      "https://service.test#canary",
      "https://service.test:99999",
      1,
      {},
      true
    ]
    for (const baseUrl of addresses) assert.strictEqual(yield* invalid({ baseUrl }), "baseUrl")
  })

  test("refuses clear text to other machines, unless it is allowed")(function*() {
    const addresses = [
      "http://service.test",
      "http://127.0.0.1.evil.test",
      "http://localhost.evil.test",
      "http://10.0.0.1",
      "http://[::2]",
      "http://1270.0.0.1"
    ]
    for (const baseUrl of addresses) {
      assert.strictEqual(yield* invalid({ baseUrl }), "baseUrl")
      for (const allowInsecureHttp of [false, undefined]) {
        assert.strictEqual(yield* invalid({ baseUrl, allowInsecureHttp }), "baseUrl")
      }
      for (const allowInsecureHttp of ["yes", 1, null]) {
        assert.strictEqual(yield* invalid({ baseUrl, allowInsecureHttp }), "allowInsecureHttp")
      }
    }
    const allowed = yield* Client.check({ baseUrl: "http://service.test", allowInsecureHttp: true })
    assert.strictEqual(allowed.baseUrl, "http://service.test")
  })

  test("refuses other wires and user agents that are no header")(function*() {
    const baseUrl = "https://service.test"
    for (const wire of ["x", "canary", "", null, 1, {}]) assert.strictEqual(yield* invalid({ baseUrl, wire }), "wire")
    for (const userAgent of ["", "a\r\nb", "é", "x".repeat(257), null, 1]) {
      assert.strictEqual(yield* invalid({ baseUrl, userAgent }), "userAgent")
    }
    for (const other of ["none", "", null, true]) {
      assert.strictEqual(yield* invalid({ baseUrl, checks: other }), "checks")
      assert.strictEqual(yield* invalid({ baseUrl, accessLevel: other }), "accessLevel")
    }
    const limits = { checks: "identifiers", accessLevel: "standard" } as const
    assert.deepStrictEqual((yield* Client.check({ baseUrl, ...limits })).limits, limits)
  })
})

describe("layer", () => {
  test("sends the user agent")(function*() {
    const service = make(() => ({ body: { data: { id: "1" } } }))
    yield* Effect.provide(catalogue.getPost({ id: "1" }), service.layer({ ...secrets, userAgent: "mine/1.0" }))
    assert.strictEqual(service.requests[0]!.headers["user-agent"], "mine/1.0")
  })

  test("fails with bad settings, before any traffic")(function*() {
    const service = make(() => ({}))
    for (const settings of [{ bearerToken: "canary\ncanary" }, { baseUrl: "canary" }]) {
      const error = yield* Effect.flip(Effect.provide(catalogue.getPost({ id: "1" }), service.layer(settings)))
      assert.strictEqual(error._tag, "InvalidSettings")
      assertNoSecret(error)
    }
    assert.lengthOf(service.requests, 0)
  })

  test("shows no secret of itself")(function*() {
    const service = make(() => ({ body: { data: { id: "1" } } }))
    const layer = service.layer()
    const context = yield* Layer.build(layer)
    for (const value of [layer, context]) assert.notInclude(inspect(value, { depth: 12, showHidden: true }), "canary")
    const response = yield* Effect.provide(catalogue.getPost({ id: "1" }), context)
    assertNoSecret(response)
  })

  test("shows no credential that is passed as a parameter")(function*() {
    const service = make(() => ({}))
    const bearerToken = `canary${"x".repeat(100)}`
    for (const id of [secrets.bearerToken, bearerToken, [secrets.consumerSecret], { id: secrets.accessToken }]) {
      for (const parameters of [{ id }, id]) {
        const call = catalogue.getPost(parameters as never)
        const own = service.layer(id === bearerToken ? { bearerToken } : secrets)
        const error = yield* Effect.flip(Effect.provide(call, own))
        assert.instanceOf(error, InvalidParameters)
        assertNoSecret(error)
        assert.include(error.value, "<redacted>")
      }
    }
  })

  test("sends nothing for a call with bad parameters")(function*() {
    const service = make(() => ({}))
    for (const [, operation] of firsts) {
      const error = yield* Effect.flip(Effect.provide(operation({ nope: secrets.bearerToken }), service.layer()))
      assert.instanceOf(error, InvalidParameters)
      assertNoSecret(error)
    }
    assert.lengthOf(service.requests, 0)
  })
})

describe("ClientConfig", () => {
  const build = (env: Record<string, string>, service = make(() => ({ body: { data: { id: "1" } } }))) =>
    Effect.as(
      Effect.provide(
        catalogue.getPost({ id: "1" }),
        ClientConfig.layer.pipe(Layer.provide([
          Layer.succeed(HttpClient.HttpClient, service.http),
          ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
        ]))
      ),
      service.requests
    )

  test("reads settings and credentials from the environment")(function*() {
    const requests = yield* build({
      POSTWIRE_BASE_URL: "https://service.test/prefix/",
      POSTWIRE_WIRE: "x",
      POSTWIRE_BEARER_TOKEN: secrets.bearerToken
    })
    assert.strictEqual(requests[0]!.path, "/2/tweets/1")
    assert.strictEqual(requests[0]!.headers["authorization"], `Bearer ${secrets.bearerToken}`)
  })

  test("fails when they are wrong")(function*() {
    const wire = yield* Effect.flip(
      build({ POSTWIRE_BASE_URL: "https://service.test", POSTWIRE_WIRE: "canary-wire" })
    )
    assert.strictEqual(wire._tag, "ConfigError")
    const missing = yield* Effect.flip(build({ POSTWIRE_BEARER_TOKEN: secrets.bearerToken }))
    assert.strictEqual(missing._tag, "InvalidSettings")
    const token = yield* Effect.flip(
      build({ POSTWIRE_BASE_URL: "https://service.test", POSTWIRE_BEARER_TOKEN: "canary\ncanary" })
    )
    assert.strictEqual(token._tag, "InvalidSettings")
    assertNoSecret(token)
  })
})

describe("index", () => {
  it("has every operation, in the module that declares it", () => {
    const declaring = ["../src/operations/", "../src/streams/operations/"].flatMap((path) =>
      readdirSync(new URL(path, import.meta.url)).filter((file) => file.endsWith(".ts"))
    )
    const modules: Readonly<Record<string, object>> = Index
    const names = declaring.flatMap((file) => Object.keys(modules[file.replace(".ts", "")] ?? {}))
    assert.sameMembers(names, Object.keys(catalogue))
  })
})
