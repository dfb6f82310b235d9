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

  it.skipIf(!RedisServer.isInstalled)("get every post when their log goes back", async () => {
    const redis = await RedisServer.start()
    try {
      await using client = createClient({ ...settings(), streamLog: redis.url })
      const marked = Promise.withResolvers<void>()
      await using shared = await client.streamPosts.shared("restored", { post_fields: ["created_at"] }, {
        recover: "recovery",
        onEvent: ({ _tag }) => {
          if (_tag === "Watermark") marked.resolve()
        }
      })
      const post = (...texts: ReadonlyArray<string>) =>
        texts.map((text) => sandbox.ada.post({ text: `cat ${text}`, at: new Date() }))
      /** Reads until a post has come. */
      const readTo = async (consumer: string, last: string) => {
        const texts: Array<string> = []
        for await (const { item } of shared.consume({ consumer })) {
          texts.push(item.post.text)
          if (item.post.text === `cat ${last}`) return texts
        }
        return texts
      }
      await marked.promise
      post("1", "2")
      await readTo("quick", "2")
      const restore = await redis.save()
      post("3", "4")
      await readTo("quick", "4")
      await restore()
      post("5", "6")
      const texts = [...new Set(await readTo("late", "6"))]
      assert.deepStrictEqual(texts, ["1", "2", "3", "4", "5", "6"].map((text) => `cat ${text}`))
    } finally {
      await redis.stop()
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
