// Every operation through the blocking client: what is declared is what arrives, in every form.
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import type { WireName } from "@postwire/core/schema/WireName"
import { Schema } from "effect"
import { openAsBlob } from "node:fs"
import { fileURLToPath } from "node:url"
import { answerOf, callOf, selectionsOf, wires } from "../../core/test/support/Calls.ts"
import { partsOf } from "../../core/test/support/Parts.ts"
import { all, assertNoSecret, authorizationOf, rowOf, secrets } from "../../core/test/support/Service.ts"
import * as Sync from "../src/index.ts"
import { stop } from "./support/Children.ts"
import { startRecorder } from "./support/Recorder.ts"
import { thrown } from "./support/Thrown.ts"

const forms = ["response", "dictionary", "raw"] as const

type Method = (parameters: object) => unknown

let service: Awaited<ReturnType<typeof startRecorder>>
const clients = new Map<WireName, Sync.PostwireClientSync>()

beforeAll(async () => {
  service = await startRecorder()
  for (const wire of wires) clients.set(wire, Sync.createClientSync({ baseUrl: service.baseUrl, wire, ...secrets }))
})

beforeEach(async () => void await service.requests())

afterAll(async () => {
  for (const client of clients.values()) client.close()
  await stop(service?.child)
})

const bodyOf = (result: unknown): unknown => {
  const raw = result as Sync.RawResponse
  return typeof raw.json === "function" ? raw.json() : JSON.parse(JSON.stringify(result))
}

describe.each(wires)("on the %s wire", (wire) => {
  it.each(all)("%s", async (name) => {
    const row = rowOf(name)
    await service.answer(answerOf(row, wire))
    const ways = [...selectionsOf(row).entries()]
    const expected = ways.map(([i, selectedBy]) => {
      const form = forms[i % 3]!
      const userAuth = row.userAuth === null ? undefined : i % 2 === 0 ? row.userAuth : !row.userAuth
      const call = callOf(row, selectedBy, wire)
      const client = clients.get(wire)!.as(form) as unknown as Readonly<Record<string, Method>>
      const given = i === 0 || userAuth === undefined ? call.given : { ...call.given, user_auth: userAuth }
      const result = client[name]!(given)
      const wireOfForm = form === "raw" ? wire : "neutral"
      assert.deepStrictEqual(bodyOf(result), answerOf(row, wireOfForm))
      return { ...call, userAuth: userAuth ?? false }
    })
    const requests = (await service.requests()).filter(({ url }) => !url.endsWith("/2/users/me"))
    assert.lengthOf(requests, expected.length)
    for (const [i, { body, path, query, userAuth }] of expected.entries()) {
      const request = requests[i]!
      const url = new URL(request.url)
      assert.strictEqual(url.href, request.url)
      assert.strictEqual(request.method, row.method)
      assert.strictEqual(
        url.pathname,
        row.identity === null ? path : path.replace(`:${row.identity}`, userAuth ? "42" : "77")
      )
      assert.deepStrictEqual(Object.fromEntries(url.searchParams), query)
      const received = row.encoding === undefined ?
        JSON.parse :
        (text: string) => partsOf(request.headers["content-type"] ?? "", text)
      assert.deepStrictEqual(request.body === "" ? undefined : received(request.body), body)
      assert.strictEqual(authorizationOf(request), userAuth ? "oauth1" : "bearer")
    }
  })
})

