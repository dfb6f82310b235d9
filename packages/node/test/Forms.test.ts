import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { inspect } from "node:util"
import { answerOf, callOf, selectionsOf } from "../../core/test/support/Calls.ts"
import { all, rowOf, secrets } from "../../core/test/support/Service.ts"
import { createClient, type Form, InvalidSettings, type Settings } from "../src/index.ts"
import { start } from "./support/Recorder.ts"

type Method = (parameters: object) => Promise<unknown>

const page = (id: number) => ({
  data: [{ id: `${id}`, text: "a", author_id: "1" }],
  includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
  meta: id < 3 ? { next_token: `${id + 1}` } : {}
})

let service: Awaited<ReturnType<typeof start>>
let answer: object = {}
let settings: Settings

beforeAll(async () => {
  service = await start(({ path, query }) => {
    if (path === "/2/users/me") return { data: { id: "77" } }
    return path === "/2/posts/search/recent" ? page(Number(new Map(query).get("next_token") ?? 1)) : answer
  })
  settings = { baseUrl: service.baseUrl, ...secrets }
})

afterAll(() => service?.[Symbol.asyncDispose]())

const collect = async <A>(iterable: AsyncIterable<A>) => {
  const all: Array<A> = []
  for await (const item of iterable) all.push(item)
  return all
}

const parameters = { query: "a", expansions: ["author_id"] } as const

describe("returnType", () => {
  it.each(all)("%s", async (name) => {
    const row = rowOf(name)
    const { given } = callOf(row, selectionsOf(row)[0]!, "neutral")
    const sent = { ...given, ...(row.lookup === "pkce" ? { user_auth: false } : {}) }
    answer = answerOf(row, "neutral") as object
    const body = name === "getMe"
      ? { data: { id: "77" } }
      : name === "searchRecentPosts"
      ? page(Number(given["next_token"]))
      : answer
    const results: Partial<Record<Form, unknown>> = {}
    for (const returnType of ["response", "dictionary", "raw"] as const) {
      await using client = createClient({ ...settings, returnType })
      service.requests.length = 0
      results[returnType] = await (client as unknown as Readonly<Record<string, Method>>)[name]!(sent)
      assert.lengthOf(service.requests, row.lookup === null ? 1 : 2)
    }
    assert.deepStrictEqual(JSON.parse(JSON.stringify(results.response)), body)
    assert.deepStrictEqual(results.dictionary, body)
    const { raw } = results
    assert.instanceOf(raw, globalThis.Response)
    assert.deepStrictEqual([raw.status, raw.ok, raw.headers.get("content-type")], [200, true, "application/json"])
    assert.lengthOf(raw.headers.getSetCookie(), 2)
    assert.deepStrictEqual(await raw.json(), body)
  })

  it("is the response when it is left out, and one of three", async () => {
    await using client = createClient(settings)
    assert.strictEqual((await client.searchRecentPosts(parameters)).data?.[0]?.id, "1")
    for (const returnType of ["json", "", 1, {}]) {
      assert.throws(() => createClient({ ...settings, returnType } as never), InvalidSettings, /returnType/)
    }
  })
})

describe("as", () => {
  it("is a view of the same client: one lookup, one end", async () => {
    service.requests.length = 0
    answer = { data: { liked: true } }
    const client = createClient(settings)
    const raw = client.as("raw")
    const dictionary = raw.as("dictionary")
    const call = { post_id: 1, user_auth: false }
    assert.deepStrictEqual(await (await raw.like(call)).json(), answer)
    assert.deepStrictEqual<unknown>(await dictionary.like(call), answer)
    assert.deepStrictEqual((await client.like(call)).data, { liked: true })
    assert.deepStrictEqual((await dictionary.as("response").like(call)).data, { liked: true })
    assert.lengthOf(service.requests.filter(({ path }) => path === "/2/users/me"), 1)
    assert.lengthOf(service.requests, 5)
    assert.sameMembers(Object.keys(raw), [
      ...Object.keys(catalogue),
      "compliance",
      "upload",
      "publish",
      "publishThread",
      "createArticle",
      "planListMembers",
      "syncListMembers",
      "getConversation",
      "planRules",
      "syncRules",
      "planWebhook",
      "keepWebhook",
      "hydrate",
      "as",
      "request",
      "session",
      "close"
    ])
    assert.notInclude(inspect([client, raw, dictionary], { depth: 9, showHidden: true }), "canary")
    await raw.close()
    for (const closed of [client, raw, dictionary]) {
      assert.match(String(await closed.like(call).catch((error: unknown) => error)), /the client is closed/)
    }
  })

  it("leaves errors as they are", async () => {
    await using client = createClient(settings)
    for (const form of ["response", "dictionary", "raw"] as const) {
      const error = await client.as(form).getPost({ id: "x" }).catch((error: unknown) => error)
      assert.instanceOf(error, TypeError)
    }
  })
})

describe("iteration", () => {
  it("brings pages in the form, items and joined in any", async () => {
    await using client = createClient(settings)
    const responses = await collect(client.searchRecentPosts.pages(parameters))
    assert.deepStrictEqual(responses.map((page) => page.author(page.data![0]!)?.username), ["ada", "ada", "ada"])
    const dictionaries = await collect(client.as("dictionary").searchRecentPosts.pages(parameters))
    assert.deepStrictEqual<unknown>(dictionaries, [page(1), page(2), page(3)])
    const raws = await collect(client.as("raw").searchRecentPosts.pages(parameters))
    assert.deepStrictEqual(await Promise.all(raws.map((raw) => raw.json())), [page(1), page(2), page(3)])
    for (const form of ["response", "dictionary", "raw"] as const) {
      const { searchRecentPosts } = client.as(form)
      assert.deepStrictEqual((await collect(searchRecentPosts.items(parameters))).map(({ id }) => id), ["1", "2", "3"])
      const joined = await collect(searchRecentPosts.joined(parameters))
      assert.deepStrictEqual(joined.map(({ author, item }) => [author?.username, item.id]), [
        ["ada", "1"],
        ["ada", "2"],
        ["ada", "3"]
      ])
    }
  })

  it("rejects invalid parameters when it runs", async () => {
    await using client = createClient(settings)
    for (
      const iterate of [client.searchRecentPosts.items, client.searchRecentPosts.pages, client.searchRecentPosts.joined]
    ) {
      for (const parameters of [{ query: 1 }, { query: "a", nope: 1 }]) {
        const error = await collect<unknown>(iterate(parameters as never)).catch((error: unknown) => error)
        assert.strictEqual((error as Error).name, "InvalidParameters")
      }
    }
  })
})
