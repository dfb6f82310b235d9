// Requests to any path: what may be asked for, what is sent, what comes back.
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Exit, Schema, SchemaGetter } from "effect"
import { runInNewContext } from "node:vm"
import type { Sent } from "../src/client/Attempt.ts"
import * as RequestPath from "../src/client/internal/requestPath.ts"
import * as RawRequest from "../src/client/RawRequest.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import * as Recorder from "./support/Recorder.ts"
import { assertNoSecret, authorizationOf, baseUrl, fails, make, secrets, transportError } from "./support/Service.ts"
import { inMinute, test } from "./support/Test.ts"

const get = { method: "GET", path: "/2/widgets/1" } as const
const post = { method: "POST", path: "/2/widgets", body: { color: "red" } } as const

const refusedAs = (request: unknown) => {
  const error = RawRequest.check(request)
  assert.instanceOf(error, Errors.InvalidParameters)
  return error
}

const pathPieces = [
  ..."/\\?#%.:@;&= \n\u0000é",
  ..."2Ezf",
  "..",
  "%2e",
  "%2F",
  "%5c",
  "%252e",
  "%00",
  "//",
  "http://",
  "widgets",
  "\u2028"
]

const anyPath = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: pathPieces.length - 1 })))),
  (indexes) => `/${indexes.map((i) => pathPieces[i]).join("")}`
)

