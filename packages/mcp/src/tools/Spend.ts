import * as Effect from "effect/Effect"
import * as Ledger from "../money/Ledger.ts"
import * as Tool from "../session/Tool.ts"

/** `spend`: what was spent, and what is left. */
export const tool = Tool.make({
  name: "spend",
  title: "Show what was spent",
  description: "Shows what this session, today and this month have spent, and what is left of their limits. Free.",
  toolset: undefined,
  effect: "read",
  openWorld: false,
  operations: [],
  inputs: {},
  run: () =>
    Effect.gen(function*() {
      const { accounts } = yield* Ledger.Ledger
      return { lines: Ledger.lines(yield* accounts) }
    })
})
