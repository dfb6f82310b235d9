import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { fromEnvironment } from "@postwire/node"
import * as Sync from "../src/index.ts"
import { startSandbox, stop } from "./support/Children.ts"

let sandbox: Awaited<ReturnType<typeof startSandbox>>

beforeAll(async () => {
  sandbox = await startSandbox()
})

afterAll(() => stop(sandbox?.child))

describe("client.hydrate", () => {
  it("blocks for every id in turn, with several requests under way, other calls in between", () => {
    using client = Sync.createClientSync(fromEnvironment(sandbox.ready.environment))
    const posts = [...client.searchRecentPosts.items({ query: "effect" }, { limit: 20 })].map(({ id }) => id)
    const ids = posts.flatMap((id) => [id, "not one", ...Array.from({ length: 30 }, () => "1")])
    let calls = 0
    const seen = Array.from(
      client.hydrate(ids, { post_fields: ["created_at"] }, { concurrency: 3 }),
      ({ data, id, outcome }) => {
        if (calls++ % 100 === 50) assert.strictEqual(client.getMe().data?.username, "ada")
        assert.strictEqual(typeof data?.created_at, posts.includes(id) ? "string" : "undefined")
        return [id, outcome]
      }
    )
    assert.deepStrictEqual(
      seen,
      ids.map((id) => [id, id === "1" ? "deleted" : id === "not one" ? "invalid" : "found"])
    )
    for (const { outcome } of client.hydrate(Array.from({ length: 500 }, () => "1"))) {
      assert.strictEqual(outcome, "deleted")
      break
    }
    assert.deepStrictEqual(Array.from(client.hydrate.usernames(["@ada"]), ({ outcome }) => outcome), ["found"])
    assert.throws(() => [...client.hydrate(["1"], {}, { concurrency: 0 })], /concurrency/)
  })
})
