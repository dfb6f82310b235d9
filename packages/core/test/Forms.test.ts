import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { inspect } from "node:util"
import { catalogue } from "../src/Catalogue.ts"
import type { Client } from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import { envelope } from "../src/wire/ResponseDecoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { answerOf, callOf, selectionsOf, wires } from "./support/Calls.ts"
import { all, fails, isPaged, make, rowOf, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const forms = ["response", "dictionary", "raw"] as const

const { getPost, getUsersPosts, like, searchRecentPosts } = catalogue

describe.each(wires)("forms on the %s wire", (wire) => {
  test.each(all)("%s")(function*([name, operation]) {
    const row = rowOf(name)
    const { given } = callOf(row, selectionsOf(row)[0]!, wire)
    const onWire = name === "getMe" ? { data: { id: "77" } } : answerOf(row, wire)
    const neutral = name === "getMe" ? { data: { id: "77" } } : answerOf(row, "neutral")
    const service = make(({ path }) => ({ body: path === "/2/users/me" ? { data: { id: "77" } } : onWire }))
    const parameters = { ...given, ...(row.lookup === "pkce" ? { user_auth: false } : {}) }
    const layer = () => service.layer({ ...secrets, wire })
    const traffic: Array<unknown> = []
    const sent = () => {
      const requests = service.requests.splice(0)
      traffic.push(requests.map(({ body, method, url }) => [method, url, body]))
      return requests
    }

    const response = yield* Effect.provide(operation.as("response")(parameters), layer())
    assert.deepStrictEqual<unknown>(response.body, neutral)
    assert.strictEqual(JSON.stringify(response), JSON.stringify(neutral))
    sent()
    const dictionary = yield* Effect.provide(operation.as("dictionary")(parameters), layer())
    assert.deepStrictEqual<unknown>(dictionary, neutral)
    assert.strictEqual(Object.getPrototypeOf(dictionary), Object.prototype)
    sent()
    const raw = yield* Effect.provide(operation.as("raw")(parameters), layer())
    assert.strictEqual(raw.status, 200)
    // As it came: in the words of the wire.
    assert.deepStrictEqual(yield* raw.json, onWire)
    const requests = sent()
    // The lookup is made, and read, whatever the form.
    assert.lengthOf(requests, row.lookup === null ? 1 : 2)
    assert.deepStrictEqual([traffic[1], traffic[2]], [traffic[0], traffic[0]])

    // A form of a form is the last one, and an operation of another form is as much an operation.
    for (const form of forms) {
      const again = operation.as("raw").as(form as "raw")
      assert.strictEqual(again.definition, operation.definition)
      assert.strictEqual("items" in again, isPaged(operation))
    }
    const back = yield* Effect.provide(operation.as("raw").as("response")(parameters), layer())
    assert.deepStrictEqual<unknown>(back.body, neutral)
  })
})

describe("pages", () => {
  const page = (id: number) => ({
    data: [{ id: `${id}`, text: "a", author_id: "1" }],
    includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
    meta: id < 3 ? { next_token: `${id + 1}` } : {}
  })
  const service = make(({ query }) => ({ body: page(Number(query["next_token"] ?? 1)) }))
  const parameters = { query: "a", expansions: ["author_id"] } as const
  const collect = <A, E>(stream: Stream.Stream<A, E, Client>) =>
    Effect.provide(Stream.runCollect(stream), service.layer())

  test("come in the form, their items do not depend on it")(function*() {
    const responses = yield* collect(searchRecentPosts.pages(parameters))
    assert.deepStrictEqual(responses.map(({ includes }) => includes.users?.[0]?.username), ["ada", "ada", "ada"])
    const dictionaries = yield* collect(searchRecentPosts.as("dictionary").pages(parameters))
    assert.deepStrictEqual<unknown>(dictionaries, [page(1), page(2), page(3)])
    const raws = yield* collect(searchRecentPosts.as("raw").pages(parameters))
    for (const [i, raw] of raws.entries()) assert.deepStrictEqual<unknown>(yield* raw.json, page(i + 1))
    for (const form of forms) {
      const operation = searchRecentPosts.as(form)
      const items = yield* collect(operation.items(parameters))
      assert.deepStrictEqual(items.map(({ id }) => id), ["1", "2", "3"])
      const joined = yield* collect(operation.joined(parameters))
      assert.deepStrictEqual(joined.map(({ author }) => author?.username), ["ada", "ada", "ada"])
    }
    assert.lengthOf(service.requests, 9 + 18)
  })
})

describe("raw", () => {
  test("is not read: what cannot be decoded arrives as it is")(function*() {
    const service = make(() => ({ body: "<html>", headers: { "x-request-id": "r" } }))
    const raw = yield* Effect.provide(getPost.as("raw")({ id: "1" }), service.layer())
    assert.strictEqual(yield* raw.text, "<html>")
    assert.strictEqual(raw.headers["x-request-id"], "r")
    yield* fails(Effect.provide(getPost.as("dictionary")({ id: "1" }), service.layer()), Errors.UndecodableResponse)
  })

  test("fails as the others do: rules, credentials, identity, status")(function*() {
    const refusing = make(({ path }) => ({ status: path === "/2/users/me" ? 401 : 404, body: { title: "no" } }))
    for (const form of forms) {
      const failure = <A, E>(call: Effect.Effect<A, E, Client>, settings: object = secrets) =>
        Effect.flip(Effect.provide(call, refusing.layer(settings)))
      assert.instanceOf(yield* failure(getPost.as(form)({ id: "1" })), Errors.NotFound)
      assert.instanceOf(yield* failure(getPost.as(form)({ id: "x" })), Errors.InvalidParameters)
      assert.instanceOf(yield* failure(getPost.as(form)({ id: "1" }), {}), Errors.MissingAccessToken)
      assert.instanceOf(yield* failure(like.as(form)({ post_id: "1", user_auth: false })), Errors.Unauthorized)
      assert.lengthOf(refusing.requests.splice(0), 2)
    }
  })
})

describe.each(wires)("what a version does not know survives on the %s wire", (wire) => {
  const body = {
    data: [{
      id: "1",
      text: "a",
      edit_history_post_ids: ["1"],
      brand_new: { tweets: 1, posts: 2 },
      public_metrics: { ...counts(), new_count: 1 }
    }],
    includes: { gadgets: [{ post_id: "kept" }], users: [{ id: "1", name: "A", username: "a", aura: 3 }] },
    errors: [{ title: "t", brand_new: true }],
    meta: { result_count: 1, brand_new: "m" },
    brand_new: null
  }

  test("in the response and the dictionary")(function*() {
    const translated = Wire.x202602.fromNeutral(envelope(getUsersPosts.definition.result))(body)
    const service = make(() => ({ body: wire === "neutral" ? body : translated }))
    const call = getUsersPosts({ id: "1", post_fields: [{ unlisted: "brand_new" }, "public_metrics"] })
    const response = yield* Effect.provide(call, service.layer({ ...secrets, wire }))
    assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(response)), body)
    assert.deepStrictEqual<unknown>(response.data?.[0]?.brand_new, { tweets: 1, posts: 2 })
    const dictionary = yield* Effect.provide(
      getUsersPosts.as("dictionary")({ id: "1" }),
      service.layer({ ...secrets, wire })
    )
    assert.deepStrictEqual<unknown>(dictionary, body)

    // Printing is short: what is guaranteed, and what went wrong.
    const guaranteed = {
      data: [{ id: "1", text: "a", edit_history_post_ids: ["1"] }],
      errors: body.errors,
      meta: body.meta
    }
    assert.strictEqual(String(response), JSON.stringify(guaranteed))
    for (const text of [inspect(response), inspect(response, { depth: 9 })]) {
      assert.match(text, /^Response \{/)
      for (const hidden of ["public_metrics", "gadgets", "aura"]) assert.notInclude(text, hidden)
    }
  })
})

function counts() {
  return { bookmark_count: 0, impression_count: 0, like_count: 0, reply_count: 0, repost_count: 0 }
}
