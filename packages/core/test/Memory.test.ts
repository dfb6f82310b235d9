// Memory has limits: a long run keeps nothing of the pages before.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { searchRecentPosts } from "../src/operations/Search.ts"
import { make } from "./support/Service.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const used = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

// Fewer posts have longer texts, so that keeping them would be seen as well.
const [total, characters] = process.env["POSTWIRE_LONG"] === "1" ? [1_000_000, 100] : [50_000, 1_000]

describe(`a run of ${total.toLocaleString("en")} items`, () => {
  it.effect.each([0, 1] as const)(
    "with prefetch %s needs no more memory at its end",
    (prefetch) =>
      Effect.gen(function*() {
        const post = JSON.stringify({ id: "1", text: "a".repeat(characters) })
        const before = `{"data":[${Array(1000).fill(post).join(",")}],"meta":{"result_count":1000,"next_token":"`
        let pages = 0
        const service = make(() => {
          // What the service keeps of the requests would be all that grows.
          service.requests.length = 0
          pages++
          return { body: `${before}${pages}"}}` }
        })
        let count = 0
        const memory: Array<number> = []
        yield* searchRecentPosts.items({ query: "a" }, { limit: total, prefetch }).pipe(
          Stream.runForEachArray((items) =>
            Effect.sync(() => {
              count += items.length
              if (count % (total / 10) === 0) memory.push(used())
            })
          ),
          Effect.provide(service.layer())
        )
        assert.strictEqual(count, total)
        assert.lengthOf(memory, 10)
        const warm = memory.slice(2)
        assert.isBelow(Math.max(...warm) - Math.min(...warm), 20)
      }),
    60_000
  )
})
