import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as Credentials from "../src/auth/Credentials.ts"
import * as OAuth1 from "../src/auth/OAuth1.ts"
import * as Client from "../src/client/Client.ts"
import * as ClientConfig from "../src/client/ClientConfig.ts"
import { InvalidSettings } from "../src/errors/Errors.ts"
import { createPost, getPost } from "../src/operations/Posts.ts"
import { getStreamRules } from "../src/operations/Rules.ts"
import { getMe } from "../src/operations/Users.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import { bearerOf } from "../src/schema/Definition.ts"
import { callOf, selectionsOf } from "./support/Calls.ts"
import { assertNoSecret, firsts, make, rowOf, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const check = (settings: Credentials.Settings) => Credentials.check(settings)

const invalid = (settings: object) =>
  Effect.map(Effect.flip(check(settings)), (error) => {
    assert.instanceOf(error, InvalidSettings)
    assert.instanceOf(error, TypeError)
    assertNoSecret(error)
    return error
  })

describe("check", () => {
  test("keeps what is good, and redacts it")(function*() {
    const given = { ...secrets, appBearerToken: "canary-app-token" }
    const values = yield* check(given)
    for (const name of Credentials.names) {
      assert.strictEqual(Redacted.value(values[name]!), given[name])
    }
    assertNoSecret(values)
    const redacted = yield* check({ bearerToken: Redacted.make("token") })
    assert.strictEqual(Redacted.value(redacted.bearerToken!), "token")
  })

  test("says that a Redacted of another copy of Effect cannot be read")(function*() {
    const others = Redacted.make("token")
    Redacted.wipeUnsafe(others)
    const error = yield* Effect.flip(check({ bearerToken: others }))
    assert.match(error.message, /^bearerToken is a Redacted that cannot be read: .* Pass the string\.$/)
  })

  test("takes an empty one for absent")(function*() {
    for (const empty of ["", " ", "\n", undefined, null, Redacted.make(" ")]) {
      const settings = Object.fromEntries(Credentials.names.map((name) => [name, empty]))
      assert.deepStrictEqual(yield* check(settings), {})
    }
  })

  test("drops the newline of a file")(function*() {
    const values = yield* check({ bearerToken: " token\r\n", accessToken: Redacted.make("42-token\n") })
    assert.strictEqual(Redacted.value(values.bearerToken!), "token")
    assert.strictEqual(Redacted.value(values.accessToken!), "42-token")
  })

  test("refuses in every slot what a header cannot carry, without quoting it")(function*() {
    for (const name of ["bearerToken", "consumerKey", "accessToken"]) {
      for (const middle of ["\r\n", "\n", "\r", "\0", " ", "\t", "\u007f", "é", "\u2028", "😀", "\ud800"]) {
        for (const wrap of [(text: string) => text, (text: string) => Redacted.make(text)]) {
          const error = yield* invalid({ [name]: wrap(`1-canary${middle}X-Injected: canary`) })
          assert.strictEqual(error.setting, name)
          assert.include(error.message, `${name} must be one line of printable ASCII`)
        }
      }
    }
  })

  test("takes any text for the secrets, which only sign")(function*() {
    for (const middle of [" ", "&", "%", "+", "\r\n", "\0", "é", "\u2028", "😀"]) {
      const given = { ...secrets, consumerSecret: `canary${middle}1`, accessTokenSecret: `canary${middle}2` }
      const service = make(({ headers, method, url }) => {
        const { oauth_signature, ...parameters } = OAuth1.parseAuthorization(headers["authorization"]!)!
        // RFC 5849: the key is both secrets, percent-encoded, with an ampersand between them.
        const key = `${encodeURIComponent(given.consumerSecret)}&${encodeURIComponent(given.accessTokenSecret)}`
        const base = OAuth1.baseString(method, url, parameters)
        assert.strictEqual(oauth_signature, createHmac("sha1", key).update(base).digest("base64"))
        return { body: { data: { id: "1" } } }
      })
      yield* Effect.provide(getMe(), service.layer(given))
      assert.lengthOf(service.requests, 1)
    }
    for (const name of ["consumerSecret", "accessTokenSecret"]) {
      const error = yield* invalid({ [name]: "canary\ud800canary" })
      assert.strictEqual(error.message, `${name} must be text in well-formed Unicode.`)
    }
  })

  test("refuses what is no string")(function*() {
    for (const value of [1, true, {}, ["canary"], () => "canary", Symbol("canary")]) {
      assert.strictEqual((yield* invalid({ bearerToken: value })).rule, "must be a string")
    }
  })

  test("refuses an access token that does not begin with an id, which would change the path")(function*() {
    for (const accessToken of ["-canary", "..-canary", ".-canary", "..", "."]) {
      assert.strictEqual((yield* invalid({ accessToken })).rule, "must begin with the id of the user")
    }
    assert.strictEqual(Redacted.value((yield* check({ accessToken: "whole" })).accessToken!), "whole")
  })
})

describe("missing credentials", () => {
  const namesOf = (userAuth: boolean) => userAuth ? Credentials.signing : ["bearerToken"] as const

  test("fail every operation before any traffic, naming the setting")(function*() {
    for (const [name, operation] of firsts) {
      const row = rowOf(name)
      const { given: parameters } = callOf(row, selectionsOf(row)[0]!, "neutral")
      for (const userAuth of row.userAuth === null ? [false] : [true, false]) {
        const call = operation(row.userAuth === null ? parameters : { ...parameters, user_auth: userAuth })
        for (const absent of namesOf(userAuth)) {
          const service = make(() => ({}))
          const layer = service.layer({ ...secrets, [absent]: "" })
          const error = yield* Effect.flip(Effect.provide(call, layer))
          assert.strictEqual(error._tag, "MissingAccessToken", `${name}: ${error.message}`)
          if (error._tag !== "MissingAccessToken") return
          assert.instanceOf(error, TypeError)
          const missing = bearerOf(operation.definition) === "app" ? "appBearerToken" : absent
          assert.deepStrictEqual(error.missing, [missing])
          assert.strictEqual(error.credential, userAuth ? "oauth1" : "bearer")
          assert.include(error.message, `POSTWIRE_${missing.replace(/[A-Z]/g, "_$&").toUpperCase()}`)
          assert.lengthOf(service.requests, 0)
          assertNoSecret(error)
        }
      }
    }
  })
})

describe("the app's own token", () => {
  const ofRules = Effect.asVoid(getStreamRules())
  const ofMe = Effect.asVoid(getMe({ user_auth: false }))

  /** The header of a call, if it was sent. */
  const sent = (settings: Credentials.Settings, call: typeof ofRules) => {
    const service = make(() => ({ body: {} }))
    return Effect.map(
      Effect.exit(Effect.provide(call, service.layer(settings))),
      () => service.requests[0]?.headers["authorization"]
    )
  }

  test("goes with operations that accept no other, and bearerToken without it")(function*() {
    const both = { bearerToken: "of-ada", appBearerToken: "of-the-app" }
    assert.strictEqual(yield* sent(both, ofRules), "Bearer of-the-app")
    assert.strictEqual(yield* sent(both, ofMe), "Bearer of-ada")
    assert.strictEqual(yield* sent({ bearerToken: "of-ada" }, ofRules), "Bearer of-ada")
    assert.strictEqual(yield* sent({ appBearerToken: "of-the-app" }, ofRules), "Bearer of-the-app")
    assert.isUndefined(yield* sent({ appBearerToken: "of-the-app" }, ofMe))
  })

  test("has rate limits of its own, and is redacted")(function*() {
    const service = make(() => ({
      status: 400,
      body: { detail: "of-the-app and of-ada" },
      headers: { "x-rate-limit-limit": "9", "x-rate-limit-remaining": "8", "x-rate-limit-reset": "1" }
    }))
    const keys = Effect.map(RateLimit.snapshot, (usages) => usages.map(({ operation }) => operation))
    yield* Effect.gen(function*() {
      const error = yield* Effect.flip(getStreamRules())
      assert.strictEqual(
        error.message,
        "getStreamRules: the service refused a parameter (400): <redacted> and <redacted>."
      )
      assert.deepStrictEqual(yield* keys, ["getStreamRules"])
    }).pipe(
      Effect.provide(service.layer({ bearerToken: "of-ada", appBearerToken: "of-the-app" })),
      Effect.provide(RateLimit.layerFail)
    )
  })
})

describe("ClientConfig.layerCredentials", () => {
  test("reads the environment")(function*() {
    const provider = ConfigProvider.fromEnv({
      env: { POSTWIRE_BEARER_TOKEN: "token\n", POSTWIRE_ACCESS_TOKEN: "42-x", POSTWIRE_CONSUMER_KEY: "" }
    })
    const context = yield* Layer.build(
      ClientConfig.layerCredentials.pipe(Layer.provide(ConfigProvider.layer(provider)))
    )
    const values = yield* Context.get(context, Credentials.Credentials).current
    assert.sameMembers(Object.keys(values), ["bearerToken", "accessToken"])
    assert.strictEqual(Redacted.value(values.bearerToken!), "token")
  })
})

describe("a service of credentials", () => {
  test("is asked at every call")(function*() {
    let token = "first"
    const service = make(() => ({ body: { data: { id: "1" } } }))
    const layer = Client.layer({ baseUrl: "https://service.test/prefix" }).pipe(Layer.provide([
      Layer.succeed(Credentials.Credentials, { current: Effect.sync(() => ({ bearerToken: Redacted.make(token) })) }),
      Layer.succeed(HttpClient.HttpClient, service.http)
    ]))
    yield* Effect.gen(function*() {
      yield* getPost({ id: "1" })
      token = "second"
      yield* getPost({ id: "1" })
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(service.requests.map(({ headers }) => headers["authorization"]), [
      "Bearer first",
      "Bearer second"
    ])
  })

  test("signs if it says how, and else takes bearer tokens")(function*() {
    const service = make(() => ({ body: { data: { id: "1" } } }))
    const client = (credentials: Layer.Layer<Credentials.Credentials, InvalidSettings>) =>
      Client.layer({ baseUrl: "https://service.test/prefix" }).pipe(
        Layer.provide([credentials, Layer.succeed(HttpClient.HttpClient, service.http)])
      )
    const values = yield* Credentials.check(secrets)
    const own = (sign?: Credentials.Sign) =>
      client(Layer.succeed(Credentials.Credentials, { current: Effect.succeed(values), sign }))
    const call = (userAuth: boolean) => getPost({ id: "1", user_auth: userAuth })
    yield* Effect.provide(call(true), own(OAuth1.authorize(() => "signed")))
    yield* Effect.provide(call(false), own())
    yield* Effect.provide(call(false), client(Credentials.layerBearer(secrets.bearerToken)))
    const sent = service.requests.map(({ headers }) => headers["authorization"]!)
    assert.match(sent[0]!, /^OAuth .*oauth_signature="signed"$/)
    assert.deepStrictEqual(sent.slice(1), [`Bearer ${secrets.bearerToken}`, `Bearer ${secrets.bearerToken}`])
    const unable = yield* Effect.flip(Effect.provide(call(true), own()))
    assert.deepInclude(unable, { _tag: "InvalidParameters", parameter: "user_auth" })
    const missing = yield* Effect.flip(Effect.provide(call(true), client(Credentials.layerBearer("token"))))
    assert.strictEqual(missing._tag, "MissingAccessToken")
    assert.lengthOf(service.requests, 3)
    assertNoSecret([unable, missing])
  })

  test("is waited for no longer than a call may take, of which it takes a part")(function*() {
    const service = make(() => Effect.never, { tells: false })
    const layer = (current: Effect.Effect<Credentials.Values>) =>
      Client.layer({ baseUrl: "https://service.test/prefix", retries: 0 }).pipe(Layer.provide([
        Layer.succeed(Credentials.Credentials, { current }),
        Layer.succeed(HttpClient.HttpClient, service.http)
      ]))
    const call = Effect.flip(createPost({ text: "a", user_auth: false }, { timeout: 500 }))
    const silent = yield* Effect.forkChild(Effect.provide(call, layer(Effect.never)))
    yield* TestClock.adjust(500)
    const error = yield* Fiber.join(silent)
    assert.deepInclude(error, { _tag: "TransportFailure", phase: "connect", timeout: "total" })
    assert.lengthOf(service.requests, 0)
    const values = { bearerToken: Redacted.make("token") }
    const slow = yield* Effect.forkChild(Effect.provide(call, layer(Effect.delay(Effect.succeed(values), 400))))
    yield* TestClock.adjust(400)
    assert.lengthOf(service.requests, 1)
    yield* TestClock.adjust(100)
    assert.strictEqual((yield* Fiber.join(slow))._tag, "OutcomeUnknown")
  })

  test("is renewed twice by a call that the service does not accept, and no more")(function*() {
    for (const accepted of ["token-3", "none"]) {
      const service = make(({ headers }) =>
        headers["authorization"] === `Bearer ${accepted}`
          ? { body: { data: { id: "1", text: "a" } } }
          : { status: 401, body: { title: "Unauthorized" } }
      )
      let number = 1
      const current = Effect.sync((): Credentials.Values => ({ bearerToken: Redacted.make(`token-${number}`) }))
      const renew = () => Effect.andThen(Effect.sync(() => number++), current)
      const layer = Client.layer({ baseUrl: "https://service.test/prefix", retries: 0 }).pipe(Layer.provide([
        Layer.succeed(Credentials.Credentials, { current, renew }),
        Layer.succeed(HttpClient.HttpClient, service.http)
      ]))
      const ended = yield* Effect.exit(Effect.provide(createPost({ text: "a", user_auth: false }), layer))
      assert.strictEqual(ended._tag, accepted === "none" ? "Failure" : "Success")
      assert.deepStrictEqual(
        service.requests.map(({ headers }) => headers["authorization"]),
        ["Bearer token-1", "Bearer token-2", "Bearer token-3"]
      )
    }
  })
})
