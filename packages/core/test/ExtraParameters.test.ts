// Members of queries and bodies that no declaration knows: they add, and replace nothing.
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema, Stream } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import type { CallOptions } from "../src/client/CallOptions.ts"
import * as Errors from "../src/errors/Errors.ts"
import { parametersOf } from "../src/schema/Definition.ts"
import * as ExtraParameters from "../src/wire/ExtraParameters.ts"
import { planOf } from "../src/wire/internal/encodingPlan.ts"
import * as RequestEncoder from "../src/wire/RequestEncoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { assertNoSecret, authorizationOf, fails, make, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { createPost, getMe, getPost, like, searchRecentPosts, uploadMedia } = catalogue

const added = (
  { definition }: { readonly definition: Parameters<typeof RequestEncoder.encode>[0] },
  parameters: object,
  options: object,
  wire: Wire.Wire = Wire.neutral
) => ExtraParameters.add(RequestEncoder.encode(definition, parameters, wire), definition, wire, options)

const refusedAs = (...args: Parameters<typeof added>) => {
  const error = added(...args)
  assert.instanceOf(error, Errors.InvalidParameters)
  return error.parameter
}

const accepted = (...args: Parameters<typeof added>) => {
  const prepared = added(...args)
  if (prepared instanceof Error) throw prepared
  return prepared
}

describe("extraQuery", () => {
  it("comes after the parameters, under the service's names on every wire", () => {
    const extraQuery = { "widget.fields": ["a", "b"], tweets: true, none: undefined }
    for (const wire of [Wire.neutral, Wire.x]) {
      const { query } = accepted(getPost, { id: 1, expansions: ["author_id"] }, { extraQuery }, wire)
      assert.strictEqual(query, "expansions=author_id&widget.fields=a%2Cb&tweets=true")
      assert.strictEqual(accepted(getPost, { id: 1 }, { extraQuery }, wire).query, "widget.fields=a%2Cb&tweets=true")
      assert.strictEqual(accepted(getPost, { id: 1 }, { extraQuery: {} }, wire).query, "")
    }
  })

  it("replaces no parameter, of any operation on any wire", () => {
    for (const operation of Object.values(catalogue)) {
      const { definition } = operation
      for (const wire of [Wire.neutral, Wire.x]) {
        const keys = [...planOf(definition, wire).inputs.values()].flatMap(({ key, place }) =>
          place === "query" ? [key] : []
        )
        const own = definition.userAuth === undefined ? [] : ["user_auth"]
        for (const name of [...keys, ...own, ...Object.keys(parametersOf(definition))]) {
          const query = ExtraParameters.add(
            { ...accepted(getMe, {}, {}) },
            definition,
            wire,
            { extraQuery: { [name]: "1" } }
          )
          assert.instanceOf(query, Errors.InvalidParameters, `${definition.name} ${name}`)
        }
      }
    }
  })

  it("is refused by name and rule", () => {
    for (const extraQuery of ["a=b", null, [], 1]) {
      assert.strictEqual(refusedAs(getPost, { id: 1 }, { extraQuery }), "extraQuery")
    }
    for (const name of ["oauth_nonce", "access_token", "bearer_token", "__proto__"]) {
      const extraQuery = JSON.parse(`{"${name}":"1"}`)
      assert.strictEqual(refusedAs(getPost, { id: 1 }, { extraQuery }), `extraQuery.${name}`)
    }
    assert.strictEqual(refusedAs(getPost, { id: 1 }, { extraQuery: { a: { b: 1 } } }), "extraQuery.a")
  })

  const text = Arbitrary.schema(Schema.String)

  it.prop(
    "arrives as it was given, and leaves the parameters alone",
    { name: text, value: text },
    ({ name, value }) => {
      const prepared = added(getPost, { id: 1, expansions: ["author_id"] }, { extraQuery: { [name]: value } })
      if (prepared instanceof Error) return
      const [first, second, ...rest] = new URLSearchParams(prepared.query)
      assert.deepStrictEqual(first, ["expansions", "author_id"])
      assert.deepStrictEqual(second, [name.toWellFormed(), value.toWellFormed()])
      assert.lengthOf(rest, 0)
      assert.strictEqual(prepared.path, "/2/posts/1")
    }
  )

  test("is signed, and goes with every page")(function*() {
    const service = make((_, i) => ({ body: { data: [], meta: i === 2 ? {} : { next_token: `t${i}` } } }))
    const extraQuery: Record<string, string> = { "a b": "c&d=é" }
    const pages = searchRecentPosts.pages({ query: "a" }, { extraQuery })
    extraQuery["a b"] = "changed meanwhile"
    yield* Stream.runDrain(pages).pipe(Effect.provide(service.layer()))
    assert.deepStrictEqual(service.requests.map(({ query }) => query["a b"]), ["c&d=é", "c&d=é", "c&d=é"])
    assert.deepStrictEqual(service.requests.map(({ query }) => query["next_token"]), [undefined, "t0", "t1"])
    yield* getPost({ id: 1, user_auth: true }, { extraQuery: { "a b": "c&d=é" } }).pipe(
      Effect.provide(
        make((request) => {
          assert.strictEqual(authorizationOf(request), "oauth1")
          return { body: { data: { id: "1", text: "a", edit_history_post_ids: ["1"] } } }
        }).layer()
      )
    )
  })
})

