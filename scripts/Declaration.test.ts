import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { x } from "../packages/core/src/wire/Wire.ts"
import * as Asking from "./conformance/Asking.ts"
import * as Reading from "./conformance/Reading.ts"
import { openApi } from "./docs/OpenApi.ts"
import * as Declaration from "./drift/Declaration.ts"
import { documentFacts } from "./drift/DocumentFacts.ts"
import * as DriftReport from "./drift/DriftReport.ts"
import { endpointsOf } from "./drift/Endpoint.ts"
import * as OpenApiDocument from "./drift/OpenApiDocument.ts"
import { keyOf } from "./drift/ServiceFacts.ts"

const root = new URL("..", import.meta.url)
const text = (path: string) => readFileSync(new URL(path, root), "utf8")
const read = (json: unknown) => Result.getOrThrow(OpenApiDocument.read(json))

const schema = (type: string, more: object = {}) => ({ schema: { type, ...more } })
const answer = (data: object, meta: object = {}) => ({
  200: {
    content: {
      "application/json": {
        schema: { type: "object", properties: { data, meta: { type: "object", properties: meta } } }
      }
    }
  }
})
const security = [{ BearerToken: [] }, { UserToken: ["tweet.read", "users.read"] }]
const inPath = { name: "tweet_id", in: "path", required: true, ...schema("string", { pattern: "^[0-9]{1,19}$" }) }

/** New operations: a listing of posts, and a change with a body and a result of its own. */
const added = {
  "/2/tweets/{tweet_id}/echoes": {
    get: {
      operationId: "getTweetEchoes",
      parameters: [
        inPath,
        { name: "tone", in: "query", ...schema("string", { enum: ["high", "low"] }) },
        { name: "max_results", in: "query", ...schema("integer", { minimum: 1, maximum: 50 }) },
        { name: "start_time", in: "query", ...schema("string", { format: "date-time" }) },
        {
          name: "ids",
          in: "query",
          style: "form",
          explode: false,
          schema: {
            type: "array",
            maxItems: 10,
            items: { type: "string", pattern: "^[0-9]{1,19}$" }
          }
        },
        { name: "pagination_token", in: "query", ...schema("string") }
      ],
      responses: answer({ type: "array", items: { $ref: "#/components/schemas/Post" } }, {
        next_token: { type: "string" }
      }),
      security
    },
    post: {
      operationId: "createTweetEcho",
      parameters: [inPath],
      requestBody: {
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["text"],
              properties: {
                text: { type: "string", maxLength: 20 },
                loud: { type: "boolean" },
                user_ids: { type: "array", items: { type: "string", pattern: "^[0-9]{1,19}$" } }
              }
            }
          }
        }
      },
      responses: answer({
        type: "object",
        required: ["echo_id"],
        properties: {
          echo_id: { type: "string" },
          retweet_count: { type: "integer" },
          parts: { type: "array", items: { type: "object", properties: { "x-y": { type: "string" } } } }
        }
      }),
      security: [{ OAuth1: [] }, { UserToken: ["tweet.write"] }]
    }
  }
}

/** A document of the catalogue of which some things have changed. */
const changed = () => {
  const document = JSON.parse(JSON.stringify(openApi("x")))
  Object.assign(document.paths, structuredClone(added))
  document.paths["/2/users/me"].get.parameters.push({ name: "brief", in: "query", ...schema("boolean") })
  document.components.parameters.post_fields.schema.items.anyOf[0].enum.push("tone")
  delete document.components.schemas.Post.properties.lang
  return document
}

/** The generated declarations, loaded from a folder outside of git. */
const generated = async (document: OpenApiDocument.OpenApiDocument, name: string) => {
  const operations = document.operations.filter(({ id }) => id.includes("Echo"))
  const module = Declaration.moduleOf(document, operations, x)
  const folder = new URL(`node_modules/.cache/declarations/${name}/`, root)
  mkdirSync(folder, { recursive: true })
  const file = fileURLToPath(new URL("New.ts", folder))
  writeFileSync(file, module.replaceAll(`"../`, `"../../../../packages/core/src/`))
  const loaded: Readonly<Record<string, { readonly definition: never }>> = await import(file)
  return { file, module, folder, endpoints: endpointsOf(Object.values(loaded), x) }
}

