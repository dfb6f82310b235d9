import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as Forms from "../src/authorization/Forms.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { answerForm, authorizeUrl, basic, challenge, locationOf, post, redirect, verifier } from "./support/Login.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60 })
})

beforeEach(() => sandbox.reset())

afterAll(() => sandbox.stop())

const page = (said?: Parameters<typeof authorizeUrl>[2], clientId = sandbox.seeded.publicClient.id) =>
  fetch(authorizeUrl(sandbox.baseUrl, clientId, said), { redirect: "manual" })

/** A code, as a user's browser brings it back. */
const codeOf = async (said?: Parameters<typeof authorizeUrl>[2], clientId?: string, user?: string) =>
  locationOf(await answerForm(await page(said, clientId), user === undefined ? {} : { user })).searchParams.get("code")!

const tokenOf = (form: Record<string, string>, headers?: Record<string, string>) =>
  post(`${sandbox.baseUrl}/2/oauth2/token`, form, headers)

const exchange = (code: string, form: Record<string, string> = {}, headers?: Record<string, string>) =>
  tokenOf({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirect,
    code_verifier: verifier,
    ...(headers === undefined && { client_id: sandbox.seeded.publicClient.id }),
    ...form
  }, headers)

const refresh = (token: string, clientId = sandbox.seeded.publicClient.id) =>
  tokenOf({ grant_type: "refresh_token", refresh_token: token, client_id: clientId })

interface Tokens {
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly access_token: string
  readonly refresh_token: string
}

const taken = async (response: Response): Promise<Tokens> => {
  const body = await response.json()
  assert.strictEqual(response.status, 200, JSON.stringify(body))
  return body as Tokens
}

const refused = async (response: Response, status: number, error: string, description: string) => {
  assert.deepStrictEqual([response.status, await response.json()], [status, { error, error_description: description }])
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
}

const codeInvalid = "Value passed for the authorization code was invalid."
const tokenInvalid = "Value passed for the token was invalid."

/** The status of an operation with an access token. */
const status = async (token: string, path = "/2/users/me") =>
  (await fetch(sandbox.baseUrl + path, { headers: { authorization: `Bearer ${token}` } })).status

const signIn = async (said?: Parameters<typeof authorizeUrl>[2], user?: string) =>
  taken(await exchange(await codeOf(said, undefined, user)))

