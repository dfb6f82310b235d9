import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { createClient, InvalidSettings, StreamLogUnavailable } from "@postwire/node"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { getEventListeners } from "node:events"
import * as RedisServer from "../../node/test/support/RedisServer.ts"

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 0 })
  await using client = createClient(settings())
  await client.updateStreamRules({ add: [{ value: "cat", tag: "cats" }, { value: "dog", tag: "dogs" }] })
})

afterAll(() => sandbox[Symbol.asyncDispose]())

const settings = () => ({ baseUrl: sandbox.baseUrl, bearerToken: Redacted.value(sandbox.seeded.appBearerToken) })

describe("clients that share a stream", () => {
  it("need a log for it", async () => {
    await using client = createClient(settings())
    const error = await client.streamPosts.shared("cats").catch((error: unknown) => error)
    assert.instanceOf(error, InvalidSettings)
    assert.strictEqual(error.setting, "streamLog")
    assert.throws(() => createClient({ ...settings(), streamLog: "./log" }), InvalidSettings)
    await using away = createClient({ ...settings(), streamLog: "redis://127.0.0.1:1" })
    assert.instanceOf(await away.streamPosts.shared("cats").catch((error: unknown) => error), StreamLogUnavailable)
  })

  it("read what comes over one connection, each consumer from where it stood", async () => {
    await using client = createClient({ ...settings(), streamLog: "memory" })
    const { promise: connected, resolve: connect } = Promise.withResolvers<void>()
    await using shared = await client.streamPosts.shared("animals", { post_fields: ["author_id"] }, {
      onEvent: ({ _tag }) => {
        if (_tag === "Connected") connect()
      }
    })
    const read = async (consumer: string, tags: ReadonlyArray<string>, count: number) => {
      const texts: Array<string> = []
      for await (const { commit, item } of shared.consume({ consumer, tags })) {
        assert.isString(item.post.author_id)
        texts.push(item.post.text)
        if (texts.length < count) continue
        await commit()
        break
      }
      return texts
    }
    await connected
    for (const text of ["one cat", "one dog", "a cat and a dog"]) sandbox.ada.post(text)
    assert.deepStrictEqual(
      await Promise.all([read("cats", ["cats"], 2), read("dogs", ["dogs"], 1), read("all", ["cats", "dogs"], 3)]),
      [["one cat", "a cat and a dog"], ["one dog"], ["one cat", "one dog", "a cat and a dog"]]
    )
    assert.deepStrictEqual(await read("dogs", ["dogs"], 1), ["a cat and a dog"])
    await shared.forget("dogs")
    assert.deepStrictEqual(await read("dogs", ["dogs"], 1), ["one dog"])
    // A loop that waits is ended.
    const waiting = shared.consume({ consumer: "all" })[Symbol.asyncIterator]()
    const next = waiting.next()
    await waiting.return?.()
    assert.isTrue((await next).done)
  })

  it("leave nothing with the client when they are closed", async () => {
    await using client = createClient({ ...settings(), streamLog: "memory" })
    const listen = vi.spyOn(EventTarget.prototype, "addEventListener")
    try {
      const listeners = () =>
        [...new Set(listen.mock.contexts)].flatMap((target) =>
          target instanceof AbortSignal ? getEventListeners(target, "abort") : []
        )
      const first = await client.streamPosts.shared("cats", {}, { holds: false })
      const ofOne = listeners().length
      await first.close()
      const second = await client.streamPosts.shared("cats", {}, { holds: false })
      assert.lengthOf(listeners(), ofOne)
      await second.close()
    } finally {
      listen.mockRestore()
    }
  })

  it.skipIf(!RedisServer.isInstalled)("hand the line over when one is closed", async () => {
    const redis = await RedisServer.start()
    try {
      const shared = { ...settings(), streamLog: redis.url }
      const one = createClient(shared)
      await using other = createClient(shared)
      const { promise: taken, resolve: take } = Promise.withResolvers<void>()
      await one.streamPosts.shared("animals")
      await using second = await other.streamPosts.shared("animals", {}, {
        onEvent: ({ _tag }) => {
          if (_tag === "Connected") take()
        }
      })
      await one.close()
      await taken
      sandbox.ada.post("a late cat")
      for await (const { item } of second.consume({ consumer: "a" })) {
        assert.strictEqual(item.post.text, "a late cat")
        break
      }
    } finally {
      await redis.stop()
    }
  })
})
