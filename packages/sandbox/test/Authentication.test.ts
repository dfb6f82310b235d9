import { assert, describe, it } from "@effect/vitest"
import { scopes } from "@postwire/core/schema/Scopes"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Nonces from "../src/auth/Nonces.ts"
import type * as Credentials from "../src/store/Credentials.ts"
import { type Answer, day, make, now, second, signed } from "./support/Requests.ts"

const assertRefused = (answer: Answer, status: 401 | 403, shown = "") => {
  assert.strictEqual(answer.status, status, `${shown} ${JSON.stringify(answer.body)}`)
  assert.strictEqual(answer.headers["content-type"], "application/problem+json")
  assert.strictEqual(answer.body.status, status)
  assert.notProperty(answer.body, "data")
}

describe("bearer tokens", () => {
  it.effect("are accepted as they are, and nothing else is", () =>
    Effect.gen(function*() {
      const { request, secrets } = yield* make({ posts: 0 })
      const { appToken, bearerToken } = secrets
      for (const header of [`Bearer ${bearerToken}`, `bearer ${bearerToken}`, `BEARER   ${bearerToken}`]) {
        assert.strictEqual((yield* request("GET", "/2/users/me", { as: { header } })).status, 200, header)
      }
      for (
        const header of [
          undefined,
          "",
          "Bearer",
          "Bearer ",
          "Bearer None",
          `Bearer ${bearerToken}x`,
          `Bearer ${bearerToken.slice(1)}`,
          `Bearer ${bearerToken.toLowerCase()}`,
          `Bearer ${bearerToken} ${bearerToken}`,
          `Basic ${bearerToken}`,
          bearerToken,
          `Bearer ${secrets.accessToken}`,
          `Bearer ${secrets.consumerKey}`,
          "Bearer ' OR 1=1 --"
        ]
      ) {
        const answer = yield* request("GET", "/2/users/me", { as: { header } })
        assertRefused(answer, 401, header)
        assert.notProperty(answer.headers, "x-access-level")
        for (const secret of [bearerToken, appToken]) assert.notInclude(JSON.stringify(answer.body), secret)
      }
    }))
})