describe("the page of OAuth 2.0", () => {
  it("says who asks, for what, and offers users", async () => {
    const response = await page()
    const text = await response.text()
    assert.strictEqual(response.status, 200)
    assert.include(text, "Sandbox app without a secret")
    assert.include(text, "Read the posts that you can see, also those of protected accounts <code>tweet.read</code>")
    assert.include(text, "Stay signed in until you revoke it <code>offline.access</code>")
    const users = [...text.matchAll(/name="user" value="(\w+)"/g)].map(([, name]) => name)
    assert.strictEqual(users.length, 12)
    assert.strictEqual(users[0], "ada")
    assert.strictEqual(new Set(users).size, 12)
    const policy = response.headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'none'")
    assert.include(policy, "form-action 'self' http://localhost:8080")
    assert.include(policy, "frame-ancestors 'none'")
  })

  it("shows what it is told as text", async () => {
    const app = sandbox.app({ name: "<script>alert('1')</script>" })
    assert.include(await (await page({}, app.client.id)).text(), "&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;")
    assert.include(await (await page({}, "<b>")).text(), "&#60;b&#62;")
  })

  it("refuses whom it does not know, and sends the user nowhere", async () => {
    const cases: ReadonlyArray<readonly [Record<string, string | undefined>, RegExp]> = [
      [{ client_id: undefined }, /client_id is missing/],
      [{ client_id: "nobody" }, /no app with the client id nobody/],
      [{ redirect_uri: undefined }, /redirect_uri is missing/],
      [{ redirect_uri: `${redirect}/` }, /character by character/],
      [{ redirect_uri: `${redirect}?x=1` }, /character by character/],
      [{ redirect_uri: "http://localhost:8082/callback" }, /character by character/],
      [{ redirect_uri: "https://evil.example" }, /character by character/]
    ]
    for (const [said, reason] of cases) {
      const response = await page(said)
      assert.deepStrictEqual([response.status, response.headers.get("location")], [400, null])
      assert.match(response.headers.get("content-type") ?? "", /^text\/html/)
      assert.match(await response.text(), reason)
      const address = authorizeUrl(sandbox.baseUrl, sandbox.seeded.publicClient.id, said)
      const { error, error_description } = await (await fetch(address, { headers: { accept: "application/json" } }))
        .json()
      assert.strictEqual(error, "invalid_request")
      assert.match(error_description, reason)
    }
    const twice = `${authorizeUrl(sandbox.baseUrl, sandbox.seeded.publicClient.id)}&redirect_uri=https://evil.example`
    assert.strictEqual((await fetch(twice, { redirect: "manual" })).status, 400)
  })

  it("tells the app what else is wrong", async () => {
    const cases: ReadonlyArray<readonly [Record<string, string | undefined>, error: string]> = [
      [{ response_type: undefined }, "invalid_request"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ scope: undefined }, "invalid_scope"],
      [{ scope: "tweet.read nothing.read" }, "invalid_scope"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge: "" }, "invalid_request"],
      [{ code_challenge: "a b" }, "invalid_request"],
      [{ code_challenge_method: "S512" }, "invalid_request"],
      [{ code_challenge_method: "constructor" }, "invalid_request"],
      [{ code_challenge_method: "toString" }, "invalid_request"],
      [{ code_challenge_method: "__proto__" }, "invalid_request"],
      [{ state: "x".repeat(501) }, "invalid_request"]
    ]
    for (const [said, error] of cases) {
      const { origin, pathname, searchParams } = locationOf(await page(said))
      assert.strictEqual(origin + pathname, redirect)
      assert.strictEqual(searchParams.get("error"), error, JSON.stringify(said))
      assert.strictEqual(searchParams.get("state"), said["state"] ?? "xyz")
      assert.isNull(searchParams.get("code"))
    }
    const { searchParams } = locationOf(
      await fetch(`${authorizeUrl(sandbox.baseUrl, sandbox.seeded.publicClient.id)}&scope=a`, { redirect: "manual" })
    )
    assert.strictEqual(searchParams.get("error"), "invalid_request")
    assert.strictEqual(locationOf(await answerForm(await page({ state: undefined }))).searchParams.has("state"), false)
  })

  it("takes yes, no, and any user that there is", async () => {
    const denied = locationOf(await answerForm(await page(), { decision: "deny" }))
    assert.deepInclude(Object.fromEntries(denied.searchParams), { error: "access_denied", state: "xyz" })
    sandbox.user({ username: "grace" })
    const again = await answerForm(await page(), { other: "nobody" })
    assert.strictEqual(again.status, 422)
    assert.include(await again.clone().text(), "There is no user @nobody.")
    const text = await again.text()
    const allowed = await post(`${sandbox.baseUrl}/i/oauth2/authorize`, {
      form_token: /name="form_token" value="([^"]+)"/.exec(text)![1]!,
      other: " @Grace ",
      decision: "allow"
    })
    const { access_token } = await taken(await exchange(locationOf(allowed).searchParams.get("code")!))
    const me = await fetch(`${sandbox.baseUrl}/2/users/me`, { headers: { authorization: `Bearer ${access_token}` } })
    assert.nestedPropertyVal(await me.json(), "data.username", "grace")
  })

  it("takes a form once, from itself alone", async () => {
    const shown = await page()
    const copy = shown.clone()
    locationOf(await answerForm(shown))
    Object.defineProperty(copy, "url", { value: shown.url })
    assert.strictEqual((await answerForm(copy)).status, 400)
    const url = `${sandbox.baseUrl}/i/oauth2/authorize`
    const forged = { decision: "allow", user: "ada", form_token: "x" }
    assert.strictEqual((await post(url, forged)).status, 400)
    for (const origin of ["https://evil.example", "null"]) {
      assert.strictEqual((await post(url, forged, { origin })).status, 403)
    }
    const before = await page()
    sandbox.reset()
    assert.strictEqual((await answerForm(before)).status, 400)
  })

  it("is forgotten when nobody answers it, and many others were shown", () => {
    const forms = Forms.make<string>(() => 0, 2)
    const [first, second, third] = ["first", "second", "third"].map(forms.show)
    assert.deepStrictEqual([first, second, third].map((token = "") => forms.take(token)), [
      undefined,
      "second",
      "third"
    ])
  })
})