describe("bytes", () => {
  const upload = (client: Sync.PostwireClientSync, media: Uint8Array | ArrayBuffer) =>
    client.appendMediaUpload({ id: 1, segment_index: 0, media })

  const received = async () => {
    const [request] = await service.requests()
    return Buffer.from(partsOf(request?.headers["content-type"] ?? "", request?.body ?? "")["media"] ?? "", "latin1")
  }

  it("cross to the worker, and the caller keeps theirs", async () => {
    await service.answer({ data: {} })
    const client = clients.get("neutral")!
    const whole = Uint8Array.from({ length: 300_000 }, (_, index) => index * 7)
    const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(9)
    for (const media of [whole, whole.subarray(5, 9), Buffer.from("small"), whole.slice().buffer, shared]) {
      const before = Buffer.from(media instanceof Uint8Array ? media : new Uint8Array(media))
      upload(client, media)
      assert.isTrue(before.equals(await received()))
      assert.isTrue(before.equals(media instanceof Uint8Array ? media : new Uint8Array(media)))
    }
  })

  it("of a Blob are refused: Node ends the process when another thread reads a part of a file", async () => {
    const file = await openAsBlob(fileURLToPath(import.meta.url))
    for (const media of [file, file.slice(1, 2), new Blob(["a"])]) {
      assert.throws(
        // @ts-expect-error the types say so, too
        () => upload(clients.get("neutral")!, media),
        "media must be a Uint8Array or an ArrayBuffer: a call that blocks cannot read a Blob."
      )
    }
    assert.lengthOf(await service.requests(), 0)
  })
})

describe("a request to any path", () => {
  it.each(wires)(
    "sends values unchanged, and returns them unchanged, with every return type, on the %s wire",
    async (wire) => {
      const client = clients.get(wire)!
      const body = { data: { id: "1", text: "a", tweet_id: "1", posts: [1] }, meta: { result_count: 1 } }
      await service.answer(body)
      const request = {
        method: "PUT",
        path: "/2/posts/1/it's",
        query: { "post.fields": ["a", 1], q: "b&c=é" },
        body: { posts: [null] }
      } as const
      assert.deepStrictEqual(client.request({ ...request, user_auth: true }).data, body.data)
      assert.deepStrictEqual<unknown>(client.as("dictionary").request(request), body)
      assert.deepStrictEqual(client.as("raw").request(request).json(), body)
      client.getPost({ id: 1 }, { extraQuery: { odd: ["b"] } })
      client.createPost({ text: "a" }, { extraBody: { posts: { a: 1 } } })
      const requests = await service.requests()
      for (const [i, kind] of (["oauth1", "bearer", "bearer"] as const).entries()) {
        const { body, method, url } = requests[i]!
        assert.deepStrictEqual([method, body], ["PUT", `{"posts":[null]}`])
        assert.strictEqual(url, `${service.baseUrl}/2/posts/1/it's?post.fields=a%2C1&q=b%26c%3D%C3%A9`)
        assert.strictEqual(authorizationOf(requests[i]!), kind)
      }
      assert.isTrue(requests[3]?.url.endsWith("?odd=b"))
      assert.strictEqual(requests[4]?.body, `{"text":"a","posts":{"a":1}}`)
    }
  )

  it("is refused before anything is sent, and read by a schema", async () => {
    const client = clients.get("neutral")!
    await service.answer({ data: { at: "2026-01-01" } })
    const { data } = client.request({
      method: "GET",
      path: "/2/widgets",
      schema: Schema.Struct({ at: Schema.DateFromString })
    })
    assert.deepStrictEqual(data?.at, new Date("2026-01-01"))
    assert.lengthOf(await service.requests(), 1)
    const refusals = [
      () => client.request({ method: "GET", path: `/../${secrets.bearerToken}` }),
      () => client.request({ method: "GET", path: "/2/widgets", query: { [secrets.bearerToken]: NaN } }),
      () => client.getPost({ id: 1 }, { extraQuery: { id: secrets.bearerToken } }),
      () => client.createPost({ text: "a" }, { extraBody: { text: secrets.bearerToken } }),
      () => client.request({ method: "GET", path: "/2/widgets" }, { extraQuery: {} } as {})
    ]
    for (const refusal of refusals) {
      let error: unknown
      try {
        refusal()
      } catch (thrown) {
        error = thrown
      }
      assert.instanceOf(error, Sync.InvalidParameters)
      assertNoSecret(error)
    }
    assert.lengthOf(await service.requests(), 0)
  })
})