describe("a path", () => {
  it.each(
    [
      "/2/widgets",
      "/2/widgets/",
      "/1.1/widgets.json",
      "/2/widgets/a%20b",
      "/2/widgets/%C3%A9",
      "/2/widgets/%25",
      "/2/wid..gets/...",
      "/2/a:b@c;d=e",
      "/2/..a;b",
      "/2/%E2%80%A6",
      "/2/100%25%20of"
    ]
  )("may be %s", (path) => assert.isUndefined(RequestPath.ruleOf(path)))

  it.each(
    [
      "",
      "2/widgets",
      "https://elsewhere.test/2",
      "//elsewhere.test/2",
      "/\\elsewhere.test",
      "/2//widgets",
      "/2/../1",
      "/2/./1",
      "/..",
      "/2/%2e%2e/1",
      "/2/.%2E/1",
      "/2/%252e%252e/1",
      "/2/a%2fb",
      "/2/a%5Cb",
      "/2/..%2f1",
      "/2/..%5c1",
      "/2/widgets?a=1",
      "/2/widgets#a",
      "/2/a b",
      "/2/a\r\nx-header: 1",
      "/2/a%0d%0ax-header:%201",
      "/2/%00",
      "/2/é",
      "/2/%zz",
      "/2/%",
      "/2/{id}",
      "/2/..;/1",
      "/2/..;a=b/1",
      "/2/%2e%2E%3b/1",
      "/2/%252e;/1",
      // Slashes and dots in more bytes than UTF-8 has for them.
      "/2/%c0%af1",
      "/2/%e0%80%af1",
      "/2/%c0%ae%c0%ae/1",
      "/2/%25c0%25af1",
      "/2/%ff",
      "/2/%e2%82"
    ]
  )("may not be %j", (path) => {
    const error = refusedAs({ method: "GET", path })
    assert.strictEqual(error.parameter, "path")
    assert.isUndefined(error.value)
  })

  it.prop("that is accepted stays as it is, at the origin and below the prefix", { path: anyPath }, ({ path }) => {
    if (RequestPath.ruleOf(path) !== undefined) return
    const url = new URL(baseUrl + path)
    assert.strictEqual(url.href, baseUrl + path)
    for (let decoded = path, before = ""; decoded !== before;) {
      before = decoded
      decoded = decoded.replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
      assert.isTrue(new URL(baseUrl + decoded.replaceAll(/[?#]/g, "")).pathname.startsWith("/prefix/"), decoded)
    }
  })
})

describe("a request", () => {
  it("is refused by name and rule where it is none", () => {
    const rows: ReadonlyArray<readonly [unknown, string]> = [
      [undefined, "request"],
      ["GET /2/widgets", "request"],
      [[get], "request"],
      [{ ...get, method: "get" }, "method"],
      [{ ...get, method: "CONNECT" }, "method"],
      [{ method: "GET" }, "path"],
      [{ ...get, path: 1 }, "path"],
      [{ ...get, headers: { authorization: "Bearer x" } }, "headers"],
      [{ ...get, baseUrl: "https://elsewhere.test" }, "baseUrl"],
      [{ ...get, body: {} }, "body"],
      [{ ...post, body: 1n }, "body"],
      [{ ...post, body: { a: Number.NaN } }, "body.a"],
      [{ ...post, body: { a: new Map() } }, "body.a"],
      [{ ...post, body: { a: new Date(Number.NaN) } }, "body.a"],
      [{ ...post, body: Array.from({ length: 20_000 }).reduce((inner) => [inner], []) }, "body"],
      [{ ...post, body: { a: () => 1 } }, "body.a"],
      [{ ...post, body: JSON.parse(`{"a":{"__proto__":{"b":1}}}`) }, "body.__proto__"],
      [{ ...get, query: [] }, "query"],
      [{ ...get, query: { "": 1 } }, "query"],
      [{ ...get, query: { a: {} } }, "query.a"],
      [{ ...get, query: { a: [null] } }, "query.a"],
      [{ ...get, query: { a: Infinity } }, "query.a"],
      [{ ...get, query: JSON.parse(`{"__proto__":"1"}`) }, "query.__proto__"],
      [{ ...get, query: new URLSearchParams("a=1") }, "query"],
      [{ ...get, query: new Map([["a", 1]]) }, "query"],
      [{ ...get, query: { a: Array(2) } }, "query.a"],
      [{ ...get, query: { oauth_token: "1" } }, "query.oauth_token"],
      [{ ...get, query: { " OAuth_Nonce": "1" } }, "query. OAuth_Nonce"],
      [{ ...get, query: { Access_Token: "1" } }, "query.Access_Token"],
      [{ ...get, user_auth: 1 }, "user_auth"],
      [{ ...get, effect: "write" }, "effect"],
      [{ ...get, name: "a b" }, "name"],
      [{ ...get, name: "" }, "name"],
      [{ ...get, schema: {} }, "schema"],
      [{ ...get, schema: { "~standard": { version: 2, validate: () => ({}) } } }, "schema"]
    ]
    for (const [request, parameter] of rows) assert.strictEqual(refusedAs(request).parameter, parameter)
    const circle: Record<string, unknown> = {}
    circle["a"] = circle
    assert.strictEqual(refusedAs({ ...post, body: circle }).parameter, "body")
    assert.include(refusedAs({ ...get, userAuth: true }).message, "did you mean user_auth")
  })

  test("sends the service's names as they are, with the credential, on both wires")(function*() {
    for (const wire of ["neutral", "x"] as const) {
      for (const userAuth of [false, true]) {
        const service = make(() => ({ body: { data: { tweet_id: "1" }, includes: { tweets: [{ id: "2" }] } } }))
        const response = yield* RawRequest.request({
          method: "PATCH",
          path: "/2/posts/1/it's",
          query: { "post.fields": ["a", 2, true], b: "c d,é/&=+", none: undefined, nil: null, empty: [], big: 10n },
          body: { posts: ["é"], tweet: null, none: undefined },
          user_auth: userAuth
        }).pipe(Effect.provide(service.layer({ ...secrets, wire })))
        const sent = service.requests[0]!
        assert.strictEqual(sent.method, "PATCH")
        assert.strictEqual(sent.path, "/2/posts/1/it's")
        assert.deepStrictEqual(sent.query, { "post.fields": "a,2,true", b: "c d,é/&=+", big: "10" })
        assert.strictEqual(sent.body, `{"posts":["é"],"tweet":null}`)
        assert.strictEqual(sent.headers["content-type"], "application/json")
        assert.strictEqual(authorizationOf(sent), userAuth ? "oauth1" : "bearer")
        assert.deepStrictEqual(response.data, { tweet_id: "1" })
        assert.deepStrictEqual(response.includes, { tweets: [{ id: "2" }] })
      }
    }
  })

  test("returns every form")(function*() {
    const body = { data: [1], errors: [{ title: "a" }], meta: { next_token: "n" } }
    const { layer } = make(() => ({ body, headers: { "x-request-id": "r" } }))
    const response = yield* RawRequest.request(get).pipe(Effect.provide(layer()))
    assert.deepStrictEqual(response.data, [1])
    assert.deepStrictEqual(response.errors, body.errors)
    assert.strictEqual(response.meta.next_token, "n")
    assert.strictEqual(response.requestId, "r")
    assert.deepStrictEqual(yield* RawRequest.request.as("dictionary")(get).pipe(Effect.provide(layer())), body)
    const raw = yield* RawRequest.request.as("raw")(get).pipe(Effect.provide(layer()))
    assert.deepStrictEqual(yield* raw.json, body)
  })

  test("takes a body that is no response as data, and none at all as nothing")(function*() {
    for (const body of [{ rules: [1] }, [1, 2], "1", { errors: "no list" }, { data: 1, meta: { next_token: 5 } }]) {
      const { layer } = make(() => ({ body: JSON.stringify(body) }))
      const { data } = yield* RawRequest.request(get).pipe(Effect.provide(layer()))
      assert.deepStrictEqual(data, body)
    }
    for (const body of ["", "null", `{"data":null}`]) {
      const { layer } = make(() => ({ body }))
      const { data, errors } = yield* RawRequest.request(get).pipe(Effect.provide(layer()))
      assert.isUndefined(data)
      assert.deepStrictEqual(errors, [])
    }
  })
})

describe("a schema", () => {
  const Widget = Schema.Struct({ at: Schema.DateFromString })
  const standard: RawRequest.ResultSchema<{ readonly length: number }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) =>
        typeof value === "string"
          ? { value: { length: value.length } }
          : { issues: [{ message: "no text", path: ["a", { key: "b" }] }] }
    }
  }

  class Widgets extends Context.Service<Widgets, object>()("Widgets") {}

  const decodingWith = (decode: () => Effect.Effect<string, never, unknown>) =>
    Schema.Unknown.pipe(
      Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transformEffect(decode),
        encode: SchemaGetter.passthrough({ strict: false })
      })
    ) as unknown as RawRequest.ResultSchema<string>

  test("reads data, or the whole of a body that has none")(function*() {
    const { layer } = make((_, i) => ({ body: [{ data: { at: "2026-01-01" } }, { at: "2026-01-01" }][i] }))
    const request = RawRequest.request({ ...get, schema: Widget })
    const responses = yield* Effect.all([request, request]).pipe(Effect.provide(layer()))
    for (const { data } of responses) assert.deepStrictEqual(data, { at: new Date("2026-01-01") })
    const { layer: text } = make(() => ({ body: { data: "abc" } }))
    const { data } = yield* RawRequest.request({ ...get, schema: standard }).pipe(Effect.provide(text()))
    assert.strictEqual(data?.length, 3)
  })

  test("refuses what it does not accept, and never throws")(function*() {
    const broken: ReadonlyArray<readonly [RawRequest.ResultSchema<unknown>, RegExp]> = [
      [Widget, /at/],
      [standard, /^no text at a\.b$/],
      [
        { "~standard": { version: 1, vendor: "", validate: () => Promise.reject(new Error("late")) } },
        /asynchronous/
      ],
      [{
        "~standard": {
          version: 1,
          vendor: "",
          validate: () => {
            throw new Error("broken")
          }
        }
      }, /broken/],
      // Of another realm.
      [{
        "~standard": { version: 1, vendor: "", validate: () => runInNewContext("Promise.resolve({})") }
      }, /asynchronous/],
      [Schema.Unknown.check(Schema.makeFilter(() => "x".repeat(100_000))), /^x{1,2000}$/],
      // What the types refuse: a schema that waits, and one that needs a service.
      [decodingWith(() => Effect.delay(Effect.succeed("a"), 1)), /decode synchronously/],
      [decodingWith(() => Effect.as(Widgets, "a")), /decode synchronously/]
    ]
    for (const [schema, reason] of broken) {
      const { layer } = make(() => ({ body: { data: { token: secrets.bearerToken } } }))
      const error = yield* fails(
        RawRequest.request({ ...get, schema }).pipe(Effect.provide(layer())),
        Errors.UndecodableResponse
      )
      assert.match(error.reason, reason)
      assertNoSecret(error)
      const raw = yield* RawRequest.request.as("raw")({ ...get, schema }).pipe(Effect.provide(layer()))
      assert.strictEqual(raw.status, 200)
    }
  })
})