describe("codes", () => {
  it("bring tokens of the shapes of the service, with the scopes as they were asked for", async () => {
    const code = await codeOf()
    assert.match(Buffer.from(code, "base64url").toString(), /^\w{45}:\d{13}:1:1:ac:1$/)
    const body = await taken(await exchange(code))
    assert.deepInclude(body, { token_type: "bearer", expires_in: 7200, scope: "tweet.read users.read offline.access" })
    assert.match(Buffer.from(body.access_token, "base64url").toString(), /^\w{45}:\d{13}:1:1:at:1$/)
    assert.match(Buffer.from(body.refresh_token, "base64url").toString(), /^\w{45}:\d{13}:1:1:rt:1$/)
    assert.strictEqual(await status(body.access_token), 200)
    const neutral = await signIn({ scope: "post.read users.read" })
    assert.deepInclude(neutral, { scope: "post.read users.read" })
    assert.notProperty(neutral, "refresh_token")
  })

  it("are good for 30 seconds", async () => {
    const [late, timely] = [await codeOf(), await codeOf()]
    sandbox.clock.advance("29 seconds")
    await taken(await exchange(timely))
    sandbox.clock.advance("1 second")
    await refused(await exchange(late), 400, "invalid_request", codeInvalid)
  })

  it("are good once: the second time ends what the first brought", async () => {
    const code = await codeOf()
    const { access_token, refresh_token } = await taken(await exchange(code))
    await refused(await exchange(code), 400, "invalid_request", codeInvalid)
    assert.strictEqual(await status(access_token), 401)
    await refused(await refresh(refresh_token), 400, "invalid_request", tokenInvalid)
    assert.strictEqual(sandbox.grants.list()[0]?.endedBy, "code used twice")
  })

  it("are bound to the client, the address and the verifier", async () => {
    const other = sandbox.app({ redirects: [redirect] })
    const code = await codeOf()
    for (
      const form of [
        { client_id: other.client.id },
        { redirect_uri: "http://127.0.0.1:8080/callback" },
        { code_verifier: `${verifier}x` },
        { code_verifier: challenge },
        { code: `${code}x` }
      ]
    ) await refused(await exchange(code, form), 400, "invalid_request", codeInvalid)
    await taken(await exchange(code))
  })

  it("go with challenges of every spelling", async () => {
    for (const code_challenge_method of ["S256", "s256"]) await signIn({ code_challenge_method })
    for (const code_challenge_method of ["plain", undefined]) {
      await signIn({ code_challenge_method, code_challenge: verifier })
    }
    const code = await codeOf({ code_challenge_method: "plain", code_challenge: challenge })
    await refused(await exchange(code), 400, "invalid_request", codeInvalid)
  })
})

