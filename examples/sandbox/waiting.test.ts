import { assert, layer } from "@effect/vitest"
import { Client, Credentials, RateLimit, Users } from "@postwire/core"
import { createClient } from "@postwire/node"
import { Sandbox } from "@postwire/sandbox"
import { test } from "@postwire/sandbox/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, expect, vi } from "vitest"

test("a Promise program waits a quarter of an hour, in no time", async ({ sandbox }) => {
  // Timers and dates move together; sockets are real.
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"], now: sandbox.clock.now() })
  const waits = Promise.withResolvers<number>()
  await using client = createClient({
    ...sandbox.settings,
    waitOnRateLimit: true,
    onRateLimit: (change) => {
      if (change._tag === "Waiting") waits.resolve(change.millis)
    }
  })
  sandbox.budget.leave("getMe", 0)

  const me = client.getMe({ user_auth: false })
  await vi.advanceTimersByTimeAsync(await waits.promise)
  expect((await me).data?.username).toBe("ada")
  expect(sandbox.requests.map(({ status }) => status)).toEqual([429, 200])
})

afterEach(() => {
  vi.useRealTimers()
})

/** The client, over the sandbox in process: both go by the clock of the test. */
const AsAda = Layer.unwrap(
  Effect.map(
    Sandbox.Sandbox,
    ({ baseUrl, settings }) =>
      Client.layer({ baseUrl }).pipe(Layer.provide([Credentials.layer(settings), RateLimit.layerWait()]))
  )
).pipe(Layer.provideMerge(Sandbox.layer({ posts: 0, start: Date.UTC(2026, 0, 1) })))

layer(AsAda)((it) => {
  it.effect("an Effect waits as long as TestClock says", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      sandbox.budget.leave("getMe", 0)
      const me = yield* Effect.forkChild(Users.getMe({ user_auth: false }))
      yield* TestClock.adjust("14 minutes")
      assert.isUndefined(me.pollUnsafe())
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Fiber.join(me)).data?.username, "ada")
      assert.deepStrictEqual(sandbox.requests.map(({ status }) => status), [429, 200])
    }))
})
