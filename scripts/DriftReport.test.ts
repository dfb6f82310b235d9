import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { neutral } from "../packages/core/src/wire/Wire.ts"
import { openApi } from "./docs/OpenApi.ts"
import { catalogueFacts } from "./drift/CatalogueFacts.ts"
import type { Accepted, Drift } from "./drift/Drift.ts"
import * as DriftReport from "./drift/DriftReport.ts"
import * as JsonSchema from "./drift/JsonSchema.ts"
import * as OpenApiDocument from "./drift/OpenApiDocument.ts"

/** The catalogue as a document: what differs from it is what a test has changed. */
const text = JSON.stringify(openApi("neutral"), null, 2)

/** What JSON Schema says in another way than the declarations: one attachment, and members that need each other. */
const known: ReadonlyArray<Accepted> = [
  { difference: "body *attachments maxItems", reason: "a message has one attachment" },
  { difference: "body * required", change: "differs", reason: "said by conditions" }
]

const catalogue = catalogueFacts(neutral)

/** Some of its routes; the others have nothing that these lack. */
const some = ["/2/posts", "/2/posts/{id}", "/2/posts/search/all", "/2/posts/search/recent", "/2/users", "/2/users/me"]
const routes = catalogue.routes.filter(({ key }) => some.some((path) => key.endsWith(` ${path.replace("{id}", "{}")}`)))

type Json = { [name: string]: Json } & Array<Json>

const report = (
  change: (document: Json) => void = () => {},
  accepted: ReadonlyArray<Accepted> = known
): DriftReport.DriftReport => {
  const document = JSON.parse(text)
  document.paths = Object.fromEntries(some.map((path) => [path, document.paths[path]]))
  change(document)
  return DriftReport.hold(
    { ...catalogue, routes },
    Result.getOrThrow(OpenApiDocument.read(document)),
    "neutral",
    accepted
  )
}

const brief = ({ aspect, catalogue, change, document, effect, name, operations }: Drift) => [
  effect,
  change,
  `${aspect} ${name}`,
  ...document === undefined ? [] : [document, catalogue],
  operations.length > 2 ? true : operations.join()
]

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const parameter = (document: Json, path: string, name: string): Json =>
  document["paths"]![path]!["get"]!["parameters"]!.find((given) => String(given["name"]) === name) ?? assert.fail(name)

const post = (document: Json): Json => document["components"]!["schemas"]!["Post"]!["properties"]!