describe("OAuth 1.0a signatures", () => {
  const target = "/2/posts/search/recent?query=a%20b%2Bc&max_results=10"

  it.effect("are verified: every secret, the method, the address and its query count", () =>
    Effect.gen(function*() {
      const { baseUrl, request, secrets } = yield* make()
      const right = signed(secrets, "GET", baseUrl + target)
      const send = (header: string, path = target) => request("GET", path, { as: { header } })
      assert.strictEqual((yield* send(right)).status, 200)
      const wrong = (name: keyof typeof secrets, value = `${secrets[name]}x`) =>
        signed({ ...secrets, [name]: value }, "GET", baseUrl + target)
      for (
        const [what, header, path] of [
          ["consumer key", wrong("consumerKey")],
          ["consumer secret", wrong("consumerSecret")],
          ["empty consumer secret", wrong("consumerSecret", "")],
          ["access token", wrong("accessToken")],
          ["access token secret", wrong("accessTokenSecret")],
          [
            "swapped secrets",
            signed(
              { ...secrets, consumerSecret: secrets.accessTokenSecret, accessTokenSecret: secrets.consumerSecret },
              "GET",
              baseUrl + target
            )
          ],
          ["another method", signed(secrets, "POST", baseUrl + target)],
          ["another path", signed(secrets, "GET", `${baseUrl}/2/users/me`)],
          ["another host", signed(secrets, "GET", `http://localhost:81${target}`)],
          ["another scheme", signed(secrets, "GET", `https://localhost${target}`)],
          ["altered query", right, target.replace("max_results=10", "max_results=11")],
          ["added query", right, `${target}&post.fields=id`],
          ["removed query", right, "/2/posts/search/recent?query=a%20b%2Bc"],
          ["plus for a blank", right, target.replace("%2B", "+")],
          ["altered nonce", right.replace(/oauth_nonce="./, "oauth_nonce=\"!")],
          ["altered timestamp", right.replace(/oauth_timestamp="./, "oauth_timestamp=\"9")],
          ["altered signature", right.replace(/oauth_signature="./, "oauth_signature=\"!")],
          ["no signature", right.replace(/, oauth_signature=".*"/, "")],
          ["another method of signing", right.replace("HMAC-SHA1", "PLAINTEXT")],
          [
            "plain text",
            `${right.replace("HMAC-SHA1", "PLAINTEXT").replace(/oauth_signature=".*"/, "")}` +
            `oauth_signature="${secrets.consumerSecret}%26${secrets.accessTokenSecret}"`
          ],
          ["no token", right.replace(/oauth_token="[^"]*", /, "")],
          ["twice", right + right.slice("OAuth".length).replace(/^/, ",")],
          ["no parameters", "OAuth "],
          ["nonsense", "OAuth a=b, c"],
          ["a bad escape", "OAuth oauth_consumer_key=\"%zz\""]
        ] as const
      ) assertRefused(yield* send(header, path), 401, what)
    }))

  it.effect("need not spell the query as the client did, nor the order of the parameters", () =>
    Effect.gen(function*() {
      const { baseUrl, request, secrets } = yield* make()
      for (
        const path of ["/2/posts?post.fields=lang,source&ids=1,2", "/2/posts?ids=%31,2&post%2Efields=lang%2csource"]
      ) {
        const header = signed(secrets, "GET", `${baseUrl}/2/posts?ids=1%2C2&post.fields=lang%2Csource`)
        assert.strictEqual((yield* request("GET", path, { as: { header } })).status, 200, path)
      }
    }))

  it.effect("of a token belong to the app that it was made for", () =>
    Effect.gen(function*() {
      const { baseUrl, request, secrets, store } = yield* make({ posts: 0 })
      const consumerSecret = "another-secret"
      store.credentials.insertApp({
        name: "other",
        access: "standard",
        rights: "read-write",
        consumerKey: "other",
        consumerSecret: Redacted.make(consumerSecret),
        createdAt: now
      })
      const header = signed({ ...secrets, consumerKey: "other", consumerSecret }, "GET", `${baseUrl}/2/users/me`)
      assertRefused(yield* request("GET", "/2/users/me", { as: { header } }), 401)
    }))
})

describe("the user in the path", () => {
  it.effect("is the caller, or the request is refused", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* make()
      const other = store.users.insert({ username: "other", name: "Other", createdAt: now })
      const [post = ""] = [store.posts.insert({ authorId: ada.id, text: "a", createdAt: now })]
      for (const id of [other, "5", "me", `0${ada.id}`]) {
        for (
          const [method, path, body] of [
            ["GET", `/2/users/${id}/bookmarks`],
            ["POST", `/2/users/${id}/bookmarks`, { post_id: post }],
            ["POST", `/2/users/${id}/likes`, { post_id: post }],
            ["DELETE", `/2/users/${id}/likes/${post}`]
          ] as const
        ) {
          const answer = yield* request(method, path, { body })
          assert.strictEqual(answer.status, 400, path)
          assert.match(answer.body.errors[0].message, /must be the same as the authenticating user/)
        }
      }
      assert.isFalse(store.likes.has(other, post))
      assert.isFalse(store.bookmarks.has(other, post))
    }))
})

