import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { Effect, Fiber, Redacted } from "effect"
import { HttpBody, HttpClientRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Journal from "../src/journal/Journal.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { make, now } from "./support/Requests.ts"

const entry: Omit<Journal.Entry, "id"> = {
  at: now,
  method: "GET",
  path: "/2/users/me",
  query: {},
  headers: {},
  body: undefined,
  operation: "getMe",
  caller: undefined,
  status: 200,
  problem: undefined,
  fault: undefined,
  millis: 0
}

const same = (text: string) => text

describe("the journal", () => {
  it.effect("keeps no request that began before it was cleared", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      sandbox.faults.add({ operation: "getMe", delay: "1 minute" })
      const held = yield* Effect.forkChild(request("GET", "/2/users/me"))
      yield* TestClock.adjust("1 second")
      sandbox.journal.clear()
      yield* request("GET", "/2/users/me")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(held)).status, 200)
      assert.lengthOf(sandbox.requests, 1)
    }))

  it.effect("shows what was asked and answered, in order", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { ada } = bench.seeded
      const { body } = yield* bench.request("POST", "/2/posts", { body: { text: "a" } })
      yield* TestClock.adjust("1 minute")
      yield* bench.request("GET", "/2/posts/search/recent?query=effect&max_results=10", { as: "app" })
      yield* bench.request("DELETE", `/2/posts/${body.data.id}`, { as: "signed" })
      yield* bench.request("GET", "/2/nothing?a=b")
      yield* bench.request("GET", "/2/users/me", { as: { header: undefined } })
      yield* bench.request("POST", "/2/posts", {
        body: { text: "refused" },
        headers: { "x-sandbox-fault": `{"status":503}` }
      })
      const entries = bench.sandbox.requests
      assert.deepStrictEqual(
        entries.map(({ at, id, method, operation, path, problem, status }) =>
          [id, at - now, method, path, operation, status, problem].join(" ")
        ),
        [
          "1 0 POST /2/posts createPost 201 ",
          "2 60000 GET /2/posts/search/recent searchRecentPosts 200 ",
          `3 60000 DELETE /2/posts/${body.data.id} deletePost 200 `,
          "4 60000 GET /2/nothing  404 Not Found",
          "5 60000 GET /2/users/me getMe 401 Unauthorized",
          "6 60000 POST /2/posts createPost 503 Service Unavailable"
        ]
      )
      const [user, app, signed] = ["OAuth 2.0 User Context", "OAuth 2.0 Application-Only", "OAuth 1.0a User Context"]
      assert.deepStrictEqual(
        entries.map(({ body, caller, query }) => [query, body, caller?.form, caller?.userId]),
        [
          [{}, { text: "a" }, user, ada.id],
          [{ query: "effect", max_results: "10" }, undefined, app, undefined],
          [{}, undefined, signed, ada.id],
          [{ a: "b" }, undefined, undefined, undefined],
          [{}, undefined, undefined, undefined],
          [{}, { text: "refused" }, user, ada.id]
        ]
      )
      assert.deepStrictEqual(entries[5]?.fault, { status: 503 })
      assert.deepStrictEqual(bench.journal.entries(4).map(({ id }) => id), [5, 6])
      assert.deepStrictEqual(bench.journal.entries(6), [])
      bench.journal.clear()
      assert.deepStrictEqual(bench.sandbox.requests, [])
      yield* bench.request("GET", "/2/users/me")
      assert.deepStrictEqual(bench.sandbox.requests.map(({ id }) => id), [7])
    }))

  it.effect("keeps the latest responses, without credentials", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { journal } = bench
      yield* bench.request("GET", "/2/users/me")
      const { body, headers } = journal.response(1)!
      assert.deepInclude(JSON.parse(body), { data: { ...JSON.parse(body).data, username: "ada" } })
      assert.deepInclude(headers, { "content-type": "application/json", "x-rate-limit-remaining": "74" })
      const secret = bench.sandbox.app({ kind: "confidential" })
      const form = "grant_type=client_credentials"
      const basic = Buffer.from(`${secret.settings.consumerKey}:${secret.settings.consumerSecret}`).toString("base64")
      const answer = yield* bench.http.execute(
        HttpClientRequest.post(`${bench.baseUrl}/oauth2/token`, {
          headers: { authorization: `Basic ${basic}` },
          body: HttpBody.text(form, "application/x-www-form-urlencoded")
        })
      )
      const token = JSON.parse(yield* answer.text).access_token
      assert.isString(token)
      assert.strictEqual(JSON.parse(journal.response(2)!.body).access_token, "<redacted>")
      assert.notInclude(JSON.stringify(journal.response(2)), token)
      // A broken connection has no response, and what is dropped is not missed.
      bench.sandbox.faults.add({ reset: "after" })
      yield* Effect.exit(bench.request("GET", "/2/users/me"))
      assert.isUndefined(journal.response(3))
      journal.clear()
      assert.isUndefined(journal.response(1))
      const small = Journal.make({ requests: 10, bytes: 3_000 })
      for (let i = 0; i < 4; i++) small.begin()(entry, same, HttpServerResponse.jsonUnsafe({ i }))
      assert.deepStrictEqual([1, 2, 3, 4].map((id) => small.response(id)?.body), [
        undefined,
        undefined,
        "{\"i\":2}",
        "{\"i\":3}"
      ])
    }))

  it.effect("holds no credential, wherever it was put", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const canary = "canary5ecret"
      const send = (headers: Record<string, string>, path = "/2/users/me") =>
        bench.http.execute(HttpClientRequest.get(bench.baseUrl + path, { headers }))
      yield* bench.request("GET", "/2/users/me")
      yield* bench.request("GET", "/2/users/me", { as: "app" })
      yield* bench.request("GET", "/2/users/me", { as: "signed" })
      for (const scheme of ["Bearer", "bearer", "Basic", "Digest", "OAuth", ""]) {
        yield* send({ authorization: `${scheme} ${canary}` })
      }
      yield* send({ authorization: `OAuth oauth_token="${canary}", oauth_signature="${canary}", oauth_nonce="seen"` })
      for (const secret of Object.values(bench.secrets)) {
        const encoded = Buffer.from(secret).toString("base64")
        yield* send({ authorization: `OAuth oauth_nonce="${secret}", oauth_timestamp="${encoded}"` })
      }
      const headers =
        "Cookie Set-Cookie Proxy-Authorization X-Auth X-Access-Token X-Api-Key X-Client-Secret X-Password X-Signature"
      for (const name of headers.split(" ")) {
        yield* send({ authorization: `Bearer ${bench.secrets.bearerToken}`, [name]: canary })
      }
      const parameters =
        "access_token oauth_token oauth_signature oauth_consumer_key client_secret api_key bearer authorization Password"
      for (const name of parameters.split(" ")) {
        yield* send({ authorization: `Bearer ${bench.secrets.bearerToken}` }, `/2/users/me?${name}=${canary}`)
        yield* send({}, `/2/nothing?${name}=${canary}`)
      }
      const text = JSON.stringify(bench.sandbox.requests)
      assert.lengthOf(bench.sandbox.requests, 43)
      for (const secret of [canary, ...Object.values(bench.secrets)]) {
        // The consumer key and the access token of a signature are hidden with the rest of it.
        assert.notInclude(text, secret)
      }
      const signed = bench.sandbox.requests[2]!.headers["authorization"]!
      assert.match(signed, /^OAuth oauth_nonce="[^"]+", oauth_timestamp="\d+", <redacted>$/)
      assert.match(bench.sandbox.requests[0]!.headers["authorization"]!, /^Bearer <redacted>$/)
      // What pages are asked for by is no secret.
      yield* bench.request("GET", "/2/posts/search/recent?query=effect&next_token=abc")
      assert.strictEqual(bench.sandbox.requests.at(-1)!.query["next_token"], "abc")
    }))

  it.effect("holds no credential of the sandbox, however it was written", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { sandbox } = bench
      const { baseUrl: _, ...ofGrace } = sandbox.user({ username: "grace" }).settings()
      const app = sandbox.app().settings
      const secrets = [
        ...Object.values(bench.secrets),
        ...Object.values(ofGrace),
        app.consumerKey,
        app.consumerSecret,
        app.bearerToken,
        Redacted.value(sandbox.adminToken)
      ]
      const base64 = (text: string) => Buffer.from(text).toString("base64")
      const escaped = (text: string) =>
        [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")
      const writings: ReadonlyArray<(text: string) => string> = [
        (text) => text,
        (text) => `x${text}y`,
        escaped,
        (text) => escaped(text).toUpperCase(),
        (text) => encodeURIComponent(escaped(text)),
        (text) => text.slice(0, 5) + escaped(text.slice(5, 9)) + text.slice(9),
        base64,
        (text) => Buffer.from(text).toString("base64url"),
        (text) => base64(`user:${text}`),
        (text) => base64(`us:${text}!`),
        (text) => base64(base64(text)),
        (text) => encodeURIComponent(base64(`u:${text}??`)),
        (text) => Buffer.from(text).toString("hex"),
        (text) => [...text].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("")
      ]
      const shown = () => JSON.stringify(sandbox.requests) + sandbox.journal.json(0)
      for (const secret of secrets) {
        for (const [i, write] of writings.entries()) {
          const text = write(secret)
          yield* bench.request("POST", "/2/posts", {
            body: { text: `see ${text} there`, [text]: [{ deep: text }], password: "hunter22" },
            headers: { "x-note": text, "x-sandbox-fault": JSON.stringify({ status: 503, headers: { "x-a": text } }) }
          })
          yield* bench.request("GET", `/2/users/${encodeURI(text)}/posts?note=${encodeURI(text)}&${encodeURI(text)}=1`)
          const all = shown()
          for (const trace of [secret, text, JSON.stringify(text).slice(1, -1), "hunter22"]) {
            assert.notInclude(all, trace, `writing ${i}`)
          }
          assert.lengthOf(sandbox.requests, 2)
          sandbox.journal.clear()
        }
      }
      // What a request signs in with is hidden in the rest of it, whether it is known here or not.
      yield* bench.request("GET", "/2/users/straying-secret/posts?a=straying-secret", {
        as: { header: "Bearer straying-secret" }
      })
      assert.notInclude(shown(), "straying-secret")
      // And what is no credential stays.
      const text = "The bearer of this key: https://example.com/a/b?c=d%20e#f, 型 👩‍👩‍👧 dGhpcyBpcyBqdXN0IHRleHQ= %41%42"
      yield* bench.request("POST", "/2/posts", { body: { text } })
      assert.deepStrictEqual(sandbox.requests.at(-1)?.body, { text })
    }))

  it.effect("holds no credential of a state that was restored", () =>
    Effect.gen(function*() {
      const other = yield* make({ seed: 2 })
      const { bearerToken, consumerSecret } = other.sandbox.user().settings()
      const { request, sandbox } = yield* make()
      sandbox.restore(other.sandbox.snapshot())
      yield* request("GET", `/2/users/${bearerToken}/posts?a=${consumerSecret}`)
      assert.strictEqual(sandbox.requests[0]?.path, "/2/users/<redacted>/posts")
      assert.deepStrictEqual(sandbox.requests[0]?.query, { a: "<redacted>" })
    }))

  it.effect("keeps no large bodies, not even while an answer is held back", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      const small = { text: "x".repeat(60_000) }
      const large = { text: "x".repeat(70_000) }
      yield* request("POST", "/2/posts", { body: small })
      yield* request("POST", "/2/posts", { body: large })
      sandbox.faults.add({ status: 503 })
      yield* request("POST", "/2/posts", { body: large })
      assert.deepStrictEqual(sandbox.requests.map(({ body, status }) => [status, body]), [
        [400, small],
        [400, "<more than 64 KiB>"],
        [503, "<more than 64 KiB>"]
      ])
    }))

  it("keeps the latest so many", () => {
    const journal = Journal.make({ requests: 3, bytes: 10_000 })
    for (let i = 1; i <= 8; i++) {
      journal.begin()(entry, same)
      assert.deepStrictEqual(journal.entries().map(({ id }) => id), [i - 2, i - 1, i].filter((id) => id > 0))
    }
    assert.deepStrictEqual(journal.entries(7).map(({ id }) => id), [8])
    assert.deepStrictEqual(journal.entries(1).map(({ id }) => id), [6, 7, 8])
  })

  it("keeps no more than so many bytes, whatever came", () => {
    const journal = Journal.make({ requests: 10_000, bytes: 1_000_000 })
    // Parsed, each takes more than a megabyte.
    const body = { a: Array.from({ length: 20_000 }, () => ({})) }
    const query = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, ""]))
    for (let i = 1; i <= 40; i++) {
      journal.begin()({ ...entry, ...(i % 2 === 0 ? { body } : { query }) }, same)
      if (i % 8 === 0) assert.isAtMost(journal.json(0).length, 1_000_000)
    }
    const [oldest] = journal.entries()
    assert.strictEqual(oldest?.id, journal.oldest())
    assert.isAbove(journal.entries().length, 10)
    assert.deepStrictEqual(journal.entry(40)?.body, body)
    assert.deepStrictEqual(journal.entry(39), { ...entry, id: 39, query })
    assert.isUndefined(journal.entry(1))
    assert.deepStrictEqual(JSON.parse(journal.json(38)).map(({ id }: Journal.Entry) => id), [39, 40])
    assert.deepStrictEqual(journal.entries(0, 2).map(({ id }) => id), [39, 40])
  })

  it("shows requests that the client gave up without a status, and does not wait for them at the end", async () => {
    const sandbox = await Sandbox.start({ posts: 0 })
    sandbox.faults.add({ delay: "1 hour", operation: "getMe" })
    const client = createClient(sandbox.settings)
    const aborted = new AbortController()
    const call = client.getMe({}, { signal: aborted.signal }).catch((error: unknown) => error)
    while (sandbox.budget.windows().length === 0) await new Promise((resolve) => setImmediate(resolve))
    aborted.abort(new Error("given up"))
    assert.match(String(await call), /given up/)
    while (sandbox.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepStrictEqual(
      sandbox.requests.map(({ operation, problem, status }) => [operation, status, problem]),
      [["getMe", undefined, undefined]]
    )
    await client.close()
    await sandbox.stop()
  })
})
