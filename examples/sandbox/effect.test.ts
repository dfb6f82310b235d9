import { assert, layer } from "@effect/vitest"
import { Client, Credentials, Posts } from "@postwire/core"
import { Sandbox } from "@postwire/sandbox"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

/** The client, over the sandbox in process: no port, and its time is that of the test. */
const AsAda = Layer.unwrap(
  Effect.map(
    Sandbox.Sandbox,
    ({ baseUrl, settings }) => Client.layer({ baseUrl }).pipe(Layer.provide(Credentials.layer(settings)))
  )
).pipe(Layer.provideMerge(Sandbox.layer({ posts: 0, start: Date.UTC(2026, 0, 1) })))

layer(AsAda)((it) => {
  it.effect("gets the posts that there are", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const post = sandbox.user({ username: "grace" }).post("On compilers")
      const { data, errors } = yield* Posts.getPosts({ ids: [post.id, "1"] })
      assert.deepStrictEqual(data?.map(({ text }) => text), ["On compilers"])
      assert.deepStrictEqual(errors.map(({ resource_id }) => resource_id), ["1"])
    }))

  it.effect("is limited until the window ends", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      sandbox.budget.leave("getPosts", 0)
      assert.strictEqual((yield* Effect.flip(Posts.getPosts({ ids: ["1"] })))._tag, "RateLimited")
      yield* TestClock.adjust("15 minutes")
      yield* Posts.getPosts({ ids: ["1"] })
      assert.deepStrictEqual(sandbox.requests.slice(-2).map(({ status }) => status), [429, 200])
    }))
})