describe("the time of a signature", () => {
  it.effect("is within five minutes of the service's clock", () =>
    Effect.gen(function*() {
      const { baseUrl, request, secrets } = yield* make({ posts: 0 })
      const send = (time: number | string) => {
        const header = signed(secrets, "GET", `${baseUrl}/2/users/me`, { time: typeof time === "number" ? time : now })
        return request("GET", "/2/users/me", {
          as: { header: typeof time === "number" ? header : header.replace(/oauth_timestamp="\d+"/, time) }
        })
      }
      for (const off of [0, -300, 300, -1, 299]) {
        assert.strictEqual((yield* send(now + off * second)).status, 200, `${off}`)
      }
      for (const off of [-301, 301, -86_400, 86_400]) {
        const answer = yield* send(now + off * second)
        assertRefused(answer, 401, `${off}`)
        assert.match(answer.body.detail, /timestamp/i)
      }
      for (const wrong of ["", "\"\"", "\"-5\"", "\"1e9\"", "\"NaN\"", "\"1763640000.5\""]) {
        assertRefused(yield* send(wrong === "" ? "oauth_nothing=\"\"" : `oauth_timestamp=${wrong}`), 401, wrong)
      }
      // The clock of the service is the one that counts.
      yield* TestClock.setTime(now + day)
      assertRefused(yield* send(now), 401)
      assert.strictEqual((yield* send(now + day)).status, 200)
    }))
})

describe("a nonce", () => {
  it.effect("is good for one request", () =>
    Effect.gen(function*() {
      const { baseUrl, request, sandbox, secrets } = yield* make({ posts: 0 })
      const url = `${baseUrl}/2/users/me`
      const send = (header: string) => request("GET", "/2/users/me", { as: { header } })
      const header = signed(secrets, "GET", url, { nonce: "once" })
      assert.strictEqual((yield* send(header)).status, 200)
      for (let i = 0; i < 3; i++) {
        // A budget that begins anew is no reason to accept a request twice.
        if (i === 2) sandbox.budget.clear()
        const again = yield* send(header)
        assertRefused(again, 401)
        assert.match(again.body.detail, /nonce/i)
      }
      // Signed anew with the same nonce and time, it is still used; at another time, or by another token, it is not.
      const path = "/2/users/me?user.fields=id"
      const other = signed(secrets, "GET", baseUrl + path, { nonce: "once" })
      assertRefused(yield* request("GET", path, { as: { header: other } }), 401)
      assert.strictEqual((yield* send(signed(secrets, "GET", url, { nonce: "once", time: now + second }))).status, 200)
      assertRefused(yield* send(signed(secrets, "GET", url, { nonce: "" })), 401)
      // What is not signed right uses nothing up.
      const forged = signed({ ...secrets, accessTokenSecret: "guess" }, "GET", url, { nonce: "twice" })
      assertRefused(yield* send(forged), 401)
      assert.strictEqual((yield* send(signed(secrets, "GET", url, { nonce: "twice" }))).status, 200)
    }))

  it("is forgotten when its time is over, and memory has an end", () => {
    const seconds = now / 1000
    const nonces = Nonces.make(100)
    assert.isTrue(nonces.claim("t", seconds, "a", now))
    assert.isFalse(nonces.claim("t", seconds, "a", now + 300 * second))
    assert.isTrue(nonces.claim("u", seconds, "a", now))
    assert.isTrue(nonces.claim("t", seconds, "b", now + 301 * second))
    assert.isTrue(nonces.claim("t", seconds, "a", now + 301 * second))
    const crowded = Nonces.make(100)
    for (let i = 0; i < 250; i++) assert.isTrue(crowded.claim("t", seconds, `${i}`, now))
    // The oldest went to make room; the latest are all there.
    assert.isTrue(crowded.claim("t", seconds, "0", now))
    for (let i = 151; i < 250; i++) assert.isFalse(crowded.claim("t", seconds, `${i}`, now), `${i}`)
  })
})

