import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Sandbox from "../src/Sandbox.ts"
import { answerForm, authorizeUrl, basic, locationOf, post, redirect, verifier } from "./support/Login.ts"

describe("the journal of logins", () => {
  it("holds no code, verifier, token, secret or PIN, wherever it was put", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const { confidentialClient: client } = sandbox.seeded
    const secret = Redacted.value(client.secret)
    const own = basic(client.id, secret)
    const tokenUrl = `${sandbox.baseUrl}/2/oauth2/token`
    const shown = await fetch(authorizeUrl(sandbox.baseUrl, client.id))
    const formToken = /name="form_token" value="([^"]+)"/.exec(await shown.clone().text())![1]!
    const code = locationOf(await answerForm(shown)).searchParams.get("code")!
    const form = { grant_type: "authorization_code", code, redirect_uri: redirect, code_verifier: verifier }
    const first = await (await post(tokenUrl, form, own)).json() as { access_token: string; refresh_token: string }
    const renewal = { grant_type: "refresh_token", refresh_token: first.refresh_token }
    const second = await (await post(tokenUrl, renewal, own)).json() as typeof first
    const canaries = [code, secret, ...[first, second].flatMap((tokens) => [tokens.access_token, tokens.refresh_token])]
    const usual = JSON.stringify(sandbox.requests)
    for (const canary of [...canaries, verifier, formToken]) assert.notInclude(usual, canary)
    const unknown = "nobody-knows-this-one"
    const pin = "7654321"
    // The places where programs put them by mistake.
    for (const canary of canaries) {
      await fetch(`${sandbox.baseUrl}/2/${canary}?x=${canary}`, { headers: { "user-agent": canary, cookie: canary } })
      await post(tokenUrl, { ...renewal, refresh_token: canary, note: canary })
    }
    for (const name of ["code", "code_verifier", "refresh_token", "client_secret", "token", "oauth_verifier", "pin"]) {
      await post(tokenUrl, { ...renewal, [name]: unknown, other: unknown })
      await fetch(`${sandbox.baseUrl}/oauth/access_token?${name}=${pin}`, { method: "POST" })
      await post(`${sandbox.baseUrl}/oauth/access_token`, { [name]: pin })
    }
    await fetch(`${sandbox.baseUrl}/oauth/access_token`, {
      method: "POST",
      headers: { authorization: `OAuth oauth_verifier="${unknown}", oauth_token="${unknown}"` }
    })
    const text = JSON.stringify(sandbox.requests)
    for (const canary of [...canaries, unknown, pin]) {
      assert.notInclude(text, canary)
      assert.notInclude(text, Buffer.from(canary).toString("base64"))
    }
    const exchanged = sandbox.requests.find(({ operation }) => operation === "exchangeCode")
    assert.deepInclude(exchanged, {
      method: "POST",
      path: "/2/oauth2/token",
      status: 200,
      body: {
        grant_type: "authorization_code",
        code: "<redacted>",
        redirect_uri: redirect,
        code_verifier: "<redacted>"
      }
    })
  })

  it("holds no token of an app that came with a snapshot", async () => {
    await using before = await Sandbox.start({ posts: 0 })
    const { bearerToken, consumerKey, consumerSecret } = before.app().settings
    const own = basic(consumerKey, consumerSecret)
    await post(`${before.baseUrl}/oauth2/invalidate_token`, { access_token: bearerToken }, own)
    const made = await post(`${before.baseUrl}/oauth2/token`, { grant_type: "client_credentials" }, own)
    const { access_token } = await made.json() as { access_token: string }
    await using sandbox = await Sandbox.start({ posts: 0 })
    sandbox.restore(before.snapshot())
    await fetch(`${sandbox.baseUrl}/2/x`, { headers: { "user-agent": access_token } })
    assert.strictEqual(sandbox.requests.at(-1)?.headers["user-agent"], "<redacted>")
  })

  it("says which kind of token was revoked, and where a login leads to", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    await post(`${sandbox.baseUrl}/2/oauth2/revoke`, { token: "x", token_type_hint: "refresh_token" })
    assert.deepInclude(sandbox.requests[0], {
      operation: "revokeToken",
      status: 400,
      body: { token: "<redacted>", token_type_hint: "refresh_token" }
    })
    await post(`${sandbox.baseUrl}/oauth/request_token`, { oauth_callback: redirect })
    assert.deepInclude(sandbox.requests[1], {
      operation: "requestToken",
      status: 401,
      body: { oauth_callback: redirect }
    })
  })
})
