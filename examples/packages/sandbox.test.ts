import { createClient } from "@postwire/node"
import { test } from "@postwire/sandbox/vitest"
import { expect } from "vitest"

test("reads the post of a user", async ({ sandbox }) => {
  const grace = sandbox.user({ username: "grace" })
  grace.post("On compilers")
  await using client = createClient(sandbox.settings)
  const { data } = await client.getUsersPosts({ id: grace.id, max_results: 5 })
  expect(data?.[0]?.text).toBe("On compilers")
})
