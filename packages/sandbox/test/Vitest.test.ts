import { createClient } from "@postwire/node"
import { sandboxTest, test } from "@postwire/sandbox/vitest"
import { setImmediate as turn } from "node:timers/promises"
import { afterAll, assert, describe, expectTypeOf } from "vitest"
import * as Sandbox from "../src/Sandbox.ts"

describe("every test", () => {
  const ports = new Set<string>()
  const writes = async (sandbox: Sandbox.RunningSandbox) => {
    assert.deepStrictEqual(sandbox.requests, [])
    assert.strictEqual(sandbox.store.counts().posts, 1_000)
    ports.add(sandbox.baseUrl)
    await using client = createClient(sandbox.settings)
    await client.createPost({ text: "mine" })
    assert.deepStrictEqual(sandbox.requests.map(({ operation }) => operation), ["createPost"])
    sandbox.faults.add({ status: 503, times: "always" })
    sandbox.clock.advance("15 minutes")
    sandbox.budget.leave("getMe", 0)
  }

  test("has a service of its own (1)", ({ sandbox }) => writes(sandbox))
  test("has a service of its own (2)", ({ sandbox }) => writes(sandbox))

  afterAll(async () => {
    assert.strictEqual(ports.size, 2)
    for (const url of ports) assert.instanceOf(await fetch(url).catch((error: unknown) => error), TypeError)
  })
})

describe("settings", () => {
  const small = sandboxTest({ posts: 0, start: Date.UTC(2026, 0, 1) })

  small("come from the factory", ({ sandbox }) => {
    assert.strictEqual(sandbox.store.counts().posts, 0)
    assert.strictEqual(new Date(sandbox.clock.now()).getUTCFullYear(), 2026)
    expectTypeOf(sandbox).toEqualTypeOf<Sandbox.RunningSandbox>()
  })

  describe("of a suite", () => {
    const other = small.override({ sandboxOptions: { posts: 7, wire: "x" } })
    other("come from the override", ({ sandbox }) => {
      assert.strictEqual(sandbox.store.counts().posts, 7)
    })
  })
})

describe("a sandbox that is started", () => {
  test("begins with the same data as one that is seeded, whatever became of the one before", async () => {
    const options = { posts: 60, start: Date.UTC(2026, 0, 1) }
    const view = (sandbox: Sandbox.RunningSandbox) => [
      sandbox.settings.bearerToken,
      sandbox.seeded.mediaIds,
      sandbox.store.timelines.byAuthor({ authorId: sandbox.ada.id, limit: 100, viewer: { userId: undefined } }).items,
      { ...sandbox.store.counts() }
    ]
    const first = await Sandbox.start(options)
    const before = view(first)
    first.reset()
    // The reset has seeded it: there is no copy in between.
    assert.deepStrictEqual(view(first), before)
    first.ada.post("more")
    await first.stop()
    await using second = await Sandbox.start(options)
    assert.deepStrictEqual(view(second), before)
    await using other = await Sandbox.start({ ...options, seed: 2 })
    assert.notDeepEqual(view(other), before)
  })

  test("tells why it cannot start", async ({ sandbox }) => {
    const port = Number(new URL(sandbox.baseUrl).port)
    const error = await Sandbox.start({ port, posts: 0 }).catch((error: unknown) => error)
    assert.instanceOf(error, Sandbox.PortUnavailable)
    assert.strictEqual(error.port, port)
  })

  test("may be started and stopped for every test, and leaves nothing open", async () => {
    const open = () => process.getActiveResourcesInfo().filter((name) => /Server|Socket|Worker/.test(name)).length
    const before = open()
    for (let i = 0; i < 30; i++) await (await Sandbox.start()).stop()
    // Node lets go of them in its next turns.
    while (open() > before) await turn()
  })
})
