// Every operation over a real connection: what is declared is what arrives.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { WireName } from "@postwire/core/schema/WireName"
import { answerOf, callOf, selectionsOf, wires } from "../../core/test/support/Calls.ts"
import { partsOf } from "../../core/test/support/Parts.ts"
import { all, authorizationOf, rowOf, secrets } from "../../core/test/support/Service.ts"
import { createClient, type PostwireClient } from "../src/index.ts"
import { type Recorded, start } from "./support/Recorder.ts"

type Method = (parameters: object) => Promise<{ readonly body: unknown }>

let service: Awaited<ReturnType<typeof start>>
let answer: unknown
const clients = new Map<WireName, PostwireClient>()

beforeAll(async () => {
  service = await start(({ path }) => (path === "/2/users/me" ? { data: { id: "77" } } : answer) as object)
  for (const wire of wires) clients.set(wire, createClient({ baseUrl: service.baseUrl, wire, ...secrets }))
})

afterAll(async () => {
  for (const client of clients.values()) await client.close()
  await service?.[Symbol.asyncDispose]()
})

const parse = ({ body, headers }: Recorded): unknown => {
  const { "content-type": type } = headers
  return body === "" ? undefined : type?.startsWith("multipart/") === true ? partsOf(type, body) : JSON.parse(body)
}

const assertPlain = (request: Recorded, encoding: string | undefined) => {
  assert.strictEqual(request.headers["content-type"]?.replace(/;.*/, ""), encoding)
  assert.strictEqual(request.headers["accept"], "application/json")
  assert.strictEqual(request.headers["user-agent"], "postwire")
  // A key stands once, and no parser changes the URL after it was signed.
  assert.strictEqual(new Set(request.query.map(([key]) => key)).size, request.query.length)
  assert.strictEqual(new URL(request.url).href, request.url)
}

describe.each(wires)("on the %s wire", (wire) => {
  const cases = all.flatMap(([name]) => {
    const row = rowOf(name)
    return selectionsOf(row).flatMap((selectedBy) =>
      (row.userAuth === null ? [undefined] : [undefined, true, false]).map((user_auth) =>
        [[name, selectedBy, user_auth].filter((part) => part !== undefined && part !== "").join(" "), {
          name,
          row,
          selectedBy,
          user_auth
        }] as const
      )
    )
  })

  it.each(cases)("%s", async (_, { name, row, selectedBy, user_auth }) => {
    const userAuth = user_auth ?? row.userAuth ?? false
    const { body, given, path, query } = callOf(row, selectedBy, wire)
    answer = answerOf(row, wire)
    service.requests.length = 0
    const methods = clients.get(wire) as unknown as Readonly<Record<string, Method>>
    const response = await methods[name]!(user_auth === undefined ? given : { ...given, user_auth })
    assert.deepStrictEqual(response.body, name === "getMe" ? { data: { id: "77" } } : answerOf(row, "neutral"))

    const request = service.requests.at(-1)!
    // The first lookup of a client is its last.
    const lookups = service.requests.slice(0, -1)
    assert.isAtMost(lookups.length, row.identity !== null && !userAuth ? 1 : 0)
    for (const lookup of lookups) {
      assert.strictEqual(`${lookup.method} ${lookup.path}`, "GET /2/users/me")
      assert.deepStrictEqual(lookup.query, [])
      assert.strictEqual(authorizationOf(lookup), "bearer")
      assertPlain(lookup, undefined)
    }
    assert.strictEqual(request.method, row.method)
    assert.strictEqual(
      request.path,
      row.identity === null ? path : path.replace(`:${row.identity}`, userAuth ? "42" : "77")
    )
    assert.deepStrictEqual(Object.fromEntries(request.query), query)
    assert.deepStrictEqual(parse(request), body)
    assert.strictEqual(authorizationOf(request), userAuth ? "oauth1" : "bearer")
    assertPlain(
      request,
      body === undefined ? undefined : row.encoding === undefined ? "application/json" : "multipart/form-data"
    )
  })

  it("a request to any path, as it was given", async () => {
    const client = clients.get(wire)!
    answer = { data: { tweet_id: "1", posts: [1] }, meta: { result_count: 1 } }
    service.requests.length = 0
    const request = {
      method: "PATCH",
      path: "/2/posts/1/it's",
      query: { "post.fields": ["a", 1], q: "b&c=é" },
      body: { posts: [null] }
    } as const
    const answered = client.request({ ...request, user_auth: true })
    const { data, response } = await answered.withResponse()
    assert.deepStrictEqual(data.data, { tweet_id: "1", posts: [1] })
    assert.deepStrictEqual(await response.json(), answer)
    assert.deepStrictEqual<unknown>(await client.as("dictionary").request(request), answer)
    const raw: Response = await client.as("raw").request(request)
    assert.deepStrictEqual(await raw.json(), answer)
    for (const [i, kind] of (["oauth1", "bearer", "bearer"] as const).entries()) {
      const { body, method, url } = service.requests[i]!
      assert.deepStrictEqual([method, body], ["PATCH", `{"posts":[null]}`])
      assert.strictEqual(url, `${service.baseUrl}/2/posts/1/it's?post.fields=a%2C1&q=b%26c%3D%C3%A9`)
      assert.strictEqual(authorizationOf(service.requests[i]!), kind)
    }
  })

  it("what is not declared yet, beside the parameters", async () => {
    const client = clients.get(wire)!
    answer = { data: { id: "1", text: "a" } }
    service.requests.length = 0
    const options = { extraQuery: { "odd.fields": ["é", 1] }, extraBody: { posts: { tweets: true } } }
    await client.createPost({ text: "a" }, options)
    const request = service.requests[0]!
    assert.strictEqual(request.url, `${service.baseUrl}${request.path}?odd.fields=%C3%A9%2C1`)
    assert.deepStrictEqual(parse(request), { text: "a", posts: { tweets: true } })
    assert.strictEqual(authorizationOf(request), "oauth1")
  })

  it("looks the user up once for all of them", async () => {
    service.requests.length = 0
    answer = { data: { liked: true } }
    await using client = createClient({ baseUrl: service.baseUrl, wire, ...secrets })
    await Promise.all([1, 2, 3].map((post_id) => client.like({ post_id, user_auth: false })))
    await client.unlike({ post_id: 1, user_auth: false })
    assert.lengthOf(service.requests.filter(({ path }) => path === "/2/users/me"), 1)
    assert.lengthOf(service.requests, 5)
  })
})