describe("forms", () => {
  const page = {
    data: [{ id: "1", text: "a", author_id: "1" }],
    includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
    meta: { result_count: 1 }
  }
  const parameters = { query: "a", expansions: ["author_id"] } as const

  it("are those of returnType and as, of pages too; items and joined do not depend on them", async () => {
    await service.answer(page)
    for (const returnType of forms) {
      using client = Sync.createClientSync({ baseUrl: service.baseUrl, ...secrets, returnType })
      for (const form of forms) {
        const { getUser: _, searchRecentPosts, ...rest } = client.as(form)
        assert.deepStrictEqual(bodyOf(searchRecentPosts(parameters)), page)
        assert.deepStrictEqual([...searchRecentPosts.pages(parameters)].map(bodyOf), [page])
        assert.deepStrictEqual([...searchRecentPosts.items(parameters)].map(({ id }) => id), ["1"])
        const [joined] = searchRecentPosts.joined(parameters)
        assert.deepStrictEqual([joined?.item.id, joined?.author?.username], ["1", "ada"])
        assert.sameMembers(Object.keys(rest).concat("getUser", "searchRecentPosts"), [
          ...Object.keys(catalogue),
          "as",
          "request",
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
          "compliance",
          "session",
          "close"
        ])
      }
      assert.deepStrictEqual(bodyOf(client.searchRecentPosts(parameters)), page)
    }
  })

  it("have a raw response whose body is there", async () => {
    await service.answer(page)
    using client = Sync.createClientSync({ baseUrl: service.baseUrl, ...secrets, returnType: "raw" })
    const raw = client.searchRecentPosts({ query: "a" })
    assert.deepStrictEqual([raw.status, raw.ok, raw.headers.get("content-type")], [200, true, "application/json"])
    assert.lengthOf(raw.headers.getSetCookie(), 2)
    assert.strictEqual(raw.text(), JSON.stringify(page))
    assert.strictEqual(new TextDecoder().decode(raw.bytes()), raw.text())
    raw.bytes().fill(0)
    assert.deepStrictEqual(raw.json(), page)
  })

  it("do not change the lookup, which is one for all views", async () => {
    await service.answer({ data: { liked: true } })
    using client = Sync.createClientSync({ baseUrl: service.baseUrl, ...secrets, returnType: "raw" })
    assert.deepStrictEqual(client.like({ post_id: 1, user_auth: false }).json(), { data: { liked: true } })
    assert.deepStrictEqual(client.as("response").like({ post_id: 1, user_auth: false }).data, { liked: true })
    assert.deepStrictEqual(client.as("dictionary").like({ post_id: 1, user_auth: false }).data, { liked: true })
    const paths = (await service.requests()).map(({ url }) => new URL(url).pathname)
    assert.deepStrictEqual(paths, ["/2/users/me", ...Array(3).fill("/2/users/77/likes")])
  })
})

describe("mistakes", () => {
  const settings = () => ({ baseUrl: service.baseUrl, ...secrets })

  it("are thrown before any traffic, by calls and by loops", async () => {
    using client = Sync.createClientSync({ ...settings(), accessLevel: "standard" })
    const { searchRecentPosts } = client
    for (const parameters of [null, [], { query: "x".repeat(513) }, { query: "a", nope: 1 }]) {
      for (
        const call of [
          () => searchRecentPosts(parameters as never),
          () => [...searchRecentPosts.items(parameters as never)],
          () => [...searchRecentPosts.pages(parameters as never)],
          () => [...searchRecentPosts.joined(parameters as never)]
        ]
      ) {
        assert.instanceOf(thrown(call), Sync.InvalidParameters)
      }
    }
    assert.lengthOf(await service.requests(), 0)
  })

  it("of bounds are left to the service when that is set", async () => {
    await service.answer({ data: [] })
    using client = Sync.createClientSync({ ...settings(), accessLevel: "standard", checks: "identifiers" })
    client.searchRecentPosts({ query: "x".repeat(2000), max_results: 1000 })
    assert.instanceOf(thrown(() => client.getPost({ id: "../me" })), Sync.InvalidParameters)
    const [request, ...more] = await service.requests()
    assert.lengthOf(more, 0)
    assert.strictEqual(new URL(request!.url).searchParams.get("max_results"), "1000")
  })

  it.each(["checks", "accessLevel", "returnType"])("of %s are thrown by createClientSync", (setting) => {
    const error = thrown(() => Sync.createClientSync({ ...settings(), [setting]: "all" } as never))
    assert.instanceOf(error, Sync.InvalidSettings)
    assert.strictEqual(error.setting, setting)
  })
})