describe("the token endpoint", () => {
  it("knows confidential clients by their secret alone", async () => {
    const { id, secret } = sandbox.seeded.confidentialClient
    const own = basic(id, Redacted.value(secret))
    const missing = ["unauthorized_client", "Missing valid authorization header"] as const
    const code = await codeOf({}, id)
    await refused(await exchange(code, { client_id: id }), 401, ...missing)
    await refused(await exchange(code, { client_id: id, client_secret: Redacted.value(secret) }), 401, ...missing)
    for (
      const headers of [
        basic(id, ""),
        basic(id, "wrong"),
        basic(id.slice(1), Redacted.value(secret)),
        basic(sandbox.seeded.publicClient.id, ""),
        { authorization: "Basic" },
        { authorization: `Bearer ${Redacted.value(secret)}` }
      ]
    ) {
      const response = await exchange(code, {}, headers)
      assert.match(response.headers.get("www-authenticate") ?? "", /^Basic /)
      await refused(response, 401, ...missing)
    }
    const { refresh_token } = await taken(await exchange(code, {}, own))
    await refused(await refresh(refresh_token, id), 401, ...missing)
    await refused(await refresh(refresh_token), 400, "invalid_request", tokenInvalid)
    await taken(await tokenOf({ grant_type: "refresh_token", refresh_token, client_id: id }, own))
    await refused(
      await tokenOf({ grant_type: "refresh_token", refresh_token, client_id: "other" }, own),
      400,
      "invalid_request",
      "Value passed for the client id did not match the authorization header."
    )
  })

  it("says what is missing", async () => {
    const { id } = sandbox.seeded.publicClient
    const cases: ReadonlyArray<readonly [Record<string, string>, string, string?]> = [
      [{}, "Missing required parameter [grant_type]."],
      [{ grant_type: "password" }, "Value passed for the grant type was invalid.", "unsupported_grant_type"],
      [{ grant_type: "client_credentials" }, "Value passed for the grant type was invalid.", "unsupported_grant_type"],
      [{ grant_type: "refresh_token" }, "Missing required parameter [client_id]."],
      [{ grant_type: "refresh_token", client_id: "x" }, "Value passed for the client id was invalid."],
      [{ grant_type: "refresh_token", client_id: id }, "Missing required parameter [refresh_token]."],
      [{ grant_type: "refresh_token", client_id: id, refresh_token: "x" }, tokenInvalid],
      [
        { grant_type: "authorization_code", client_id: id, code: "x" },
        "Missing required parameter [redirect_uri, code_verifier]."
      ]
    ]
    for (const [form, description, error = "invalid_request"] of cases) {
      await refused(await tokenOf(form), 400, error, description)
    }
    const url = `${sandbox.baseUrl}/2/oauth2/token`
    const twice = new URLSearchParams([["grant_type", "refresh_token"], ["client_id", id], ["client_id", id]])
    await refused(
      await fetch(url, { method: "POST", body: twice }),
      400,
      "invalid_request",
      "There is more than one parameter [client_id]."
    )
    const headers = { "content-type": "application/json" }
    await refused(
      await fetch(url, { method: "POST", body: "{}", headers }),
      400,
      "invalid_request",
      "Missing required parameter [grant_type]."
    )
    assert.strictEqual((await fetch(url)).status, 404)
    const long = await tokenOf({ grant_type: "refresh_token", refresh_token: "x".repeat(70_000) })
    assert.strictEqual(long.status, 413)
  })
})

