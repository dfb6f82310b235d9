import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inspect } from "node:util"
import { catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/errors/Errors.ts"
import type { Definition } from "../src/schema/Definition.ts"
import { User } from "../src/schema/models/User.ts"
import * as Response from "../src/schema/Response.ts"
import type { WireName as Name } from "../src/schema/WireName.ts"
import * as ResponseDecoder from "../src/wire/ResponseDecoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { all, type Answer, assertNoSecret, make, secrets, textsOf, type Untyped } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { createBookmarkFolder, createPost, deletePost, getMe, getPost, getPosts, like, searchRecentPosts } = catalogue

const wires = Wire.names

const decode = (operation: { readonly definition: Definition }, body: unknown, wire: Name = "neutral") =>
  ResponseDecoder.decode(
    operation.definition,
    Wire.named[wire],
    typeof body === "string" ? body : JSON.stringify(body),
    {}
  )

const decoded = (operation: { readonly definition: Definition }, body: unknown, wire?: Name) => {
  const response = decode(operation, body, wire)
  if (response instanceof ResponseDecoder.Undecodable) throw new Error(response.reason)
  return response
}

const post = { id: "20", text: "just", edit_history_post_ids: ["20"] }

describe("decode", () => {
  const nothing = [
    "",
    " ",
    "null",
    "[]",
    "{}",
    "true",
    "1",
    `"text"`,
    "<html><body>Log in</body></html>",
    "OK",
    "undefined",
    "NaN",
    `{"data":{"id":"1"}`,
    `{"data":`,
    "\u0000",
    `{"data":null}`,
    `{"errors":[]}`,
    `{"errors":null}`,
    `{"errors":{}}`,
    `{"title":"t"}`,
    `[{"data":{}}]`,
    `{"data":"x"}`,
    `{"data":1}`,
    `{"data":true}`,
    `{"__proto__":{"data":{"id":"1"}}}`
  ]

  it.each(all)("takes no body for an answer that is none: %s", (_, operation) => {
    for (const wire of wires) {
      for (const body of nothing) {
        assert.instanceOf(decode(operation, body, wire), ResponseDecoder.Undecodable, `${wire} ${body}`)
      }
    }
  })

  it("takes no body that is nested too deep for an answer", () => {
    const deep = "[".repeat(20_000) + "]".repeat(20_000)
    const undecodable = new ResponseDecoder.Undecodable("the body is nested more than 512 levels deep")
    for (const wire of wires) {
      for (const body of [`{"data":{"id":"20","of":${deep}}}`, `{"data":${deep}}`, `{"errors":${deep}}`]) {
        assert.deepStrictEqual(decode(getPost, body, wire), undecodable)
      }
    }
  })

  it("has the tags of a message in one place, wherever the words of an answer have them", () => {
    const hashtags = [{ start: 0, end: 2, tag: "a" }]
    const urls = [{ start: 3, end: 4, url: "https://t.co/a" }]
    const message = { id: "1", event_type: "MessageCreate", text: "#a b" }
    for (const wire of wires) {
      for (
        const [received, read] of [
          [{ hashtags, urls }, { entities: { hashtags, urls } }],
          [{ entities: { hashtags }, urls }, { entities: { hashtags, urls } }],
          [{ entities: { hashtags, urls } }, { entities: { hashtags, urls } }],
          [{}, {}],
          // Neither is lost.
          [{ entities: { hashtags }, hashtags: [] }, { entities: { hashtags }, hashtags: [] }]
        ]
      ) {
        const { anomalies, data } = decoded(
          catalogue.getDirectMessageEvents,
          { data: [{ ...message, ...received }, message] },
          wire
        )
        assert.deepStrictEqual<unknown>([data, anomalies], [[{ ...message, ...read }, message], []], wire)
      }
    }
  })

  it("takes no body of another shape for an answer", () => {
    const id = { id: "1" }
    const wrong = [
      { data: [] },
      { data: [id] },
      { data: {} },
      { data: { id: 1 } },
      { data: { id: null } },
      { data: id, errors: {} },
      { data: id, includes: [] },
      { data: id, includes: { users: {} } },
      { data: id, meta: [] },
      { data: id, meta: { next_token: 1 } },
      { errors: [1] },
      { errors: [null] },
      { meta: {} }
    ]
    for (const wire of wires) {
      for (const body of wrong) {
        assert.instanceOf(decode(getPost, body, wire), ResponseDecoder.Undecodable, JSON.stringify(body))
      }
      for (const data of [id, "1", [1], [null], [[]], [{ text: "a" }]]) {
        assert.instanceOf(decode(getPosts, { data }, wire), ResponseDecoder.Undecodable)
      }
      for (const data of [[], "liked", true]) {
        assert.instanceOf(decode(like, { data }, wire), ResponseDecoder.Undecodable)
      }
      for (const data of [{}, { deleted: null }, { deleted: "true" }]) {
        assert.instanceOf(decode(deletePost, { data }, wire), ResponseDecoder.Undecodable)
      }
      for (const data of [{ text: "a" }, { id: 1, text: "a" }]) {
        assert.instanceOf(decode(createPost, { data }, wire), ResponseDecoder.Undecodable)
      }
    }
  })

  it("refuses numeric ids, for they have lost digits already", () => {
    for (const body of [`{"data":{"id":1234567890123456789,"text":"a"}}`, `{"data":{"id":1}}`]) {
      const outcome = decode(getPost, body)
      assert.instanceOf(outcome, ResponseDecoder.Undecodable)
      assert.strictEqual(outcome.reason, "data.id is not a string")
    }
  })

  it("does not say what the body held", () => {
    const outcome = decode(getPosts, { data: [{ id: ["private".repeat(100_000)] }] })
    assert.instanceOf(outcome, ResponseDecoder.Undecodable)
    assert.notInclude(outcome.reason, "private")
    assert.isBelow(outcome.reason.length, 200)
  })

  it("judges a body the same however often it was asked", () => {
    for (let i = 0; i < 50; i++) {
      assert.deepStrictEqual(decoded(searchRecentPosts, { data: [{ ...post, brand_new: i }] }).data, [
        { ...post, brand_new: i }
      ])
      assert.instanceOf(decode(searchRecentPosts, { data: [{ ...post, id: i }] }), ResponseDecoder.Undecodable)
      assert.lengthOf(decoded(searchRecentPosts, { data: [{ ...post, text: i }] }).anomalies, 1)
      assert.instanceOf(decode(searchRecentPosts, {}), ResponseDecoder.Undecodable)
      assert.isUndefined(decoded(searchRecentPosts, { meta: { result_count: 0 } }).data)
    }
  })

  it("reads data, includes, errors and meta", () => {
    const body = {
      data: [post],
      includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
      errors: [{ title: "Not Found Error", resource_id: "21" }],
      meta: { result_count: 1, next_token: "t" }
    }
    const response = decoded(searchRecentPosts, body)
    assert.deepInclude(response, body)
    assert.deepStrictEqual(response.body, body)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(response)), body)
  })

  it("fills in what is absent", () => {
    const response = decoded(getPost, { data: post })
    assert.deepStrictEqual([response.includes, response.errors, response.meta], [{}, [], {}])
    assert.throws(() => (response.errors as Array<unknown>).push(1))
    assert.throws(() => Object.assign(response.includes as object, { users: [] }))
    assert.deepStrictEqual(decoded(getPost, { data: post }).errors, [])
  })

  it("takes partial failures in all their forms", () => {
    const errors = [{
      type: "t",
      title: "Not Found Error",
      resource_type: "post",
      resource_id: "21",
      brand_new: { a: 1 }
    }]
    assert.deepStrictEqual(decoded(getPosts, { data: [post], errors }).errors, errors)
    for (const body of [{ errors }, { data: null, errors }]) {
      const response = decoded(getPosts, body)
      assert.isUndefined(response.data)
      assert.deepStrictEqual(response.errors, errors)
      assert.deepStrictEqual(response.body, { errors })
    }
    const missing = decoded(getPost, { data: { ...post, author_id: "9" }, includes: { users: [] } })
    assert.deepStrictEqual(missing.includes, { users: [] })
  })

  it("takes an empty page", () => {
    for (const body of [{ meta: { result_count: 0 } }, { data: [] }, { data: null, meta: {} }]) {
      assert.isEmpty(decoded(searchRecentPosts, body).data ?? [])
    }
  })

  it("keeps unknown fields, buckets and values on both wires", () => {
    const body = {
      data: { ...post, lang: "zz-new", brand_new: [1], reply_settings: "nobody" },
      includes: { gadgets: [{ x: 1 }], users: [{ id: "1", aura: true }] },
      extra: { deep: null }
    }
    assert.deepStrictEqual(decoded(getPost, body).body, body as Response.Body)
    const { edit_history_post_ids, ...rest } = body.data
    const onX = { ...body, data: { ...rest, edit_history_tweet_ids: edit_history_post_ids } }
    assert.deepStrictEqual(decoded(getPost, onX, "x").body, body as Response.Body)
  })

  it("is not polluted by the keys of a body", () => {
    const text =
      `{"data":{"id":"1","text":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},` +
      `"includes":{"__proto__":{"polluted":1}},"errors":[{"title":"t","__proto__":{"detail":"polluted"}}],` +
      `"meta":{"__proto__":{"next_token":"polluted"}},"__proto__":{"polluted":1}}`
    for (const wire of wires) {
      const response = decoded(getPost, text, wire)
      assert.isUndefined(response.meta.next_token)
      assert.isUndefined(response.errors[0]!.detail)
      for (const object of [{}, response, response.body, response.data, response.includes, response.meta]) {
        assert.isFalse("polluted" in (object as object))
      }
      assert.strictEqual(JSON.stringify(response).includes("polluted"), true)
    }
  })
})