describe("extraBody", () => {
  const body = (...args: Parameters<typeof added>) => JSON.parse(String(accepted(...args).body ?? "null"))

  it("adds texts to a body with bytes, which has no members within others", () => {
    const upload = { media: Uint8Array.of(1), media_category: "tweet_image" }
    const { body } = accepted(uploadMedia, upload, { extraBody: { widget: "a", count: 2 } })
    assert.deepStrictEqual(typeof body === "object" && body.parts.map(({ name }) => name), [
      "widget",
      "count",
      "media_category",
      "media"
    ])
    const refused = [{ media: "a" }, { widget: {} }, { widget: null }]
    assert.deepStrictEqual(refused.map((extraBody) => refusedAs(uploadMedia, upload, { extraBody })), [
      "extraBody.media",
      "extraBody.widget",
      "extraBody.widget"
    ])
  })

  it("adds members beside and within what the parameters send", () => {
    assert.deepStrictEqual(
      body(createPost, { text: "a", in_reply_to_post_id: 1 }, {
        extraBody: { widget: { tweet: [1, null] }, reply: { quietly: true }, media: { odd: "b" } }
      }, Wire.x),
      {
        text: "a",
        reply: { in_reply_to_tweet_id: "1", quietly: true },
        widget: { tweet: [1, null] },
        media: { odd: "b" }
      }
    )
  })

  it("replaces no parameter, given or not, and nothing that holds one", () => {
    const call = [createPost, { text: "a" }] as const
    for (
      const [extraBody, parameter] of [
        [{ text: "b" }, "text"],
        [{ reply: { in_reply_to_post_id: "1" } }, "reply.in_reply_to_post_id"],
        [{ reply: "b" }, "reply"],
        [{ reply: null }, "reply"],
        [{ media: { media_ids: ["1"] } }, "media.media_ids"],
        [{ media_ids: ["1"] }, "media_ids"],
        [JSON.parse(`{"__proto__":{"a":1}}`), "__proto__"],
        [JSON.parse(`{"reply":{"__proto__":{"a":1}}}`), "__proto__"],
        [{ a: { b: Number.NaN } }, "b"]
      ] as const
    ) {
      assert.strictEqual(refusedAs(...call, { extraBody }), `extraBody.${parameter}`)
    }
    for (const extraBody of ["a", null, [1], 1]) assert.strictEqual(refusedAs(...call, { extraBody }), "extraBody")
    assert.isUndefined(Reflect.get({}, "a"))
  })

  it("has no place in a GET", () => {
    assert.strictEqual(refusedAs(getPost, { id: 1 }, { extraBody: { a: 1 } }), "extraBody")
    assert.deepStrictEqual(body(like, { post_id: 1 }, { extraBody: { a: 1 } }), { post_id: "1", a: 1 })
  })
})

test("a refusal sends nothing and holds no secret")(function*() {
  const secret = secrets.bearerToken
  const service = make(() => ({}))
  const wrong: ReadonlyArray<object> = [
    { extraQuery: { [secret]: {} } },
    { extraQuery: { [`oauth_${secret}`]: secret } },
    { extraQuery: secret },
    { extraBody: { a: secret } },
    { extra: secret },
    // Of these, nothing would be sent.
    { extraQuery: new URLSearchParams({ a: "1" }) },
    { extraQuery: new Map([["a", "1"]]) },
    { extraQuery: [] }
  ]
  for (const options of wrong) {
    const call = getPost({ id: 1 }, options as CallOptions)
    const error = yield* fails(call.pipe(Effect.provide(service.layer())), Errors.InvalidParameters)
    assertNoSecret(error)
    const pages = Stream.runDrain(searchRecentPosts.pages({ query: "a" }, options as CallOptions))
    yield* fails(pages.pipe(Effect.provide(service.layer())), Errors.InvalidParameters)
  }
  assert.lengthOf(service.requests, 0)
})
