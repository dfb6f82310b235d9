import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import * as OAuth1Login from "../src/accounts/OAuth1Login.ts"
import * as OAuth1 from "../src/auth/OAuth1.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as Wire from "../src/wire/Wire.ts"
import { answered, assertNoSecret, baseUrl, failed, fails, type Received, transportError } from "./support/Service.ts"
import { assertTellsNoSecret } from "./support/Telling.ts"
import { inMinute, test } from "./support/Test.ts"

const secret = (text: string) => Redacted.make(`canary-${text}`)

const consumer = { consumerKey: secret("key-0001"), consumerSecret: secret("consumer-0002") }
const requestToken = { token: secret("request-0003"), tokenSecret: secret("request-secret-0004") }
const tokens = { ...consumer, accessToken: secret("access-0005"), accessTokenSecret: secret("access-secret-0006") }
const callback = "http://127.0.0.1:8080/callback?a=b c"

const begun =
  "oauth_token=canary-request-0003&oauth_token_secret=canary-request-secret-0004&oauth_callback_confirmed=true"
const ended = "oauth_token=42-canary-access&oauth_token_secret=canary-secret&user_id=42&screen_name=ada"

/** Every request, with what each is to be answered. */
const requests = {
  requestToken: [OAuth1Login.requestToken({ baseUrl, ...consumer, callback }), begun],
  accessToken: [
    OAuth1Login.accessToken({ baseUrl, ...consumer, requestToken, verifier: "canary-verifier-0007" }),
    ended
  ],
  invalidate: [OAuth1Login.invalidate({ baseUrl, tokens }), "{}"]
} as const

type Name = keyof typeof requests

const names = ["requestToken", "accessToken", "invalidate"] as const satisfies ReadonlyArray<Name>

const run = (name: Name): Effect.Effect<unknown, OAuth1Login.RequestError, HttpClient.HttpClient> => requests[name][0]

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const hmac = (key: string, message: string) => createHmac("sha1", key).update(message).digest("base64")

/** The parameters of a request, whose signature is verified. */
const verified = (sent: Received | undefined, tokenSecret?: string) => {
  assert.isDefined(sent)
  assert.strictEqual(sent.body, "")
  const parameters = OAuth1.parseAuthorization(String(sent.headers["authorization"]))
  assert.isDefined(parameters)
  const { method, url } = sent
  assert.strictEqual(
    parameters["oauth_signature"],
    OAuth1.signature({ method, url, parameters, consumerSecret: "canary-consumer-0002", tokenSecret, hmac })
  )
  const { oauth_nonce: _, oauth_signature: __, ...rest } = parameters
  return rest
}

const common = {
  oauth_consumer_key: "canary-key-0001",
  oauth_signature_method: "HMAC-SHA1",
  oauth_timestamp: "1600000000",
  oauth_version: "1.0"
}

const atTime = TestClock.setTime(1_600_000_000_000)

describe("requestToken", () => {
  test("signs where it leads to")(function*() {
    yield* atTime
    const { requests: [sent], value } = yield* answered(requests.requestToken[0], { body: begun })
    assert.deepStrictEqual([sent?.method, sent?.path, sent?.query], ["POST", "/oauth/request_token", {}])
    assert.deepStrictEqual(verified(sent), { ...common, oauth_callback: callback })
    assert.strictEqual(Redacted.value(value.token), "canary-request-0003")
    assert.strictEqual(Redacted.value(value.tokenSecret), "canary-request-secret-0004")
    assertNoSecret(value)
  })

  test("can ask for less, and for a PIN")(function*() {
    yield* atTime
    const request = OAuth1Login.requestToken({ baseUrl, ...consumer, callback: "oob", access: "read" })
    const { requests: [sent] } = yield* answered(request, { body: begun })
    assert.deepStrictEqual(sent?.query, { x_auth_access_type: "read" })
    assert.deepStrictEqual(verified(sent), { ...common, oauth_callback: "oob" })
  })

  test.each([
    "",
    "{}",
    begun.replace("true", "false"),
    begun.replace("&oauth_callback_confirmed=true", ""),
    begun.replace("oauth_token=canary-request-0003", "oauth_token="),
    `${begun}&oauth_token=canary`
  ])("refuses an answer without a token, or that does not confirm: %s")(function*(body) {
    const { error } = yield* failed(requests.requestToken[0], () => ({ body }))
    assert.instanceOf(error, Errors.UndecodableResponse)
    assertNoSecret(error)
  })

  test.each(["/callback", "", "OOB"])("refuses to lead to %s")(function*(callback) {
    const { error, requests } = yield* failed(
      OAuth1Login.requestToken({ baseUrl, ...consumer, callback }),
      () => ({ body: begun })
    )
    assert.instanceOf(error, Errors.InvalidSettings)
    assert.strictEqual(error.setting, "callback")
    assert.lengthOf(requests, 0)
  })

  test("is signed by the service's clock when that is another one")(function*() {
    yield* atTime
    const { requests: had } = yield* answered(
      requests.requestToken[0],
      ({ headers }) =>
        headers["authorization"]?.includes(`oauth_timestamp="1600003600"`)
          ? { body: begun }
          : { status: 401, headers: { date: new Date(1_600_003_600_000).toUTCString() } }
    )
    assert.lengthOf(had, 2)
  })
})

