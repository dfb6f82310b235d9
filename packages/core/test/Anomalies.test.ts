import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Metric } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import * as Telemetry from "../src/client/Telemetry.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as Metrics from "../src/runtime/Metrics.ts"
import type { Definition } from "../src/schema/Definition.ts"
import * as ResponseDecoder from "../src/wire/ResponseDecoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import {
  all,
  type Answer,
  assertNoSecret,
  fails,
  make,
  secrets,
  type Settings,
  type Untyped
} from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { createDirectMessage, createPost, getPost, getRecentPostsCount, like, searchRecentPosts } = catalogue

const decode = (operation: { readonly definition: Definition }, body: unknown, wire: Wire.Wire["name"] = "neutral") => {
  const response = ResponseDecoder.decode(operation.definition, Wire.named[wire], JSON.stringify(body), {})
  if (response instanceof ResponseDecoder.Undecodable) throw new Error(response.reason)
  return response
}

const post = { id: "20", text: "just", edit_history_post_ids: ["20"] }
const metrics = {
  bookmark_count: 0,
  impression_count: 1,
  like_count: 2,
  quote_count: 3,
  reply_count: 4,
  repost_count: 5
}

describe("what the service's documents do not require", () => {
  const connection = { endpoint_name: "sample_stream", connected_at: "2026-02-01T00:00:00.000Z" }

  it.each<readonly [name: keyof typeof catalogue, data: unknown, anomalies: ReadonlyArray<string>]>([
    ["getConnections", [connection, { ...connection, id: "1" }], []],
    ["getTrends", [{ post_count: 2 }, { trend_name: "#silk", post_count: 1 }], []],
    ["createMediaSubtitles", { id: "1", associated_subtitles: [{ id: "2", language_code: "EN" }] }, []],
    ["createMediaSubtitles", { id: "1", associated_subtitles: { id: "2", language_code: "EN" } }, []],
    ["getStreamRules", [{ id: "1", tag: "a" }, { id: "2", value: "cat" }], ["data[0].value"]]
  ])("may be missing: %s", (name, data, anomalies) => {
    const response = decode(catalogue[name], { data }, "x-2026-02")
    assert.deepStrictEqual(response.data, data)
    assert.deepStrictEqual(response.anomalies.map(({ path }) => path), anomalies)
  })
})

