import { assert, describe, it } from "@effect/vitest"
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as Sandbox from "../src/Sandbox.ts"
import { answerForm, locationOf, redirect } from "./support/Login.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60 })
})

beforeEach(() => sandbox.reset())

afterAll(() => sandbox.stop())

const hmac = Effect.runSync(OAuth1.HmacSha1)

interface Pair {
  readonly token: string
  readonly secret: string
}

interface Signing {
  readonly consumer?: Pair
  readonly pair?: Pair | undefined
  readonly more?: Record<string, string>
  readonly form?: Record<string, string>
  /** In milliseconds from the clock of the service. */
  readonly off?: number
  readonly nonce?: string
  /** What the header says in place of what was signed. */
  readonly spoiled?: Record<string, string>
}

/** Signs every OAuth parameter and the form, as the libraries do. */
const signed = (method: string, path: string, options: Signing = {}) => {
  const { settings } = sandbox
  const {
    consumer = { token: settings.consumerKey, secret: settings.consumerSecret },
    form,
    more = {},
    nonce = OAuth1.nonce(),
    off = 0,
    pair,
    spoiled
  } = options
  const url = sandbox.baseUrl + path
  const parameters = {
    oauth_consumer_key: consumer.token,
    oauth_nonce: nonce,
    oauth_signature_method: "HMAC-SHA1",
    oauth_timestamp: String(Math.floor((sandbox.clock.now() + off) / 1000)),
    oauth_version: "1.0",
    ...(pair && { oauth_token: pair.token }),
    ...more
  }
  const oauth_signature = OAuth1.signature({
    method,
    url,
    parameters: { ...form, ...parameters },
    consumerSecret: consumer.secret,
    tokenSecret: pair?.secret,
    hmac
  })
  const header = Object.entries({ ...parameters, oauth_signature, ...spoiled })
    .map(([name, value]) => `${name}="${OAuth1.percentEncode(value)}"`)
  return fetch(url, {
    method,
    headers: { authorization: `OAuth ${header.join(", ")}` },
    ...(form && { body: new URLSearchParams(form) })
  })
}

const fieldsOf = async (response: Response): Promise<Record<string, string>> => {
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  return Object.fromEntries(new URLSearchParams(text))
}

const begin = async (options: Signing = {}): Promise<Pair> => {
  const more = { oauth_callback: redirect }
  const fields = await fieldsOf(await signed("POST", "/oauth/request_token", { more, ...options }))
  assert.strictEqual(fields["oauth_callback_confirmed"], "true")
  return { token: fields["oauth_token"]!, secret: fields["oauth_token_secret"]! }
}

const page = (token: string, name = "authorize", query = "") =>
  fetch(`${sandbox.baseUrl}/oauth/${name}?oauth_token=${token}${query}`, { redirect: "manual" })

const verifierOf = async (token: string) =>
  locationOf(await answerForm(await page(token))).searchParams.get("oauth_verifier")!

const end = (pair: Pair, oauth_verifier: string) =>
  signed("POST", "/oauth/access_token", { pair, more: { oauth_verifier } })

const login = async (options: Signing = {}) => {
  const pair = await begin(options)
  const fields = await fieldsOf(await end(pair, await verifierOf(pair.token)))
  return { ...fields, token: fields["oauth_token"]!, secret: fields["oauth_token_secret"]! }
}

const statusOf = async (pair: Pair) => (await signed("GET", "/2/users/me", { pair })).status

const refused = async (response: Response, status: number, code: number) => {
  const { errors } = await response.json() as { errors: ReadonlyArray<{ code: number }> }
  assert.deepStrictEqual([response.status, errors[0]?.code], [status, code])
}

