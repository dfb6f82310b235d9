// The core's sign-ins against the authorization server.
import { assert, describe, it } from "@effect/vitest"
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import { bookmark, getBookmarks } from "@postwire/core/operations/Bookmarks"
import { createPost, getPost } from "@postwire/core/operations/Posts"
import { getMe } from "@postwire/core/operations/Users"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as Sandbox from "../src/Sandbox.ts"
import { answerForm, locationOf, redirect as redirectUri } from "./support/Login.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60 })
})

beforeEach(() => sandbox.reset())

afterAll(() => sandbox.stop())

const run = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, FetchHttpClient.layer))

const failure = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient>): Promise<E> => run(Effect.flip(effect))

/** Where the user's browser is led to. */
const answer = (url: string, decision: "allow" | "deny" = "allow") =>
  Effect.promise(async () => locationOf(await answerForm(await fetch(url, { redirect: "manual" }), { decision })).href)

const scopes = ["post.read", "users.read", "offline.access", "bookmark.read", "bookmark.write"] as const

const signIn = (settings: OAuth2.Settings, app: OAuth2.Exchange["app"]) =>
  Effect.gen(function*() {
    const { state, url, verifier } = yield* OAuth2.authorize({ ...settings, app, redirectUri, scopes })
    const code = yield* OAuth2.callback(yield* answer(url), { state })
    const exchange = { ...settings, app, code, verifier, redirectUri, scopes }
    return { exchange, tokens: yield* OAuth2.exchange(exchange) }
  })

const calling = (settings: Client.Settings, credentials: Credentials.Settings) =>
  Client.layer(settings).pipe(Layer.provide(Credentials.layer(credentials)))

describe("OAuth 2.0", () => {
  const apps = {
    public: () => ({ clientId: sandbox.seeded.publicClient.id }),
    confidential: () => {
      const { id, secret } = sandbox.seeded.confidentialClient
      return { clientId: id, clientSecret: secret }
    }
  }

  it.each([["public", "neutral"], ["confidential", "x"]] as const)(
    "of a %s app signs in, renews and ends, in the words %s",
    (kind, wire) =>
      run(Effect.gen(function*() {
        const settings = { baseUrl: sandbox.baseUrl, wire: Wire.named[wire] }
        const app = apps[kind]()
        const { exchange, tokens } = yield* signIn(settings, app)
        assert.deepStrictEqual(tokens.scopes, scopes)
        const lifetime = tokens.expiresAt - tokens.renewedAt
        assert.strictEqual(lifetime, 7_200_000)
        const client = ({ accessToken: bearerToken }: typeof tokens) => calling(settings, { bearerToken })
        const post_id = sandbox.user().post("Here").id
        yield* Effect.provide(bookmark({ post_id }), client(tokens))

        sandbox.clock.advance("3 hours")
        const expired = yield* Effect.flip(Effect.provide(getBookmarks(), client(tokens)))
        assert.instanceOf(expired, Errors.Unauthorized)
        const refreshToken = tokens.refreshToken ?? assert.fail("no refresh token")
        const renewed = yield* OAuth2.refresh({ ...settings, app, refreshToken, scopes: tokens.scopes })
        const { data } = yield* Effect.provide(getBookmarks(), client(renewed))
        assert.strictEqual(data?.[0]?.id, post_id)

        const spent = yield* Effect.flip(OAuth2.refresh({ ...settings, app, refreshToken, scopes }))
        assert.isTrue(OAuth2.isTokenRefused(spent))
        assert.propertyVal(spent, "detail", "Value passed for the token was invalid.")
        const again = yield* Effect.flip(OAuth2.exchange(exchange))
        assert.instanceOf(again, Errors.BadRequest)
        assert.strictEqual(again.detail, "Value passed for the authorization code was invalid.")

        const { tokens: others } = yield* signIn(settings, app)
        yield* OAuth2.revoke({ ...settings, app, token: others.refreshToken!, kind: "refresh_token" })
        const revoked = yield* Effect.flip(Effect.provide(getBookmarks(), client(others)))
        assert.instanceOf(revoked, Errors.Unauthorized)
      }))
  )

  it("can be denied", () =>
    run(Effect.gen(function*() {
      const { state, url } = yield* OAuth2.authorize({
        baseUrl: sandbox.baseUrl,
        app: apps.public(),
        redirectUri,
        scopes
      })
      const error = yield* Effect.flip(OAuth2.callback(yield* answer(url, "deny"), { state }))
      assert.instanceOf(error, Errors.AuthorizationDenied)
      assert.strictEqual(error.error, "access_denied")
    })))

  it("tells an app without its secret what is missing", async () => {
    const { clientId } = apps.confidential()
    const error = await failure(signIn({ baseUrl: sandbox.baseUrl }, { clientId }))
    assert.instanceOf(error, Errors.Unauthorized)
    assert.strictEqual(error.credential, "app")
    assert.isFalse(OAuth2.isTokenRefused(error))
  })

  it("has tokens of apps", () =>
    run(Effect.gen(function*() {
      const { baseUrl, settings: { consumerKey, consumerSecret } } = sandbox
      const app = { baseUrl, consumerKey, consumerSecret }
      const bearerToken = yield* OAuth2.appToken(app)
      assert.strictEqual(Redacted.value(yield* OAuth2.appToken(app)), Redacted.value(bearerToken))
      const reading = getPost({ id: sandbox.user().post("Here").id })
      yield* Effect.provide(reading, calling({ baseUrl }, { bearerToken }))
      yield* OAuth2.invalidateAppToken({ ...app, bearerToken })
      const error = yield* Effect.flip(Effect.provide(reading, calling({ baseUrl }, { bearerToken })))
      assert.instanceOf(error, Errors.Unauthorized)
      assert.notStrictEqual(Redacted.value(yield* OAuth2.appToken(app)), Redacted.value(bearerToken))
      const refused = yield* Effect.flip(OAuth2.appToken({ ...app, consumerSecret: "wrong" }))
      assert.instanceOf(refused, Errors.Forbidden)
      assert.include(refused.message, "Unable to verify your credentials")
    })))
})

