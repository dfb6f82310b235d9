import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Journal from "../src/Journal.ts"
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

describe("the journal", () => {
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
        entries.map(({ at, body, caller, id, method, operation, path, problem, query, status }) => [
          id,
          at - now,
          method,
          path,
          query,
          body,
          operation,
          caller?.form,
          caller?.userId,
          status,
          problem
        ]),
        [
          [1, 0, "POST", "/2/posts", {}, { text: "a" }, "createPost", "OAuth 2.0 User Context", ada.id, 201, undefined],
          [
            2,
            60_000,
            "GET",
            "/2/posts/search/recent",
            { query: "effect", max_results: "10" },
            undefined,
            "searchRecentPosts",
            "OAuth 2.0 Application-Only",
            undefined,
            200,
            undefined
          ],
          [
            3,
            60_000,
            "DELETE",
            `/2/posts/${body.data.id}`,
            {},
            undefined,
            "deletePost",
            "OAuth 1.0a User Context",
            ada.id,
            200,
            undefined
          ],
          [4, 60_000, "GET", "/2/nothing", { a: "b" }, undefined, undefined, undefined, undefined, 404, "Not Found"],
          [5, 60_000, "GET", "/2/users/me", {}, undefined, "getMe", undefined, undefined, 401, "Unauthorized"],
          [
            6,
            60_000,
            "POST",
            "/2/posts",
            {},
            { text: "refused" },
            "createPost",
            undefined,
            undefined,
            503,
            "Service Unavailable"
          ]
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
      for (
        const name of [
          "Cookie",
          "Set-Cookie",
          "Proxy-Authorization",
          "X-Auth",
          "X-Access-Token",
          "X-Api-Key",
          "X-Client-Secret",
          "X-Password",
          "X-Signature"
        ]
      ) yield* send({ authorization: `Bearer ${bench.secrets.bearerToken}`, [name]: canary })
      for (
        const name of [
          "access_token",
          "oauth_token",
          "oauth_signature",
          "oauth_consumer_key",
          "client_secret",
          "api_key",
          "bearer",
          "authorization",
          "Password"
        ]
      ) {
        yield* send({ authorization: `Bearer ${bench.secrets.bearerToken}` }, `/2/users/me?${name}=${canary}`)
        yield* send({}, `/2/nothing?${name}=${canary}`)
      }
      const text = JSON.stringify(bench.sandbox.requests)
      assert.lengthOf(bench.sandbox.requests, 37)
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

  it("keeps no large bodies", () => {
    const journal = Journal.make()
    const small = { text: "x".repeat(60_000) }
    journal.add({ ...entry, body: small })
    journal.add({ ...entry, body: { text: "x".repeat(70_000) } })
    assert.deepStrictEqual(journal.entries().map(({ body }) => body), [small, "<more than 64 KiB>"])
  })

  it("keeps the latest so many", () => {
    const journal = Journal.make(3)
    for (let i = 1; i <= 8; i++) {
      journal.add(entry)
      assert.deepStrictEqual(journal.entries().map(({ id }) => id), [i - 2, i - 1, i].filter((id) => id > 0))
    }
    assert.deepStrictEqual(journal.entries(7).map(({ id }) => id), [8])
    assert.deepStrictEqual(journal.entries(1).map(({ id }) => id), [6, 7, 8])
  })

  it("keeps ten thousand by default", () => {
    const journal = Journal.make()
    for (let i = 0; i < 25_000; i++) journal.add(entry)
    assert.strictEqual(journal.entries().length, 10_000)
    assert.strictEqual(journal.entries()[0]?.id, 15_001)
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
    const begun = performance.now()
    await sandbox.stop()
    assert.isBelow(performance.now() - begun, 2_000)
  })
})
