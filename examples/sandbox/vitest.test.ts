import { createClient } from "@postwire/node"
import { test } from "@postwire/sandbox/vitest"
import { expect } from "vitest"

test("reads what a protected user posts, as a follower", async ({ sandbox }) => {
  const grace = sandbox.user({ username: "grace", protected: true })
  const post = grace.post("On compilers").post({ text: "Which one?", poll: ["A-0", "B-0"] })
  sandbox.ada.follows(grace).likes(post)

  await using client = createClient(sandbox.settings)
  const { data } = await client.getUsersPosts({ id: grace.id, max_results: 5 })
  expect(data?.map(({ text }) => text)).toEqual(["Which one?", "On compilers"])
})

test("acts for another user, with fewer rights", async ({ sandbox }) => {
  const grace = sandbox.user({ username: "grace" })
  await using reader = createClient(grace.settings({ rights: "read" }))
  await expect(reader.createPost({ text: "no" })).rejects.toMatchObject({ _tag: "Forbidden" })
})

test("pages through a search although they are short", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  const search = async () => {
    const ids: Array<string> = []
    for await (const { id } of client.searchRecentPosts.items({ query: "effect", max_results: 100 })) ids.push(id)
    return ids
  }
  const expected = await search()

  sandbox.faults.add({ operation: "searchRecentPosts", page: "short", times: "always" })
  expect(await search()).toEqual(expected)
})

test("waits until the window ends", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  sandbox.budget.leave("getMe", 0)
  await expect(client.getMe()).rejects.toMatchObject({ _tag: "RateLimited" })

  sandbox.clock.advance("15 minutes")
  await expect(client.getMe({ user_auth: false })).resolves.toMatchObject({ data: { username: "ada" } })
})

test("sends a post once, although the connection broke", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  sandbox.faults.add({ operation: "createPost", reset: "after" })
  await expect(client.createPost({ text: "once" })).rejects.toMatchObject({ _tag: "OutcomeUnknown" })

  expect(sandbox.requests.filter(({ operation }) => operation === "createPost")).toMatchObject([
    { method: "POST", body: { text: "once" }, status: undefined, fault: { reset: "after" } }
  ])
})