describe("what is sent again", () => {
  const count = (request: RawRequest.Request, status: number) =>
    Effect.gen(function*() {
      const service = make(() => ({ status, body: {} }))
      const exit = yield* inMinute(Effect.exit(
        RawRequest.request(request, { retries: 2 }).pipe(Effect.provide(service.layer()))
      ))
      assert.isTrue(Exit.isFailure(exit))
      return service.requests.length
    })

  test("is a read or a toggle, by its method or by its caller")(function*() {
    assert.strictEqual(yield* count(get, 503), 3)
    assert.strictEqual(yield* count(post, 503), 1)
    assert.strictEqual(yield* count({ ...post, method: "DELETE" }, 503), 1)
    assert.strictEqual(yield* count({ ...post, effect: "read" }, 503), 3)
    assert.strictEqual(yield* count({ ...post, effect: "toggle" }, 503), 3)
    assert.strictEqual(yield* count({ ...get, effect: "create" }, 503), 1)
  })

  test("and of a create it is unknown whether it happened")(function*() {
    const { layer } = make(() => transportError({ code: "ECONNRESET" }))
    yield* fails(
      RawRequest.request({ ...post, path: "/2/widgets/ada1/parts" }).pipe(Effect.provide(layer())),
      Errors.OutcomeUnknown,
      { operation: "POST /2/widgets/:id/parts" }
    )
  })
})

