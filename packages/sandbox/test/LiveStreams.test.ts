import { assert, describe, it } from "@effect/vitest"
import { updateStreamRules } from "@postwire/core/operations/Rules"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { StreamFault } from "../src/faults/StreamFaults.ts"
import { make } from "./support/Requests.ts"

/** What comes by promises does. */
const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const faults: ReadonlyArray<StreamFault> = [
  { kind: "cut", after: 2 },
  { kind: "cut-in-character", after: 2 },
  { kind: "stall", after: 2 },
  { kind: "error", after: 2 },
  { kind: "duplicate", after: 2 },
  { kind: "out-of-order", after: 2 },
  { kind: "garbage", after: 2 },
  { kind: "slow", after: 2 }
]

describe("a stream of the sandbox", () => {
  for (const recover of ["search", "recovery"] as const) {
    it.effect.each(faults)(
      `brings every post once with recover ${recover} after $kind`,
      (stream) =>
        Effect.gen(function*() {
          const { client, sandbox, secrets } = yield* make({ posts: 0 })
          const filled: Array<string | undefined> = []
          const texts: Array<string> = []
          yield* Effect.gen(function*() {
            yield* updateStreamRules({ add: [{ value: "cat", tag: "cats" }, { value: "größe", tag: "sizes" }] })
            sandbox.faults.add({ operation: "streamPosts", times: 1, stream })
            yield* streamPosts.events({ post_fields: ["created_at"] }, { recover }).pipe(
              Stream.runForEach((event) =>
                Effect.sync(() => {
                  if (event._tag === "Delivered") texts.push(event.item.post.text)
                  if (event._tag === "Gap") filled.push(event.filledBy)
                })
              ),
              Effect.forkScoped
            )
            yield* settle
            const posted: Array<string> = []
            for (let second = 0; second < 150; second++) {
              if (second < 60 && second % 5 === 0) {
                const text = `cat größe ${second}`
                sandbox.ada.post({ text, at: sandbox.clock.now() })
                posted.push(text)
              }
              yield* settle
              yield* TestClock.adjust("1 second")
            }
            yield* settle
            assert.sameMembers(texts, posted)
            assert.lengthOf(texts, posted.length)
            const isLost = ["cut", "cut-in-character", "stall", "error"].includes(stream.kind)
            assert.deepStrictEqual(filled, isLost ? [recover === "search" ? "search" : "backfill"] : [])
          }).pipe(Effect.provide(client("neutral", { bearerToken: secrets.appToken })))
        })
    )
  }
})
