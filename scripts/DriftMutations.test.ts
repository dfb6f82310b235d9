import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { x } from "../packages/core/src/wire/Wire.ts"
import { openApi } from "./docs/OpenApi.ts"
import { catalogueFacts } from "./drift/CatalogueFacts.ts"
import type { Accepted, Drift } from "./drift/Drift.ts"
import * as DriftReport from "./drift/DriftReport.ts"
import * as OpenApiDocument from "./drift/OpenApiDocument.ts"

/** A document in the words of X, made of the catalogue. */
const text = JSON.stringify(openApi("x"), null, 2)

const paths = [
  "/2/connections/{endpoint_id}",
  "/2/media/upload",
  "/2/tweets",
  "/2/tweets/search/stream",
  "/2/users/{id}/bookmarks"
]

const known: ReadonlyArray<Accepted> = [
  { difference: "body * required", change: "differs", reason: "said by conditions" }
]

const catalogue = catalogueFacts(x)
const keys = new Set(paths.map((path) => path.replace(/\{[^}]*\}/g, "{}")))
const routes = catalogue.routes.filter(({ key }) => keys.has(key.slice(key.indexOf(" ") + 1)))

type Json = { [name: string]: Json } & Array<Json>

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const document = (): Json => {
  const whole = JSON.parse(text)
  return { ...whole, paths: Object.fromEntries(paths.map((path) => [path, whole.paths[path]])) }
}

const driftsOf = (changed: Json): ReadonlyArray<Drift> =>
  DriftReport.hold({ ...catalogue, routes }, Result.getOrThrow(OpenApiDocument.read(changed)), "x", known).drifts

type Mutation = readonly [what: string, mutate: (document: Json) => void]

/**
 * Places of which no change matters: what restates other parts, values that a client reads whatever they are, members of
 * an envelope that an operation does not have, and default fields, which a client reads as optional.
 */
const unread = [
  / (allOf|default|description|not|oneOf|securitySchemes|title)\b/,
  /^components schemas .* anyOf/,
  /^components schemas \w+ required [1-9]/,
  /^components schemas Includes properties topics/,
  /^components schemas Meta properties (?!next_token|previous_token)/,
  / responses .* schema properties errors/,
  /(delete|post|upload get) responses .* schema properties (includes|meta)$/,
  /\/2\/tweets get responses .* schema properties meta$/
]

const isUnread = (place: ReadonlyArray<string>): boolean => unread.some((pattern) => pattern.test(place.join(" ")))

const at = (place: ReadonlyArray<string>, what: string, change: (value: Json, parent: Json) => void): Mutation => [
  `${place.join(" ")}: ${what}`,
  (document) => {
    const parent = place.slice(0, -1).reduce((value, key) => value[key]!, document)
    change(parent[place.at(-1)!]!, parent)
  }
]

const remove = (place: ReadonlyArray<string>): Mutation =>
  at(place, "gone", (_, parent) => {
    const name = place.at(-1)!
    if (Array.isArray(parent)) parent.splice(Number(name), 1)
    else delete parent[name]
  })

const rename = (place: ReadonlyArray<string>, other: string): Mutation =>
  at(place, `named ${other}`, (value, parent) => {
    delete parent[place.at(-1)!]
    parent[other] = value
  })

const set = (place: ReadonlyArray<string>, what: string, members: object): Mutation =>
  at(place, what, (value) => void Object.assign(value, json(members)))

const ofOperation = (place: ReadonlyArray<string>): ReadonlyArray<Mutation> => [
  remove(place),
  rename(place, "patch"),
  set(place, "other servers", { servers: [{ url: "https://api.example.com" }] }),
  set(place, "other credentials", { security: [{ UserToken: ["trust.write"] }] }),
  ...["header", "cookie"].map((where) =>
    at(place, `a required ${where}`, (value) => {
      const added = { name: "x-key", in: where, required: true, schema: { type: "string" } }
      value["parameters"] = json([...value["parameters"] ?? [], added])
    })
  )
]

