import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchAllPosts } from "@postwire/core/operations/Search"
import { getMe } from "@postwire/core/operations/Users"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Clock, Effect, Fiber, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as timers from "node:timers/promises"
import * as Sandbox from "../src/Sandbox.ts"
import { minute, now, second, secretsOf } from "./support/Requests.ts"

/** A client that waits, on a sandbox in process: what was answered, and when. */
const make = Effect.fnUntraced(function*(options: Sandbox.Options) {
  yield* TestClock.setTime(now)
  const answers: Array<{ readonly status: number; readonly at: number }> = []
  const sandbox = Sandbox.layer(options)
  const counted = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      (http) =>
        HttpClient.transformResponse(
          http,
          (response) =>
            Effect.tap(response, ({ status }) =>
              Effect.map(Clock.currentTimeMillis, (time) => void answers.push({ status, at: time - now })))
        )
    )
  )
  const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, (sandbox) => {
    const secrets = secretsOf(sandbox)
    return Client.layer({ baseUrl: sandbox.baseUrl }).pipe(Layer.provide(Credentials.layer(secrets)))
  }))
  return {
    answers,
    layer: Layer.orDie(client.pipe(
      Layer.provide([counted, RateLimit.layerWait()]),
      Layer.provideMerge(sandbox)
    ))
  }
})

describe("a client that waits", () => {
  it.effect("reads 300 pages of the full archive in 303 seconds, without a refusal", () =>
    Effect.gen(function*() {
      const { answers, layer } = yield* make({ posts: 3_100 })
      yield* Effect.gen(function*() {
        const reading = yield* Effect.forkChild(
          searchAllPosts.pages({ query: "a OR -a", start_time: "2010-01-01T00:00:00Z", max_results: 10 }).pipe(
            Stream.take(300),
            Stream.runCount
          )
        )
        yield* TestClock.adjust(303 * second)
        assert.isDefined(reading.pollUnsafe())
        assert.strictEqual(yield* Fiber.join(reading), 300)
      }).pipe(Effect.provide(layer))
      assert.lengthOf(answers, 300)
      assert.deepStrictEqual(answers.filter(({ status }) => status !== 200), [])
      assert.isAtMost(answers.at(-1)!.at, 303 * second)
      answers.reduce((before, answer) => {
        assert.isAtLeast(answer.at - before.at, second)
        return answer
      })
    }), 60_000)

  it.effect("uses every request of every window, and none more", () =>
    Effect.gen(function*() {
      const { answers, layer } = yield* make({ posts: 0 })
      yield* Effect.gen(function*() {
        const calls = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 160 }), () => getMe(), { concurrency: 50 })
        )
        for (const answered of [75, 150, 160]) {
          // Calls sign and answer in real time: the clock stands still until those of this window have ended.
          while (answers.length < answered) yield* Effect.promise(() => timers.setImmediate())
          yield* TestClock.adjust(15 * minute + 2 * second)
        }
        yield* Fiber.join(calls)
      }).pipe(Effect.provide(layer))
      const perWindow = [0, 15, 30].map((start) =>
        answers.filter(({ at }) => at >= start * minute && at < (start + 15) * minute).length
      )
      assert.deepStrictEqual(perWindow, [75, 75, 10])
      assert.isTrue(answers.every(({ status }) => status === 200))
    }))
})