describe("rights", () => {
  const setting = Effect.fnUntraced(function*(rights: Credentials.Rights) {
    const bench = yield* make()
    const { secrets, seeded: { ada }, store } = bench
    const app = store.credentials.appByConsumerKey(secrets.consumerKey)!
    store.credentials.insertBearerToken({
      token: Redacted.make("limited"),
      appId: app.id,
      userId: ada.id,
      rights,
      scopes
    })
    const limited = { ...secrets, accessToken: `${ada.id}-limited`, accessTokenSecret: "limited-secret" }
    store.credentials.insertAccessToken({
      token: limited.accessToken,
      secret: Redacted.make(limited.accessTokenSecret),
      appId: app.id,
      userId: ada.id,
      rights
    })
    const [post = ""] = [store.posts.insert({ authorId: ada.id, text: "a", createdAt: now })]
    return { ...bench, limited, post, app }
  })

  it.effect.each(["read", "read-write", "read-write-directmessages"] as const)(
    "of a token say what it may do: %s",
    (rights) =>
      Effect.gen(function*() {
        const { baseUrl, limited, post, request, seeded: { ada }, store } = yield* setting(rights)
        const other = store.users.insert({ username: "other", name: "Other", createdAt: now })
        for (
          const [needed, method, path, body] of [
            ["read", "GET", "/2/users/me"],
            ["read", "GET", `/2/posts/${post}`],
            ["read-write", "POST", "/2/posts"],
            ["read-write", "POST", `/2/users/${ada.id}/likes`, { post_id: post }],
            ["read-write", "DELETE", `/2/users/${ada.id}/likes/${post}`],
            ["read-write", "DELETE", `/2/posts/${post}`],
            ["read-write-directmessages", "GET", "/2/dm_events"],
            ["read-write-directmessages", "POST", `/2/dm_conversations/with/${other}/messages`, { text: "a" }]
          ] as const
        ) {
          for (const header of ["Bearer limited", signed(limited, method, baseUrl + path)]) {
            const answer = yield* request(method, path, { as: { header }, body: body ?? { text: header.slice(0, 6) } })
            assert.strictEqual(answer.headers["x-access-level"], rights)
            if (rights.startsWith(needed)) assert.isBelow(answer.status, method === "DELETE" ? 405 : 300, path)
            else {
              assertRefused(answer, 403, path)
              assert.match(answer.body.detail, /permissions/)
            }
          }
        }
      })
  )
})

describe("write permission", () => {
  it.effect("belongs to the credentials that were made after it was given, of every form", () =>
    Effect.gen(function*() {
      const { baseUrl, request, secrets, seeded: { ada }, store } = yield* make({ posts: 0 })
      const appId = store.credentials.insertApp({
        name: "growing",
        access: "standard",
        rights: "read",
        consumerKey: "growing",
        consumerSecret: Redacted.make("growing-secret"),
        createdAt: now
      })
      const credentials = (version: string) => {
        const rights = store.credentials.appById(appId)!.rights
        const token = `${ada.id}-${version}`
        const secret = Redacted.make(`${version}-secret`)
        store.credentials.insertAccessToken({ token, secret, appId, userId: ada.id, rights })
        store.credentials.insertBearerToken({
          token: Redacted.make(version),
          appId,
          userId: ada.id,
          rights,
          scopes
        })
        const app = { consumerKey: "growing", consumerSecret: "growing-secret" }
        return [
          () => `Bearer ${version}`,
          () =>
            signed(
              { ...secrets, ...app, accessToken: token, accessTokenSecret: `${version}-secret` },
              "POST",
              `${baseUrl}/2/posts`
            )
        ]
      }
      let written = 0
      const write = (header: string) =>
        request("POST", "/2/posts", { as: { header }, body: { text: `number ${++written}` } })
      const old = credentials("old")
      for (const header of old) assertRefused(yield* write(header()), 403)
      store.credentials.setRights(appId, "read-write")
      for (const header of old) {
        const answer = yield* write(header())
        assertRefused(answer, 403)
        assert.strictEqual(answer.headers["x-access-level"], "read")
      }
      for (const header of credentials("new")) {
        const answer = yield* write(header())
        assert.strictEqual(answer.status, 201)
        assert.strictEqual(answer.headers["x-access-level"], "read-write")
      }
    }))
})
