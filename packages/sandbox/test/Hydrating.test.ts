import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { afterAll, beforeAll } from "vitest"
import * as Sandbox from "../src/Sandbox.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 0 })
})

afterAll(() => sandbox.stop())

describe("client.hydrate", () => {
  it("yields every id with what became of it, of ids that come slowly too", async () => {
    await using client = createClient(sandbox.settings)
    const grace = sandbox.user({ username: "grace" })
    const gone = sandbox.user({ username: "gone" }).suspended()
    const posts = Array.from({ length: 3 }, (_, i) => grace.post(`post ${i}`).id)
    async function* slowly() {
      for (const id of posts) {
        await new Promise((resolve) => setImmediate(resolve))
        yield id
        yield* Array.from({ length: 99 }, () => "1")
      }
    }
    const seen: Array<readonly [id: string, outcome: string, text: string | undefined]> = []
    for await (const { data, id, joined, outcome } of client.hydrate(slowly(), { expansions: ["author_id"] })) {
      if (id !== "1") {
        seen.push([id, outcome, data?.text])
        assert.strictEqual(joined?.author?.username, "grace")
      } else assert.strictEqual(outcome, "deleted")
    }
    assert.deepStrictEqual(seen, posts.map((id, i) => [id, "found", `post ${i}`]))
    const users: Array<string> = []
    for await (const { outcome } of client.hydrate.users([grace.id, gone.id])) users.push(outcome)
    for await (const { outcome } of client.hydrate.usernames(["@grace", "nobody"])) users.push(outcome)
    assert.deepStrictEqual(users, ["found", "suspended", "found", "deleted"])
  })

  it("has several requests under way, and sends none after the loop has ended", async () => {
    await using client = createClient(sandbox.settings)
    sandbox.journal.clear()
    let isClosed = false
    function* ids() {
      try {
        for (let i = 0;; i++) yield String(i)
      } finally {
        isClosed = true
      }
    }
    for await (const { id } of client.hydrate(ids(), {}, { concurrency: 3 })) if (id === "150") break
    assert.isTrue(isClosed)
    const sent = sandbox.requests.length
    assert.isAtLeast(sent, 2)
    assert.isAtMost(sent, 5)
    const ending = new AbortController()
    const aborted = (async () => {
      for await (const { id } of client.hydrate(ids(), {}, { signal: ending.signal })) {
        if (id === "10") ending.abort(new Error("enough"))
      }
    })()
    await aborted.then(() => assert.fail("it goes on"), (error) => assert.strictEqual(error.message, "enough"))
  })

  it("ends at once where the ids do not", async () => {
    await using client = createClient(sandbox.settings)
    const never: AsyncIterable<string> = {
      async *[Symbol.asyncIterator]() {
        for (let i = 0; i < 100; i++) yield "1"
        await new Promise(() => {})
      }
    }
    for await (const { outcome } of client.hydrate(never)) {
      assert.strictEqual(outcome, "deleted")
      break
    }
  })

  it("rejects with what a request rejects with", async () => {
    await using client = createClient({ ...sandbox.settings, bearerToken: "wrong" })
    const first = client.hydrate(["1"])[Symbol.asyncIterator]().next()
    await first.then(() => assert.fail("no error"), (error) => assert.strictEqual(error._tag, "Unauthorized"))
    // @ts-expect-error -- no such field
    const misspelt = client.hydrate(["1"], { post_fields: "created" })[Symbol.asyncIterator]().next()
    await misspelt.then(() => assert.fail("no error"), (error) => assert.strictEqual(error._tag, "InvalidParameters"))
  })
})
