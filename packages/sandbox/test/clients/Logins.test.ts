import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Xdk from "@xdevplatform/xdk"
import { Redacted } from "effect"
import { Agent } from "node:http"
import * as oauth from "oauth4webapi"
import { type ITwitterApiClientPlugin, type TOAuth2Scope, TwitterApi } from "twitter-api-v2"
import { vi } from "vitest"
import * as Sandbox from "../../src/Sandbox.ts"
import { answerForm, locationOf, redirect } from "../support/Login.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60 })
})

afterAll(() => sandbox.stop())

const scope: Array<TOAuth2Scope> = ["tweet.read", "users.read", "bookmark.read", "offline.access"]

/** An address of the service, here. */
const here = (url: string) => url.replace(/^https:\/\/(?:api\.)?x\.com/, sandbox.baseUrl)

/** Allows what a page asks for, as ada; the address that leads back to the app. */
const allow = async (url: string) => locationOf(await answerForm(await fetch(here(url), { redirect: "manual" })))

/** The clients of both kinds: without a secret and with one. */
const clients = () => {
  const { confidentialClient, publicClient } = sandbox.seeded
  return [
    { clientId: publicClient.id },
    { clientId: confidentialClient.id, clientSecret: Redacted.value(confidentialClient.secret) }
  ]
}

const codeError = "Value passed for the authorization code was invalid."

describe("oauth4webapi", () => {
  it("signs in, stays signed in, signs out", async () => {
    const server: oauth.AuthorizationServer = {
      issuer: sandbox.baseUrl,
      authorization_endpoint: `${sandbox.baseUrl}/i/oauth2/authorize`,
      token_endpoint: `${sandbox.baseUrl}/2/oauth2/token`,
      revocation_endpoint: `${sandbox.baseUrl}/2/oauth2/revoke`
    }
    const options = { [oauth.allowInsecureRequests]: true }
    for (const { clientId: client_id, clientSecret } of clients()) {
      const client = { client_id }
      const auth = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret)
      const verifier = oauth.generateRandomCodeVerifier()
      const state = oauth.generateRandomState()
      const url = new URL(server.authorization_endpoint!)
      url.search = new URLSearchParams({
        client_id,
        redirect_uri: redirect,
        response_type: "code",
        scope: scope.join(" "),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256"
      }).toString()
      const back = oauth.validateAuthResponse(server, client, await allow(url.href), state)
      const exchange = () =>
        oauth.authorizationCodeGrantRequest(server, client, auth, back, redirect, verifier, options)
      const first = await oauth.processAuthorizationCodeResponse(server, client, await exchange())
      assert.deepInclude(first, { token_type: "bearer", expires_in: 7200, scope: scope.join(" ") })
      const refresh = async (token: string) =>
        oauth.processRefreshTokenResponse(
          server,
          client,
          await oauth.refreshTokenGrantRequest(server, client, auth, token, options)
        )
      const second = await refresh(first.refresh_token!)
      const me = await oauth.protectedResourceRequest(
        second.access_token,
        "GET",
        new URL(`${sandbox.baseUrl}/2/users/me`),
        new Headers(),
        null,
        options
      )
      assert.nestedPropertyVal(await me.json(), "data.username", "ada")
      const gone = await oauth.revocationRequest(server, client, auth, second.refresh_token!, options)
      await oauth.processRevocationResponse(gone)
      const refused = await refresh(second.refresh_token!).then(() => undefined, (error) => error)
      assert.instanceOf(refused, oauth.ResponseBodyError)
      assert.deepInclude(refused.cause, { error: "invalid_request" })
    }
  })
})