describe("the address", () => {
  test("at which the user is asked")(function*() {
    assert.strictEqual(
      yield* OAuth1Login.authorizeUrl({ wire: Wire.x, requestToken }),
      "https://api.x.com/oauth/authorize?oauth_token=canary-request-0003"
    )
    assert.strictEqual(
      yield* OAuth1Login.authenticateUrl({ baseUrl, requestToken, forceLogin: true, username: "ada" }),
      `${baseUrl}/oauth/authenticate?oauth_token=canary-request-0003&force_login=true&screen_name=ada`
    )
    const error = yield* Effect.flip(OAuth1Login.authorizeUrl({ requestToken }))
    assert.strictEqual(error.setting, "baseUrl")
  })
})

describe("callback", () => {
  const read = (query: string) => OAuth1Login.callback(`http://127.0.0.1:8080/callback?${query}`, { requestToken })

  test("reads the proof")(function*() {
    const verifier = yield* read("oauth_token=canary-request-0003&oauth_verifier=canary-verifier")
    assert.strictEqual(Redacted.value(verifier), "canary-verifier")
  })

  test("says that the user said no")(function*() {
    const error = yield* fails(read("denied=canary-request-0003"), Errors.AuthorizationDenied, {
      error: "access_denied"
    })
    assertNoSecret(error)
  })

  test.each(
    [
      ["other", "oauth_verifier=canary-verifier"],
      ["other", "oauth_token=canary-other&oauth_verifier=canary-verifier"],
      ["other", "denied=canary-other"],
      ["other", "denied=canary-other&oauth_token=canary-request-0003"],
      ["incomplete", "oauth_token=canary-request-0003"],
      ["incomplete", "oauth_token=canary-request-0003&oauth_verifier="]
    ] as const
  )("%s: %s")(function*([fault, query]) {
    const error = yield* fails(read(query), Errors.InvalidRedirect, { fault })
    assertNoSecret(error)
  })

  test.each(["oauth_verifier=canary-verifier", "oauth_token=&oauth_verifier=canary-verifier", "denied="])(
    "of a sign-in whose request token was lost is refused: %s"
  )(function*(query) {
    for (const token of [undefined, Redacted.make(undefined), Redacted.make("")]) {
      const lost = { requestToken: { ...requestToken, token } } as { requestToken: OAuth1Login.RequestToken }
      assert.propertyVal(yield* Effect.flip(OAuth1Login.callback(`/callback?${query}`, lost)), "fault", "other")
    }
  })
})

describe("accessToken", () => {
  test.each([" 1234567\n", Redacted.make("1234567")])("signs the proof, and brings who signed in")(function*(verifier) {
    yield* atTime
    const { requests: [sent], value } = yield* answered(
      OAuth1Login.accessToken({ baseUrl, ...consumer, requestToken, verifier }),
      { body: ended }
    )
    assert.deepStrictEqual([sent?.method, sent?.path, sent?.query], ["POST", "/oauth/access_token", {}])
    assert.deepStrictEqual(verified(sent, "canary-request-secret-0004"), {
      ...common,
      oauth_token: "canary-request-0003",
      oauth_verifier: "1234567"
    })
    assert.deepStrictEqual(value.user, { id: "42", username: "ada" })
    assert.deepStrictEqual(
      Object.entries(value.tokens).map(([name, value]) => [name, Redacted.value(value)]),
      [
        ["consumerKey", "canary-key-0001"],
        ["consumerSecret", "canary-consumer-0002"],
        ["accessToken", "42-canary-access"],
        ["accessTokenSecret", "canary-secret"]
      ]
    )
    assertNoSecret(value)
  })

  test("is asked for once")(function*() {
    for (const body of ["", ended.replace("user_id=42", "a=b"), ended.replace("ada", "")]) {
      const { error, requests } = yield* failed(run("accessToken"), () => ({ body }))
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.lengthOf(requests, 1)
      assertNoSecret(error)
    }
    const lost = yield* failed(run("accessToken"), () => transportError({ code: "ECONNRESET" }))
    assert.instanceOf(lost.error, Errors.OutcomeUnknown)
    assert.lengthOf(lost.requests, 1)
  })

  test("needs a proof")(function*() {
    const { error, requests } = yield* failed(
      OAuth1Login.accessToken({ baseUrl, ...consumer, requestToken, verifier: " " }),
      () => ({ body: ended })
    )
    assert.instanceOf(error, Errors.InvalidSettings)
    assert.strictEqual(error.setting, "verifier")
    assert.lengthOf(requests, 0)
  })
})