describe("grants", () => {
  it("last two hours at a time, by the clock of the service", async () => {
    const first = await signIn()
    sandbox.clock.advance("7199 seconds")
    assert.strictEqual(await status(first.access_token), 200)
    sandbox.clock.advance("1 second")
    assert.strictEqual(await status(first.access_token), 401)
    const second = await taken(await refresh(first.refresh_token))
    assert.deepInclude(second, { expires_in: 7200, scope: "tweet.read users.read offline.access" })
    assert.deepStrictEqual([await status(first.access_token), await status(second.access_token)], [401, 200])
    assert.notStrictEqual(second.refresh_token, first.refresh_token)
  })

  it("end with the next login of the same user and app", async () => {
    const first = await signIn()
    const grace = sandbox.user({ username: "grace" })
    const other = await signIn({}, grace.username)
    assert.strictEqual(await status(first.access_token), 200)
    const second = await signIn()
    assert.deepStrictEqual([await status(first.access_token), await status(second.access_token)], [401, 200])
    await refused(await refresh(first.refresh_token), 400, "invalid_request", tokenInvalid)
    assert.strictEqual(await status(other.access_token), 200)
    await taken(await refresh(second.refresh_token))
  })

  it("take a spent refresh token once more, as long as nothing that it brought was used", async () => {
    const first = await signIn()
    const lost = await taken(await refresh(first.refresh_token))
    const again = await taken(await refresh(first.refresh_token))
    assert.deepStrictEqual([await status(lost.access_token), await status(again.access_token)], [401, 200])
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 1, reuseDetected: 0, alive: true })
    // Now it was used.
    await refused(await refresh(first.refresh_token), 400, "invalid_request", tokenInvalid)
    assert.strictEqual(await status(again.access_token), 401)
    await refused(await refresh(again.refresh_token), 400, "invalid_request", tokenInvalid)
    assert.deepInclude(sandbox.grants.list()[0], {
      refreshes: 1,
      replays: 1,
      reuseDetected: 1,
      alive: false,
      endedBy: "refresh token reused"
    })
  })

  it("end with a successor that was put aside", async () => {
    const first = await signIn()
    const lost = await taken(await refresh(first.refresh_token))
    const again = await taken(await refresh(first.refresh_token))
    await refused(await refresh(lost.refresh_token), 400, "invalid_request", tokenInvalid)
    assert.strictEqual(await status(again.access_token), 401)
  })

  it("of strict apps end with any reuse", async () => {
    const app = sandbox.app({ rotation: "strict" })
    const { refreshToken } = sandbox.grants.make({ app: app.id })
    const token = Redacted.value(refreshToken!)
    const next = await taken(await refresh(token, app.client.id))
    await refused(await refresh(token, app.client.id), 400, "invalid_request", tokenInvalid)
    await refused(await refresh(next.refresh_token, app.client.id), 400, "invalid_request", tokenInvalid)
    assert.strictEqual(await status(next.access_token), 401)
  })

  it("end when any of their tokens is revoked", async () => {
    const { id } = sandbox.seeded.publicClient
    const url = `${sandbox.baseUrl}/2/oauth2/revoke`
    for (const kind of ["access_token", "refresh_token"] as const) {
      const tokens = await signIn()
      const foreign = sandbox.app().client.id
      await post(url, { token: tokens[kind], client_id: foreign })
      assert.strictEqual(await status(tokens.access_token), 200)
      const revoked = await post(url, { token: tokens[kind], token_type_hint: kind, client_id: id })
      assert.deepStrictEqual([revoked.status, await revoked.json()], [200, { revoked: true }])
      assert.strictEqual(await status(tokens.access_token), 401)
      await refused(await refresh(tokens.refresh_token), 400, "invalid_request", tokenInvalid)
      assert.strictEqual((await post(url, { token: tokens[kind], client_id: id })).status, 200)
    }
    await refused(await post(url, { client_id: id }), 400, "invalid_request", "Missing required parameter [token].")
    const { settings } = sandbox
    const own = sandbox.seeded.confidentialClient
    await post(url, { token: settings.bearerToken }, basic(own.id, Redacted.value(own.secret)))
    assert.strictEqual(await status(settings.bearerToken), 401)
  })

  it("survive in a snapshot", async () => {
    const tokens = await signIn()
    const snapshot = sandbox.snapshot()
    sandbox.reset()
    assert.strictEqual(await status(tokens.access_token), 401)
    sandbox.restore(snapshot)
    assert.strictEqual(await status(tokens.access_token), 200)
    await taken(await refresh(tokens.refresh_token))
  })

  it("allow what their scopes say", async () => {
    const { access_token } = await signIn({ scope: "tweet.read users.read" })
    const response = await fetch(`${sandbox.baseUrl}/2/tweets`, {
      method: "POST",
      body: JSON.stringify({ text: "no" }),
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" }
    })
    assert.strictEqual(response.status, 403)
    assert.nestedPropertyVal(
      await response.json(),
      "detail",
      "The token lacks the scopes [tweet.write]."
    )
  })
})