describe("a malformed part", () => {
  it("is left out and listed; the rest of the page stays", () => {
    const { like_count: _, ...rest } = metrics
    const body = {
      data: [
        { ...post, public_metrics: { ...metrics, like_count: "2" }, brand_new: [1] },
        { ...post, id: "21", lang: 7, entities: { hashtags: [{ start: 0, end: 1, tag: "a" }, "b"] } }
      ],
      includes: {
        users: [{ id: "1", name: "Ada", username: "ada" }, { name: "nobody" }, 5],
        media: [{ media_key: "3_1", public_metrics: [] }]
      },
      errors: [{ title: "t" }, 1],
      meta: { result_count: "2", next_token: "t" }
    }
    for (const wire of ["neutral", "x"] as const) {
      const response = decode(searchRecentPosts, body, wire)
      assert.deepStrictEqual(
        response.body as unknown,
        {
          data: [
            { ...post, public_metrics: rest, brand_new: [1] },
            { ...post, id: "21", entities: { hashtags: [{ start: 0, end: 1, tag: "a" }] } }
          ],
          includes: { users: [{ id: "1", name: "Ada", username: "ada" }], media: [{ media_key: "3_1" }] },
          errors: [{ title: "t" }],
          meta: { next_token: "t" }
        }
      )
      assert.deepStrictEqual(
        response.anomalies.map(({ expected, glimpse, path }) => [path, expected, glimpse]),
        [
          ["data[0].public_metrics.like_count", "an integer", `"2"`],
          ["data[1].entities.hashtags[1]", "an object", `"b"`],
          ["data[1].lang", "a string", "7"],
          ["includes.users[1].id", "a string", undefined],
          ["includes.users[2]", "an object", "5"],
          ["includes.media[0].public_metrics", "an object", "[]"],
          ["errors[1]", "an object", "1"],
          ["meta.result_count", "an integer", `"2"`]
        ]
      )
    }
  })

  it("is told when it is missing, where something promises it", () => {
    const { reply_count: _, ...rest } = metrics
    const response = decode(getPost, { data: { ...post, public_metrics: rest, geo: { coordinates: {} } } })
    assert.deepStrictEqual(response.data, { ...post, public_metrics: rest, geo: { coordinates: {} } })
    assert.deepStrictEqual(response.anomalies.map(({ glimpse, path }) => [path, glimpse]), [
      ["data.geo.coordinates.type", undefined],
      ["data.geo.coordinates.coordinates", undefined],
      ["data.public_metrics.reply_count", undefined]
    ])
  })

  it("takes numbers with it that mean nothing without it", () => {
    const geo = { coordinates: { type: "Point", coordinates: [1, "2"] } }
    const response = decode(getPost, { data: { ...post, geo, display_text_range: [0, null] } })
    assert.deepStrictEqual(response.data, { ...post, geo: { coordinates: { type: "Point" } } })
    assert.deepStrictEqual(response.anomalies.map(({ path }) => path), [
      "data.display_text_range[1]",
      "data.geo.coordinates.coordinates[1]"
    ])
    const bucket = { start: "a", end: "b", post_count: 1 }
    const counts = decode(getRecentPostsCount, { data: [bucket, { ...bucket, post_count: "1" }] })
    assert.deepStrictEqual(counts.data, [bucket])
    assert.deepStrictEqual(counts.anomalies.map(({ path }) => path), ["data[1].post_count"])
  })

  it("is not listed more often than a person would read", () => {
    const response = decode(searchRecentPosts, { data: [{ ...post, edit_history_post_ids: Array(5_000).fill(1) }] })
    assert.lengthOf(response.anomalies, 1_000)
    assert.deepStrictEqual(response.data, [{ ...post, edit_history_post_ids: [] }])
  })

  it.each(all)("of any kind leaves the identifiers: %s", (_, { definition }) => {
    const { result } = definition
    if (!("model" in result)) return
    const { identifier } = result.model
    const item = (value: unknown) => ({
      ...Object.fromEntries(Object.keys(result.model.fields).map((name) => [name, value])),
      [identifier]: "1"
    })
    const body = (value: unknown) => ({ data: result._tag === "Many" ? [item(value), item(value)] : item(value) })
    for (const value of [null, [null], { "": null }]) {
      const response = decode({ definition }, body(value))
      const [first] = result._tag === "Many" ? response.data as Array<unknown> : [response.data]
      assert.include(first, { [identifier]: "1" })
      if (value === null) assert.isEmpty(response.anomalies)
    }
    // None of these is of any field's type.
    const response = decode({ definition }, body("\u0000".length / 2))
    assert.isNotEmpty(response.anomalies)
  })
})

describe("null", () => {
  it("is absence, but for what identifies", () => {
    const body = {
      data: [{ ...post, public_metrics: { ...metrics, quote_count: null }, edit_controls: null, lang: null }],
      includes: { users: null, polls: [null] },
      errors: null,
      meta: { next_token: null, result_count: null }
    }
    const response = decode(searchRecentPosts, body)
    const { quote_count: _, ...rest } = metrics
    assert.deepStrictEqual(response.body, {
      data: [{ ...post, public_metrics: rest }],
      includes: { polls: [] },
      meta: {}
    })
    assert.isEmpty(response.anomalies)
    assert.isUndefined(response.meta.next_token)
    assert.throws(() => decode(searchRecentPosts, { data: [null] }))
    assert.throws(() => decode(searchRecentPosts, { data: [{ ...post, id: null }] }), "data[0].id is not a string")
  })
})