describe("twitter-api-v2", () => {
  const plugin: ITwitterApiClientPlugin = {
    onBeforeRequestConfig: ({ params }) => {
      // It knows by the address that an answer is a form.
      if (params.url.startsWith("https://api.x.com/oauth/")) params.forceParseMode = "url"
      params.url = here(params.url)
    }
  }
  const settings = () => ({ httpAgent: new Agent(), plugins: [plugin] })

  it("signs in with OAuth 2.0, stays signed in, signs out", async () => {
    for (const tokens of clients()) {
      const client = new TwitterApi(tokens, settings())
      const { codeVerifier, state, url } = client.generateOAuth2AuthLink(redirect, { scope })
      const { searchParams } = await allow(url)
      assert.strictEqual(searchParams.get("state"), state)
      const code = searchParams.get("code")!
      const first = await client.loginWithOAuth2({ code, codeVerifier, redirectUri: redirect })
      assert.deepInclude(first, { expiresIn: 7200, scope })
      assert.strictEqual((await first.client.v2.me()).data.username, "ada")
      const second = await client.refreshOAuth2Token(first.refreshToken!)
      assert.strictEqual((await second.client.v2.me()).data.username, "ada")
      await client.revokeOAuth2Token(second.refreshToken!, "refresh_token")
      assert.deepInclude(await second.client.v2.me().catch((error) => error), { code: 401 })
      const late = await client.loginWithOAuth2({ code, codeVerifier, redirectUri: redirect }).catch((error) => error)
      assert.nestedPropertyVal(late, "data.error_description", codeError)
    }
  })

  it("signs in with OAuth 1.0a, by redirect and by PIN, and as an app", async () => {
    const { consumerKey: appKey, consumerSecret: appSecret } = sandbox.settings
    const app = new TwitterApi({ appKey, appSecret }, settings())
    for (const callback of [redirect, "oob"]) {
      const link = await app.generateAuthLink(callback, { linkMode: "authorize", authAccessType: "read" })
      assert.strictEqual(link.oauth_callback_confirmed, "true")
      const begun = new TwitterApi(
        { appKey, appSecret, accessToken: link.oauth_token, accessSecret: link.oauth_token_secret },
        settings()
      )
      const answer = await answerForm(await fetch(here(link.url)))
      const verifier = callback === "oob"
        ? /class="pin">(\d{7})</.exec(await answer.text())![1]!
        : locationOf(answer).searchParams.get("oauth_verifier")!
      const { client, screenName, userId } = await begun.login(verifier)
      assert.deepStrictEqual({ id: userId, username: screenName }, sandbox.seeded.ada)
      assert.strictEqual((await client.v2.me()).data.username, "ada")
    }
    const alone = await app.appLogin()
    assert.strictEqual((await alone.v2.userByUsername("ada")).data.username, "ada")
  })
})

describe("@xdevplatform/xdk", () => {
  it("signs in with OAuth 2.0 and stays signed in, with a secret", async () => {
    const own = fetch
    using _ = vi.spyOn(globalThis, "fetch").mockImplementation((url, init) => own(here(String(url)), init))
    const [, confidential] = clients()
    const login = new Xdk.OAuth2({ ...confidential!, redirectUri: redirect, scope })
    const verifier = Xdk.generateCodeVerifier()
    await login.setPkceParameters(verifier)
    const { searchParams } = await allow(await login.getAuthorizationUrl("xyz"))
    assert.strictEqual(searchParams.get("state"), "xyz")
    const first = await login.exchangeCode(searchParams.get("code")!, verifier)
    assert.deepInclude(first, { token_type: "bearer", expires_in: 7200, scope: scope.join(" ") })
    const { access_token } = await login.refreshToken(first.refresh_token)
    const client = new Xdk.Client({ baseUrl: sandbox.baseUrl, accessToken: access_token })
    assert.strictEqual((await client.users.getMe()).data?.username, "ada")
    // Without a challenge it is sent back, as the service does.
    const careless = new Xdk.OAuth2({ ...confidential!, redirectUri: redirect, scope })
    const back = locationOf(await own(here(await careless.getAuthorizationUrl()), { redirect: "manual" }))
    assert.strictEqual(back.searchParams.get("error"), "invalid_request")
  })

  it("signs in without a secret, but cannot stay", async () => {
    const own = fetch
    using _ = vi.spyOn(globalThis, "fetch").mockImplementation((url, init) => own(here(String(url)), init))
    const [open] = clients()
    const login = new Xdk.OAuth2({ ...open!, redirectUri: redirect, scope })
    const verifier = Xdk.generateCodeVerifier()
    await login.setPkceParameters(verifier)
    const { searchParams } = await allow(await login.getAuthorizationUrl("xyz"))
    await login.exchangeCode(searchParams.get("code")!, verifier)
    assert.strictEqual(login.getToken()?.expires_in, 7200)
  })

  it("signs in with OAuth 1.0a", async () => {
    const own = fetch
    using _ = vi.spyOn(globalThis, "fetch").mockImplementation((url, init) => own(here(String(url)), init))
    const { consumerKey: apiKey, consumerSecret: apiSecret } = sandbox.settings
    const login = new Xdk.OAuth1({ apiKey, apiSecret, callback: redirect })
    // It signs the address of the service, whichever it is asked at.
    const signing = login as unknown as { _buildOAuthHeader: (method: string, url: string, body?: string) => unknown }
    const sign = signing._buildOAuthHeader.bind(login)
    signing._buildOAuthHeader = (method, url, body) => sign(method, here(url), body)
    const { searchParams } = await allow(await login.startOAuthFlow())
    const tokens = await login.getAccessToken(searchParams.get("oauth_verifier")!)
    const oauth1 = new Xdk.OAuth1({ apiKey, apiSecret, callback: redirect, ...tokens })
    const client = new Xdk.Client({ baseUrl: sandbox.baseUrl, oauth1 })
    assert.strictEqual((await client.users.getMe()).data?.username, "ada")
  })
})