describe("verifiers", () => {
  it("are compiled once, after twenty uses, where a compiler is given", () => {
    let compiled = 0
    ResponseDecoder.compileWith(() => {
      compiled++
    })
    const definition = { result: Response.one(User) }
    const body = JSON.stringify({ data: { id: "1", name: "Ada", username: "ada" } })
    const decode = (times: number) => {
      for (let i = 0; i < times; i++) ResponseDecoder.decode(definition, Wire.neutral, body, {})
      return compiled
    }
    assert.deepStrictEqual([decode(19), decode(1), decode(40)], [0, 1, 1])
  })

  it("get their headers when one is asked for", () => {
    let asked = 0
    const response = ResponseDecoder.decode({ result: Response.one(User) }, Wire.neutral, `{"data":{"id":"1"}}`, () => {
      asked++
      return { "x-transaction-id": "t" }
    })
    assert.strictEqual(asked, 0)
    assert.include(response, { requestId: "t" })
    assert.strictEqual(asked, 1)
  })
})

describe("printing", () => {
  it("shows the guaranteed fields only", () => {
    const response = decoded(getPost, { data: { ...post, lang: "en" }, includes: { users: [{ id: "1" }] } })
    assert.strictEqual(String(response), JSON.stringify({ data: post }))
    assert.include(inspect(response), "Response { data: { id: '20', text: 'just'")
    assert.notInclude(inspect(response), "lang")
    const page = decoded(searchRecentPosts, { data: [{ ...post, lang: "en" }], meta: { next_token: "t" } })
    assert.strictEqual(String(page), JSON.stringify({ data: [post], meta: { next_token: "t" } }))
    assert.include(String(decoded(getPosts, { errors: [{ title: "t" }] })), "errors")
    for (const text of textsOf(decoded(like, { data: { liked: true } }))) assert.include(text, "liked")
  })
})