const ofParameter = (place: ReadonlyArray<string>, parameter: Json): ReadonlyArray<Mutation> => {
  const isPath = String(parameter["in"]) === "path"
  return [
    set(place, "another style", { style: isPath ? "label" : "spaceDelimited" }),
    ...(isPath ? [] : [
      remove(place),
      set(place, "another name", { name: "brand_new" }),
      set(place, `required: ${!parameter["required"]}`, { required: !parameter["required"] })
    ]),
    ...(parameter["explode"] === undefined ? [] : [set(place, "exploded", { explode: true })])
  ]
}

/** Mutations of a part of the document that clients notice, and of all that is in it. */
const mutationsOf = (node: Json, place: ReadonlyArray<string>): ReadonlyArray<Mutation> => {
  if (isUnread(place) || typeof node !== "object" || node === null) return []
  const [parent, name] = place.slice(-2)
  const isRequest = place.includes("requestBody") || place.includes("parameters")
  const inside = Object.entries(node).flatMap(([key, value]) => mutationsOf(value, [...place, key]))
  const { maximum, maxItems, maxLength, type } = node
  const bounds = Object.entries({ maximum, maxItems, maxLength }).filter(([, bound]) => bound !== undefined)
  return [
    ...(place.length === 3 && place[0] === "paths" ? ofOperation(place) : []),
    ...(parent === "parameters" && node["in"] !== undefined ? ofParameter(place, node) : []),
    ...(parent === "responses" ? [rename(place, "204")] : []),
    ...(parent === "content" ? [rename(place, "text/plain")] : []),
    ...(parent === "properties" ? [remove(place), rename(place, "brand_new")] : []),
    ...((parent === "properties" || (name === "schema" && place.includes("parameters"))) && type !== undefined
      ? [at(place, "another type", (value) => {
        delete value["items"]
        value["type"] = json(String(type) === "boolean" ? "string" : "boolean")
      })]
      : []),
    ...(isRequest ? bounds.map(([bound, value]) => set(place, bound, { [bound]: Number(value) - 1 })) : []),
    ...(isRequest && node["properties"] !== undefined
      ? [at(place, "a required member more", (value) => {
        value["properties"]!["brand_new"] = json({ type: "string" })
        value["required"] = json([...value["required"] ?? [], "brand_new"])
      })]
      : []),
    ...(name === "required" && Array.isArray(node) && !isRequest
      ? node.flatMap((_, i) => isUnread([...place, String(i)]) ? [] : [remove([...place, String(i)])])
      : []),
    ...(name === "enum"
      ? [remove([...place, "0"]), at(place, "a value more", (values) => void values.push(json("brand_new")))]
      : []),
    ...inside
  ]
}

const base = document()
const schemas = ["Entities", "Includes", "Media", "Meta", "Post", "User"]
const mutations = [
  ...mutationsOf(base["paths"]!, ["paths"]),
  ...schemas.flatMap((name) => mutationsOf(base["components"]!["schemas"]![name]!, ["components", "schemas", name])),
  ...mutationsOf(base["components"]!["parameters"]!["post_fields"]!, ["components", "parameters", "post_fields"]),
  set(["servers", "0"], "another one", { url: "https://api.example.com" })
]

/** Some of each sort of mutation; all of them take half a minute. */
const sampled = [...Map.groupBy(mutations, ([what]) => what.replace(/^.*?(\w+)( [^ ]+)?: /, "$1: ")).values()]
  .flatMap((alike) => process.env["POSTWIRE_LONG"] === "1" ? alike : alike.slice(0, 2))

describe("a document of which one thing has changed", () => {
  it("has no difference before", () => assert.deepStrictEqual(driftsOf(base), []))

  it.each(sampled)("%s", (_, mutate) => {
    const changed = document()
    mutate(changed)
    assert.isNotEmpty(driftsOf(changed))
  })
})
