import { assert, it } from "@effect/vitest"
import { Client, Credentials } from "@postwire/core"
import { Sandbox } from "@postwire/sandbox"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Digest } from "./Digest.ts"

/** The whole service in process, a client of it, and the application on top. */
const app = Digest.layer.pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.map(
        Sandbox.Sandbox,
        ({ baseUrl, settings }) => Client.layer({ baseUrl }).pipe(Layer.provide(Credentials.layer(settings)))
      )
    )
  ),
  Layer.provideMerge(Sandbox.layer({ posts: 0 }))
)

/** Application and service go by the same clock, which tests move. */
const at = <A, E, R>(time: string, effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(Date.parse(time)), Effect.provide(effect, app))

it.effect("has the posts of a user since yesterday", () =>
  at(
    "2026-11-20T12:00:00Z",
    Effect.gen(function*() {
      const { user } = yield* Sandbox.Sandbox
      user({ username: "grace" }).post("On compilers").post("On nanoseconds")
      const digest = yield* Digest
      assert.deepStrictEqual(yield* digest.of("grace"), ["On nanoseconds", "On compilers"])
      assert.isUndefined(yield* digest.of("nobody_here"))
      assert.isUndefined(yield* digest.of("not a name"))

      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* digest.of("grace"), [])
    })
  ))

it.effect("comes when the budget is back", () =>
  at(
    "2026-11-20T12:00:00Z",
    Effect.gen(function*() {
      const { budget, user } = yield* Sandbox.Sandbox
      user({ username: "grace" }).post("Patience")
      budget.leave("getUsersPosts", 0)
      const digest = yield* Effect.forkChild((yield* Digest).of("grace"))
      yield* TestClock.adjust("16 minutes")
      assert.deepStrictEqual(yield* Fiber.join(digest), ["Patience"])
    })
  ))

it.effect("says why there is none", () =>
  at(
    "2026-11-20T12:00:00Z",
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      faults.add({ status: 401 })
      const error = yield* Effect.flip((yield* Digest).of("grace"))
      assert.match(error.message, /^No digest: getUser: .*\(401\)/)
    })
  ))