describe("the catalogue against a document", () => {
  it("that was made of it", () => {
    const document = Result.getOrThrow(OpenApiDocument.read(JSON.parse(text)))
    const { accepted, compared, drifts, stale, unknown } = DriftReport.hold(catalogue, document, "neutral", known)
    assert.deepStrictEqual([drifts, stale, unknown], [[], [], []])
    assert.isAbove(accepted.length, 0)
    assert.isAbove(compared, 40)
  })

  const cases: ReadonlyArray<
    readonly [
      what: string,
      change: (document: Json) => void,
      ...found: ReadonlyArray<ReadonlyArray<unknown>>
    ]
  > = [
    ["has no such route", (document) => {
      delete document["paths"]!["/2/users/me"]
    }, ["refused", "gone", "route GET /2/users/me", "getMe"]],
    [
      "has a parameter more",
      (document) => {
        document["paths"]!["/2/users"]!["get"]!["parameters"]!.push(
          json({ name: "tone", in: "query", schema: { type: "string" } }),
          json({ name: "key", in: "query", required: true, schema: { type: "string" } })
        )
      },
      ["refused", "new", "query key", "getUsers"],
      ["missed", "new", "query tone", "getUsers"]
    ],
    [
      "has a parameter less",
      (document) => {
        parameter(document, "/2/posts/search/recent", "since_id")["name"] = json("since")
      },
      ["refused", "gone", "query since_id", "searchRecentPosts"],
      ["missed", "new", "query since", "searchRecentPosts"]
    ],
    [
      "has a value less and one more",
      (document) => {
        const values =
          document["components"]!["parameters"]!["post_fields"]!["schema"]!["items"]!["anyOf"]![0]!["enum"]!
        values.splice(values.indexOf(json("lang")), 1, json("language"))
      },
      ["refused", "gone", "query post.fields=lang", true],
      ["missed", "new", "query post.fields=language", true]
    ],
    [
      "has other bounds",
      (document) => {
        const { schema } = parameter(document, "/2/posts/search/all", "max_results")
        schema!["minimum"] = json(5)
        schema!["maximum"] = json(100)
      },
      ["refused", "differs", "query max_results maximum", "100", "500", "searchAllPosts"],
      [
        "missed",
        "differs",
        "query max_results minimum",
        "5",
        "10",
        "searchAllPosts"
      ]
    ],
    [
      "has another pattern and no bound",
      (document) => {
        const { schema } = parameter(document, "/2/posts", "ids")
        schema!["items"]!["pattern"] = json("^[0-9]+$")
        delete schema!["maxItems"]
      },
      ["refused", "differs", "query ids pattern", "^[0-9]+$", "^[0-9]{1,19}$", "getPosts"],
      [
        "missed",
        "differs",
        "query ids maxItems",
        "none",
        "100",
        "getPosts"
      ]
    ],
    [
      "takes other credentials",
      (document) => {
        const operation = document["paths"]!["/2/posts"]!["post"]!
        operation["security"] = json([{ UserToken: ["post.read", "post.write", "trust.write"] }])
      },
      ["refused", "gone", "credential oauth1", "createPost"],
      ["refused", "new", "scope trust.write", "createPost"],
      [
        "missed",
        "gone",
        "scope users.read",
        "createPost"
      ]
    ],
    [
      "takes another body",
      (document) => {
        const { properties } =
          document["paths"]!["/2/posts"]!["post"]!["requestBody"]!["content"]!["application/json"]!["schema"]!
        delete properties!["quote_post_id"]
        properties!["brand_new"] = json({ type: "string" })
      },
      ["refused", "gone", "body quote_post_id", "createPost"],
      ["missed", "new", "body brand_new", "createPost"]
    ],
    [
      "answers otherwise",
      (document) => {
        const properties = post(document)
        delete properties["lang"]
        properties["text"] = json({ type: "object", properties: { plain: { type: "string" } } })
        properties["tone"] = json({ type: "string" })
        delete properties["withheld"]!["required"]
      },
      ["misread", "gone", "result post.lang", "post"],
      [
        "misread",
        "differs",
        "result post.text type",
        "object",
        "string",
        "post"
      ],
      ["misread", "differs", "result post.withheld.copyright required", "none", "true", "post"],
      [
        "misread",
        "differs",
        "result post.withheld.country_codes required",
        "none",
        "true",
        "post"
      ],
      ["missed", "new", "result post.tone", "post"]
    ],
    [
      "answers with an object of which it says nothing",
      (document) => {
        post(document)["public_metrics"] = json({ type: "object" })
      },
      ...["bookmark", "impression", "like", "quote", "reply", "repost"].map((name) => [
        "misread",
        "gone",
        `result post.public_metrics.${name}_count`,
        "post"
      ])
    ]
  ]

  for (const [what, change, ...found] of cases) {
    it(`that ${what}`, () => assert.deepStrictEqual(report(change).drifts.map(brief), found))
  }

  it("tells the operations that only the document has", () => {
    const { unknown } = report((document) => {
      document["paths"]!["/2/news/{id}"] = json({ get: { responses: {} } })
    })
    assert.deepStrictEqual(unknown, ["GET /2/news/{id}"])
  })

  it("does not care what the parts of a path are called", () => {
    const { drifts } = report((document) => {
      const paths = document["paths"]!
      paths["/2/posts/{post_id}"] = paths["/2/posts/{id}"]!
      for (const operation of Object.values(paths["/2/posts/{post_id}"])) {
        for (const parameter of operation["parameters"] ?? []) {
          if (String(parameter["name"]) === "id") parameter["name"] = json("post_id")
        }
      }
      delete paths["/2/posts/{id}"]
    })
    assert.deepStrictEqual(drifts, [])
  })
})