describe("a call", () => {
  const malformed = { data: { ...post, lang: 1, source: [secrets.bearerToken] } }

  const serviceOf = (answer: Answer) => make(() => answer)

  test("returns what is left in every form but the raw one")(function*() {
    const service = serviceOf({ body: malformed })
    const call = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, service.layer())
    const response = yield* call(getPost({ id: "20" }))
    assert.deepStrictEqual(response.data, post as never)
    assert.deepStrictEqual(response.anomalies, [
      { path: "data.lang", expected: "a string", glimpse: "1" },
      { path: "data.source", expected: "a string", glimpse: `["<redacted>"]` }
    ])
    assertNoSecret(response)
    assert.include(String(response), "data.lang")
    assert.deepStrictEqual(yield* call(getPost.as("dictionary")({ id: "20" })), { data: post } as never)
    const raw = yield* call(getPost.as("raw")({ id: "20" }))
    assert.deepStrictEqual(yield* raw.json, malformed)
  })

  test("cuts a glimpse after the credentials are gone")(function*() {
    const lang = [`${"x".repeat(50)}${secrets.bearerToken}`]
    const service = serviceOf({ body: { data: { ...post, lang } } })
    const { anomalies } = yield* Effect.provide(getPost({ id: "20" }), service.layer())
    assert.strictEqual(anomalies[0]!.glimpse, `["${"x".repeat(50)}<reda...`)
  })

  test("fails with UndecodableResponse where the setting is strict")(function*() {
    const settings: Settings = { ...secrets, verify: "strict" }
    const call = (body: unknown) => Effect.provide(getPost({ id: "20" }), serviceOf({ body }).layer(settings))
    const error = yield* fails(call(malformed), Errors.UndecodableResponse)
    assert.include(error.reason, "data.lang is not a string")
    assertNoSecret(error)
    assert.deepStrictEqual((yield* call({ data: { ...post, lang: null } })).data, post as never)
  })

  test("counts anomalies and warns of each operation and path once")(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const { like_count: _, ...public_metrics } = metrics
    const data = [{ ...post, lang: 1, public_metrics }, { ...post, lang: ["private words"] }]
    const counter = Metrics.anomalies.of({
      "postwire.operation": "searchRecentPosts",
      "postwire.anomaly.path": "data[].lang"
    })
    // A process has one of each metric.
    const before = (yield* Metric.value(counter)).count
    const service = serviceOf({ body: { data } })
    const calls = Effect.forEach([1, 2, 3], () => searchRecentPosts({ query: "a" }), { discard: true })
    yield* Effect.provide(calls, service.layer(secrets, Telemetry.layer)).pipe(
      Effect.provide(Logger.layer([logger]))
    )
    assert.deepStrictEqual(lines, [
      "searchRecentPosts: data[].lang is not a string and was omitted (reported once)",
      "searchRecentPosts: data[].public_metrics.like_count is missing, an integer was expected (reported once)"
    ])
    assert.strictEqual((yield* Metric.value(counter)).count - before, 6)
  })

  test("that was accepted and whose answer cannot be read is OutcomeUnknown, with the status")(function*() {
    const failing = (
      operation: unknown,
      parameters: object,
      answer: (request: { readonly path: string }) => Answer
    ) => Effect.flip(Effect.provide((operation as Untyped)(parameters), make(answer).layer()))
    const creates = [
      [createPost, { text: "a" }],
      [createDirectMessage, { participant_id: "1", text: "a" }]
    ] as const
    for (const [operation, parameters] of creates) {
      for (const body of ["", "<html>", "{}", `{"data":{"id":1,"dm_event_id":1}}`]) {
        const error = yield* failing(operation, parameters, () => ({ status: 201, body }))
        assert.instanceOf(error, Errors.OutcomeUnknown)
        assert.strictEqual(error.status, 201)
        assert.include(error.message, "accepted")
      }
    }
    const service = serviceOf({ status: 201, body: { data: { id: "1" } } })
    const created = yield* Effect.provide(createPost({ text: "a" }), service.layer())
    assert.strictEqual(created.data?.id, "1")
    assert.deepStrictEqual(created.anomalies.map(({ path }) => path), ["data.text"])
    const me = { data: { id: "1" } }
    const error = yield* failing(like, { post_id: "1" }, ({ path }) => ({ body: path === "/2/users/me" ? me : "" }))
    assert.instanceOf(error, Errors.UndecodableResponse)
  })
})
