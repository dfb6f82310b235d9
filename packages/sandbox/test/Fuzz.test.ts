import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fuzz from "./support/Fuzz.ts"

const count = process.env["POSTWIRE_LONG"] === "1" ? 20_000 : 4_000

describe("requests that nobody should send, in process", () => {
  it.effect("are answered with the right status, and leave nothing on the heap", () =>
    Effect.gen(function*() {
      const { heap, statuses } = yield* Fuzz.run(1, count)
      Fuzz.checkRun(statuses, heap, count)
    }), 180_000)
})
