import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { WebCrypto } from "effect/crypto"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as OAuth2 from "../src/accounts/OAuth2.ts"
import * as Errors from "../src/errors/Errors.ts"
import { on } from "../src/promise/OAuth2.ts"
import type * as Scopes from "../src/schema/Scopes.ts"
import * as TokenStore from "../src/storage/TokenStore.ts"
import * as Wire from "../src/wire/Wire.ts"
import {
  answered,
  assertNoSecret,
  baseUrl,
  failed,
  fails,
  make,
  type Received,
  transportError
} from "./support/Service.ts"
import { assertTellsNoSecret } from "./support/Telling.ts"
import { inMinute, test } from "./support/Test.ts"

const secret = (text: string) => Redacted.make(`canary-${text}`)
const revealed = (value: Redacted.Redacted | undefined) => value && Redacted.value(value)

const app = { clientId: "client-1:ci" }
const confidential = { clientId: "client-1:ci", clientSecret: Redacted.make("canary secret+/%ö") }
const consumer = { consumerKey: secret("key-0001"), consumerSecret: secret("consumer-0002") }
const redirectUri = "http://127.0.0.1:8080/callback"
const code = secret("code-0003")
const verifier = secret("verifier-0004")
const refreshToken = secret("refresh-0005")
const token = secret("token-0006")
const scopes = ["post.read", "users.read"] as const

const brought = { token_type: "bearer", access_token: "canary-access-0007", refresh_token: "canary-refresh-0008" }

/** Every request, with what each is to be answered. */
const requests = {
  exchange: [OAuth2.exchange({ baseUrl, app: confidential, code, verifier, redirectUri, scopes }), brought],
  refresh: [OAuth2.refresh({ baseUrl, app: confidential, refreshToken, scopes }), brought],
  revoke: [OAuth2.revoke({ baseUrl, app: confidential, token }), { revoked: true }],
  appToken: [OAuth2.appToken({ baseUrl, ...consumer }), brought],
  invalidateAppToken: [
    OAuth2.invalidateAppToken({ baseUrl, ...consumer, bearerToken: token }),
    { access_token: "canary-access-0007" }
  ]
} as const

type Name = keyof typeof requests

const names = ["exchange", "refresh", "revoke", "appToken", "invalidateAppToken"] as const satisfies ReadonlyArray<Name>
const creates: ReadonlyArray<Name> = ["exchange", "refresh"]
const others = names.filter((name) => !creates.includes(name))

/** The same functions with Promises, over a service that fails. */
const asked: Array<Received> = []
const promised = on({
  http: () => Layer.succeed(HttpClient.HttpClient, make((request) => (asked.push(request), { status: 503 })).http),
  store: () => Layer.succeed(TokenStore.TokenStore, TokenStore.makeMemory())
})

const run = (name: Name): Effect.Effect<unknown, OAuth2.RequestError, HttpClient.HttpClient> => requests[name][0]

const formOf = ({ body }: Received) => Object.fromEntries(new URLSearchParams(body))

