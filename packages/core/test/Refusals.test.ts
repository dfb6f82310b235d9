// What people read when the service refuses: the likely mistakes, word for word.
import { assert, describe } from "@effect/vitest"
import type { WireName } from "@postwire/core/schema/WireName"
import { Effect } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import type { Client } from "../src/client/Client.ts"
import * as RawRequest from "../src/client/RawRequest.ts"
import * as Errors from "../src/errors/Errors.ts"
import { names } from "../src/wire/Wire.ts"
import { assertNoSecret, fails, make, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const {
  bookmark,
  createPost,
  deletePost,
  getBookmarks,
  getPosts,
  getStreamRules,
  getUser,
  like,
  searchAllPosts,
  searchRecentPosts
} = catalogue

/** The refusal of a call, when the service answers with a status and a document. */
const refusal = <A>(
  call: Effect.Effect<A, Errors.AnyError, Client>,
  status: number,
  document: unknown,
  wire: WireName = "neutral"
) => {
  const service = make(() => ({ status, body: document, headers: { "x-request-id": "r1" } }))
  return Effect.map(Effect.flip(Effect.provide(call, service.layer({ ...secrets, wire }))), (error) => {
    assertNoSecret(error)
    return error as Errors.Refusal
  })
}

const messageOf = <A>(...args: Parameters<typeof refusal<A>>) => Effect.map(refusal(...args), ({ message }) => message)

const unauthorized = { title: "Unauthorized", type: "about:blank", status: 401, detail: "Unauthorized" }

const problem = (kind: string) => `https://service.test/2/problems/${kind}`

const userNeeded = {
  title: "Unsupported Authentication",
  detail:
    "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint. Supported authentication types " +
    "are [OAuth 1.0a User Context, OAuth 2.0 User Context].",
  type: problem("unsupported-authentication"),
  status: 403
}

const noPermission = {
  title: "Forbidden",
  detail: "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.",
  type: problem("oauth1-permissions"),
  status: 403
}

describe("401", () => {
  test("tells which credential was not accepted and which the operation takes")(function*() {
    assert.strictEqual(
      yield* messageOf(getPosts({ ids: "1" }), 401, unauthorized),
      "getPosts: the service does not accept the bearer token (401): Unauthorized. Check it; the operation accepts OAuth 1.0a " +
        "(user_auth: true) and a bearer token (user_auth: false)."
    )
    assert.strictEqual(
      yield* messageOf(createPost({ text: "a" }), 401, unauthorized),
      "createPost: the service does not accept the OAuth 1.0a credential (401): Unauthorized. Check it; the operation " +
        "accepts OAuth 1.0a (user_auth: true) and a bearer token of a user (user_auth: false)."
    )
    assert.strictEqual(
      yield* messageOf(searchAllPosts({ query: "a" }), 401, unauthorized),
      "searchAllPosts: the service does not accept the bearer token (401): Unauthorized. Check it; the operation accepts a " +
        "bearer token only."
    )
  })

  test("of the lookup names the operation that was called")(function*() {
    const error = yield* refusal(bookmark({ post_id: "1" }), 401, unauthorized)
    assert.instanceOf(error, Errors.Unauthorized)
    assert.strictEqual(error.operation, "bookmark")
    assert.strictEqual(error.credential, "bearer")
  })
})

describe("402, and the 403 of a spend cap", () => {
  // As the service has them, but for the ids.
  const credits = {
    account_id: 2244994945,
    title: "CreditsDepleted",
    detail: "Your enrolled account [2244994945] does not have any credits to fulfill this request.",
    type: problem("credits")
  }
  const capped = {
    account_id: 2244994945,
    title: "SpendCapReached",
    detail:
      "Your enrolled account [2244994945] has reached its billing cycle spend cap. API requests will be blocked " +
      "until the next cycle begins on 2026-12-01.",
    reset_date: "2026-12-01",
    type: problem("credits")
  }

  test("say what to pay, and are not retried")(function*() {
    for (
      const [status, document, reason, message] of [
        [402, credits, "credits", `no credits left (402): ${credits.detail} Buy credits in the service's console.`],
        [
          402,
          { title: "Payment Required", detail: "credits depleted", type: problem("credits-depleted"), status: 402 },
          "credits",
          "no credits left (402): credits depleted. Buy credits in the service's console."
        ],
        [402, undefined, "credits", "no credits left (402). Buy credits in the service's console."],
        [403, credits, "credits", `no credits left (403): ${credits.detail} Buy credits in the service's console.`],
        [
          403,
          capped,
          "spend cap",
          `reached its spend cap (403): ${capped.detail} Raise the cap in the service's console, or wait until 2026-12-01.`
        ],
        [
          403,
          { title: "SpendCapReached", reset_date: "soon" },
          "spend cap",
          "reached its spend cap (403): SpendCapReached. Raise the cap in the service's console."
        ]
      ] as const
    ) {
      const service = make(() => ({ status, body: document }))
      const error = yield* fails(
        Effect.provide(getPosts({ ids: "1" }), service.layer(secrets)),
        Errors.PaymentRequired,
        { reason }
      )
      assert.isTrue(error.message.endsWith(message), error.message)
      assert.strictEqual(error.resetAt?.toISOString(), document === capped ? "2026-12-01T00:00:00.000Z" : undefined)
      assert.lengthOf(service.requests, 1)
    }
  })
})

describe("403", () => {
  test("for an app where a user is needed says what the operation takes")(function*() {
    assert.strictEqual(
      yield* messageOf(createPost({ text: "a", user_auth: false }), 403, userNeeded),
      "createPost: this is not permitted with the bearer token (403): Authenticating with OAuth 2.0 Application-Only is forbidden for " +
        "this endpoint. Supported authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context]. The " +
        "operation accepts OAuth 1.0a (user_auth: true) and a bearer token of a user (user_auth: false)."
    )
    const error = yield* refusal(getBookmarks(), 403, userNeeded)
    assert.strictEqual(error.type, problem("unsupported-authentication"))
    assert.match(error.message, /\. The operation accepts a bearer token of a user only\.$/)
    // The same said in a member of `errors`.
    assert.match(
      yield* messageOf(createPost({ text: "a", user_auth: false }), 403, { errors: [userNeeded] }),
      /\. The operation accepts OAuth 1\.0a \(user_auth: true\) and a bearer token of a user \(user_auth: false\)\.$/
    )
  })

  test("of a raw request does not say what nobody knows")(function*() {
    const call = RawRequest.request({ method: "GET", path: "/2/posts/search/stream/rules" })
    assert.strictEqual(
      yield* messageOf(call, 403, { ...userNeeded, detail: "Forbidden with OAuth 2.0 User Context." }),
      "GET /2/posts/search/stream/rules: this is not permitted with the bearer token (403): Forbidden with OAuth 2.0 User Context."
    )
  })

  test("for a user where the app is needed names the setting of its token")(function*() {
    const error = yield* refusal(getStreamRules(), 403, {
      ...userNeeded,
      detail: "Authenticating with OAuth 2.0 User Context is forbidden for this endpoint."
    })
    assert.strictEqual(
      error.message,
      "getStreamRules: this is not permitted with the bearer token (403): Authenticating with OAuth 2.0 User Context is forbidden " +
        "for this endpoint. The operation accepts the bearer token of an app only. Pass it to the client as appBearerToken, or " +
        "set POSTWIRE_APP_BEARER_TOKEN."
    )
    assert.isTrue(Errors.statementOf(error).endsWith("accepts the bearer token of an app only."))
  })

  test("without write permission gives the rule about new credentials")(function*() {
    assert.strictEqual(
      yield* messageOf(createPost({ text: "a" }), 403, noPermission),
      "createPost: this is not permitted with the OAuth 1.0a credential (403): Your client app is not configured with the appropriate " +
        "oauth1 app permissions for this endpoint. If the app was given write permission after the credential was made, " +
        "generate a new credential and use that."
    )
    assert.strictEqual(
      yield* messageOf(deletePost({ id: "1" }), 403, {}),
      "deletePost: this is not permitted with the OAuth 1.0a credential (403). If the app was given write permission after the credential " +
        "was made, generate a new credential and use that."
    )
  })
})

describe("403 because of the plan", () => {
  const document = { title: "Forbidden", detail: "You are not permitted to perform this action.", status: 403 }

  test("explains who may be replied to, and no other post")(function*() {
    const summoned = /\(403\): You are not .*\. On self-serve plans .* must mention the replying user .*2026-02-23/
    assert.match(yield* messageOf(createPost({ text: "Hi", in_reply_to_post_id: "1" }), 403, document), summoned)
    assert.match(
      yield* messageOf(createPost({ text: "Hi", quote_post_id: "1" }), 403, document),
      /have no quotes: .*2026-04-16/
    )
    assert.notInclude(yield* messageOf(createPost({ text: "Hi" }), 403, document), "self-serve")
  })

  test("names operations of Enterprise plans")(function*() {
    const refused = (yield* refusal(like({ post_id: "1" }), 403, document)) as Errors.Forbidden
    assert.match(
      refused.message,
      /Self-serve plans \(pay-per-use\) do not have this operation: it needs an Enterprise plan\.$/
    )
    assert.strictEqual(refused.advice, refused.planRule)
    const { message } = yield* refusal(bookmark({ post_id: "1" }), 403, document)
    assert.notInclude(message, "Enterprise")
  })
})

describe("404", () => {
  test("says what there is not")(function*() {
    const document = {
      title: "Not Found Error",
      type: problem("resource-not-found"),
      detail: "Could not find post with id: [404].",
      resource_type: "post",
      resource_id: "404",
      parameter: "id",
      value: "404"
    }
    const error = yield* refusal(deletePost({ id: "404" }), 404, document)
    assert.instanceOf(error, Errors.NotFound)
    assert.strictEqual(
      error.message,
      "deletePost: not found (404): Could not find post with id: [404]."
    )
    assert.deepInclude(error, {
      operation: "deletePost",
      status: 404,
      credential: "oauth1",
      accepts: ["oauth1", "bearer"],
      type: document.type,
      title: document.title,
      detail: document.detail,
      requestId: "r1",
      excerpt: undefined
    })
    assert.deepStrictEqual<unknown>(error.problems, [document])
  })
})

describe.each(names)("400 on the %s wire", (wire) => {
  const name = wire === "x-2026-02" ? "tweet.fields" : "post.fields"

  test("has a message for every parameter")(function*() {
    const document = {
      errors: [
        {
          parameters: { max_results: ["7"] },
          message: "The `max_results` query parameter value [7] is not between 10 and 100"
        },
        { parameters: { [name]: ["nope"] }, message: "The field value [nope] is not one of [created_at,id,text]" }
      ],
      title: "Invalid Request",
      detail: "One or more parameters to your request was invalid.",
      type: problem("invalid-request")
    }
    const error = yield* refusal(searchRecentPosts({ query: "a" }), 400, document, wire)
    assert.instanceOf(error, Errors.BadRequest)
    assert.strictEqual(
      error.message,
      "searchRecentPosts: the service refused a parameter (400): The `max_results` query parameter value [7] is not between " +
        "10 and 100; The field value [nope] is not one of [created_at,id,text]."
    )
    assert.deepStrictEqual<unknown>(error.problems.map(({ parameters }) => parameters), [
      { max_results: ["7"] },
      { "post.fields": ["nope"] }
    ])
    assert.deepStrictEqual([error.type, error.title, error.detail], [document.type, document.title, document.detail])
  })

  test("says a thing once, and keeps other documents whole")(function*() {
    const twice = { errors: [{ message: "bad" }, { message: "bad" }, "bad", { title: "worse" }], detail: "all bad" }
    assert.strictEqual(
      yield* messageOf(getUser({ id: "1" }), 400, twice, wire),
      "getUser: the service refused a parameter (400): bad; worse."
    )
    const page = yield* refusal(getUser({ id: "1" }), 400, "<html><h1>Bad gateway</h1></html>", wire)
    assert.strictEqual(page.message, "getUser: the service refused a parameter (400).")
    assert.strictEqual(page.excerpt, "<html><h1>Bad gateway</h1></html>")
    assert.deepStrictEqual([page.type, page.title, page.detail], [undefined, undefined, undefined])
  })
})

describe("the others", () => {
  test("say what the status means")(function*() {
    const spent = { title: "Too Many Requests", detail: "Too Many Requests", type: "about:blank", status: 429 }
    assert.strictEqual(
      yield* messageOf(like({ post_id: "1" }), 429, spent),
      "like: rate limit exceeded (429): Too Many Requests. Set waitOnRateLimit to wait for it, or in " +
        "Effect provide RateLimit.layerWait()."
    )
    assert.strictEqual(
      yield* messageOf(getUser({ id: "1" }), 503, { title: "Service Unavailable" }),
      "getUser: the service failed (503): Service Unavailable."
    )
    assert.strictEqual(
      yield* messageOf(getUser({ id: "1" }), 418, {}),
      "getUser: unexpected status (418)."
    )
  })
})
