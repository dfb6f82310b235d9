import { assert, layer } from "@effect/vitest"
import { Client, Credentials, RateLimit, Users } from "@postwire/core"
import { createClient } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
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
      assert.deepStrictEqual(sandbox.requests.slice(-2).map(({ status }) => status), [429, 200])
    }))

  it.effect("an Effect is retried twice in one adjustment", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      sandbox.faults.add({ operation: "getMe", status: 503, times: 2 })
      const me = yield* Effect.forkChild(Users.getMe({ user_auth: false }))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(me)
      assert.deepStrictEqual(sandbox.requests.slice(-3).map(({ status }) => status), [503, 503, 200])
    }))
})

/** The client for Node, over the sandbox on a port. */
const Served = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ settings }) => NodeClient.layer(settings))).pipe(
  Layer.provideMerge(Sandbox.layerServer({ posts: 0, start: Date.UTC(2026, 0, 1) }))
)

/** Moves the clock until a fiber has ended, in steps below every timeout, with real time for the sockets between them. */
const finish = Effect.fnUntraced(function*<A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) {
    yield* TestClock.withLive(Effect.sleep("10 millis"))
    yield* TestClock.adjust("100 millis")
  }
  return yield* Fiber.join(fiber)
})

layer(Served)((it) => {
  it.effect("an Effect over sockets is retried twice in many adjustments", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      sandbox.faults.add({ operation: "getMe", status: 503, times: 2 })
      yield* finish(yield* Effect.forkChild(Users.getMe({ user_auth: false })))
      assert.deepStrictEqual(sandbox.requests.map(({ status }) => status), [503, 503, 200])
    }))
})