describe("a document with new operations, a new parameter and value, and without a member", () => {
  it("is reported, each change by its name, and the operations are counted", () => {
    const report = Result.getOrThrow(DriftReport.make(changed(), "x"))
    const lines = DriftReport.lines(report, true).join("\n")
    for (
      const line of [
        "GET /2/tweets/{tweet_id}/echoes",
        "POST /2/tweets/{tweet_id}/echoes",
        "query brief: only in the document",
        "query post.fields=tone: only in the document",
        "result post.lang: not in the document"
      ]
    ) assert.include(lines, line)
    const { length } = read(changed()).operations
    assert.include(lines, `${length - 2} of ${length} operations of the document are declared`)
  })

  it("has its operations declared as it describes them: bodies are read whole, and calls violate nothing", async () => {
    const document = read(changed())
    const { endpoints } = await generated(document, "read")
    const facts = new Map(documentFacts(document).routes.map((route) => [route.key, route]))
    assert.deepStrictEqual(endpoints.map(keyOf), ["GET /2/tweets/{}/echoes", "POST /2/tweets/{}/echoes"])
    for (const route of Reading.shared(document, x, endpoints)) {
      const bodies = Array.from({ length: 20 }, (_, i) => Reading.bodyOf(document, route, 1, i))
      const { lost, reasons, refused } = Reading.measure(route, x, bodies)
      assert.deepStrictEqual([refused, lost], [0, 0], JSON.stringify(reasons))
    }
    for (const endpoint of endpoints) {
      const { refused, violations } = Asking.measure(endpoint, facts.get(keyOf(endpoint)), x, { calls: 20, seed: 1 })
      assert.deepStrictEqual([refused, violations], [0, []])
    }
  })

  it("has them declared with their parameters, credentials, pages and results", async () => {
    const { endpoints: [list, create] } = await generated(read(changed()), "look")
    const { paging, path, query, result, scopes, userAuth } = list!.definition
    assert.deepStrictEqual([Object.keys(path!), Object.keys(query!)], [
      ["post_id"],
      ["tone", "max_results", "start_time", "ids", "pagination_token"]
    ])
    assert.deepStrictEqual([paging, result._tag, scopes, userAuth], [
      { token: "pagination_token", directions: "forward" },
      "Many",
      ["post.read", "users.read"],
      undefined
    ])
    assert.deepInclude(create!.definition, {
      name: "createPostEcho",
      userAuth: true,
      effect: "create",
      status: 200,
      price: "unknown"
    })
  })

  it("changes the files that list modules, operations and handlers", async () => {
    const { module } = await generated(read(changed()), "files")
    const files = Declaration.changesOf(module, text)
    const lines = (path: string) => {
      const before = new Set(text(path).split("\n"))
      return files.get(path)!.split("\n").filter((line) => !before.has(line)).map((line) => line.trim())
    }
    assert.deepStrictEqual(lines("packages/core/src/Catalogue.ts"), [
      `import * as New from "./operations/New.ts"`,
      "...New,",
      "New,"
    ])
    assert.deepStrictEqual(lines("packages/core/src/index.ts"), [`export * as New from "./operations/New.ts"`])
    for (const path of ["packages/sandbox/src/handlers/index.ts", "scripts/docs/Moving.ts"]) {
      for (const name of ["getPostEchoes", "createPostEcho"]) assert.include(lines(path).join("\n"), `\n${name}: `)
    }
  })

  it("has declarations that compile", async () => {
    if (process.env["POSTWIRE_LONG"] !== "1") return
    const { folder } = await generated(read(changed()), "types")
    writeFileSync(
      new URL("tsconfig.json", folder),
      JSON.stringify({
        extends: fileURLToPath(new URL("tsconfig.base.json", root)),
        compilerOptions: { composite: false, incremental: false, noEmit: true }
      })
    )
    const compiler = execFileSync("effect-tsgo", ["get-exe-path"], { encoding: "utf8" }).trim()
    execFileSync(compiler, ["--project", fileURLToPath(folder)], { encoding: "utf8" })
    rmSync(folder, { recursive: true })
  }, 300_000)

  it("has values that stay text, also in the example of a comment", () => {
    const changes = changed()
    const [, tone] = changes.paths["/2/tweets/{tweet_id}/echoes"].get.parameters
    Object.assign(tone, { required: true, schema: { type: "string", enum: ["*/ process.exit() /*"] } })
    const document = read(changes)
    const operations = document.operations.filter(({ id }) => id === "getTweetEchoes")
    assert.notInclude(Declaration.moduleOf(document, operations, x), "*/ process")
  })

  it("is refused if a name of it could be code", () => {
    const document = changed()
    document.paths["/2/tweets/{tweet_id}/echoes"].get.operationId = "getEchoes(); process.exit()//"
    const { operations, ...rest } = read(document)
    assert.throws(() => Declaration.moduleOf({ operations, ...rest }, operations, x), /cannot be declared/)
  })
})