describe("a call", () => {
  const call = (operation: unknown, parameters: object, answer: Answer, wire: Name = "neutral") => {
    const service = make(() => answer)
    return (operation as Untyped)(parameters).pipe(Effect.provide(service.layer({ ...secrets, wire })))
  }

  const failure = (operation: unknown, parameters: object, answer: Answer, wire?: Name) =>
    Effect.map(Effect.flip(call(operation, parameters, answer, wire)), (error) => {
      assertNoSecret(error)
      return error
    })

  test("fails with UndecodableResponse for a 200 that is no answer")(function*() {
    const bodies = [
      "",
      "null",
      "[]",
      "{}",
      "<html>Log in</html>",
      `{"data":{"id":"1"`,
      `{"data":{"id":1}}`,
      `{"meta":{}}`
    ]
    for (const wire of wires) {
      for (const body of bodies) {
        const error = yield* failure(getPost, { id: "1" }, { body, headers: { "x-transaction-id": "abc" } }, wire)
        assert.instanceOf(error, Errors.UndecodableResponse)
        assert.deepInclude(error, { operation: "getPost", status: 200, requestId: "abc", excerpt: body })
      }
    }
  })

  test("keeps 2,000 characters of a body, less what looks like the credential")(function*() {
    const long = yield* failure(getPost, { id: "1" }, { body: "x".repeat(100_000) })
    assert.instanceOf(long, Errors.UndecodableResponse)
    assert.strictEqual(long.excerpt, "x".repeat(2000))
    const echoes = [
      `<pre>GET /\nAuthorization: Bearer ${secrets.bearerToken}\n</pre>`,
      JSON.stringify({ headers: { authorization: `Bearer ${secrets.bearerToken}` } }),
      `${"x".repeat(1980)} Bearer ${secrets.bearerToken}`,
      `OAuth oauth_token="${secrets.accessToken}", oauth_nonce="1"`,
      JSON.stringify({ echo: `oauth_token="${secrets.accessToken}"` }),
      `oauth_token=${secrets.accessToken}`
    ]
    for (const body of echoes) {
      for (const status of [200, 401, 502]) {
        const error = yield* failure(getPost, { id: "1" }, { status, body })
        assert.isTrue("excerpt" in error)
      }
    }
  })

  test("leaves open whether a create happened, unless its status rules that out")(function*() {
    const ruledOut = {
      301: Errors.UnexpectedStatus,
      307: Errors.UnexpectedStatus,
      308: Errors.UnexpectedStatus,
      400: Errors.BadRequest,
      401: Errors.Unauthorized,
      403: Errors.Forbidden,
      404: Errors.NotFound,
      409: Errors.UnexpectedStatus,
      413: Errors.UnexpectedStatus,
      429: Errors.RateLimited,
      501: Errors.ServerFailure
    }
    const headers = { location: "/2/tweets/1", "x-request-id": "r" }
    for (const [status, errorClass] of Object.entries(ruledOut)) {
      const error = yield* failure(createPost, { text: "a" }, { status: Number(status), headers })
      assert.isTrue(error instanceof errorClass, String(error))
    }
    for (const status of [302, 303, 408, 500, 502, 503, 504, 520, 599]) {
      const answer = { status, headers, body: { title: "Busy", detail: "Over capacity" } }
      const error = yield* failure(createPost, { text: "a" }, answer)
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.deepInclude(error, { status, requestId: "r", reason: "Over capacity", confirmWith: "getUsersPosts" })
      assert.strictEqual(
        error.message,
        `createPost: the service responded with ${status} (Over capacity). It may have happened. Check with getUsersPosts ` +
          "before sending it again."
      )
      assert.deepInclude(error.cause, { operation: "createPost", status, title: "Busy" })
      const read = yield* failure(getMe, {}, { status, body: "" })
      assert.isTrue(read instanceof (status < 500 ? Errors.UnexpectedStatus : Errors.ServerFailure), String(read))
      const toggle = yield* failure(like, { post_id: "1" }, { status, body: "" })
      assert.isTrue(toggle instanceof (status < 500 ? Errors.UnexpectedStatus : Errors.ServerFailure), String(toggle))
    }
  })

  test("knows that a create did not leave when its user could not be looked up")(function*() {
    const error = yield* failure(createBookmarkFolder, { name: "a" }, { status: 503, body: "" })
    assert.instanceOf(error, Errors.ServerFailure)
  })

  const statuses = [
    [400, Errors.BadRequest],
    [401, Errors.Unauthorized],
    [402, Errors.PaymentRequired],
    [403, Errors.Forbidden],
    [404, Errors.NotFound],
    [429, Errors.RateLimited],
    [500, Errors.ServerFailure],
    [502, Errors.ServerFailure],
    [503, Errors.ServerFailure],
    [599, Errors.ServerFailure],
    [301, Errors.UnexpectedStatus],
    [302, Errors.UnexpectedStatus],
    [307, Errors.UnexpectedStatus],
    [409, Errors.UnexpectedStatus],
    [418, Errors.UnexpectedStatus],
    [451, Errors.UnexpectedStatus]
  ] as const

  test.each(statuses)("maps %s")(function*([status, errorClass]) {
    for (const body of ["", "<html>busy</html>", "null", "[]", "{}", `{"data":{"id":"1"}}`, `{"title":"t"}`, "{"]) {
      const headers = { location: "https://elsewhere.test/", "x-request-id": "r" }
      for (const [userAuth, credential] of [[true, "oauth1"], [false, "bearer"]] as const) {
        const error = yield* failure(getMe, { user_auth: userAuth }, { status, body, headers })
        assert.isTrue(error instanceof errorClass, String(error))
        assert.deepInclude(error, { operation: "getMe", status, credential, requestId: "r" })
        assert.include(error.message, `getMe: `)
        assert.include(error.message, String(status))
        assert.strictEqual(
          "excerpt" in error ? error.excerpt : "",
          body === "" || body.includes("title") ? undefined : body
        )
      }
    }
  })

  test("reads every form of an error document")(function*() {
    const documents: ReadonlyArray<readonly [body: unknown, problems: ReadonlyArray<object>, said: string]> = [
      [{ title: "Unauthorized", type: "about:blank", status: 401, detail: "Unauthorized" }, [{
        title: "Unauthorized",
        type: "about:blank",
        status: 401,
        detail: "Unauthorized"
      }], "Unauthorized"],
      [
        { code: 32, message: "Could not authenticate you" },
        [{ code: 32, message: "Could not authenticate you" }],
        "Could not"
      ],
      [{ errors: [{ code: 88, message: "a" }, { code: 89, message: "b" }] }, [
        { code: 88, message: "a" },
        { code: 89, message: "b" }
      ], "a; b"],
      [{ errors: ["plain"] }, [{ message: "plain" }], "plain"],
      [{ error: "old" }, [{ message: "old" }], "old"],
      [
        {
          errors: [{ parameters: { id: ["x"] }, message: "The `id` query parameter value [x] is not valid" }],
          title: "Invalid Request",
          detail: "One or more parameters to your request was invalid.",
          type: "https://api.x.com/2/problems/invalid-request"
        },
        [{ parameters: { id: ["x"] }, message: "The `id` query parameter value [x] is not valid" }],
        "is not valid"
      ],
      [
        {
          errors: [{
            title: "Unsupported Authentication",
            detail: "Supported authentication types are [OAuth 1.0a User Context].",
            status: 403,
            type: "https://api.x.com/2/problems/unsupported-authentication"
          }]
        },
        [{
          title: "Unsupported Authentication",
          detail: "Supported authentication types are [OAuth 1.0a User Context].",
          status: 403,
          type: "https://api.x.com/2/problems/unsupported-authentication"
        }],
        "Supported authentication types"
      ],
      [
        {
          title: "Client Forbidden",
          reason: "client-not-enrolled",
          registration_url: "https://dev.test",
          detail: "d"
        },
        [{
          title: "Client Forbidden",
          reason: "client-not-enrolled",
          registration_url: "https://dev.test",
          detail: "d"
        }],
        "d"
      ],
      [
        { title: "UsageCapExceeded", period: "Monthly", scope: "Product", detail: "Usage cap exceeded" },
        [{ title: "UsageCapExceeded", period: "Monthly", scope: "Product", detail: "Usage cap exceeded" }],
        "Usage cap"
      ],
      [{ errors: [{ title: 5 }, { title: "good" }] }, [{ title: "good" }], "good"],
      [{ errors: [], title: "t" }, [{ errors: [], title: "t" }], "t"],
      [{ errors: "x", detail: "d" }, [{ errors: "x", detail: "d" }], "d"]
    ]
    for (const [body, problems, said] of documents) {
      for (const wire of wires) {
        const error = yield* failure(getPost, { id: "1" }, { status: 400, body }, wire)
        assert.instanceOf(error, Errors.BadRequest)
        assert.deepStrictEqual(error.problems as unknown, problems)
        assert.include(error.message, said)
        assert.isUndefined(error.excerpt)
      }
    }
  })

  test("brings the names of a problem into neutral form")(function*() {
    const body = {
      errors: [{ title: "t", parameter: "tweet_id", resource_type: "tweet", parameters: { "tweet.fields": ["x"] } }]
    }
    const error = yield* failure(getPost, { id: "1" }, { status: 404, body }, "x")
    assert.instanceOf(error, Errors.NotFound)
    assert.deepStrictEqual(error.problems as unknown, [
      { title: "t", parameter: "post_id", resource_type: "post", parameters: { "post.fields": ["x"] } }
    ])
  })

  test("tells the budget and the request's id, and takes nonsense in headers for nothing")(function*() {
    const headers = {
      "x-rate-limit-limit": "900",
      "x-rate-limit-remaining": "899",
      "x-rate-limit-reset": "1735689600",
      "x-transaction-id": "abc"
    }
    const response = yield* call(getPost, { id: "1" }, { body: { data: post }, headers })
    const budget = { limit: 900, remaining: 899, resetAt: new Date("2025-01-01T00:00:00Z") }
    assert.deepStrictEqual(response.rateLimit, budget)
    assert.strictEqual(response.requestId, "abc")
    const limited = yield* failure(getPost, { id: "1" }, { status: 429, headers: { ...headers, "retry-after": "7" } })
    assert.instanceOf(limited, Errors.RateLimited)
    assert.deepInclude(limited, { rateLimit: budget, resetAt: budget.resetAt, retryAfter: 7000, bucket: "getPost" })
    // Without a `retry-after`, the wait is until the reset by the service's clock, whatever the time of this machine.
    const date = "Tue, 31 Dec 2024 23:50:00 GMT"
    for (const [remaining, wait] of [["0", 601_000], ["899", undefined]] as const) {
      const counted = { ...headers, "x-rate-limit-remaining": remaining, date }
      assert.deepInclude(yield* failure(getPost, { id: "1" }, { status: 429, headers: counted }), { retryAfter: wait })
    }
    for (const nonsense of ["", "soon", "-1", "NaN", "Infinity", "1e999", "9".repeat(400)]) {
      const bad = {
        "x-rate-limit-limit": nonsense,
        "x-rate-limit-remaining": nonsense,
        "x-rate-limit-reset": nonsense,
        "retry-after": nonsense
      }
      assert.isUndefined((yield* call(getPost, { id: "1" }, { body: { data: post }, headers: bad })).rateLimit)
      for (const header of Object.keys(bad)) {
        for (const status of [429, 400, 500]) {
          const error = yield* failure(getPost, { id: "1" }, { status, headers: { ...headers, [header]: nonsense } })
          assert.isTrue("rateLimit" in error && error.status === status)
        }
      }
      const error = yield* failure(getPost, { id: "1" }, { status: 429, headers: bad })
      assert.instanceOf(error, Errors.RateLimited)
      assert.isUndefined(error.resetAt)
      assert.isUndefined(error.retryAfter)
    }
  })
})