describe("an accepted difference", () => {
  const withoutLang = (document: Json) => {
    delete post(document)["lang"]
    delete document["paths"]!["/2/users/me"]
  }
  const reason = "of the test"

  it.each<readonly [what: string, entry: Omit<Accepted, "reason">, left: number]>([
    ["is no longer told", { difference: "result post.lang" }, 1],
    ["may stand for many", { difference: "*" }, 0],
    ["may be for some operations", { difference: "*", operations: ["get*"] }, 1],
    ["may be of one change", { difference: "result post.lang", change: "new" }, 2],
    ["has no other wildcards", { difference: "result post.l.ng" }, 2],
    ["may be of another wire", { difference: "*", wire: "x" }, 2]
  ])("%s", (_, entry, left) => {
    assert.lengthOf(report(withoutLang, [...known, { ...entry, reason }]).drifts, left)
  })

  it("is told with its reason, or as stale where it is not there", () => {
    const accepted = [...known, { difference: "result post.l*", reason }, { difference: "result user.*", reason }]
    const found = report(withoutLang, accepted)
    assert.deepStrictEqual(found.stale.at(-1), { difference: "result user.*", reason })
    assert.notInclude(found.stale.map(({ difference }) => difference), "result post.l*")
    const told = DriftReport.lines(found, true)
    assert.includeMembers([...told], ["  of the test", "    result post.lang: not in the document (post)"])
    assert.include(DriftReport.staleLines(found).join("\n"), "stale): result user.*")
  })
})

describe("the lines of a report", () => {
  it("are of 80 columns, the gravest first, and name operations once", () => {
    const found = report((document) => {
      document["paths"] = json({
        "/2/users/me": document["paths"]!["/2/users/me"],
        "/2/news": { get: { responses: {} } }
      })
      post(document)["a_member_with_a_name_that_is_longer_than_anything_that_anybody_would_call_it"] = json({})
    })
    const lines = DriftReport.lines(found)
    for (const line of lines) assert.isAtMost(line.length, 80)
    const headings = lines.filter((line) => /^\S.*\(\d+\)$/.test(line)).map((line) => line.replace(/ \(.*/, ""))
    assert.deepStrictEqual(headings, ["The service may refuse calls", "The service offers more than the client"])
    assert.include(lines.join("\n"), "Only in the document: 1 operation (see --all)")
    assert.include(DriftReport.lines(found, true).join("\n"), "\n  GET /2/news")
  })
})

describe("a document", () => {
  it.each<readonly [value: unknown, reason: RegExp]>([
    [[], /no member openapi/],
    [{ swagger: "2.0", paths: {} }, /no member openapi/],
    [{ openapi: "3.0.0" }, /cannot be read|Missing key/],
    [{ openapi: "3.0.0", paths: { "/2/a": { get: { parameters: [1] } } } }, /parameters/]
  ])("that is none is refused: %j", (value, reason) => {
    assert.match(Result.getOrThrow(Result.flip(OpenApiDocument.read(value))), reason)
  })

  it("is compared on a wire that there is", () => {
    assert.match(
      Result.getOrThrow(Result.flip(DriftReport.make(JSON.parse(text), "y"))),
      /no wire y; there are neutral/
    )
  })
})

describe("a schema", () => {
  const schemas: Readonly<Record<string, JsonSchema.JsonSchema>> = {
    Named: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    Animal: {
      type: "object",
      required: ["kind"],
      properties: { kind: { type: "string" } },
      discriminator: { propertyName: "kind", mapping: { cat: "#/schemas/Cat", lion: "#/schemas/Cat" } }
    },
    Cat: { allOf: [{ $ref: "#/schemas/Animal" }, { $ref: "#/schemas/Named" }, { properties: { lives: {} } }] }
  }
  const view = JsonSchema.viewOf(({ $ref, ...schema }) =>
    $ref === undefined ? schema : schemas[JsonSchema.nameOf($ref)] ?? {}
  )

  it("has the members of its parts, and of the kinds that it is of", () => {
    for (const $ref of ["#/schemas/Cat", "#/schemas/Animal"]) {
      assert.sameMembers([...view({ $ref }).properties.keys()], ["kind", "name", "lives"])
    }
    assert.sameMembers([...view({ $ref: "#/schemas/Cat" }).required], ["kind", "name"])
  })

  it("requires what all of its alternatives require", () => {
    const found = view({
      oneOf: [{ properties: { a: {}, b: {} }, required: ["a", "b"] }, { properties: { a: {}, c: {} }, required: ["a"] }]
    })
    assert.deepStrictEqual([...found.required], ["a"])
    assert.sameMembers([...found.properties.keys()], ["a", "b", "c"])
  })

  it("lists the values of its alternatives, and is no null", () => {
    const found = view({
      anyOf: [{ type: "string", enum: ["b", null, "a"] }, { const: "c" }, { type: ["string", "null"] }]
    })
    assert.deepStrictEqual(found.values, ["b", "a", "c"])
    assert.deepStrictEqual([...found.types], ["string"])
  })
})