describe("tokens of apps alone", () => {
  const url = (path: string) => sandbox.baseUrl + path
  const own = () => basic(sandbox.settings.consumerKey, sandbox.settings.consumerSecret)

  it("are the same until they are invalidated", async () => {
    const get = async () => {
      const response = await post(url("/oauth2/token"), { grant_type: "client_credentials" }, own())
      return await response.json() as { token_type: string; access_token: string }
    }
    const seeded = Redacted.value(sandbox.seeded.appBearerToken)
    assert.deepStrictEqual(await get(), { token_type: "bearer", access_token: seeded })
    const gone = await post(url("/oauth2/invalidate_token"), { access_token: seeded }, own())
    assert.deepStrictEqual([gone.status, await gone.json()], [200, { access_token: seeded }])
    assert.strictEqual(await status(seeded, "/2/users/by/username/ada"), 401)
    const next = await get()
    assert.match(next.access_token, /^A{22}\w+%2F\w+%3D$/)
    assert.deepStrictEqual(await get(), next)
    assert.strictEqual(await status(next.access_token, "/2/users/by/username/ada"), 200)
    const again = await post(url("/oauth2/invalidate_token"), { access_token: seeded }, own())
    assert.deepStrictEqual([again.status, await again.json()], [
      401,
      { errors: [{ code: 89, message: "Invalid or expired token" }] }
    ])
  })

  it("are for those who know the secret", async () => {
    const { consumerKey, consumerSecret } = sandbox.settings
    for (
      const [headers, form] of [
        [{}, { grant_type: "client_credentials" }],
        [basic(consumerKey, "wrong"), { grant_type: "client_credentials" }],
        [basic("nobody", consumerSecret), { grant_type: "client_credentials" }],
        [{ authorization: "Basic %%%" }, { grant_type: "client_credentials" }],
        [own(), { grant_type: "password" }]
      ] as const
    ) {
      const response = await post(url("/oauth2/token"), form, headers)
      assert.deepStrictEqual([response.status, await response.json()], [403, {
        errors: [{ code: 99, label: "authenticity_token_error", message: "Unable to verify your credentials" }]
      }])
    }
    const escaped = basic(consumerKey.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`), consumerSecret)
    assert.strictEqual((await post(url("/oauth2/token"), { grant_type: "client_credentials" }, escaped)).status, 200)
    const missing = await post(url("/oauth2/token"), {}, own())
    assert.deepStrictEqual([missing.status, await missing.json()], [403, {
      errors: [{ code: 170, label: "forbidden_missing_parameter", message: "Missing required parameter: grant_type" }]
    }])
  })
})

describe("faults of the authorization server", () => {
  it("come before the work, after it, and on the way back", async () => {
    const first = await signIn()
    sandbox.faults.add({ operation: "refreshToken", status: 503 })
    assert.strictEqual((await refresh(first.refresh_token)).status, 503)
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 0, replays: 0 })
    sandbox.faults.add({ operation: "refreshToken", status: 500, after: true })
    assert.strictEqual((await refresh(first.refresh_token)).status, 500)
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 0 })
    for (const fault of [{ reset: "after" }, { truncate: true }] as const) {
      sandbox.faults.add({ operation: "refreshToken", ...fault })
      const outcome = await refresh(first.refresh_token).then((response) => response.json()).catch(() => "broken")
      assert.strictEqual(outcome, "broken")
    }
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 2, alive: true })
    sandbox.faults.add({ operation: "refreshToken", reset: "before" })
    assert.strictEqual(await refresh(first.refresh_token).catch(() => "broken"), "broken")
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 2 })
    sandbox.faults.add({ operation: "refreshToken", delay: 20 })
    await taken(await refresh(first.refresh_token))
    for (const operation of ["exchangeCode", "revokeToken", "getAppToken", "authorize"] as const) {
      sandbox.faults.add({ operation, status: 502, body: "html" })
    }
    const { id } = sandbox.seeded.publicClient
    assert.strictEqual((await page()).status, 502)
    assert.strictEqual((await exchange("x")).status, 502)
    assert.strictEqual((await post(`${sandbox.baseUrl}/2/oauth2/revoke`, { token: "x", client_id: id })).status, 502)
    assert.strictEqual((await post(`${sandbox.baseUrl}/oauth2/token`, {})).status, 502)
    assert.strictEqual(sandbox.requests.at(-1)?.operation, "getAppToken")
  })
})