describe("what is told", () => {
  test("is the name, or method and path without what may name someone")(function*() {
    const sent: Array<Sent> = []
    const { layer } = make(() => ({
      headers: { "x-rate-limit-limit": "9", "x-rate-limit-remaining": "8", "x-rate-limit-reset": "900" },
      body: {}
    }))
    const usage = yield* Effect.gen(function*() {
      yield* RawRequest.request({ ...get, path: "/2/widgets/123/parts" })
      yield* RawRequest.request({ ...get, path: "/2/widgets/Ada_1/parts" })
      yield* RawRequest.request({ ...get, name: "getWidget" })
      return yield* RateLimit.snapshot
    }).pipe(Effect.provide(layer({ ...secrets, onRequest: (request) => sent.push(request) }, RateLimit.layerFail)))
    assert.deepStrictEqual(
      sent.map(({ operation, route }) => [operation, route]),
      [
        ["GET /2/widgets/:id/parts", "/2/widgets/:id/parts"],
        ["GET /2/widgets/:id/parts", "/2/widgets/:id/parts"],
        ["getWidget", "/2/widgets/:id"]
      ]
    )
    assert.sameMembers(usage.map(({ operation }) => operation), ["GET /2/widgets/:id/parts", "getWidget"])
  })

  test("holds no secret, wherever one was put")(function*() {
    const secret = secrets.bearerToken
    const sent: Array<Sent> = []
    const recorder = Recorder.spans()
    const { layer, requests } = make(() => ({ status: 404, body: { title: secret } }))
    const misplaced: ReadonlyArray<RawRequest.Request> = [
      { ...get, path: `/2/${secret}` },
      { ...get, query: { [secret]: secret } },
      { ...post, body: { [secret]: secret } }
    ]
    const wrong: ReadonlyArray<unknown> = [
      { ...get, path: `2/${secret}` },
      { ...get, [secret]: 1 },
      { ...get, method: secret },
      { ...get, effect: secret },
      { ...get, name: `${secret} ` },
      { ...get, query: { [secret]: {} } },
      { ...post, body: { [secret]: Number.NaN } },
      { ...get, schema: secret }
    ]
    const settings = { ...secrets, recordContent: true, onRequest: (request: Sent) => sent.push(request) }
    for (const request of [...misplaced, ...wrong]) {
      const error = yield* Effect.flip(
        RawRequest.request(request as RawRequest.Request).pipe(
          Effect.provide([layer(settings), recorder.layer])
        )
      )
      assertNoSecret(error)
    }
    assert.lengthOf(requests, misplaced.length)
    assertNoSecret(sent)
    assert.isNotEmpty(recorder.spans)
    for (const { attributes, name } of recorder.spans) assertNoSecret([name, [...attributes]])
  })
})