describe("a login of OAuth 1.0a", () => {
  it("has three legs", async () => {
    const pair = await begin()
    const shown = await page(pair.token)
    const text = await shown.clone().text()
    assert.include(text, "Allow <em>Sandbox app</em> to act for you?")
    assert.include(text, "Read and send direct messages as you")
    Object.defineProperty(shown, "url", { value: `${sandbox.baseUrl}/oauth/authorize` })
    const { origin, pathname, searchParams } = locationOf(await answerForm(shown))
    assert.strictEqual(origin + pathname, redirect)
    assert.strictEqual(searchParams.get("oauth_token"), pair.token)
    const fields = await fieldsOf(await end(pair, searchParams.get("oauth_verifier")!))
    const { id, username } = sandbox.seeded.ada
    assert.deepInclude(fields, { user_id: id, screen_name: username })
    assert.match(fields["oauth_token"]!, new RegExp(`^${id}-\\w{40}$`))
    assert.strictEqual(await statusOf({ token: fields["oauth_token"]!, secret: fields["oauth_token_secret"]! }), 200)
    const [grant] = sandbox.grants.list()
    assert.deepInclude(grant, { kind: "OAuth 1.0a", alive: true })
    assert.isUndefined(grant?.expiresAt)
  })

  it("shows a PIN of seven digits, which is good once", async () => {
    const pair = await begin({ more: { oauth_callback: "oob" } })
    const shown = await answerForm(await page(pair.token))
    assert.strictEqual(shown.status, 200)
    const pin = /class="pin">(\d{7})</.exec(await shown.text())![1]!
    const wrong = await end(pair, "0000000")
    assert.deepStrictEqual([wrong.status, await wrong.text()], [
      401,
      "Error processing your OAuth request: Invalid oauth_verifier parameter"
    ])
    // Nobody else can allow it now, and have the app sign in as them.
    assert.strictEqual((await page(pair.token)).status, 400)
    await fieldsOf(await end(pair, pin))
    await refused(await end(pair, pin), 401, 89)
  })

  it("can be denied", async () => {
    const pair = await begin()
    const { searchParams } = locationOf(await answerForm(await page(pair.token), { decision: "deny" }))
    assert.deepStrictEqual(Object.fromEntries(searchParams), { denied: pair.token })
    await refused(await end(pair, "x"), 401, 89)
    const oob = await begin({ more: { oauth_callback: "oob" } })
    const denied = await answerForm(await page(oob.token), { decision: "deny" })
    assert.include(await denied.text(), "cannot act for you")
  })

  it("begins with a signature over everything", async () => {
    const more = { oauth_callback: redirect }
    const path = "/oauth/request_token"
    const consumer = { token: sandbox.settings.consumerKey, secret: "wrong" }
    await refused(await signed("POST", path, { more, consumer }), 401, 32)
    await refused(await signed("POST", path, { more, consumer: { token: "nobody", secret: "x" } }), 401, 32)
    await refused(await signed("POST", path, { more, spoiled: { oauth_callback: "oob" } }), 401, 32)
    await refused(await signed("POST", path, { more, off: -301_000 }), 401, 135)
    const once = { nonce: "once", more: { ...more, oauth_timestamp: String(Math.floor(sandbox.clock.now() / 1000)) } }
    await begin(once)
    await refused(await signed("POST", path, once), 401, 32)
    await refused(await fetch(sandbox.baseUrl + path, { method: "POST" }), 401, 32)
    for (const callback of ["", `${redirect}/`, "https://evil.example", "OOB"]) {
      await refused(await signed("POST", path, { more: { oauth_callback: callback } }), 403, 415)
    }
    await begin({ more: {}, form: { oauth_callback: redirect } })
    const query = `${path}?oauth_callback=${encodeURIComponent(redirect)}&x_auth_access_type=read`
    await fieldsOf(await signed("POST", query))
  })

  it("ends with a signature over the verifier, by the app that began it", async () => {
    const pair = await begin()
    const oauth_verifier = await verifierOf(pair.token)
    const path = "/oauth/access_token"
    await refused(
      await signed("POST", path, { pair, more: { oauth_verifier: "x" }, spoiled: { oauth_verifier } }),
      401,
      32
    )
    await refused(await end({ ...pair, secret: "wrong" }, oauth_verifier), 401, 32)
    const { settings } = sandbox.app()
    const consumer = { token: settings.consumerKey, secret: settings.consumerSecret }
    await refused(await signed("POST", path, { pair, consumer, more: { oauth_verifier } }), 401, 89)
    await fieldsOf(await signed("POST", path, { pair, form: { oauth_token: pair.token, oauth_verifier } }))
  })

  it("must end within a quarter of an hour", async () => {
    const pair = await begin()
    const verifier = await verifierOf(pair.token)
    const other = await begin()
    sandbox.clock.advance("15 minutes")
    await refused(await end(pair, verifier), 401, 89)
    assert.strictEqual((await page(other.token)).status, 400)
  })

  it("gives less where less is asked for", async () => {
    const pair = await login({ more: { oauth_callback: redirect, x_auth_access_type: "read" } })
    const read = await signed("GET", "/2/users/me", { pair })
    assert.strictEqual(read.headers.get("x-access-level"), "read")
    const { id } = sandbox.seeded.ada
    assert.strictEqual((await signed("DELETE", `/2/users/${id}/likes/1`, { pair })).status, 403)
    const write = await login({ more: { oauth_callback: redirect, x_auth_access_type: "write" } })
    assert.strictEqual(
      (await signed("GET", "/2/users/me", { pair: write })).headers.get("x-access-level"),
      "read-write"
    )
    assert.strictEqual(await statusOf(pair), 401)
  })

  it("gives the same token again, until it is invalidated", async () => {
    const first = await login()
    const second = await login()
    assert.deepStrictEqual(second, first)
    const gone = await signed("POST", "/1.1/oauth/invalidate_token.json", { pair: first })
    assert.deepStrictEqual([gone.status, await gone.json()], [200, { access_token: first.token }])
    assert.strictEqual(await statusOf(first), 401)
    await refused(await signed("POST", "/1.1/oauth/invalidate_token.json", { pair: first }), 401, 89)
    const third = await login()
    assert.notStrictEqual(third.token, first.token)
    const { accessToken, accessTokenSecret } = sandbox.settings
    const seeded = { token: accessToken, secret: accessTokenSecret }
    assert.strictEqual((await signed("POST", "/1.1/oauth/invalidate_token.json", { pair: seeded })).status, 200)
    assert.strictEqual(await statusOf(seeded), 401)
    sandbox.grants.revoke(sandbox.grants.list()[0]!.id)
    assert.strictEqual(await statusOf(third), 401)
  })

  it("is not in the journal, wherever it was put", async () => {
    const put = async (...canaries: ReadonlyArray<string>) => {
      for (const canary of canaries) {
        await fetch(`${sandbox.baseUrl}/2/${canary}?x=${canary}`, { headers: { "user-agent": canary } })
      }
      const text = JSON.stringify(sandbox.requests)
      for (const canary of canaries) assert.notInclude(text, canary)
    }
    const pair = await begin()
    await put(pair.token, pair.secret)
    const verifier = await verifierOf(pair.token)
    const { oauth_token = "", oauth_token_secret = "" } = await fieldsOf(await end(pair, verifier))
    await put(oauth_token, oauth_token_secret)
  })

  it("asks nobody who has allowed it before, on the other page", async () => {
    const again = async (query = "", more = {}) =>
      page((await begin({ more: { oauth_callback: redirect, ...more } })).token, "authenticate", query)
    assert.strictEqual((await again()).status, 200)
    await login()
    const direct = locationOf(await again())
    assert.isNotNull(direct.searchParams.get("oauth_verifier"))
    assert.strictEqual((await again("&force_login=true")).status, 200)
    assert.strictEqual((await again("", { x_auth_access_type: "read" })).status, 200)
    assert.strictEqual((await again("&screen_name=ada")).status, 303)
    assert.strictEqual((await again("&screen_name=nobody")).status, 200)
    sandbox.user({ username: "grace" })
    const asked = await again("&screen_name=grace")
    assert.match(await asked.text(), /value="grace" checked/)
    sandbox.grants.revoke(sandbox.grants.list()[0]!.id)
    assert.strictEqual((await again()).status, 200)
  })
})
