import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { neutral } from "../packages/core/src/wire/Wire.ts"
import * as Asking from "./conformance/Asking.ts"
import { explanations } from "./conformance/Explained.ts"
import * as Reading from "./conformance/Reading.ts"
import * as Validity from "./conformance/Validity.ts"
import { openApi } from "./docs/OpenApi.ts"
import { documentFacts } from "./drift/DocumentFacts.ts"
import { endpoints } from "./drift/Endpoint.ts"
import { read } from "./drift/OpenApiDocument.ts"
import { keyOf } from "./drift/ServiceFacts.ts"

const text = JSON.stringify(openApi("neutral"), null, 2)
const service = (source: string) => Result.getOrThrow(read(JSON.parse(source)))

/** What the client makes of bodies that a document allows. */
const readings = (source: string, bodies: number, isWanted = (_name: string) => true) => {
  const document = service(source)
  return Reading.shared(document, neutral).filter(([{ definition }]) => isWanted(definition.name)).map((route) =>
    Reading.measure(
      route,
      neutral,
      Array.from({ length: bodies }, (_, i) => Reading.bodyOf(document, route, 1, i))
    )
  )
}

const askings = (source: string, calls: number) => {
  const facts = new Map(documentFacts(service(source)).routes.map((route) => [route.key, route]))
  return endpoints(neutral).map((endpoint) =>
    Asking.measure(endpoint, facts.get(keyOf(endpoint)), neutral, { calls, seed: 1 })
  )
}

describe("bodies by the document of the catalogue", () => {
  it("are valid against it, the same for a seed, and not all alike", async () => {
    const document = service(text)
    const validate = Validity.make(text, "test")
    const [route] = Reading.shared(document, neutral).filter(([{ definition }]) => definition.name === "getPosts")
    const bodies = Array.from({ length: 10 }, (_, i) => Reading.bodyOf(document, route!, 1, i))
    for (const body of bodies) assert.deepStrictEqual(await validate(route![1], body), [])
    assert.isNotEmpty(await validate(route![1], { data: [{ id: 1 }] }))
    assert.deepStrictEqual(bodies[3], Reading.bodyOf(document, route!, 1, 3))
    assert.strictEqual(new Set(bodies.map((body) => JSON.stringify(body))).size, 10)
  })

  it("are all read, and nothing in them is lost", () => {
    const found = readings(text, 3)
    assert.isAbove(found.length, 50)
    assert.deepStrictEqual(found.filter(({ lost, refused }) => lost + refused > 0), [])
  })

  it("have null where a document does not allow it only when that is asked for", () => {
    const document = service(text)
    const [route] = Reading.shared(document, neutral).filter(([{ definition }]) => definition.name === "getPost")
    const nulls = (chance: number) =>
      Array.from({ length: 20 }, (_, i) => JSON.stringify(Reading.bodyOf(document, route!, 1, i, chance)))
        .filter((body) => /"(lang|created_at|geo)":null/.test(body)).length
    assert.strictEqual(nulls(0), 0)
    assert.isAbove(nulls(0.5), 0)
  })

  it("that are of another form than the client knows are read without that, and it is told where", () => {
    const other = text.replace(`"lang": {\n            "type": "string"`, `"lang": {\n            "type": "integer"`)
    assert.notStrictEqual(other, text)
    const [found] = readings(other, 10, (name) => name === "getPost")
    assert.strictEqual(found!.refused, 0)
    assert.isAbove(found!.lost, 0)
    assert.isAbove(found!.anomalous, 0)
    assert.deepInclude(found!.reasons.map(({ reason }) => reason), "anomaly: data.lang: a string")
  })
})

describe("what a body has and its result lacks", () => {
  it.each<readonly [what: string, sent: unknown, got: unknown, lost: ReadonlyArray<string>]>([
    ["is nothing where both are the same", { a: [{ b: 1 }], c: null }, { a: [{ b: 1 }], c: null }, []],
    ["may have its neutral name", { tweet_count: 1, type: "retweeted" }, { post_count: 1, type: "reposted" }, []],
    ["may be null", { a: null, b: [null] }, { b: [undefined] }, []],
    ["is told with its place", { a: [{ b: 1 }, { b: 2 }], c: 3 }, { a: [{ b: 1 }, {}] }, ["a[].b", "c"]],
    ["may be a value", { a: "1" }, { a: 1 }, ["a"]],
    ["may be an item", { a: [1, 2] }, { a: [1] }, ["a"]]
  ])("%s", (_, sent, got, lost) => {
    assert.deepStrictEqual(Reading.missingOf(sent, got), lost)
  })
})

describe("a finding is explained by an accepted difference", () => {
  const { definition } = endpoints(neutral).find(({ definition }) => definition.name === "getPost")!
  const explains = explanations(
    [["query", "max_results maximum"], ["body", "text required"], ["result", "data.lang type"], ["result", "post.geo"]]
      .map(([aspect, name], i) => ({
        aspect: aspect as "query",
        name: name!,
        change: "differs",
        effect: "missed",
        operations: [i === 3 ? "post" : "getPost"],
        reason: ""
      }))
  )
  it.each<readonly [finding: string, isExplained: boolean]>([
    ["query max_results maximum", true],
    ["query max_results minimum", false],
    ["body text is missing", true],
    ["lost: data.lang", true],
    ["anomaly: data.lang: a string", true],
    ["refused: data.geo is not an object", true],
    ["lost: data.source", false]
  ])("%s: %s", (finding, isExplained) => {
    assert.strictEqual(explains(definition, finding), isExplained)
  })
})

describe("calls", () => {
  it("ask only for what the document of the catalogue knows", () => {
    assert.deepStrictEqual(askings(text, 10).filter(({ refused, violating }) => refused + violating > 0), [])
  })

  it("that a document does not know are told", () => {
    const document = JSON.parse(text)
    const all = document.paths["/2/posts/search/all"].get.parameters
    all.find(({ name }: { readonly name: string }) => name === "max_results").schema.maximum = 20
    all.find(({ name }: { readonly name: string }) => name === "until_id").name = "until"
    const { properties } = document.paths["/2/posts"].post.requestBody.content["application/json"].schema
    delete properties.quote_post_id
    delete document.paths["/2/users/me"]
    const values = document.components.parameters.post_fields.schema.items.anyOf[0].enum
    values.splice(values.indexOf("lang"), 1)
    const found = askings(JSON.stringify(document), 40)
    const of = (operation: string) =>
      found.find((asking) => asking.operation === operation)!.violations.map(([violation]) => violation).sort()
    assert.deepStrictEqual(of("searchAllPosts"), [
      "query max_results maximum",
      "query post.fields=lang",
      "query until_id"
    ])
    assert.deepStrictEqual(of("createPost"), ["body quote_post_id"])
    assert.deepStrictEqual(of("getMe"), ["the route"])
    assert.deepStrictEqual(of("like"), [])
  })
})
