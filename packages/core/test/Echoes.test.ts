// Services and proxies quote the requests that they refuse. Whatever they say and wherever, no credential is told.
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as Redaction from "../src/auth/Redaction.ts"
import { catalogue } from "../src/Catalogue.ts"
import type { Sent } from "../src/client/Attempt.ts"
import type * as Client from "../src/client/Client.ts"
import type * as Errors from "../src/errors/Errors.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as Recorder from "./support/Recorder.ts"
import { type Answer, assertNoSecret, make, type Received, secrets, transportError } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { bookmark, createPost, deletePost, getMe, getPost, getPosts } = catalogue

/** As the wire has it, and whatever else a service knows. */
const quoteOf = ({ body, headers, method, url }: Received): string =>
  [
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
    `Wanted ${JSON.stringify(secrets)}`
  ].join("\r\n")

const signatureOf = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const encoded = /oauth_signature="([^"]+)"/.exec(headers["authorization"] ?? "")?.[1]
  return encoded === undefined ? [] : [encoded, decodeURIComponent(encoded)]
}

const base64 = (text: string) => Buffer.from(text).toString("base64")

/** How it may be written. */
const writings: Readonly<Record<string, (quote: string) => string>> = {
  "as it is": (quote) => quote,
  "percent-encoded": encodeURIComponent,
  "in base64": base64
}

/** Where it may be. */
const slots: Readonly<Record<string, (quote: string) => Answer>> = {
  "a page": (quote) => ({ body: `<html><pre>${quote}</pre></html>` }),
  "JSON that is no problem": (quote) => ({ body: { echo: { request: quote } } }),
  "a page that is cut within": (quote) => ({
    body: `${"x".repeat(1992 - Math.max(0, quote.search(/canary|Y2FuYXJ5|NhbmFyeS|jYW5hcn/)))}${quote}`
  }),
  "a page after many others": (quote) => ({ body: quote.repeat(40) }),
  "a detail": (quote) => ({ body: { title: "Refused", type: "about:blank", detail: quote } }),
  "a title and a type": (quote) => ({ body: { title: quote, type: quote } }),
  "a message": (quote) => ({ body: { error: quote } }),
  "members of problems": (quote) => ({
    body: { errors: [quote, { message: quote, value: [quote], parameters: { [quote]: [quote] }, [quote]: quote }] }
  }),
  "the id of the request": (quote) => ({ body: "", headers: { "x-request-id": quote.replace(/[\r\n]+/g, " ") } })
}

const statuses = [200, 400, 429, 503]

const calls: Readonly<Record<string, Effect.Effect<unknown, Errors.AnyError, Client.Client>>> = {
  "a bearer token": getPost({ id: "1" }),
  "a lookup of the user": bookmark({ post_id: "1" }),
  "OAuth 1.0a": createPost({ text: "a" }),
  "OAuth 1.0a, undone": deletePost({ id: "1" })
}

describe.each(Object.entries(calls))("with %s", (_, call) => {
  describe.each(Object.entries(writings))("%s", (_, write) => {
    test.each(Object.entries(slots))("in %s")(function*([slot, answer]) {
      for (const status of statuses) {
        for (const wire of status === 400 ? ["neutral", "x", "x-2026-02"] as const : ["neutral"] as const) {
          const sent: Array<Sent> = []
          const service = make((request) => ({ status, ...answer(write(quoteOf(request))) }))
          const layer = service.layer({ ...secrets, wire, onRequest: (request) => sent.push(request) })
          // With 200 some problems can be read, of something that was answered in part.
          const outcome = yield* Effect.result(Effect.provide(call, layer))
          const error = outcome._tag === "Failure" ? outcome.failure : outcome.success
          assert.isTrue(outcome._tag === "Failure" || slot === "members of problems")
          for (const told of [error, sent]) {
            assertNoSecret(told)
            const text = JSON.stringify(told)
            assert.notInclude(text, encodeURIComponent("canary"))
            assert.notMatch(text, /Y2FuYXJ5|NhbmFyeS|jYW5hcn/)
            for (const { headers } of service.requests) {
              for (const signature of signatureOf(headers)) assert.notInclude(text, signature)
            }
          }
          // It is there, and would have been told.
          if (slot !== "a page that is cut within") assert.include(JSON.stringify([error, sent]), Redaction.marker)
        }
      }
    })
  })
})

describe("the answer to another call", () => {
  test("that is given to who waits behind it")(function*() {
    const service = make((request) => ({ status: 429, headers: { "retry-after": "1" }, body: quoteOf(request) }))
    const call = yield* Effect.forkChild(
      Effect.all([0, 1, 2].map(() => Effect.flip(getMe())), { concurrency: "unbounded" }).pipe(
        Effect.provide(service.layer(secrets, Layer.orDie(RateLimit.layerWait())))
      )
    )
    yield* TestClock.adjust(60_000)
    const told = JSON.stringify(yield* Fiber.join(call))
    assertNoSecret(told)
    assert.include(told, Redaction.marker)
    assert.lengthOf(service.requests, 8)
    for (const { headers } of service.requests) {
      for (const signature of signatureOf(headers)) assert.notInclude(told, signature)
    }
  })
})

describe("what reads well", () => {
  test("is left as it is, but for what it could not answer")(function*() {
    const service = make((request) => ({
      body: {
        data: [{ id: "1", text: `a ${secrets.consumerKey}` }],
        errors: [{ title: "Not Found Error", detail: quoteOf(request), [quoteOf(request)]: 1 }, { title: "Other" }]
      }
    }))
    for (const user_auth of [true, false]) {
      const response = yield* Effect.provide(getPosts({ ids: ["1", "2"], user_auth }), service.layer())
      assert.strictEqual(response.data?.[0]?.text, `a ${secrets.consumerKey}`)
      assert.strictEqual(response.body.errors, response.errors)
      assert.deepStrictEqual(response.errors[1], { title: "Other" })
      assertNoSecret(response.errors)
      assert.include(response.errors[0]?.detail, Redaction.marker)
    }
  })

  test("is told without its values when a field is wrong")(function*() {
    const service = make((request) => ({
      body: { data: { id: { quote: quoteOf(request) }, text: quoteOf(request) } }
    }))
    assertNoSecret(yield* Effect.flip(Effect.provide(getMe(), service.layer())))
  })
})

describe("a transport that quotes", () => {
  const quote = `authorization: Bearer ${secrets.bearerToken}`
  const causes: Readonly<Record<string, object>> = {
    "a message": new Error(quote),
    "a cause": new TypeError("fetch failed", {
      cause: Object.assign(new Error(quote), { code: "HPE_INVALID", data: quote })
    }),
    "a packet": Object.assign(new Error("Parse Error"), { rawPacket: Buffer.from(quote.slice(-40)) }),
    "the request": Object.assign(new Error("failed"), { config: { headers: { authorization: quote } } }),
    "what knows how far it got": { phase: "headers", requestSent: true, message: quote, code: quote }
  }

  test.each(Object.entries(causes))("in %s")(function*([, cause]) {
    const { layer: recording, lines, spans } = Recorder.all()
    const service = make(() => transportError(cause))
    const layer = service.layer({ ...secrets, retries: 0 })
    for (const call of Object.values(calls)) {
      const error = yield* Effect.flip(Effect.provide(call, [layer, recording]))
      assertNoSecret(error)
      assert.notInclude(inspect(error, { depth: Infinity }), "63 61 6e 61 72 79")
    }
    assert.isAbove(spans.length, 2)
    assertNoSecret([lines, spans.map(({ attributes, events, name }) => [name, [...attributes], events])])
  })
})