describe("OAuth 1.0a", () => {
  const consumer = () => {
    const { baseUrl, settings: { consumerKey, consumerSecret } } = sandbox
    return { baseUrl, consumerKey, consumerSecret }
  }

  it("signs in by a redirect, acts and ends", () =>
    run(Effect.gen(function*() {
      const { baseUrl } = consumer()
      const requestToken = yield* OAuth1Login.requestToken({ ...consumer(), callback: redirectUri })
      const url = yield* OAuth1Login.authorizeUrl({ baseUrl, requestToken })
      const verifier = yield* OAuth1Login.callback(yield* answer(url), { requestToken })
      const { tokens, user } = yield* OAuth1Login.accessToken({ ...consumer(), requestToken, verifier })
      const { id, username } = sandbox.seeded.ada
      assert.deepStrictEqual(user, { id, username })
      const client = calling({ baseUrl }, tokens)
      const { data } = yield* Effect.provide(createPost({ text: "Signed in" }), client)
      assert.strictEqual(data?.text, "Signed in")
      yield* OAuth1Login.invalidate({ baseUrl, tokens })
      assert.instanceOf(yield* Effect.flip(Effect.provide(getMe(), client)), Errors.Unauthorized)
      assert.instanceOf(yield* Effect.flip(OAuth1Login.invalidate({ baseUrl, tokens })), Errors.Unauthorized)
    })))

  it("signs in with a PIN, and says so of a wrong one", () =>
    run(Effect.gen(function*() {
      const { baseUrl } = consumer()
      const requestToken = yield* OAuth1Login.requestToken({ ...consumer(), callback: "oob", access: "read" })
      const url = yield* OAuth1Login.authenticateUrl({ baseUrl, requestToken, forceLogin: true, username: "ada" })
      const page = yield* Effect.promise(async () => (await answerForm(await fetch(url))).text())
      const pin = /class="pin">(\d{7})</.exec(page)?.[1] ?? assert.fail("no PIN")
      const end = (verifier: string) => OAuth1Login.accessToken({ ...consumer(), requestToken, verifier })
      const wrong = yield* Effect.flip(end("0000000"))
      assert.include(wrong.message, "Invalid oauth_verifier parameter")
      const { user } = yield* end(`${pin}\n`)
      assert.strictEqual(user.username, "ada")
    })))

  it("can be denied", () =>
    run(Effect.gen(function*() {
      const requestToken = yield* OAuth1Login.requestToken({ ...consumer(), callback: redirectUri })
      const url = yield* OAuth1Login.authorizeUrl({ ...consumer(), requestToken })
      const error = yield* Effect.flip(OAuth1Login.callback(yield* answer(url, "deny"), { requestToken }))
      assert.instanceOf(error, Errors.AuthorizationDenied)
    })))

  it("is signed by the clock of the service", () =>
    run(Effect.gen(function*() {
      sandbox.clock.advance("1 hour")
      const requestToken = yield* OAuth1Login.requestToken({ ...consumer(), callback: "oob" })
      assert.isNotEmpty(Redacted.value(requestToken.token))
    })))

  it("refuses an address that the app does not have", async () => {
    const elsewhere = OAuth1Login.requestToken({ ...consumer(), callback: "https://elsewhere.test/" })
    assert.instanceOf(await failure(elsewhere), Errors.Forbidden)
  })
})
