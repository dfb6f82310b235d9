/** What is made of many calls, with Promises: members of lists, rules of streams, conversations. */
import { assert, describe, it } from "@effect/vitest"
import { createClient, InvalidParameters, InvalidRules, SubscriptionsRefused, type WantedRule } from "@postwire/node"
import { webhook } from "@postwire/node/Webhook"
import { Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import * as Sandbox from "../src/Sandbox.ts"

const scene = async () => {
  const sandbox = await Sandbox.start({ posts: 0 })
  const client = createClient({
    baseUrl: sandbox.baseUrl,
    bearerToken: Redacted.value(sandbox.seeded.userBearerToken)
  })
  return { sandbox, client }
}

/** What a promise is rejected with. */
const rejected = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it was not rejected"), (error: unknown) => error)

describe("a client", () => {
  it("changes the members of a list, tells how it goes on, and what became of each", async () => {
    const { client, sandbox } = await scene()
    await using _sandbox = sandbox
    await using _client = client
    const users = [1, 2, 3, 4].map((i) => sandbox.user({ username: `u${i}` }))
    const list = sandbox.ada.list({ name: "Friends", members: users.slice(0, 2) }).id
    const desired = ["u1", "@u3", "nobody"]
    const plan = await client.planListMembers(list, desired, { user_auth: false })
    assert.deepStrictEqual([plan.remove, plan.add].map(([member]) => member?.username), ["u2", "u3"])
    const steps: Array<string> = []
    const synced = await client.syncListMembers(list, desired, {
      user_auth: false,
      onProgress: ({ done, last, of }) => steps.push(`${done}/${of} ${last.username} ${last.became}`)
    })
    assert.deepStrictEqual(steps, ["1/2 u2 removed", "2/2 u3 added"])
    assert.deepInclude(synced, { added: 1, removed: 1, present: 1, refused: 1, resumed: false })
    const refused = await rejected(client.syncListMembers(list, [], { user_auth: false }))
    assert.instanceOf(refused, InvalidParameters)
    assert.strictEqual(refused.parameter, "maxRemovals")
    const signal = AbortSignal.abort(new Error("enough"))
    assert.strictEqual(await rejected(client.syncListMembers(list, desired, { signal })), signal.reason)
  })

  it("makes rules those that are wished for, in two runs at once too", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const app = { baseUrl: sandbox.baseUrl, bearerToken: Redacted.value(sandbox.seeded.appBearerToken) }
    await using one = createClient(app)
    await using other = createClient(app)
    const both = (desired: ReadonlyArray<WantedRule>) =>
      Promise.all([one, other].map((client) => client.syncRules(desired, { overlap: 0, allowEmpty: true })))
    for (
      const desired of [
        [{ value: "cat has:images", tag: "cats" }, { value: "dog" }, { value: "from:ada", tag: "ada" }],
        [{ value: "cat has:images", tag: "pets" }, { value: "(dog)", tag: "pets" }],
        [{ value: "(cat has:images)", tag: "all" }, { value: "dog", tag: "all" }, { value: "fish" }],
        []
      ]
    ) {
      const [first, second] = await both(desired)
      const { data: rules = [] } = await one.getStreamRules()
      const sorted = (ids: ReadonlyArray<string | undefined> = []) => ids.toSorted()
      for (const synced of [first, second]) {
        assert.deepStrictEqual(sorted(synced?.rules.map(({ id }) => id)), sorted(rules.map(({ id }) => id)))
      }
      assert.deepStrictEqual(first?.rules.map(({ tag }) => tag), desired.map(({ tag }) => tag))
    }
    const wrong = await rejected(one.planRules([{ value: "cat" }, { value: "cat embedding:dogs" }]))
    assert.instanceOf(wrong, InvalidRules)
    assert.deepStrictEqual(wrong.rules.map(({ index }) => index), [1])
    const signal = AbortSignal.abort(new Error("enough"))
    assert.strictEqual(await rejected(one.syncRules([{ value: "cat" }], { signal })), signal.reason)
  })

  it("keeps a webhook and its subscriptions, in two runs at once too", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const { seeded } = sandbox
    await using hook = webhook({ secrets: Redacted.value(seeded.consumerSecret), onEvent: () => {} })
    const server = createServer(hook.listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/hook`
    const app = { baseUrl: sandbox.baseUrl, bearerToken: Redacted.value(seeded.appBearerToken) }
    await using one = createClient(app)
    await using other = createClient(app)
    const own = { event_type: "post.create", filter: { user_id: seeded.ada.id } } as const
    const mentions = { event_type: "post.mention.create", filter: { user_id: seeded.ada.id }, tag: "mentions" } as const
    for (const subscriptions of [[own], [{ ...own, tag: "own" }, mentions], [mentions], []]) {
      const [first, second] = await Promise.all(
        [one, other].map((client) => client.keepWebhook({ url, subscriptions }, { allowEmpty: true }))
      )
      const { data: listed = [] } = await one.getActivitySubscriptions()
      for (const kept of [first, second]) {
        assert.isTrue(kept?.webhook.valid)
        assert.sameMembers(
          kept?.subscriptions.map((subscription) => subscription.subscription_id) ?? [],
          listed.map((subscription) => subscription.subscription_id)
        )
      }
      assert.sameDeepMembers(
        listed.map(({ event_type, tag }) => [event_type, tag]),
        subscriptions.map((wanted) => [
          wanted.event_type,
          "tag" in wanted ? wanted.tag : undefined
        ])
      )
    }
    const stranger = { event_type: "dm.received", filter: { user_id: sandbox.user({ username: "bo" }).id } } as const
    const refused = await rejected(one.keepWebhook({ url, subscriptions: [own, stranger] }))
    assert.instanceOf(refused, SubscriptionsRefused)
    assert.deepStrictEqual(refused.subscriptions.map(({ index, scope }) => [index, scope]), [[1, "dm.read"]])
    server.closeAllConnections()
    server.close()
  })

  it("reads a conversation as a tree, and as it comes", async () => {
    const { client, sandbox } = await scene()
    await using _sandbox = sandbox
    await using _client = client
    const at = (minutes: number) => new Date(sandbox.clock.now() - minutes * 60_000)
    const root = sandbox.ada.post({ text: "root", at: at(30) })
    const bo = sandbox.user({ username: "bo" })
    const first = bo.reply(root, { text: "first", at: at(20) })
    sandbox.ada.reply(first, { text: "second", at: at(10) })
    const { nodes } = await client.getConversation(first.id, { post_fields: ["lang"] })
    assert.deepStrictEqual(
      nodes.map(({ author, depth, post }) => `${depth} ${author?.username} ${post?.text} ${typeof post?.lang}`),
      ["0 ada root string", "1 bo first string", "2 ada second string"]
    )
    const parts: Array<string> = []
    for await (const part of client.getConversation.parts(root.id)) {
      parts.push(part._tag === "Post" ? part.post.text : part._tag)
    }
    assert.deepStrictEqual(parts, ["root", "second", "first"])
    sandbox.journal.clear()
    for await (const _part of client.getConversation.parts(root.id)) break
    assert.deepStrictEqual(sandbox.requests.map(({ operation }) => operation), ["getPosts"])
    assert.include(String(await rejected(client.getConversation("x"))), "getConversation: id must be an id")
  })
})