describe("invalidate", () => {
  test("is signed with what it makes useless")(function*() {
    yield* atTime
    const { requests: [sent] } = yield* answered(run("invalidate"), { body: { access_token: "canary" } })
    assert.deepStrictEqual([sent?.method, sent?.path], ["POST", "/1.1/oauth/invalidate_token.json"])
    assert.deepStrictEqual(verified(sent, "canary-access-secret-0006"), {
      ...common,
      oauth_token: "canary-access-0005"
    })
  })

  test("is done when a repeated request finds it done")(function*() {
    const gone = { status: 401, body: { errors: [{ code: 89, message: "Invalid or expired token" }] } }
    const { requests } = yield* inMinute(
      answered(run("invalidate"), (_, index) => index === 0 ? { status: 503 } : gone)
    )
    assert.lengthOf(requests, 2)
  })

  test.each<readonly [boolean, number, object | string]>([
    [true, 401, { errors: [{ code: 89, message: "Invalid or expired token." }] }],
    [false, 401, { errors: [{ code: 32, message: "Could not authenticate you." }] }],
    [false, 401, { errors: [{ code: 135, message: "Timestamp out of bounds." }] }],
    [false, 401, { title: "Unauthorized", detail: "Unauthorized" }],
    [false, 401, "<html>Sign in to the network</html>"],
    [false, 403, { errors: [{ code: 89, message: "Invalid or expired token." }] }]
  ])("finds them useless already: %s (%i %j)")(function*([expected, status, body]) {
    const { error } = yield* failed(run("invalidate"), () => ({ status, body }))
    assert.strictEqual(OAuth1Login.isTokenRefused(error), expected)
  })
})

describe("a refusal", () => {
  test("in words is told")(function*() {
    const { error } = yield* failed(run("accessToken"), () => ({
      status: 401,
      body: "Error processing your OAuth request: Invalid oauth_verifier parameter"
    }))
    assert.propertyVal(error, "detail", "Error processing your OAuth request: Invalid oauth_verifier parameter")
    assert.include(error.message, "Invalid oauth_verifier parameter")
    const page = yield* failed(run("accessToken"), () => ({ status: 502, body: "<html>Bad gateway</html>" }))
    assert.propertyVal(page.error, "excerpt", "<html>Bad gateway</html>")
  })

  test.each(names)("of %s has what the service said")(function*(name) {
    const { error } = yield* failed(run(name), () => ({
      status: 401,
      body: { errors: [{ code: 32, message: "Could not authenticate you." }] }
    }))
    assert.strictEqual(
      error.message,
      `OAuth1Login.${name}: the service does not accept the OAuth 1.0a credential (401): Could not authenticate you. ` +
        "Check it; the operation accepts OAuth 1.0a only."
    )
  })
})

describe("the examples", () => {
  it("of the docstrings compile", () => {
    const compiled = text("./types/SignIns.ts")
    for (const module of ["accounts/OAuth1Login", "accounts/OAuth2", "Catalogue"]) {
      const examples = [...text(`../src/${module}.ts`).matchAll(/ \* ```ts\n(.*?) \* ```\n/gs)]
      assert.isAbove(examples.length, 0)
      for (const [, example = ""] of examples) {
        for (const line of example.trimEnd().split("\n")) assert.include(compiled, line.replace(" * ", ""))
      }
    }
  })
})

describe("secrets", () => {
  it.effect.each(names)("of %s are in nothing that is told of it", (name) => assertTellsNoSecret(run(name)))

  test("that are short are not told either")(function*() {
    const request = OAuth1Login.accessToken({ baseUrl, ...consumer, requestToken, verifier: "1234567" })
    const { error } = yield* failed(request, () => ({ status: 400, body: { error: "PIN 1234567 is wrong" } }))
    assert.include(error.message, "PIN <redacted> is wrong")
  })
})
