import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzz from "./support/Fuzz.ts"

describe("requests that nobody should send", () => {
  it.effect("get an answer that is right, and leave nothing on the heap", () =>
    Effect.gen(function*() {
      const { heap, statuses } = yield* Fuzz.run(1, Number(process.env["N"] ?? 50_000))
      console.log(statuses, heap)
      assert.isAbove(statuses.get(200) ?? 0, 0)
    }), 60_000)
})
