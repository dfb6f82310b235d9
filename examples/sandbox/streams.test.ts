import { createClient } from "@postwire/node"
import { test } from "@postwire/sandbox/vitest"
import { expect } from "vitest"

test("reads on after the line was cut", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  await client.updateStreamRules({ add: [{ value: "compilers", tag: "engines" }] })
  sandbox.faults.add({ operation: "streamPosts", stream: { kind: "cut", after: 1 } })
  const grace = sandbox.user({ username: "grace" })

  const texts: Array<string> = []
  const onEvent = ({ _tag }: { readonly _tag: string }) => {
    if (_tag === "Connected") grace.post(`On compilers, ${sandbox.streams.connections().length}`)
  }
  for await (const { matchingRules, post } of client.streamPosts({}, { onEvent, recover: "none" })) {
    expect(matchingRules.map(({ tag }) => tag)).toEqual(["engines"])
    if (texts.push(post.text) === 2) break
  }
  expect(texts).toEqual(["On compilers, 1", "On compilers, 2"])
  expect(sandbox.streams.connections()[0]?.reason).toBe("connection_broken")
})
