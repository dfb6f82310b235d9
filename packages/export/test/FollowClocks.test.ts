import { assert, describe, it } from "@effect/vitest"
import { updateStreamRules } from "@postwire/core/operations/Rules"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { cpSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { make, minute, now, second } from "../../sandbox/test/support/Requests.ts"
import * as Follow from "../src/Follow.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import { allIdsIn } from "./support/Archives.ts"
import { folder } from "./support/Scene.ts"

/** What comes by promises does. */
const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** How far the service's clock is ahead of this machine's. */
const skews = [1.9 * second, 10 * second, 60 * minute].flatMap((skew) => [skew, -skew])

const cases = (["killed", "ended"] as const).flatMap((ending) => skews.map((skew) => ({ ending, skew })))

describe("a stream into files, on a machine whose clock is wrong", () => {
  it.effect.each(cases)("has every post once after runs that were $ending, with $skew ms between the clocks", ({
    ending,
    skew
  }) =>
    Effect.gen(function*() {
      const root = yield* folder
      const { client, sandbox, secrets } = yield* make({ posts: 0, start: now + skew })
      const posted: Array<string> = []
      const pass = Effect.fnUntraced(function*(seconds: number, isBusy: boolean) {
        for (let left = seconds; left > 0; left--) {
          if (isBusy) {
            posted.push(sandbox.ada.post({ text: `cat ${posted.length}`, at: sandbox.clock.now() }).id)
          }
          yield* settle
          yield* TestClock.adjust("1 second")
        }
      })
      let place = join(root, "0")
      mkdirSync(place)
      /** Follows the stream for so long. Of a run that is killed, what was on the disk is left. */
      const run = Effect.fnUntraced(function*(name: string, isKilled: boolean, during: Effect.Effect<void>) {
        const stop = yield* Deferred.make<void>()
        const connected = yield* Deferred.make<void>()
        const copied = yield* Deferred.make<void>()
        let isDue = false
        const fiber = yield* Effect.forkChild(Follow.run(Follow.make(streamPosts), {
          sink: JsonLines.make(join(place, "posts.jsonl")),
          rotate: { every: "1 day" },
          stop: Deferred.await(stop),
          onEvent: ({ _tag }) => {
            if (_tag === "Connected") Deferred.doneUnsafe(connected, Exit.void)
          },
          onCheckpoint: () =>
            Effect.sync(() => {
              if (!isDue) return
              isDue = false
              cpSync(place, join(root, name), { recursive: true })
              Deferred.doneUnsafe(copied, Exit.void)
            })
        }))
        yield* Deferred.await(connected)
        yield* during
        isDue = isKilled
        yield* pass(2, true)
        if (isKilled) yield* Deferred.await(copied)
        yield* Deferred.succeed(stop, undefined)
        yield* Fiber.join(fiber)
        if (isKilled) place = join(root, name)
      })
      yield* Effect.gen(function*() {
        yield* updateStreamRules({ add: [{ value: "cat", tag: "cats" }] })
        for (const round of [1, 2, 3]) {
          yield* run(String(round), ending === "killed", pass(20 * round, true))
          yield* pass(5, true)
        }
        // What was missed is searched for half a minute later.
        yield* run("last", false, Effect.andThen(pass(5, true), pass(60, false)))
      }).pipe(Effect.provide(client("neutral", { bearerToken: secrets.appToken })))
      const ids = yield* Effect.promise(() => allIdsIn(place))
      assert.deepStrictEqual([...ids].sort(), posted.sort())
    }))
})
