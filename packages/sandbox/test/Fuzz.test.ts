import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzz from "./support/Fuzz.ts"

// With FuzzConnection.test.ts, which runs beside it, 100,000 requests.
describe("requests that nobody should send, in process", () => {
  it.effect("are answered with the right status, and leave nothing on the heap", () =>
    Effect.gen(function*() {
      const { heap, statuses } = yield* Fuzz.run(1, 50_000)
      Fuzz.checkRun(statuses, heap)
    }), 180_000)
})