describe("authorize", () => {
  const begin = (settings: Partial<OAuth2.Authorize> = {}) =>
    OAuth2.authorize({ baseUrl, app, redirectUri, scopes, ...settings })

  test("makes an address with PKCE and a state")(function*() {
    const { state, url, verifier } = yield* begin()
    assert.isTrue(url.startsWith(`${baseUrl}/i/oauth2/authorize?`))
    assert.match(Redacted.value(state), /^[\w-]{43}$/)
    assert.match(Redacted.value(verifier), /^[\w-]{43,128}$/)
    assert.deepStrictEqual(Object.fromEntries(new URL(url).searchParams), {
      response_type: "code",
      client_id: "client-1:ci",
      redirect_uri: redirectUri,
      scope: "post.read users.read",
      state: Redacted.value(state),
      code_challenge: createHash("sha256").update(Redacted.value(verifier)).digest("base64url"),
      code_challenge_method: "S256"
    })
    const other = yield* begin()
    assert.notStrictEqual(Redacted.value(other.state), Redacted.value(state))
    assert.notStrictEqual(Redacted.value(other.verifier), Redacted.value(verifier))
    assert.notInclude(JSON.stringify({ state, verifier }), Redacted.value(verifier))
  })

  test("asks in the words of the wire, where X asks its users")(function*() {
    const x = new URL((yield* begin({ baseUrl: undefined, wire: Wire.x })).url)
    assert.strictEqual(x.origin + x.pathname, "https://x.com/i/oauth2/authorize")
    assert.strictEqual(x.searchParams.get("scope"), "tweet.read users.read")
    const local = new URL((yield* begin({ baseUrl: "http://127.0.0.1:1/", wire: Wire.x202602 })).url)
    assert.strictEqual(local.origin + local.pathname, "http://127.0.0.1:1/i/oauth2/authorize")
    assert.strictEqual(local.searchParams.get("scope"), "tweet.read users.read")
  })

  test("has the challenge of RFC 7636, appendix B")(function*() {
    const octets = [
      [116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186],
      [22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121]
    ].flat()
    const fixed = {
      subtle: globalThis.crypto.subtle,
      randomUUID: () => globalThis.crypto.randomUUID(),
      getRandomValues: <T extends ArrayBufferView | null>(array: T): T => {
        if (array instanceof Uint8Array) array.set(octets)
        return array
      }
    }
    const { url, verifier } = yield* Effect.provide(begin(), WebCrypto.layer(fixed))
    assert.strictEqual(Redacted.value(verifier), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert.strictEqual(new URL(url).searchParams.get("code_challenge"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  })

  test.each<readonly [string, Partial<OAuth2.Authorize>]>([
    ["baseUrl", { baseUrl: undefined }],
    ["baseUrl", { baseUrl: "http://service.test" }],
    ["clientId", { app: { clientId: "" } }],
    ["clientId", { app: { clientId: "a\r\nb" } }],
    ["redirectUri", { redirectUri: "/callback" }],
    ["redirectUri", { redirectUri: "https://app.test/#a" }],
    ["scopes", { scopes: [] }],
    ["scopes", { scopes: ["tweet.read" as Scopes.Scope] }]
  ])("refuses a wrong %s")(function*([setting, settings]) {
    yield* fails(begin(settings), Errors.InvalidSettings, { setting })
  })
})

describe("callback", () => {
  const state = secret("state-0009")
  const read = (address: string | URL) => OAuth2.callback(address, { state })

  test.each([
    `${redirectUri}?state=canary-state-0009&code=canary-code%2B1`,
    ` /callback?code=canary-code%2B1&state=canary-state-0009\n`,
    "?code=canary-code%2B1&state=canary-state-0009",
    "my-app:/callback?code=canary-code%2B1&state=canary-state-0009"
  ])("reads the code of %s")(function*(address) {
    const code = yield* read(address)
    assert.strictEqual(Redacted.value(code), "canary-code+1")
    assertNoSecret(code)
  })

  test("takes a URL")(function*() {
    const code = yield* read(new URL(`${redirectUri}?state=canary-state-0009&code=a`))
    assert.strictEqual(Redacted.value(code), "a")
  })

  test.each(
    [
      ["address", ""],
      ["address", "canary-code"],
      ["address", "http://"],
      ["other", redirectUri],
      ["other", `${redirectUri}?code=canary-code`],
      ["other", `${redirectUri}?code=canary-code&state=canary-state`],
      ["other", `${redirectUri}?code=canary-code&state=canary-state-0009&state=canary-state-0009`],
      ["other", `${redirectUri}?error=access_denied`],
      ["other", `${redirectUri}#code=canary-code&state=canary-state-0009`],
      ["incomplete", `${redirectUri}?state=canary-state-0009`],
      ["incomplete", `${redirectUri}?state=canary-state-0009&code=`],
      ["incomplete", `${redirectUri}?state=canary-state-0009&code=canary-1&code=canary-2`]
    ] as const
  )("%s: %s")(function*([fault, address]) {
    const error = yield* fails(read(address), Errors.InvalidRedirect, { fault })
    assertNoSecret(error)
  })

  test.each<readonly [unknown, string]>([
    [undefined, "code=canary-code"],
    [undefined, "code=canary-code&state=a&state=b"],
    [{}, "code=canary-code"],
    [null, "code=canary-code"],
    ["", "code=canary-code&state="],
    ["", "error=access_denied&state="]
  ])("of a sign-in whose state was lost is refused: %j, %s")(function*([lost, query]) {
    for (const state of [lost, Redacted.make(lost)]) {
      // As a program without types has it.
      const error = yield* Effect.flip(
        OAuth2.callback(`/callback?${query}`, { state } as { state: Redacted.Redacted })
      )
      assert.propertyVal(error, "fault", "other")
    }
    assert.throws(() => promised.callback(`/callback?${query}`, { state: lost } as { state: string }), /another/)
  })

  test("says that the user said no")(function*() {
    const denied = yield* Effect.flip(read(`${redirectUri}?error=access_denied&state=canary-state-0009`))
    assert.instanceOf(denied, Errors.AuthorizationDenied)
    assert.strictEqual(denied.error, "access_denied")
    const refused = yield* Effect.flip(read(
      `${redirectUri}?state=canary-state-0009&error=invalid_scope&code=canary-code` +
        "&error_description=No%1B%5B1m%0Acanary-code%20canary-state-0009."
    ))
    assert.instanceOf(refused, Errors.AuthorizationDenied)
    assert.strictEqual(
      refused.message,
      "The service refused the sign-in (invalid_scope): No [1m <redacted> <redacted>."
    )
    assertNoSecret(refused)
  })
})

describe("tokens", () => {
  test("come for a code")(function*() {
    yield* TestClock.setTime(1_000)
    const request = OAuth2.exchange({ baseUrl, wire: Wire.x, app, code, verifier, redirectUri, scopes })
    const { requests: [sent], value: tokens } = yield* answered(request, {
      body: {
        ...brought,
        token_type: "Bearer",
        expires_in: 60,
        scope: "users.read tweet.read later.read offline.access"
      }
    })
    assert.deepStrictEqual([sent?.method, sent?.path, sent?.query], ["POST", "/2/oauth2/token", {}])
    assert.deepStrictEqual(formOf(sent!), {
      grant_type: "authorization_code",
      code: "canary-code-0003",
      redirect_uri: redirectUri,
      code_verifier: "canary-verifier-0004",
      client_id: "client-1:ci"
    })
    assert.strictEqual(sent?.headers["content-type"], "application/x-www-form-urlencoded")
    assert.notProperty(sent?.headers, "authorization")
    assert.strictEqual(revealed(tokens.accessToken), "canary-access-0007")
    assert.strictEqual(revealed(tokens.refreshToken), "canary-refresh-0008")
    assert.deepStrictEqual(tokens.scopes, ["post.read", "users.read", "offline.access"])
    assert.deepStrictEqual([tokens.renewedAt, tokens.expiresAt], [1_000, 61_000])
    assertNoSecret(tokens)
  })

  test("of a confidential app come for a header with both, each encoded as in a form, and no id in the body")(
    function*() {
      const { requests: [sent] } = yield* answered(run("exchange"), { body: brought })
      assert.notProperty(formOf(sent!), "client_id")
      const credentials = Buffer.from(sent!.headers["authorization"]!.replace("Basic ", ""), "base64").toString()
      assert.strictEqual(credentials, "client-1%3Aci:canary+secret%2B%2F%25%C3%B6")
    }
  )

  test("that say nothing of themselves live two hours, and have what was asked for")(function*() {
    const { refresh_token: _, ...body } = brought
    const { value: granted } = yield* answered(
      OAuth2.exchange({ baseUrl, app, code, verifier, redirectUri, scopes }),
      { body }
    )
    assert.deepStrictEqual(granted.scopes, scopes)
    assert.strictEqual(granted.expiresAt - granted.renewedAt, 7_200_000)
    assert.notProperty(granted, "refreshToken")
    // A service that does not rotate keeps the refresh token that it has.
    const { requests: [sent], value: renewed } = yield* answered(
      OAuth2.refresh({ baseUrl, app, refreshToken, scopes }),
      { body }
    )
    assert.deepStrictEqual(formOf(sent!), {
      grant_type: "refresh_token",
      refresh_token: "canary-refresh-0005",
      client_id: "client-1:ci"
    })
    assert.strictEqual(revealed(renewed.refreshToken), "canary-refresh-0005")
  })

  test("expire by when they were asked for, not by when the answer came")(function*() {
    const { http } = make(() => Effect.delay(Effect.succeed({ body: brought }), "10 seconds"))
    const fiber = yield* Effect.forkChild(
      Effect.provideService(OAuth2.refresh({ baseUrl, app, refreshToken, scopes }), HttpClient.HttpClient, http)
    )
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).expiresAt, 7_200_000)
  })

  test.each<readonly [object, Partial<Record<"life" | "refreshToken", unknown>>]>([
    [{ scope: "" }, {}],
    [{ scope: null }, {}],
    [{ scope: ["canary"] }, {}],
    [{ token_type: undefined }, {}],
    [{ token_type: null }, {}],
    [{ expires_in: "60" }, { life: 60_000 }],
    [{ expires_in: 0 }, {}],
    [{ expires_in: -1 }, {}],
    [{ expires_in: null }, {}],
    [{ expires_in: "" }, {}],
    [{ expires_in: "canary" }, {}],
    [{ expires_in: 1e308 }, {}],
    [{ refresh_token: "" }, { refreshToken: "canary-refresh-0005" }],
    [{ refresh_token: null }, { refreshToken: "canary-refresh-0005" }]
  ])("are kept, whatever else the service says of them: %j")(function*([said, kept]) {
    const { value } = yield* answered(OAuth2.refresh({ baseUrl, app, refreshToken, scopes }), {
      body: { ...brought, ...said }
    })
    const { life = 7_200_000, refreshToken: next = "canary-refresh-0008" } = kept
    assert.strictEqual(revealed(value.accessToken), "canary-access-0007")
    assert.strictEqual(revealed(value.refreshToken), next)
    assert.strictEqual(value.expiresAt - value.renewedAt, life)
    assert.deepStrictEqual(value.scopes, scopes)
  })

  const unreadable: ReadonlyArray<unknown> = [
    "",
    "canary",
    "null",
    "[]",
    { ...brought, token_type: "mac" },
    { ...brought, access_token: "" },
    { ...brought, access_token: "canary\r\ncanary" },
    { ...brought, access_token: 1 }
  ]

  test.each(unreadable)("that are none are not told: %j")(function*(body) {
    for (const name of creates) {
      const { error, requests } = yield* failed(run(name), () => ({ body }))
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.strictEqual(error.status, 200)
      assert.lengthOf(requests, 1)
      assertNoSecret(error)
    }
  })
})

describe("an app", () => {
  test.each<readonly [string, object]>([
    ["clientId", { clientId: "" }],
    ["clientId", {}],
    ["clientSecret", { ...app, clientSecret: Redacted.make("") }],
    ["clientSecret", { ...app, clientSecret: Redacted.make("canary\ud800") }],
    ["clientSecret", { ...app, clientSecret: "canary" }]
  ])("with a wrong %s sends nothing")(function*([setting, app]) {
    const wrong = { baseUrl, app: app as typeof confidential, scopes }
    for (
      const request of [
        OAuth2.exchange({ ...wrong, code, verifier, redirectUri }),
        OAuth2.refresh({ ...wrong, refreshToken }),
        OAuth2.revoke({ ...wrong, token })
      ]
    ) {
      const { error, requests } = yield* failed<unknown, OAuth2.RequestError>(request, () => ({}))
      assert.instanceOf(error, Errors.InvalidSettings)
      assert.strictEqual(error.setting, setting)
      assert.lengthOf(requests, 0)
      assertNoSecret(error)
    }
  })
})

describe("the token of an app", () => {
  test("comes for its key and secret")(function*() {
    const { requests: [sent], value } = yield* answered(run("appToken"), {
      body: { ...brought, access_token: "AA%2FA" }
    })
    assert.deepStrictEqual([sent?.method, sent?.path], ["POST", "/oauth2/token"])
    assert.deepStrictEqual(formOf(sent!), { grant_type: "client_credentials" })
    assert.strictEqual(sent?.headers["authorization"], `Basic ${btoa("canary-key-0001:canary-consumer-0002")}`)
    assert.strictEqual(revealed(value as Redacted.Redacted), "AA%2FA")
  })

  test("can be invalidated")(function*() {
    const { requests: [sent], value } = yield* answered(run("invalidateAppToken"), { body: {} })
    assert.deepStrictEqual([sent?.method, sent?.path], ["POST", "/oauth2/invalidate_token"])
    assert.deepStrictEqual(formOf(sent!), { access_token: "canary-token-0006" })
    assert.strictEqual(sent?.headers["authorization"], `Basic ${btoa("canary-key-0001:canary-consumer-0002")}`)
    assert.isUndefined(value)
  })

  test("is asked for again as often as the settings say, with Promises too")(function*() {
    asked.length = 0
    const plain = { consumerKey: "canary-key-0001", consumerSecret: "canary-consumer-0002" }
    yield* Effect.promise(() => promised.appToken({ baseUrl, ...plain, retries: 0 }).catch(() => {}))
    assert.lengthOf(asked, 1)
  })

  test("is invalid when a repeated request finds it so")(function*() {
    const gone = { status: 401, body: { errors: [{ code: 89, message: "Invalid or expired token" }] } }
    const { requests } = yield* inMinute(
      answered(run("invalidateAppToken"), (_, index) => index === 0 ? { status: 503 } : gone)
    )
    assert.lengthOf(requests, 2)
    const { error } = yield* failed(run("invalidateAppToken"), () => gone)
    assert.instanceOf(error, Errors.Unauthorized)
  })

  test("is not taken for invalid because a gateway refuses the repeated request")(function*() {
    const blocked = { status: 401, body: { title: "Unauthorized", detail: "Unauthorized" } }
    const { error } = yield* inMinute(
      failed(run("invalidateAppToken"), (_, index) => index === 0 ? { status: 503 } : blocked)
    )
    assert.instanceOf(error, Errors.Unauthorized)
  })

  test.each(["consumerKey", "consumerSecret"] as const)("needs the %s")(function*(setting) {
    const { error, requests } = yield* failed(OAuth2.appToken({ baseUrl, ...consumer, [setting]: " " }), () => ({}))
    assert.instanceOf(error, Errors.InvalidSettings)
    assert.strictEqual(error.setting, setting)
    assert.lengthOf(requests, 0)
  })
})

describe("revoke", () => {
  test.each(
    [
      [app, { client_id: "client-1:ci" }],
      [confidential, {}]
    ] as const
  )("says which app, and which token")(function*([app, identity]) {
    const request = OAuth2.revoke({ baseUrl, app, token, kind: "refresh_token" })
    const { requests: [sent] } = yield* answered(request, { body: { revoked: true } })
    assert.deepStrictEqual([sent?.method, sent?.path], ["POST", "/2/oauth2/revoke"])
    assert.deepStrictEqual(formOf(sent!), {
      token: "canary-token-0006",
      token_type_hint: "refresh_token",
      ...identity
    })
    assert.strictEqual("authorization" in sent!.headers, app === confidential)
  })

  test("leaves out what is not known, and needs no body")(function*() {
    const { requests: [sent] } = yield* answered(OAuth2.revoke({ baseUrl, app, token }), {})
    assert.deepStrictEqual(formOf(sent!), { token: "canary-token-0006", client_id: "client-1:ci" })
  })
})

describe("a refusal", () => {
  test.each(
    [
      [400, "BadRequest"],
      [401, "Unauthorized"],
      [403, "Forbidden"],
      [429, "RateLimited"],
      [501, "ServerFailure"],
      [307, "UnexpectedStatus"]
    ] as const
  )("%i is %s, with what the service said")(function*([status, tag]) {
    for (const name of creates) {
      const { error, requests } = yield* failed(run(name), () => ({
        status,
        headers: { location: `${baseUrl}/elsewhere`, "x-request-id": "r1" },
        body: { error: "invalid_request", error_description: "Value passed for the token was invalid." }
      }))
      assert.strictEqual(error._tag, tag)
      assert.propertyVal(error, "title", "invalid_request")
      assert.propertyVal(error, "detail", "Value passed for the token was invalid.")
      assert.propertyVal(error, "operation", `OAuth2.${name}`)
      assert.propertyVal(error, "credential", "app")
      assert.include(error.message, "Value passed for the token was invalid")
      assert.lengthOf(requests, 1)
    }
  })

  test("of an app says so")(function*() {
    const { error } = yield* failed(run("refresh"), () => ({
      status: 401,
      body: { error: "unauthorized_client", error_description: "Missing valid authorization header" }
    }))
    assert.strictEqual(
      error.message,
      "OAuth2.refresh: the service does not accept the id and secret of the app (401): Missing valid authorization " +
        "header. Check them; a public app has no secret, a confidential one needs it."
    )
  })

  test.each(
    [
      [true, 400, { error: "invalid_grant" }],
      [true, 400, { error: "invalid_grant", error_description: "Token is revoked" }],
      [true, 400, { error: "invalid_request", error_description: "Value passed for the token was invalid." }],
      [true, 401, { error: "invalid_grant", error_description: "Token is revoked" }],
      [false, 401, { title: "Unauthorized", detail: "Unauthorized" }],
      [false, 401, { error: "Unauthorized" }],
      [false, 401, { error: "invalid_token", error_description: "The token of the gateway has expired" }],
      [false, 401, { message: "No API key found in request" }],
      [false, 400, { error: "Bad Request", message: "Blocked" }],
      [false, 400, { error: "invalid_request" }],
      [false, 400, { error: "invalid_request", error_description: "Missing required parameter [grant_type]." }],
      [false, 400, ""],
      [false, 401, "<html><title>Sign in to the network</title></html>"],
      [false, 400, { error: "invalid_client" }],
      [false, 401, { error: "invalid_client", error_description: "Unknown" }],
      [false, 401, { error: "unauthorized_client", error_description: "Missing valid authorization header" }],
      [false, 400, { error: "unsupported_grant_type" }],
      [false, 403, { title: "Forbidden" }],
      [false, 429, {}],
      [false, 500, { error: "invalid_grant" }]
    ] as const
  )("refuses the token: %s (%i %j)")(function*([expected, status, body]) {
    const { error } = yield* failed(run("refresh"), () => ({ status, body }))
    assert.strictEqual(OAuth2.isTokenRefused(error), expected)
  })
})

describe("a lost answer", () => {
  test("to a create is never asked for again")(function*() {
    for (const name of creates) {
      for (const cause of [{ code: "ECONNRESET", requestSent: true }, { message: "broken" }]) {
        const { error, requests } = yield* failed(run(name), () => transportError(cause))
        assert.instanceOf(error, Errors.OutcomeUnknown)
        assert.lengthOf(requests, 1)
      }
      const { error, requests } = yield* failed(run(name), () => ({ status: 503 }))
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.instanceOf(error.cause, Errors.ServerFailure)
      assert.lengthOf(requests, 1)
    }
  })

  test("to anything else is")(function*() {
    for (const name of others) {
      const { requests: had } = yield* inMinute(
        answered(run(name), (_, index) => index === 0 ? { status: 503 } : { body: requests[name][1] })
      )
      assert.lengthOf(had, 2)
    }
  })

  test("is none when there was no connection: every request is repeated")(function*() {
    for (const name of names) {
      const { requests: had } = yield* inMinute(
        answered(
          run(name),
          (_, index) => index < 2 ? transportError({ code: "ECONNREFUSED" }) : { body: requests[name][1] }
        )
      )
      assert.lengthOf(had, 3)
    }
  })

  test("is waited for as long as the settings say")(function*() {
    const request = OAuth2.refresh({ baseUrl, app, refreshToken, scopes, timeout: 5_000 })
    // A transport that tells nothing, as any but ours.
    const { http, requests } = make(() => Effect.never, { tells: false })
    const fiber = yield* Effect.forkChild(
      Effect.flip(Effect.provideService(request, HttpClient.HttpClient, http))
    )
    yield* TestClock.adjust("5 seconds")
    const error = yield* Fiber.join(fiber)
    assert.instanceOf(error, Errors.OutcomeUnknown)
    assert.include(error.reason, "within 5000 ms")
    assert.lengthOf(requests, 1)
  })

  test("is not read beyond what the settings allow")(function*() {
    const { http } = make(() => ({ body: { ...brought, filling: "a".repeat(2_000) } }), { tells: false })
    const error = yield* Effect.flip(Effect.provideService(
      OAuth2.refresh({ baseUrl, app, refreshToken, scopes, maxBodySize: 1_000 }),
      HttpClient.HttpClient,
      http
    ))
    assert.instanceOf(error, Errors.OutcomeUnknown)
    assert.include(error.reason, "longer than 1000 bytes")
    assertNoSecret(error)
  })
})

describe("secrets", () => {
  it.effect.each(names)("of %s are in nothing that is told of it", (name) => assertTellsNoSecret(run(name)))
})
