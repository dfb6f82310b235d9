import { createClient } from "@postwire/node"
import { Sandbox } from "@postwire/sandbox"
import assert from "node:assert/strict"
import { test } from "node:test"

test("finds a post", async () => {
  await using sandbox = await Sandbox.start({ posts: 0 })
  const { id } = sandbox.user({ username: "grace" }).post("On compilers")

  await using client = createClient(sandbox.settings)
  const { data } = await client.searchRecentPosts({ query: "compilers from:grace" })
  assert.deepEqual(data?.map((post) => post.id), [id])
  assert.equal(sandbox.requests.at(-1)?.status, 200)
})
